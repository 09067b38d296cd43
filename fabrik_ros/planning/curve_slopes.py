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


def smooth_slopes(knots: Array, places: Array, lower: Array, upper: Array) -> Array:
    """
    Slopes at the knots of a smooth curve: those of parabolas through three knots.

    Joints near limits go no farther than the knots do.

    Parameters
    ----------
    knots : array, shape (m, n)
        Joint values, m >= 2 [rad or m].
    places : array, shape (m,)
        Places of the knots along the curve.
    lower, upper : array, shape (n,)
        Limits [rad or m].

    Returns
    -------
    array, shape (m, n)
        [rad or m, by the unit of the places].

    """
    lengths = np.diff(places)[:, None]
    slopes = np.diff(knots, axis=0) / lengths
    tangents = np.empty_like(knots)
    tangents[0], tangents[-1] = slopes[0], slopes[-1]
    before, behind = lengths[:-1], lengths[1:]
    tangents[1:-1] = (behind * slopes[:-1] + before * slopes[1:]) / (before + behind)
    return _within_limits(knots, tangents, slopes, lower, upper)


def slopes_near_polyline(
    knots: Array, places: Array, lower: Array, upper: Array, reach: float
) -> Array:
    """
    Slopes likewise, but with corners where the curve would leave the polyline too far.

    `reach` is that of the arm [m]; the rest as for `smooth_slopes`.
    """
    tangents = smooth_slopes(knots, places, lower, upper)
    lengths = np.diff(places)[:, None]
    slopes = np.diff(knots, axis=0) / lengths
    off = np.full(len(knots), OFF_POLYLINE)
    for chord, length in ((slopes[:-1], lengths[:-1]), (slopes[1:], lengths[1:])):
        apart = np.linalg.norm(tangents[1:-1] - chord, axis=1)
        off[1:-1] = np.maximum(off[1:-1], FARTHEST_OFF * apart * length[:, 0] * reach)
    return tangents * (OFF_POLYLINE / off)[:, None]


def _within_limits(
    knots: Array, tangents: Array, slopes: Array, lower: Array, upper: Array
) -> Array:
    """Keep cubics between their knots where a joint is near a limit."""
    within: npt.NDArray[np.bool_] = np.minimum(knots - lower, upper - knots) < NEAR_LIMIT
    within[1:] |= within[:-1].copy()
    within[:-1] |= within[1:].copy()
    for ends in (slice(1, None), slice(None, -1)):  # of the segment before, and of that behind
        part, most = tangents[ends], MONOTONE * np.abs(slopes)
        kept = np.where(part * slopes > 0.0, np.clip(part, -most, most), 0.0)
        tangents[ends] = np.where(within[ends], kept, part)
    return tangents
