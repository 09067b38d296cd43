"""Which configurations, edges and curves in joint space are free of collisions."""

from collections.abc import Callable
from itertools import pairwise
import math

import numpy as np

from ..collision.checked_pairs import CheckedPairs
from ..collision.guard import CollisionGuard, LeastDistances
from ..transforms import Array

LONGEST_PART = 0.2
"""Edges are looked at in parts on which no joint moves farther: few pairs are near [rad or m]."""
NEAR_START = 0.05
"""So far from the start pairs that all but touch there may be as near [rad or m]."""


class FreeSpace:
    """
    Knows where an arm may be, and on which ways it may go, between two that it is asked for.

    Edges are straight in joint space. What is called free is free everywhere between its ends,
    by bounds of how far the links can move. What is not called free may be so by a millimetre.

    Parameters
    ----------
    collision : CheckedPairs or None
        Knows what collides; None: nothing does.
    start : array, shape (n,)
        Where the arm is [rad or m]: pairs of links that all but touch there may do so nearby.
    should_stop : callable
        Whether to give up; asked often. From then on nothing is free.

    Attributes
    ----------
    should_stop : callable
        As above.

    """

    def __init__(
        self, collision: CheckedPairs | None, start: Array, should_stop: Callable[[], bool]
    ) -> None:
        self._start, self.should_stop = start, should_stop
        self._guard = None if collision is None else CollisionGuard(collision)
        if collision is not None and self._guard is not None:
            self._elsewhere = LeastDistances(start, collision.clearances, collision.version)
            self._near_start = self._guard.least_from(start)

    def collision_at(self, q: Array) -> str:
        """Say which links are too near each other at `q`, shape (n,); '' where none are."""
        return '' if self._guard is None else self._guard.collision_at(q)

    def is_edge_free(self, q: Array, q_next: Array) -> bool:
        """Whether nothing comes too near on the straight path between two, shape (n,) each."""
        if self._guard is None:
            return not self.should_stop()
        if self.collision_at(q_next) or self.collision_at(0.5 * (q + q_next)):
            return False
        count = math.ceil(float(np.max(np.abs(q_next - q))) / LONGEST_PART)
        ends = q + np.linspace(0.0, 1.0, max(count, 1) + 1)[:, None] * (q_next - q)
        return all(self._is_part_free(*part) for part in pairwise(ends))

    def is_curve_free(self, knots: Array) -> bool:
        """Whether nothing comes too near between any two knots, shape (m, n)."""
        return all(self._is_part_free(*part) for part in pairwise(knots))

    def _is_part_free(self, q: Array, q_next: Array) -> bool:
        """Whether nothing comes too near on a short edge."""
        if self.should_stop():
            return False
        if self._guard is None:
            return True
        near = max(np.max(np.abs(end - self._start)) for end in (q, q_next)) <= NEAR_START
        least = self._near_start if near else self._elsewhere
        return not self._guard.collision_between(q, q_next, least)
