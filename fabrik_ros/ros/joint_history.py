"""Where the joints were a moment ago."""

from bisect import bisect_right
from collections import deque
from collections.abc import Iterable, Sequence
import math

from ..errors import SceneError

LENGTH = 3.0
"""How far back joint values are known [s]."""
LARGEST_STEP = 0.5
"""Values farther apart than this are not interpolated: a joint that went round [rad]."""
LATEST = 0.5
"""A stamp that is older than this when it is received is wrong [s]."""


class JointHistory:
    """
    Values of joints in the last seconds, whoever published them.

    Parameters
    ----------
    names : iterable of str
        The joints to take note of.

    """

    def __init__(self, names: Iterable[str]) -> None:
        self._names = frozenset(names)
        self._times: dict[tuple[str, ...], deque[float]] = {}
        self._values: dict[tuple[str, ...], deque[tuple[float, ...]]] = {}

    def add(
        self, names: Sequence[str], values: Sequence[float], stamp: float, received: float
    ) -> None:
        """
        Take a joint state.

        Parameters
        ----------
        names, values : sequence
            Joints and their values [rad or m].
        stamp, received : float
            When it was measured, and when it was received [s]; a stamp that cannot be right
            counts for nothing.

        """
        time = stamp if received - LATEST <= stamp <= received else received
        key = tuple(names)
        times = self._times.setdefault(key, deque())
        states = self._values.setdefault(key, deque())
        if times and time < times[-1]:
            if time > times[-1] - LATEST:
                return
            times.clear()  # the clock was set back
            states.clear()
        times.append(time)
        states.append(tuple(values))
        while times[0] < time - LENGTH:
            times.popleft()
            states.popleft()

    def newest(self, names: Iterable[str]) -> float:
        """Time up to which all of some joints are known [s]; -inf if one never was."""
        return min((self._newest_of(name) for name in names), default=math.inf)

    def at(self, time: float, needed: Iterable[str]) -> dict[str, float]:
        """
        Values of all joints at a time [s], by name [rad or m].

        Parameters
        ----------
        time : float
            When; after the newest values these count.
        needed : iterable of str
            Joints that must be known.

        Raises
        ------
        SceneError
            If one of those is not known at that time; says why.

        """
        found: dict[str, float] = {}
        for key, times in self._times.items():
            if times[0] <= time:
                values = self._between(key, bisect_right(times, time), time)
                pairs = zip(key, values, strict=False)
                found |= {n: v for n, v in pairs if n in self._names and math.isfinite(v)}
        for name in needed:
            if name not in found:
                raise SceneError(self._unknown(name, time))
        return found

    def forget(self) -> None:
        """Drop everything, as when the clock jumped."""
        self._times.clear()
        self._values.clear()

    def _newest_of(self, name: str) -> float:
        return max((t[-1] for key, t in self._times.items() if name in key), default=-math.inf)

    def _between(self, key: tuple[str, ...], after: int, time: float) -> tuple[float, ...]:
        """Values between those before a place and after it."""
        times, states = self._times[key], self._values[key]
        if after == len(times):
            return states[-1]
        before, begin = states[after - 1], times[after - 1]
        share = (time - begin) / (times[after] - begin)
        return tuple(
            a + share * (b - a) if abs(b - a) <= LARGEST_STEP else a
            for a, b in zip(before, states[after], strict=False)
        )

    def _unknown(self, name: str, time: float) -> str:
        oldest = min((t[0] for key, t in self._times.items() if name in key), default=None)
        if oldest is None:
            return f"no joint state of '{name}' has come yet"
        return (
            f"its stamp is {oldest - time:.2f} s before the first known value of joint '{name}'; "
            f'{LENGTH:g} s are kept'
        )
