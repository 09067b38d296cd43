"""Collision-free configurations at a goal, drawn one after the other for as long as is wished."""

from collections.abc import Callable
import math

import numpy as np

from ..model.mechanism import Mechanism
from ..solver.solution import Solution, Status
from ..transforms import Array
from .free_space import FreeSpace
from .moving_joints import joints_with_goal
from .whole_turns import WholeTurns

SAME_DIGITS = 2
"""Configurations are the same if they agree to this many decimal places [rad or m]."""
NEARBY = 30
"""Number of seeds that lie farther and farther from the start; later ones lie anywhere [1]."""
FRUITLESS = 400
"""Draws in a row without a new configuration that end the search for others [1]."""


class GoalSampler:
    """
    Draws configurations at a goal by solving from random seeds.

    Joints that move only tips without a target stay where they are at the start.

    Parameters
    ----------
    robot : Chain or Tree
        The joints.
    turns : WholeTurns
        Turns them.
    solve : callable
        Finds joint values for poses of shape (k, 4, 4) from a seed of shape (n,).
    space : FreeSpace
        Takes the configurations as goals, or says what collides there.
    T : array, shape (k, 4, 4), or None
        The poses, NaN for tips without a target; None: nothing is drawn.
    start : array, shape (n,)
        Where the arm is [rad or m].
    rng : numpy.random.Generator
        Draws the seeds.
    farthest_turned : float
        Configurations whose orientation is farther off are left out [rad].

    Attributes
    ----------
    found : list of array, shape (n,)
        The different collision-free configurations so far.
    attempts : int
        Number of draws so far.
    collision : str
        What collided at the first configuration that is not free, or collides at all of them.
    status : Status or None
        What the solver said at first; CONVERGED once any configuration was found.

    """

    def __init__(
        self,
        robot: Mechanism,
        turns: WholeTurns,
        solve: Callable[[Array, Array], Solution],
        space: FreeSpace,
        T: Array | None,
        start: Array,
        rng: np.random.Generator,
        farthest_turned: float = math.inf,
    ) -> None:
        self._farthest_turned = farthest_turned
        self._robot, self._turns, self._solve = robot, turns, solve
        self._space, self._T, self._start, self._rng = space, T, start, rng
        self._moves = joints_with_goal(robot, T)
        self._limits = robot.finite_limits()
        self._seen: set[tuple[float, ...]] = set()
        self._fruitless, self._is_blocked = 0, False
        self.found: list[Array] = []
        self.attempts, self.collision = 0, ''
        self.status: Status | None = None

    @property
    def is_exhausted(self) -> bool:
        """Whether there are no other configurations, as far as one can tell."""
        return self._T is None or self._is_blocked or self._fruitless >= FRUITLESS

    def add(self, q: Array) -> list[Array]:
        """Take a configuration that is known to be at the goal; return it, if it is free."""
        return [q] if self._take(q) else []

    def draw(self) -> list[Array]:
        """Solve once more; return the collision-free configurations that are new."""
        if self._T is None:
            return []
        answer = self._solve(self._T, self._seed())
        self.attempts += 1
        self._fruitless += 1
        if self.status is None or answer.converged:
            self.status = answer.status
        if not answer.converged or answer.orientation_error > self._farthest_turned:
            return []
        q = np.where(self._moves, answer.q, self._start)
        found = [q_goal for q_goal in self._turns.of(q, self._start) if self._take(q_goal)]
        is_new = self._fruitless == 0
        if is_new and not found and (blocked := self._space.why_blocked(q)):
            self.collision, self._is_blocked = blocked, True
        return found

    def _take(self, q: Array) -> bool:
        """Take note of a configuration; return whether it is new and collision-free."""
        key = tuple(q.round(SAME_DIGITS))
        if key in self._seen:
            return False
        self._seen.add(key)
        self._fruitless = 0
        collision = self._space.take_goal(q)
        self.collision = self.collision or collision
        if not collision:
            self.found.append(q)
        return not collision

    def _seed(self) -> Array:
        """Return the start at first, then configurations farther and farther from it."""
        assert self._T is not None
        spread = min(1.0, self.attempts / NEARBY)
        away = self._rng.uniform(*self._limits) - self._start
        seed: Array = self._start + spread * np.where(self._moves, away, 0.0)
        return seed
