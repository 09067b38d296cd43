"""Parabolas that round the corners of paths in joint space."""

import math

from ..transforms import Array
from ._jit import kernel

OFF_CURVE = 4e-5
"""Largest distance of the lines between knots from the parabola, at the reach of the arm [m]."""
MOST_PARTS = 100
"""Number of straight lines that a parabola is made of, at most [1]."""
STRAIGHT = 1e-9
"""Largest bend of a corner that counts as straight, at the reach of the arm [m]."""


@kernel
def parabola(
    before: Array, corner: Array, behind: Array, share: float, reach: float, knots: Array
) -> int:
    """
    Write knots on a parabola that leaves an edge before its corner and meets the next one.

    Both at the same distance: a share of half of the shorter edge.

    Parameters
    ----------
    before, corner, behind : array, shape (n,)
        The ends of two edges [rad or m].
    share : float
        See above [1].
    reach : float
        How far the arm reaches [m].
    knots : array, shape (MOST_PARTS + 1, n)
        Where they are written to.

    Returns
    -------
    int
        How many were written; 0 where the corner is straight.

    """
    to_before, to_behind = _distance(corner, before), _distance(corner, behind)
    away = 0.5 * share * min(to_before, to_behind)
    if away == 0.0:
        return 0
    squared = 0.0
    for j in range(corner.shape[0]):
        bend = away * ((before[j] - corner[j]) / to_before + (behind[j] - corner[j]) / to_behind)
        squared += bend * bend
    off = 0.25 * math.sqrt(squared) * reach  # of a single line
    if off < STRAIGHT:
        return 0
    parts = int(min(max(2.0, math.ceil(math.sqrt(off / OFF_CURVE))), MOST_PARTS))
    for i in range(parts + 1):
        t = i / parts
        since, until = (1.0 - t) * (1.0 - t) * away / to_before, t * t * away / to_behind
        for j in range(corner.shape[0]):
            knots[i, j] = (
                corner[j] + since * (before[j] - corner[j]) + until * (behind[j] - corner[j])
            )
    return parts + 1


@kernel
def _distance(q: Array, q_next: Array) -> float:
    squared = 0.0
    for j in range(q.shape[0]):
        away = q_next[j] - q[j]
        squared += away * away
    return math.sqrt(squared)
