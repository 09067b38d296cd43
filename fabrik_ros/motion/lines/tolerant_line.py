"""
A straight line of the tips through singular configurations, planned before the arm sets out.

The line is followed exactly, knot by knot, wherever the joints can. Where they would have to
jump, or cannot be, the plan leaves the line by no more than its tolerances, and comes back to it
farther on (`line_bridge.py`).

"""

from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass, replace
import math

import numpy as np

from ...model.mechanism import Mechanism
from ...planning.pieces import Pieces
from ...reasons import Reason, ReasonKind, shown_place
from ...solver.options import SolverOptions
from ...solver.solution import Solution, Status
from ...solver.tree_solver import TipOptions
from ...transforms import Array
from ..limits.joint_motion import largest
from .line_bridge import FINEST, Knot, KNOT_MOVE, Line, LineBridges
from .line_tasks import Deviation
from .motion_solvers import MotionSolvers
from .singularity import name_singularity
from .solver_reasons import JUMP
from .tip_reference import masked

CHECKED_MOVE = 0.05
"""Largest joint move over a part that is checked at once for collisions [rad or m]."""
MOST_BLOCKS = 5
"""Most searches for a detour past a block in one plan [1]."""
PIECE = 10
"""Knots on the line found in one piece of work [1]."""

Check = Callable[[Array, Array], Reason | None]
"""Tells why the straight path in joint space between two configurations is not free."""


@dataclass(frozen=True, eq=False)
class LinePlan:
    """A line as joint values, to its end or to where it cannot be followed."""

    knots: Array
    """Joint values, shape (m, n) [rad or m], from where the arm rests."""
    shares: Array
    """Share of the line that lies before each knot, shape (m,)."""
    deviations: Array
    """Deviations of position [m] and orientation [rad] at each knot, shape (m, 2)."""
    places: Array
    """
    Places of the tips at the greatest deviations, of position and of orientation, (2, k, 3) [m].
    """
    reason: Reason | None = None
    """Reason why the line ends before the goal, with its place; None where it does not."""

    @property
    def share(self) -> float:
        """Share of the line that can be followed."""
        return float(self.shares[-1])

    @property
    def greatest(self) -> Deviation:
        """The greatest deviations on the whole line."""
        position, orientation = self.deviations.max(axis=0).tolist()
        return Deviation(position, orientation)


@dataclass(frozen=True, eq=False)
class _End:
    """End of the knots on a line."""

    knots: list[Knot]
    """Knots, from where the arm rests."""
    at: float
    """Place that was not reached, in knots; infinite where the line was followed to its end."""
    solution: Solution | None = None
    """Answer of the solver there; None where the joints would have to jump."""
    collision: Reason | None = None
    """Collision there, where something collides."""


class TolerantLinePlanner:
    """
    Plans lines of the tips for an arm at rest.

    Parameters
    ----------
    robot : Chain or Tree
        The joints.
    options : SolverOptions
        Mode and tolerances of the goal.
    tips : mapping, optional
        What is asked of the tips of a tree, `TipOptions` by tip link.
    position_tolerance, orientation_tolerance : float
        By how much a line may be left where it cannot be followed exactly [m, rad].

    """

    def __init__(
        self,
        robot: Mechanism,
        options: SolverOptions,
        tips: Mapping[str, TipOptions] | None = None,
        position_tolerance: float = 0.005,
        orientation_tolerance: float = 0.0873,
    ) -> None:
        plain = replace(options, method='articulated', posture=None, prefer='first')
        self._robot = robot
        self._solvers = MotionSolvers(robot, plain, tips)
        self._bridges = LineBridges(
            robot, plain, tips, self._solvers, position_tolerance, orientation_tolerance
        )

    def warm_up(self) -> None:
        """Compile what plans need."""
        self._solvers.warm_up()
        mid = self._robot.mid_configuration()
        T = self._robot.tip_poses(mid)
        self._bridges.warm_up(T, mid)
        for tip in range(len(T)):
            name_singularity(self._robot, mid, tip)

    def plan(self, q: Array, T_goal: Array, is_free: Check | None = None) -> Pieces[LinePlan]:
        """
        Plan a line, in pieces.

        Parameters
        ----------
        q : array, shape (n,)
            Where the arm rests [rad or m].
        T_goal : array, shape (k, 4, 4)
            Where the tips are to be; NaN for those that are unconstrained.
        is_free : callable, optional
            Tells why a short straight path in joint space is not free; None where it is.

        """
        T = masked(self._robot.tip_poses(q), T_goal)
        line = Line(T, self._bridges.tasks.without_unasked(T, T_goal))
        end = yield from self._follow(line, [Knot(q, 0.0, Deviation())], 0, is_free)
        farthest, ways = end, [self._ways_past(line, end)]
        blocks = 1
        while end.at < math.inf and ways:
            try:
                way = next(ways[-1])
            except StopIteration:
                ways.pop()
                continue
            if way is None:
                yield
            else:
                end = yield from self._follow(line, *way, is_free)
                if end.knots[-1].at > farthest.knots[-1].at:
                    farthest = end
                if blocks < MOST_BLOCKS:
                    ways.append(self._ways_past(line, end))
                    blocks += 1
        done = end if end.at == math.inf else farthest
        return self._plan_of(line, done)

    def _ways_past(self, line: Line, end: _End) -> Iterator[tuple[list[Knot], int] | None]:
        """Yield ways past where knots end, with the number of those that are kept; or None."""
        if end.collision is None and end.at < math.inf:
            for way in self._bridges.past(line, end.knots, end.at):
                yield None if way is None else (end.knots[: way.kept] + way.knots, way.kept)

    # -- exactly on the line

    def _follow(
        self, line: Line, knots: list[Knot], kept: int, is_free: Check | None
    ) -> Generator[None, None, _End]:
        """Follow a line exactly from the last of some knots, and look for collisions."""
        end = yield from self._march(line, knots)
        if is_free is not None:
            begin = max(0, kept - 1)
            while begin < len(knots) - 1:
                last = _checked_together(knots, begin)
                reason = is_free(knots[begin].q, knots[last].q)
                yield
                if reason is not None:
                    return _End(knots[: begin + 1], knots[last].at, collision=reason)
                begin = last
        return end

    def _march(self, line: Line, knots: list[Knot]) -> Generator[None, None, _End]:
        """Follow a line exactly, as far as the joints can; new knots are added."""
        solvers, step, count = self._solvers, 1.0, 0
        while knots[-1].at < line.end:
            q, at = knots[-1].q, knots[-1].at + step
            if at > line.end - 0.5 * FINEST:
                at = line.end
            solution = solvers.line.solve(line.pose(at), q)
            is_on = solvers.is_on_line(solution)
            if is_on and largest(solution.q - q) <= KNOT_MOVE:
                knots.append(Knot(solution.q, at, Deviation()))
                step = min(1.0, 2.0 * step)
            elif step > FINEST:
                step *= 0.5
            else:
                return _End(knots, at, None if is_on else solution)
            count += 1
            if count % PIECE == 0:
                yield
        return _End(knots, math.inf)

    # -- what came of it

    def _plan_of(self, line: Line, end: _End) -> LinePlan:
        knots = end.knots
        whole = max(line.end, knots[-1].at) or 1.0
        deviations = np.array([(k.deviation.position, k.deviation.orientation) for k in knots])
        worst = [knots[i] for i in np.argmax(deviations, axis=0)]
        return LinePlan(
            np.array([knot.q for knot in knots]),
            np.array([knot.at for knot in knots]) / whole if line.end > 0.0 else np.ones(1),
            deviations,
            np.array([self._robot.tip_poses(knot.q)[:, :3, 3] for knot in worst]),
            None if end.at == math.inf else self._reason(line, end),
        )

    def _reason(self, line: Line, end: _End) -> Reason:
        """Say where a line ends, and why."""
        q = end.knots[-1].q
        place = self._robot.tip_poses(q)[:, :3, 3]
        kind, why, joints = self._cause(end, q)
        share = math.floor(100.0 * end.knots[-1].at / line.end)
        where = shown_place(place)
        return Reason(kind, f'the line ends after {share} %, at {where}: {why}', joints, place)

    def _cause(self, end: _End, q: Array) -> tuple[ReasonKind, str, tuple[str, ...]]:
        """Tell what keeps an arm at `q` from going on."""
        if end.collision is not None:
            return end.collision.kind, end.collision.text, end.collision.joints
        blocked, solution = ReasonKind.PATH_BLOCKED, end.solution
        if solution is not None and solution.limited_joints:
            names = solution.limited_joints
            return blocked, f'joint limit ({", ".join(names)})', names
        for tip in range(len(self._robot.tip_links)):
            singularity = name_singularity(self._robot, q, tip)
            if singularity is not None:
                return blocked, str(singularity), (singularity.joint,)
        jumps = solution is None or solution.status is Status.BLOCKED_BY_JOINT_MOVE
        return blocked, JUMP if jumps or solution is None else solution.status.value, ()


def _checked_together(knots: list[Knot], begin: int) -> int:
    """Find the last knot to which the path from another one is checked at once."""
    last = begin + 1
    while last + 1 < len(knots) and largest(knots[last + 1].q - knots[begin].q) <= CHECKED_MOVE:
        last += 1
    return last
