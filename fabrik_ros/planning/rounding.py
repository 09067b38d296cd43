"""
Smooth curves along paths: corners are rounded, so that an arm need not stop at them.

A corner is replaced by a parabola that leaves the edge before it and meets the edge behind it at
the same distance, up to half of the shorter edge. Where that is not free the parabola is drawn
nearer to the corner; at worst the corner stays.

"""

from collections.abc import Callable, Sequence
import math

import numpy as np

from ..transforms import Array

SHARES = (1.0, 0.6, 0.35, 0.2, 0.1, 0.05)
"""Shares of half an edge that parabolas are tried with, the longest first [1]."""
OFF_CURVE = 4e-5
"""Largest distance of the lines between knots from the parabola, at the reach of the arm [m]."""
MOST_PARTS = 100
"""Number of straight lines that a parabola is made of, at most [1]."""
LONGEST_MOVE = 0.05
"""Largest joint move from one knot to the next, on straight lines too [rad or m]."""
STRAIGHT = 1e-9
"""Largest bend of a corner that counts as straight [rad or m]."""


def rounded(
    waypoints: Sequence[Array], is_curve_free: Callable[[Array], bool], reach: float
) -> Array:
    """
    Round the corners of a path.

    Parameters
    ----------
    waypoints : sequence of array, shape (n,)
        Configurations that are joined by straight free edges [rad or m].
    is_curve_free : callable
        Whether straight edges between knots, shape (k, n), are free.
    reach : float
        How far the arm reaches [m].

    Returns
    -------
    array, shape (m, n)
        Knots of the curve, dense where it bends; it begins and ends where the path does.

    """
    knots = [waypoints[0][None]]
    for before, corner, behind in zip(waypoints, waypoints[1:], waypoints[2:], strict=False):
        knots.append(_parabola_at(before, corner, behind, is_curve_free, reach))
    return _dense(np.concatenate([*knots, waypoints[-1][None]]))


def _dense(knots: Array) -> Array:
    """Add knots on straight lines between knots, shape (m, n), that are far apart."""
    moves = np.max(np.abs(np.diff(knots, axis=0)), axis=1)
    parts = [
        np.linspace(a, b, max(1, math.ceil(move / LONGEST_MOVE)), endpoint=False)
        for a, b, move in zip(knots[:-1], knots[1:], moves, strict=True)
    ]
    return np.concatenate([*parts, knots[-1:]])


def _parabola_at(
    before: Array,
    corner: Array,
    behind: Array,
    is_curve_free: Callable[[Array], bool],
    reach: float,
) -> Array:
    """Return the knots of the longest parabola that is free; else the corner, shape (1, n)."""
    half = 0.5 * min(
        float(np.linalg.norm(before - corner)), float(np.linalg.norm(behind - corner))
    )
    for share in SHARES:
        first, last = (
            corner + share * half * (end - corner) / np.linalg.norm(end - corner)
            for end in (before, behind)
        )
        knots = _parabola(first, corner, last, reach)
        if len(knots) > 1 and is_curve_free(knots):
            return knots
    return corner[None]


def _parabola(first: Array, corner: Array, last: Array, reach: float) -> Array:
    """Return knots on the parabola from one place to another, (k, n); one where it is straight."""
    bend = first - 2.0 * corner + last
    off = 0.25 * float(np.linalg.norm(bend)) * reach  # of a single line
    if off < STRAIGHT:
        return corner[None]
    parts = min(max(2, math.ceil(math.sqrt(off / OFF_CURVE))), MOST_PARTS)
    t = np.linspace(0.0, 1.0, parts + 1)[:, None]
    knots: Array = first + 2.0 * t * (corner - first) + t * t * bend
    return knots
