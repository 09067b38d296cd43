"""Which configurations, edges and curves in joint space are free of collisions."""

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from ..collision.checked_pairs import CheckedPairs
from ..collision.edge_checks import EdgeChecks
from ..collision.guard import CollisionGuard
from ..transforms import Array

NEAR_START = 0.05
"""Distance from the start within which pairs too near there may stay as near [rad or m]."""
MARGIN = 0.05
"""
Extra clearance of planned paths, as a share of the clearance [1].

The follower checks other chords, and would take paths free by under half a millimetre for blocked.
"""
ROUNDING = 1e-5
"""Error of a measured distance [m]."""


class FreeSpace:
    """
    Tells which configurations, edges and curves are collision-free.

    Edges are straight in joint space. An edge called free is free along its whole length, by
    bounds of how far the links can move, with a margin; one refused may be free by up to a
    millimetre.

    Parameters
    ----------
    collision : CheckedPairs or None
        Knows what collides; None: nothing does.
    start : array, shape (n,)
        Where the arm is [rad or m]: pairs too near there may stay as near, close to it.
    should_stop : callable
        Whether to give up; asked before each edge. From then on no edge is free.

    """

    def __init__(
        self, collision: CheckedPairs | None, start: Array, should_stop: Callable[[], bool]
    ) -> None:
        self._collision, self._start, self._should_stop = collision, start, should_stop
        if collision is not None:
            least = CollisionGuard(collision).least_from(start).values
            self._least = _with_margin(collision, start)
            self._checks = EdgeChecks(collision, self._least)
            self._checks_near_start = EdgeChecks(collision, least)

    def collision_at(self, q: Array) -> str:
        """Say which links are too near each other at `q`, shape (n,); '' where none are."""
        if self._collision is None or (p := self._checks.near_at(q)) < 0:
            return ''
        link_a, link_b = self._collision.links(p)
        clearance = self._collision.clearances[p]
        is_nearer = self._collision.distances.measure(p, q) <= clearance
        within = 1000.0 * (clearance if is_nearer else self._least[p])
        return f"'{link_a}' and '{link_b}' are within {within:.3g} mm of each other"

    def is_edge_free(self, q: Array, q_next: Array) -> bool:
        """Whether nothing comes too near on the straight path between two, shape (n,) each."""
        if self._should_stop():
            return False
        if self._collision is None:
            return True
        if np.max(np.abs(q_next - self._start)) <= NEAR_START:
            q, q_next = q_next, q
        if np.max(np.abs(q - self._start)) > NEAR_START:
            return self._checks.near_at(q_next) < 0 and self._checks.near_between(q, q_next) < 0
        share = min(1.0, NEAR_START / max(float(np.max(np.abs(q_next - q))), NEAR_START))
        until = q + share * (q_next - q)
        if self._checks_near_start.near_between(q, until) >= 0:
            return False
        return share == 1.0 or self._checks.near_between(until, q_next) < 0

    def is_curve_free(self, knots: Array) -> bool:
        """Whether nothing comes too near on straight edges between knots, shape (m, n)."""
        return all(self.is_edge_free(*edge) for edge in pairwise(knots))

    def free_share(self, q: Array, q_next: Array) -> float:
        """Share of the straight path between two, (n,) each, that is free from `q` on."""
        return 1.0 if self._collision is None else self._checks.free_share(q, q_next)


def _with_margin(collision: CheckedPairs, start: Array) -> Array:
    """Distances that pairs keep on paths [m], shape (p,); less for pairs near at the start."""
    distances, clearances = collision.distances, collision.clearances
    least: Array = clearances + MARGIN * np.abs(clearances)
    for p in distances.due(start, least):
        least[p] = np.clip(distances.measure(int(p), start) - ROUNDING, clearances[p], least[p])
    return least
