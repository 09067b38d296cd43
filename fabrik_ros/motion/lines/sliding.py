"""
Going on with the part of a motion that is possible, where the whole of it is not.

In each step the joint velocity is the one that brings the tip as near as can be to where it is
led: within the bounds of the joints, and with all pairs of links and obstacles apart where the arm
would come to rest. So the tool slides along what is in the way, and along the end of its reach.

Source: Faverjon and Tournassoud, "A local based approach for path planning of manipulators with a
high number of degrees of freedom", ICRA 1987, for distances as bounds of velocities, here of the
place where the arm can stop; Wampler, "Manipulator inverse kinematic solutions based on vector
formulations and damped least-squares methods", IEEE T-SMC 16 (1986), for the damping.

"""

import numpy as np

from ...collision.guard import CollisionGuard, Nearness
from ...kernels.nearest_velocity import nearest_velocity
from ...model.mechanism import Mechanism
from ...reasons import Reason, ReasonKind
from ...solver.options import SolverOptions
from ...transforms import Array
from ..limits.joint_motion import JointMotion, largest
from .displacements import length_of, TipSpace
from .singularity import Jacobian
from .solver_reasons import AT_LIMITS
from .tip_reference import TipReference

LEVER = 0.25
"""A turn of the tip counts as a way of so many times its angle, for the size of the arm [1]."""
DAMPING = 0.02
"""Weight of the velocity of joints beside the speed of the tip, for the size of the arm [1]."""
SMALLEST = 0.01
"""An arm that is smaller counts as one of this size [m]."""
WAY_BACK, GENTLY = 0.5, 1.0
"""Time in which spare joints would be back, and their greatest speed [s, rad/s or m/s]."""
UPRIGHT = 5.0
"""Weight of rotations beside translations while it is found how far a tip gets [1]."""
MARGIN = 1e-3
"""Distance kept beyond clearances, as the way to rest is not quite straight [m]."""
MARGIN_SHARE = 0.5
"""Greatest share of its distance that a pair begins to keep so [1]."""
BRAKING_SHARE = 0.8
"""Share of the accelerations of joints with which a tip comes to rest [1]."""
REACH = 0.03
"""Distance beyond clearances, where the arm would rest, at which pairs are heeded [m]."""
AT_LIMIT = 0.02
"""Distance from its limit within which a joint is held back by it [rad or m]."""
TINY = 1e-12
"""A weight of nothing [1]."""
HOLDS = 1e-6
"""Push above which a bound holds the arm back [1]."""
STILL, SLOW = 2e-3, 1e-3
"""Velocity of joints that all but stand [rad/s or m/s], and share of the tip's speed [1]."""
SAME_PLACE, STAYS_FOR = 1e-3, 0.3
"""
A tip that goes no farther for so long [s at full speed, s] stands, whatever its joints do: at the
end of the reach they may tremble. One that is led nowhere far goes less far.
"""
LEAST_SLOPE = 1e-4
"""A pair whose distance changes by less with every joint holds no step back [m/rad or 1]."""
END_OF_REACH = 'the end of its reach'
AS_NEAR = 'the tool is as near as it can be'
LAST_OF_LINE = 0.02
"""Rest of a line that is tried where a slide ends beside its goal [s at full speed]."""
LITTLE = 0.05
"""Share of a motion that may be missing from all of it [1]."""
MOMENT = 1e-3
"""Time over which the speed of the tip is measured at rest [s]."""


class Sliding:
    """
    Takes steps that bring a tip as near as can be to where it is led.

    Parameters
    ----------
    robot : Chain
        The joints.
    joints : JointMotion
        Knows what the joints can do.
    guard : CollisionGuard or None
        Knows what collides, where that is checked.
    options : SolverOptions
        What is asked of the tip: mode and axis.

    Attributes
    ----------
    is_held : bool
        Whether a pair or a limit held the last step back.
    is_whole : bool
        Whether nothing did, and all of the motion was possible.
    is_still : bool
        Whether the arm all but stood before it, or its tip did for a while; not one that is
        paused, or whose tool is slow.

    """

    def __init__(
        self,
        robot: Mechanism,
        joints: JointMotion,
        guard: CollisionGuard | None,
        options: SolverOptions,
    ) -> None:
        self._robot, self._joints, self._guard = robot, joints, guard
        self._jacobian, self._mode = Jacobian(robot), options.mode
        self._axis = np.array(options.axis) / np.linalg.norm(options.axis)
        n, self._size = len(robot), max(float(robot.sizes[0]), SMALLEST)
        self._lever, self._damping = LEVER * self._size, DAMPING * self._size
        self._box = np.vstack([np.eye(n), -np.eye(n)])
        self._memory = np.empty(n, dtype=np.int64), np.empty((n + 3, n)), np.empty((n, n))
        self._margins: dict[tuple[str, str], float] = {}
        """Distance that each pair keeps beyond its clearance [m]."""
        self.begin()

    def begin(self) -> None:
        """Begin to slide: nothing is known of what is in the way."""
        self._pairs: list[tuple[str, str]] = []
        self._at_limit: list[str] = []
        self.is_held = self.is_whole = self.is_still = False
        self._began_at = self._joints.q
        """Joint values to which spare joints tend, so that none ends beyond a straight arm."""
        self._place: Array | None = None
        """Where the tip has been, or nearly so, for the time below; shape (1, 4, 4)."""
        self._stays_for = 0.0

    def velocity(self, line: TipReference, dt: float) -> Array:
        """
        Velocity of the joints in a step of `dt` seconds, shape (n,) [rad/s or m/s].

        The reference is taken to where the arm is, and goes on by the step.
        """
        joints, robot = self._joints, self._robot
        self._take_in(line)
        before = joints.velocity
        is_slow = line.pace < SLOW * line.limits.speed_scaling and largest(before) < STILL
        self.is_still = is_slow or self._stays(line, dt)
        stopping = dt + float(np.max(np.abs(before) / joints.limits.joint_acceleration))
        ahead = dt + 0.5 * stopping
        q_rest = np.clip(joints.q + ahead * before, robot.lower, robot.upper)
        J = self._jacobian_at(q_rest, line)
        near = self._near(joints.q, q_rest)
        slopes = ahead * np.array([each.slope for each in near]).reshape(-1, len(before))
        least = slopes @ before - [each.at_rest - self._margin(each) for each in near]
        box = np.array([robot.lower - joints.q, joints.q - robot.upper]) / ahead
        back = max(0.0, line.pace - LITTLE) * np.clip(
            (self._began_at - joints.q) / WAY_BACK, -GENTLY, GENTLY
        )

        def nearest(speed: Array, box: Array, turning: float = 1.0) -> tuple[Array, Array]:
            weights = np.repeat((1.0, turning), 3)
            columns = weights[:, None] * J
            damped = columns.T @ columns + self._damping**2 * np.eye(len(before))
            inverse: Array = np.asarray(np.linalg.inv(damped), dtype=np.float64)
            wanted = inverse @ (columns.T @ (weights * speed) + self._damping**2 * back)
            return self._nearest(inverse, wanted, box, slopes, least)

        scale = np.repeat((line.limits.tip_speed, self._lever * line.limits.tip_rotation), 3)
        box, led = np.minimum(box, 0.0), scale * self._led_by(line)
        upright, pushes = nearest(led / ahead, box, UPRIGHT)
        reached = ahead * J @ upright
        missing, most = led - reached, line.most_missing * self._size
        near_by = reached + missing * min(1.0, most / max(length_of(missing), TINY))
        way = ahead * nearest(near_by / ahead, box)[0]
        reached = J @ way
        possible = reached / scale
        line.acceleration = min(line.full_acceleration, self._braking(way, length_of(possible)))
        speed = scale * line.speed_along(possible.reshape(1, 6), dt).reshape(-1)
        least_v, most_v = self._bounds(dt)
        bounds = np.array([least_v, -most_v])
        velocity = np.clip(nearest(speed, bounds)[0], least_v, most_v)
        velocity = joints.no_faster(velocity, max(line.limits.speed_scaling, line.pace), dt)
        self._take_note(near, pushes)
        missed = length_of(led - reached)
        self.is_whole = not self.is_held and missed <= LITTLE * length_of(led)
        self._go_on(line, velocity, dt)
        return velocity

    def is_beside_goal(self, line: TipReference) -> bool:
        """Whether hardly anything is left of where the tip is led."""
        return length_of(self._led_by(line)) < LAST_OF_LINE

    def _led_by(self, line: TipReference) -> Array:
        """Where the tip is led from where it is, as far as that is asked for, shape (6,) [s]."""
        return self._asked_for(line.led_by().reshape(-1), line)

    def _stays(self, line: TipReference, dt: float) -> bool:
        """Take note of where the tip is; tell whether it has been there for long."""
        space = TipSpace(line.limits.tip_speed, line.limits.tip_rotation)
        near = min(SAME_PLACE * line.limits.speed_scaling, LITTLE * length_of(line.led_by()))
        if self._place is None or length_of(space.between(self._place, line.T)) >= near:
            self._place, self._stays_for = line.T, 0.0
        self._stays_for += dt
        return self._stays_for > STAYS_FOR

    def _bounds(self, dt: float) -> Array:
        """Least and greatest velocity of each joint at the share of speed asked for, (2, n)."""
        joints, limits = self._joints, self._joints.limits
        slower = np.abs(joints.velocity) - limits.joint_acceleration * dt
        most = np.maximum(limits.speed_scaling * limits.joint_velocity, slower)
        bounds: Array = np.clip(joints.bounds, -most, most)
        return bounds

    def _braking(self, way: Array, distance: float) -> float:
        """Tell how fast joints can slow the tip down [1/s] on their way (n,) of a distance [s]."""
        rates = np.abs(way) / max(distance, TINY)
        limits = self._joints.limits.joint_acceleration
        return float(np.min(BRAKING_SHARE * limits / np.maximum(rates, TINY)))

    def _take_in(self, line: TipReference) -> None:
        """Let a reference be where the arm is, as fast as that."""
        joints, moment = self._joints, self._joints.dt or MOMENT
        tips = self._robot.tip_poses
        line.be_at(tips(joints.q), joints.q)
        line.take_speed(tips(joints.q - moment * joints.velocity), moment)

    def _go_on(self, line: TipReference, velocity: Array, dt: float) -> None:
        q = np.clip(self._joints.q + dt * velocity, self._robot.lower, self._robot.upper)
        T = self._robot.tip_poses(q)
        space = TipSpace(line.limits.tip_speed, line.limits.tip_rotation)
        line.advance(space.between(line.T, T) / dt, dt, T, q)

    def _jacobian_at(self, q: Array, line: TipReference) -> Array:
        """Speed of the tip for each joint, turns as ways; shape (6, n) [m/rad or 1]."""
        J: Array = self._asked_for(self._jacobian.at(q), line)
        J[3:] *= self._lever
        return J

    def _asked_for(self, twists: Array, line: TipReference) -> Array:
        """Leave out turns that are not asked for; shape (6, ...)."""
        asked: Array = twists.copy()
        if self._mode == 'position':
            asked[3:] = 0.0
        elif self._mode == 'axis':
            axis = line.T[0, :3, :3] @ self._axis
            asked[3:] -= np.multiply.outer(axis, axis @ asked[3:])
        return asked

    def _near(self, q: Array, q_rest: Array) -> list[Nearness]:
        if self._guard is None:
            return []
        near = self._guard.near_at_rest(q, q_rest, REACH)
        return [each for each in near if largest(each.slope) > LEAST_SLOPE]

    def _margin(self, pair: Nearness) -> float:
        """Distance that a pair keeps beyond its clearance [m]; negative: it comes no nearer."""
        if pair.now <= 0.0:
            return pair.now
        may, kept = min(MARGIN, MARGIN_SHARE * pair.now), self._margins.get(pair.links, 0.0)
        self._margins[pair.links] = margin = (
            may if pair.now < MARGIN_SHARE * kept else max(may, kept)
        )
        return margin

    def _nearest(
        self, inverse: Array, wanted: Array, box: Array, slopes: Array, least: Array
    ) -> tuple[Array, Array]:
        """Find the velocity nearest to one wanted, and how hard each bound pushes it there."""
        normals = np.vstack([self._box, slopes])
        bounds = np.concatenate([box.reshape(-1), least])
        pushes, velocity = np.empty(len(bounds)), np.empty(len(wanted))
        nearest_velocity(inverse, wanted, normals, bounds, pushes, *self._memory, velocity)
        return velocity, pushes

    def _take_note(self, near: list[Nearness], pushes: Array) -> None:
        """Take note of what holds the tip back."""
        robot, q, n = self._robot, self._joints.q, len(self._robot)
        pairs = [
            each.links for each, push in zip(near, pushes[2 * n :], strict=True) if push > HOLDS
        ]
        at_limit = np.minimum(q - robot.lower, robot.upper - q) < AT_LIMIT
        held = np.maximum(pushes[:n], pushes[n : 2 * n]) > HOLDS
        joints = [robot.joint_names[j] for j in np.flatnonzero(at_limit & held)]
        self._pairs, self._at_limit = pairs, joints
        self.is_held = bool(pairs or joints)

    @property
    def reason(self) -> Reason:
        """Say what the tool slides along."""
        refused = '' if self._guard is None else self._guard.refused_pair
        along = [*map(', '.join, self._pairs), *self._at_limit] or [refused or END_OF_REACH]
        text = f'sliding along: {"; ".join(along)}'
        return Reason(ReasonKind.SLIDING, text, tuple(self._at_limit))

    @property
    def end(self) -> Reason:
        """Say why the tool comes no nearer to where it is led."""
        if self._pairs:
            links = ', '.join(f"'{a}' and '{b}'" for a, b in self._pairs)
            return Reason(ReasonKind.COLLISION_AHEAD, f'collision ahead: {links}; {AS_NEAR}')
        if self._at_limit:
            names = ', '.join(self._at_limit)
            text = f'{AT_LIMITS} ({names}); {AS_NEAR}'
            return Reason(ReasonKind.PATH_BLOCKED, text, tuple(self._at_limit))
        return Reason(ReasonKind.PATH_BLOCKED, f'{END_OF_REACH}; {AS_NEAR}')
