"""Shorter paths in joint space: corners are left out where a straight edge is free."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from ..kernels import shortcuts as kernels
from ..transforms import Array

ATTEMPTS, FEW_ATTEMPTS = 80, 20
"""Number of shortcuts that are tried, at most; and where the path is nearly straight [1]."""
NEARLY_STRAIGHT = 1.2
"""Length of a nearly straight path, in straight ones, at most [1]."""
AT_ONCE = 4
"""Number of them that a kernel tries before it is asked whether to stop [1]."""
STRAIGHT_JOINTS = 0.5
"""Share of the joints that go straight on a partial shortcut, which every other one is [1]."""


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
    count, n = len(waypoints), len(weights)
    attempts = FEW_ATTEMPTS if is_nearly_straight(waypoints, weights) else ATTEMPTS
    straight = rng.random((attempts, n)) < STRAIGHT_JOINTS
    straight[::2] = True
    path = np.empty((count + kernels.GROWTH * attempts, n))
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
    return without_corners(list(path[: state[kernels.COUNT]]), is_edge_free)


def length_of(waypoints: Sequence[Array], weights: Array) -> float:
    """Length of a path, where a unit of each joint counts as given."""
    steps = np.diff(waypoints, axis=0) * weights
    return float(np.sum(np.linalg.norm(steps, axis=1)))


def is_nearly_straight(waypoints: Sequence[Array], weights: Array) -> bool:
    """Whether a path is hardly longer than the straight one, free or not."""
    straight = length_of([waypoints[0], waypoints[-1]], weights)
    return length_of(waypoints, weights) <= NEARLY_STRAIGHT * straight


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
