"""The way from a moving command to rest, for controllers that want to know it in advance."""

import math
from typing import NamedTuple

import numpy as np

from .transforms import Array

TICK = 1e-6
"""Joints that come to rest nearer together than this do so at the same time [s]."""


class Ramp(NamedTuple):
    """
    Points of a way to rest; the acceleration of each joint is constant in between.

    Where the jerk is limited the jerk is, and `at` does not tell the way.
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

    def between(self, begin: float, end: float, q: Array, velocity: Array) -> 'Ramp':
        """Points later than `begin`, and the state at `end` [s], which becomes the time 0."""
        inside = (begin < self.times) & (self.times < end - TICK)
        return Ramp(
            np.append(self.times[inside] - end, 0.0),
            np.vstack([self.q[inside], q]),
            np.vstack([self.velocity[inside], velocity]),
        )

    def later(self, delay: float) -> 'Ramp':
        """Return the same way some time later."""
        return self._replace(times=self.times + delay)

    def followed_by(self, other: 'Ramp') -> 'Ramp':
        """All points of both, in the time of both."""
        return Ramp(
            np.append(self.times, other.times),
            np.vstack([self.q, other.q]),
            np.vstack([self.velocity, other.velocity]),
        )


def ramp_to_rest(
    q: Array, velocity: Array, acceleration: Array, lower: Array, upper: Array
) -> Ramp:
    """
    Brake all joints so that they keep their direction, as hard as the hardest worked one may.

    A joint that would pass its limit so brakes harder and rests there; outside its limits it
    may come in.

    Parameters
    ----------
    q, velocity : array, shape (n,)
        Where the joints are at the time 0 [rad or m], and how fast they are.
    acceleration : array, shape (n,)
        Most of it that each joint may have [rad/s^2 or m/s^2].
    lower, upper : array, shape (n,)
        Limits [rad or m].

    """
    speed = np.abs(velocity)
    longest = TICK * math.ceil(float(np.max(speed / acceleration)) / TICK)
    room = np.where(velocity > 0.0, upper - q, q - lower)
    to_limit = TICK * np.floor(2.0 * np.maximum(room, 0.0) / np.maximum(speed, TICK) / TICK)
    ends = np.where(speed > 0.0, np.minimum(longest, to_limit), 0.0)
    times = np.unique(np.round(np.append(ends, 0.0) / TICK)) * TICK
    passed = np.minimum(times[:, None], ends)
    slowed = passed / np.where(ends > 0.0, ends, 1.0)
    slower = np.where(ends > 0.0, velocity * (1.0 - slowed), 0.0)
    slower[times[:, None] >= ends - 0.5 * TICK] = 0.0
    return Ramp(times, q + velocity * passed * (1.0 - 0.5 * slowed), slower)
