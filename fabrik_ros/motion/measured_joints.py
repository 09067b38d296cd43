"""The measured joint values, from any publisher."""

from collections.abc import Iterable, Mapping
import math


class MeasuredJoints:
    """
    The newest value of every joint, from any publisher, with its age.

    Parameters
    ----------
    names : iterable of str, optional
        The joints whose values are kept; None: all.

    """

    def __init__(self, names: Iterable[str] | None = None) -> None:
        self._names = None if names is None else frozenset(names)
        self._values: dict[str, float] = {}
        self._times: dict[str, float] = {}

    def update(self, names: Iterable[str], values: Iterable[float], now: float) -> None:
        """Merge a message; values that are not finite are left out."""
        for name, value in zip(names, values, strict=False):
            if math.isfinite(value) and (self._names is None or name in self._names):
                self._values[name] = value
                self._times[name] = now

    def fresh(self, now: float, timeout: float) -> Mapping[str, float]:
        """Values no older than `timeout`."""
        return {
            name: value
            for name, value in self._values.items()
            if abs(now - self._times[name]) <= timeout
        }

    def newest(self, names: Iterable[str]) -> list[float]:
        """Values of some joints, none of which is missing, however old."""
        return [self._values[name] for name in names]

    def missing(self, names: Iterable[str], now: float, timeout: float) -> list[str]:
        """Names that have no value, or one that is too old."""
        never = -math.inf
        return [name for name in names if not abs(now - self._times.get(name, never)) <= timeout]

    def forget(self) -> None:
        """Drop everything, as when the clock jumped."""
        self._values.clear()
        self._times.clear()
