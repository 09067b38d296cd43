"""Configurations, edges and curves in joint space that are free of collisions."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from ..collision.checked_pairs import CheckedPairs
from ..collision.edge_checks import EdgeChecks, RESOLUTION
from ..collision.guard import EASE
from ..kernels import free_edges
from ..kernels.separation import Indices
from ..transforms import Array
from .blocked_goal import BlockedGoal

MARGIN, MARGIN_AT_GOALS = 0.05, 0.015
"""
Extra clearance of planned paths, and of their goals, as a share of the clearance [1].

Who follows them looks along straight lines past knots that are a tenth of a millimetre off.
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
    stop : array of int, shape (1,), optional
        Kernels give up once it is other than 0: see `EdgeChecks`.

    """

    def __init__(
        self,
        collision: CheckedPairs | None,
        start: Array,
        should_stop: Callable[[], bool],
        T: Array | None = None,
        stop: Indices | None = None,
    ) -> None:
        self._collision, self._should_stop, self._stop = collision, should_stop, stop
        if collision is not None:
            clearances = collision.clearances
            with_margin = clearances + MARGIN * np.abs(clearances)
            self._least = _least_near(collision, start, with_margin)
            self._checks = [EdgeChecks(collision, self._least, should_stop, stop)]
            at_goals = clearances + np.maximum(
                MARGIN_AT_GOALS * np.abs(clearances), LEAST_AT_GOALS
            )
            self._at_goals = np.minimum(at_goals, self._least)
            self._checks_at_goals = EdgeChecks(collision, self._at_goals)
            self._checks_with_room = EdgeChecks(collision, self._least + ROOM)
            near_start = _least_from(collision, start, with_margin)
            self._ends = np.empty((0, len(start)))
            self._add_end(start, near_start)
            self._blocked_goal = BlockedGoal(collision.distances, collision.mechanism, T)

    def take_goal(self, q: Array) -> str:
        """Let edges end at `q`, shape (n,); say which links are too near for that, '' if none."""
        if self._collision is None:
            return ''
        if (p := self._checks_at_goals.near_at(q)) >= 0:
            return _too_near(self._collision, p, q, self._at_goals)
        if self._checks_with_room.near_at(q) >= 0:
            least = _least_near(self._collision, q, self._least)
            self._add_end(q, least)
        return ''

    def _add_end(self, q: Array, least: Array) -> None:
        """Let pairs be as near as `least`, shape (p,), near `q`, shape (n,)."""
        assert self._collision is not None
        self._ends = np.vstack([self._ends, q])
        self._checks.append(EdgeChecks(self._collision, least, self._should_stop, self._stop))
        self._arguments = self._checks[0].arguments_with(self._checks[1:], self._ends)

    @property
    def edge_arguments(self) -> tuple[Any, ...] | None:
        """What kernels need to look at edges by themselves; None where they cannot."""
        return None if self._collision is None else self._arguments

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
        if self._arguments is not None:
            return bool(free_edges.is_edge_free(q, q_next, *self._arguments))
        for number in range(free_edges.PIECES):
            begin, finish, row = free_edges.piece_of_edge(self._ends, q, q_next, number)
            since = q + begin * (q_next - q) if begin > 0.0 else q
            until = q + finish * (q_next - q) if finish < 1.0 else q_next
            if begin < finish and self._checks[row].near_between(since, until) >= 0:
                return False
        return True

    def is_curve_free(self, knots: Array) -> bool:
        """Whether nothing comes too near on straight edges between knots, shape (m, n)."""
        arguments = self.edge_arguments
        if arguments is None:
            return all(self.is_edge_free(*edge) for edge in pairwise(knots))
        if self._should_stop():
            return False
        return bool(free_edges.is_curve_free(knots, *arguments))

    def free_share(self, q: Array, q_next: Array) -> float:
        """Share of the straight path between two, (n,) each, that is free from `q` on."""
        return 1.0 if self._collision is None else self._checks[0].free_share(q, q_next)


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
