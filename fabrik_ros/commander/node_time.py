"""Time as it passes for a node: in a simulation at another pace than here."""

from collections.abc import Callable
import time
from typing import NamedTuple

STANDING = 2.0
"""A clock that shows the same for longer stands still; from then on the time here counts [s]."""


class _Seen(NamedTuple):
    """What was known when the clock of the node was seen to go on last."""

    at: float
    """When that was, by the steady clock here [s]."""
    stamp: int
    """Time of the node [ns]; 0 where it is not known."""
    shown: float
    passed: float
    slower: float
    is_simulated: bool


class NodeTime:
    """
    Tells how much time has passed for a node, by the stamps of its statuses.

    Where its time is not simulated that is the time that passes here, whatever its clock is set
    to. One that is simulated goes on with each status; when it stands, nothing waits for ever.

    Parameters
    ----------
    steady : callable
        The steady clock here [s].

    """

    def __init__(self, steady: Callable[[], float] = time.monotonic) -> None:
        self._steady = steady
        self._seen = _Seen(steady(), 0, 0.0, 0.0, 0.0, is_simulated=False)

    def see(self, stamp: int, at: float, is_simulated: bool) -> None:
        """Take the time of a status [ns], which came at a time `at` by the steady clock here."""
        seen, ahead = self._seen, self._ahead(at)
        if not (is_simulated and seen.is_simulated):
            step = least = 0.0
            shown = 0.0 if seen.is_simulated else ahead
        elif stamp == seen.stamp:
            return
        else:
            shown = step = _step(seen.stamp, stamp)
            least = min(step, at - seen.at)
        self._seen = _Seen(
            at,
            stamp,
            seen.shown + shown,
            seen.passed + ahead + step,
            seen.slower + ahead + least,
            is_simulated,
        )

    def _ahead(self, now: float) -> float:
        """Time that counts since the clock of the node was seen to go on [s]."""
        seen = self._seen
        return max(0.0, now - seen.at - (STANDING if seen.is_simulated else 0.0))

    @property
    def is_simulated(self) -> bool:
        """Whether the node has the time of a simulation."""
        return self._seen.is_simulated

    @property
    def went_on_at(self) -> float:
        """When the clock of the node was seen to go on last, by the steady clock here [s]."""
        return self._seen.at if self._seen.is_simulated else self._steady()

    @property
    def shown(self) -> float:
        """Time that has passed by the clock of the node, also of one that stands [s]."""
        seen = self._seen
        return seen.shown + (0.0 if seen.is_simulated else self._ahead(self._steady()))

    @property
    def passed(self) -> float:
        """Time that has passed for the node [s]; a clock that stands does not hold it up."""
        return self._seen.passed + self._ahead(self._steady())

    @property
    def slower(self) -> float:
        """Time that has passed both for the node and here, for what takes time of both [s]."""
        return self._seen.slower + self._ahead(self._steady())


def _step(before: int, stamp: int) -> float:
    """Time between two stamps [ns] in seconds; 0.0 where it goes back, or one is not known."""
    return 1e-9 * max(0, stamp - before) if min(stamp, before) > 0 else 0.0
