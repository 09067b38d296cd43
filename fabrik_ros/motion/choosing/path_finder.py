"""
Looks for a path to a goal, for an arm that rests: nothing moves before the whole path is known.

First the line, then straight in joint space to the configuration that costs least, then as a
planner finds a way, or over one configuration between where there is no planner. Options leave
some of these out. A path on which a joint turns much farther than from the start straight to the
end is a detour: it is what remains where nothing else is found.

"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import partial
from typing import Protocol

import numpy as np

from ...collision.guard import EASE
from ...model.mechanism import Mechanism
from ...planning.pieces import Pieces
from ...planning.plan_request import PlanRequest
from ...planning.plan_result import Plan
from ...planning.planner_thread import PlannerFailure
from ...planning.waypoint_finder import WaypointFinder, Waypoints
from ...programs.free_ways import FreeWays
from ...programs.program import Program
from ...programs.route import Route
from ...programs.route_search import RouteSearch, RouteTools, Speeds
from ...programs.tracing import Trace, Tracer
from ...reasons import joined, Reason, ReasonKind
from ...transforms import Array
from ..limits.joint_limiter import JointLimiter
from ..lines.line_tasks import Deviation
from ..lines.tolerant_line import TolerantLinePlanner
from ..paths.joint_path import JointPath
from ..paths.path import Path
from ..paths.planned_path import MOST_AVERAGED_OFF, PlannedPath
from ..paths.preview import Ahead, PathChecker, Preview
from ..paths.program_path import program_path
from .goal import Goal, MotionOptions, ResolvedGoal
from .path_maker import PathMaker

TINY_MOVE = 1e-3
"""A step of a path to compile with [rad or m, s]."""
LINE, JOINT, PLANNED, PROGRAM = 'line', 'joint', 'planned', 'program'
STRICTER = 0.1
"""Ratio of the ease of an attempt to that of the one before, whose path was blocked [1]."""
EXACT = Deviation()
NO_JOINT_PATH = Reason(ReasonKind.NO_PATH, 'no free path in joint space was found')


class Attempt(Enum):
    """Attempt at a goal, by how often paths to it that were found turned out to be blocked."""

    FIRST = 1
    IN_STEPS = 2
    """The joints follow a line knot by knot, as it was planned."""
    OFF_THE_LINE = 3
    """The arm leaves a line if it may."""

    @property
    def ease(self) -> float:
        """Distance by which pairs that begin at their clearance may come nearer on a path [m]."""
        return float(EASE * STRICTER ** (self.value - 1))

    @property
    def following(self) -> 'Attempt | None':
        """The next attempt; None after the last."""
        return Attempt(self.value + 1) if self is not Attempt.OFF_THE_LINE else None


FIRST = Attempt.FIRST


@dataclass(frozen=True, eq=False)
class ToGoal:
    """A goal that a path is to be found to."""

    goal: Goal
    attempt: Attempt = FIRST
    patience: float = 0.0
    """A path that leaves the line is not taken before this time is over [s]."""

    @property
    def following(self) -> 'ToGoal | None':
        """Next task where the path turns out to be blocked; None after the last attempt."""
        attempt = self.attempt.following
        return attempt and ToGoal(self.goal, attempt)


@dataclass(frozen=True, eq=False)
class ToConfiguration:
    """Joint values, shape (n,) [rad or m], that a path is to be found to."""

    q: Array
    patience: float = 0.0
    following: None = None


@dataclass(frozen=True, eq=False)
class ToProgram:
    """A program that a path through is to be found."""

    program: Program
    patience: float = 0.0
    following: None = None


Task = ToGoal | ToConfiguration | ToProgram


@dataclass(frozen=True, eq=False)
class FoundPath:
    """Result of a search: a path that was looked at, or the reason why there is none."""

    kind: str
    """'line', 'joint', 'planned' or 'program'."""
    path: Path | None
    preview: Preview | None = None
    """As far as the path was looked at; None where there was none to look at."""
    reason: Reason | None = None
    """Reason why there is no path."""
    detour: Reason | None = None
    """Reason why the path is not taken unasked; None where it may be."""
    deviation: Deviation = EXACT
    """Greatest deviation of the tips from the line, where they go along it."""
    rest: Path | None = None
    """Path that follows this one, where this one only leads to the line."""
    remarks: tuple[str, ...] = ()
    """What differs from what a program asked for."""

    @property
    def may_be_taken(self) -> bool:
        """Whether there is a path, and no detour."""
        return self.path is not None and self.detour is None


class PathPlanner(Protocol):
    """Looks for paths in joint space in the background; no call waits for it."""

    planning_time: float
    """Longest search for one path [s]."""

    @property
    def is_busy(self) -> bool:
        """Whether it looks for a path."""

    @property
    def time_passed(self) -> float:
        """Time since the search began [s]."""

    def request(self, request: PlanRequest) -> None:
        """Begin to look for a path in the world as it is now."""

    def poll(self) -> Plan | PlannerFailure | None:
        """Return the result; None as long as the search goes on."""

    def cancel(self) -> None:
        """Cancel the search."""


class PathFinder:
    """
    Looks for paths.

    Parameters
    ----------
    robot : Chain or Tree
        The joints.
    limiter : JointLimiter
        Knows where they are, and what they can do.
    maker : PathMaker
        Makes the paths.
    planner : TolerantLinePlanner
        Plans lines through places where they cannot be followed exactly.
    waypoints : WaypointFinder
        Finds free paths in joint space.
    checker : PathChecker
        Looks along paths.
    options : MotionOptions
        Which paths are allowed.
    path_planner : PathPlanner or None
        Finds ways that are not straight, if there is one.

    """

    def __init__(
        self,
        robot: Mechanism,
        limiter: JointLimiter,
        maker: PathMaker,
        planner: TolerantLinePlanner,
        waypoints: WaypointFinder,
        checker: PathChecker,
        options: MotionOptions,
        path_planner: PathPlanner | None,
    ) -> None:
        self._path_planner = path_planner
        self._robot, self._limiter, self._maker = robot, limiter, maker
        self._planner, self._waypoints = planner, waypoints
        self._checker, self._options = checker, options
        self._ease = FIRST.ease
        """Ease of the present attempt [m]."""

    def warm_up(self) -> None:
        """Compile what plans of lines need, and what follows them."""
        self._planner.warm_up()
        mid = self._robot.mid_configuration()
        path = PlannedPath(self._limiter, np.array([mid, mid + TINY_MOVE]))
        path.ahead()
        path.velocity(TINY_MOVE)

    def to_goal(
        self, resolved: ResolvedGoal, T: Array, attempt: Attempt = FIRST
    ) -> Pieces[FoundPath]:
        """
        Look for a path to a goal.

        Parameters
        ----------
        resolved : ResolvedGoal
            The goal, and a configuration there.
        T : array, shape (k, 4, 4)
            Its poses in the base frame.
        attempt : Attempt
            How often the arm was on the way to it already.

        """
        self._ease = attempt.ease
        tried: list[FoundPath] = []
        if self._begins_with_line(attempt):
            line = yield from self._line(resolved, T, in_steps=attempt is not FIRST)
            if self._options.path != 'line':
                line = self._well_turned(line, resolved, T)
            if line.may_be_taken:
                return line
            tried.append(line)
        if self._options.path != 'line' or _meets_itself(tried):
            q = self._limiter.joints.q
            goals = yield from self._waypoints.goals(resolved.solution, T, q)
            if not goals:
                return (yield from self._as_far_as_it_goes(resolved, tried))
            if self._options.path != 'line':
                joint = yield from self._joint_path(resolved, goals, T)
                if joint.may_be_taken:
                    return joint
                tried.append(joint)
        return _best_of(tried)

    def _begins_with_line(self, attempt: Attempt) -> bool:
        if self._options.path != 'auto':
            return self._options.path == 'line'
        in_contact = bool(self._waypoints.collision_at(self._limiter.joints.q))
        return attempt is not Attempt.OFF_THE_LINE and not in_contact

    def to_configuration(self, q_goal: Array) -> Pieces[FoundPath]:
        """Look for a path to joint values, shape (n,), straight or over others."""
        self._ease = FIRST.ease
        limiter = self._limiter
        found = yield from self._in_joint_space(
            (q_goal,), None, lambda waypoints: JointPath(limiter, *waypoints), None
        )
        if found.path is not None:
            return found
        straight = yield from self.along(JointPath(limiter, q_goal), JOINT)
        return replace(straight, path=None, reason=joined((straight.reason, found.reason)))

    def through(self, program: Program) -> Pieces[FoundPath]:
        """Look for a path through a program; every segment of it is looked along."""
        self._ease = FIRST.ease
        route = yield from self.route(program)
        if route.reason is not None:
            return FoundPath(PROGRAM, None, reason=route.reason)
        path = program_path(self._limiter, route)
        found = yield from self.along(path, PROGRAM if route.leaves_lines else LINE)
        return replace(
            found,
            detour=self._too_far_round(*route.detour),
            deviation=Deviation(*route.deviation),
            remarks=route.remarks,
        )

    def route(self, program: Program) -> Pieces[Route]:
        """Look for the route through a program, from where the arm is."""
        robot, limits = self._robot, self._limiter.joints.limits
        solvers, planner = self._maker.solvers, self._path_planner
        ways = FreeWays(
            self._waypoints,
            solvers.goal.solve,
            None if planner is None else partial(_asked, planner),
            limits.joint_velocity,
            0.0 if planner is None else planner.planning_time,
        )
        tracer = Tracer(robot, solvers.line, solvers.is_on_line, self._checker.guard)
        speeds = Speeds(
            limits.tip_speed,
            limits.tip_rotation,
            limits.joint_velocity,
            limits.tip_acceleration,
            limits.joint_acceleration,
        )
        tools = RouteTools(robot, tracer, ways.way, ways.goals, self._past, speeds)
        route = yield from RouteSearch(tools, program, self._limiter.joints.q).find()
        if not self._limiter.limits_jerk:
            return route
        position, orientation = route.deviation
        return replace(route, deviation=(position + MOST_AVERAGED_OFF, orientation))

    def _past(self, trace: Trace, q: Array, T_end: Array) -> Pieces[Trace]:
        """Follow a line of a program within the tolerances, where it cannot be exactly."""
        plan = yield from self._planner.plan(q, T_end[None], self._checker.check_from(q))
        if plan.reason is not None:
            return replace(trace, reason=plan.reason)
        off = plan.greatest
        return Trace(plan.shares, plan.knots, off.position, off.orientation, is_exact=False)

    def _in_joint_space(
        self,
        goals: Sequence[Array],
        T: Array | None,
        make: Callable[[Waypoints], Path],
        resolved: ResolvedGoal | None,
    ) -> Pieces[FoundPath]:
        """Look for a path in joint space to one of some goals, the straight ones first."""
        q, planner = self._limiter.joints.q, self._path_planner
        if planner is None:
            candidates = self._waypoints.candidates(goals, q, T)
            found = yield from self._first_of(candidates, make)
            return found or FoundPath(JOINT, None, reason=NO_JOINT_PATH)
        found = yield from self._first_of(self._waypoints.direct(goals, q), make)
        if found is not None and found.may_be_taken:
            return found
        planned = yield from self._as_planned(planner, goals, T, resolved)
        return planned if planned.may_be_taken or found is None else found

    def _as_planned(
        self,
        planner: PathPlanner,
        goals: Sequence[Array],
        T: Array | None,
        resolved: ResolvedGoal | None,
    ) -> Pieces[FoundPath]:
        """Let a planner look for a path, and look along what it finds."""
        limits, q = self._limiter.joints.limits, self._limiter.joints.q
        request = PlanRequest(
            q,
            T,
            tuple(goals),
            self._waypoints.posture,
            limits.joint_velocity,
            planner.planning_time,
            brakes_straight=self._limiter.limits_jerk,
        )
        answer = yield from _planned(planner, request)
        if isinstance(answer, PlannerFailure):
            return FoundPath(PLANNED, None, reason=Reason(ReasonKind.PLANNER_FAILED, answer.text))
        if not answer.found:
            return FoundPath(PLANNED, None, reason=Reason(ReasonKind.NO_PATH, answer.reason))
        room = answer.straight_room
        path = self._maker.planned(resolved, answer.knots, 'the planned path', room)
        return (yield from self.along(path, PLANNED))

    def _first_of(
        self, candidates: Iterator[Waypoints | None], make: Callable[[Waypoints], Path]
    ) -> Pieces[FoundPath | None]:
        """Find the first path that may be taken, or the first that is a detour."""
        detour: FoundPath | None = None
        for waypoints in candidates:
            if waypoints is not None:
                found = yield from self.along(make(waypoints), JOINT)
                if found.may_be_taken:
                    return found
                detour = detour or (found if found.path is not None else None)
            yield
        return detour

    def along(self, path: Path, kind: str) -> Pieces[FoundPath]:
        """Look along a path from where the arm is."""
        return (yield from self._look(path, kind, path.ahead()))

    def once_more(self, found: FoundPath) -> Pieces[FoundPath]:
        """Look once more along a path that was found, from where the arm is now."""
        if found.path is None:
            return found
        ahead = found.path.ahead()
        if found.rest is not None:
            ahead = ahead.followed_by(found.rest.ahead())
        again = yield from self._look(found.path, found.kind, ahead)
        return replace(again, deviation=found.deviation, rest=found.rest, remarks=found.remarks)

    def rest_of(self, path: Path, found: FoundPath | None) -> Pieces[FoundPath]:
        """Look along the rest of a path that is followed; `found` is what was found of it."""
        if found is not None and found.path is path:
            return self.once_more(found)
        return self.along(path, LINE)

    def _look(self, path: Path, kind: str, ahead: Ahead) -> Pieces[FoundPath]:
        preview = yield from self._checker.look(ahead, self._ease)
        if preview.reason is not None:
            return FoundPath(kind, None, preview, preview.reason)
        return FoundPath(kind, path, preview, detour=self._detour(ahead.q, preview))

    def _detour(self, q: Array, preview: Preview) -> Reason | None:
        """Say which joint turns too far on a path from `q`; None where none does."""
        beyond = preview.travel - np.abs(preview.q - q)
        beyond = np.where(self._robot.is_revolute, beyond, 0.0)
        j = int(np.argmax(beyond))
        return self._too_far_round(float(beyond[j]), self._robot.joint_names[j])

    def _too_far_round(self, beyond: float, name: str) -> Reason | None:
        """Say that a joint turns too far beyond the direct way [rad]; None where it does not."""
        most = self._options.max_detour
        if beyond <= most:
            return None
        text = f'{name} would turn {beyond:.2f} rad beyond the direct way (max_detour {most:.2f})'
        return Reason(ReasonKind.AWAITS_EXECUTE, text, (name,))

    def _line(self, resolved: ResolvedGoal, T: Array, in_steps: bool) -> Pieces[FoundPath]:
        """Look along the line; where it is blocked, for a way through within the tolerances."""
        if not in_steps:
            line = yield from self.along(self._maker.line(resolved), LINE)
            if line.path is not None or _meets_itself([line]):
                return line
        planned = yield from self._planned_line(resolved, T)
        if planned.path is not None or planned.preview is None or planned.preview.share > 0.0:
            return planned
        for beginning, rest in self._maker.lines_joined_later(resolved):
            ahead = beginning.ahead().followed_by(rest.ahead())
            joined_later = yield from self._look(beginning, LINE, ahead)
            if joined_later.may_be_taken:
                return replace(joined_later, rest=rest)
        return planned

    def _well_turned(self, line: FoundPath, resolved: ResolvedGoal, T: Array) -> FoundPath:
        """Leave a line whose end is turned less well than the goal's configuration."""
        if line.path is None or line.preview is None:
            return line
        worse = self._maker.solvers.turned_worse(T, line.preview.q, resolved.solution)
        if worse == 0.0:
            return line
        text = f'at the end of the line the tool would be turned {worse:.2f} rad more than it need'
        return replace(line, path=None, reason=Reason(ReasonKind.PATH_BLOCKED, text))

    def _planned_line(self, resolved: ResolvedGoal, T: Array) -> Pieces[FoundPath]:
        """Plan a line through places where it cannot be followed exactly, and look along it."""
        q = self._limiter.joints.q
        check = self._checker.check_from(q)
        plan = yield from self._planner.plan(q, T, check)
        path = self._maker.planned(resolved, plan.knots, 'the line')
        found = yield from self.along(path, LINE)
        if plan.reason is None or found.preview is None:
            return replace(found, deviation=plan.greatest)
        preview = replace(found.preview, share=plan.share, reason=plan.reason)
        return FoundPath(LINE, None, preview, plan.reason)

    def _joint_path(
        self, resolved: ResolvedGoal, goals: list[Array], T: Array
    ) -> Pieces[FoundPath]:
        """Look for a path in joint space to the goal that costs least."""
        found = yield from self._in_joint_space(
            goals, T, lambda waypoints: self._maker.joint_path(resolved, waypoints), resolved
        )
        if found.path is not None:
            return found
        straight = yield from self.along(self._maker.joint_path(resolved, (goals[0],)), JOINT)
        text = f'to none of {len(goals)} configurations at the target'
        reason = joined((straight.reason, found.reason, Reason(ReasonKind.NO_PATH, text)))
        return replace(straight, path=None, reason=reason)

    def _as_far_as_it_goes(
        self, resolved: ResolvedGoal, tried: list[FoundPath]
    ) -> Pieces[FoundPath]:
        """Go to a goal at which the arm would touch itself, until it is in front of that."""
        reason = resolved.collides(self._waypoints.collision_at(resolved.solution.q))
        if not self._options.approach_unreachable:
            return FoundPath(JOINT, None, reason=reason)
        if _meets_itself(tried):
            return FoundPath(LINE, self._maker.line(resolved), tried[0].preview)
        if self._options.path == 'line':
            return _best_of(tried)
        path = self._maker.joint_path(resolved, (resolved.solution.q,))
        joint = yield from self.along(path, JOINT)
        return FoundPath(JOINT, path, joint.preview)


def _planned(planner: PathPlanner, request: PlanRequest) -> Pieces[Plan | PlannerFailure]:
    """Let a planner look for a path; its search is cancelled if the caller drops these pieces."""
    try:
        answer = yield from _answer_of(planner, request)
        if isinstance(answer, PlannerFailure) and answer.is_restarting:
            answer = yield from _answer_of(planner, request)
        return answer
    finally:
        planner.cancel()


def _answer_of(planner: PathPlanner, request: PlanRequest) -> Pieces[Plan | PlannerFailure]:
    planner.request(request)
    while (answer := planner.poll()) is None:
        yield
    return answer


def _asked(planner: PathPlanner, request: PlanRequest) -> Pieces[Array | Reason]:
    """Let a planner look for knots, shape (m, n), on a free way."""
    answer = yield from _planned(planner, request)
    if isinstance(answer, PlannerFailure):
        return Reason(ReasonKind.PLANNER_FAILED, answer.text)
    return answer.knots if answer.found else Reason(ReasonKind.NO_PATH, answer.reason)


def _meets_itself(tried: list[FoundPath]) -> bool:
    """Whether the arm would touch itself on the first path that was tried."""
    reason = tried[0].reason if tried else None
    return reason is not None and reason.kind is ReasonKind.COLLISION_AHEAD


def _best_of(tried: list[FoundPath]) -> FoundPath:
    """Take a detour, or say why none of the paths can be taken."""
    detour = next((found for found in tried if found.path is not None), None)
    if detour is not None:
        return detour
    reason = joined(found.reason for found in tried)
    return FoundPath(tried[0].kind, None, tried[0].preview, reason)
