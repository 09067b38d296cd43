"""Velocities that joints may have, so that they can stop in front of their limits."""

import math

from ..transforms import Array
from ._jit import kernel

LOWER, UPPER, FASTEST, HARDEST = range(4)
"""Rows of what limits the joints: values [rad or m], speeds and accelerations."""
LEAST, MOST = range(2)
"""Rows of bounds of velocities."""


@kernel
def stopping_speed(distance: float, strength: float, dt: float) -> float:
    """
    Greatest speed for the next step from which one can still stop within `distance`.

    Solves speed dt + speed^2 / (2 strength) = distance; 0 where there is no way left.
    """
    gained = strength * dt
    return math.sqrt(gained * gained + 2.0 * strength * max(distance, 0.0)) - gained


@kernel
def velocity_bounds(
    limits: Array, q: Array, velocity: Array, change_time: float, dt: float, share: float,
    bounds: Array,
) -> None:  # fmt: skip
    """
    Write the velocities each joint may have next: by speed, by acceleration, and to stop in time.

    Parameters
    ----------
    limits : array, shape (4, n)
        Rows as above.
    q, velocity : array, shape (n,)
        Joint values, and how fast they change.
    change_time : float
        Time over which the velocities may change [s].
    dt : float
        Length of the step [s].
    share : float
        Part of the acceleration that is used to stop.
    bounds : array, shape (2, n)
        Written to.

    """
    for j in range(q.shape[0]):
        change = limits[HARDEST, j] * change_time
        up = stopping_speed(limits[UPPER, j] - q[j], share * limits[HARDEST, j], dt)
        down = stopping_speed(q[j] - limits[LOWER, j], share * limits[HARDEST, j], dt)
        fastest = max(limits[FASTEST, j], abs(velocity[j]) - change)
        least = max(-fastest, velocity[j] - change, -down)
        most = min(fastest, velocity[j] + change, up)
        bounds[LEAST, j], bounds[MOST, j] = min(least, most), max(least, most)


@kernel
def gentle_bounds(
    limits: Array, q: Array, bounds: Array, dt: float, share: float, gentle: Array
) -> None:
    """
    Write bounds with which each joint comes to its limit gently, inside of `bounds`.

    `share` is the part of the acceleration that is used for that.
    """
    for j in range(q.shape[0]):
        up = stopping_speed(limits[UPPER, j] - q[j], share * limits[HARDEST, j], dt)
        down = stopping_speed(q[j] - limits[LOWER, j], share * limits[HARDEST, j], dt)
        least, most = bounds[LEAST, j], bounds[MOST, j]
        gentle[LEAST, j] = min(max(least, -down), most)
        gentle[MOST, j] = max(min(most, up), gentle[LEAST, j])


@kernel
def catching_up(limits: Array, lag: Array, dt: float, share: float, speed: Array) -> None:
    """Write the velocities that take up a lag, shape (n,), without overshoot."""
    for j in range(lag.shape[0]):
        most = stopping_speed(abs(lag[j]), share * limits[HARDEST, j], dt)
        speed[j] = math.copysign(most, lag[j])


@kernel
def least_ratio(most: Array, values: Array, tiny: float) -> float:
    """Least of `most` over the size of a value, both of shape (n,); `tiny` stands for nothing."""
    least = math.inf
    for j in range(values.shape[0]):
        least = min(least, most[j] / max(abs(values[j]), tiny))
    return least


@kernel
def take_step(
    limits: Array, q: Array, velocity: Array, bounds: Array, dt: float, step: Array
) -> None:
    """
    Write the velocity nearest to one wanted that the joints may have, and where it leads.

    A joint that is outside its limits may come in but not go farther out.

    Parameters
    ----------
    limits : array, shape (4, n)
        Rows as above.
    q, velocity : array, shape (n,)
        Joint values, and the velocity that is wanted.
    bounds : array, shape (2, n)
        Least and greatest velocities.
    dt : float
        Length of the step [s].
    step : array, shape (2, n)
        Written to: velocity, then joint values.

    """
    for j in range(q.shape[0]):
        speed = min(max(velocity[j], bounds[LEAST, j]), bounds[MOST, j])
        lower, upper = min(limits[LOWER, j], q[j]), max(limits[UPPER, j], q[j])
        step[0, j], step[1, j] = speed, min(max(q[j] + speed * dt, lower), upper)
