"""
Speed limits of tips and joint centres, for motions that are given in joint space.

A joint centre is the origin of the frame of a moving joint. Centres and tips keep to the tip
speed, tips to the tip rotation as well.

"""

import numpy as np

from ...kernels import point_speeds as kernels
from ...kernels.arm_table import FRAME
from ...model.mechanism import Mechanism
from ...transforms import Array
from .limits import MotionLimits


class TipSpeed:
    """
    Tells how fast joints may go so that tips and joint centres keep to their limits.

    Parameters
    ----------
    robot : Chain or Tree
        The joints.

    """

    def __init__(self, robot: Mechanism) -> None:
        self._model = robot.tree_rows
        self._memory = np.empty((len(self._model), FRAME)), np.empty((len(self._model), 6))
        self._rows = np.empty((2, len(robot)))
        self._most = np.full(2, np.inf)

    def change_limits(self, limits: MotionLimits) -> None:
        """Keep to other limits."""
        self._most = np.array([limits.tip_speed, limits.tip_rotation])

    def largest_share(self, q: Array, velocity: Array) -> float:
        """Part of a joint velocity, at `q`, that tips and centres are allowed; both (n,)."""
        return kernels.largest_share(self._model, self._most, q, velocity, *self._memory)

    def share_along(
        self, q: Array, velocity: Array, scaling: float, deceleration: float, dt: float
    ) -> float:
        """
        Part of a joint velocity, up to 1, with which to go straight on in joint space.

        Parameters
        ----------
        q, velocity : array, shape (n,)
            Joint values, and their velocity.
        scaling : float
            Part of the limits to keep to.
        deceleration : float
            With which all joints can lose that velocity [1/s].
        dt : float
            Length of the step [s].

        """
        return kernels.share_along(
            self._model, scaling * self._most, q, velocity, np.inf, 1.0, deceleration, dt, 0.0,
            *self._memory, self._rows[0],
        )  # fmt: skip

    def on_joint_path(
        self,
        joint_limits: Array,
        q: Array,
        path: Array,
        now: Array,
        scaling: float,
        change: float,
        deceleration: float,
        dt: float,
        delay: float,
    ) -> Array:
        """
        Speed of the next step on the straight path to a goal, as `kernels.joint_path_speed`.

        Parameters
        ----------
        joint_limits : array, shape (4, n)
            As the kernels take them.
        q : array, shape (n,)
            Joint values.
        path, now : array, shape (n,)
            Path to the goal [s] and last speed, in units of the greatest joint velocities.
        scaling : float
            Part of all speeds to go at.
        change : float
            Greatest change of the speed.
        deceleration : float
            Used to brake [1/s].
        dt, delay : float
            Length of the step, and time by which the commands come later [s].

        """
        speed = np.empty(len(q))
        kernels.joint_path_speed(
            self._model, scaling * self._most, joint_limits, q, path, now, scaling, change,
            deceleration, dt, delay, *self._memory, self._rows, speed,
        )  # fmt: skip
        return speed
