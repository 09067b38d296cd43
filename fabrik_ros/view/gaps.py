"""How near an arm is to what stands around it, and to itself."""

import numpy as np
import numpy.typing as npt

from ..collision import WorldCollision
from ..transforms import Array
from .source import Gap, UNKNOWN


def gaps(world: WorldCollision | None, q: Array) -> tuple[Gap, Gap]:
    """
    Find what has the least left of its clearance.

    Parameters
    ----------
    world : WorldCollision or None
        Knows the distances; None where nobody does.
    q : array, shape (n,)
        Joint values [rad or m].

    Returns
    -------
    to_obstacle : Gap
        Of a link and an obstacle.
    to_itself : Gap
        Of two links.

    """
    if world is None:
        return UNKNOWN, UNKNOWN
    return _tightest(world, world.pairs_of_obstacles, q), _tightest(world, world.pairs_of_links, q)


def _tightest(world: WorldCollision, pairs: npt.NDArray[np.intp], q: Array) -> Gap:
    nearest = world.nearest_among(q, pairs)
    if nearest is None:
        return UNKNOWN
    return Gap(nearest.distance, f'{nearest.link_a}, {nearest.link_b}', nearest.clearance)
