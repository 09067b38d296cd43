"""Route of an arm through a program: curves in joint space between its stops."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..reasons import Reason
from ..transforms import Array


@dataclass(frozen=True, eq=False)
class Stretch:
    """
    Joint values on one segment.

    Attributes
    ----------
    segment : int
        Number of the segment, from 0 on; -1 on the way to another configuration before the first.
    times : array, shape (m,)
        When the arm is there at the asked speed, without accelerating; from 0 on [s].
    q, slopes : array, shape (m, n)
        Joint values [rad or m], and their velocities at that speed [rad/s or m/s].

    """

    segment: int
    times: Array
    q: Array
    slopes: Array

    @property
    def duration(self) -> float:
        """Its duration at the asked speed [s]."""
        return float(self.times[-1])

    def at(self, time: float) -> tuple[Array, Array]:
        """Joint values and their velocities, shape (n,) each, at a time."""
        i = int(np.clip(np.searchsorted(self.times, time, side='right') - 1, 0, len(self.q) - 2))
        begin, end = float(self.times[i]), float(self.times[i + 1])
        slope, slope_end = self.slopes[i : i + 2]
        return cubic(self.q[i], self.q[i + 1], slope, slope_end, end - begin, time - begin)

    def between(self, begin: float, end: float) -> Stretch:
        """Return the part between two times, which stay as they are."""
        inside = (self.times > begin) & (self.times < end)
        ends = self.at(begin), self.at(end)
        return Stretch(
            self.segment,
            np.concatenate([[begin], self.times[inside], [end]]),
            np.vstack([ends[0][0], self.q[inside], ends[1][0]]),
            np.vstack([ends[0][1], self.slopes[inside], ends[1][1]]),
        )


def cubic(
    q: Array, q_end: Array, slope: Array, slope_end: Array, duration: float, time: float
) -> tuple[Array, Array]:
    """Values and slopes, shape (n,), of a cubic with given ends and slopes there."""
    t, way = time / duration, q_end - q
    a, b = duration * slope, duration * slope_end
    square, third = 3.0 * way - 2.0 * a - b, a + b - 2.0 * way
    value = q + t * (a + t * (square + t * third))
    return value, (a + t * (2.0 * square + 3.0 * t * third)) / duration


@dataclass(frozen=True, eq=False)
class Blend:
    """A part of a leg on which the arm goes over from one segment to the next."""

    begin: float
    """Place on the leg where it leaves the segment [s]."""
    end: float
    """Place where it is on the next one [s]."""
    radius: float
    """How near the waypoint it begins and ends [m]."""


@dataclass(frozen=True, eq=False)
class Leg:
    """
    A way from rest to rest, on one segment or on several that are blended.

    Attributes
    ----------
    knots, slopes : array, shape (m, n)
        Joint values [rad or m], and their velocities at the asked speeds [rad/s or m/s]; m = 1
        where the arm pauses.
    places : array, shape (m,)
        When it is there at the asked speeds, without accelerating; from 0 on [s].
    begins : tuple of (int, float)
        Numbers of its segments, and the places where they begin.
    blends : tuple of Blend
        Where it leaves the segments.
    acceleration : float
        Share of the greatest accelerations [1].
    pause : float
        How long the arm rests [s].

    """

    knots: Array
    slopes: Array
    places: Array
    begins: tuple[tuple[int, float], ...]
    blends: tuple[Blend, ...] = ()
    acceleration: float = 1.0
    pause: float = 0.0

    @property
    def duration(self) -> float:
        """Its duration at the asked speeds [s]."""
        return float(self.places[-1]) + self.pause

    def segment_at(self, place: float) -> tuple[int, float, float]:
        """Return the number of the segment at a place, and where on the leg it begins and ends."""
        begins = [begin for _, begin in self.begins]
        i = max(i for i, begin in enumerate(begins) if begin <= place or i == 0)
        end = [*begins[1:], self.duration][i]
        return self.begins[i][0], begins[i], end


@dataclass(frozen=True, eq=False)
class Route:
    """
    Route through a whole program, or as far as one was found.

    Attributes
    ----------
    legs : tuple of Leg
        Its parts, from rest to rest.
    reason : Reason or None
        Why it ends early; None where it goes to the end.
    segment : int
        Number of the segment on which it ends early, from 0 on; -1 where it does not.
    deviation : tuple of float
        Greatest errors of the tip on lines and arcs outside the blends [m], [rad].
    remarks : tuple of str
        What differs from what was asked, as smaller blends; for people.
    leaves_lines : bool
        Whether any part is no line or arc.
    detour : (float, str)
        By how much a joint turns beyond the direct way on a free move [rad], and its name.

    """

    legs: tuple[Leg, ...]
    reason: Reason | None = None
    segment: int = -1
    deviation: tuple[float, float] = (0.0, 0.0)
    remarks: tuple[str, ...] = ()
    leaves_lines: bool = False
    detour: tuple[float, str] = (0.0, '')

    @property
    def duration(self) -> float:
        """Its duration at the asked speeds, without accelerating [s]."""
        return sum(leg.duration for leg in self.legs)
