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
from .tip_reference import TipReference

LOOKING_TIME = 0.02
"""Time between two looks at what is near [s]."""
RATE = 4.0
"""What is missing of a distance is gained at this rate [1/s]."""
RETURNING = 1.0
"""Joints go back at this share of the way to where they were at the begin of a stream [1/s]."""
LINKS_REACH = 0.02
"""Distance beyond their clearance at which links come away from each other [m]."""
MOST_PAIRS = 10
"""Most pairs that are heeded at once: the nearest [1]."""
LIMIT_REACH = 0.2
"""
Distance from their limits at which joints come away from them [rad or m]; a quarter of their range
if that is less.
"""
LENGTH = 0.3
"""Length that counts as much as one radian beside a limit [m/rad]."""
DAMPING = 0.03
"""Distance that a unit of self-motion must gain to be worth it [m]."""
VELOCITY_SHARE, ACCELERATION_SHARE = 0.6, 0.4
"""Share of the velocity and of the acceleration of joints that self-motions take [1]."""
USED_SHARE = 0.7
"""Share of their acceleration up to which they leave it to the tool, by the step before [1]."""
POOR_GAIN, GOOD_GAIN = 0.2, 0.6
"""
Speed of the tool, as a share of its limits, that joints at full speed have where that is hardest:
near singular configurations. Below the second, self-motions that come away from something seek to
raise it, too, and what lowers it grows smaller, to nothing at the first [1].
"""
GAIN_REACH = 0.1
"""Weight of that: from the second to no gain is as far as such a distance to an obstacle [m]."""
PROBE = 0.01
"""Self-motion over which it is measured how that speed changes [rad or m]."""
DONE_SHARE = 0.5
"""Share of the last self-motion that joints must have done for the next to go on from it [1]."""
SPEED_SHARE = 0.85
"""Share of the limits of tips and joint centres up to which self-motions are added [1]."""
HALVINGS = 6
"""Number of times that what is too fast of a self-motion beside the tool is halved [1]."""
ROUNDING, TINY = 1e-3, 1e-9
MOVES = 0.02
"""Velocity of a joint above which the arm says what it avoids [rad/s or m/s]."""
WORTH_IT = 0.05
"""Velocity of a joint from which on a self-motion from rest is worth it [rad/s or m/s]."""
GONE_BACK = 0.02
"""Rest of the way back of a self-motion that it is left at [rad or m]."""
LEAST_SLOPE = 5e-3
"""A pair whose distance self-motions change by less is none to come away from [m/rad or 1]."""


class Threat(NamedTuple):
    """Something that the arm is to come away from."""

    name: str
    """Names of a pair, or of a joint at its limit; empty for a low gain of the tool."""
    missing: float
    """Share that is missing of the distance that is wanted; more than 1 within the clearance."""
    reach: float
    """That distance [m]."""
    slopes: Array
    """Change of the distance with self-motions, shape (k,) [m/rad or 1]."""


class Approach(NamedTuple):
    """Something near an arm at rest that it can get out of the way of."""

    name: str
    """Names of the pair."""
    gap: float
    """Distance of the nearest pair beyond its clearance [m]."""


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

    Attributes
    ----------
    distance : float
        Distance beyond their clearances that links seek from obstacles [m]; 0: none, and
        self-motions come to rest.

    """

    def __init__(
        self,
        robot: Mechanism,
        joints: JointMotion,
        guard: CollisionGuard | None,
    ) -> None:
        self._robot, self._joints, self._guard, self.distance = robot, joints, guard, 0.0
        self._jacobian = Jacobian(robot)
        self._limit_reach = np.minimum(LIMIT_REACH, 0.25 * (robot.upper - robot.lower))
        self._none = np.zeros(len(robot))
        self.stop()

    def stop(self) -> None:
        """Want nothing, and go back no more."""
        self._wanted = self._velocity = self._none
        self._since_look, self._threat, self._has_dodged = LOOKING_TIME, '', False
        self._tool = self._joints.velocity
        """Velocity of the joints but for self-motions, before the last step, shape (n,)."""

    def velocity(self, line: TipReference, is_led: bool, dt: float) -> Array:
        """
        Find the self-motion for the next step, shape (n,) [rad/s or m/s].

        Parameters
        ----------
        line : TipReference
            What the tool follows.
        is_led : bool
            Whether the tool is on its way; else the self-motion comes to rest.
        dt : float
            Length of the step [s].

        """
        if self._joints.is_still:
            self.stop()
        self._since_look += dt
        if not is_led or self.distance == 0.0 or self._joints.limits.speed_scaling == 0.0:
            self._wanted, self._since_look, self._threat = self._none, LOOKING_TIME, ''
        elif self._since_look >= LOOKING_TIME:
            self._wanted, self._since_look = self._away(line.way_back(self._joints.q)), 0.0
        if self._wanted.any() or self._velocity.any():
            self._velocity = self._next(dt)
        else:
            self._tool = self._joints.velocity
        return self._velocity

    @property
    def reason(self) -> Reason | None:
        """Say what the arm gets out of the way of; None where it need not."""
        if not self._threat or largest(self._velocity) < MOVES or self._joints.is_still:
            return None
        return Reason(ReasonKind.DODGING, f'out of the way of: {self._threat}')

    def _spare_at(self, J: Array) -> Array:
        """Directions of the joints that leave the tool where it is, by J (6, n); (n - 6, n)."""
        spare: Array = np.linalg.svd(J)[2][POSE_JOINTS:]
        return spare

    def approach(self) -> Approach | None:
        """Tell what an arm at rest can get out of the way of; None where that is not worth it."""
        self.stop()
        joints, guard = self._joints, self._guard
        if guard is None or 0.0 in (self.distance, joints.limits.speed_scaling):
            return None
        pairs = guard.near_obstacles(joints.q, self.distance)
        if not pairs or largest(self._away(self._none)) < WORTH_IT:
            return None
        return Approach(self._threat, min(pair.gap for pair in pairs))

    def _away(self, way_back: Array) -> Array:
        """Self-motion that leads away from what is near, or some way back, shape (n,)."""
        q, guard = self._joints.q, self._guard
        pairs = [] if guard is None else guard.near_obstacles(q, self.distance)
        gaps = np.array([q - self._robot.lower, self._robot.upper - q])
        is_free = not pairs and bool((gaps >= self._limit_reach).all())
        self._threat = ''
        if is_free and not self._has_dodged:
            return self._none
        spare = self._spare_at(self._jacobian.at(q))
        threats = [*self._near_pairs(pairs, q, spare), *self._near_limits(gaps, spare)]
        back = spare @ way_back
        self._has_dodged = bool(threats) or largest(back) > GONE_BACK
        if threats:
            strongest = max(threats, key=lambda each: each.missing**3 * largest(each.slopes))
            self._threat = strongest.name
        gain = self._least_gain(q)
        if gain < GOOD_GAIN:
            return self._keeping_gain(threats, back, q, spare, gain)
        return self._no_faster(self._nearest_to(threats, back) @ spare, 1.0)

    def _keeping_gain(
        self, threats: list[Threat], back: Array, q: Array, spare: Array, gain: float
    ) -> Array:
        """Self-motion, shape (n,), that does the same where the gain of the tool is low."""
        slopes = self._slopes_of_gain(q, spare)
        worst = min(1.0, max((each.missing for each in threats), default=0.0))
        missing = worst * (1.0 - gain / GOOD_GAIN)
        singular = Threat('', missing, GAIN_REACH, GAIN_REACH / GOOD_GAIN * slopes)
        motion = self._nearest_to([*threats, singular], back)
        lowering = min(0.0, float(slopes @ motion)) / max(float(slopes @ slopes), TINY) * slopes
        share = max(0.0, (gain - POOR_GAIN) / (GOOD_GAIN - POOR_GAIN))
        velocity = (motion - lowering) @ spare + self._no_faster(lowering @ spare, share)
        return self._no_faster(velocity, 1.0)

    def _no_faster(self, velocity: Array, share: float) -> Array:
        """As much of a self-motion, shape (n,), as a share of what joints may have for it."""
        limits = self._joints.limits
        most = VELOCITY_SHARE * share * limits.speed_scaling * limits.joint_velocity
        return velocity / max(1.0, float(np.max(np.abs(velocity) / np.maximum(most, TINY))))

    def _slopes_of_gain(self, q: Array, spare: Array) -> Array:
        """Change of the gain with self-motions, shape (k,)."""
        ends = [[self._least_gain(q + side * each) for side in (PROBE, -PROBE)] for each in spare]
        more, less = np.array(ends).T
        return np.asarray((more - less) / (2.0 * PROBE))

    def _nearest_to(self, threats: list[Threat], back: Array) -> Array:
        """Self-motion, shape (k,), that best comes away from threats, or goes back."""
        curvature = DAMPING**2 * np.eye(len(back))
        push = RETURNING * DAMPING**2 * back
        for _, missing, reach, slopes in threats:
            weighted = missing**2 * slopes
            curvature += np.multiply.outer(weighted, slopes)
            push += RATE * reach * missing * weighted
        return np.asarray(np.linalg.solve(curvature, push))

    def _near_pairs(self, pairs: list[NearPair], q: Array, spare: Array) -> list[Threat]:
        """Pairs whose distance a self-motion changes: the nearest of them."""
        threats: list[Threat] = []
        if self._guard is None:
            return threats
        pairs = [*pairs, *self._guard.near_links(q, LINKS_REACH)]
        for pair in sorted(pairs, key=lambda pair: pair.gap / pair.reach):
            slopes = self._guard.slopes(pair, q, spare)
            if largest(slopes) > LEAST_SLOPE:
                missing = 1.0 - pair.gap / pair.reach
                threats.append(Threat(', '.join(pair.links), missing, pair.reach, slopes))
            if len(threats) == MOST_PAIRS:
                break
        return threats

    def _near_limits(self, gaps: Array, spare: Array) -> list[Threat]:
        """Joints that are near their limits; `gaps` to the lower and upper ones, shape (2, n)."""
        names, reach = self._robot.joint_names, self._limit_reach
        return [
            Threat(
                names[j],
                1.0 - gaps[i, j] / reach[j],
                LENGTH * reach[j],
                side * LENGTH * spare[:, j],
            )
            for i, side in enumerate((1.0, -1.0))
            for j in np.flatnonzero(gaps[i] < reach).tolist()
        ]

    def _least_gain(self, q: Array) -> float:
        """
        Speed of the tool where joints at full speed gain least of it, as a share of its limits.

        That is the least singular value of the Jacobian (6, n) in these units.
        """
        limits = self._joints.limits
        scale = np.repeat((limits.tip_speed, limits.tip_rotation), 3)
        scaled = self._jacobian.at(q) * limits.joint_velocity / scale[:, None]
        return float(np.linalg.svd(scaled, compute_uv=False)[-1])

    def _next(self, dt: float) -> Array:
        """Self-motion of the next step, from the one that the joints have now; shape (n,)."""
        joints = self._joints
        spare = self._spare_at(self._jacobian.at(joints.q))
        done = (spare @ joints.velocity) @ spare
        is_done = done @ self._velocity >= DONE_SHARE * (self._velocity @ self._velocity)
        now = self._velocity if is_done else done
        tool, before, self._tool = joints.velocity - done, self._tool, joints.velocity - done
        wanted = self._towards(self._wanted, now, tool - before, dt)
        least = self._towards(self._none, now, tool - before, dt)
        return self._beside(tool, least, wanted)

    def _towards(self, end: Array, now: Array, used: Array, dt: float) -> Array:
        """Next self-motion on the way to another one, beside what the tool has used of changes."""
        change, most = end - now, dt * self._joints.limits.joint_acceleration
        left = np.maximum(USED_SHARE * most - np.sign(change) * used, 0.0)
        room = np.minimum(ACCELERATION_SHARE * most, left)
        moves = change != 0.0
        share = np.min(room[moves] / np.abs(change[moves]), initial=1.0)
        return end if share == 1.0 else now + share * change

    def _beside(self, tool: Array, least: Array, wanted: Array) -> Array:
        """
        As much of a self-motion as tip and joint centres have left beside the tool, shape (n,).

        It is no smaller than one from which the joints brake as hard as they may for it.
        """
        joints, more = self._joints, wanted - least
        share, scaling = joints.tip_speed.largest_share, joints.limits.speed_scaling
        enough = min(1.0 / max(SPEED_SHARE * scaling, TINY), share(joints.q, tool))
        for _ in range(HALVINGS):
            if share(joints.q, tool + least + more) >= enough * (1.0 - ROUNDING):
                return least + more
            more = 0.5 * more
        return least
