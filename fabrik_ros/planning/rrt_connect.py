"""RRT-Connect (Kuffner and LaValle 2000); its trees grow in `kernels/rrt_connect.py`."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..kernels import rrt_connect as trees
from ..transforms import Array

FIRST_ROOM = 256
"""Number of configurations that a tree has room for at first [1]."""
SAMPLES = 256
"""Number of random places that are drawn at a time [1]."""
EDGES = 16
"""Number of edges that a kernel looks at before it is asked whether to stop [1]."""


class RrtConnect:
    """
    Searches for collision-free paths.

    Parameters
    ----------
    lower, upper : array, shape (n,)
        Between which joint values to search, `lower` not above `upper` [rad or m].
    weights : array, shape (n,)
        How much a unit of each joint counts in the distance of two configurations.
    longest : float
        Length of the longest edge, in these units.

    """

    def __init__(self, lower: Array, upper: Array, weights: Array, longest: float) -> None:
        self._space = lower, upper, weights, longest

    def path(
        self,
        start: Array,
        draw_goal: Callable[[], Array | None],
        is_edge_free: Callable[[Array, Array], bool],
        should_stop: Callable[[], bool],
        seed: int,
        edge_arguments: Callable[[], tuple[Any, ...] | None] = lambda: None,
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
            Whether to give up; asked again and again.
        seed : int
            Source of chance.
        edge_arguments : callable, optional
            Gives what kernels need to look at edges by themselves, which is faster; None where
            they cannot. Asked anew after each goal.

        Returns
        -------
        list of array, shape (n,), or None
            Configurations from the start to the goal; None where none were found.

        """
        search = _Search(self._space, start, seed)
        arguments = edge_arguments()
        while not should_stop():
            wanted = search.grow_by_kernel(arguments) if arguments else search.grow(is_edge_free)
            if wanted == trees.MET:
                return search.way()
            if wanted == trees.GOAL_WANTED:
                search.take_goal(draw_goal())
                arguments = edge_arguments()
        return None


class _Search:
    """
    Two trees and what they grow by.

    Parameters
    ----------
    space : (array, array, array, float)
        Limits and weights of the joints, shape (n,) each, and the length of the longest edge.
    start : array, shape (n,)
        Root of the first tree [rad or m].
    seed : int
        Source of chance.

    """

    def __init__(self, space: tuple[Array, Array, Array, float], start: Array, seed: int) -> None:
        count = len(start)
        self._space, self._rng = space, np.random.default_rng(seed)
        self._samples = self._rng.random((SAMPLES, count))
        self._trees = np.empty((2, FIRST_ROOM, count))
        self._parents = np.empty((2, FIRST_ROOM), dtype=np.int64)
        self._state = np.zeros(trees.STATES, dtype=np.int64)
        self._edge = np.empty((trees.EDGE_ROWS, count))
        self._plant(trees.START, start)

    def grow_by_kernel(self, arguments: tuple[Any, ...]) -> int:
        """Grow by some edges that the kernel finds free; return what is wanted."""
        return self._supplied(
            trees.grow(
                *self._space,
                self._samples,
                self._trees,
                self._parents,
                self._state,
                self._edge,
                EDGES,
                *arguments,
            )
        )

    def grow(self, is_edge_free: Callable[[Array, Array], bool]) -> int:
        """Grow by an edge if that is free; return what is wanted."""
        wanted = trees.propose(*self._space, self._samples, self._trees, self._state, self._edge)
        if wanted == trees.EDGE:
            is_free = is_edge_free(self._edge[trees.FROM].copy(), self._edge[trees.TO].copy())
            if trees.conclude(self._trees, self._parents, self._state, self._edge, is_free):
                return trees.MET
        return self._supplied(wanted)

    def _supplied(self, wanted: int) -> int:
        """Give samples or room where these are wanted; return what is wanted."""
        if wanted == trees.SAMPLES_WANTED:
            self._samples = self._rng.random(self._samples.shape)
            self._state[trees.USED] = 0
        elif wanted == trees.ROOM_WANTED:
            self._trees = np.concatenate([self._trees, np.empty_like(self._trees)], axis=1)
            self._parents = np.concatenate([self._parents, self._parents], axis=1)
        return wanted

    def take_goal(self, q: Array | None) -> None:
        """Take another root of the second tree; None if there was none."""
        self._state[trees.HAS_ASKED] = 1
        if q is not None:
            self._plant(trees.GOALS, q)
            self._state[trees.DRAWN] += 1

    def _plant(self, tree: int, q: Array) -> None:
        """Add a root to a tree."""
        if self._state[tree] == self._trees.shape[1]:
            self._supplied(trees.ROOM_WANTED)
        self._trees[tree, self._state[tree]] = q
        self._parents[tree, self._state[tree]] = trees.ROOT
        self._state[tree] += 1

    def way(self) -> list[Array]:
        """Return the way from the start to the goal, once the trees have met."""
        from_start, from_goal = self._way_back(trees.START), self._way_back(trees.GOALS)
        return [*reversed(from_start), *from_goal[1:]]

    def _way_back(self, tree: int) -> list[Array]:
        """Return the way from the last configuration of a tree to its root."""
        way, number = [], int(self._state[tree]) - 1
        while number != trees.ROOT:
            way.append(self._trees[tree, number].copy())
            number = int(self._parents[tree, number])
        return way
