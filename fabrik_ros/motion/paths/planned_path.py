"""A path through joint values that were planned, along a smooth curve in joint space."""

from collections.abc import Callable
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ...collision.guard import CollisionGuard
from ...kernels import curve as kernels
from ...kernels.arm_table import FRAME
from ...planning.curve_slopes import curve_slopes
from ...planning.timed_way import SAME_KNOT
from ...reasons import Reason
from ...transforms import Array
from ..limits.joint_limiter import JointLimiter
from ..limits.joint_motion import largest, SAME_STEP
from ..limits.limits import MotionLimits
from ..limits.stop_trajectory import StopTrajectory, WayToRest
from ..lines.line_tracker import CATCHING_UP
from .path import Path
from .preview import Ahead

PREVIEW_MOVE = 0.05
"""Largest joint move from one checked configuration to the next, if knots are dense [rad or m]."""
PREVIEW_OFF = 1e-4
"""Largest distance of knots from the straight line that is checked in their place [rad or m]."""
AVERAGED_OFF = 1e-4
"""
Distance of tips and joint centres from a curve that bends evenly by averaging, with limited jerk
[m].
"""
MOST_AVERAGED_OFF = 2.0 * AVERAGED_OFF
"""The same where its bends change, seen in random programs [m]."""
OFF_CURVE = 1e-9
"""Distance from its place beyond which an arm looks for the nearest place [rad or m]."""
STOPPABLE = 0.44
"""Greatest speed over acceleration of joints that come to rest in half a second [s]."""
LEAST_ROOM = 0.005
"""Stopping distance that is always granted; with none the arm could not start [rad or m]."""
NEAR_CURVE = 1e-4
"""Distance from the curve up to which an arm comes to rest beside it [rad or m]."""
SLACK = 0.03
"""Share of the acceleration that the first step of a stop may take to come onto the curve [1]."""
ROUNDING = 1e-6
"""Share of the acceleration that counts as none [1]."""
MOST_STOP_POINTS = 64
SLOWEST = 1e-3
"""Least speed that is assumed along the path for the time to its end [1/s]."""
LANDED = 1e-10
"""Distance from the end within which a step ends exactly there [rad or m]."""


class PlannedPath(Path):
    """
    Follows knots in joint space, from rest at the first to rest at the last.

    Between knots the joints go along a cubic curve, as fast as joints, tips and joint centres may
    and such that they can slow down in time for whatever comes. Where the knots turn sharply the
    curve stays on their polyline, and the arm all but rests there.

    Parameters
    ----------
    limiter : JointLimiter
        Knows what the joints can do.
    knots : array, shape (m, n)
        Joint values [rad or m], the first where the arm is.
    name : str
        What reasons call it.
    reason, then
        As for `Path`.
    straight_room : array, shape (m,), optional
        Least collision-free distance straight ahead of each knot [rad, or m of prismatic joints].
        Where the jerk is limited the arm can always stop within it; elsewhere it comes to rest on
        the curve. None: no such limit.
    places : array, shape (m,), optional
        Times at the knots, from 0 on, that the arm is not to come before, at full speed [s]. None:
        as fast as it may.
    slopes : array, shape (m, n), optional
        Velocities at the knots at these times [rad/s or m/s]. None: those of a smooth curve.
    acceleration : float
        Share of the accelerations to use [1].

    """

    may_slow_down = True

    def __init__(
        self,
        limiter: JointLimiter,
        knots: Array,
        name: str = 'the line',
        reason: Reason | None = None,
        then: Callable[[], Path] | None = None,
        straight_room: Array | None = None,
        places: Array | None = None,
        slopes: Array | None = None,
        acceleration: float = 1.0,
    ) -> None:
        super().__init__(reason, then)
        self._limiter, self._name, robot = limiter, name, limiter.robot
        self._top = np.inf if places is None else 1.0
        self._acceleration = acceleration
        kept = _distinct(knots)
        self._knots = np.ascontiguousarray(knots[kept])
        self._room = np.full(len(self._knots), np.inf)
        if straight_room is not None and limiter.limits_jerk:
            self._room = np.maximum(straight_room[kept], LEAST_ROOM)
        if places is None:
            lengths = np.linalg.norm(np.diff(self._knots, axis=0), axis=1)
        else:
            lengths = np.diff(places[kept])
        self._places = np.append(0.0, np.cumsum(np.maximum(lengths, SAME_KNOT)))
        if slopes is None:
            limits = robot.lower, robot.upper
            slopes = curve_slopes(self._knots, self._places, *limits, robot.size)
        else:
            slopes = slopes[kept]
        self._tangents = np.ascontiguousarray(slopes)
        n, count = len(robot), len(robot.tree_rows)
        self._memory = np.empty((count, FRAME)), np.empty((count, 6))
        self._rows, self._here, self._next = np.empty((6, n)), np.empty((3, n)), np.empty((3, n))
        self._grid = np.empty((2 * len(self._knots) - 1, 3))
        self._at = self._speed = 0.0
        self._segment = 0
        self._came_late = False
        """Whether a step did, and joints may be too fast since to rest on the curve."""
        self._known_free: tuple[object, int] = None, 0
        """World in which the path is free from here to a knot, and the number of that."""
        self._find_speeds()

    def _find_speeds(self) -> None:
        """Find how fast the joints may go along the curve, under the limits in force."""
        joints = self._limiter.joints
        limits, robot = joints.limits, self._limiter.robot
        hardest = self._acceleration * limits.joint_acceleration
        fastest = np.minimum(limits.joint_velocity, STOPPABLE * limits.joint_acceleration)
        self._table = np.array([robot.lower, robot.upper, fastest, hardest])
        kernels.fill_speeds(
            robot.tree_rows, np.array([limits.tip_speed, limits.tip_rotation]), self._table,
            self._knots, self._tangents, self._places, self._top, limits.speed_scaling,
            self._acceleration * limits.tip_acceleration / limits.tip_speed, 2.0 * joints.delay,
            AVERAGED_OFF, self._room, *self._memory, self._rows, self._grid,
        )  # fmt: skip
        # A stop is no part of what was asked to go gently.
        self._stop_table = np.array([robot.lower, robot.upper, fastest, limits.joint_acceleration])
        self._stop_grid = self._grid * np.array([1.0, 1.0, 1.0 / self._acceleration])

    @property
    def q(self) -> Array:
        """Joint values at its end, shape (n,) [rad or m]."""
        end: Array = self._knots[-1]
        return end

    @property
    def share(self) -> float:
        """Share of the path that lies behind the arm."""
        return float(self._at / self._places[-1])

    def velocity(self, dt: float) -> Array:
        """Joint velocity that is wanted in the next step of `dt` seconds, shape (n,)."""
        joints = self._limiter.joints
        self._find_place()
        error = self._here[0] - joints.q
        correction = joints.correction(error, dt)
        change_time = min(dt, 0.5 * (dt + joints.dt)) if joints.dt > 0.0 else dt
        speed = kernels.next_speed(
            self._table, self._knots, self._tangents, self._places, self._grid, self._at,
            self._speed, change_time, dt, self._segment, self._rows,
        )  # fmt: skip
        rate = self._rate(speed, dt)
        share = joints.followable_share(rate, correction)
        if share != 1.0:
            speed *= share
            rate = self._rate(speed, dt)
        self._at, self._speed = self._place_after(speed, dt), speed
        velocity: Array = rate + correction
        if largest(correction) > CATCHING_UP:
            velocity *= min(1.0, joints.tip_speed.largest_share(joints.q, velocity))
        return velocity

    def to_rest(self, q: Array, velocity: Array, dt: float) -> WayToRest | None:
        """Tell how the arm comes to rest on the curve, if a step kept to that and joints can."""
        limiter, joints = self._limiter, self._limiter.joints
        is_even = abs(dt - joints.dt) <= SAME_STEP
        self._came_late |= not is_even
        rate = (self._next[0] - self._here[0]) / dt
        hardest = joints.limits.joint_acceleration
        is_off = largest(q - self._next[0]) > NEAR_CURVE
        if limiter.limits_jerk or is_off or np.any(np.abs(velocity - rate) > SLACK * hardest * dt):
            return None
        way = RestOnCurve(self, self._at, self._speed, q - 0.5 * dt * velocity, velocity, dt)
        if self._came_late:
            if way.hardest_share(hardest) > 1.0 + ROUNDING:
                return None
            self._came_late = not is_even
        return way

    def stop_from(
        self, at: float, speed: float, velocity: Array, dt: float
    ) -> tuple[Array, Array, float]:
        """
        Tell how joints come to rest on the curve.

        Parameters
        ----------
        at, speed : float
            Place on the curve, and speed along it in the last step.
        velocity : array, shape (n,)
            Velocities in that [rad/s or m/s].
        dt : float
            Length of the steps [s].

        Returns
        -------
        times : array, shape (m,)
            Times from the middle of the last step to those of others that are told [s].
        velocities : array, shape (m, n)
            Velocities in them; none in the last one [rad/s or m/s].
        end : float
            Place at which they rest.

        """
        steps = np.empty((MOST_STOP_POINTS, 2 + len(self._here[0])))
        count = kernels.write_stop(
            self._stop_table, self._knots, self._tangents, self._places, self._stop_grid, at,
            speed, dt, self._segment, velocity.copy(), self._rows, steps,
        )  # fmt: skip
        steps = steps[:count]
        return dt * steps[:, 0], steps[:, 2:], float(steps[-1, 1])

    def is_free_until(self, guard: CollisionGuard, q: Array, at: float) -> bool:
        """Whether nothing comes too near from joint values `q`, shape (n,), to a place."""
        last = kernels.segment_at(self._places, at, self._segment) + 1
        version, known = self._known_free
        if version == guard.version:
            corners = self._knots[known : last + 1]
            if len(corners) < 2:
                return True
        else:
            corners = np.vstack([q, self._knots[self._segment + 1 : last + 1]])
        if not guard.allows_along(q, corners):
            return False
        self._known_free = guard.version, last
        return True

    def _find_place(self) -> None:
        """Find out where on the curve the joints are: they may have been braking on their own."""
        joints = self._limiter.joints
        self._write(self._at, self._here)
        if largest(self._here[0] - joints.q) <= OFF_CURVE:
            return
        self._at = kernels.nearest_place(
            self._knots, self._tangents, self._places, joints.q, self._segment, self._next
        )
        self._write(self._at, self._here)
        slope = self._here[1]
        steep = float(slope @ slope)
        self._speed = max(0.0, float(slope @ joints.velocity) / steep) if steep > 0.0 else 0.0

    def _rate(self, speed: float, dt: float) -> Array:
        """Joint velocity of a step at a speed along the curve, shape (n,)."""
        segment = self._segment
        self._write(self._place_after(speed, dt), self._next)
        self._segment = segment
        rate: Array = (self._next[0] - self._here[0]) / dt
        return rate

    def _place_after(self, speed: float, dt: float) -> float:
        at, end = self._at + speed * dt, float(self._places[-1])
        return end if at > end - LANDED else at

    def _write(self, at: float, rows: Array) -> None:
        """Write joint values, slopes and curvatures at a place on the curve."""
        i = self._segment = kernels.segment_at(self._places, at, self._segment)
        begin, end = self._places[i], self._places[i + 1]
        share = min(max((at - begin) / (end - begin), 0.0), 1.0)
        kernels.curve_at(self._knots, self._tangents, self._places, i, share, rows)

    def has_arrived(self) -> bool:
        """Whether the joints rest at the end of the path."""
        return self._limiter.has_caught_up and self._limiter.joints.rests_at(self.q)

    def lose_speed(self) -> None:
        """Take note that the joints stand, or brake on their own."""
        self._speed = 0.0

    def change_limits(self, limits: MotionLimits) -> None:
        """Keep to other limits, which the limiter knows already."""
        self._find_speeds()

    def scale_speed(self, share: float) -> None:
        """Go at another share of all speeds, 0 to 1, which the limiter knows already."""
        self._find_speeds()

    def ahead(self) -> Ahead:
        """Tell what the rest of the path asks of the joints, from where the arm is now."""
        start, first = self._limiter.joints.q, self._segment + 1
        knots, places = self._knots[first:], self._places[first:]
        chosen = sparse(start, knots)
        is_timed = np.isfinite(self._top)
        asked = np.diff(places[chosen], prepend=self._at) if is_timed else np.empty(0)
        return Ahead(self._name, start, iter(knots[chosen]), len(chosen), asked)

    @property
    def time_left(self) -> float:
        """Time to its end, about: as fast as the arm may brake there [s]."""
        places, speeds = self._grid[:, 0], np.sqrt(self._grid[:, 1])
        means = np.maximum(0.5 * (speeds[1:] + speeds[:-1]), SLOWEST)
        left = np.append(np.cumsum((np.diff(places) / means)[::-1])[::-1], 0.0)
        return float(np.interp(self._at, places, left))


def sparse(q: Array, knots: Array) -> list[int]:
    """
    Choose from dense knots, shape (m, n), those to look at, for an arm at `q`; the last too.

    Straight lines over them lead past the others, and do not cut corners.
    """
    line, here, chosen = np.vstack([q, knots]), 0, []
    while here < len(knots):
        here = kernels.straight_until(line, here, PREVIEW_MOVE, PREVIEW_OFF)
        chosen.append(here - 1)
    return chosen


class RestOnCurve:
    """
    How an arm comes to rest on a planned path.

    Parameters
    ----------
    path : PlannedPath
        The path.
    at, speed : float
        Place on its curve after a step, and speed in that.
    q, velocity : array, shape (n,)
        Joint values amid the step, and velocities in it.
    dt : float
        Its length [s].

    """

    def __init__(
        self, path: PlannedPath, at: float, speed: float, q: Array, velocity: Array, dt: float
    ) -> None:
        self._path, self._at, self._speed = path, at, speed
        self._q, self._velocity, self._dt = q, velocity, dt

    @cached_property
    def _steps(self) -> tuple[Array, Array, float]:
        return self._path.stop_from(self._at, self._speed, self._velocity, self._dt)

    def trajectory(self) -> StopTrajectory:
        """Tell the way, from the time 0 in the middle of the step on."""
        return self._trajectory

    @cached_property
    def _trajectory(self) -> StopTrajectory:
        times, velocities, _ = self._steps
        times, velocities = np.append(0.0, times), np.vstack([self._velocity, velocities])
        means = 0.5 * (velocities[:-1] + velocities[1:])
        ways = np.cumsum(np.diff(times)[:, None] * means, axis=0)
        return StopTrajectory(
            times, self._q + np.vstack([np.zeros_like(self._q), ways]), velocities
        )

    def hardest_share(self, hardest: Array) -> float:
        """Greatest share of accelerations, shape (n,), that joints take on the way."""
        way = self._trajectory
        changes = np.abs(np.diff(way.velocity, axis=0)) / np.diff(way.times)[:, None]
        return float(np.max(changes / hardest, initial=0.0))

    def is_free(self, guard: CollisionGuard, q: Array) -> bool:
        """Whether an arm at joint values `q`, shape (n,), may go on to its end."""
        return self._path.is_free_until(guard, q, self._steps[2])


def _distinct(knots: Array) -> npt.NDArray[np.intp]:
    """Numbers of the knots that are not where the one before is; the last one always is there."""
    apart = np.max(np.abs(np.diff(knots, axis=0)), axis=1) > SAME_KNOT
    kept = np.flatnonzero(np.append(True, apart))
    last = len(knots) - 1
    return np.append(kept[:-1] if len(kept) > 1 else kept, last)
