"""Makes fewer convex parts of many: pairs of parts are what checks take time for."""

from collections.abc import Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from .hulls import convex_hull
from .shape_measures import reaches_farther

MOST_LOST = 0.002
"""Parts are merged where the hull of both reaches beyond all parts by no more [m]."""


class _Merger(NamedTuple):
    """The hull of two parts."""

    numbers: frozenset[int]
    hull: Any
    added: float
    """Its volume, less that of the two [m^3]."""


def merged(coal: Any, hulls: Sequence[Any], most: int) -> list[Any]:
    """
    Merge convex hulls of coal where that takes away little.

    Parameters
    ----------
    coal : module
        The library.
    hulls : sequence
        The hulls.
    most : int
        While more than this are left, those are merged that add least volume [1].

    """
    left = dict(enumerate(hulls))
    small = [_merger(coal, left, *pair) for pair in combinations(left, 2)]
    large: list[_Merger] = []
    while small or len(left) > most:
        best = min(small or large, key=lambda each: each.added)
        if small and reaches_farther(best.hull, hulls, MOST_LOST):
            small = [each for each in small if each is not best]
            large.append(best)
            continue
        small = [each for each in small if not each.numbers & best.numbers]
        large = [each for each in large if not each.numbers & best.numbers]
        number = max(left) + 1
        left = {k: hull for k, hull in left.items() if k not in best.numbers}
        left[number] = best.hull
        small += [_merger(coal, left, k, number) for k in left if k != number]
    return list(left.values())


def _merger(coal: Any, hulls: dict[int, Any], first: int, second: int) -> _Merger:
    both = hulls[first], hulls[second]
    hull = convex_hull(coal, np.concatenate([np.array(each.points()) for each in both]))
    added = hull.computeVolume() - sum(each.computeVolume() for each in both)
    return _Merger(frozenset((first, second)), hull, added)
