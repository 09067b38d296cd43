"""A program as an arm will drive it: its route, timed by the motion that the node drives too."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
import time

import numpy as np
import numpy.typing as npt

from ..collision.checked_pairs import CheckedPairs
from ..collision.guard import CollisionGuard
from ..errors import ProgramError
from ..model.chain import Chain
from ..planning.direct_planner import DirectPlanner
from ..planning.pieces import finish
from ..programs.program import Arc, Line, Program
from ..programs.route import Route
from ..reasons import Reason, ReasonKind
from ..transforms import Array
from .choosing.motion import Motion
from .driven_way import between_commands, LONGEST
from .follower_options import FollowerOptions
from .paths.path import Progress
from .paths.program_path import progress_at

TOO_LONG = Reason(ReasonKind.BAD_REQUEST, f'the program takes more than {LONGEST:g} s')
CANCELLED = Reason(ReasonKind.CANCELLED, 'planning was cancelled')
HELD = 0.99
"""A speed along a segment of at least this share of the asked one is that [1]."""


@dataclass(frozen=True, eq=False)
class ProgramPlan:
    """
    A program as it will be driven, or why it cannot be; true if it can.

    Attributes
    ----------
    found : bool
        Whether the arm can go through all of it.
    reason : Reason or None
        Why it cannot; names the segment.
    segment : int
        Number of the segment that it cannot follow to its end, from 0 on; -1 where it can.
    joint_names : tuple of str
        Names of the n joints.
    times : array, shape (m,)
        Times of the commands, from 0 on [s]; m = 0 where the program is not found.
    q : array, shape (m, n)
        Joint values then [rad or m].
    segments : array of int, shape (m,)
        Number of the segment that each of them is on.
    blends : tuple of (float, float)
        Times between which the arm is on none, as it goes over to the next one [s].
    slow : tuple of (float, float)
        Times between which the tip is slower on lines and arcs than was asked: where it starts
        and stops, and where joints are at their limits [s].
    position_error, orientation_error : float
        Greatest errors of the tip on lines and arcs outside the blends [m], [rad].
    remarks : tuple of str
        What differs from what was asked, as smaller blends; for people.
    planning_time : float
        Duration of the search [s].
    collision_checking : str
        What was kept apart, or why nothing was.

    """

    found: bool
    reason: Reason | None
    segment: int
    joint_names: tuple[str, ...]
    times: Array
    q: Array
    segments: npt.NDArray[np.intp]
    blends: tuple[tuple[float, float], ...]
    slow: tuple[tuple[float, float], ...]
    position_error: float
    orientation_error: float
    remarks: tuple[str, ...]
    planning_time: float
    collision_checking: str

    def __bool__(self) -> bool:
        return self.found

    @property
    def duration(self) -> float:
        """Duration of the program, from rest to rest [s]."""
        self._check()
        return float(self.times[-1])

    def at(self, time: npt.ArrayLike) -> Array:
        """
        Joint values at times after its beginning.

        Parameters
        ----------
        time : float or array, shape (k,)
            From 0 to `duration`; the arm rests before and after [s].

        Returns
        -------
        array, shape (n,) or (k, n)
            [rad or m].

        """
        self._check()
        return between_commands(self.times, self.q, time)

    def segment_at(self, time: float) -> int:
        """Return the number of the segment that the arm is on at a time [s], from 0 on."""
        self._check()
        i = int(np.searchsorted(self.times, time, side='right')) - 1
        return int(self.segments[min(max(i, 0), len(self.segments) - 1)])

    def _check(self) -> None:
        if not self.found:
            raise ValueError(f'no way through the program was found: {self.reason}')


def driven_program(
    arm: Chain,
    start: Array,
    program: Program,
    collision: CheckedPairs | None,
    planner: DirectPlanner,
    options: FollowerOptions | None = None,
) -> ProgramPlan:
    """
    Look for the way through a program, and drive it.

    Parameters
    ----------
    arm : Chain
        The arm.
    start : array, shape (n,)
        Where it is [rad or m].
    program : Program
        The program; joint values have no names in it.
    collision : CheckedPairs or None
        Knows what collides; None: nothing does.
    planner : DirectPlanner
        Finds ways between configurations.
    options : FollowerOptions, optional
        How the arm moves.

    """
    options = FollowerOptions() if options is None else options
    if options.speed_scaling == 0.0:
        raise ProgramError('speed_scaling is 0: the program would never end')
    motion = Motion(
        arm,
        options.limits_for(arm),
        options.solver,
        options.motion,
        guard=None if collision is None else CollisionGuard(collision),
        jerk_filter=options.jerk_filter_for(arm),
        path_planner=planner,
    )
    motion.warm_up()
    motion.reset(start)
    begin = time.monotonic()
    route = finish(motion.route(program))
    drive = driven(motion, route, 1.0 / options.command_rate, planner.should_stop)
    last = drive.progress[-1].segment if drive.progress else -1
    segment = route.segment if drive.reason is route.reason else last
    return ProgramPlan(
        drive.reason is None,
        drive.reason,
        segment,
        arm.joint_names,
        drive.times,
        drive.q,
        np.array([p.segment for p in drive.progress], dtype=np.intp),
        blend_times(route, drive),
        slow_times(program, drive),
        *route.deviation,
        (*options.warnings_for(arm), *route.remarks),
        time.monotonic() - begin,
        'off: the robot is not known' if collision is None else collision.checking,
    )


@dataclass(frozen=True, eq=False)
class Drive:
    """Commands of an arm that goes along a route."""

    times: Array
    """Shape (m,) [s]."""
    q: Array
    """Shape (m, n) [rad or m]."""
    progress: tuple[Progress, ...]
    """How far it is then, m of them."""
    reason: Reason | None
    """Why it comes to rest before the end; None where it does not."""


def driven(
    motion: Motion, route: Route, dt: float, should_stop: Callable[[], bool] = lambda: False
) -> Drive:
    """Let an arm that rests at the beginning of a route go along it, in steps of `dt` seconds."""
    if route.reason is not None:
        return Drive(np.empty(0), np.empty((0, len(motion.robot))), (), route.reason)
    motion.go_along(route)
    q, progress = [motion.command[0]], [motion.progress]
    while not motion.is_at_rest:
        if should_stop() or len(q) > LONGEST / dt:
            why = CANCELLED if should_stop() else TOO_LONG
            return Drive(np.empty(0), np.empty((0, len(motion.robot))), (), why)
        motion.step(dt)
        q.append(motion.command[0])
        progress.append(motion.progress or progress[-1])
    known = [p for p in progress if p is not None]
    if motion.limits_jerk:
        known = _averaged(route, known, max(1, round(2.0 * motion.delay / dt)))
    return Drive(np.arange(len(q)) * np.float64(dt), np.array(q), tuple(known), motion.reason)


def _averaged(route: Route, progress: Sequence[Progress], steps: int) -> list[Progress]:
    """Progress of commands that are the average of the motion over so many steps before each."""
    weights = np.full(steps + 1, 1.0 / steps)
    weights[[0, -1]] *= 0.5
    legs, found = np.array([p.leg for p in progress]), []
    for leg in np.unique(legs).tolist():
        on_leg = [p for p in progress if p.leg == leg]
        places = [0.0] * steps + [p.place for p in on_leg]
        averages = np.convolve(places, weights, 'valid').tolist()
        found += [
            progress_at(route, leg, place, p.left)
            for place, p in zip(averages, on_leg, strict=True)
        ]
    return found


def blend_times(route: Route, drive: Drive) -> tuple[tuple[float, float], ...]:
    """Return the times between which the arm blends segments [s]."""
    found = []
    for number, leg in enumerate(route.legs if drive.progress else ()):
        on_leg = [i for i, p in enumerate(drive.progress) if p.leg == number]
        places = np.array([drive.progress[i].place for i in on_leg])
        for blend in leg.blends:
            inside = np.interp([blend.begin, blend.end], places, drive.times[on_leg])
            found.append((float(inside[0]), float(inside[1])))
    return tuple(found)


def slow_times(program: Program, drive: Drive) -> tuple[tuple[float, float], ...]:
    """Return the times between which the tip is slower on lines and arcs than was asked [s]."""
    steps = program.steps
    found: list[tuple[float, float]] = []
    for i, (here, there) in enumerate(zip(drive.progress, drive.progress[1:], strict=False)):
        is_on_line = here.segment >= 0 and isinstance(steps[here.segment], (Line, Arc))
        on_line = is_on_line and here.leg == there.leg
        begin, end = float(drive.times[i]), float(drive.times[i + 1])
        if on_line and there.place - here.place < HELD * (end - begin):
            if found and found[-1][1] == begin:
                begin = found.pop()[0]
            found.append((begin, end))
    return tuple(found)
