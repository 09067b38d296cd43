"""Whether anything comes too near on a way from one configuration to another."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..transforms import Array
from .distances import PairDistances

SHORTEST_PART = 1.0 / 64.0


@dataclass(frozen=True, eq=False)
class Way:
    """A straight way in joint space."""

    start: Array
    """Joint values, shape (n,)."""
    end: Array
    """Joint values, shape (n,)."""
    strays: npt.NDArray[np.bool_]
    """Joints that may fall behind the others, shape (n,): they are anywhere on what they have
    come from the start."""

    def at(self, share: float) -> Array:
        """Joint values at a share of the way, shape (n,), if no joint falls behind."""
        return self.start + share * (self.end - self.start)

    def around(self, begin: float, end: float) -> tuple[Array, Array]:
        """Middle and half width of a part of the way, which is given by two shares of it."""
        way = self.end - self.start
        begins = np.where(self.strays, 0.0, begin)
        return self.start + 0.5 * (begins + end) * way, 0.5 * (end - begins) * np.abs(way)


def find_blocking(
    distances: PairDistances, way: Way, pairs: npt.NDArray[np.intp], least: Array
) -> int:
    """
    Find a pair that may come as near as `least` on a way.

    Parts of the way where the bounds of the distances do not rule that out are measured in the
    middle and halved, so nothing between is missed; where even a 64th is not settled, it counts as
    blocked.

    Parameters
    ----------
    distances : PairDistances
        What is known of the p pairs.
    way : Way
        The way.
    pairs : array of int
        Numbers of the pairs in question.
    least : array, shape (p,)
        Distance that each pair must keep [m].

    Returns
    -------
    int
        The number of the pair; -1 when there is none.

    """
    parts = [(0.0, 1.0, pairs)]
    while parts:
        begin, end, pairs = parts.pop()
        q, around = way.around(begin, end)
        pairs = distances.due(q, least, around, pairs)
        for p in pairs:
            if distances.measure(int(p), q) <= least[p]:
                return int(p)
        pairs = pairs[distances.bounds(q, around, pairs) <= least[pairs]]
        if len(pairs) == 0:
            continue
        if end - begin <= SHORTEST_PART:
            return int(pairs[0])
        middle = 0.5 * (begin + end)
        parts += [(middle, end, pairs), (begin, middle, pairs)]
    return -1
