"""Bounds of distances that were measured elsewhere."""

import numpy as np
import numpy.typing as npt

from ..transforms import Array
from ._jit import kernel


@kernel
def distance_bounds(
    known: Array,
    at: Array,
    levers: Array,
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
    levers : array, shape (p, n)
        Change of each distance for a unit of each joint value, at most.
    pairs : array of int, shape (k,)
        Numbers of the pairs in question.
    q, around : array, shape (n,)
        Joint values, and how far the joints may be from them.
    bounds : array, shape (k,)
        Written to [m].

    """
    for k in range(pairs.shape[0]):
        p = pairs[k]
        bound = known[p]
        for j in range(q.shape[0]):
            bound -= levers[p, j] * (abs(q[j] - at[p, j]) + around[j])
        bounds[k] = bound
