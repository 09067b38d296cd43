"""When the tips will be where on a path, about: from rest to rest, and no faster than they may."""

import numpy as np
import numpy.typing as npt

from ...transforms import Array


def paced(
    lengths: Array, least: Array, rests: npt.NDArray[np.bool_], acceleration: float
) -> Array:
    """
    Tell when an arm is at places on a path, from 0 on, if joints gain speed as tips do.

    Parameters
    ----------
    lengths, least : array, shape (m - 1,)
        How far the tip goes from each place to the next [m], and how long that takes at least [s].
    rests : array of bool, shape (m,)
        Whether the arm rests at a place.
    acceleration : float
        Of the tip [m/s^2].

    Returns
    -------
    array, shape (m,)
        Times [s].

    """
    steady = np.divide(lengths, least, out=np.zeros_like(lengths), where=least > 0.0)
    ceilings = np.minimum(np.append(steady, np.inf), np.append(np.inf, steady))
    ceilings[rests] = 0.0
    speeds = reached(np.append(0.0, np.cumsum(lengths)), ceilings, acceleration)
    begin, end = speeds[:-1], speeds[1:]
    squares = begin * begin + end * end
    peak = np.minimum(steady, np.sqrt(0.5 * squares + acceleration * lengths))
    changing = (2.0 * peak - begin - end) / acceleration
    at_peak = np.maximum(lengths - (peak * peak - 0.5 * squares) / acceleration, 0.0)
    times = changing + np.divide(at_peak, peak, out=np.zeros_like(peak), where=peak > 0.0)
    return np.append(0.0, np.cumsum(np.maximum(times, least)))


def reached(places: Array, ceilings: Array, acceleration: float) -> Array:
    """
    Return the greatest speeds at places that rise and fall with no more than an acceleration.

    Parameters
    ----------
    places : array, shape (m,)
        Along the path, never falling [m].
    ceilings : array, shape (m,)
        Greatest speeds there [m/s].
    acceleration : float
        [m/s^2].

    """
    gained, squared = 2.0 * acceleration * places, np.square(ceilings)
    rising = gained + np.minimum.accumulate(squared - gained)
    falling = np.minimum.accumulate((rising + gained)[::-1])[::-1] - gained
    speeds: Array = np.sqrt(np.maximum(falling, 0.0))
    return speeds


def piece_speeds(points: Array, times: Array) -> Array:
    """
    Return the mean speeds of a tip between points on its path.

    Parameters
    ----------
    points : array, shape (m, 3)
        On the path [m].
    times : array, shape (m,)
        When it is there [s].

    Returns
    -------
    array, shape (max(m - 1, 0),)
        [m/s].

    """
    lengths, steps = np.linalg.norm(np.diff(points, axis=0), axis=1), np.diff(times)
    speeds: Array = np.divide(lengths, steps, out=np.zeros_like(lengths), where=steps > 0.0)
    return speeds
