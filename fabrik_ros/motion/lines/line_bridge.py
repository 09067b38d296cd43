"""
Ways past a place where a line cannot be followed exactly.

A bridge goes straight in joint space from a configuration before the place to one behind it, and
each configuration between is brought to the line as near as it gets: first the position exactly
with another orientation, then both. A damped motion gives up what the joints cannot do, and makes
up for it behind the place.

Source of the damped step: Nakamura and Hanafusa, "Inverse kinematic solutions
with singularity robustness for robot manipulator control", Journal of Dynamic Systems,
Measurement, and Control 108 (1986).

"""

from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import replace
import math
from typing import NamedTuple

import numpy as np

from ...methods import make_tips_solver, TipsSolver
from ...model.mechanism import Mechanism
from ...solver.options import SolverOptions
from ...solver.tree_solver import TipOptions
from ...transforms import Array
from ..limits.joint_motion import largest
from .displacements import length_of, TipSpace
from .line_tasks import Deviation, LineTasks
from .motion_solvers import MotionSolvers, ON_LINE
from .tip_reference import masked

KNOT_LENGTH, KNOT_ANGLE = 1e-3, math.radians(0.25)
"""Largest distance between knots on a line [m, rad]."""
FINEST = 0.125
"""Smallest distance between them, where the joints go far from one to the next [knots]."""
KNOT_MOVE = 0.02
"""Largest joint move from one knot to the next [rad or m]: the tip is on the line between."""
WIDEST_MOVE = 0.05
"""Largest joint move from one knot of a bridge to the next [rad or m]."""
BACK = (1, 4, 12, 30, 70)
"""Starts of a bridge, counted back from the blocked place [knots]."""
BEYOND = (1, 4, 10, 22, 46, 94, 190)
"""Ends of a bridge, counted on from the blocked place [knots]."""
WIDER = 8
"""Largest ratio of start distance to end distance [1]."""
MOST_MISSES = 2
"""Starts without an end after which the other starts for that end are skipped [1]."""
BRIDGE_MOVE = 0.1
"""Largest joint move over a bridge for each knot of its length, and two more [rad or m]."""
BRIDGE_MOVES = 1.6
"""... over a whole bridge [rad or m]."""
STEEPEST = 3.0
"""Largest end slope of a bridge, over its mean slope [1]."""
SLOPE_STEP = 0.25
"""Distance behind a bridge over which its end slope is measured [knots]."""
SMOOTH = 20.0
"""Largest curvature in joint space of a preferred bridge [1/rad]."""
BROUGHT = 0.2
"""Largest joint move that brings a configuration to the line [rad or m]."""
GIVEN_UP = ((3e-3, 0.02), (3e-3, 0.06), (2e-2, 0.06), (2e-2, 0.2))
"""Position [m] and orientation [rad] that a damped motion gives up for a radian of the joints."""
DAMPED_BACK = (1, 12, 40)
"""Starts of damped motions, counted back from the blocked place [knots]."""
DAMPED_KNOTS = 250
"""Most knots of a damped motion; it is given up if it is not back on the line by then [1]."""
DAMPED_ITERATIONS = 2
"""Damped steps for each knot [1]."""
SLACK = 1e-6
"""Largest deviation that counts as none [m, rad]."""
BOX_SHARE = 0.99 / math.sqrt(3.0)
"""Half width of a cube inside a ball of radius one [1]."""


class Knot(NamedTuple):
    """A configuration on a line."""

    q: Array
    """Joint values, shape (n,) [rad or m]."""
    at: float
    """Place on the line, in knots."""
    deviation: Deviation
    """Deviation from the line there."""


class Way(NamedTuple):
    """A way past a place on a line."""

    kept: int
    """Number of knots before the place that are kept."""
    knots: list[Knot]
    """Knots that follow those; the last one is on the line."""


class Line:
    """
    A straight line of the tips with the shortest rotation, measured in knots.

    Parameters
    ----------
    T, T_goal : array, shape (k, 4, 4)
        Its ends; NaN for tips that are unconstrained.

    """

    def __init__(self, T: Array, T_goal: Array) -> None:
        self._space = TipSpace(KNOT_LENGTH, KNOT_ANGLE)
        self._T, self._T_goal = T, T_goal
        self._whole = self._space.between(T, T_goal)
        self.end = length_of(self._whole)

    def pose(self, at: float) -> Array:
        """Poses, shape (k, 4, 4), at a place on the line."""
        if at >= self.end:
            return self._T_goal
        return self._space.moved(self._T, self._whole * (at / self.end))

    def nearest(self, T: Array) -> float:
        """Place on the line that is nearest to poses, shape (k, 4, 4)."""
        apart = self._space.between(self._T, masked(T, self._T_goal))
        apart[np.isnan(apart)] = 0.0
        along = float(np.sum(apart * self._whole) / np.sum(self._whole * self._whole))
        return min(max(along, 0.0), 1.0) * self.end


class LineBridges:
    """
    Finds ways past places where a line cannot be followed exactly.

    Parameters
    ----------
    robot : Chain or Tree
        The joints.
    options : SolverOptions
        Mode and tolerances.
    tips : mapping or None
        What is asked of the tips of a tree, `TipOptions` by tip link.
    solvers : MotionSolvers
        Find joint values on the line.
    position_tolerance, orientation_tolerance : float
        By how much the line may be left [m, rad].

    """

    def __init__(
        self,
        robot: Mechanism,
        options: SolverOptions,
        tips: Mapping[str, TipOptions] | None,
        solvers: MotionSolvers,
        position_tolerance: float,
        orientation_tolerance: float,
    ) -> None:
        self._robot, self._solvers = robot, solvers
        self._most = position_tolerance + SLACK, orientation_tolerance + SLACK
        self.tasks = LineTasks(robot, options, tips, solvers.line)
        self._bring = _solvers_near(
            robot, options, tips, self.tasks.may_box, position_tolerance, orientation_tolerance
        )

    def warm_up(self, T: Array, q: Array) -> None:
        """Compile what bridges need, at joint values `q` with the tips at poses `T`."""
        for solver in self._bring:
            solver.solve(T, q)
        self._solvers.ahead.solve(T, q)
        self.tasks.lazy_step(q, q, T, GIVEN_UP[0])
        self.tasks.deviation(q, T)

    def past(self, line: Line, knots: list[Knot], at: float) -> Iterator[Way | None]:
        """Yield ways past a place on a line, the shortest first; None after a piece of work."""
        rough: list[tuple[float, Way]] = []
        reached = False
        for beyond in BEYOND:
            at_end, misses = min(at + beyond, line.end), 0
            for before in _beginnings(knots, at, [b for b in BACK if b <= WIDER * beyond]):
                ends = yield from self._ends(line, before, at_end)
                misses += not ends
                reached = reached or bool(ends)
                most = min(BRIDGE_MOVES, BRIDGE_MOVE * (2.0 + at_end - before[-1].at))
                for q_end in ends:
                    if largest(q_end - before[-1].q) > most:
                        continue
                    bridge = yield from self._bridge(line, before, q_end, at_end)
                    if bridge is None:
                        continue
                    way = Way(len(before), bridge)
                    roughness = _roughness([*before[-2:], *bridge])
                    if roughness <= SMOOTH:
                        yield way
                    else:
                        rough.append((roughness, way))
                if misses == MOST_MISSES and not ends:
                    break
            if at_end == line.end:
                break
        for _, way in sorted(rough, key=lambda each: each[0]):
            yield way
        for given_up in GIVEN_UP if reached or len(knots) == 1 else ():
            for before in _beginnings(knots, at, DAMPED_BACK):
                yield from self._damped(line, before, at, given_up)

    # -- straight in joint space

    def _ends(
        self, line: Line, before: list[Knot], at_end: float
    ) -> Generator[None, None, list[Array]]:
        """Find joint values, shape (n,), at which a bridge may end."""
        T_end, found = line.pose(at_end), list[Array]()
        for seed in self._seeds(before, at_end):
            solution = self._solvers.ahead.solve(T_end, seed)
            yield None
            is_new = all(largest(solution.q - q) > KNOT_MOVE for q in found)
            if self._solvers.is_on_line(solution) and is_new:
                found.append(solution.q)
        return found

    def _seeds(self, before: list[Knot], at_end: float) -> Iterator[Array]:
        """Yield joint values near those behind a bridge: as the motion goes on, and as it is."""
        q, at = before[-1].q, before[-1].at
        for count in (10, 2):
            other = before[max(0, len(before) - 1 - count)]
            if other.at < at:
                yield self._inside(q + (q - other.q) * ((at_end - at) / (at - other.at)))
        yield q

    def _inside(self, q: Array) -> Array:
        return np.minimum(np.maximum(q, self._robot.lower), self._robot.upper)

    def _bridge(
        self, line: Line, before: list[Knot], q_end: Array, at_end: float
    ) -> Generator[None, None, list[Knot] | None]:
        """Bring a smooth path between two configurations to the line; None if too far."""
        begin = before[-1]
        length, way = at_end - begin.at, q_end - begin.q
        slopes = self._slope_before(before), self._slope_behind(line, q_end, at_end)
        a, b = (_gentle(slope, way, length) for slope in slopes)
        farthest = max(largest(way), largest(a), largest(b))
        count = math.ceil(max(farthest / KNOT_MOVE, length, 2.0))
        knots, last = [], begin
        for i in range(1, count):
            t = i / count
            q = begin.q + t * (a + t * (3.0 * way - 2.0 * a - b + t * (a + b - 2.0 * way)))
            q = self._inside(q)
            at = min(max(line.nearest(self._robot.tip_poses(q)), last.at), at_end)
            knot = self._brought(line, q, at)
            if i % 8 == 0:
                yield None
            if knot is None or largest(knot.q - last.q) > WIDEST_MOVE:
                return None
            knots.append(knot)
            last = knot
        if largest(q_end - last.q) > WIDEST_MOVE:
            return None
        return [*knots, Knot(q_end, at_end, Deviation())]

    def _slope_before(self, before: list[Knot]) -> Array | None:
        """Slope of the joints for a knot in front of a bridge, shape (n,)."""
        if len(before) < 2 or before[-1].at - before[-2].at < 0.5 * FINEST:
            return None
        return (before[-1].q - before[-2].q) / (before[-1].at - before[-2].at)

    def _slope_behind(self, line: Line, q: Array, at: float) -> Array | None:
        """Slope of the joints for a knot behind a bridge, shape (n,)."""
        at_next = at + SLOPE_STEP
        if at_next > line.end:
            return None
        solution = self._solvers.line.solve(line.pose(at_next), q)
        return (solution.q - q) / SLOPE_STEP if self._solvers.is_on_line(solution) else None

    def _brought(self, line: Line, q: Array, at: float) -> Knot | None:
        """Bring a configuration to the line, within the tolerances; None if it cannot be."""
        T = line.pose(at)
        for solver in self._bring:
            answer = solver.solve(T, q)
            deviation = self.tasks.deviation(answer.q, T)
            if deviation.position <= self._most[0] and deviation.orientation <= self._most[1]:
                return Knot(answer.q, at, deviation)
        return None

    # -- with damped steps

    def _damped(
        self, line: Line, before: list[Knot], at_block: float, given_up: tuple[float, float]
    ) -> Iterator[Way | None]:
        knots: list[Knot] = []
        last, step = before[-1], 1.0
        for _ in range(DAMPED_KNOTS):
            at = min(last.at + step, line.end)
            T, q = line.pose(at), last.q
            for _ in range(DAMPED_ITERATIONS):
                q = self.tasks.lazy_step(q, last.q, T, given_up)
            yield None
            if at > at_block:
                exact = self._solvers.line.solve(T, q)
                if self._solvers.is_on_line(exact) and largest(exact.q - last.q) <= KNOT_MOVE:
                    yield Way(len(before), [*knots, Knot(exact.q, at, Deviation())])
                    return
            knot = self._placed(q, T, at)
            if knot is None or at >= line.end:
                return
            if largest(knot.q - last.q) > WIDEST_MOVE:
                if step <= FINEST:
                    return
                step *= 0.5
                continue
            knots.append(knot)
            last, step = knot, min(1.0, 2.0 * step)

    def _placed(self, q: Array, T: Array, at: float) -> Knot | None:
        """Bring the tips to their positions, if they can be there; None if they are too far."""
        exact = self._bring[0].solve(T, q).q
        for candidate in (exact, q):
            deviation = self.tasks.deviation(candidate, T)
            if deviation.position <= self._most[0] and deviation.orientation <= self._most[1]:
                return Knot(candidate, at, deviation)
        return None


def _gentle(slope: Array | None, way: Array, length: float) -> Array:
    """Slope of a bridge at one of its ends, times its length: no steeper than it needs."""
    if slope is None:
        return way
    steep, most = largest(slope) * length, STEEPEST * largest(way) + KNOT_MOVE
    return slope * (length * min(1.0, most / max(steep, most)))


def _roughness(knots: list[Knot]) -> float:
    """Greatest curvature of knots in joint space [1/rad]."""
    steps = np.diff(np.array([knot.q for knot in knots]), axis=0)
    lengths = np.linalg.norm(steps, axis=1)
    steps, lengths = steps[lengths > SLACK], lengths[lengths > SLACK]
    if len(steps) < 2:
        return 0.0
    turns = np.linalg.norm(np.diff(steps / lengths[:, None], axis=0), axis=1)
    return float(np.max(turns / np.maximum(lengths[1:], lengths[:-1])))


def _beginnings(knots: list[Knot], at: float, backs: Sequence[int]) -> Iterator[list[Knot]]:
    """Yield the knots to keep for a way past a place, for each start `backs` knots before it."""
    last = len(knots)
    for back in backs:
        count = last
        while count > 1 and knots[count - 1].at > at - back:
            count -= 1
        if count < last or last == len(knots):
            yield knots[:count]
        last = count
        if count == 1:
            return


def _solvers_near(
    robot: Mechanism,
    options: SolverOptions,
    tips: Mapping[str, TipOptions] | None,
    may_box: bool,
    position: float,
    orientation: float,
) -> tuple[TipsSolver, ...]:
    """Make solvers that bring configurations to a line: exact positions first, then in a box."""
    place, turn = (BOX_SHARE * position,) * 3, (BOX_SHARE * orientation,) * 3
    nothing = (0.0,) * 3
    near = replace(
        options,
        max_restarts=0,
        max_joint_move=BROUGHT,
        position_tolerance=ON_LINE,
        orientation_tolerance=ON_LINE,
    )
    alone = {link: TipOptions(mode='position') for link in robot.tip_links}
    several = tips is not None or len(robot.tip_links) > 1
    positions = make_tips_solver(robot, replace(near, mode='position'), alone if several else None)
    if not may_box:
        loose = replace(near, mode='position', axis_tolerances=(*place, *nothing))
        return positions, make_tips_solver(robot, loose, alone if several else None)
    turned = replace(near, axis_tolerances=(*nothing, *turn))
    both = replace(near, axis_tolerances=(*place, *turn))
    return (
        positions,
        make_tips_solver(robot, turned, tips),
        make_tips_solver(robot, both, tips),
    )
