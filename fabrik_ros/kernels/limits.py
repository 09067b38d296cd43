"""
The limits of an arm as rows of numbers.

Lower, upper, the range that other starts of a search are drawn from, and the unit that each
value is measured in.

"""

import math

from ..transforms import Array
from ._jit import kernel

LOWER, UPPER, START_LOWER, START_UPPER, UNITS = range(5)


@kernel
def read_seed(seed: Array, limits: Array, q: Array) -> bool:
    """Write the seed, brought inside the limits; tell whether it is finite."""
    for j in range(seed.shape[0]):
        if not math.isfinite(seed[j]):
            return False
        q[j] = min(max(seed[j], limits[LOWER, j]), limits[UPPER, j])
    return True


@kernel
def narrow(limits: Array, lower: Array, upper: Array, narrowed: Array) -> None:
    """Write limits narrowed to bounds; bounds that lie outside of them come to lie on them."""
    for j in range(lower.shape[0]):
        least, most = limits[LOWER, j], limits[UPPER, j]
        low, high = min(max(lower[j], least), most), min(max(upper[j], least), most)
        narrowed[LOWER, j] = narrowed[START_LOWER, j] = low
        narrowed[UPPER, j] = narrowed[START_UPPER, j] = high
        narrowed[UNITS, j] = limits[UNITS, j]


@kernel
def narrow_around(limits: Array, q: Array, moves: Array, narrowed: Array) -> None:
    """Write limits narrowed to `moves` on either side of `q`, itself brought inside them."""
    for j in range(q.shape[0]):
        value = min(max(q[j], limits[LOWER, j]), limits[UPPER, j])
        narrowed[LOWER, j], narrowed[UPPER, j] = value - moves[j], value + moves[j]
    narrow(limits, narrowed[LOWER], narrowed[UPPER], narrowed)


@kernel
def stands_at_limit(q: Array, limits: Array, margin: float) -> bool:
    """Whether any joint is within `margin` of a limit."""
    for j in range(q.shape[0]):
        if q[j] - limits[LOWER, j] < margin or limits[UPPER, j] - q[j] < margin:
            return True
    return False
