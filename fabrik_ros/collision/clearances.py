"""How far links keep from each other, where some pairs of links have clearances of their own."""

from collections.abc import Mapping, Sequence
import math

from ..errors import CollisionError, did_you_mean, listed, shown


class Clearances:
    """
    Clearance of every pair of links: its own, or the one of all others.

    Parameters
    ----------
    common : float
        Clearance of the pairs that have none of their own [m], 0 or more.
    own : mapping of (str, str) to float
        Clearances of pairs of links by the names of the links, in any order [m], 0 or more.
    links : sequence of str
        Names of all links of the robot.

    Raises
    ------
    CollisionError
        If a clearance is no length, or a pair is not one of two different links of the robot, or
        has two clearances.

    """

    def __init__(
        self, common: float, own: Mapping[tuple[str, str], float], links: Sequence[str]
    ) -> None:
        _require_length('clearance', common)
        self.common = common
        self._own: dict[frozenset[str], float] = {}
        for (link_a, link_b), clearance in own.items():
            names = f"'{shown(link_a)}' and '{shown(link_b)}'"
            for link in (link_a, link_b):
                _require_link(link, links, names)
            _require_length(f'clearance of {names}', clearance)
            pair = frozenset((link_a, link_b))
            if len(pair) < 2:
                raise CollisionError(f'clearance of {names}: a link has none from itself')
            if pair in self._own:
                raise CollisionError(f'clearance of {names} is given twice')
            self._own[pair] = clearance

    def of(self, pair: frozenset[str]) -> float:
        """Distance that two links must keep [m]."""
        return self._own.get(pair, self.common)

    def touching(self, pair: frozenset[str]) -> float:
        """
        Distance up to which two links are taken to touch when pairs are chosen [m].

        A wider clearance of a pair must not make it look as if it always touched.
        """
        return min(self.of(pair), self.common)


def _require_length(what: str, length: float) -> None:
    if not 0.0 <= length < math.inf:
        raise CollisionError(f'{what} is {length}; expected a length of 0 m or more')


def _require_link(name: str, links: Sequence[str], names: str) -> None:
    if name not in links:
        cure = did_you_mean(name, links) or f'; the model has: {listed(links)}'
        raise CollisionError(f"clearance of {names}: no link named '{shown(name)}'{cure}")
