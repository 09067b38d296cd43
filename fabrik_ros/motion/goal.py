"""The goal that an arm pursues, and the configuration that it takes there."""

from dataclasses import dataclass
import time

import numpy as np
import numpy.typing as npt

from ..collision.guard import CollisionGuard
from ..model.mechanism import Mechanism
from ..planning.goal_chooser import Choice, GoalChooser
from ..reasons import joined, Reason, ReasonKind
from ..solver.solution import Solution
from ..transforms import Array
from .goal_frame import GoalFrame
from .motion_solvers import MotionSolvers
from .solver_reasons import reason_of
from .tip_reference import masked

DETOURS = 3
"""
So often an arm that stopped in front of a collision sets out again for its goal: on another path,
or nearer to a goal that touches, as a fast arm stops early.
"""


@dataclass(frozen=True)
class MotionOptions:
    """How goals are pursued."""

    path: str = 'line'
    """'line' or 'joint'."""
    allow_reconfiguration: bool = False
    """Where the line cannot be followed, go straight in joint space."""
    approach_unreachable: bool = True
    """Go as near as possible to goals that cannot be reached, rather than stay."""


@dataclass(frozen=True, eq=False)
class Goal:
    """Where the tips are to be."""

    T: Array
    """Poses, shape (k, 4, 4), each in the frame it is held in; NaN for unconstrained tips."""
    in_world: npt.NDArray[np.bool_]
    """Which of them stay where they are in the world while the base moves, shape (k,)."""
    is_target: npt.NDArray[np.bool_]
    """Which of them are targets that were sent; the others are poses that are kept, shape (k,)."""

    @classmethod
    def of(cls, T: Array, in_world: npt.ArrayLike = False) -> 'Goal':
        """Make a goal of poses, shape (k, 4, 4), which nobody sent."""
        held, is_target = np.zeros((2, len(T)), dtype=bool)
        held[:] = in_world
        return cls(T, held, is_target)

    def with_target(self, tip: int, T: Array, in_world: bool) -> 'Goal':
        """Return a goal with another target, shape (4, 4), for one of the tips."""
        goal = Goal(self.T.copy(), self.in_world.copy(), self.is_target.copy())
        goal.T[tip], goal.in_world[tip], goal.is_target[tip] = T, in_world, True
        return goal


@dataclass
class PendingGoal:
    """A goal that the line heads for, of which is not known yet whether it can be reached."""

    goal: Goal
    age: float
    """For how long goals have not been resolved [s]."""
    steps: int
    """Steps until it is resolved, if no other takes its place."""


class ResolvedGoal:
    """
    A goal, and the configuration there.

    Parameters
    ----------
    T : array, shape (k, 4, 4)
        The poses of the goal, or the nearest ones that can be reached, each in the frame it is
        held in; NaN for unconstrained tips.
    solution : Solution
        The configuration there, or nearest to it.
    set_out_at : array, shape (n,)
        Where the arm was when the goal was set [rad or m].

    Attributes
    ----------
    T, set_out_at : array
        As above.
    solution : Solution
        The configuration that is taken, or what the solver said of a goal out of reach.
    q : array, shape (n,)
        Joint values at the goal [rad or m].
    via : array, shape (n,), or None
        Joint values between, where the straight path is not collision-free.
    detours_left : int
        How many other paths may still be tried.

    """

    def __init__(self, T: Array, solution: Solution, set_out_at: Array) -> None:
        self.T, self.set_out_at = T, set_out_at
        self.solution = solution
        self.q = solution.q
        self.via: Array | None = None
        self._falls_short = None if solution.converged else reason_of(solution)
        self._collision: Reason | None = None
        self.detours_left = DETOURS

    @property
    def is_reachable(self) -> bool:
        """Whether the tips can be at the goal itself."""
        return self._falls_short is None

    def take(self, choice: Choice) -> None:
        """Go to another configuration, or on another path."""
        self.q, self.via = choice.answer.q, choice.via
        text = f'the target is in self-collision: {choice.collision}'
        self._collision = Reason(ReasonKind.GOAL_IN_COLLISION, text) if choice.collision else None
        if choice.answer.converged and self.is_reachable:
            self.solution = choice.answer

    @property
    def reason(self) -> Reason | None:
        """Why the arm will rest short of the goal; None where it will not."""
        return joined((self._falls_short, self._collision))


class GoalResolver:
    """
    Finds the configuration that an arm takes at a goal.

    Parameters
    ----------
    robot : Chain or Tree
        The joints.
    solvers : MotionSolvers
        Find joint values.
    frame : GoalFrame
        Knows in which frames goals are held.
    guard : CollisionGuard or None
        Knows what collides, where that is checked.
    fastest : array, shape (n,)
        Greatest speeds of the joints [rad/s or m/s].
    options : MotionOptions
        How goals are pursued.

    """

    def __init__(
        self,
        robot: Mechanism,
        solvers: MotionSolvers,
        frame: GoalFrame,
        guard: CollisionGuard | None,
        fastest: Array,
        options: MotionOptions,
    ) -> None:
        self._solvers, self._frame, self._options = solvers, frame, options
        self._chooser: GoalChooser | None = None
        if guard is not None:
            self._chooser = GoalChooser(guard, robot, solvers.brief().solve, fastest)

    def resolve(self, T_goal: Array, q: Array, resting: bool) -> ResolvedGoal:
        """
        Find the configuration at a goal, or nearest to it where it is out of reach.

        Parameters
        ----------
        T_goal : array, shape (k, 4, 4)
            Poses of the tips, each in the frame it is held in; NaN for unconstrained tips.
        q : array, shape (n,)
            Where the arm is [rad or m].
        resting : bool
            Whether it rests, and has time.

        """
        begin, frame = time.perf_counter(), self._frame
        solver, budget = self._solvers.for_goal(resting)
        solution = solver.solve(frame.to_base(T_goal), q)
        T = T_goal if solution.converged else masked(frame.tips(solution.q), T_goal)
        resolved = ResolvedGoal(T, solution, q)
        stays = not resolved.is_reachable and not self._options.approach_unreachable
        if self._chooser is not None and not stays:
            needs_path = resting and self._options.path == 'joint'
            choose = self._chooser.path if needs_path else self._chooser.configuration
            resolved.take(choose(solution, frame.to_base(T), q, begin + budget))
        return resolved

    def resolve_again(self, resolved: ResolvedGoal, q: Array) -> bool:
        """Solve anew for a goal in the world, as the base has moved since; tell if that worked."""
        if not self._frame.is_world:
            return True
        solution = self._solvers.moving_goal.solve(self._frame.to_base(resolved.T), q)
        resolved.q = solution.q
        return solution.converged

    def find_detour(self, resolved: ResolvedGoal, q: Array) -> bool:
        """
        Find a collision-free path for an arm that stopped at `q` in front of a collision.

        Tells whether there is something to set out for: also a goal that never is free.
        """
        if self._chooser is None:
            return False
        resolved.detours_left -= 1
        solver, budget = self._solvers.for_goal(resting=True)
        T, end = self._frame.to_base(resolved.T), time.perf_counter() + budget
        solution = solver.solve(T, q)
        choice = self._chooser.path(solution, T, q, end, resolved.set_out_at)
        sets_out = choice.answer.converged and (choice.has_path or bool(choice.collision))
        if sets_out:
            resolved.take(choice)
        return sets_out
