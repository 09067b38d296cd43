"""Bounds of distances that were measured elsewhere."""

import numpy as np
import numpy.typing as npt

from ..transforms import Array
from ._jit import kernel


@kernel
def distance_bounds(
    known: Array,
    at: Array,
    motion_bounds: Array,
    pairs: npt.NDArray[np.intp],
    q: Array,
    around: Array,
    bounds: Array,
) -> None:
    """
    Write what the distances of pairs are at least, within `around` of joint values `q`.

    Parameters
    ----------
    known : array, shape (p,)
        Distances [m].
    at : array, shape (p, n)
        Joint values at which each of them is known.
    motion_bounds : array, shape (p, n)
        Largest change of each distance for a unit of each joint value.
    pairs : array of int, shape (k,)
        Numbers of the pairs in question.
    q, around : array, shape (n,)
        Joint values, and how far the joints may be from them.
    bounds : array, shape (k,)
        Written to [m].

    """
    for k in range(pairs.shape[0]):
        bounds[k] = distance_bound(known, at, motion_bounds, pairs[k], q, around)


@kernel
def find_undecided(
    known: Array,
    at: Array,
    motion_bounds: Array,
    pairs: npt.NDArray[np.intp],
    least: Array,
    q: Array,
    around: Array,
    found: npt.NDArray[np.intp],
) -> int:
    """
    Write the numbers of the pairs that may be as near as `least`, shape (p,); return how many.

    `found`, shape (k,), is written to; other parameters are those of `distance_bounds`. numpy does
    the same, but where pairs are many it lets other threads run meanwhile, as long as they like.

    """
    count = 0
    for k in range(pairs.shape[0]):
        p = pairs[k]
        if distance_bound(known, at, motion_bounds, p, q, around) <= least[p]:
            found[count] = p
            count += 1
    return count


@kernel
def distance_bound(
    known: Array, at: Array, motion_bounds: Array, p: int, q: Array, around: Array
) -> float:
    """Return what the distance of pair number `p` is at least; parameters as above."""
    bound: float = known[p]
    for j in range(q.shape[0]):
        bound -= motion_bounds[p, j] * (abs(q[j] - at[p, j]) + around[j])
    return bound


@kernel
def are_apart(
    known: Array, at: Array, motion_bounds: Array, least: Array, q: Array, around: Array
) -> bool:
    """Whether no pair may be as near as `least`, shape (p,) [m]; other parameters as above."""
    for p in range(known.shape[0]):
        if not distance_bound(known, at, motion_bounds, p, q, around) > least[p]:
            return False
    return True


@kernel
def box_around(passed: Array, box: Array) -> None:
    """Write middle and half width, shape (2, n), of the box around points of shape (m, n)."""
    for j in range(passed.shape[1]):
        low = high = passed[0, j]
        for i in range(1, passed.shape[0]):
            low, high = min(low, passed[i, j]), max(high, passed[i, j])
        box[0, j], box[1, j] = 0.5 * (low + high), 0.5 * (high - low)
