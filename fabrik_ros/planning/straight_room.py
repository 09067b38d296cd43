"""
Collision-free distance straight ahead along a curve: it bounds the speed there.

An arm keeps out of collisions by being able to brake straight on, at any time. So where a curve
bends in front of an obstacle the arm must be slow enough to stop before it.

"""

from collections.abc import Callable

import numpy as np

from ..transforms import Array

FARTHEST = 1.5
"""Longest distance checked straight ahead [rad or m]."""
SPACING = 0.1
"""Spacing of checked places along a curve [rad or m]."""
STRAIGHT = 1e-6
"""Parts of a curve whose directions differ by less in each joint are straight [1]."""
SHARE = 0.8
"""Share of the measured distance that is used [1]; places between may have less."""


def straight_room(knots: Array, free_share: Callable[[Array, Array], float]) -> Array:
    """
    Say how far the arm can go straight on from each knot of a curve.

    Parameters
    ----------
    knots : array, shape (m, n)
        Joint values [rad or m].
    free_share : callable
        Share of a straight edge, from its beginning, that is free.

    Returns
    -------
    array, shape (m,)
        Lengths in joint space [rad, or m of prismatic joints].

    """
    places = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(knots, axis=0), axis=1))])
    chosen = np.searchsorted(places, np.arange(0.0, places[-1], SPACING))
    chosen = np.unique(np.append(chosen, len(knots) - 1))
    around = np.maximum(chosen - 1, 0), np.minimum(chosen + 1, len(knots) - 1)
    directions = _units(knots[around[1]] - knots[around[0]])
    onward = _units(np.diff(knots[chosen], axis=0))
    turns = np.abs([directions[:-1] - onward, directions[1:] - onward]).max(axis=(0, 2))
    found = np.empty(len(chosen))
    for k in reversed(range(len(chosen))):
        q, direction = knots[chosen[k]], directions[k]
        if k < len(turns) and turns[k] < STRAIGHT:
            found[k] = min(places[chosen[k + 1]] - places[chosen[k]] + found[k + 1], FARTHEST)
        elif direction.any():
            found[k] = FARTHEST * free_share(q, q + FARTHEST * direction)
        else:
            found[k] = FARTHEST
    behind = np.minimum(np.searchsorted(chosen, np.arange(len(knots))), len(chosen) - 1)
    before = np.maximum(behind - 1, 0)
    room: Array = SHARE * np.minimum(found[behind], found[before])
    return room


def _units(ways: Array) -> Array:
    """Return directions of length 1, shape (k, n); 0 where there is no way."""
    lengths = np.linalg.norm(ways, axis=1)[:, None]
    units: Array = np.divide(ways, lengths, out=np.zeros_like(ways), where=lengths > 0.0)
    return units
