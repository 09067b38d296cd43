"""The goal that an arm pursues: which configuration it takes there, and on which way."""

from dataclasses import dataclass
import time

from ..collision.guard import CollisionGuard
from ..model.chain import Chain
from ..model.tree import Tree
from ..planning.goal_chooser import Choice, GoalChooser
from ..solver.solution import Solution
from ..transforms import Array
from .line_tracker import masked, ToBase
from .motion_solvers import MotionSolvers

WAYS_ROUND = 3
"""
So often an arm that stopped in front of a collision sets out again for its goal: another way, or
nearer to a goal that touches, as a fast arm stops early.
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


class Destination:
    """
    A goal, and what is known of it.

    Parameters
    ----------
    T : array, shape (..., 4, 4)
        Poses of the tips, each in the frame it is held in; NaN for tips that are free.
    answer : Solution
        The configuration there, or nearest to it.
    set_out_at : array, shape (n,)
        Where the arm was when the goal was set [rad or m].

    Attributes
    ----------
    T, set_out_at : array
        As above.
    answer : Solution
        The configuration that is taken, or what the solver said of a goal out of reach.
    q : array, shape (n,)
        Joint values at the goal [rad or m].
    via : array, shape (n,), or None
        Joint values between, where the straight way is not free.
    falls_short : str
        Why the goal is not reached; '' if it is.
    touches : str
        Why the arm touches itself at the goal; '' if it does not.
    ways_left : int
        How many other ways may still be tried.

    """

    def __init__(self, T: Array, answer: Solution, set_out_at: Array) -> None:
        self.T, self.set_out_at = T, set_out_at
        self.answer = answer
        self.q = answer.q
        self.via: Array | None = None
        self.falls_short = '' if answer.converged else answer.status.value
        self.touches = ''
        self.ways_left = WAYS_ROUND

    def take(self, choice: Choice) -> None:
        """Go to another configuration, or another way."""
        self.q, self.via = choice.answer.q, choice.via
        collision = f'the target is in self-collision: {choice.collision}'
        self.touches = collision if choice.collision else ''
        if choice.answer.converged and not self.falls_short:
            self.answer = choice.answer

    @property
    def next_q(self) -> Array:
        """Joint values to go to first, shape (n,)."""
        return self.q if self.via is None else self.via

    @property
    def hindrance(self) -> str:
        """What is the matter with the goal, in words; '' where nothing is."""
        return joined(self.falls_short, self.touches)


class DestinationFinder:
    """
    Finds out where an arm is to go for a goal.

    Parameters
    ----------
    arm : Chain or Tree
        The arm, or arms.
    solvers : MotionSolvers
        Find joint values.
    guard : CollisionGuard or None
        Knows what collides, where that is looked after.
    fastest : array, shape (n,)
        Greatest speeds of the joints [rad/s or m/s].
    options : MotionOptions
        How goals are pursued.

    """

    def __init__(
        self,
        arm: Chain | Tree,
        solvers: MotionSolvers,
        guard: CollisionGuard | None,
        fastest: Array,
        options: MotionOptions,
    ) -> None:
        self._solvers, self._options = solvers, options
        self._chooser: GoalChooser | None = None
        if guard is not None:
            self._chooser = GoalChooser(guard, arm, solvers.brief().solve, fastest)

    def find(
        self, T_goal: Array, q: Array, resting: bool, to_base: ToBase, tips_at: ToBase
    ) -> Destination:
        """
        Find the configuration at a goal, or nearest to it where it is out of reach.

        Parameters
        ----------
        T_goal : array, shape (..., 4, 4)
            Poses of the tips, each in the frame it is held in; NaN for tips that are free.
        q : array, shape (n,)
            Where the arm is [rad or m].
        resting : bool
            Whether it rests, and has time.
        to_base : callable
            Tells poses in the base frame.
        tips_at : callable
            Tells poses of the tips at joint values, each in the frame its goal is held in.

        """
        begin = time.perf_counter()
        solver, budget = self._solvers.for_goal(resting)
        answer = solver.solve(to_base(T_goal), q)
        T = T_goal if answer.converged else masked(tips_at(answer.q), T_goal)
        destination = Destination(T, answer, q)
        stays = destination.falls_short and not self._options.approach_unreachable
        if self._chooser is not None and not stays:
            needs_way = resting and self._options.path == 'joint'
            choose = self._chooser.way if needs_way else self._chooser.configuration
            destination.take(choose(answer, to_base(T), q, begin + budget))
        return destination

    def find_another_way(self, destination: Destination, q: Array, to_base: ToBase) -> bool:
        """
        Find a way that is free for an arm that stopped at `q` in front of a collision.

        Tells whether there is something to set out for: also a goal that never is free.
        """
        assert self._chooser is not None
        destination.ways_left -= 1
        solver, budget = self._solvers.for_goal(resting=True)
        T, end = to_base(destination.T), time.perf_counter() + budget
        answer = solver.solve(T, q)
        choice = self._chooser.way(answer, T, q, end, destination.set_out_at)
        sets_out = choice.answer.converged and (choice.has_way or bool(choice.collision))
        if sets_out:
            destination.take(choice)
        return sets_out


def joined(*reasons: str) -> str:
    """Write several reasons, without those that are ''."""
    return '; '.join(reason for reason in reasons if reason)
