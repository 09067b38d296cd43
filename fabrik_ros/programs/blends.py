"""
Legs of stretches: where the arm goes over from one segment to the next without a stop.

A blend is a cubic in joint space that has the velocities of both segments at its ends: between
lines it is almost the parabola of textbooks (Craig, "Introduction to Robotics", section 7.4). It
begins as long before the waypoint as it ends behind it, within the radius.

"""

from collections.abc import Sequence
from itertools import pairwise, zip_longest
import math
from typing import NamedTuple

import numpy as np

from ..collision.guard import CollisionGuard, LeastDistances
from ..model.mechanism import Mechanism
from ..planning.pieces import Pieces
from ..transforms import Array
from .program import Segment
from .route import Blend, cubic, Leg, Stretch
from .tracing import OFF_CHORD

ROUNDING = 5e-5
"""Distance by which a blend stays inside its radius, as distances between knots curve [m]."""
WHOLE, HALF = 0.98, 0.49
"""Shares of a segment that blends at one of its ends, and at both, may take [1]."""
FEWEST, MOST = 4, 200
"""Numbers of parts of a blend."""
HALVINGS = 5
"""Smaller blends tried where one is not free."""
SMALLER = 0.999
"""A blend with less than this share of its radius is told of."""

Part = tuple[Stretch, Segment]


class Curve(NamedTuple):
    """A blend in joint space."""

    q: Array
    """Joint values, evenly apart in time, shape (m, n) [rad or m]."""
    slopes: Array
    """Their velocities [rad/s or m/s]."""
    lead: float
    """Time from its beginning to the waypoint, and from there to its end [s]."""
    radius: float = 0.0
    """How far it is from the waypoint at most [m]."""


class LegMaker:
    """
    Makes legs.

    Parameters
    ----------
    robot : Chain
        The arm.
    guard : CollisionGuard or None
        Knows what collides, where that is checked.
    least : LeastDistances or None
        Distances that pairs of links keep.

    Attributes
    ----------
    remarks : list of str
        What differs from what was asked.

    """

    def __init__(
        self, robot: Mechanism, guard: CollisionGuard | None, least: LeastDistances | None
    ) -> None:
        self._robot, self._guard, self._least = robot, guard, least
        self.remarks: list[str] = []

    def legs(self, parts: Sequence[Part]) -> Pieces[list[Leg]]:
        """Make the legs of segments that are to be blended, in pieces; usually it is one."""
        blends = []
        for i in range(len(parts) - 1):
            blends.append(self._blend(parts, i))
            yield
        stops = [i + 1 for i, blend in enumerate(blends) if blend is None]
        return [
            _leg(parts[begin:end], [blend for blend in blends[begin : end - 1] if blend])
            for begin, end in pairwise([0, *stops, len(parts)])
        ]

    def _blend(self, parts: Sequence[Part], i: int) -> Curve | None:
        """Blend a segment with the next one; None where that cannot be."""
        (stretch, segment), (following, _) = parts[i], parts[i + 1]
        radius = segment.blend
        waypoint = self._tip(following.q[0])
        ahead = _time_within(self._distances(stretch, waypoint)[::-1], stretch.times, radius, True)
        behind = _time_within(self._distances(following, waypoint), following.times, radius)
        if min(ahead, behind) <= 0.0:
            self._remark(segment, stretch.segment, 0.0)
            return None
        room = (HALF if i > 0 else WHOLE) * stretch.duration
        room_behind = (HALF if i + 2 < len(parts) else WHOLE) * following.duration
        lead = min(ahead, behind, room, room_behind)
        for _ in range(HALVINGS):
            curve = curve_over(stretch, following, lead, self._robot.size)
            reached = self._farthest(curve, waypoint)
            if reached <= radius and self._is_free(curve):
                if reached < SMALLER * radius - 2.0 * ROUNDING:
                    self._remark(segment, stretch.segment, reached)
                return curve._replace(radius=reached)
            lead *= 0.5
        self._remark(segment, stretch.segment, 0.0)
        return None

    def _remark(self, segment: Segment, number: int, radius: float) -> None:
        what = f'{1e3 * radius:.0f} mm' if radius else 'none: the arm stops there'
        self.remarks.append(
            f'blend after segment {number + 1}: {what} instead of {1e3 * segment.blend:.0f} mm'
        )

    def _tip(self, q: Array) -> Array:
        place: Array = self._robot.tip_poses(q)[0, :3, 3]
        return place

    def _distances(self, stretch: Stretch, waypoint: Array) -> Array:
        """Distances of the tip from a point, at the knots of a stretch, shape (m,) [m]."""
        return np.array([np.linalg.norm(self._tip(q) - waypoint) for q in stretch.q])

    def _farthest(self, curve: Curve, waypoint: Array) -> float:
        return max(float(np.linalg.norm(self._tip(q) - waypoint)) for q in curve.q)

    def _is_free(self, curve: Curve) -> bool:
        """Whether a blend keeps to the limits, and nothing comes too near."""
        robot, guard, least = self._robot, self._guard, self._least
        if np.any(curve.q < robot.lower) or np.any(curve.q > robot.upper):
            return False
        if guard is None or least is None:
            return True
        return not any(guard.collision_between(*ends, least) for ends in pairwise(curve.q))


def curve_over(stretch: Stretch, following: Stretch, lead: float, size: float) -> Curve:
    """Make the blend that begins a time before the waypoint and ends as long behind it."""
    begin, slope = stretch.at(stretch.duration - lead)
    end, slope_end = following.at(lead)
    duration = 2.0 * lead
    way = end - begin
    square = 3.0 * way - duration * (2.0 * slope + slope_end)
    third = duration * (slope + slope_end) - 2.0 * way
    bend = max(np.linalg.norm(2.0 * square), np.linalg.norm(2.0 * square + 6.0 * third))
    count = min(max(math.ceil(math.sqrt(bend * size / (8.0 * OFF_CHORD))), FEWEST), MOST)
    times = np.linspace(0.0, duration, 1 + count).tolist()
    points = [cubic(begin, end, slope, slope_end, duration, time) for time in times]
    return Curve(np.array([q for q, _ in points]), np.array([v for _, v in points]), lead)


def _time_within(distances: Array, times: Array, radius: float, back: bool = False) -> float:
    """Time from the first of some distances until they exceed a radius."""
    since = (times[-1] - times)[::-1] if back else times
    beyond = np.flatnonzero(distances > radius - ROUNDING)
    if len(beyond) == 0:
        return float(since[-1])
    i = max(int(beyond[0]), 1)
    return float(np.interp(radius - ROUNDING, distances[i - 1 : i + 1], since[i - 1 : i + 1]))


def _leg(parts: Sequence[Part], curves: Sequence[Curve]) -> Leg:
    """Put stretches and the blends between them one after the other."""
    knots, slopes, places, begins, blends = [], [], [], [], []
    at = before = 0.0
    for (stretch, _), curve in zip_longest(parts, curves):
        begins.append((stretch.segment, at - before))
        lead = 0.0 if curve is None else curve.lead
        part = stretch.between(before, stretch.duration - lead)
        knots.append(part.q)
        slopes.append(part.slopes)
        places.append(at - before + part.times)
        at += stretch.duration - before - lead
        if curve is not None:
            knots.append(curve.q[1:-1])
            slopes.append(curve.slopes[1:-1])
            places.append(at + np.linspace(0.0, 2.0 * lead, len(curve.q))[1:-1])
            blends.append(Blend(at, at + 2.0 * lead, curve.radius))
            at += 2.0 * lead
        before = lead
    acceleration = min(segment.acceleration for _, segment in parts)
    return Leg(
        np.vstack(knots),
        np.vstack(slopes),
        np.concatenate(places),
        tuple(begins),
        tuple(blends),
        acceleration,
    )
