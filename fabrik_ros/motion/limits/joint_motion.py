"""
The motion of the joints: where they are, how fast, and what they can do in the next step.

All velocities are [rad/s or m/s] by joint. Between two steps of unequal length the velocity may
change by what the mean of both allows.

"""

import numpy as np
import numpy.typing as npt

from ...kernels.braking import (
    catching_up,
    followable_share,
    gentle_box,
    take_step,
    velocity_bounds,
)
from ...model.mechanism import Mechanism
from ...transforms import Array
from .limits import MotionLimits
from .tip_speed import TipSpeed

Joints = npt.NDArray[np.bool_] | npt.NDArray[np.intp]
"""Some of the joints: which, shape (n,), or their numbers."""
AT_REST = 1e-9
"""Largest difference of equal values and velocities [rad or m, and per s]."""
SAME_STEP = 1e-9
"""Largest difference of steps of equal length [s]."""
TINY = 1e-12
ARRIVED = 1e-6
"""Duration of a remaining path below which one step reaches the joint goal [s]."""
CATCH_UP_SHARE = 0.5
"""Share of the acceleration with which joints catch up with their reference."""
BRAKING_SHARE = 0.5
"""
Share of the acceleration with which joints brake in front of limits. A step may be several times
as long as the one before, and the velocity may change only by what their mean allows: then
braking takes up to twice the way.
"""
ARRIVING_SHARE = 0.9
"""Share of the acceleration with which joints brake on their way to joint values."""
HALVINGS = 10
"""Number of times that the way from braking to what is wanted is halved: to 0.1 % of it [1]."""
EASING_SHARE = 0.1
"""Share of the acceleration with which joints come to their limits on a line."""


class JointMotion:
    """
    State of moving joints, and what they can do in a step.

    Parameters
    ----------
    robot : Chain or Tree
        The joints.
    limits : MotionLimits
        How fast things may go.

    Attributes
    ----------
    q, velocity : array, shape (n,)
        Joint values and velocities.
    dt : float
        Length of the last step [s]; 0 where there was none just before.
    limits : MotionLimits
        What the joints keep to now.
    tip_speed : TipSpeed
        Knows how fast the joints may go for tips and joint centres.

    """

    def __init__(self, robot: Mechanism, limits: MotionLimits) -> None:
        self._robot = robot
        self.tip_speed = TipSpeed(robot)
        self.dt = 0.0
        self.delay = 0.0
        """Delay of the commands behind the motion [s]."""
        self.change_limits(limits)
        self.reset(robot.mid_configuration())

    def reset(self, q: Array) -> None:
        """Stand still at `q`, shape (n,)."""
        self.q = np.array(q, dtype=np.float64)
        self.velocity = np.zeros_like(self.q)

    def change_limits(self, limits: MotionLimits) -> None:
        """Keep to other limits."""
        self.limits = limits
        self.tip_speed.change_limits(limits)
        robot = self._robot
        self._table = np.array(
            [robot.lower, robot.upper, limits.joint_velocity, limits.joint_acceleration]
        )
        """Limits as the kernels take them, shape (4, n)."""

    def warm_up(self, dt: float) -> None:
        """Compile what a step needs."""
        mid = self._robot.mid_configuration()
        self.begin_step(dt)
        self.correction(mid, dt)
        self.gentle_box(mid, mid, dt)
        self.followable_share(mid, mid)
        self.next_state(mid, dt)
        self.velocity_towards(self.q + dt, dt)
        self.tip_speed.largest_share(mid, mid)
        self.share_ahead(mid, 1.0, dt)

    @property
    def is_still(self) -> bool:
        """Whether no joint moves."""
        return not np.any(np.abs(self.velocity) > AT_REST)

    def rests_at(self, q: Array) -> bool:
        """Whether the joints rest at `q`, shape (n,)."""
        return is_near(self.q, q) and bool(np.max(np.abs(self.velocity)) <= AT_REST)

    def begin_step(self, dt: float) -> None:
        """Find what the joints can do in a step of `dt` seconds."""
        bounds, change_time = np.empty((2, len(self.q))), self._change_time(dt)
        velocity_bounds(self._table, self.q, self.velocity, change_time, dt, BRAKING_SHARE, bounds)
        self.bounds = bounds
        """Least and greatest velocity each joint may have next, shape (2, n)."""

    def _change_time(self, dt: float) -> float:
        """Time over which the velocity may change [s]; unequal steps count for the shorter."""
        return min(dt, 0.5 * (dt + self.dt)) if self.dt > 0.0 else dt

    def next_state(self, velocity: Array, dt: float) -> tuple[Array, Array]:
        """Velocity nearest to one wanted that the joints may have in the step, and `q` then."""
        step = np.empty((2, len(self.q)))
        take_step(self._table, self.q, velocity, self.bounds, dt, step)
        return step[0], step[1]

    def nearest(self, velocity: Array, dt: float) -> Array:
        """Velocity nearest to one wanted, shape (n,), that the joints may have in the step."""
        return self.next_state(velocity, dt)[0]

    def no_faster(self, velocity: Array, most: float, dt: float) -> Array:
        """
        Velocity that the joints may have, and with which tips and centres keep to their limits.

        Joints that cannot turn round so soon go on while others slow down. Where that makes a
        point too fast, as much of the step as it takes goes to braking.

        Parameters
        ----------
        velocity : array, shape (n,)
            What is wanted; taken where it is slow enough.
        most : float
            Share of the limits of the points to keep to [1].
        dt : float
            Length of the step [s].

        """
        nearest = self.nearest(velocity, dt)
        if self._is_slow(nearest, most, dt):
            return nearest
        braking = self.nearest(self.stopping_velocity(dt), dt)
        kept, given = 0.0, 1.0
        for _ in range(HALVINGS):
            middle = 0.5 * (kept + given)
            if self._is_slow(braking + middle * (nearest - braking), most, dt):
                kept = middle
            else:
                given = middle
        return braking + kept * (nearest - braking)

    def _is_slow(self, velocity: Array, most: float, dt: float) -> bool:
        """Whether points keep to a share of their limits amid a step at a velocity, (n,)."""
        return most * self.tip_speed.largest_share(self.q + 0.5 * dt * velocity, velocity) >= 1.0

    def correction(self, error: Array, dt: float) -> Array:
        """Velocity that takes up a reference error, reference minus command, shape (n,)."""
        speed = np.empty(len(error))
        catching_up(self._table, error, dt, CATCH_UP_SHARE, speed)
        return speed

    def velocity_towards(self, q: Array, dt: float) -> Array:
        """Velocity on the straight path to `q`, shape (n,): all joints arrive there together."""
        limits = self.limits
        path = (q - self.q) / limits.joint_velocity
        if largest(path) < ARRIVED:
            return (q - self.q) / dt
        acceleration = float(np.min(limits.joint_acceleration / limits.joint_velocity))
        deceleration = self._share_to_brake(q, path) * acceleration
        change = acceleration * self._change_time(dt)
        now = self.velocity / limits.joint_velocity
        speed = self.tip_speed.on_joint_path(
            self._table, self.q, path, now, limits.speed_scaling, change, deceleration, dt,
            self.delay,
        )  # fmt: skip
        return speed * limits.joint_velocity

    def _share_to_brake(self, q: Array, path: Array) -> float:
        """
        Share of the acceleration with which joints brake on a straight path to `q`, shape (n,).

        A joint whose goal is near its limit brakes as in front of that; it would slow down ahead
        of the others, and those would overshoot.
        """
        robot, limits = self._robot, self.limits
        speed = path / largest(path) * limits.joint_velocity
        way = speed * speed / (2.0 * ARRIVING_SHARE * limits.joint_acceleration)
        gap = np.where(path > 0.0, robot.upper - q, q - robot.lower)
        is_near = gap < (ARRIVING_SHARE / BRAKING_SHARE - 1.0) * way
        return BRAKING_SHARE if bool(is_near.any()) else ARRIVING_SHARE

    def share_ahead(self, velocity: Array, scaling: float, dt: float) -> float:
        """Part of a velocity, shape (n,), from which tips and centres can keep scaled limits."""
        limits = self.limits
        effort = max(float(np.max(np.abs(velocity) / limits.joint_acceleration)), TINY)
        return self.tip_speed.share_along(self.q, velocity, scaling, BRAKING_SHARE / effort, dt)

    def stopping_velocity(
        self, dt: float, among: Joints | None = None, share: float = 1.0
    ) -> Array:
        """
        Velocity on the way to rest, keeping its direction.

        Parameters
        ----------
        dt : float
            Length of the step [s].
        among : array, optional
            Which joints stop; left out, all.
        share : float
            Part of the acceleration that they take [1].

        """
        efforts = np.abs(self.velocity) / self.limits.joint_acceleration
        effort = float(np.max(efforts if among is None else efforts[among], initial=0.0))
        if effort == 0.0:
            return self.velocity
        return self.velocity * max(0.0, 1.0 - share * self._change_time(dt) / effort)

    def gentle_box(self, q: Array, correction: Array, dt: float) -> Array:
        """
        Joint values, shape (2, n), between which every joint comes to its limit gently.

        Parameters
        ----------
        q : array, shape (n,)
            Where the reference of each joint is [rad or m].
        correction : array, shape (n,)
            Velocity that comes on top, whatever the reference does.
        dt : float
            Length of the step [s].

        """
        box = np.empty((2, len(q)))
        gentle_box(self._table, self.q, self.bounds, dt, EASING_SHARE, q, correction, box)
        return box

    def step_box(self, q: Array, correction: Array, dt: float) -> Array:
        """Joint values, shape (2, n), that joints can come to at all; parameters as above."""
        return q + (self.bounds - correction) * dt

    def followable_share(self, rate: Array, correction: Array) -> float:
        """
        Share of a step, nearest to all of it, that every joint can follow.

        A joint that cannot turn round so soon follows no share: it falls behind and catches up.

        Parameters
        ----------
        rate : array, shape (n,)
            Velocity that all of the step asks for.
        correction : array, shape (n,)
            Velocity that comes on top, whatever the share.

        """
        return followable_share(self.bounds, rate, correction, TINY)


def largest(values: Array) -> float:
    """Largest of the values of an array of shape (n,), whatever their sign."""
    return float(max(map(abs, values.tolist())))


def is_near(q: Array, q_other: Array) -> bool:
    """Whether joint values are the same but for rounding."""
    return bool(np.max(np.abs(q - q_other)) <= AT_REST)
