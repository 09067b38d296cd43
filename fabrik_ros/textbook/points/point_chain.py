"""
FABRIK as published, on bare points, to be read beside the paper.

A. Aristidou and J. Lasenby, "FABRIK: A fast, iterative solver for the Inverse Kinematics
problem", Graphical Models 73 (2011) 243-260. This is Algorithm 1: one serial chain with a fixed
base, every joint free to turn any way. Robot arms have hinges and limits, which points alone
cannot see; they are the business of `FabrikSolver`.

The paper calls the pass from tip to base "forward reaching" and the one from base to tip
"backward reaching"; others use the same words the other way round. Here the passes are named by
the way they go: `tip_to_base` and `base_to_tip`. The paper counts points from 1, we from 0.

Added to the paper: the inner reach, a push for the straight chain whose target is on
its own line, and an answer where points coincide and a direction is missing.

"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise
import math

import numpy as np
import numpy.typing as npt

from ...errors import TargetError

Array = npt.NDArray[np.float64]

LARGEST_COORDINATE = 1e150
"""Squares and sums of coordinates up to this size do not overflow."""

STALL_FRACTION = 1e-3
"""A tip that moves by less than this share of the tolerance in an iteration has stalled."""

PUSH = 0.3
"""How far the inner joints are pushed aside where the tip stalls, as a share of the reach."""


class PointStatus(Enum):
    """
    How a solve ended.

    Attributes
    ----------
    CONVERGED
        The tip is within the tolerance of the target.
    TOO_FAR
        The target is beyond the reach; the chain is straight and points at it.
    TOO_NEAR
        The target is inside the inner reach; the chain is folded, its tip as near as can be.
    STALLED
        The tip has stopped moving short of the target, even after a push aside.
    BLOCKED_BY_LIMITS
        In reach, but known not to be allowed by the limits; only where a closed form can tell.
    ITERATION_LIMIT
        The iterations ran out while the tip was still moving.

    """

    CONVERGED = 'converged'

    TOO_FAR = 'too far'

    TOO_NEAR = 'too near'

    STALLED = 'stalled'

    BLOCKED_BY_LIMITS = 'blocked by limits'

    ITERATION_LIMIT = 'iteration limit'


@dataclass(frozen=True, eq=False)
class PointSolution:
    """
    What `PointChain.solve` found; true if it converged.

    Attributes
    ----------
    points : array, shape (n + 1, d)
        Joint centres from base to tip, read-only [unit of the chain].
    status : PointStatus
        How the solve ended.
    residual : float
        Distance between the last of `points` and the target [unit of the chain].
    iterations : int
        Pairs of passes made; 0 where the answer was known without any.

    """

    points: Array

    status: PointStatus

    residual: float

    iterations: int

    def __bool__(self) -> bool:
        return self.converged

    @property
    def converged(self) -> bool:
        """Whether the residual is within the tolerance asked for."""
        return self.status is PointStatus.CONVERGED


class PointChain:
    """
    Serial chain of points that keep their distances: the state on which FABRIK works.

    A chain is a value. Its passes return new chains with the same link lengths.

    Parameters
    ----------
    points : array-like, shape (n + 1, d)
        Joint centres from base to tip in any one frame and unit, d = 2 or 3, n >= 1. They are
        copied. Neighbours may coincide: their link has, and keeps, length zero.

    Raises
    ------
    ValueError
        If the shape is another one, or a coordinate is not finite or over 1e150.

    Examples
    --------
    >>> chain = PointChain([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0]])
    >>> solution = chain.solve([1.0, 1.0])
    >>> solution.status.value
    'converged'
    >>> solution.points.round(3)
    array([[0., 0.],
           [1., 0.],
           [1., 1.]])

    """

    def __init__(self, points: npt.ArrayLike) -> None:
        self._points = checked_points(points)
        self._lengths = np.array([math.dist(a, b) for a, b in pairwise(self._points)])
        self._points.flags.writeable = self._lengths.flags.writeable = False

    @property
    def points(self) -> Array:
        """Joint centres from base to tip, shape (n + 1, d), read-only."""
        return self._points

    @property
    def link_lengths(self) -> Array:
        """Distances between neighbours as first given, shape (n,), read-only."""
        return self._lengths

    @property
    def reach(self) -> float:
        """Largest distance from the base at which the tip can be."""
        return float(self._lengths.sum())

    @property
    def inner_reach(self) -> float:
        """Smallest such distance: 0 unless one link is longer than all others together."""
        return max(0.0, float(self._folded_lengths().sum()))

    def tip_to_base(self, target: npt.ArrayLike) -> PointChain:
        """
        Put the tip on the target and let the other points follow: stage 1 of Algorithm 1.

        The base leaves its place. For a chain whose base is free, that is the answer.

        Parameters
        ----------
        target : array-like, shape (d,)
            Where the tip shall be, in the frame and unit of the points.

        Raises
        ------
        TargetError
            If the target has another shape, or a coordinate is not finite or over 1e150.

        Examples
        --------
        >>> PointChain([[0.0, 0.0], [2.0, 0.0]]).tip_to_base([5.0, 0.0]).points
        array([[3., 0.],
               [5., 0.]])

        """
        old, p, d = self._points, self._points.copy(), self._lengths
        p[-1] = self._checked_target(target)
        for i in reversed(range(len(d))):
            p[i] = p[i + 1] + d[i] * unit(old[i] - p[i + 1], old[i] - old[i + 1])
        return self._moved_to(p)

    def base_to_tip(self, base: npt.ArrayLike) -> PointChain:
        """
        Put the base in its place and let the other points follow: stage 2 of Algorithm 1.

        Parameters
        ----------
        base : array-like, shape (d,)
            Where the base shall be, in the frame and unit of the points.

        Raises
        ------
        ValueError
            If the base has another shape, or a coordinate is not finite or over 1e150.

        Examples
        --------
        >>> PointChain([[3.0, 0.0], [5.0, 0.0]]).base_to_tip([0.0, 0.0]).points
        array([[0., 0.],
               [2., 0.]])

        """
        old, p, d = self._points, self._points.copy(), self._lengths
        p[0] = checked_point('base', base, p.shape[1])
        for i in range(len(d)):
            p[i + 1] = p[i] + d[i] * unit(old[i + 1] - p[i], old[i + 1] - old[i])
        return self._moved_to(p)

    def solve(
        self,
        target: npt.ArrayLike,
        *,
        base: npt.ArrayLike | None = None,
        position_tolerance: float = 1e-6,
        max_iterations: int = 1000,
    ) -> PointSolution:
        """
        Bring the tip to the target while the base stays where it is: Algorithm 1.

        Parameters
        ----------
        target : array-like, shape (d,)
            Where the tip shall be, in the frame and unit of the points.
        base : array-like, shape (d,), optional
            Where the base shall be; left out, where it is. A pass puts it there to begin with.
        position_tolerance : float
            Accepted distance between tip and target, in the unit of the points; positive.
        max_iterations : int
            Largest number of iterations, a pass each way; at least 1.

        Returns
        -------
        PointSolution
            The points reached, link lengths kept up to rounding, the base kept exactly.

        Raises
        ------
        TargetError
            If the target has another shape, or a coordinate is not finite or over 1e150.
        ValueError
            If base, tolerance or number of iterations is out of range.

        Notes
        -----
        No iteration takes the tip farther from the target: by the triangle inequality a point
        never moves more than the neighbour it follows, so the base strays in the first pass by
        no more than the tip was off, and the second pass gives back no more than that. A stalled
        chain is pushed aside once, and may come out worse; the best chain seen is returned.

        Targets near the boundary of the reach can take hundreds of iterations, chains of two
        links most of all.

        """
        t = self._checked_target(target)
        if not 0.0 < position_tolerance < math.inf:
            raise ValueError(
                f'position_tolerance must be positive and finite, got {position_tolerance}'
            )
        if max_iterations < 1:
            raise ValueError(f'max_iterations must be at least 1, got {max_iterations}')
        if base is not None:
            return self.base_to_tip(base).solve(
                t, position_tolerance=position_tolerance, max_iterations=max_iterations
            )

        distance = math.dist(self._points[0], t)
        straight, folded = self._lengths, self._folded_lengths()
        if self._distance_to(t) <= position_tolerance:
            chain, status, iterations = self, PointStatus.CONVERGED, 0
        elif distance >= straight.sum() - position_tolerance:
            chain, status, iterations = self._laid_out(t, straight), PointStatus.TOO_FAR, 0
        elif distance <= folded.sum() + position_tolerance:
            chain, status, iterations = self._laid_out(t, folded), PointStatus.TOO_NEAR, 0
        else:
            chain, status, iterations = self._iterated(t, position_tolerance, max_iterations)

        residual = chain._distance_to(t)
        if residual <= position_tolerance:
            status = PointStatus.CONVERGED
        return PointSolution(chain.points, status, residual, iterations)

    def _iterated(
        self, target: Array, position_tolerance: float, max_iterations: int
    ) -> tuple[PointChain, PointStatus, int]:
        """
        Run both passes in turn until the tip is on the target, or stalls for the second time.

        Where chain and target are on one line, neither pass ever leaves it, though the solution
        may lie beside it. So the first stall is answered by a push off the line.
        """
        base = self._points[0]
        chain = best = self
        pushed = False
        for iteration in range(1, max_iterations + 1):
            before, chain = chain, chain.tip_to_base(target).base_to_tip(base)
            best = min(best, chain, key=lambda each: each._distance_to(target))
            if best._distance_to(target) <= position_tolerance:
                return best, PointStatus.CONVERGED, iteration
            if before._distance_to(chain._points[-1]) <= STALL_FRACTION * position_tolerance:
                if pushed:
                    return best, PointStatus.STALLED, iteration
                chain, pushed = chain._pushed_off_line(target), True
        return best, PointStatus.ITERATION_LIMIT, max_iterations

    def _pushed_off_line(self, target: Array) -> PointChain:
        """
        Push the inner joints square to the line from the base to the target.

        Of all such directions, take the one nearest to a coordinate axis: the same every time.
        """
        along = self._direction_to(target)
        k = np.argmin(np.abs(along))
        sideways = unit(np.eye(len(along))[k] - along[k] * along)
        points = self._points.copy()
        points[1:-1] += PUSH * self.reach * sideways
        return self._moved_to(points).base_to_tip(points[0])

    def _laid_out(self, target: Array, signed_lengths: Array) -> PointChain:
        """Lay the links one after the other on the line from the base to the target."""
        points = self._points.copy()
        points[1:] = points[0] + np.outer(np.cumsum(signed_lengths), self._direction_to(target))
        return self._moved_to(points)

    def _direction_to(self, target: Array) -> Array:
        """Look from the base to the target; if that is the base, to the tip; else along x."""
        base, tip = self._points[0], self._points[-1]
        return unit(target - base, tip - base, np.eye(len(base))[0])

    def _distance_to(self, point: Array) -> float:
        """Measure from the tip to a point."""
        return math.dist(self._points[-1], point)

    def _folded_lengths(self) -> Array:
        """Point the longest link forwards and all the others backwards, shape (n,)."""
        folded = -self._lengths
        folded[np.argmax(self._lengths)] *= -1.0
        return folded

    def _moved_to(self, points: Array) -> PointChain:
        """Give the chain other points and let it keep its link lengths."""
        moved = copy.copy(self)
        moved._points = points
        moved._points.flags.writeable = False
        return moved

    def _checked_target(self, target: npt.ArrayLike) -> Array:
        try:
            return checked_point('target', target, self._points.shape[1])
        except ValueError as error:
            raise TargetError(str(error)) from error


def unit(*candidates: Array) -> Array:
    """
    Give the direction of the first candidate that has one, or zeros.

    In a pass the second candidate is the link as it lay before. A link without any direction has
    length zero, or one lost in the rounding of its ends, so zeros do it no harm.
    """
    for vector in candidates:
        length = math.hypot(*vector)
        if length >= np.finfo(np.float64).tiny:
            return vector / length
    return np.zeros_like(candidates[0])


def checked_points(points: npt.ArrayLike) -> Array:
    checked = finite('points', points)
    if checked.ndim != 2 or len(checked) < 2 or checked.shape[1] not in (2, 3):
        raise ValueError(
            'points must have shape (n + 1, 2) or (n + 1, 3) with at least two points, '
            f'got shape {checked.shape}'
        )
    return checked


def checked_point(name: str, point: npt.ArrayLike, dimension: int) -> Array:
    checked = finite(name, point)
    if checked.shape != (dimension,):
        raise ValueError(f'{name} must have shape ({dimension},), got shape {checked.shape}')
    return checked


def finite(name: str, values: npt.ArrayLike) -> Array:
    """Copy the values, refusing what is not a number or too large to calculate with."""
    try:
        checked = np.array(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f'{name} must be an array of numbers, got {values!r}') from error
    if not (np.abs(checked) <= LARGEST_COORDINATE).all():
        raise ValueError(
            f'{name} must be finite and at most {LARGEST_COORDINATE:.0e} in size, got {values!r}'
        )
    return checked
