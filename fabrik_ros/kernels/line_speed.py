"""How fast a reference goes along its line, and how fast the joints can follow."""

import math

from ..transforms import Array
from ._jit import kernel
from .braking import stopping_speed
from .displacement import size_of

TINY = 1e-12
BENDING_SHARE = 0.5
SPEEDING_SHARE = 0.5
BRAKING_SHARE = 0.9
LED_SHARE = 0.9
CLOSING_TIME = 0.2
"""In which the reference makes up for what it is behind its trail [s]."""


@kernel
def speed_along_trail(
    way_left: Array,
    left: Array,
    left_later: Array,
    speed: Array,
    gain: float,
    full_gain: float,
    brake: float,
    dt: float,
    most: float,
    next_speed: Array,
) -> None:
    """
    Write the speed of the next step with the mean of the goal, from which it can stop at the goal.

    What it is behind it makes up gently: in corners the trail may need all the acceleration
    there is. Ways and speeds have the shape (3 b,), as shares of the greatest speeds.

    Parameters
    ----------
    way_left : array
        From the reference to the goal.
    left, left_later : array
        From the mean of the goal to the goal, now and a step later.
    speed : array
        Of the reference now.
    gain, full_gain : float
        Change of speed that the joints can follow and that the tip is allowed [1/s].
    brake : float
        Change of speed that the joints can follow when they must [1/s].
    dt : float
        Length of the step [s].
    most : float
        Greatest speed, unless it takes longer to come down to it.
    next_speed : array
        Written to.

    """
    for c in range(speed.shape[0]):
        next_speed[c] = way_left[c] - left[c]
    behind = size_of(next_speed)
    share = 0.0
    if behind > 0.0:
        share = min(behind / CLOSING_TIME, stopping_speed(behind, gain, dt)) / behind
    for c in range(speed.shape[0]):
        led = (left[c] - left_later[c]) / dt
        next_speed[c] = next_speed[c] * share + led - speed[c]
    part = 1.0 / max(1.0, size_of(next_speed) / (full_gain * dt))
    for c in range(speed.shape[0]):
        next_speed[c] = speed[c] + part * next_speed[c]
    least = size_of(speed) - full_gain * dt
    most = min(most, stopping_speed(size_of(way_left), brake, dt))
    shorten(next_speed, max(most, least))


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
    led_for: float,
    speed: float,
    fastest: Array,
    strength: Array,
) -> tuple[float, float, float]:
    """
    Tell how fast the joints can follow, from where they will be some way ahead.

    Parameters
    ----------
    q, q_ahead : array, shape (n,)
        Joint values, here and there.
    rate : array, shape (n,)
        Joint velocity at full speed, here.
    distance : float
        How far that is [s].
    led_for : float
        How long the trail, which goes slower in a bend, leads there [s]; 0 if it does not.
    speed : float
        Of the reference now, as a share of the greatest.
    fastest, strength : array, shape (n,)
        Velocities and accelerations that the joints may have.

    Returns
    -------
    gain, brake : float
        Change of speed that they can follow with a margin, and when they must [1/s].
    cap : float
        Share of the full speed that they can follow.

    """
    gain = brake = cap = room = math.inf
    ahead = distance / led_for if led_for > 0.0 else 0.0
    for j in range(q.shape[0]):
        rate_ahead = (q_ahead[j] - q[j]) / distance
        highest = max(abs(rate_ahead), abs(rate[j]), TINY)
        gain = min(gain, SPEEDING_SHARE * strength[j] / highest)
        brake = min(brake, BRAKING_SHARE * strength[j] / max(abs(rate[j]), TINY))
        cap = min(cap, fastest[j] / highest)
        if led_for > 0.0:
            change = (rate_ahead * ahead - rate[j] * speed) / (0.5 * led_for)
        else:
            change = (rate_ahead - rate[j]) / (0.5 * distance)
        room = min(room, strength[j] / max(abs(change), TINY))
    if led_for <= 0.0:
        return gain, brake, min(cap, math.sqrt(BENDING_SHARE * room))
    share = math.sqrt(LED_SHARE * room)
    return gain, brake, min(cap, share * max(speed, ahead)) if share < 1.0 else cap
