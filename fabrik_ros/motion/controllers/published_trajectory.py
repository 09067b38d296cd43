"""
The curve published to trajectory controllers: every message continues the last one.

A controller such as ros2_control's joint_trajectory_controller replaces the trajectory that it
plays by each new one, some time after that was sent. The motion stays smooth if both are the same
curve at that time. So the commands are points of one curve, reached a fixed time after they were
sent (the look-ahead), at absolute times that never change once they were published. A stop
trajectory follows the last point; the next message replaces it from there on. Messages begin in
the past, so that a controller never starts from the measured state. They end with a while at rest
after the stop, as controllers look ahead.

"""

from bisect import bisect_right
from collections import deque
from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple

import numpy as np

from ...transforms import Array
from ..limits.stop_trajectory import StopTrajectory

NANOSECONDS = 1_000_000_000
MILLISECOND = 1_000_000
HISTORY = 50 * MILLISECOND
"""
Time before `now` at which messages begin [ns]; a controller's clock may be behind by part of it.
"""
REST = 100 * MILLISECOND
"""Time at rest with which messages end, after the stop [ns]."""
LONG_REST = 600 * MILLISECOND
"""Time at rest of messages that may come late: controllers reject what has ended [ns]."""
SAME = 1e-7
"""Largest difference of equal joint values, by rounding [rad or m]."""
APART = 1_000
"""Smallest time between two points; a nearer one is left out [ns]."""
DELIVERY = 0.03
"""Part of the default look-ahead for the way to the controller and for its loop [s]."""
PERIODS = 3
"""Periods in the default look-ahead: a lost command, a waiting one, the half steps between [1]."""


class Knot(NamedTuple):
    """A point of the curve."""

    time: int
    """Time at which the controller is there [ns]."""
    q: Array
    """Joint values, shape (n,) [rad or m]."""
    velocity: Array
    """Shape (n,) [rad/s or m/s]."""


def default_look_ahead(period: float) -> float:
    """Look-ahead [s] for commands `period` apart [s], one lost and others late by 20 ms."""
    return PERIODS * period + DELIVERY


class PublishedTrajectory:
    """
    The curve that was published to controllers.

    Parameters
    ----------
    look_ahead : float
        Time from the stamp of a command until a controller reaches it [s].

    """

    def __init__(self, look_ahead: float) -> None:
        self.look_ahead = round(look_ahead * NANOSECONDS)
        """[ns]."""
        self._knots: deque[Knot] = deque()
        self._stop: list[Knot] = []

    @property
    def moves(self) -> bool:
        """Whether the curve moves where it may be changed."""
        return bool(self._knots) and bool(np.any(self._knots[-1].velocity))

    @property
    def fork(self) -> int:
        """Time from which the curve may be changed [ns]: the beginning of the stop."""
        return self._knots[-1].time

    @property
    def end(self) -> Array:
        """Joint values at the end of the stop, shape (n,)."""
        return (self._stop or self._knots)[-1].q

    def copy(self) -> 'PublishedTrajectory':
        """Return another one that begins with the same curve."""
        other = PublishedTrajectory(0.0)
        other.look_ahead = self.look_ahead
        other.go_on_from(self)
        return other

    def go_on_from(self, other: 'PublishedTrajectory') -> None:
        """Go on with the curve of another one."""
        self._knots, self._stop = other._knots.copy(), other._stop

    def finish(self) -> None:
        """Let the stop be played to its end."""
        self._knots.extend(self._stop)
        self._stop = []

    def begin(self, q: Array, stamp: int) -> None:
        """
        Let the curve rest at joint values `q`, shape (n,), until a step begins.

        If it rests there already, it goes on. Else it begins anew, and a controller leaves for
        `q` as soon as the message arrives.

        Parameters
        ----------
        q : array, shape (n,)
            Joint values [rad or m].
        stamp : int
            When the step begins, in the time of the commands [ns].

        """
        rest = Knot(stamp + self.look_ahead, q, np.zeros_like(q))
        if not self._knots or np.max(np.abs(self._knots[-1].q - q)) > SAME:
            self._knots.clear()
            self._knots.append(rest._replace(time=stamp - HISTORY))
        self._stop = []
        self._append(rest)

    def extend(self, stamp: int, stop: StopTrajectory, lead: float) -> None:
        """
        Go on by the last step of a motion.

        Parameters
        ----------
        stamp : int
            Of the command that the step leads to [ns].
        stop : StopTrajectory
            Knots of the step and the stop after them, in seconds from that command.
        lead : float
            Time from the last knot of the step to its command [s].

        """
        begin = stamp + self.look_ahead
        times = begin + np.round(stop.times * NANOSECONDS).astype(np.int64)
        last = begin - round(lead * NANOSECONDS)
        self._stop = []
        for time, q, velocity in zip(times.tolist(), stop.q, stop.velocity, strict=True):
            if time <= last:
                self._append(Knot(time, q, velocity))
            else:
                self._stop.append(Knot(time, q, velocity))

    def at(self, time: int) -> Array | None:
        """Joint values at a time [ns], shape (n,); None before the oldest remembered point."""
        state = self.state_at(time)
        return None if state is None else state[0]

    def state_at(self, time: int) -> tuple[Array, Array] | None:
        """Joint values and velocities at a time [ns]; None before the oldest remembered point."""
        knots = [*self._all()]
        if not knots or time < knots[0].time:
            return None
        i = bisect_right(knots, time, key=lambda knot: knot.time) - 1
        if i + 1 == len(knots):
            return knots[-1].q, knots[-1].velocity
        return _between(knots[i], knots[i + 1], time)

    def shift(self, by: int) -> None:
        """Move the curve in time [ns], as the clock was set."""
        self._knots = deque(knot._replace(time=knot.time + by) for knot in self._knots)
        self._stop = [knot._replace(time=knot.time + by) for knot in self._stop]

    def points(self, now: int, rest: int = REST) -> list[Knot]:
        """
        Points to send `now` [ns]: a past one, those after it, the stop, and `rest` [ns].

        The first one is so far in the past for every message, so it tells messages apart.
        """
        begin = now - HISTORY
        while len(self._knots) > 2 and self._knots[1].time <= begin:
            self._knots.popleft()
        first, end = self._knots[0], (self._stop or self._knots)[-1]
        q, velocity = self.state_at(begin) or (first.q, np.zeros_like(first.q))
        later = [knot for knot in self._all() if knot.time >= begin + APART]
        return [Knot(begin, q, velocity), *later, end._replace(time=max(end.time, now) + rest)]

    def _all(self) -> Iterator[Knot]:
        return chain(self._knots, self._stop)

    def _append(self, knot: Knot) -> None:
        if not self._knots or knot.time >= self._knots[-1].time + APART:
            self._knots.append(knot)


def _between(before: Knot, after: Knot, time: int) -> tuple[Array, Array]:
    """Joint values and velocities on the cubic from one knot to another."""
    length = (after.time - before.time) / NANOSECONDS
    share = (time - before.time) / NANOSECONDS / length
    way, first, last = after.q - before.q, length * before.velocity, length * after.velocity
    square, cube = 3.0 * way - 2.0 * first - last, first + last - 2.0 * way
    q: Array = before.q + share * (first + share * (square + share * cube))
    velocity: Array = (first + share * (2.0 * square + 3.0 * share * cube)) / length
    return q, velocity
