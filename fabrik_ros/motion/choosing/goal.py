"""The goal that an arm pursues, and the configuration that it takes there."""

from __future__ import annotations

from dataclasses import dataclass
import math

import numpy as np
import numpy.typing as npt

from ...reasons import joined, Reason, ReasonKind
from ...solver.solution import Solution
from ...transforms import Array
from ..lines.goal_frame import GoalFrame
from ..lines.motion_solvers import MotionSolvers
from ..lines.solver_reasons import reason_of
from ..lines.tip_reference import masked

AUTO_TOLERANCE = 0.005, 0.0873
"""Greatest deviations from the line at singularities with `auto` [m, rad]: 5 mm and 5 degrees."""
IN_STREAM = Reason(
    ReasonKind.PATH_BLOCKED,
    'targets within stream_timeout are followed by the line alone; ~/execute looks for a path',
)


@dataclass(frozen=True)
class MotionOptions:
    """Options of the pursuit of goals."""

    path: str = 'auto'
    """'line', 'joint', or 'auto': the line where it goes through, else a path in joint space."""
    approach_unreachable: bool = True
    """Go as near as possible to goals that cannot be reached, rather than stay."""
    max_detour: float = math.pi
    """
    Greatest detour that is taken unasked [rad].

    That is how much farther a revolute joint turns than from the start straight to the end.

    """
    confirm: str = 'never'
    """Paths that wait for `execute`: 'never' any, those 'leaving_line', or 'always'."""
    dodge_distance: float = 0.1
    """Distance that spare joints seek from obstacles while a hand leads the tool [m]; 0: none."""
    path_tolerance_position: float = -1.0
    """
    Greatest deviation of the tips where the line cannot be followed exactly [m].

    -1: 0.005 with `path` 'auto', else 0.

    """
    path_tolerance_orientation: float = -1.0
    """The same for their orientation [rad]; -1: 0.0873 with `path` 'auto', else 0."""

    @property
    def path_tolerances(self) -> tuple[float, float]:
        """Greatest deviations of the tips from the line [m, rad]."""
        given = self.path_tolerance_position, self.path_tolerance_orientation
        defaults = AUTO_TOLERANCE if self.path == 'auto' else (0.0, 0.0)
        position, orientation = (
            default if value < 0.0 else value
            for value, default in zip(given, defaults, strict=True)
        )
        return position, orientation


@dataclass(frozen=True, eq=False)
class Goal:
    """Poses that the tips are to be at."""

    T: Array
    """Poses, shape (k, 4, 4), each in the frame it is held in; NaN for unconstrained tips."""
    in_world: npt.NDArray[np.bool_]
    """Mask of the poses that stay where they are in the world while the base moves, shape (k,)."""
    is_target: npt.NDArray[np.bool_]
    """Mask of the poses that are targets; the others are poses that are kept, shape (k,)."""

    @classmethod
    def of(cls, T: Array, in_world: npt.ArrayLike = False) -> Goal:
        """Make a goal of poses, shape (k, 4, 4), none of which is a target."""
        held, is_target = np.zeros((2, len(T)), dtype=bool)
        held[:] = in_world
        return cls(T, held, is_target)

    def is_same(self, other: Goal) -> bool:
        """Whether another goal has the very same poses, held in the same frames."""
        are_alike = self.in_world.tobytes() == other.in_world.tobytes()
        return are_alike and self.T.tobytes() == other.T.tobytes()

    def with_target(self, tip: int, T: Array, in_world: bool) -> Goal:
        """Return a goal with another target, shape (4, 4), for one of the tips."""
        goal = Goal(self.T.copy(), self.in_world.copy(), self.is_target.copy())
        goal.T[tip], goal.in_world[tip], goal.is_target[tip] = T, in_world, True
        return goal


class ResolvedGoal:
    """
    A goal, and a configuration there.

    Parameters
    ----------
    T : array, shape (k, 4, 4)
        The poses of the goal, or the nearest ones that can be reached, each in the frame it is
        held in; NaN for unconstrained tips.
    solution : Solution
        The configuration there, or nearest to it.

    Attributes
    ----------
    T, solution
        As above.
    collision : Reason or None
        Why the arm cannot be at the goal without touching itself.

    """

    def __init__(self, T: Array, solution: Solution) -> None:
        self.T, self.solution = T, solution
        self._falls_short = None if solution.converged else reason_of(solution)
        self.collision: Reason | None = None

    def collides(self, collision: str) -> Reason:
        """Take note that no configuration at the goal is collision-free."""
        text = f'the target is in collision: {collision}'
        self.collision = Reason(ReasonKind.GOAL_IN_COLLISION, text)
        return self.collision

    @property
    def is_reachable(self) -> bool:
        """Whether the tips can be at the goal itself."""
        return self._falls_short is None

    @property
    def reason(self) -> Reason | None:
        """Reason why the arm will rest short of the goal; None where it will not."""
        return joined((self._falls_short, self.collision))


class GoalResolver:
    """
    Finds a configuration at a goal, or nearest to it.

    Parameters
    ----------
    solvers : MotionSolvers
        Find joint values.
    frame : GoalFrame
        Knows in which frames goals are held.

    """

    def __init__(self, solvers: MotionSolvers, frame: GoalFrame) -> None:
        self._solvers, self._frame = solvers, frame

    def resolve(self, T_goal: Array, q: Array, resting: bool) -> ResolvedGoal:
        """
        Find a configuration at a goal, or nearest to it where it is out of reach.

        Parameters
        ----------
        T_goal : array, shape (k, 4, 4)
            Poses of the tips, each in the frame it is held in; NaN for unconstrained tips.
        q : array, shape (n,)
            Where the arm is [rad or m].
        resting : bool
            Whether it rests, and has time.

        """
        solution = self._solvers.at_goal(self._frame.to_base(T_goal), q, resting)
        return self._resolved(T_goal, solution)

    def resolve_near(self, T_goal: Array, q: Array) -> ResolvedGoal:
        """Find the configuration that is nearest to a goal from another one, without a search."""
        solution = self._solvers.nearby.solve(self._frame.to_base(T_goal), q)
        return self._resolved(T_goal, solution)

    def _resolved(self, T_goal: Array, solution: Solution) -> ResolvedGoal:
        nearest = self._frame.tips(solution.q)
        return ResolvedGoal(T_goal if solution.converged else masked(nearest, T_goal), solution)
