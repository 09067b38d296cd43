"""Where a program ends, and what is left of one that was stopped."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ..errors import FabrikError, ProgramError
from ..model.mechanism import Mechanism
from ..transforms import Array
from .courses import ArcCourse
from .joint_values import joint_values
from .program import Arc, Joints, Line, Move, Program, Segment

QUARTER, HALF = 0.25, 0.5


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
            elif isinstance(segment, Arc):
                T = course_of(T, segment).pose(1.0)
            elif isinstance(segment, (Line, Move)):
                T = np.asarray(segment.pose)
        except FabrikError as error:
            raise ProgramError(f'segment {number} ({segment.name}): {error}') from error
        yield T


def course_of(T: Array, arc: Arc) -> ArcCourse:
    """Course of the tip on an arc from a pose, shape (4, 4)."""
    return ArcCourse(T, np.asarray(arc.via), np.asarray(arc.pose), arc.angle)


def rest_of(program: Program, segment: int, share: float, T: Array) -> Program:
    """
    Return what is left of a program.

    Parameters
    ----------
    program : Program
        The whole program.
    segment : int
        Number of the segment that the arm was stopped on, from 0 on; -1 before the first.
    share : float
        Share of that segment that lies behind [1].
    T : array, shape (4, 4)
        Pose of the tip where the segment begins.

    """
    steps = program.steps[max(segment, 0) :]
    return Program((_rest_of_segment(steps[0], share, T), *steps[1:]))


def _rest_of_segment(segment: Segment, share: float, T: Array) -> Segment:
    """Return what is left of a segment; of lines and free moves only the end counts."""
    if not isinstance(segment, Arc):
        return segment
    course, left = course_of(T, segment), 1.0 - share
    end = course.pose(1.0)
    if segment.angle is None:
        return replace(segment, via=course.pose(1.0 - HALF * left), pose=end)
    end[:3, 3] = course.pose(1.0 - QUARTER * left)[:3, 3]
    return replace(
        segment, via=course.pose(1.0 - HALF * left), pose=end, angle=left * segment.angle
    )
