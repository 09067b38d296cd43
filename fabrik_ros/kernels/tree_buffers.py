"""
The memory that a search for several tips works in: made once, as kernels allocate nothing.

Three arrays, with a row for each link, for each list of weighted errors, and for each vector of
joint values, are cut into named pieces. What is in them means nothing from one call to the next.

"""

from typing import NamedTuple

import numpy as np

from ..transforms import Array
from ._jit import kernel
from .buffers import DEPTH

ERRORS_PER_TIP = 6


class TreeBuffers(NamedTuple):
    """Named pieces; m moving joints, k tips, n joint values, e = 6 k errors."""

    frames: Array
    """Frames of the links and of the tips, shape (m + k, 12)."""
    joints: Array
    """Frames of the joints before their motion, shape (m, 12)."""
    wanted: Array
    """Frames of the arms that hang on their targets, shape (m + k, 12)."""
    sums: Array
    """Moments and count of the points above or below each joint, shape (m, 12)."""
    asks: Array
    """What the branches ask of each link, summed, shape (m, 12)."""
    arcs: Array
    """Limits of the joints on the circle, shape (n, 12)."""
    error: Array
    """Error of each tip, shape (k, 12)."""
    trial_error: Array
    """Error of each tip at a trial, shape (k, 12)."""
    asked: Array
    """The targets as they were asked for, shape (k, 12)."""
    pulled: Array
    """The targets as they are searched for, shape (k, 12)."""
    weights: Array
    """How much each tip counts, 0 if it has no target, shape (k,)."""
    below: Array
    """How much the heaviest tip below each joint counts, shape (m,)."""
    weighted: Array
    """Errors of all tips without units, shape (e,)."""
    multipliers: Array
    """Solution of the normal equations, shape (e,)."""
    columns: Array
    """How each joint value changes these errors, shape (n, e + 1)."""
    normal: Array
    """Normal matrix, shape (e, e + 1)."""
    errors: Array
    """Weighted errors where iterations began and ended, newest first, (DEPTH + 1, e + 1)."""
    gains: Array
    """What independent steps did to these errors, and its square, shape (DEPTH, e + 1)."""
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
    gradient: Array
    """Slope of the cost, shape (n,)."""
    trial: Array
    """A configuration being tried, shape (n,)."""


def allocate(moving: int, tips: int, values: int) -> tuple[Array, Array, Array]:
    """Make the three arrays for `moving` joints with `values` joint values, and `tips`."""
    errors = ERRORS_PER_TIP * tips
    rows = 5 * moving + 6 * tips + values + 2 + (moving + tips) // 12
    lists = 2 + values + errors + 2 * DEPTH + 1
    return (
        np.empty((rows, 12)),
        np.empty((lists, errors + 1)),
        np.empty((2 * DEPTH + 1 + 7, values)),
    )


@kernel
def cut_tree(rows: Array, lists: Array, vectors: Array, moving: int, tips: int) -> TreeBuffers:
    """Name the pieces of what `allocate` made; for kernels, as views do not own their memory."""
    n, e, k = vectors.shape[1], lists.shape[1] - 1, 2 * DEPTH + 1
    a = moving + tips
    b = a + moving
    c = b + moving + tips
    d = c + moving
    f = d + moving
    g = f + n
    h = g + 4 * tips
    rest = rows[h:].reshape(-1)
    o = 2 + n + e
    return TreeBuffers(
        rows[:a], rows[a:b], rows[b:c], rows[c:d], rows[d:f], rows[f:g],
        rows[g : g + tips], rows[g + tips : g + 2 * tips], rows[g + 2 * tips : g + 3 * tips],
        rows[g + 3 * tips : h], rest[:tips], rest[tips : tips + moving],
        lists[0], lists[1], lists[2 : 2 + n], lists[2 + n : o],
        lists[o : o + DEPTH + 1], lists[o + DEPTH + 1 : o + 2 * DEPTH + 1],
        vectors[: DEPTH + 1], vectors[DEPTH + 1 : k],
        vectors[k], vectors[k + 1], vectors[k + 2], vectors[k + 3], vectors[k + 4],
        vectors[k + 5], vectors[k + 6],
    )  # fmt: skip
