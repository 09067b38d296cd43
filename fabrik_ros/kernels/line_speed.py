"""How fast a reference goes along its line, and how fast the joints can follow."""

import math

from ..transforms import Array
from ._jit import kernel
from .braking import stopping_speed
from .displacement import size_of

TINY_RATE = 1e-12
"""Smallest rate that is divided by [rad/s or m/s]."""
BENDING_SHARE = 0.5
"""Share of the joint accelerations that a bend of the line may need [1]."""
SPEEDING_SHARE = 0.5
"""Share of the joint accelerations that is always left to come to rest [1]."""
BRAKING_SHARE = 0.95
"""Share of the joint accelerations used to brake where that is a must [1]."""
LEAD_SHARE = 0.9
"""Share of the joint accelerations that a bend may need far behind a mean of the goal [1]."""
SIDEWARD = 0.05
"""Share of the speed that may lead past the goal without that [1]."""
CLOSING_TIME = 0.2
"""Time in which the reference makes up for its distance to the mean of the goal [s]."""


@kernel
def speed_along_filtered_path(
    remaining: Array,
    leads: Array,
    heading: Array,
    speed: Array,
    acceleration: float,
    tip_acceleration: float,
    deceleration: float,
    dt: float,
    most: float,
    first: float,
    next_speed: Array,
) -> None:
    """
    Write the speed of the next step: that of the mean of the goal, if it can stop at the goal.

    The reference makes up gently for its distance to the mean: in corners the mean may need all
    the acceleration. Displacements [s] and speeds [1] have the shape (3 b,): they are divided by
    the speed limits.

    Parameters
    ----------
    remaining : array
        Displacement from the reference to the goal.
    leads : array, shape (2, 3 b)
        Displacement from the mean of the goal to the goal, now and a step later.
    heading : array
        Velocity that the goal had lately.
    speed : array
        Speed of the reference now.
    acceleration, tip_acceleration : float
        Accelerations that the joints can follow, and that the tip may have [1/s].
    deceleration : float
        Deceleration that the joints can follow with a share of what they have [1/s].
    dt : float
        Length of the step [s].
    most : float
        Speed limit, unless it takes longer to slow down to it.
    first : float
        Share of the acceleration that first brakes what leads past a corner of the goal [1].
    next_speed : array
        Written to.

    """
    for c in range(speed.shape[0]):
        next_speed[c] = remaining[c] - leads[0, c]
    behind = size_of(next_speed)
    share = 0.0
    if behind > 0.0:
        share = min(behind / CLOSING_TIME, stopping_speed(behind, acceleration, dt)) / behind
    for c in range(speed.shape[0]):
        mean_speed = (leads[0, c] - leads[1, c]) / dt
        next_speed[c] = next_speed[c] * share + mean_speed
    least = size_of(speed) - tip_acceleration * dt
    hardest = min(tip_acceleration, deceleration / BRAKING_SHARE)
    most = min(most, stopping_speed(size_of(remaining), hardest, dt))
    shorten(next_speed, max(most, least))
    for c in range(speed.shape[0]):
        next_speed[c] -= speed[c]
    brake_first(next_speed, speed, heading, tip_acceleration * dt, first)
    part = 1.0 / max(1.0, size_of(next_speed) / (tip_acceleration * dt))
    for c in range(speed.shape[0]):
        next_speed[c] = speed[c] + part * next_speed[c]


@kernel
def brake_first(change: Array, speed: Array, heading: Array, most: float, first: float) -> None:
    """
    Shorten changes of speed, shape (3 b,), to a size such that the tip does not pass a corner.

    Speed that does not go where the goal goes leads past it: a share of `most`, `first`, or more
    brakes that.
    """
    for b in range(0, change.shape[0], 3):
        wanted = size_of(change[b : b + 3])
        if wanted <= most:
            continue
        dot = square = past = brake = 0.0
        for c in range(b, b + 3):
            dot += speed[c] * heading[c]
            square += heading[c] * heading[c]
        along = dot / square if square > 0.0 else 0.0
        for c in range(b, b + 3):
            sideward = speed[c] - along * heading[c]
            past += sideward * sideward
            brake -= sideward * change[c]
        past = math.sqrt(past)
        if past <= SIDEWARD * size_of(speed[b : b + 3]) or brake <= 0.0:
            continue
        brake /= past
        braked = min(brake, max(first, brake / wanted) * most)
        rest = math.sqrt(max(0.0, wanted * wanted - brake * brake))
        room = math.sqrt(max(0.0, most * most - braked * braked))
        share = room / rest if rest > room else 1.0
        for c in range(b, b + 3):
            sideward = speed[c] - along * heading[c]
            change[c] = share * change[c] + (share * brake - braked) * sideward / past


@kernel
def shorten(speed: Array, most: float) -> None:
    """Bring a speed, shape (3 b,), down to a size."""
    size = size_of(speed)
    if size > most:
        for c in range(speed.shape[0]):
            speed[c] *= most / size


@kernel
def followable(
    q: Array,
    q_ahead: Array,
    rate: Array,
    distance: float,
    lead_time: float,
    speed: float,
    braking_share: float,
    joint_velocity: Array,
    joint_acceleration: Array,
) -> tuple[float, float, float]:
    """
    Return how fast the joints can follow, from joint values farther along the path.

    Parameters
    ----------
    q, q_ahead : array, shape (n,)
        Joint values, here and ahead.
    rate : array, shape (n,)
        Joint velocity at full speed, here.
    distance : float
        Distance between the two [s].
    lead_time : float
        Time that the mean of the goal, which is slower in a bend, takes [s]; 0 without it, and
        infinite beside it, where steps follow its bends as far as joints can.
    speed : float
        Speed of the reference now, as a share of the full speed.
    braking_share : float
        Share of the joint accelerations by which it comes to rest, where its bends leave that [1].
    joint_velocity, joint_acceleration : array, shape (n,)
        Joint limits.

    Returns
    -------
    acceleration, deceleration : float
        What they can follow with a margin, and at most [1/s].
    speed_limit : float
        Share of the full speed that they can follow.

    """
    acceleration = deceleration = speed_limit = curve_limit = math.inf
    ahead = distance / lead_time if lead_time > 0.0 else 0.0
    for j in range(q.shape[0]):
        rate_ahead = (q_ahead[j] - q[j]) / distance
        highest = max(abs(rate_ahead), abs(rate[j]), TINY_RATE)
        braking = SPEEDING_SHARE * joint_acceleration[j] / highest
        deceleration = min(
            deceleration, BRAKING_SHARE * joint_acceleration[j] / max(abs(rate[j]), TINY_RATE)
        )
        speed_limit = min(speed_limit, joint_velocity[j] / highest)
        if lead_time > 0.0:
            change = (rate_ahead * ahead - rate[j] * speed) / (0.5 * lead_time)
        else:
            change = (rate_ahead - rate[j]) / (0.5 * distance)
            # Where a bend speeds the joint up, braking does not add to that.
            slowed = (-change if rate_ahead > 0.0 else change) * speed * speed
            left = braking_share * joint_acceleration[j] - max(0.0, slowed)
            braking = max(braking, left / max(highest, abs(2.0 * rate_ahead - rate[j])))
        acceleration = min(acceleration, braking)
        curve_limit = min(curve_limit, joint_acceleration[j] / max(abs(change), TINY_RATE))
    if lead_time <= 0.0:
        speed_limit = min(speed_limit, math.sqrt(BENDING_SHARE * curve_limit))
        return acceleration, deceleration, speed_limit
    share = math.sqrt(LEAD_SHARE * curve_limit)
    if share < 1.0:
        speed_limit = min(speed_limit, share * max(speed, ahead))
    return acceleration, deceleration, speed_limit
