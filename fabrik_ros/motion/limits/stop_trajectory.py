"""The way from a moving command to rest, for controllers that want to know it in advance."""

import math
from typing import NamedTuple, Protocol

import numpy as np

from ...collision.guard import CollisionGuard
from ...transforms import Array

TICK = 1e-6
"""Time within which joints that come to rest do so together; times are multiples of it [s]."""
ROUNDING = 1e-6
"""Largest part of a period that counts as none [1]."""


class StopTrajectory(NamedTuple):
    """
    Points of a way to rest; the acceleration of each joint is constant in between.

    With limited jerk the jerk is constant instead, and `at` does not apply.
    """

    times: Array
    """Shape (m,), increasing by at least a microsecond [s]."""
    q: Array
    """Joint values, shape (m, n) [rad or m]."""
    velocity: Array
    """Shape (m, n) [rad/s or m/s]; none in the last row of a whole way to rest."""

    def at(self, time: float) -> tuple[Array, Array]:
        """Joint values and velocities at a time [s], each of shape (n,); at rest after the end."""
        times = self.times
        i = int(np.searchsorted(times, time, side='right')) - 1
        if i < 0 or i + 1 >= len(times):
            end = 0 if i < 0 else -1
            return self.q[end], self.velocity[end]
        passed, length = time - times[i], times[i + 1] - times[i]
        change = (self.velocity[i + 1] - self.velocity[i]) / length
        velocity = self.velocity[i] + passed * change
        return self.q[i] + 0.5 * passed * (self.velocity[i] + velocity), velocity

    def between(self, begin: float, end: float) -> 'StopTrajectory':
        """Points later than one time and before another [s]."""
        inside = (begin + TICK <= self.times) & (self.times <= end - TICK)
        return StopTrajectory(self.times[inside], self.q[inside], self.velocity[inside])

    def rest_after(self, time: float) -> 'StopTrajectory':
        """Return what is left at a time [s], and count from there."""
        q, velocity = self.at(time)
        later = self.times >= time + TICK
        return StopTrajectory(
            np.append(0.0, self.times[later] - time),
            np.vstack([q, self.q[later]]),
            np.vstack([velocity, self.velocity[later]]),
        )

    def later(self, delay: float) -> 'StopTrajectory':
        """Return the same way some time later."""
        return self._replace(times=self.times + delay)

    def followed_by(self, other: 'StopTrajectory') -> 'StopTrajectory':
        """Join the points of both, with the times that each has."""
        return StopTrajectory(
            np.append(self.times, other.times),
            np.vstack([self.q, other.q]),
            np.vstack([self.velocity, other.velocity]),
        )


class WayToRest(Protocol):
    """How an arm comes to rest after a step, where that is not straight on."""

    def trajectory(self) -> StopTrajectory:
        """Tell the way, from the time 0 in the middle of the step on."""

    def is_free(self, guard: CollisionGuard, q: Array) -> bool:
        """Whether an arm at joint values `q`, shape (n,), may go on to its end."""


def trajectory_to_rest(
    q: Array,
    velocity: Array,
    acceleration: Array,
    lower: Array,
    upper: Array,
    period: float = 0.0,
) -> StopTrajectory:
    """
    Stop all joints together, as fast as the most loaded one allows, without a change of direction.

    A joint that would pass its limit that way brakes harder and rests there; one outside its
    limits may come in.

    Parameters
    ----------
    q, velocity : array, shape (n,)
        Where the joints are at the time 0 [rad or m], and how fast they are.
    acceleration : array, shape (n,)
        Greatest acceleration of each joint [rad/s^2 or m/s^2].
    lower, upper : array, shape (n,)
        Limits [rad or m].
    period : float
        The stop takes a whole number of periods [s]. In each the velocities fall evenly; the last
        one takes the rest of them. 0: no rounding to periods.

    """
    speed = np.abs(velocity)
    needed = float(np.max(speed / acceleration))
    turn, end = _duration(needed, period)
    left = max(0.0, 1.0 - turn / needed) if needed > 0.0 else 0.0
    room = np.maximum(np.where(velocity > 0.0, upper - q, q - lower), 0.0)
    to_limit = TICK * np.floor(2.0 * room / np.maximum(speed, TICK) / TICK)
    free = speed * 0.5 * (turn * (1.0 + left) + (end - turn) * left)
    stays = (free <= room) | (to_limit >= end)
    ends = np.where(speed > 0.0, np.where(stays, end, to_limit), 0.0)
    times = np.unique(np.round(np.append(ends, (0.0, turn)) / TICK)) * TICK
    rows = np.minimum(times[:, None], ends)
    # Share of the velocity that is left, and its integral, of joints that brake with the others.
    first, last = np.minimum(rows, turn), np.maximum(rows - turn, 0.0)
    slope = (1.0 - left) / turn if turn > 0.0 else 0.0
    final = left / (end - turn) if end > turn else 0.0
    share = 1.0 - slope * first - final * last
    way = first * (1.0 - 0.5 * slope * first) + last * (left - 0.5 * final * last)
    # ... and of those that rest at their limit.
    length = np.where(ends > 0.0, ends, 1.0)
    share = np.where(stays, share, 1.0 - rows / length)
    way = np.where(stays, way, rows * (1.0 - 0.5 * rows / length))
    share[times[:, None] >= ends - 0.5 * TICK] = 0.0
    return StopTrajectory(times, q + velocity * way, velocity * share)


def _duration(needed: float, period: float) -> tuple[float, float]:
    """Time of braking as hard as the joints may, and duration of the whole stop [s]."""
    if period <= 0.0:
        end = TICK * math.ceil(needed / TICK)
        return end, end
    periods = needed / period
    whole = math.floor(periods + ROUNDING)
    turn, end = whole * period, math.ceil(periods - ROUNDING) * period
    return TICK * round(turn / TICK), TICK * round(end / TICK)
