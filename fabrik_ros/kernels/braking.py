"""Velocities that joints may have, so that they can stop in front of their limits."""

import math

from ..transforms import Array
from ._jit import kernel

LOWER, UPPER, MAX_VELOCITY, MAX_ACCELERATION = range(4)
"""Rows of joint limits: values [rad or m], velocities and accelerations."""
LEAST, MOST = range(2)
"""Rows of velocity bounds."""


@kernel
def stopping_speed(distance: float, deceleration: float, dt: float) -> float:
    """
    Greatest speed for the next step from which one can still stop within `distance`.

    Solves speed dt + speed^2 / (2 deceleration) = distance; 0 where no distance is left.
    """
    gained = deceleration * dt
    return math.sqrt(gained * gained + 2.0 * deceleration * max(distance, 0.0)) - gained


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
        Share of the acceleration that is used to stop [1].
    bounds : array, shape (2, n)
        Written to.

    """
    for j in range(q.shape[0]):
        change = limits[MAX_ACCELERATION, j] * change_time
        up = stopping_speed(limits[UPPER, j] - q[j], share * limits[MAX_ACCELERATION, j], dt)
        down = stopping_speed(q[j] - limits[LOWER, j], share * limits[MAX_ACCELERATION, j], dt)
        fastest = max(limits[MAX_VELOCITY, j], abs(velocity[j]) - change)
        least = max(-fastest, velocity[j] - change, -down)
        most = min(fastest, velocity[j] + change, up)
        bounds[LEAST, j], bounds[MOST, j] = min(least, most), max(least, most)


@kernel
def gentle_box(
    limits: Array, q: Array, bounds: Array, dt: float, share: float, start: Array,
    correction: Array, box: Array,
) -> None:  # fmt: skip
    """
    Write joint values between which each joint comes to its limit gently, inside of `bounds`.

    Parameters
    ----------
    limits, q : array
        As for `velocity_bounds`.
    bounds : array, shape (2, n)
        Least and greatest velocities.
    dt : float
        Length of the step [s].
    share : float
        Share of the acceleration that is used to come to a limit [1].
    start, correction : array, shape (n,)
        Joint values from which the box is measured, and velocity that is added.
    box : array, shape (2, n)
        Written to: lower, then upper joint values.

    """
    for j in range(q.shape[0]):
        up = stopping_speed(limits[UPPER, j] - q[j], share * limits[MAX_ACCELERATION, j], dt)
        down = stopping_speed(q[j] - limits[LOWER, j], share * limits[MAX_ACCELERATION, j], dt)
        least, most = bounds[LEAST, j], bounds[MOST, j]
        gentle = min(max(least, -down), most)
        box[LEAST, j] = start[j] + (gentle - correction[j]) * dt
        box[MOST, j] = start[j] + (max(min(most, up), gentle) - correction[j]) * dt


@kernel
def is_within(box: Array, q: Array) -> bool:
    """Whether joint values, shape (n,), are inside a box of shape (2, n)."""
    is_inside = True
    for j in range(q.shape[0]):
        is_inside = is_inside and box[LEAST, j] <= q[j] <= box[MOST, j]
    return is_inside


@kernel
def followable_share(bounds: Array, rate: Array, correction: Array, tiny: float) -> float:
    """
    Return the share of a step, nearest to all of it, that the bounds of velocities allow.

    Joints that move by no more than `tiny`, or cannot reverse so soon, are left out; `rate` is the
    velocity that the whole step needs, `correction` the one that is added, shapes (n,).
    """
    highest_least, lowest_most = 0.0, math.inf
    for j in range(rate.shape[0]):
        if abs(rate[j]) <= tiny:
            continue
        one = (bounds[LEAST, j] - correction[j]) / rate[j]
        other = (bounds[MOST, j] - correction[j]) / rate[j]
        if max(one, other) >= 0.0:
            highest_least = max(highest_least, min(one, other))
            lowest_most = min(lowest_most, max(one, other))
    return min(max(1.0, highest_least), lowest_most)


@kernel
def catching_up(limits: Array, lag: Array, dt: float, share: float, speed: Array) -> None:
    """Write the velocities that correct a lag, shape (n,), without overshoot."""
    for j in range(lag.shape[0]):
        most = stopping_speed(abs(lag[j]), share * limits[MAX_ACCELERATION, j], dt)
        speed[j] = math.copysign(most, lag[j])


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
