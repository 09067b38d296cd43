"""Courses of a tip: where it is on a line or an arc, by the share of it that lies behind."""

import math
from typing import Protocol

import numpy as np

from ..errors import ProgramError
from ..reasons import shown_place
from ..transforms import Array, rotation_from_vector, rotation_vector, transform

SAME_POINT = 1e-6
"""Points that are nearer to each other count as one [m]."""
IN_LINE = 1e-6
"""Sine of the least angle between three points that make a circle [1]."""


class Course(Protocol):
    """Course of a tip from one pose to another."""

    length: float
    """Length of its way [m]."""
    turn: float
    """How far the tip turns on it [rad]."""

    def pose(self, share: float) -> Array:
        """Pose of the tip, shape (4, 4), where a share of the course lies behind it."""
        ...


class EvenTurn:
    """
    Even turn from one orientation to another, the short way.

    Parameters
    ----------
    R_begin, R_end : array, shape (3, 3)
        The orientations.

    """

    def __init__(self, R_begin: Array, R_end: Array) -> None:
        self._begin = R_begin
        self._vector = rotation_vector(R_begin.T @ R_end)
        self.turn = float(np.linalg.norm(self._vector))

    def at(self, share: float) -> Array:
        """Return the orientation, shape (3, 3), where a share of the turn is made."""
        R: Array = self._begin @ rotation_from_vector(share * self._vector)
        return R


class LineCourse:
    """
    A straight line.

    Parameters
    ----------
    T_begin, T_end : array, shape (4, 4)
        Poses at its ends.

    """

    def __init__(self, T_begin: Array, T_end: Array) -> None:
        self._begin, self._way = T_begin[:3, 3], T_end[:3, 3] - T_begin[:3, 3]
        self._even_turn = EvenTurn(T_begin[:3, :3], T_end[:3, :3])
        self.length, self.turn = float(np.linalg.norm(self._way)), self._even_turn.turn

    def pose(self, share: float) -> Array:
        """Pose of the tip, shape (4, 4), where a share of the course lies behind it."""
        return transform(self._even_turn.at(share), self._begin + share * self._way)


class ArcCourse:
    """
    An arc of the circle through three points.

    Parameters
    ----------
    T_begin, T_end : array, shape (4, 4)
        Poses at its ends.
    via : array, shape (3,)
        A point that it goes through between them [m].
    angle : float, optional
        How far it goes round, whatever lies at `T_end` [rad].

    Raises
    ------
    ProgramError
        If the points make no circle.

    """

    def __init__(
        self, T_begin: Array, via: Array, T_end: Array, angle: float | None = None
    ) -> None:
        begin, end = T_begin[:3, 3], T_end[:3, 3]
        self._centre, self._normal = _circle(begin, via, end)
        self._spoke = begin - self._centre
        to_end = _angle(self._spoke, end - self._centre, self._normal)
        self._angle = to_end if angle is None else angle
        self._even_turn = EvenTurn(T_begin[:3, :3], T_end[:3, :3])
        self.length = self._angle * float(np.linalg.norm(self._spoke))
        self.turn = self._even_turn.turn

    def pose(self, share: float) -> Array:
        """Pose of the tip, shape (4, 4), where a share of the course lies behind it."""
        round_centre = rotation_from_vector(share * self._angle * self._normal)
        return transform(self._even_turn.at(share), self._centre + round_centre @ self._spoke)


class PartCourse:
    """
    What is left of a course.

    Parameters
    ----------
    course : Course
        All of it.
    done : float
        Share of it that lies behind [1].

    """

    def __init__(self, course: Course, done: float) -> None:
        self._course, self._done, self._left = course, done, 1.0 - done
        self.length, self.turn = self._left * course.length, self._left * course.turn

    def pose(self, share: float) -> Array:
        """Pose of the tip, shape (4, 4), where a share of what is left lies behind it."""
        return self._course.pose(self._done + share * self._left)


def _circle(begin: Array, via: Array, end: Array) -> tuple[Array, Array]:
    """Centre of the circle through three points, and the axis about which it passes them."""
    to_via, to_end = via - begin, end - begin
    across = np.cross(to_via, to_end)
    sizes = float(np.linalg.norm(to_via)), float(np.linalg.norm(to_end))
    steep = float(np.linalg.norm(across))
    if min(*sizes, float(np.linalg.norm(end - via))) < SAME_POINT:
        raise ProgramError(
            f'two of its points are the same: {shown_place(np.array([begin, via, end]))}; a full '
            'circle goes through three different ones, with angle 2 pi'
        )
    if steep < IN_LINE * sizes[0] * sizes[1]:
        raise ProgramError(f'its points lie on a line: {shown_place(np.array([begin, via, end]))}')
    towards = sizes[0] ** 2 * np.cross(to_end, across) + sizes[1] ** 2 * np.cross(across, to_via)
    return begin + towards / (2.0 * steep**2), across / steep


def _angle(spoke: Array, other: Array, normal: Array) -> float:
    """Angle from one spoke to another about an axis [rad], 0 to 2 pi."""
    sine, cosine = float(normal @ np.cross(spoke, other)), float(spoke @ other)
    return math.atan2(sine, cosine) % (2.0 * math.pi)
