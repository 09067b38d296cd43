"""Solvers of a motion: for goals, along a line, ahead on it, and in no time at all."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ...methods import leaves_choice, make_tips_solver, orientation_yields, TipsSolver
from ...model.mechanism import Mechanism
from ...solver.options import SolverOptions
from ...solver.solution import EQUALLY_TURNED, Solution
from ...solver.tree_solver import TipOptions
from ...transforms import Array
from .pinned_joints import PinnedJoints, PinnedSolver

MOVING_BUDGET = 0.004
"""A search for a new goal must not keep a moving arm waiting for its next command [s]."""
FOLLOWING_MOVE = 0.5
"""Largest joint move from one pose on a line to the next [rad or m]."""
LOOKING_MOVE = 1.5
"""... and to a pose some way ahead."""
RETRIES = 20
"""Restarts where a line is joined farther along [1]."""
ON_LINE = 1e-9
"""Tolerance of the poses on a line [m, rad]: what is left would show as ripple of the speed."""
SETTLING_SOLVES = 40
"""Most solves in which an arm settles at its posture [1]."""
SETTLED = 1e-6
"""Largest joint move in a solve of an arm that has settled [rad or m]."""
SETTLING_MOVE = 0.05
"""Largest move of a joint in one of them, as an arm does not change its branch [rad or m]."""
NEARBY = 1e-3
"""Half width of bounds to compile with [rad or m]."""


class MotionSolvers:
    """
    Solvers for an arm, one for each kind of question.

    Parameters
    ----------
    robot : Chain or Tree
        The joints.
    options : SolverOptions
        Mode, tolerances and budget.
    tips : mapping, optional
        What is asked of the tips of a tree, `TipOptions` by tip link.
    pinned : PinnedJoints, optional
        Joints that others move.

    Attributes
    ----------
    goal : TipsSolver
        For a goal.
    moving_goal : TipsSolver
        The same for an arm that moves: it must not wait long.
    line : TipsSolver
        For the next pose on a line: near, and much more exact than asked for.
    ahead : TipsSolver
        For a pose some way ahead on a line.
    nearby : TipsSolver
        For a goal near one that was solved for: it tries only once, from there.
    skip : TipsSolver
        For a point on a line which does not begin where the arm stands.
    posture : array, shape (n,), or None
        Joint values that an arm with joints to spare tends to [rad or m].
    may_choose : bool
        Whether joints to spare leave a choice for the poses on a line.
    yields : bool
        Whether there are too few joints for poses, so that the orientation is the best there is.
    turn_tolerance : float
        Orientations are equally good if they differ by no more than this [rad].

    """

    def __init__(
        self,
        robot: Mechanism,
        options: SolverOptions,
        tips: Mapping[str, TipOptions] | None = None,
        pinned: PinnedJoints | None = None,
    ) -> None:
        self._robot, self._options, self._tips, self._pinned = robot, options, tips, pinned
        on_line = {
            'position_tolerance': min(ON_LINE, options.position_tolerance),
            'orientation_tolerance': min(ON_LINE, options.orientation_tolerance),
            'max_restarts': 0,
        }
        self.posture = None if options.posture is None else np.array(options.posture)
        self.may_choose = leaves_choice(robot, options)
        self.yields = orientation_yields(robot, options)
        self.turn_tolerance = max(EQUALLY_TURNED, options.orientation_tolerance)
        self._moving_budget = min(MOVING_BUDGET, options.budget)
        self.goal = self._solver()
        self.moving_goal = self._solver(budget=self._moving_budget)
        self.line = self._solver(**on_line, max_joint_move=FOLLOWING_MOVE)
        self.ahead = self._solver(**on_line, max_joint_move=LOOKING_MOVE)
        self.nearby = self.brief()
        self.skip = self._solver(max_joint_move=LOOKING_MOVE, max_restarts=RETRIES)

    def at_goal(self, T: Array, q: Array, resting: bool) -> Solution:
        """
        Find a configuration at poses `T`, (k, 4, 4), for an arm at `q` that rests, or moves.

        An arm that moves has no time, and stays on its branch where the orientation yields.
        """
        if resting:
            return self.settled(T, self.goal.solve(T, q))
        near = self.nearby.solve(T, q) if self.yields else None
        return near if near is not None and near.converged else self.moving_goal.solve(T, q)

    def settled(self, T: Array, solution: Solution) -> Solution:
        """
        Return the answer for poses `T`, (k, 4, 4), that solving again does not change.

        One solve brings an arm with a posture only some way towards it.
        """
        if self.posture is None or not solution.converged:
            return solution
        for _ in range(SETTLING_SOLVES):
            q, solution = solution.q, self.nearby.solve(T, solution.q)
            if np.max(np.abs(solution.q - q)) < SETTLED:
                break
        return solution

    def turned_worse(self, T: Array, q: Array, best: Solution) -> float:
        """
        Turn of the tool off poses `T`, (k, 4, 4), in excess of that at `best` [rad].

        On the branch of `q`, once it has come to rest at the poses. 0 where the orientation does
        not yield, or the difference is too small to count.
        """
        if not (self.yields and best.converged):
            return 0.0
        lower, upper = self._robot.lower, self._robot.upper
        for _ in range(SETTLING_SOLVES):
            near = np.clip([q - SETTLING_MOVE, q + SETTLING_MOVE], lower, upper)
            q_before, solution = q, self.line.solve_within(T, q, *near)
            q = solution.q
            if np.max(np.abs(q - q_before)) < SETTLED:
                break
        worse = solution.orientation_error - best.orientation_error
        return worse if worse > self.turn_tolerance else 0.0

    def brief(self) -> TipsSolver:
        """Make one more, that tries only once and takes what it finds."""
        return self._solver(budget=self._moving_budget, max_restarts=0, prefer='first')

    def is_on_line(self, answer: Solution) -> bool:
        """Whether an answer meets the tolerances; the solver was asked for much narrower ones."""
        options = self._options
        return answer.converged or (
            answer.position_error <= options.position_tolerance
            and answer.orientation_error <= options.orientation_tolerance
        )

    def warm_up(self) -> None:
        """Compile what the solvers need."""
        mid = self._robot.mid_configuration()
        self.goal.warm_up()
        self.line.warm_up()
        T = self._robot.tip_poses(mid)
        self.line.solve_within(T, mid, mid - NEARBY, mid + NEARBY)

    def _solver(self, **changes: Any) -> TipsSolver:
        options = replace(self._options, **changes)
        solver, pinned = make_tips_solver(self._robot, options, self._tips), self._pinned
        return solver if pinned is None else PinnedSolver(solver, pinned, options.max_joint_move)
