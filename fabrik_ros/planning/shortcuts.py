"""Shorter paths in joint space: corners are left out where a straight edge is free."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from ..kernels import shortcuts as kernels
from ..kernels.shortcuts import Choices
from ..transforms import Array

ATTEMPTS, PARTIAL_ATTEMPTS = 60, 30
"""Number of shortcuts that are tried, and of partial ones, at most [1]."""
AT_ONCE = 4
"""Number of them that a kernel tries before it is asked whether to stop [1]."""
STRAIGHT_JOINTS = 0.5
"""Share of the joints that go straight on a partial shortcut, about [1]."""


def shortened(
    waypoints: Sequence[Array],
    is_edge_free: Callable[[Array, Array], bool],
    weights: Array,
    should_stop: Callable[[], bool],
    rng: np.random.Generator,
    edge_arguments: tuple[Any, ...] | None = None,
) -> list[Array]:
    """
    Shorten a path; its ends stay.

    Parameters
    ----------
    waypoints : sequence of array, shape (n,)
        Configurations that are joined by straight free edges [rad or m].
    is_edge_free : callable
        Whether the edge between two configurations is free.
    weights : array, shape (n,)
        How much a unit of each joint counts in lengths.
    should_stop : callable
        Whether to give up; asked again and again.
    rng : numpy.random.Generator
        Chooses the places.
    edge_arguments : tuple, optional
        What kernels need to look at edges by themselves, which is faster.

    """
    joints = len(weights)
    for straight in (
        np.full((ATTEMPTS, joints), True),
        rng.random((PARTIAL_ATTEMPTS, joints)) < STRAIGHT_JOINTS,
    ):
        waypoints = _with_shortcuts(
            waypoints, straight, is_edge_free, weights, should_stop, rng, edge_arguments
        )
    return without_corners(waypoints, is_edge_free)


def _with_shortcuts(
    waypoints: Sequence[Array],
    straight: Choices,
    is_edge_free: Callable[[Array, Array], bool],
    weights: Array,
    should_stop: Callable[[], bool],
    rng: np.random.Generator,
    edge_arguments: tuple[Any, ...] | None,
) -> list[Array]:
    """Try shortcuts that are straight for given joints, shape (k, n)."""
    count, attempts = len(waypoints), len(straight)
    path = np.empty((count + kernels.GROWTH * attempts, len(weights)))
    path[:count] = waypoints
    samples, shortcut = rng.random((attempts, 2)), np.empty_like(path)
    state = np.zeros(kernels.STATES, dtype=np.int64)
    state[kernels.COUNT] = count
    search = path, weights, samples, straight, state, shortcut
    while not kernels.is_over(samples, state) and not should_stop():
        if edge_arguments is not None:
            kernels.shorten(*search, AT_ONCE, *edge_arguments)
            continue
        is_free = kernels.propose(*search) and all(
            is_edge_free(*edge) for edge in pairwise(shortcut[: state[kernels.ROWS]].copy())
        )
        kernels.conclude(path, state, shortcut, is_free)
    return list(path[: state[kernels.COUNT]])


def without_corners(
    waypoints: Sequence[Array], is_edge_free: Callable[[Array, Array], bool]
) -> list[Array]:
    """Go from each corner of a path straight to the farthest that an edge is free to."""
    corners, here = [waypoints[0]], 0
    while here < len(waypoints) - 1:
        there = len(waypoints) - 1
        while there > here + 1 and not is_edge_free(waypoints[here], waypoints[there]):
            there -= 1
        corners.append(waypoints[there])
        here = there
    return corners
