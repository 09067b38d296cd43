"""
Paths to a goal in joint space: straight to one of its configurations, or over one between.

A solver returns one configuration of several, or of infinitely many, and knows nothing of
collisions. Here it is asked from many seeds, the same ones every time. Configurations and paths
that are not collision-free are left out. This is no planner: what it does not find may exist.

"""

from collections.abc import Callable, Generator, Iterator, Sequence

import numpy as np

from ..collision.guard import CollisionGuard
from ..model.mechanism import Mechanism
from ..solver.solution import EQUALLY_TURNED, Solution
from ..transforms import Array
from .goal_sampler import SAME_DIGITS
from .moving_apart import configuration_apart
from .moving_joints import joints_with_goal
from .pieces import Pieces
from .whole_turns import WholeTurns

SEEDS = 120
"""Number of seeds for configurations at a goal [1]."""
BETWEEN, NEARBY = 3000, 400
"""
Number of configurations between start and goal that are tried, and of those nearby [1].

The first lie farther and farther from the direct paths, the others anywhere.
"""
NEAREST, NEXT = 3, 48
"""
Numbers of goals tried from each of these: of the cheapest ones, and of those nearest to it [1].
"""


Waypoints = tuple[Array, ...]
"""Straight paths in joint space, one after the other: joint values between and at the goal."""


class WaypointFinder:
    """
    Finds paths to a goal in joint space.

    Parameters
    ----------
    robot : Chain or Tree
        The joints.
    solve : callable
        Finds joint values for poses of shape (k, 4, 4) from a seed of shape (n,), within
        milliseconds.
    fastest : array, shape (n,)
        Greatest speeds of the joints: of several configurations the one soonest reached costs
        least [rad/s or m/s].
    guard : CollisionGuard or None
        Knows what collides, where that is checked.
    posture : array, shape (n,), optional
        The configuration nearest to this one is preferred, instead of the one soonest reached.
    turn_tolerance : float
        Configurations whose orientation is farther off than the best one, by more than this, are
        left out [rad].

    """

    def __init__(
        self,
        robot: Mechanism,
        solve: Callable[[Array, Array], Solution],
        fastest: Array,
        guard: CollisionGuard | None,
        posture: Array | None = None,
        turn_tolerance: float = EQUALLY_TURNED,
    ) -> None:
        self._turn_tolerance = turn_tolerance
        self._robot, self._solve, self._fastest, self._guard = robot, solve, fastest, guard
        self.posture = posture
        self._turns = WholeTurns(robot)

    def collision_at(self, q: Array) -> str:
        """Say which links are too near each other at `q`, shape (n,); '' where none are."""
        return '' if self._guard is None else self._guard.collision_at(q)

    def goals(self, first: Solution, T: Array, q: Array) -> Pieces[list[Array]]:
        """
        Find collision-free configurations at a goal, the one that costs least first.

        Parameters
        ----------
        first : Solution
            What the solver said of the goal.
        T : array, shape (k, 4, 4)
            The poses it reaches, NaN for tips without a target.
        q : array, shape (n,)
            Where the arm is [rad or m].

        """
        found: dict[tuple[float, ...], Array] = {}
        for answer in self._answers(first, T, q):
            for q_goal in self._turns.of(answer.q, q):
                found.setdefault(tuple(q_goal.round(SAME_DIGITS)), q_goal)
            yield
        goals, preferred = [], q if self.posture is None else self.posture
        for q_goal in sorted(found.values(), key=lambda q: self._duration(q - preferred)):
            if not self.collision_at(q_goal):
                goals.append(q_goal)
            yield
        return goals

    def candidates(
        self, goals: Sequence[Array], q: Array, T: Array | None = None
    ) -> Generator[Waypoints | None, None, None]:
        """
        Yield collision-free paths from `q` to one of several goals, the direct ones first.

        None is yielded after each piece of work that found none.

        Parameters
        ----------
        goals : sequence of array, shape (n,)
            Joint values, those preferred first [rad or m].
        q : array, shape (n,)
            Where the arm is [rad or m].
        T : array, shape (k, 4, 4), optional
            NaN for tips without a target: joints that move only these stay where they are.

        """
        if self._guard is not None and self.collision_at(q):
            apart = yield from configuration_apart(self._robot, self._guard, q)
            if apart is not None:
                for waypoints in self.candidates(goals, apart, T):
                    yield None if waypoints is None else (apart, *waypoints)
            return
        yield from self.direct(goals, q)
        for between in self._between(goals, q, T):
            yield None
            if self.collision_at(between):
                continue
            is_free = yield from self._is_free(q, between)
            if not is_free:
                continue
            for q_goal in (*goals[:NEAREST], *self._nearest(goals, between)):
                is_free = yield from self._is_free(between, q_goal)
                if is_free:
                    yield between, q_goal

    def direct(self, goals: Sequence[Array], q: Array) -> Generator[Waypoints | None, None, None]:
        """Yield free paths from `q` straight to one of several goals: see `candidates`."""
        if self.collision_at(q):
            return
        for q_goal in goals:
            is_free = yield from self._is_free(q, q_goal)
            if is_free:
                yield (q_goal,)

    def _nearest(self, goals: Sequence[Array], q: Array) -> list[Array]:
        """Choose goals near `q`, with joints turned by whole turns to be nearest."""
        turned = (next(self._turns.of(q_goal, q)) for q_goal in goals)
        distinct = {tuple(q_goal.round(SAME_DIGITS)): q_goal for q_goal in turned}
        return sorted(distinct.values(), key=lambda q_goal: self._duration(q_goal - q))[:NEXT]

    def _is_free(self, q: Array, q_goal: Array) -> Pieces[bool]:
        """Whether the straight path in joint space between two configurations is free."""
        if self._guard is None:
            return True
        for collision in self._guard.collisions_on_path(q, q_goal):
            if collision:
                return False
            yield
        return True

    def _answers(self, first: Solution, T: Array, q: Array) -> Iterator[Solution]:
        yield first
        turned = first.orientation_error if first.converged else 0.0
        for seed in self._seeds(T, q):
            answer = self._solve(T, seed)
            worse = answer.orientation_error - turned
            if answer.converged and worse <= self._turn_tolerance:
                yield answer

    def _duration(self, displacement: Array) -> float:
        """Duration of a straight path, shape (n,), at full speed [s]."""
        return float(np.max(np.abs(displacement) / self._fastest))

    def _between(self, goals: Sequence[Array], q: Array, T: Array | None) -> Iterator[Array]:
        """Yield configurations inside the limits, farther and farther from the direct paths."""
        lower, upper = self._robot.finite_limits()
        rng, moves = np.random.default_rng(0), joints_with_goal(self._robot, T)
        for number in range(BETWEEN if self._guard is not None else 0):
            between = q + rng.random() * (goals[number % len(goals)] - q)
            spread = min(1.0, (1 + number) / NEARBY)
            away = np.where(moves, rng.uniform(lower, upper) - between, 0.0)
            yield np.clip(between + spread * away, self._robot.lower, self._robot.upper)

    def _seeds(self, T: Array, q: Array) -> Iterator[Array]:
        """Yield configurations inside the limits, each farther from `q` than the one before."""
        lower, upper = self._robot.finite_limits()
        rng, moves = np.random.default_rng(0), joints_with_goal(self._robot, T)
        for number in range(1, SEEDS + 1):
            away = np.where(moves, rng.uniform(lower, upper) - q, 0.0)
            yield q + number / SEEDS * away
