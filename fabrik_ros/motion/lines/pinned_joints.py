"""Joints that stand where others put them: solvers leave them there."""

from dataclasses import dataclass
import math

import numpy as np
import numpy.typing as npt

from ...methods import TipsSolver
from ...solver.solution import Solution, Status
from ...transforms import Array

AT_BOUND = 1e-9
"""Distance from a bound within which a joint stands at it [rad or m]."""
FARTHEST = 4.0 * math.pi
"""Move of a joint that no solver needs to exceed [rad or m]: solvers take finite bounds only."""


@dataclass
class PinnedJoints:
    """
    Joints that are pinned, and where.

    Attributes
    ----------
    which : array of bool, shape (n,)
        Which of the joints are pinned.
    q : array, shape (n,)
        Joint values, of which those of the pinned joints count [rad or m].

    """

    which: npt.NDArray[np.bool_]
    q: Array

    def have_left(self, q: Array) -> bool:
        """Whether pinned joints are elsewhere than in joint values `q`, shape (n,)."""
        return bool(np.any(self.q[self.which] != q[self.which]))

    def put(self, q: Array) -> Array:
        """Return joint values, shape (n,), with the pinned joints where they are."""
        return np.where(self.which, self.q, q)


class PinnedSolver:
    """
    A solver that leaves pinned joints where they are.

    Parameters
    ----------
    solver : TipsSolver
        Finds the values of the others.
    pinned : PinnedJoints
        What is pinned, at the time of each solve.
    move : float
        How far the others may be from the seed [rad or m].

    """

    def __init__(self, solver: TipsSolver, pinned: PinnedJoints, move: float) -> None:
        self._solver, self._pinned, self._move = solver, pinned, min(move, FARTHEST)

    def solve(self, targets: Array, seed: Array, /) -> Solution:
        """Find joint values, shape (n,), starting from others."""
        return self.solve_within(targets, seed, seed - self._move, seed + self._move)

    def solve_within(self, targets: Array, seed: Array, lower: Array, upper: Array, /) -> Solution:
        """Find joint values, each within bounds of its own, shape (n,)."""
        put = self._pinned.put
        found = self._solver.solve_within(targets, put(seed), put(lower), put(upper))
        if found.status is not Status.BLOCKED_BY_JOINT_MOVE:
            return found
        moved = ~self._pinned.which & (np.minimum(found.q - lower, upper - found.q) < AT_BOUND)
        return found if moved.any() else found._replace(status=Status.BLOCKED_BY_LIMITS)

    def warm_up(self) -> float:
        """Compile what is needed; returns how long that took [s]."""
        return self._solver.warm_up()
