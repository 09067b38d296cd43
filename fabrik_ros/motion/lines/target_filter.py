"""A moving average of targets that come again and again."""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from ...kernels.displacement import path_to_newest
from ...kernels.target_windows import CORNER, find_windows, grow_older, LONGEST_WINDOW
from ...transforms import Array
from .arrivals import Arrivals
from .displacements import length_of

MEMORY = LONGEST_WINDOW
"""Goals farther apart than this, in time or in distance, belong to no stream [s]."""
SMOOTHING = 0.03
"""Each displacement is gone in so many intervals that it takes this time, or nearly [s]."""
BRAKES_FIRST, SHORT = 0.9, 0.25
"""
Share of the acceleration that brakes first, and by how much a right angle needs more than the
longest window where all of that does [1].
"""
PARTS = 6
"""Components of a displacement of a tip [1]."""
SPARE_ROWS = 64
"""Rows that are added whenever the buffers are full."""


class TargetFilter:
    """
    The mean of where a goal has been within a window of time, for a reference to follow.

    Heading straight for each new target would cut corners and brake at every step. The goal is
    taken to go evenly from each place to the next; so the mean goes evenly, too. It goes the same
    path half a window later: no faster than the goal, straight where that was straight.

    At a corner the mean accelerates by the change of velocity over the window, which is about as
    long as a right angle needs, up to half a second; each tip has a window of its own. What the
    joints can do changes on the way, and the windows slowly with it: one that grows at once would
    hold up the mean.

    Displacements have the shape (k, 6), translation and rotation, as shares of the greatest
    speeds: a distance is the time it takes at full speed [s].

    Attributes
    ----------
    is_empty : bool
        Whether the goal has not moved, and is its own mean.

    """

    def __init__(self) -> None:
        self._shape: tuple[int, ...] = ()
        self._all_times, self._all_displacements = np.empty((2, 0)), np.empty((0, 0))
        self._arrivals = Arrivals()
        self.clear()

    def clear(self) -> None:
        """Forget the path: the goal jumps to wherever it is next."""
        self._keep(0, 0)
        self._arrivals.clear()
        self._left_now: Array | None = None
        """Cached displacement from the mean to the newest goal; None until computed."""
        self._heading = np.zeros(math.prod(self._shape))
        self._since_goal = math.inf
        self._windows, self._needed, self._braking = np.zeros((3, len(self._heading) // PARTS))
        """
        Of each tip, shape (k,): the window now, the one that its path needs, and the time that
        braking from full speed takes, which becomes longer as slowly as a window may [s].
        """

    def part(self, tips: npt.NDArray[np.intp]) -> 'TargetFilter':
        """Go on with the goals of some of the tips, by number."""
        part, count = TargetFilter(), len(self._ages)
        part._shape = (len(tips), *self._shape[1:])
        if count > 0:
            part._all_times = np.array([self._ages, self._durations])
            displacements = self._displacements.reshape(count, *self._shape)[:, tips]
            part._all_displacements = displacements.reshape(count, -1).copy()
            part._keep(0, count)
        part._heading = self._heading.reshape(self._shape)[tips].reshape(-1)
        part._arrivals, part._since_goal = self._arrivals.copy(), self._since_goal
        part._windows, part._needed = self._windows[tips], self._needed[tips]
        part._braking = self._braking[tips]
        return part

    def _keep(self, first: int, end: int) -> None:
        """Remember the displacements from one number to before another."""
        self._first, self._end = first, end
        self.is_empty = first == end
        self._ages, self._durations = self._all_times[:, first:end]
        """
        Time since the goal began each displacement, negative before, and the time that it takes,
        both of shape (m,), the oldest first [s].
        """
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
            Change of speed that the tips may have [1/s].

        """
        self._shape = displacement.shape
        self._left_now = None
        gap, self._since_goal = self._since_goal, 0.0
        length = length_of(displacement)
        if gap > MEMORY or length > MEMORY:
            self.clear()
            self._since_goal = 0.0
            return
        self._arrivals.note(gap)
        if length > 0.0:
            self._append(displacement.reshape(-1))
            self._find_windows(gain)

    def _append(self, displacement: Array) -> None:
        wait: float | None = 0.0
        if not self.is_empty:
            wait = self._arrivals.wait(float(self._ages[-1]))
        if wait is None:
            self._displacements[-1] += displacement
            return
        if (
            self._end == self._all_times.shape[1]
            or len(displacement) != self._all_displacements.shape[1]
        ):
            self._make_room(len(displacement))
        self._all_displacements[self._end] = displacement
        self._all_times[:, self._end] = -wait, self._duration
        self._keep(self._first, self._end + 1)

    @property
    def _duration(self) -> float:
        """Time in which the goal goes a displacement [s]."""
        interval = self._arrivals.interval
        return interval * max(1, round(SMOOTHING / interval))

    def _make_room(self, width: int) -> None:
        """Move what is remembered to the beginning of arrays with as much room again."""
        times, displacements = np.array([self._ages, self._durations]), self._displacements
        count = len(displacements)
        size = 2 * count + SPARE_ROWS
        self._all_times, self._all_displacements = np.empty((2, size)), np.empty((size, width))
        if count:
            self._all_times[:, :count], self._all_displacements[:count] = times, displacements
        self._keep(0, count)

    def _find_windows(self, gain: float) -> None:
        """Find the windows that the paths of the tips need."""
        find_windows(
            self._ages, self._displacements, self._duration, self._arrivals.interval, gain,
            self._heading, self._braking, self._needed, self._windows,
        )  # fmt: skip

    @property
    def heading(self) -> Array:
        """Velocity that the goal had lately, shape (c,); 0 where none has come."""
        is_late = self._since_goal > 2.0 * self._arrivals.interval
        return np.zeros_like(self._heading) if is_late else self._heading

    @property
    def brakes_first(self) -> float:
        """
        Share of the acceleration that first brakes what leads past a corner of the goal.

        Where the longest window is too short for a right angle the mean turns faster than the tip
        can. Elsewhere that would only leave the tip behind, and let it cut the corner.
        """
        speeds = [length_of(part) for part in self.heading.reshape(-1, PARTS)]
        needed = CORNER * max(speeds * self._braking, default=0.0)
        return BRAKES_FIRST * min(max(needed / LONGEST_WINDOW - 1.0, 0.0) / SHORT, 1.0)

    def pass_time(self, dt: float) -> None:
        """Grow older by `dt` [s]."""
        self._since_goal += dt
        self._left_now = None
        if self.is_empty:
            return
        grow_older(dt, self._ages, self._needed, self._windows)
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
            self._ages, self._durations, self._displacements, self._windows, dt, left.reshape(-1)
        )
        if dt == 0.0:
            self._left_now = left
        return left
