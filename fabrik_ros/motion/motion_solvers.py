"""What a motion asks of solvers: for goals, along a line, ahead on it, and in no time at all."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Protocol

from ..methods import make_solver
from ..model.chain import Chain
from ..model.tree import Tree
from ..solver.chain_solver import is_redundant
from ..solver.options import SolverOptions
from ..solver.solution import Solution
from ..solver.tree_solver import TipOptions, TreeSolver
from ..transforms import Array

# A search for a new goal must not keep a moving arm waiting for its next command [s].
MOVING_BUDGET = 0.004
FOLLOWING_MOVE = 0.5
LOOKING_MOVE = 1.5
RETRIES = 20
ON_LINE = 1e-9
NEARBY = 1e-3


class ArmSolver(Protocol):
    """What a motion needs of a solver, for one tip or for several."""

    def solve(self, target: Array, seed: Array, /) -> Solution:
        """Find joint values for poses of shape (..., 4, 4)."""
        ...

    def solve_within(self, target: Array, seed: Array, lower: Array, upper: Array, /) -> Solution:
        """Find joint values, each within bounds of its own."""
        ...

    def warm_up(self) -> float:
        """Compile what is needed."""
        ...


class MotionSolvers:
    """
    Solvers for an arm, one for each kind of question.

    Parameters
    ----------
    arm : Chain or Tree
        The arm, or arms.
    options : SolverOptions
        Mode, tolerances and budget.
    tips : mapping, optional
        What is asked of the tips of a tree, `TipOptions` by tip link.

    Attributes
    ----------
    goal : ArmSolver
        For a goal.
    moving_goal : ArmSolver
        The same for an arm that moves: it must not wait long.
    line : ArmSolver
        For the next pose on a line: near, and much more exact than asked for.
    ahead : ArmSolver
        For a pose some way ahead on a line.
    skip : ArmSolver
        For a point on a line which does not begin where the arm stands.
    budget : float
        Time for the goal of an arm that rests [s].
    may_choose : bool
        Whether joints to spare leave a choice for the poses on a line.

    """

    def __init__(
        self,
        arm: Chain | Tree,
        options: SolverOptions,
        tips: Mapping[str, TipOptions] | None = None,
    ) -> None:
        self._arm, self._options, self._tips = arm, options, tips
        on_line = {
            'position_tolerance': min(ON_LINE, options.position_tolerance),
            'orientation_tolerance': min(ON_LINE, options.orientation_tolerance),
            'max_restarts': 0,
        }
        self.budget = options.budget
        self.may_choose = isinstance(arm, Chain) and is_redundant(arm, options)
        self._moving_budget = min(MOVING_BUDGET, options.budget)
        self.goal = self._solver()
        self.moving_goal = self._solver(budget=self._moving_budget)
        self.line = self._solver(**on_line, max_joint_move=FOLLOWING_MOVE)
        self.ahead = self._solver(**on_line, max_joint_move=LOOKING_MOVE)
        self.skip = self._solver(max_joint_move=LOOKING_MOVE, max_restarts=RETRIES)

    def for_goal(self, resting: bool) -> tuple[ArmSolver, float]:
        """Solver for the goal of an arm that rests or not, and the time there is for it [s]."""
        if resting:
            return self.goal, self.budget
        return self.moving_goal, self._moving_budget

    def brief(self) -> ArmSolver:
        """Make one more, that tries only once and takes what it finds."""
        return self._solver(
            budget=self._moving_budget, max_restarts=0, prefer='first', posture=None
        )

    def is_on_line(self, answer: Solution) -> bool:
        """Whether an answer meets the tolerances; the solver was asked for much narrower ones."""
        options = self._options
        return answer.converged or (
            answer.position_error <= options.position_tolerance
            and answer.orientation_error <= options.orientation_tolerance
        )

    def warm_up(self) -> None:
        """Compile what the solvers need."""
        mid = self._arm.mid_configuration()
        self.goal.warm_up()
        self.line.warm_up()
        T = self._arm.forward_kinematics(mid)
        self.line.solve_within(T, mid, mid - NEARBY, mid + NEARBY)

    def _solver(self, **changes: Any) -> ArmSolver:
        options = replace(self._options, **changes)
        if isinstance(self._arm, Tree):
            return TreeSolver(self._arm, options, self._tips)
        return make_solver(self._arm, options)
