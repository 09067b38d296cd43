"""
Finds the route of an arm through a program, all of it before the arm sets out.

Lines and arcs are followed from one configuration; a move to a pose ends in that configuration
from which all lines and arcs after it can be followed. Where a program begins with lines that
cannot be followed from where the arm stands, it first goes to another configuration there.

"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
import math

import numpy as np

from ..errors import FabrikError, ProgramError
from ..model.mechanism import Mechanism
from ..planning.curve_slopes import curve_slopes
from ..planning.pieces import Pieces
from ..reasons import Reason, ReasonKind
from ..transforms import Array, rotation_vector
from .blends import LegMaker, Part
from .courses import Course
from .joint_values import joint_values
from .program import Joints, Line, Move, Pause, Program, Segment
from .rest import course_of
from .route import Leg, Route, Stretch
from .tracing import Trace, Tracer

DENSE = 0.05
"""Largest joint move between knots of a joint move [rad or m]."""
HALVES = 0.5 ** np.arange(6.0, 0.0, -1.0)
"""Shares of the first and the last distance between knots at which there are more [1]."""
MOST_STARTS = 12
"""Configurations at a pose from which the lines behind it are tried [1]."""
CLOSE = 5e-5, 1e-4
"""How near its knots the curve of a line or an arc stays, as `curve_slopes` has it [m, rad]."""
OFF, TURNED_OFF = 1e-4, 1e-3
"""A tool that is off a line or an arc by more, or turned off it, is told of [m], [rad]."""
BEFORE = -1
"""Number of what comes before the first segment."""
SLOWER = 1e-3
"""Share by which a speed may be lower than what was asked for without a word [1]."""

Way = Callable[[Array, Array], Pieces['Array | Reason']]
"""Finds knots, shape (m, n), from joint values to others, or says why there is no way."""
Goals = Callable[[Array, Array], Pieces['list[Array] | Reason']]
"""Finds free configurations at a pose of shape (4, 4), for an arm at joint values."""

Past = Callable[[Trace, Array, Array], Pieces[Trace]]
"""
Follows a line that ended early once more, within tolerances: from joint values to a pose.

Returns the same trace where that leads nowhere.
"""


@dataclass(frozen=True)
class Speeds:
    """Greatest speeds and accelerations of an arm."""

    tip: float
    """[m/s]."""
    rotation: float
    """[rad/s]."""
    joints: Array
    """Shape (n,) [rad/s or m/s]."""
    tip_acceleration: float
    """[m/s^2]; the tip's rotation gains its full speed in the same time."""
    joint_acceleration: Array
    """Shape (n,) [rad/s^2 or m/s^2]."""


@dataclass(frozen=True)
class RouteTools:
    """
    What routes are found with.

    Attributes
    ----------
    robot : Chain
        The arm.
    tracer : Tracer
        Follows lines and arcs.
    way : callable
        Finds ways between configurations; see `Way`.
    goals : callable
        Finds configurations at a pose; see `Goals`.
    past : callable
        Goes past places where a line cannot be followed exactly; see `Past`.
    speeds : Speeds
        Greatest speeds and accelerations.

    """

    robot: Mechanism
    tracer: Tracer
    way: Way
    goals: Goals
    past: Past
    speeds: Speeds


@dataclass(frozen=True, eq=False)
class Failure:
    """Why a program cannot be followed to its end."""

    segment: int
    """Number of the segment, from 0 on."""
    reason: Reason


class RouteSearch:
    """
    Searches the route through one program.

    Parameters
    ----------
    tools : RouteTools
        What it is found with.
    program : Program
        The program.
    q : array, shape (n,)
        Where the arm is [rad or m].

    """

    def __init__(self, tools: RouteTools, program: Program, q: Array) -> None:
        self._tools, self._steps, self._q = tools, program.steps, q
        guard = tools.tracer.guard
        self._least = None if guard is None else guard.least_from(q)
        self._maker = LegMaker(tools.robot, guard, self._least)
        self._legs: list[Leg] = []
        self._parts: list[Part] = []
        """Segments since the last stop."""
        self._traces: dict[int, tuple[Course, Trace]] = {}
        """Courses, by the numbers of the segments, that were followed in advance."""
        self._deviation = 0.0, 0.0
        self._leaves_lines, self._detour = False, (0.0, '')

    def find(self) -> Pieces[Route]:
        """Find the route, in pieces."""
        failure = yield from self._begin()
        if failure is None:
            for number, segment in enumerate(self._steps):
                failure = yield from self._add(number, segment)
                if failure is not None:
                    break
        yield from self._stop()
        if not self._legs:
            self._pause(0, 0.0)
        return Route(
            tuple(self._legs),
            None if failure is None else self._named(failure),
            -1 if failure is None else failure.segment,
            self._deviation,
            tuple(self._maker.remarks),
            self._leaves_lines,
            self._detour,
        )

    def _begin(self) -> Pieces[Failure | None]:
        """Go to another configuration where lines cannot be followed from that of the arm."""
        failure = yield from self._follow_lines(0, self._q)
        if failure is None or failure.reason.kind is ReasonKind.BAD_REQUEST:
            return failure
        T = self._tools.robot.tip_poses(self._q)[0]
        other = yield from self._go_to_pose(BEFORE, Segment(), T, following=0)
        yield from self._stop()
        if other is None:
            self._maker.remarks.append('goes to another configuration first')
        return failure if other is not None else None

    def _add(self, number: int, segment: Segment) -> Pieces[Failure | None]:
        """Add a segment to the route; say why that cannot be."""
        failure: Failure | None = None
        if isinstance(segment, Pause):
            yield from self._stop()
            self._pause(number, segment.seconds)
        elif isinstance(segment, Joints):
            failure = yield from self._go_to_joints(number, segment)
        elif isinstance(segment, Move):
            T = np.asarray(segment.pose)
            failure = yield from self._go_to_pose(number, segment, T, following=number + 1)
        else:
            failure = yield from self._go_along(number, segment)
        if segment.blend == 0.0:
            yield from self._stop()
        return failure

    def _stop(self) -> Pieces[None]:
        """Let the arm stop: what was added since the last stop becomes legs."""
        if self._parts:
            self._legs += yield from self._maker.legs(self._parts)
            self._parts = []

    def _pause(self, number: int, seconds: float) -> None:
        rest = self._q[None]
        pause = Leg(rest, np.zeros_like(rest), np.zeros(1), ((number, 0.0),), pause=seconds)
        self._legs.append(pause)

    def _extend(
        self, number: int, segment: Segment, times: Array, q: Array, is_smooth: bool
    ) -> None:
        """Add joint values to what was found since the last stop, if they lead anywhere."""
        self._q = q[-1]
        kept = np.append(True, np.diff(times) > 0.0)
        if np.count_nonzero(kept) < 2:
            return
        kept[-1] = True
        times, q, robot = times[kept], q[kept], self._tools.robot
        times = self._lasting(number, segment, times, q)
        closeness = CLOSE if is_smooth else ()
        slopes = curve_slopes(q, times, robot.lower, robot.upper, robot.size, *closeness)
        self._parts.append((Stretch(number, times, q, slopes), segment))

    def _lasting(self, number: int, segment: Segment, times: Array, q: Array) -> Array:
        """Stretch the least times, shape (m,), for a segment that has a duration."""
        wanted, least = segment.duration, float(times[-1])
        if wanted is None:
            return times
        stops = segment.blend == 0.0 or number + 1 == len(self._steps)
        gains = 0.0 if self._parts else self._time_to_gain(segment, times[:2], q[:2])
        gains += self._time_to_gain(segment, times[-2:], q[-2:]) if stops else 0.0
        # Gaining the speed takes as long again as it saves: D + lost / D is the whole duration.
        lost = 0.5 * least * gains
        room = wanted**2 - 4.0 * lost
        duration = 0.5 * (wanted + math.sqrt(room)) if room > 0.0 else 0.0
        if duration >= least:
            stretched: Array = duration / least * times
            return stretched
        self._maker.remarks.append(
            f'segment {number + 1}: {least + lost / least:.3g} s instead of {wanted:.3g} s'
        )
        return times

    def _time_to_gain(self, segment: Segment, times: Array, q: Array) -> float:
        """Time to gain the speed between two knots from rest, or to lose it [s]."""
        speeds, dt = self._tools.speeds, float(times[1] - times[0])
        T, T_next = (self._tools.robot.tip_poses(row)[0] for row in q)
        turn = rotation_vector(T[:3, :3].T @ T_next[:3, :3])
        of_tip = max(
            float(np.linalg.norm(T_next[:3, 3] - T[:3, 3])) / speeds.tip,
            float(np.linalg.norm(turn)) / speeds.rotation,
        )
        times_to_gain = np.append(
            np.abs(q[1] - q[0]) / speeds.joint_acceleration,
            of_tip * speeds.tip / speeds.tip_acceleration,
        )
        return float(np.max(times_to_gain)) / (segment.acceleration * dt)

    # -- lines and arcs

    def _go_along(self, number: int, segment: Segment) -> Pieces[Failure | None]:
        if number not in self._traces:
            failure = yield from self._follow_lines(number, self._q)
            if failure is not None:
                return failure
        course, trace = self._traces[number]
        errors = trace.position_error, trace.orientation_error
        self._deviation = max(self._deviation[0], errors[0]), max(self._deviation[1], errors[1])
        times = self._duration(number, segment, course) * trace.shares
        if trace.is_exact and errors[1] > TURNED_OFF:
            self._maker.remarks.append(
                f'segment {number + 1}: the tool is turned off it by up to {errors[1]:.3f} rad: '
                f'{len(self._q)} joints do not reach every pose'
            )
        if not trace.is_exact:
            moves = np.max(np.abs(np.diff(trace.q, axis=0)) / self._tools.speeds.joints, axis=1)
            times = np.append(0.0, np.cumsum(np.maximum(np.diff(times), moves)))
            if errors[0] > OFF or errors[1] > TURNED_OFF:
                self._maker.remarks.append(
                    f'segment {number + 1}: leaves the line by up to {1e3 * errors[0]:.1f} mm and '
                    f'{errors[1]:.3f} rad where it cannot be followed exactly'
                )
        self._extend(number, segment, times, trace.q, trace.is_exact)
        return None

    def _duration(self, number: int, segment: Segment, course: Course) -> float:
        """Duration of a course at the asked speed, without accelerating [s]."""
        speeds, remarks = self._tools.speeds, self._maker.remarks
        asked = speeds.tip * segment.share if segment.speed is None else segment.speed
        fastest = min(asked, speeds.tip)
        turning = speeds.rotation * (1.0 if segment.speed is not None else segment.share)
        turning = min(turning, segment.rotation or math.inf)
        duration = max(course.length / fastest, course.turn / turning)
        is_slower = 0.0 < course.length < (1.0 - SLOWER) * asked * duration
        if segment.speed is not None and is_slower:
            remarks.append(
                f'segment {number + 1}: {course.length / duration:.3g} m/s instead of {asked:.3g}'
            )
        return duration

    def _follow_lines(self, number: int, q: Array) -> Pieces[Failure | None]:
        """Follow the lines and arcs from a segment on, from joint values; say where that ends."""
        T = self._tools.robot.tip_poses(q)[0]
        for i, segment in enumerate(self._steps[number:], start=number):
            if isinstance(segment, (Joints, Move)):
                break
            if isinstance(segment, Pause):
                continue
            try:
                course = course_of(T, segment)
            except ProgramError as error:
                return Failure(i, Reason(ReasonKind.BAD_REQUEST, str(error)))
            trace = yield from self._tools.tracer.trace(course, q, self._least)
            if trace.reason is not None and isinstance(segment, Line):
                trace = yield from self._tools.past(trace, q, course.pose(1.0))
            if trace.reason is not None:
                return Failure(i, trace.reason)
            self._traces[i] = course, trace
            T, q = course.pose(1.0), trace.q[-1]
        return None

    # -- free moves

    def _go_to_joints(self, number: int, segment: Joints) -> Pieces[Failure | None]:
        try:
            q = joint_values(self._tools.robot, segment, self._q)
        except FabrikError as error:
            return Failure(number, Reason(ReasonKind.BAD_REQUEST, str(error)))
        return (yield from self._go_free(number, segment, q))

    def _go_to_pose(
        self, number: int, segment: Segment, T: Array, following: int
    ) -> Pieces[Failure | None]:
        """Go to a configuration at a pose from which the lines after it can be followed."""
        goals = yield from self._tools.goals(T, self._q)
        if isinstance(goals, Reason):
            return Failure(number, goals)
        first: Failure | None = None
        for q in goals[:MOST_STARTS]:
            failure = yield from self._follow_lines(following, q)
            failure = failure or (yield from self._go_free(number, segment, q))
            if failure is None:
                return None
            first = first or failure
        return first

    def _go_free(self, number: int, segment: Segment, q: Array) -> Pieces[Failure | None]:
        """Go to a configuration by any free way."""
        knots = yield from self._tools.way(self._q, q)
        if isinstance(knots, Reason):
            return Failure(number, knots)
        self._leaves_lines = True
        self._note_detour(knots)
        knots = _dense(knots)
        self._extend(number, segment, self._times(segment, knots), knots, is_smooth=False)
        return None

    def _note_detour(self, knots: Array) -> None:
        """Note by how much a joint turns beyond the direct way, where that is the most so far."""
        robot = self._tools.robot
        travel = np.sum(np.abs(np.diff(knots, axis=0)), axis=0) - np.abs(knots[-1] - knots[0])
        beyond = np.where(robot.is_revolute, travel, 0.0)
        j = int(np.argmax(beyond))
        self._detour = max(self._detour, (float(beyond[j]), robot.joint_names[j]))

    def _times(self, segment: Segment, knots: Array) -> Array:
        """Return times at the knots of a free move, shape (m,), without accelerating [s]."""
        speeds, share = self._tools.speeds, segment.share
        steps = np.max(np.abs(np.diff(knots, axis=0)) / (share * speeds.joints), axis=1)
        has_speed = segment.speed is not None or segment.rotation is not None or share < 1.0
        if has_speed or segment.duration is not None:
            T = np.array([self._tools.robot.tip_poses(q)[0] for q in knots])
            ways = np.linalg.norm(np.diff(T[:, :3, 3], axis=0), axis=1)
            turns = [rotation_vector(a[:3, :3].T @ b[:3, :3]) for a, b in pairwise(T)]
            fastest = segment.speed or share * speeds.tip
            turning = segment.rotation or share * speeds.rotation
            steps = np.maximum(steps, ways / fastest)
            steps = np.maximum(steps, np.linalg.norm(turns, axis=1) / turning)
        return np.append(0.0, np.cumsum(steps))

    # -- what it says

    def _named(self, failure: Failure) -> Reason:
        name = self._steps[failure.segment].name
        text = f'segment {failure.segment + 1} ({name}): {failure.reason}'
        return replace(failure.reason, text=text)


def _dense(knots: Array) -> Array:
    """
    Put knots between others, shape (m, n), so that none are far apart, and nearer at both ends.

    Speeds are known at knots: a slow arm would brake from the one before the last on.
    """
    rows = [knots[:1]]
    for q, q_next in pairwise(knots):
        count = max(1, math.ceil(np.max(np.abs(q_next - q)) / DENSE))
        rows.append(q + np.linspace(0.0, 1.0, count + 1)[1:, None] * (q_next - q))
    dense = np.vstack(rows)
    begin = dense[0] + HALVES[:, None] * (dense[1] - dense[0])
    end = dense[-1] + HALVES[::-1, None] * (dense[-2] - dense[-1])
    return np.vstack([dense[:1], begin, dense[1:-1], end, dense[-1:]])
