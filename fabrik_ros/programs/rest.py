"""Where the segments of a program end, and what is left of one that was stopped."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from ..errors import FabrikError, ProgramError
from ..model.mechanism import Mechanism
from ..transforms import Array
from .courses import ArcCourse, Course, LineCourse, PartCourse
from .joint_values import joint_values
from .program import Arc, Joints, Line, Move, Pause, Program, Segment

LONGEST_STOP = 0.15
"""Longest way of a tip along an arc while the arm brakes [m]."""
LOOKED_AT = 400
"""Places on it at which it is looked for the nearest [1]."""
NOTHING = 1e-6
"""A smaller share of a segment is not worth a move [1]."""


@dataclass(frozen=True, eq=False)
class RestOfArc(Segment):
    """
    The rest of an arc, from a place on it.

    Parameters
    ----------
    arc : Arc
        The arc.
    T_begin : array, shape (4, 4)
        Pose of the tip where all of it begins.
    done : float
        Share that lies behind [1].

    """

    arc: Arc
    T_begin: Array
    done: float

    @property
    def name(self) -> str:
        """What it is called in messages."""
        return self.arc.name


def end_poses(robot: Mechanism, program: Program, q: Array) -> list[Array]:
    """
    Poses of the tip, shape (4, 4), at the ends of all segments.

    Parameters
    ----------
    robot : Chain
        The arm.
    program : Program
        The program; joint values have no names in it.
    q : array, shape (n,)
        Where the arm is before it [rad or m].

    Raises
    ------
    ProgramError
        If a segment makes no sense after the one before; names it.

    """
    return list(_end_poses(robot, program, q))


def _end_poses(robot: Mechanism, program: Program, q: Array) -> Iterator[Array]:
    T = robot.tip_poses(q)[0]
    for number, segment in enumerate(program.steps, start=1):
        try:
            if isinstance(segment, Joints):
                q = joint_values(robot, segment, q)
                T = robot.tip_poses(q)[0]
            elif isinstance(segment, Move):
                T = np.asarray(segment.pose)
            elif not isinstance(segment, Pause):
                T = course_of(T, segment).pose(1.0)
        except FabrikError as error:
            raise ProgramError(f'segment {number} ({segment.name}): {error}') from error
        yield T


def course_of(T: Array, segment: Segment) -> Course:
    """Course of the tip on a line or an arc from a pose, shape (4, 4)."""
    match segment:
        case RestOfArc():
            return PartCourse(course_of(segment.T_begin, segment.arc), segment.done)
        case Arc():
            return ArcCourse(T, np.asarray(segment.via), np.asarray(segment.pose), segment.angle)
        case Line():
            return LineCourse(T, np.asarray(segment.pose))
    raise TypeError(f'a {segment.name} has no course')


def rest_of(
    program: Program, segment: int, share: float, T_begin: Array, T: Array
) -> tuple[Program, int]:
    """
    Find what is left of a program.

    An arm that was stopped on an arc first comes back to it, in a line; one that was stopped on
    its way to another configuration first moves to where the program begins.

    Parameters
    ----------
    program : Program
        The whole program.
    segment : int
        Number of the segment that the arm was stopped on, from 0 on; -1 before the first.
    share : float
        Share of that segment that lay behind when it began to brake [1].
    T_begin, T : array, shape (4, 4)
        Poses of the tip where the segment begins, or the program, and where the arm is now.

    Returns
    -------
    program : Program
        What is left.
    added : int
        Number of segments that were put before the rest of the segment: 0 or 1.

    """
    steps = program.steps[max(segment, 0) :]
    if segment < 0:
        if isinstance(steps[0], Move | Joints):
            return Program(steps), 0
        return Program((Move(T_begin), *steps)), 1
    if not isinstance(steps[0], Arc | RestOfArc):
        first = replace(steps[0], duration=_duration_left(steps[0], share))
        return Program((first, *steps[1:])), 0
    course = course_of(T_begin, steps[0])
    done = _nearest_share(course, share, T)
    settings = {name: getattr(steps[0], name) for name in ('speed', 'rotation', 'share')}
    if steps[0].duration is not None:
        settings['speed'] = course.length / steps[0].duration
    back = Line(course.pose(done), acceleration=steps[0].acceleration, **settings)
    if done > 1.0 - NOTHING:
        return Program((back, *steps[1:])), 0
    return Program((back, _part_of(steps[0], T_begin, done), *steps[1:])), 1


def _part_of(segment: Arc | RestOfArc, T_begin: Array, done: float) -> RestOfArc:
    settings = {
        name: getattr(segment, name)
        for name in ('speed', 'rotation', 'share', 'acceleration', 'blend')
    }
    settings['duration'] = _duration_left(segment, done)
    if isinstance(segment, RestOfArc):
        whole_done = segment.done + done * (1.0 - segment.done)
        return RestOfArc(segment.arc, segment.T_begin, whole_done, **settings)
    return RestOfArc(segment, T_begin, done, **settings)


def _duration_left(segment: Segment, done: float) -> float | None:
    """Return what is left of the duration of a segment, where it has one [s]."""
    return None if segment.duration is None else max(1.0 - done, NOTHING) * segment.duration


def _nearest_share(course: Course, share: float, T: Array) -> float:
    """Share of a course at the place that is nearest to a pose, at or soon behind another one."""
    ahead = LONGEST_STOP / course.length if course.length > 0.0 else 0.0
    shares = np.linspace(share, min(share + ahead, 1.0), LOOKED_AT)
    places = np.array([course.pose(s)[:3, 3] for s in shares.tolist()])
    return float(shares[np.argmin(np.linalg.norm(places - T[:3, 3], axis=1))])
