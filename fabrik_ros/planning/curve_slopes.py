"""Slopes of a smooth curve through knots in joint space."""

import numpy as np
import numpy.typing as npt

from ..transforms import Array

OFF_POLYLINE = 1e-4
"""Largest distance of the curve from the polyline of its knots, at the reach of the arm [m]."""
FARTHEST_OFF = 4.0 / 27.0
"""Greatest distance of a cubic from its chord, for a difference of slopes at one end of 1 [1]."""
NEAR_LIMIT = 0.01
"""Distance from a limit within which joints may not swing past their knots [rad or m]."""
MONOTONE = 3.0
"""
Largest slope at the ends of a cubic, over the slope of its chord, that keeps it between them [1].

Source: Fritsch and Carlson, "Monotone piecewise cubic interpolation", SIAM Journal on Numerical
Analysis 17 (1980).
"""


def curve_slopes(
    knots: Array,
    places: Array,
    lower: Array,
    upper: Array,
    reach: float,
    off: float = OFF_POLYLINE,
    near: float = NEAR_LIMIT,
) -> Array:
    """
    Slopes at the knots of a smooth curve, shape (m, n): those of parabolas through three knots.

    Where the curve would leave the polyline too far they are shorter: with none it stays there,
    and so it does where it turns back. Joints near limits go no farther than the knots do.

    Parameters
    ----------
    knots : array, shape (m, n)
        Joint values, m >= 2 [rad or m].
    places : array, shape (m,)
        Places of the knots along the curve.
    lower, upper : array, shape (n,)
        Limits [rad or m].
    reach : float
        Reach of the arm [m].
    off : float
        Largest distance from the polyline, at this reach [m].
    near : float
        Distance from a limit that counts as near [rad or m].

    """
    lengths = np.diff(places)[:, None]
    slopes = np.diff(knots, axis=0) / lengths
    tangents = np.empty_like(knots)
    tangents[0], tangents[-1] = slopes[0], slopes[-1]
    before, behind = lengths[:-1], lengths[1:]
    tangents[1:-1] = (behind * slopes[:-1] + before * slopes[1:]) / (before + behind)
    turns_back = np.sum(slopes[:-1] * slopes[1:], axis=1) < 0.0
    tangents[1:-1][turns_back] = 0.0  # else the curve would have a loop there
    gaps = np.minimum(knots - lower, upper - knots)
    _keep_within_limits(
        tangents, slopes, gaps < np.maximum(near, _beyond(tangents, slopes, lengths))
    )
    reached = np.full(len(knots), off)
    for chord, length in ((slopes[:-1], before), (slopes[1:], behind)):
        apart = np.linalg.norm(tangents[1:-1] - chord, axis=1)
        reached[1:-1] = np.maximum(reached[1:-1], FARTHEST_OFF * apart * length[:, 0] * reach)
    return tangents * (off / reached)[:, None]


def _beyond(tangents: Array, slopes: Array, lengths: Array) -> Array:
    """Bound on how far each joint swings past each knot, shape (m, n) [rad or m]."""
    off = np.zeros_like(tangents)
    for ends in (slice(1, None), slice(None, -1)):
        off[ends] = np.maximum(off[ends], np.abs(tangents[ends] - slopes) * lengths)
    return 2.0 * FARTHEST_OFF * off


def _keep_within_limits(tangents: Array, slopes: Array, is_near: npt.NDArray[np.bool_]) -> None:
    """Keep cubics between their knots where a joint is near a limit."""
    within = is_near.copy()
    within[1:] |= is_near[:-1]
    within[:-1] |= is_near[1:]
    for ends in (slice(1, None), slice(None, -1)):  # of the segment before, and of that behind
        part, most = tangents[ends], MONOTONE * np.abs(slopes)
        kept = np.where(part * slopes > 0.0, np.clip(part, -most, most), 0.0)
        tangents[ends] = np.where(within[ends], kept, part)
