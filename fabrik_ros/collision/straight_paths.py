"""Whether links come too near each other on a straight path in joint space."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..transforms import Array
from .distances import PairDistances

SHORTEST_PART = 1.0 / 64.0
"""Share of a path that is not halved any more [1]."""


@dataclass(frozen=True, eq=False)
class StraightPath:
    """A straight path in joint space."""

    start: Array
    """Joint values, shape (n,)."""
    end: Array
    """Joint values, shape (n,)."""
    strays: npt.NDArray[np.bool_]
    """
    Joints that may fall behind the others, shape (n,).

    They may be anywhere between the start and where they would be without falling behind.
    """

    def at(self, share: float) -> Array:
        """Joint values at a share of the path, shape (n,), if no joint falls behind."""
        return self.start + share * (self.end - self.start)

    def around(self, begin: float, end: float) -> tuple[Array, Array]:
        """Middle and half width of a part of the path, given by two shares of it."""
        displacement = self.end - self.start
        begins = np.where(self.strays, 0.0, begin)
        return self.start + 0.5 * (begins + end) * displacement, 0.5 * (end - begins) * np.abs(
            displacement
        )


@dataclass(frozen=True, eq=False)
class Detail:
    """How closely a path is looked at; parts that are undecided then count as blocked."""

    resolution: float = 0.0
    """Parts on which no pair can come nearer by more are not halved [m]."""
    shortest: float = SHORTEST_PART
    """Nor are parts that are no longer than this share of the path [1]."""
    should_stop: Callable[[], bool] = lambda: False
    """Whether to give up; asked before a part is halved."""


USUAL_DETAIL = Detail()


def find_blocking(
    distances: PairDistances,
    path: StraightPath,
    pairs: npt.NDArray[np.intp],
    least: Array,
    detail: Detail = USUAL_DETAIL,
) -> int:
    """
    Find a pair that may come as near as `least` on a path.

    Parts of the path where the bounds of the distances do not rule this out are measured in the
    middle and halved, so nothing between is missed. A short part that is still undecided counts
    as blocked. Kernels do this for the pairs that they can look at.

    Parameters
    ----------
    distances : PairDistances
        What is known of the p pairs.
    path : StraightPath
        The path.
    pairs : array of int
        Numbers of the pairs in question.
    least : array, shape (p,)
        Distance that each pair must keep [m].
    detail : Detail
        When to end.

    Returns
    -------
    int
        The number of the pair; -1 when there is none.

    """
    q, around = path.around(0.0, 1.0)
    pairs = pairs[distances.bounds(q, around, pairs) <= least[pairs]]
    if len(pairs) > 0 and distances.hold(q, around):
        is_theirs = distances.kernels.covers[pairs] & (least[pairs] >= 0.0)
        near = distances.kernels.near_on_edge(
            pairs[is_theirs],
            least,
            path.start,
            path.end,
            strays=path.strays,
            resolution=detail.resolution,
            shortest=detail.shortest,
            known=distances.known,
        )
        if near >= 0:
            return near
        pairs = pairs[~is_theirs]
    return _first_near(distances, path, pairs, least, detail)


def _first_near(
    distances: PairDistances,
    path: StraightPath,
    pairs: npt.NDArray[np.intp],
    least: Array,
    detail: Detail,
) -> int:
    """Find such a pair by measuring one after the other."""
    parts = [(0.0, 1.0, pairs)] if len(pairs) > 0 else []
    while parts:
        begin, end, pairs = parts.pop()
        q, around = path.around(begin, end)
        pairs = distances.due(q, least, around, pairs)
        for p in pairs:
            if distances.measure(int(p), q) <= least[p]:
                return int(p)
        pairs = pairs[distances.bounds(q, around, pairs) <= least[pairs]]
        if len(pairs) == 0:
            continue
        closing = float(np.max(distances.closing(around, pairs)))
        is_short = closing <= detail.resolution or end - begin <= detail.shortest
        if is_short or detail.should_stop():
            return int(pairs[0])
        middle = 0.5 * (begin + end)
        parts += [(middle, end, pairs), (begin, middle, pairs)]
    return -1
