"""Shorter paths in joint space: corners are left out where a straight edge is free."""

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

from ..transforms import Array

ATTEMPTS = 60
"""Number of shortcuts that are tried between random places of a path [1]."""
FRUITLESS = 20
"""Tries in a row without a shortcut that end the search for more [1]."""
WORTH = 1e-3
"""Least share of its part of the path that a shortcut must save [1]."""


def shortened(
    waypoints: Sequence[Array],
    is_edge_free: Callable[[Array, Array], bool],
    length: Callable[[Array], float],
    rng: np.random.Generator,
) -> list[Array]:
    """
    Shorten a path; its ends stay.

    Parameters
    ----------
    waypoints : sequence of array, shape (n,)
        Configurations that are joined by straight free edges [rad or m].
    is_edge_free : callable
        Whether the edge between two configurations is free.
    length : callable
        Length of an edge, given by its displacement of shape (n,).
    rng : numpy.random.Generator
        Chooses the places.

    """
    corners = without_corners(waypoints, is_edge_free)
    fruitless = 0
    for _ in range(ATTEMPTS):
        if len(corners) < 3 or fruitless >= FRUITLESS:
            break
        shorter = _with_shortcut(corners, is_edge_free, length, rng)
        fruitless = fruitless + 1 if shorter is None else 0
        corners = shorter or corners
    return corners


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


def _with_shortcut(
    corners: list[Array],
    is_edge_free: Callable[[Array, Array], bool],
    length: Callable[[Array], float],
    rng: np.random.Generator,
) -> list[Array] | None:
    """Join two random places on different edges; None where that is not free or not shorter."""
    lengths = np.array([length(b - a) for a, b in pairwise(corners)])
    places = np.concatenate([[0.0], np.cumsum(lengths)])
    at = np.sort(rng.uniform(0.0, places[-1], 2))
    i, k = (int(np.searchsorted(places, place, side='right')) - 1 for place in at)
    k = min(k, len(lengths) - 1)
    if i == k:
        return None
    shares = (at - places[[i, k]]) / lengths[[i, k]]
    first, last = (
        corners[edge] + share * (corners[edge + 1] - corners[edge])
        for edge, share in zip((i, k), shares, strict=True)
    )
    if length(last - first) > (1.0 - WORTH) * (at[1] - at[0]):
        return None
    if not is_edge_free(first, last):
        return None
    return [*corners[: i + 1], first, last, *corners[k + 1 :]]
