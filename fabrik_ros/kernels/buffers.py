"""
The memory that one search works in: made once, as kernels allocate nothing.

Two arrays, one with a row for each link and one with a row for each vector of joint values, are
cut into named pieces. What is in them means nothing from one call to the next.

"""

from typing import NamedTuple

import numpy as np

from ..transforms import Array
from ._jit import kernel

DEPTH = 4
"""Steps that the acceleration combines: those of two iterations and those between them."""

SMALL_ROWS = 13 + 2 * DEPTH + 1
VECTORS = 2 * DEPTH + 1 + 8


class Buffers(NamedTuple):
    """Named pieces; m moving joints, n joint values."""

    frames: Array
    """Frames of the links and of the tip, shape (m + 1, 12)."""
    joints: Array
    """Frames of the joints before their motion, shape (m, 12)."""
    wanted: Array
    """The same of the arm that hangs on the target, shape (m + 1, 12)."""
    sums: Array
    """Moments along the arm, shape (m, 12)."""
    arcs: Array
    """Limits of the joints on the circle, shape (n, 12)."""
    columns: Array
    """How each joint value moves the tip, shape (n, 12)."""
    normal: Array
    """Normal matrix, shape (6, 12)."""
    error: Array
    """Error of the tip, shape (12,)."""
    weighted: Array
    """The same without units, shape (12,)."""
    trial_error: Array
    """Error of the tip at a trial, shape (12,)."""
    multipliers: Array
    """Solution of the normal equations, shape (12,)."""
    statistics: Array
    """Statistics of the search, shape (12,)."""
    asked: Array
    """The target as it was asked for, shape (12,)."""
    pulled: Array
    """The target as it is searched for, shape (12,)."""
    errors: Array
    """What the tip lacked at the last places, without units, newest first, (DEPTH + 1, 12)."""
    gains: Array
    """What independent combinations of the last steps did to the error, shape (DEPTH, 12)."""
    places: Array
    """Where the last iterations began and ended, newest first, shape (DEPTH + 1, n)."""
    moves: Array
    """Independent combinations of the last steps, shape (DEPTH, n)."""
    lower: Array
    """Limits in force, shape (n,)."""
    upper: Array
    """Limits in force, shape (n,)."""
    begin: Array
    """The seed inside the limits, shape (n,)."""
    present: Array
    """The configuration that a try is at, shape (n,)."""
    best: Array
    """The best one of a run of iterations, shape (n,)."""
    nearer: Array
    """A configuration nearer to a posture, shape (n,)."""
    gradient: Array
    """Slope of the cost, shape (n,)."""
    trial: Array
    """A configuration being tried, shape (n,)."""


def allocate(moving: int, values: int) -> tuple[Array, Array]:
    """Make the two arrays for `moving` joints with `values` joint values."""
    rows = 4 * moving + 2 + 2 * values + SMALL_ROWS
    return np.empty((rows, 12)), np.empty((VECTORS, values))


@kernel
def cut(rows: Array, vectors: Array, moving: int) -> Buffers:
    """Name the pieces of what `allocate` made; for kernels, as views do not own their memory."""
    n, k = vectors.shape[1], 2 * DEPTH + 1
    a = moving + 1
    b = a + moving
    c = b + moving + 1
    d = c + moving
    e = d + n
    f = e + n
    g = f + 6
    return Buffers(
        rows[:a], rows[a:b], rows[b:c], rows[c:d], rows[d:e], rows[e:f], rows[f:g],
        rows[g], rows[g + 1], rows[g + 2], rows[g + 3], rows[g + 4], rows[g + 5],
        rows[g + 6], rows[g + 7 : g + 8 + DEPTH], rows[g + 8 + DEPTH : g + 8 + 2 * DEPTH],
        vectors[: DEPTH + 1], vectors[DEPTH + 1 : k],
        vectors[k], vectors[k + 1], vectors[k + 2], vectors[k + 3], vectors[k + 4],
        vectors[k + 5], vectors[k + 6], vectors[k + 7],
    )  # fmt: skip
