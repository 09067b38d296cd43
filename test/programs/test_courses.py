"""Laws of lines and arcs, by trigonometry."""

import math

from fabrik_ros.errors import ProgramError
from fabrik_ros.programs.courses import ArcCourse, LineCourse
from fabrik_ros.programs.program import Arc, Program
from fabrik_ros.programs.rest import course_of, rest_of
from fabrik_ros.transforms import rotation_from_vector, rotation_vector, transform
from hypothesis import assume, given, strategies as st
import numpy as np
import pytest

numbers = st.floats(-1.0, 1.0)
points = st.tuples(numbers, numbers, numbers).map(np.array)
turns = st.tuples(numbers, numbers, numbers).map(np.array)
shares = st.floats(0.0, 1.0)


@st.composite
def poses(draw):
    return transform(rotation_from_vector(draw(turns)), draw(points))


@st.composite
def circles(draw):
    """Give a centre, a radius, two axes in the plane, and the poses of three places on it."""
    R = rotation_from_vector(draw(turns))
    centre, radius = draw(points), draw(st.floats(0.02, 1.0))
    angles = sorted(draw(st.lists(st.floats(0.1, 6.1), min_size=2, max_size=2)))
    assume(angles[1] - angles[0] > 0.1)

    def at(angle):
        return centre + radius * (math.cos(angle) * R[:, 0] + math.sin(angle) * R[:, 1])

    return centre, radius, at, angles


@given(poses(), poses(), shares)
def test_tip_goes_straight_and_turns_evenly(T, T_end, share):
    course = LineCourse(T, T_end)
    here = course.pose(share)
    assert np.allclose(here[:3, 3], T[:3, 3] + share * (T_end - T)[:3, 3], atol=1e-12)
    whole = np.linalg.norm(rotation_vector(T[:3, :3].T @ T_end[:3, :3]))
    part = np.linalg.norm(rotation_vector(T[:3, :3].T @ here[:3, :3]))
    assert part == pytest.approx(share * whole, abs=1e-9)


@given(circles(), shares)
def test_arc_is_on_the_circle_through_its_points_and_passes_via(circle, share):
    centre, radius, at, (via, end) = circle
    T, T_end = transform(np.eye(3), at(0.0)), transform(np.eye(3), at(end))
    course = ArcCourse(T, at(via), T_end)
    assert course.length == pytest.approx(radius * end, rel=1e-6)
    assert np.allclose(course.pose(share)[:3, 3], at(share * end), atol=1e-6)
    assert np.allclose(course.pose(via / end)[:3, 3], at(via), atol=1e-6)
    assert np.allclose(course.pose(1.0)[:3, 3], at(end), atol=1e-6)
    assert np.linalg.norm(course.pose(share)[:3, 3] - centre) == pytest.approx(radius, rel=1e-6)


@given(circles(), st.floats(0.5, 13.0))
def test_angle_says_how_far_an_arc_goes(circle, angle):
    _, radius, at, (via, end) = circle
    T, T_end = transform(np.eye(3), at(0.0)), transform(np.eye(3), at(end))
    course = ArcCourse(T, at(via), T_end, angle)
    assert course.length == pytest.approx(radius * angle, rel=1e-6)
    assert np.allclose(course.pose(1.0)[:3, 3], at(angle), atol=1e-6)


@given(points, points, st.floats(0.1, 0.9))
def test_points_on_a_line_make_no_circle(begin, end, share):
    assume(np.linalg.norm(end - begin) > 0.01)
    via = begin + share * (end - begin)
    with pytest.raises(ProgramError, match='its points lie on a line'):
        ArcCourse(transform(np.eye(3), begin), via, transform(np.eye(3), end))


@given(circles(), st.floats(0.05, 0.9), st.booleans(), shares, st.floats(0.0, 0.02))
def test_rest_of_an_arc_is_the_same_arc_from_there_on(circle, done, has_angle, share, beside):
    _, radius, at, (via, end) = circle
    angle = 1.7 * math.pi if has_angle else None
    T, T_end = transform(np.eye(3), at(0.0)), transform(np.eye(3), at(end))
    whole = ArcCourse(T, at(via), T_end, angle)
    here = whole.pose(done)
    here[:3, 3] += beside * radius * np.cross(here[:3, 3], [0.3, 0.2, 0.1])
    program, added = rest_of(Program([Arc(at(via), T_end, angle)]), 0, done, T, here)
    assert added == 1
    back, rest = program.steps
    assert np.linalg.norm((np.asarray(back.pose) - here)[:3, 3]) <= beside + 1e-3
    course = course_of(np.asarray(back.pose), rest)
    there = rest.done + share * (1.0 - rest.done)
    assert np.allclose(course.pose(share), whole.pose(there), atol=1e-9)
    assert rest.done == pytest.approx(done, abs=0.15 / whole.length)
