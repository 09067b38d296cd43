"""
Two links in closed form: the joint between two known neighbours, and the two-link arm as angles.

Where FABRIK iterates, two links have an answer: the joint between them is on two spheres, one
about each neighbour, so on the circle in which they meet; in a plane that is two points, the
elbow on either side, and the law of cosines gives their angles.

"""

from __future__ import annotations

from dataclasses import dataclass
import math

import numpy as np
import numpy.typing as npt

from .point_chain import Array, checked_point, finite, PointStatus, unit

ROUNDING = 1e-12
"""Distances this much out of reach, as a share of the reach, are on the boundary."""

LIMIT_SLACK = 1e-9
"""Angles this little outside their limits are on them [rad]."""

TURN = 2.0 * math.pi


def nearest_elbow(
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    length_a: float,
    length_b: float,
    elbow: npt.ArrayLike,
) -> Array:
    """
    Put a joint between two known neighbours, as near as can be to where it was.

    The spheres about `a` and `b` meet in a circle round the line through both; the joint goes to
    the point of it nearest to `elbow`. Where they do not meet, it stays `length_a` from `a`, on
    the line: towards `b` where that is too far, folded back where it is too near.

    Parameters
    ----------
    a, b : array-like, shape (d,)
        The neighbours, d = 2 or 3.
    length_a, length_b : float
        Distances of the joint from each, in the same unit; not negative.
    elbow : array-like, shape (d,)
        Where the joint was. If all of the circle is equally near to it, the joint moves towards
        the coordinate axis most square to the line, the same every time; if the neighbours
        coincide, it keeps its direction from them.

    Returns
    -------
    array, shape (d,)
        The joint.

    Raises
    ------
    ValueError
        If a point has another shape than the first or is not finite, or a length is negative.

    Examples
    --------
    >>> nearest_elbow([0, 0], [6, 0], 5, 5, elbow=[3, 1])
    array([3., 4.])

    """
    start = finite('a', a)
    if start.shape not in ((2,), (3,)):
        raise ValueError(f'a must have shape (2,) or (3,), got shape {start.shape}')
    end = checked_point('b', b, len(start))
    before = checked_point('elbow', elbow, len(start))
    first, second = _checked_length('length_a', length_a), _checked_length('length_b', length_b)

    along = unit(end - start)
    if not along.any():
        return start + first * unit(before - start, np.eye(len(start))[0])
    alpha, _ = triangle(math.dist(start, end), first, second)
    offset = before - start
    aside = _square_to(along, offset, *np.eye(len(start))[np.argsort(np.abs(along))])
    joint: Array = start + first * (math.cos(alpha) * along + math.sin(alpha) * aside)
    return joint


@dataclass(frozen=True, eq=False)
class TwoLinkSolution:
    """
    What `two_link_angles` found; true if it converged.

    Attributes
    ----------
    q : array, shape (2,)
        Angles chosen [rad]: of link 1 from x, of link 2 from link 1, anticlockwise.
    solutions : array, shape (2, 2)
        Both elbows [rad], without regard to limits but for whole turns: first the one with
        q2 >= 0, as in the plane with the elbow to the right of the line to the target.
    within_limits : tuple of 2 bools
        Which of the two the limits allow.
    chosen : int or None
        Which of the two `q` is; None where limits allow neither, and `q` is the nearest allowed.
    status : PointStatus
        `CONVERGED`, `TOO_FAR`, `TOO_NEAR`, or `BLOCKED_BY_LIMITS` in reach but not allowed.
    residual : float
        Distance between the tip at `q` and the target.

    """

    q: Array

    solutions: Array

    within_limits: tuple[bool, bool]

    chosen: int | None

    status: PointStatus

    residual: float

    def __bool__(self) -> bool:
        return self.converged

    @property
    def converged(self) -> bool:
        """Whether the tip is on the target, within rounding."""
        return self.status is PointStatus.CONVERGED


def two_link_angles(
    target: npt.ArrayLike,
    lengths: npt.ArrayLike,
    lower: npt.ArrayLike = (-math.inf, -math.inf),
    upper: npt.ArrayLike = (math.inf, math.inf),
    seed: npt.ArrayLike = (0.0, 0.0),
) -> TwoLinkSolution:
    """
    Solve the planar two-link arm at the origin by the law of cosines.

    Of both elbows those within the limits come first, then the one nearest to the seed. A target
    too far stretches the arm towards it, one too near folds it; one on the base keeps q1 of the
    seed.

    Parameters
    ----------
    target : array-like, shape (2,)
        Where the tip shall be.
    lengths : array-like, shape (2,)
        Of both links, not negative, in the unit of the target.
    lower, upper : array-like, shape (2,)
        Limits of q1 and q2 [rad], infinite where there are none.
    seed : array-like, shape (2,)
        Angles to be near to [rad]; of the whole turns by which an answer may differ, the nearest.

    Raises
    ------
    ValueError
        If something has another shape, is not finite (limits may be infinite), a length is
        negative, or a lower limit is over its upper one.

    Examples
    --------
    >>> two_link_angles([1.0, 1.0], [1.0, 1.0], seed=[0.0, 1.0]).solutions.round(3)
    array([[ 0.   ,  1.571],
           [ 1.571, -1.571]])

    """
    t = checked_point('target', target, 2)
    arm = _TwoLinkArm(
        tuple(_checked_length('lengths', each) for each in checked_point('lengths', lengths, 2)),
        *_checked_limits(lower, upper),
        checked_point('seed', seed, 2),
    )
    solutions, allowed = arm.both_elbows(t)
    chosen = min(
        (k for k in (0, 1) if allowed[k]),
        key=lambda k: math.dist(solutions[k], arm.seed),
        default=None,
    )
    q = arm.nearest_allowed(t) if chosen is None else solutions[chosen].copy()
    solutions.flags.writeable = q.flags.writeable = False
    status = arm.reach_status(t)
    if status is PointStatus.CONVERGED and chosen is None:
        status = PointStatus.BLOCKED_BY_LIMITS
    return TwoLinkSolution(q, solutions, allowed, chosen, status, math.dist(arm.tip(q), t))


@dataclass(frozen=True, eq=False)
class _TwoLinkArm:
    """The planar two-link arm at the origin, its limits, and the angles to be near to."""

    lengths: tuple[float, ...]
    lower: Array
    upper: Array
    seed: Array

    def tip(self, q: Array) -> Array:
        """Say where the tip is at the angles `q`, shape (2,)."""
        first, second = self.lengths
        return first * heading(q[0]) + second * heading(q[0] + q[1])

    def reach_status(self, target: Array) -> PointStatus:
        """Tell whether a target is in reach, limits left aside."""
        distance, reach = math.hypot(*target), sum(self.lengths)
        inner_reach = abs(self.lengths[0] - self.lengths[1])
        if distance > reach * (1.0 + ROUNDING):
            return PointStatus.TOO_FAR
        if distance < inner_reach - reach * ROUNDING:
            return PointStatus.TOO_NEAR
        return PointStatus.CONVERGED

    def both_elbows(self, target: Array) -> tuple[Array, tuple[bool, bool]]:
        """Give the angles for both elbows, each by the turns nearest to the seed, if allowed."""
        distance = math.hypot(*target)
        alpha, bend = triangle(distance, *self.lengths)
        towards = math.atan2(target[1], target[0])
        if distance == 0.0:
            towards, alpha = self.seed[0], 0.0
        pairs = [
            [self._by_turns(0, towards - side * alpha), self._by_turns(1, side * bend)]
            for side in (1.0, -1.0)
        ]
        q = np.array([[angle for angle, _ in pair] for pair in pairs])
        right, left = (all(allowed for _, allowed in pair) for pair in pairs)
        return q, (right, left)

    def nearest_allowed(self, target: Array) -> Array:
        """
        Give the angles within the limits that bring the tip nearest to a target it cannot have.

        Then one angle is at a limit, and the best other one is known: of the points of a circle
        the nearest one, or the end of the arc that is nearer to it.
        """
        candidates = []
        for bound in {self.lower[0], self.upper[0]} - {-math.inf, math.inf}:
            rest = target - self.lengths[0] * heading(bound)
            angle = math.atan2(rest[1], rest[0]) - bound if rest.any() else self.seed[1]
            candidates.append(np.array([bound, self._clamped(1, angle)]))
        for bound in {self.lower[1], self.upper[1]} - {-math.inf, math.inf}:
            straight = self.tip(np.array([0.0, bound]))
            angle = math.atan2(target[1], target[0]) - math.atan2(straight[1], straight[0])
            known = target.any() and straight.any()
            candidates.append(
                np.array([self._clamped(0, angle if known else self.seed[0]), bound])
            )
        misses = [math.dist(self.tip(q), target) for q in candidates]
        equal = min(misses) + ROUNDING * sum(self.lengths)
        best = [q for q, miss in zip(candidates, misses, strict=True) if miss <= equal]
        return min(best, key=lambda q: math.dist(q, self.seed))

    def _by_turns(self, joint: int, angle: float) -> tuple[float, bool]:
        """Add whole turns: into the limits if that can be, and as near to the seed as can be."""
        lower, upper = self.lower[joint], self.upper[joint]
        turns = np.round((self.seed[joint] - angle) / TURN)
        least = np.ceil((lower - LIMIT_SLACK - angle) / TURN)
        most = np.floor((upper + LIMIT_SLACK - angle) / TURN)
        if least > most:
            return float(angle + turns * TURN), False
        allowed = angle + min(max(turns, least), most) * TURN
        return float(min(max(allowed, lower), upper)), True

    def _clamped(self, joint: int, angle: float) -> float:
        """Add whole turns into the limits, or else take the limit nearer on the circle."""
        lower, upper = self.lower[joint], self.upper[joint]
        inside, allowed = self._by_turns(joint, angle)
        if allowed:
            return inside
        return float(min(lower, upper, key=lambda bound: abs(math.remainder(angle - bound, TURN))))


def heading(angle: float) -> Array:
    """Point along an angle anticlockwise from x, shape (2,)."""
    return np.array([math.cos(angle), math.sin(angle)])


def triangle(distance: float, first: float, second: float) -> tuple[float, float]:
    """
    Solve the triangle of both links and the line to the target by the law of cosines.

    Its half-angle form loses no digits where the triangle is flat. Sides that make no triangle
    give the flat one: stretched, or folded.

    Returns
    -------
    tuple of two floats
        The angle at the base between line and first link, and by how much the second link is
        bent from the first, both in [0, pi] [rad].

    """
    perimeter = first + second + distance
    over_first = max(0.0, second + (distance - first))
    over_second = max(0.0, first + (distance - second))
    over_distance = max(0.0, first + second - distance)
    alpha = 2.0 * math.atan2(
        math.sqrt(over_first) * math.sqrt(over_distance),
        math.sqrt(perimeter) * math.sqrt(over_second),
    )
    bend = 2.0 * math.atan2(
        math.sqrt(perimeter) * math.sqrt(over_distance),
        math.sqrt(over_first) * math.sqrt(over_second),
    )
    return alpha, bend


def _square_to(along: Array, *candidates: Array) -> Array:
    """Give the direction of the first candidate that is not along the line, square to it."""
    for candidate in candidates:
        direction = unit(candidate)
        aside = direction - (direction @ along) * along
        if np.abs(aside).max() > ROUNDING:
            aside = unit(aside)
            return unit(aside - (aside @ along) * along)
    raise AssertionError


def _checked_length(name: str, length: float) -> float:
    if not 0.0 <= length < math.inf:
        raise ValueError(f'{name} must be finite and not negative, got {length}')
    return float(length)


def _checked_limits(lower: npt.ArrayLike, upper: npt.ArrayLike) -> tuple[Array, Array]:
    low, high = np.array(lower, dtype=np.float64), np.array(upper, dtype=np.float64)
    if low.shape != (2,) or high.shape != (2,) or not (low <= high).all():
        raise ValueError(f'limits must be two angles each, lower <= upper, got {low}, {high}')
    return low, high
