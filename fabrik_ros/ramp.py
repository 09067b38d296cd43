"""The way from a moving command to rest, for controllers that want to know it in advance."""

import math
from typing import NamedTuple

import numpy as np

from .transforms import Array

TICK = 1e-6
"""Joints that come to rest nearer together than this do so at the same time [s]."""


class Ramp(NamedTuple):
    """Points of a way to rest; the acceleration of each joint is constant in between."""

    times: Array
    """Shape (m,), increasing by at least a microsecond [s]."""
    q: Array
    """Joint values, shape (m, n) [rad or m]."""
    velocity: Array
    """Shape (m, n) [rad/s or m/s]; none in the last row."""


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
