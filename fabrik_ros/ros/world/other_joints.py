"""Joints outside the arm that collisions depend on: as measured, named where they are not."""

from collections.abc import Iterable, Iterator, Mapping, Set
from typing import Any

from rclpy.impl.rcutils_logger import RcutilsLogger

from ...collision.checked_pairs import values_by_name
from ...errors import listed
from .collision_watch import CollisionWatch

PATIENCE = 2.0
"""A joint that is not measured for so long is named: states begin late, some come seldom [s]."""


class OtherJoints:
    """
    Hands over where the joints outside the arm are, and says what is assumed of the others.

    Parameters
    ----------
    log : RcutilsLogger
        Is told of each joint once, and once more when it is measured again.
    watch : CollisionWatch
        Knows which of them count.

    """

    def __init__(self, log: RcutilsLogger, watch: CollisionWatch) -> None:
        self._log, self._watch = log, watch
        self._since: dict[str, float] = {}
        """Times since which joints that count are not measured [s]."""
        self._named: frozenset[str] = frozenset()
        """Joints of these that the log has named."""

    def take(self, values: Mapping[str, float], now: float, awaited: Iterable[str]) -> None:
        """
        Take the fresh values of joints.

        Parameters
        ----------
        values : mapping
            By name [rad or m].
        now : float
            The time [s].
        awaited : iterable of str
            Joints of the arm: as long as one of them is missing nothing is said of others.

        """
        self._watch.set_other_joints(values)
        is_arm_known = values.keys() >= set(awaited)
        others = self._watch.other_joints if is_arm_known else ()
        missing = [name for name in others if name not in values]
        self._since = {name: min(self._since.get(name, now), now) for name in missing}
        named = frozenset(n for n, since in self._since.items() if now - since >= PATIENCE)
        for warning in self._warnings(named - self._named):
            self._log.warning(warning)
        if measured := [name for name in self._named if name in values]:
            self._log.info(f'measured now: {listed(sorted(measured))}')
        self._named = named

    def warnings(self) -> list[str]:
        """Say what is assumed of joints that are not measured."""
        return list(self._warnings(self._named))

    def facts(self) -> dict[str, Any]:
        """Say which values count of joints that are not measured, by name."""
        names = self._named | self._watch.assumed_joints.keys()
        return {'assumed_joints': values_by_name(self._values(names))}

    def _warnings(self, names: Set[str]) -> Iterator[str]:
        never = self._watch.assumed_joints.keys() & names
        if never:
            yield (
                'joints that collisions depend on are not measured, so assumed: '
                f'{values_by_name(self._values(never))}; publish their joint states'
            )
        if lost := names - never:
            yield (
                'no joint states come any more of joints that collisions depend on; their last '
                f'values count: {values_by_name(self._values(lost))}'
            )

    def _values(self, names: Set[str]) -> dict[str, float]:
        return {n: value for n, value in self._watch.other_joints.items() if n in names}
