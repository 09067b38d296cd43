"""A moving average of targets that come again and again."""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from ...kernels.displacement import longest_path, path_to_newest
from ...transforms import Array

CORNER = 1.05 * math.sqrt(2.0)
"""Change of velocity at a right angle, in multiples of the speed, with a little to spare."""
MEMORY = 0.5
"""Goals farther apart than this, in time or in distance, belong to no stream [s]."""
SPEED_TIME = 0.1
"""The speed of a goal is measured over this time or longer [s]."""
SHORTEST_INTERVAL, LONGEST_INTERVAL = 0.005, 0.5 * MEMORY
"""Bounds of the interval between goals [s]: the window is no shorter."""
YOUNG = 0.15
"""A path that has lasted no longer sets the window at once: little of it is past [s]."""
SPARE_ROWS = 64
"""Rows that are added whenever the buffers are full."""
CHANGING_RATE = 0.05
"""
Rate at which the window becomes longer or shorter [s/s].

The mean goes slower by half of this share while it becomes longer.

"""
LEAST_BRAKING = 0.9
"""Share of the time that braking takes that the window has at once [1]: joints have a margin."""


class TargetFilter:
    """
    The mean of where a goal has been within a window of time, for a reference to follow.

    Heading straight for each new target would cut corners and brake at every step. The goal is
    taken to go evenly from each place to the next, in the time between two of them; so the mean
    goes evenly however long the window is. It goes the same path half a window later: no faster
    than the goal, straight where that was straight. At a corner it accelerates by the change of
    velocity over the window, which is about as long as a right angle needs. What the joints can
    do changes on the way, and the window slowly with it: a window that grows at once would hold
    up the mean.

    Displacements have the shape (k, 6), translation and rotation, as shares of the greatest
    speeds: a distance is the time it takes at full speed [s].

    Attributes
    ----------
    is_empty : bool
        Whether the goal has not moved, and is its own mean.

    """

    def __init__(self) -> None:
        self._shape: tuple[int, ...] = ()
        self._all_ages, self._all_displacements = np.empty(0), np.empty((0, 0))
        self.clear()

    def clear(self) -> None:
        """Forget the path: the goal jumps to wherever it is next."""
        self._keep(0, 0)
        self._left_now: Array | None = None
        """Cached displacement from the mean to the newest goal; None until computed."""
        self._since_goal = math.inf
        self._window = self._needed = self._interval = 0.0

    def part(self, tips: npt.NDArray[np.intp]) -> 'TargetFilter':
        """Go on with the goals of some of the tips, by number."""
        part, count = TargetFilter(), len(self._ages)
        if count > 0:
            part._shape = (len(tips), *self._shape[1:])
            part._all_ages = self._ages.copy()
            displacements = self._displacements.reshape(count, *self._shape)[:, tips]
            part._all_displacements = displacements.reshape(count, -1).copy()
            part._keep(0, count)
        part._since_goal = self._since_goal
        part._window, part._needed, part._interval = self._window, self._needed, self._interval
        return part

    def _keep(self, first: int, end: int) -> None:
        """Remember the displacements from one number to before another."""
        self._first, self._end = first, end
        self.is_empty = first == end
        self._ages = self._all_ages[first:end]
        """Ages of the displacements of the goal, shape (m,), the oldest first [s]."""
        self._displacements = self._all_displacements[first:end]
        """The displacements, shape (m, c)."""

    def add(self, displacement: Array, gain: float) -> None:
        """
        Let the goal go on by a displacement (k, 6), or jump if it is far or long after the last.

        Parameters
        ----------
        displacement : array, shape (k, 6)
            From the goal before to the new one.
        gain : float
            Change of speed that the tip may have [1/s].

        """
        self._shape, parts = displacement.shape, displacement.reshape(1, -1)
        self._left_now = None
        interval, self._since_goal = self._since_goal, 0.0
        length = longest_path(parts)
        if interval > MEMORY or length > MEMORY:
            self.clear()
            self._since_goal = 0.0
        elif length > 0.0:
            self._append(parts[0])
            self._find_window(interval, gain)

    def _append(self, displacement: Array) -> None:
        if not self.is_empty and self._ages[-1] == 0.0:
            self._displacements[-1] += displacement
            return
        if (
            self._end == len(self._all_ages)
            or len(displacement) != self._all_displacements.shape[1]
        ):
            self._make_room(len(displacement))
        self._all_displacements[self._end] = displacement
        self._all_ages[self._end] = 0.0
        self._keep(self._first, self._end + 1)

    def _make_room(self, width: int) -> None:
        """Move what is remembered to the beginning of arrays with as much room again."""
        ages, displacements = self._ages, self._displacements
        count = len(ages)
        size = 2 * count + SPARE_ROWS
        self._all_ages, self._all_displacements = np.empty(size), np.empty((size, width))
        if count:
            self._all_ages[:count], self._all_displacements[:count] = ages, displacements
        self._keep(0, count)

    def _find_window(self, interval: float, gain: float) -> None:
        """Find the window that this path needs; `interval`: time since the last goal [s]."""
        lasted = float(self._ages[0])
        if lasted > 0.0:
            interval = lasted / (self._end - self._first - 1)
        interval = min(max(interval, SHORTEST_INTERVAL), LONGEST_INTERVAL)
        speed = min(longest_path(self._displacements[1:]) / max(lasted, SPEED_TIME), 1.0)
        braking, most = speed / gain, MEMORY - interval
        least = min(max(LEAST_BRAKING * braking, interval), most)
        self._needed = min(max(CORNER * braking, least), most)
        self._interval = interval
        is_young = lasted <= YOUNG
        self._window = max(self._window, self._needed if is_young else least)

    def pass_time(self, dt: float) -> None:
        """Grow older by `dt` [s]."""
        self._since_goal += dt
        self._left_now = None
        if self.is_empty:
            return
        change = CHANGING_RATE * dt
        self._window += min(max(self._needed - self._window, -change), change)
        self._ages += dt
        while not self.is_empty and self._ages[0] >= MEMORY:
            self._keep(self._first + 1, self._end)
        if self.is_empty or np.count_nonzero(self.left()) == 0:
            since = self._since_goal
            self.clear()
            self._since_goal = since

    def left(self, dt: float = 0.0) -> Any:
        """Displacement from the mean to the goal, `dt` from now if no other comes until then."""
        if self.is_empty:
            return 0.0
        if dt == 0.0 and self._left_now is not None:
            return self._left_now
        left: Array = np.empty(self._shape)
        path_to_newest(
            self._ages, self._displacements, self._window, self._interval, dt, left.reshape(-1)
        )
        if dt == 0.0:
            self._left_now = left
        return left
