"""The way a goal has come lately, for a reference that is to go the same way."""

import math
from typing import Any

import numpy as np

from .transforms import Array

CORNER = math.sqrt(2.0)
"""Change of velocity at a right angle, in multiples of the speed."""
MEMORY = 0.5
"""Goals farther apart than this, in time or in distance, belong to no trail [s]."""
LEAST_TIME = 0.1
"""The speed of a goal is measured over no less [s]."""
INTERVALS = 2.0
SHORTEST = 0.01
SHRINKING = 0.05
"""How fast the window narrows when the goal has become slower [s/s]."""


class Trail:
    """
    The way of a goal that comes again and again, each time near to where it was before.

    Who heads straight for a moving goal cuts its corners and brakes for every one of its steps.
    The mean of where the goal has been within a window of time goes the same way, half a window
    later: no faster than the goal, straight where that was straight. A corner it takes with an
    acceleration of the change of velocity over the window. So the window is as long as a right
    angle needs, and at least two intervals between goals, so that the mean goes evenly.

    Ways have the shape (..., 6), translation and rotation, as shares of the greatest speeds: a
    distance is the time it takes at full speed [s].
    """

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Forget the way: the goal jumps to wherever it is next."""
        self._ways: Array = np.empty((0, 6))
        self._ages: Array = np.empty(0)
        self._since_goal = math.inf
        self._window = self._needed = 0.0

    @property
    def is_empty(self) -> bool:
        """Whether the goal has come no way, and is its own mean."""
        return self._ages.size == 0

    def take(self, way: Array, gain: float) -> None:
        """
        Let the goal go on by a way (..., 6), or jump if that is far or the last was long ago.

        Parameters
        ----------
        way : array, shape (..., 6)
            From the goal before to the new one.
        gain : float
            Change of speed that the tip may have [1/s].

        """
        interval, self._since_goal = self._since_goal, 0.0
        if interval > MEMORY or float(_lengths(way).max()) > MEMORY:
            self.clear()
            self._since_goal = 0.0
        elif np.any(way):
            self._append(way)
            self._needed = self._window_for(interval, gain)
            self._window = max(self._window, self._needed)

    def _append(self, way: Array) -> None:
        if not self.is_empty and self._ages[-1] == 0.0:
            self._ways[-1] += way
            return
        self._ways = np.append(self._ways.reshape(-1, *way.shape), way[None], axis=0)
        self._ages = np.append(self._ages, 0.0)

    def _window_for(self, interval: float, gain: float) -> float:
        """Length of the window that this way needs; the interval is that of its last goals."""
        lasted = float(self._ages[0])
        if lasted > 0.0:
            interval = lasted / (self._ages.size - 1)
        gone = float(_lengths(self._ways[1:]).sum(axis=0).max(initial=0.0))
        speed = min(gone / max(lasted, LEAST_TIME), 1.0)
        return min(max(CORNER * speed / gain, INTERVALS * interval, SHORTEST), MEMORY)

    def pass_time(self, dt: float) -> None:
        """Grow older by `dt` [s]."""
        self._since_goal += dt
        if self.is_empty:
            return
        self._window = max(self._window - SHRINKING * dt, self._needed)
        self._ages = self._ages + dt
        young = self._ages < MEMORY
        self._ways, self._ages = self._ways[young], self._ages[young]
        if not np.any(self._ages < self._window):
            since = self._since_goal
            self.clear()
            self._since_goal = since

    def left(self, dt: float = 0.0) -> Any:
        """Way from the mean to the goal, `dt` from now if no other comes until then."""
        if self.is_empty:
            return 0.0
        weights = np.maximum(0.0, 1.0 - (self._ages + dt) / self._window)
        return np.tensordot(weights, self._ways, axes=1)

    def speed(self, dt: float) -> Any:
        """Mean speed of the mean over the next `dt` [s]."""
        return (self.left() - self.left(dt)) / dt


def _lengths(ways: Array) -> Array:
    """Lengths of ways (..., 6), translations and rotations apart, shape (..., 2)."""
    lengths: Array = np.linalg.norm(ways.reshape(*ways.shape[:-1], 2, 3), axis=-1)
    return lengths
