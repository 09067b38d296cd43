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
"""A curve whose directions differ by less in each joint is straight [1]."""
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
    found = np.empty(len(chosen))
    for k in reversed(range(len(chosen))):
        i, j = chosen[k], chosen[min(k + 1, len(chosen) - 1)]
        if i != j and _is_straight(knots, i, j):
            found[k] = min(float(places[j] - places[i]) + found[k + 1], FARTHEST)
        else:
            found[k] = _room_at(knots, i, free_share)
    behind = np.minimum(np.searchsorted(chosen, np.arange(len(knots))), len(chosen) - 1)
    before = np.maximum(behind - 1, 0)
    room: Array = SHARE * np.minimum(found[behind], found[before])
    return room


def _is_straight(knots: Array, i: int, j: int) -> bool:
    """Whether the curve is straight between two knots, and goes straight on there."""
    directions = [_direction_at(knots, i), _direction_at(knots, j), _unit(knots[j] - knots[i])]
    return bool(np.ptp(directions, axis=0).max() < STRAIGHT)


def _room_at(knots: Array, i: int, free_share: Callable[[Array, Array], float]) -> float:
    direction = _direction_at(knots, i)
    if not direction.any():
        return FARTHEST
    return FARTHEST * free_share(knots[i], knots[i] + FARTHEST * direction)


def _direction_at(knots: Array, i: int) -> Array:
    """Return the direction of the curve at a knot, shape (n,)."""
    return _unit(knots[min(i + 1, len(knots) - 1)] - knots[max(i - 1, 0)])


def _unit(way: Array) -> Array:
    """Return a direction of length 1, or of length 0."""
    length = float(np.linalg.norm(way))
    return way / length if length > 0.0 else np.zeros_like(way)
