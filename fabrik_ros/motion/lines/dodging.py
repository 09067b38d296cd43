"""
Spare joints that get out of the way of obstacles and of their limits, while the tool is led.

The joints of an arm with more than six can move and leave the tool where it is: in the null space
of its Jacobian. There the arm goes where its links come away from what is near them, the harder
the nearer it is, and back again once there is room. The tool comes first: joints that have no
velocity or acceleration left beside it take part in nothing else.

Source: Maciejewski and Klein, "Obstacle avoidance for kinematically redundant manipulators in
dynamically varying environments", IJRR 4(3), 1985.

"""

from typing import NamedTuple

import numpy as np

from ...collision.guard import CollisionGuard, NearPair
from ...model.mechanism import Mechanism
from ...reasons import Reason, ReasonKind
from ...transforms import Array
from ..limits.joint_motion import JointMotion, largest
from .singularity import Jacobian, POSE_JOINTS

LOOKING_TIME = 0.02
"""Time between two looks at what is near [s]."""
RATE = 4.0
"""What is missing of a distance is gained at this rate [1/s]."""
RETURNING = 1.0
"""Joints go back at this share of their way by self-motions where nothing is near [1/s]."""
LINKS_REACH = 0.02
"""Distance beyond their clearance at which links come away from each other [m]."""
MOST_PAIRS = 10
"""Most pairs that are heeded at once: the nearest [1]."""
LIMIT_REACH = 0.2
"""Distance from their limits at which joints come away from them [rad or m]."""
LENGTH = 0.3
"""Length that counts as much as one radian beside a limit [m/rad]."""
DAMPING = 0.03
"""Distance that a unit of self-motion must gain to be worth it [m]."""
VELOCITY_SHARE, ACCELERATION_SHARE = 0.6, 0.4
"""Share of the velocity and of the acceleration of joints that self-motions take [1]."""
USED_SHARE = 0.7
"""Share of their acceleration up to which they leave it to the tool, by the step before [1]."""
POOR_GAIN, GOOD_GAIN = 0.2, 0.4
"""
Speed of the tool, as a share of its limits, that joints at full speed have where that is hardest:
near singular configurations. Below the first there is no self-motion, from the second on all [1].
"""
HALVINGS = 6
"""Number of times that a self-motion is halved which is too fast beside the tool [1]."""
ROUNDING, TINY = 1e-3, 1e-9
MOVES = 0.02
"""Velocity of a joint above which the arm says what it avoids [rad/s or m/s]."""
GONE_BACK = 1e-3
"""Rest of its way that no joint goes back any more [rad or m]."""


class Threat(NamedTuple):
    """Something that the arm is to come away from."""

    name: str
    """Names of a pair, or of a joint at its limit."""
    missing: float
    """Share that is missing of the distance that is wanted; more than 1 within the clearance."""
    reach: float
    """That distance [m]."""
    slopes: Array
    """Change of the distance with self-motions, shape (k,) [m/rad or 1]."""


class Dodging:
    """
    Finds the self-motion that brings an arm away from what is near.

    Parameters
    ----------
    robot : Chain
        The joints: more than six.
    joints : JointMotion
        Knows what the joints can do.
    guard : CollisionGuard or None
        Knows what is near, where that is checked.
    distance : float
        Distance beyond their clearances that links seek from obstacles [m].

    Attributes
    ----------
    velocity : array, shape (n,)
        The self-motion now [rad/s or m/s].

    """

    def __init__(
        self,
        robot: Mechanism,
        joints: JointMotion,
        guard: CollisionGuard | None,
        distance: float,
    ) -> None:
        self._robot, self._joints, self._guard, self._distance = robot, joints, guard, distance
        self._jacobian = Jacobian(robot)
        self.stop()

    def stop(self) -> None:
        """Stand still, and forget the way so far."""
        self.velocity = self._wanted = np.zeros(len(self._robot))
        self._since_look, self._threat = LOOKING_TIME, ''
        self._tool = self._joints.velocity
        """Velocity of the joints but for the self-motion, before the last step, shape (n,)."""
        self._way = np.zeros(len(self._robot))
        """Way of the joints by self-motions so far, shape (n,) [rad or m]."""

    def advance(self, is_led: bool, dt: float) -> Array:
        """
        Find the self-motion for the next step, shape (n,) [rad/s or m/s].

        Parameters
        ----------
        is_led : bool
            Whether the tool is on its way; else the self-motion comes to rest.
        dt : float
            Length of the step [s].

        """
        self._since_look += dt
        if not is_led:
            self._wanted, self._since_look, self._threat = 0.0 * self._way, LOOKING_TIME, ''
        elif self._since_look >= LOOKING_TIME:
            self._wanted, self._since_look = self._away(), 0.0
        if not (self._wanted.any() or self.velocity.any()):
            self._tool = self._joints.velocity
            return self.velocity
        self.velocity = self._beside_tool(self.velocity + self._change(dt))
        self._way = self._way + dt * self.velocity
        return self.velocity

    @property
    def reason(self) -> Reason | None:
        """Say what the arm gets out of the way of; None where it need not."""
        if not self._threat or largest(self.velocity) < MOVES:
            return None
        return Reason(ReasonKind.DODGING, f'out of the way of: {self._threat}')

    def _away(self) -> Array:
        """Self-motion that leads away from what is near, or back, shape (n,)."""
        q, limits, guard = self._joints.q, self._joints.limits, self._guard
        pairs = [] if guard is None else guard.near_obstacles(q, self._distance)
        gaps = np.array([q - self._robot.lower, self._robot.upper - q])
        self._threat = ''
        if not pairs and gaps.min() >= LIMIT_REACH and largest(self._way) < GONE_BACK:
            self._way = np.zeros_like(q)
            return self._way
        spare = np.linalg.svd(self._jacobian.at(q))[2][POSE_JOINTS:]
        if guard is not None:
            pairs += guard.near_links(q, LINKS_REACH)
            pairs = sorted(pairs, key=lambda pair: pair.gap / pair.reach)[:MOST_PAIRS]
        threats = [*self._near_pairs(pairs, q, spare), *self._near_limits(gaps, spare)]
        if threats:
            self._threat = max(threats, key=lambda threat: threat.missing).name
        curvature = DAMPING**2 * np.eye(len(spare))
        push = -RETURNING * DAMPING**2 * spare @ self._way
        for _, missing, reach, slopes in threats:
            weighted = missing**2 * slopes
            curvature += np.multiply.outer(weighted, slopes)
            push += RATE * reach * missing * weighted
        velocity = np.linalg.solve(curvature, push) @ spare
        share = np.clip((self._least_gain(q) - POOR_GAIN) / (GOOD_GAIN - POOR_GAIN), 0.0, 1.0)
        most = VELOCITY_SHARE * share * limits.speed_scaling * limits.joint_velocity
        return np.asarray(velocity / max(1.0, np.max(np.abs(velocity) / np.maximum(most, TINY))))

    def _near_pairs(self, pairs: list[NearPair], q: Array, spare: Array) -> list[Threat]:
        if self._guard is None:
            return []
        return [
            Threat(
                ', '.join(pair.links),
                1.0 - pair.gap / pair.reach,
                pair.reach,
                self._guard.slopes(pair, q, spare),
            )
            for pair in pairs
        ]

    def _near_limits(self, gaps: Array, spare: Array) -> list[Threat]:
        """Joints that are near their limits; `gaps` to the lower and upper ones, shape (2, n)."""
        names, reach = self._robot.joint_names, LENGTH * LIMIT_REACH
        return [
            Threat(names[j], 1.0 - gaps[i, j] / LIMIT_REACH, reach, side * LENGTH * spare[:, j])
            for i, side in enumerate((1.0, -1.0))
            for j in np.flatnonzero(gaps[i] < LIMIT_REACH).tolist()
        ]

    def _least_gain(self, q: Array) -> float:
        """
        Speed of the tool where joints at full speed gain least of it, as a share of its limits.

        That is the least singular value of the Jacobian in these units.
        """
        limits = self._joints.limits
        scale = np.repeat((limits.tip_speed, limits.tip_rotation), 3)
        J = self._jacobian.at(q) * limits.joint_velocity / scale[:, None]
        return float(np.linalg.svd(J, compute_uv=False)[-1])

    def _change(self, dt: float) -> Array:
        """Change of the self-motion for which the tool leaves joints the acceleration."""
        change, tool = self._wanted - self.velocity, self._joints.velocity - self.velocity
        most = dt * self._joints.limits.joint_acceleration
        used, self._tool = np.sign(change) * (tool - self._tool), tool
        room = np.minimum(ACCELERATION_SHARE * most, np.maximum(USED_SHARE * most - used, 0.0))
        moves = change != 0.0
        return np.asarray(change * np.min(room[moves] / np.abs(change[moves]), initial=1.0))

    def _beside_tool(self, velocity: Array) -> Array:
        """As much of a self-motion as tip and joint centres have left beside the tool."""
        joints, tool = self._joints, self._joints.velocity - self.velocity
        share, scaling = joints.tip_speed.largest_share, joints.limits.speed_scaling
        least = (1.0 - ROUNDING) * min(1.0 / max(scaling, TINY), share(joints.q, tool))
        for _ in range(HALVINGS):
            if share(joints.q, tool + velocity) >= least:
                return velocity
            velocity = 0.5 * velocity
        return np.zeros_like(velocity)
