"""Jogs of the tips; each ends unless it is repeated."""

import numpy as np
import numpy.typing as npt


class ActiveJogs:
    """The jogged tips, each with the time of its newest jog."""

    def __init__(self) -> None:
        self._times: dict[int, float] = {}

    def add(self, tip: int, now: float) -> None:
        """Take note that a tip is jogged `now` [s]."""
        self._times[tip] = now

    def end(self, tip: int) -> bool:
        """Take note that a tip is jogged no longer; tell whether it was."""
        return self._times.pop(tip, None) is not None

    def clear(self) -> None:
        """Take note that no tip is jogged."""
        self._times = {}

    def lost(self, now: float, timeout: float) -> list[int]:
        """List the tips whose newest jog is older than `timeout` [s]."""
        return [tip for tip, time in self._times.items() if abs(now - time) > timeout]

    def others(self, tips: int) -> npt.NDArray[np.bool_]:
        """Tell which of all `tips` are not jogged, shape (k,)."""
        return np.array([tip not in self._times for tip in range(tips)])
