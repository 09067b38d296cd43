"""
RRT-Connect: two trees grow, from the start and from the goals, and try to meet.

The algorithm of Kuffner and LaValle (2000). Goals are drawn while it searches, so the second tree
has several roots. What is free is asked of the caller.

"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..transforms import Array

ROOT = -1
"""Number in the place of what a root is reached from [1]."""
FIRST_ROOM = 64
"""Number of configurations that a tree has room for at first [1]."""
SHARE_OF_GOALS = 0.5
"""Goals are drawn until they are so large a part of their tree [1]."""


class RrtConnect:
    """
    Searches for collision-free paths.

    Parameters
    ----------
    lower, upper : array, shape (n,)
        Between which joint values to search, `lower` below `upper` [rad or m].
    weights : array, shape (n,)
        How much a unit of each joint counts in the distance of two configurations.
    longest : float
        Length of the longest edge, in these units.

    """

    def __init__(self, lower: Array, upper: Array, weights: Array, longest: float) -> None:
        self._lower, self._upper = lower, upper
        self._weights, self._longest = weights, longest

    def path(
        self,
        start: Array,
        draw_goal: Callable[[], Array | None],
        is_edge_free: Callable[[Array, Array], bool],
        should_stop: Callable[[], bool],
        seed: int,
    ) -> list[Array] | None:
        """
        Find straight edges from a configuration to a goal.

        Parameters
        ----------
        start : array, shape (n,)
            Where to begin [rad or m].
        draw_goal : callable
            Gives a configuration at the goal, shape (n,), that is free; None if there is none
            this time.
        is_edge_free : callable
            Whether the edge between two configurations is free. Both are between the limits.
        should_stop : callable
            Whether to give up; asked before each edge.
        seed : int
            Source of chance.

        Returns
        -------
        list of array, shape (n,), or None
            Configurations from the start to the goal; None where none were found.

        """
        rng, goals = np.random.default_rng(seed), 0
        from_start, from_goals = _Tree(self._weights), _Tree(self._weights)
        from_start.add(start, ROOT)
        tree, other = from_start, from_goals
        while not should_stop():
            if goals <= SHARE_OF_GOALS * len(from_goals) and (goal := draw_goal()) is not None:
                from_goals.add(goal, ROOT)
                goals += 1
            if goals == 0:
                continue
            new = self._grown(tree, rng.uniform(self._lower, self._upper), is_edge_free)
            met = None if new is None else self._connected(other, new, is_edge_free, should_stop)
            if met is not None:
                return [*reversed(from_start.way_back(met)), *from_goals.way_back(met)[1:]]
            tree, other = other, tree
        return None

    def _connected(
        self,
        tree: _Tree,
        towards: Array,
        is_edge_free: Callable[[Array, Array], bool],
        should_stop: Callable[[], bool],
    ) -> Array | None:
        """Let a tree grow until it reaches a configuration; return that, or None if it cannot."""
        while not should_stop():
            new = self._grown(tree, towards, is_edge_free)
            if new is None or np.array_equal(new, towards):
                return new
        return None

    def _grown(
        self, tree: _Tree, towards: Array, is_edge_free: Callable[[Array, Array], bool]
    ) -> Array | None:
        """Add an edge to a tree; return its far end, or None if it is not free."""
        nearest = tree.nearest(towards)
        q = tree.configuration(nearest)
        away = towards - q
        length = float(np.linalg.norm(away * self._weights))
        if length <= self._longest:
            q_next = towards
        else:  # rounding may lead beyond the limits
            q_next = np.clip(q + self._longest / length * away, self._lower, self._upper)
        if not is_edge_free(q, q_next):
            return None
        tree.add(q_next, nearest)
        return q_next


class _Tree:
    """
    Configurations, each with the one that it was reached from.

    Parameters
    ----------
    weights : array, shape (n,)
        How much a unit of each joint counts in distances.

    """

    def __init__(self, weights: Array) -> None:
        self._weights = weights
        self._weighted = np.empty((FIRST_ROOM, len(weights)))
        self._nodes: list[Array] = []
        self._parents: list[int] = []

    def __len__(self) -> int:
        """Return the number of configurations."""
        return len(self._nodes)

    def configuration(self, number: int) -> Array:
        """Return a configuration, shape (n,)."""
        return self._nodes[number]

    def add(self, q: Array, parent: int) -> None:
        """Add a configuration that is reached from another one; `ROOT`: from none."""
        if len(self) == len(self._weighted):
            self._weighted = np.concatenate([self._weighted, np.empty_like(self._weighted)])
        self._weighted[len(self)] = q * self._weights
        self._nodes.append(q)
        self._parents.append(parent)

    def nearest(self, q: Array) -> int:
        """Return the number of the nearest configuration."""
        away = self._weighted[: len(self)] - q * self._weights
        return int(np.argmin(np.einsum('ij,ij->i', away, away)))

    def way_back(self, q: Array) -> list[Array]:
        """Return the way from the configuration nearest to `q` to the root."""
        way, number = [], self.nearest(q)
        while number != ROOT:
            way.append(self._nodes[number])
            number = self._parents[number]
        return way
