"""The way a goal has come lately, for a reference that is to go the same way."""

import math
from typing import Any

import numpy as np

from ..kernels.displacement import longest_way, way_to_newest
from ..transforms import Array

CORNER = math.sqrt(2.0)
"""Change of velocity at a right angle, in multiples of the speed."""
MEMORY = 0.5
"""Goals farther apart than this, in time or in distance, belong to no stream [s]."""
LEAST_TIME = 0.1
"""The speed of a goal is measured over no less [s]."""
INTERVALS = 2
"""At least so many intervals between goals are in the window."""
ALL_BUT = 0.01
"""So many intervals too few make no other interval necessary."""
SHORTEST = 0.01
"""The window is no shorter [s]."""
ROOM = 64
SHRINKING = 0.05
"""How fast the window narrows when the goal has become slower [s/s]."""


class TargetFilter:
    """
    The way of a goal that comes again and again, each time near to where it was before.

    Who heads straight for a moving goal cuts its corners and brakes for every one of its steps.
    The mean of where the goal has been within a window of time goes the same way, half a window
    later: no faster than the goal, straight where that was straight. A corner it takes with an
    acceleration of the change of velocity over the window. So the window is as long as a right
    angle needs, and a whole number of intervals between goals, so that the mean goes evenly.

    Ways have the shape (..., 6), translation and rotation, as shares of the greatest speeds: a
    distance is the time it takes at full speed [s].
    """

    def __init__(self) -> None:
        self._shape: tuple[int, ...] = ()
        self._all_ages, self._all_ways = np.empty(0), np.empty((0, 0))
        self.clear()

    def clear(self) -> None:
        """Forget the way: the goal jumps to wherever it is next."""
        self._keep(0, 0)
        self._left_now: Array | None = None
        """What is left now, once it was asked for."""
        self._since_goal = math.inf
        self._window = self._needed = 0.0

    @property
    def is_empty(self) -> bool:
        """Whether the goal has come no way, and is its own mean."""
        return self._first == self._end

    def _keep(self, first: int, end: int) -> None:
        """Remember the ways from one number to before another."""
        self._first, self._end = first, end
        self._ages = self._all_ages[first:end]
        """How long ago the goal went each of its ways, shape (m,), the oldest first [s]."""
        self._ways = self._all_ways[first:end]
        """Those ways, shape (m, c)."""

    def add(self, way: Array, gain: float) -> None:
        """
        Let the goal go on by a way (..., 6), or jump if that is far or the last was long ago.

        Parameters
        ----------
        way : array, shape (..., 6)
            From the goal before to the new one.
        gain : float
            Change of speed that the tip may have [1/s].

        """
        self._shape, parts = way.shape, way.reshape(1, -1)
        self._left_now = None
        interval, self._since_goal = self._since_goal, 0.0
        length = longest_way(parts)
        if interval > MEMORY or length > MEMORY:
            self.clear()
            self._since_goal = 0.0
        elif length > 0.0:
            self._append(parts[0])
            self._needed = self._window_for(interval, gain)
            self._window = max(self._window, self._needed)

    def _append(self, way: Array) -> None:
        if not self.is_empty and self._ages[-1] == 0.0:
            self._ways[-1] += way
            return
        if self._end == len(self._all_ages) or len(way) != self._all_ways.shape[1]:
            self._make_room(len(way))
        self._all_ways[self._end] = way
        self._all_ages[self._end] = 0.0
        self._keep(self._first, self._end + 1)

    def _make_room(self, width: int) -> None:
        """Move what is remembered to the beginning of arrays with as much room again."""
        ages, ways = self._ages, self._ways
        count = len(ages)
        size = 2 * count + ROOM
        self._all_ages, self._all_ways = np.empty(size), np.empty((size, width))
        if count:
            self._all_ages[:count], self._all_ways[:count] = ages, ways
        self._keep(0, count)

    def _window_for(self, interval: float, gain: float) -> float:
        """Length of the window that this way needs; the interval is that of its last goals."""
        lasted = float(self._ages[0])
        if lasted > 0.0:
            interval = lasted / (self._end - self._first - 1)
        speed = min(longest_way(self._ways[1:]) / max(lasted, LEAST_TIME), 1.0)
        interval = max(interval, SHORTEST / INTERVALS)
        braking = min(speed / gain, MEMORY) / interval
        # Longer by one than braking takes: the arm goes on as if the next goal would not come.
        needed = math.ceil(max(CORNER * braking, braking + 1.0) - ALL_BUT)
        most = int(MEMORY / interval)
        return min(max(min(needed, most), INTERVALS) * interval, MEMORY)

    def pass_time(self, dt: float) -> None:
        """Grow older by `dt` [s]."""
        self._since_goal += dt
        self._left_now = None
        if self.is_empty:
            return
        self._window = max(self._window - SHRINKING * dt, self._needed)
        self._ages += dt
        while not self.is_empty and self._ages[0] >= MEMORY:
            self._keep(self._first + 1, self._end)
        if self.is_empty or self._ages[-1] >= self._window:
            since = self._since_goal
            self.clear()
            self._since_goal = since

    def left(self, dt: float = 0.0) -> Any:
        """Way from the mean to the goal, `dt` from now if no other comes until then."""
        if self.is_empty:
            return 0.0
        if dt == 0.0 and self._left_now is not None:
            return self._left_now
        left: Array = np.empty(self._shape)
        way_to_newest(self._ages, self._ways, self._window, dt, left.reshape(-1))
        if dt == 0.0:
            self._left_now = left
        return left
