"""Timing of a way: as fast as the joints may go, from rest to rest."""

import numpy as np
import numpy.typing as npt

from ..transforms import Array

USUAL_SPEED = 1.5
"""Greatest default speed of a joint, even if the URDF allows more [rad/s or m/s]."""
SPEED_UP_TIME = 0.3
"""Shortest time in which a joint gains or loses its greatest speed [s]."""
SAME_KNOT = 1e-9
"""Largest difference of knots that count as one [rad or m]."""
LEAST_BEND = 1e-12
"""A smaller share of an acceleration bends nothing [s^2]."""


class TimedWay:
    """
    A way on straight lines over knots, with a time for each place.

    The speed along the way s is the greatest with which

    * each joint keeps its greatest speed, and half of its acceleration along the way;
    * it keeps the other half where the way bends.

    Parameters
    ----------
    knots : array, shape (m, n)
        Joint values [rad or m], m >= 1.
    fastest : array, shape (n,)
        Greatest speeds of the joints [rad/s or m/s].

    Attributes
    ----------
    duration : float
        Duration of the way [s].

    """

    def __init__(self, knots: Array, fastest: Array) -> None:
        apart = np.max(np.abs(np.diff(knots, axis=0)), axis=1) > SAME_KNOT
        self._knots = knots[np.append(True, apart)]
        steps = np.diff(self._knots, axis=0)
        lengths = np.linalg.norm(steps, axis=1)
        self._knot_places = np.append(0.0, np.cumsum(lengths))
        limits, hardest = _limits(steps, lengths, fastest)
        halves, hardest = np.repeat(0.5 * lengths, 2), np.repeat(hardest, 2)
        self._speeds = _reached(limits, halves, hardest)
        self._durations = 2.0 * halves / (self._speeds[:-1] + self._speeds[1:])
        self._times = np.append(0.0, np.cumsum(self._durations))
        self._places = np.append(0.0, np.cumsum(halves))
        self.duration = float(self._times[-1])

    def at(self, time: npt.ArrayLike) -> Array:
        """Joint values at times [s], shape (n,) or (k, n); before and after, at the ends."""
        if len(self._durations) == 0:
            still: Array = np.broadcast_to(
                self._knots[0], (*np.shape(time), self._knots.shape[1])
            ).copy()
            return still
        t = np.clip(np.asarray(time, dtype=np.float64), 0.0, self.duration)
        i = np.searchsorted(self._times[1:-1], t, side='right')
        since, before, behind = t - self._times[i], self._speeds[i], self._speeds[i + 1]
        gained = 0.5 * (behind - before) * since**2 / self._durations[i]
        place = self._places[i] + before * since + gained
        columns = [np.interp(place, self._knot_places, column) for column in self._knots.T]
        values: Array = np.stack(columns, axis=-1)
        return values


def _limits(steps: Array, lengths: Array, fastest: Array) -> tuple[Array, Array]:
    """
    Greatest speeds at all knots and amid all steps, (2 m - 1,), and accelerations, (m - 1,).

    Both are along the way. At its ends the arm rests.
    """
    directions = steps / lengths[:, None]
    top = 1.0 / np.max(np.abs(directions) / fastest, axis=1)
    hardest = 0.5 * top / SPEED_UP_TIME
    limits = np.zeros(2 * len(steps) + 1)
    limits[1::2] = top
    if len(steps) > 1:
        bends = np.diff(directions, axis=0) / (0.5 * (lengths[:-1] + lengths[1:]))[:, None]
        bend = np.max(np.abs(bends) * SPEED_UP_TIME / fastest, axis=1)
        bent = np.sqrt(0.5 / np.maximum(bend, LEAST_BEND))
        limits[2:-1:2] = np.min([top[:-1], top[1:], bent], axis=0)
    return limits, hardest


def _reached(limits: Array, lengths: Array, hardest: Array) -> Array:
    """Lower the speeds so that accelerations and decelerations stay within `hardest`."""
    speeds: Array = limits.copy()
    for i, gain in enumerate(2.0 * hardest * lengths):
        speeds[i + 1] = min(speeds[i + 1], np.sqrt(speeds[i] ** 2 + gain))
    for i, gain in reversed([*enumerate(2.0 * hardest * lengths)]):
        speeds[i] = min(speeds[i], np.sqrt(speeds[i + 1] ** 2 + gain))
    return speeds
