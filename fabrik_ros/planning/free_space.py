"""Configurations, edges and curves in joint space that are free of collisions."""

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from ..collision.checked_pairs import CheckedPairs
from ..collision.edge_checks import EdgeChecks, RESOLUTION
from ..collision.guard import EASE
from ..transforms import Array
from .blocked_goal import BlockedGoal

NEAR_END = 0.05
"""Distance from an end of a path within which pairs may be as near as there [rad or m]."""
MARGIN, MARGIN_AT_GOALS = 0.05, 0.015
"""
Extra clearance of planned paths, and of their goals, as a share of the clearance [1].

The follower checks other chords, and takes some paths for blocked that are free by little: with
the margin of goals one of twelve.
"""
ROOM = 2.0 * RESOLUTION
"""No edge is called free without so much room to what pairs keep [m]."""
LEAST_AT_GOALS = 1.5 * RESOLUTION
"""Least extra clearance of goals: to half of it edges are found free [m]."""


class FreeSpace:
    """
    Tells which configurations, edges and curves are collision-free.

    Edges are straight in joint space. An edge called free is free along its whole length, by
    bounds of how far the links can move, with a margin; one refused may be free by up to a
    millimetre. Pairs that are within the margin at the start may stay so, and near goals pairs
    may be as near as there.

    Parameters
    ----------
    collision : CheckedPairs or None
        Knows what collides; None: nothing does.
    start : array, shape (n,)
        Where the arm is [rad or m].
    should_stop : callable
        Whether to give up; asked before each edge, and within those that take long. From then on
        no edge is free.
    T : array, shape (k, 4, 4), or None
        Poses of the tips at the goal; None where it is joint values.

    """

    def __init__(
        self,
        collision: CheckedPairs | None,
        start: Array,
        should_stop: Callable[[], bool],
        T: Array | None = None,
    ) -> None:
        self._collision, self._should_stop = collision, should_stop
        if collision is not None:
            clearances = collision.clearances
            with_margin = clearances + MARGIN * np.abs(clearances)
            self._least = _least_near(collision, start, with_margin)
            self._checks = EdgeChecks(collision, self._least, should_stop)
            at_goals = clearances + np.maximum(
                MARGIN_AT_GOALS * np.abs(clearances), LEAST_AT_GOALS
            )
            self._at_goals = np.minimum(at_goals, self._least)
            self._checks_at_goals = EdgeChecks(collision, self._at_goals)
            self._checks_with_room = EdgeChecks(collision, self._least + ROOM)
            near_start = _least_from(collision, start, with_margin)
            self._ends = start[None]
            self._checks_near_ends = [EdgeChecks(collision, near_start, should_stop)]
            self._blocked_goal = BlockedGoal(collision.distances, collision.mechanism, T)

    def take_goal(self, q: Array) -> str:
        """Let edges end at `q`, shape (n,); say which links are too near for that, '' if none."""
        if self._collision is None:
            return ''
        if (p := self._checks_at_goals.near_at(q)) >= 0:
            return _too_near(self._collision, p, q, self._at_goals)
        if self._checks_with_room.near_at(q) >= 0:
            least = _least_near(self._collision, q, self._least)
            self._ends = np.vstack([self._ends, q])
            checks = EdgeChecks(self._collision, least, self._should_stop)
            self._checks_near_ends.append(checks)
        return ''

    def why_blocked(self, q: Array) -> str:
        """
        Say which links are too near at a goal whatever the configuration; '' if that is unknown.

        To find that out it is asked about one configuration, `q` of shape (n,), after the other,
        at which something is too near.
        """
        if self._collision is None or (p := self._checks_at_goals.near_at(q)) < 0:
            return ''
        p = self._blocked_goal.pair_in_any(p, q)
        return _too_near(self._collision, p, q, self._at_goals) if p >= 0 else ''

    def is_edge_free(self, q: Array, q_next: Array) -> bool:
        """Whether nothing comes too near on the straight path between two, shape (n,) each."""
        if self._should_stop():
            return False
        if self._collision is None:
            return True
        near, near_next = self._checks_near(q), self._checks_near(q_next)
        if near is None and near_next is None:
            return self._checks.near_between(q, q_next) < 0
        length = float(np.max(np.abs(q_next - q)))
        ends = (near is not None) + (near_next is not None)
        share = min(NEAR_END / max(length, NEAR_END), 1.0 / ends)
        until = q if near is None else q + share * (q_next - q)
        since = q_next if near_next is None else q_next - share * (q_next - q)
        if near is not None and near.near_between(q, until) >= 0:
            return False
        if near_next is not None and near_next.near_between(since, q_next) >= 0:
            return False
        is_all = share * ends == 1.0
        return is_all or self._checks.near_between(until, since) < 0

    def _checks_near(self, q: Array) -> EdgeChecks | None:
        """Return the checks for where `q` is, if that is near an end."""
        away = np.abs(self._ends - q).max(axis=1)
        nearest = int(np.argmin(away))
        return self._checks_near_ends[nearest] if away[nearest] <= NEAR_END else None

    def is_curve_free(self, knots: Array) -> bool:
        """Whether nothing comes too near on straight edges between knots, shape (m, n)."""
        return all(self.is_edge_free(*edge) for edge in pairwise(knots))

    def free_share(self, q: Array, q_next: Array) -> float:
        """Share of the straight path between two, (n,) each, that is free from `q` on."""
        return 1.0 if self._collision is None else self._checks.free_share(q, q_next)


def _least_from(collision: CheckedPairs, start: Array, most: Array) -> Array:
    """
    Distances to keep on the way from the start [m], shape (p,).

    No bound proves free what starts at its distance. Who follows the way lets pairs that are
    nearer than their clearance move apart only, so such pairs are given more room.
    """
    least: Array = most.copy()
    for p in collision.distances.due(start, most + EASE):
        distance = collision.distances.measure(int(p), start)
        room = ROOM if distance > collision.clearances[p] else EASE
        least[p] = min(most[p], distance - room)
    return least


def _least_near(collision: CheckedPairs, q: Array, most: Array) -> Array:
    """Distances to keep where pairs may be as near as at `q` [m], shape (p,)."""
    distances = collision.distances
    least: Array = most.copy()
    for p in distances.due(q, most + ROOM):
        distance = distances.measure(int(p), q)
        spare = max(distance - collision.clearances[p], 0.0)
        least[p] = min(most[p], distance - min(ROOM, 0.5 * spare))
    return least


def _too_near(collision: CheckedPairs, p: int, q: Array, least: Array) -> str:
    """Say that a pair is nearer than its clearance at `q`, or than the distance asked of it."""
    link_a, link_b = collision.links(p)
    is_nearer = collision.distances.measure(p, q) <= collision.clearances[p]
    within = 1000.0 * (collision.clearances[p] if is_nearer else least[p])
    return f"'{link_a}' and '{link_b}' are within {within:.3g} mm of each other"
