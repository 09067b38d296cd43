"""Shorter paths in joint space: corners are left out where a straight edge is free."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..kernels import shortcuts as kernels
from ..transforms import Array

ATTEMPTS = 60
"""Number of shortcuts that are tried between random places of a path, at most [1]."""
AT_ONCE = 4
"""Number of them that a kernel tries before it is asked whether to stop [1]."""


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
    count = len(waypoints)
    path = np.empty((count + ATTEMPTS, len(weights)))
    path[:count] = waypoints
    samples, edge = rng.random((ATTEMPTS, 2)), np.empty((kernels.EDGE_ROWS, len(weights)))
    state = np.zeros(kernels.STATES, dtype=np.int64)
    state[kernels.COUNT] = count
    search = path, weights, samples, state, edge
    while not kernels.is_over(samples, state) and not should_stop():
        if edge_arguments is not None:
            kernels.shorten(*search, AT_ONCE, *edge_arguments)
            continue
        is_free = kernels.propose(*search) and is_edge_free(*edge.copy())
        kernels.conclude(path, state, edge, is_free)
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
