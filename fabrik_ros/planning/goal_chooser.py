"""
Which configuration an arm takes at its goal, and which path there, so as not to touch itself.

A solver returns one configuration of several, or of infinitely many, and knows nothing of
collisions. Where this one collides, or the straight path there in joint space does, the chooser
tries others: it solves from seeds farther and farther from where the arm is, the same ones every
time. Where no straight path is collision-free, it tries two straight paths over a configuration
between: the one where the arm set out, or one of the seeds. This is no planner: what it does not
find may exist.

"""

from collections.abc import Callable, Iterator, Sequence
import time
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..collision.guard import CollisionGuard
from ..model.mechanism import Mechanism
from ..solver.solution import Solution
from ..solver.tree_solver import is_unconstrained
from ..transforms import Array

SEEDS = 40
"""Number of seeds."""
SEARCH_SHARE = 0.5
"""Share of the time for finding configurations; the rest is for checking the paths [1]."""
NEAREST = 3
"""Number of configurations at the goal to which paths over one between are checked."""
SAME_DIGITS = 2
"""Configurations are the same if they agree to so many decimal places [rad or m]."""


class Choice(NamedTuple):
    """Where to go."""

    answer: Solution
    """The configuration at the goal."""
    collision: str
    """Why it collides, where no collision-free one was found; else ''."""
    has_path: bool = False
    """Whether the path there is known to be collision-free."""
    via: Array | None = None
    """Joint values between, shape (n,), where the straight path is not collision-free."""


class GoalChooser:
    """
    Chooses the configuration at a goal, and the path there.

    Parameters
    ----------
    guard : CollisionGuard
        Knows what collides.
    arm : Chain or Tree
        The arm, or arms.
    solve : callable
        Finds joint values for poses of shape (k, 4, 4) from a seed of shape (n,), within
        milliseconds.
    fastest : array, shape (n,)
        Greatest speeds: of several configurations the one soonest reached is nearest.

    """

    def __init__(
        self,
        guard: CollisionGuard,
        arm: Mechanism,
        solve: Callable[[Array, Array], Solution],
        fastest: Array,
    ) -> None:
        self._guard = guard
        self._arm = arm
        self._solve = solve
        self._fastest = fastest

    def configuration(self, first: Solution, T: Array, q: Array, end: float) -> Choice:
        """
        Take the first answer if it is collision-free, else the nearest one found that is.

        Parameters
        ----------
        first : Solution
            What the solver said.
        T : array, shape (k, 4, 4)
            The poses it reaches, NaN for tips without a target.
        q : array, shape (n,)
            Where the arm is [rad or m].
        end : float
            Time by which the search is to end, of `time.perf_counter` [s].

        """
        collision = self._guard.collision_at(first.q)
        nearest = next(self._free(T, q, end), None) if collision else None
        return Choice(first, collision) if nearest is None else Choice(nearest, '')

    def path(
        self, first: Solution, T: Array, q: Array, end: float, set_out: Array | None = None
    ) -> Choice:
        """
        Take a configuration and a path there that are collision-free, where both are found.

        Parameters
        ----------
        first, T, q, end
            As for `configuration`.
        set_out : array, shape (n,), optional
            Where the arm comes from [rad or m].

        """
        guard, collision = self._guard, self._guard.collision_at(first.q)
        if not collision and guard.is_path_free(q, first.q):
            return Choice(first, '', has_path=True)
        free = []
        for answer in self._free(T, q, end):
            if guard.is_path_free(q, answer.q):
                return Choice(answer, '', has_path=True)
            free.append(answer)
        for via in self._between(T, q, set_out):
            if time.perf_counter() > end:
                break
            if guard.is_path_free(q, via):
                for answer in free[:NEAREST]:
                    if guard.is_path_free(via, answer.q):
                        return Choice(answer, '', has_path=True, via=via)
        return Choice(free[0], '') if collision and free else Choice(first, collision)

    def _free(self, T: Array, q: Array, end: float) -> Iterator[Solution]:
        """Yield collision-free configurations at a goal until a time [s], the nearest first."""
        now = time.perf_counter()
        for answer in self._others(T, q, now + SEARCH_SHARE * (end - now)):
            if not self._guard.collision_at(answer.q):
                yield answer
            if time.perf_counter() > end:
                break

    def _others(self, T: Array, q: Array, end: float) -> Sequence[Solution]:
        """Find configurations at a goal until a time [s], and put the nearest first."""
        found: dict[tuple[float, ...], Solution] = {}
        for seed in self._seeds(T, q):
            answer = self._solve(T, seed)
            if answer.converged:
                found.setdefault(tuple(answer.q.round(SAME_DIGITS)), answer)
            if time.perf_counter() > end:
                break
        return sorted(found.values(), key=lambda answer: self._duration(answer.q - q))

    def _duration(self, path: Array) -> float:
        """How long a straight path, shape (n,), takes at full speed [s]."""
        return float(np.max(np.abs(path) / self._fastest))

    def _between(self, T: Array, q: Array, set_out: Array | None) -> Iterator[Array]:
        if set_out is not None:
            yield set_out
        yield from self._seeds(T, q)

    def _seeds(self, T: Array, q: Array) -> Iterator[Array]:
        """Yield configurations inside the limits, each farther from `q` than the one before."""
        lower, upper = self._arm.finite_limits()
        rng, moves = np.random.default_rng(0), self._moves(T)
        for number in range(1, SEEDS + 1):
            away = np.where(moves, rng.uniform(lower, upper) - q, 0.0)
            yield q + number / SEEDS * away

    def _moves(self, T: Array) -> npt.NDArray[np.bool_]:
        """Joints that move a tip with a goal, shape (n,); the others may stay where they are."""
        moves = np.zeros(len(self._arm), dtype=bool)
        for t in np.flatnonzero(~is_unconstrained(T)).tolist():
            moves |= self._arm.moves(t)
        return moves
