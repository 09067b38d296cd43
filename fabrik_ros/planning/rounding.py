"""
Smooth curves along paths: corners are rounded, so that an arm need not stop at them.

A corner is replaced by a parabola that leaves the edge before it and meets the edge behind it at
the same distance, up to half of the shorter edge. Where that is not free the parabola is drawn
nearer to the corner; at worst the corner stays.

"""

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

from ..kernels import rounding as kernels
from ..transforms import Array

SHARES = (1.0, 0.6, 0.35, 0.2, 0.1, 0.05)
"""Shares of half an edge that parabolas are tried with, the longest first [1]."""
LONGEST_MOVE = 0.05
"""Largest joint move from one knot to the next, on straight lines too [rad or m]."""


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
    bends = [waypoints[0][None]]
    for before, corner, behind in zip(waypoints, waypoints[1:], waypoints[2:], strict=False):
        bends.append(_parabola_at(before, corner, behind, is_curve_free, reach))
    bends.append(waypoints[-1][None])
    pieces = [bends[0]]
    for bend, following in pairwise(bends):
        pieces += [_knots_beside(bend, following), following]
    return _dense(np.concatenate(pieces))


def _knots_beside(bend: Array, following: Array) -> Array:
    """
    Knots on the straight line between two bends, as near to each as its own are to each other.

    Beside knots that are farther apart a smooth curve would be bent more sharply, and slower.
    """
    way = following[0] - bend[-1]
    length = float(np.linalg.norm(way))
    after = float(np.linalg.norm(np.diff(bend[-2:], axis=0)))
    before = float(np.linalg.norm(np.diff(following[:2], axis=0)))
    if after + before >= length:
        return np.empty((0, len(way)))
    places = [after] * (after > 0.0) + [length - before] * (before > 0.0)
    knots: Array = bend[-1] + np.outer(np.array(places) / length, way)
    return knots


def _dense(knots: Array) -> Array:
    """Add knots on straight lines between knots, shape (m, n), that are far apart."""
    moves = np.diff(knots, axis=0)
    parts = np.ceil(np.max(np.abs(moves), axis=1) / LONGEST_MOVE).astype(int)
    parts = np.maximum(parts, 1)
    line = np.repeat(np.arange(len(parts)), parts)
    number = np.arange(len(line)) - np.repeat(np.cumsum(parts) - parts, parts)
    between = knots[line] + (number / parts[line])[:, None] * moves[line]
    return np.concatenate([between, knots[-1:]])


def _parabola_at(
    before: Array,
    corner: Array,
    behind: Array,
    is_curve_free: Callable[[Array], bool],
    reach: float,
) -> Array:
    """Return the knots of the longest parabola that is free; else the corner, shape (1, n)."""
    knots = np.empty((kernels.MOST_PARTS + 1, len(corner)))
    for share in SHARES:
        count = kernels.parabola(before, corner, behind, share, reach, knots)
        if count == 0:
            break
        if is_curve_free(knots[:count]):
            return knots[:count]
    return corner[None]
