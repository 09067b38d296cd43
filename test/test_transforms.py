"""Rotations and poses, judged by scipy and pinocchio, which share no code with ours."""

import math

from fabrik_ros import TargetError
from fabrik_ros.transforms import (
    inverse,
    is_pose,
    pose_from_xyz_quaternion,
    pose_from_xyz_rpy,
    quaternion_xyzw_from_rotation,
    rotation_from_axis_angle,
    rotation_from_quaternion_xyzw,
    rotation_from_rpy,
    rotation_from_vector,
    rotation_vector,
    rotation_z_to,
    transform,
)
from helpers import assert_close
from hypothesis import assume, given, strategies as st
import numpy as np
import pytest

# Rotations are easy in the middle and hard at the ends: exactly 0 and half turns, and next to.
NEAR = [0.0, 1e-300, 1e-160, 1e-17, 1e-9, 1e-5]
HARD_ANGLES = [*NEAR, *(math.pi - gap for gap in NEAR), 0.5 * math.pi]
angles = st.one_of(st.sampled_from(HARD_ANGLES), st.floats(0.0, math.pi))
turns = st.one_of(angles, angles.map(lambda angle: -angle), st.floats(-50.0, 50.0))


@st.composite
def directions(draw):
    """Draw unit vectors, often along an axis, in a coordinate plane or just beside."""
    component = st.one_of(
        st.sampled_from([0.0, 1.0, -1.0, 1e-9, -1e-9, 5e-324]), st.floats(-1.0, 1.0)
    )
    v = np.array([draw(component) for _ in range(3)])
    norm = math.hypot(*v)
    assume(norm > 1e-6)
    return v / norm


@st.composite
def rotations(draw):
    return rotation_from_axis_angle(draw(directions()), draw(angles))


def assert_rotation(R):
    assert_close(R @ R.T, np.eye(3), atol=1e-14)
    assert_close(np.linalg.det(R), 1.0, atol=1e-14)


def scipy_rotation():
    return pytest.importorskip('scipy.spatial.transform').Rotation


@given(axis=directions(), angle=turns)
def test_axis_and_angle_give_a_rotation_that_keeps_the_axis(axis, angle):
    R = rotation_from_axis_angle(axis, angle)
    assert_rotation(R)
    assert_close(R @ axis, axis, atol=1e-14)


@given(axis=directions(), first=turns, second=turns)
def test_angles_about_one_axis_add_up(axis, first, second):
    one_by_one = rotation_from_axis_angle(axis, first) @ rotation_from_axis_angle(axis, second)
    assert_close(one_by_one, rotation_from_axis_angle(axis, first + second), atol=1e-13)


@given(axis=directions(), angle=turns)
def test_axis_and_angle_agree_with_scipy(axis, angle):
    expected = scipy_rotation().from_rotvec(axis * angle).as_matrix()
    assert_close(rotation_from_axis_angle(axis, angle), expected, atol=1e-13)


@given(roll=turns, pitch=turns, yaw=turns)
def test_rpy_turns_about_the_fixed_axes_x_then_y_then_z(roll, pitch, yaw):
    x, y, z = np.eye(3)
    by_hand = (
        rotation_from_axis_angle(z, yaw)
        @ rotation_from_axis_angle(y, pitch)
        @ rotation_from_axis_angle(x, roll)
    )
    assert_close(rotation_from_rpy(roll, pitch, yaw), by_hand, atol=1e-14)


@given(roll=turns, pitch=turns, yaw=turns)
def test_rpy_agrees_with_pinocchio(roll, pitch, yaw):
    pinocchio = pytest.importorskip('pinocchio')
    expected = pinocchio.rpy.rpyToMatrix(roll, pitch, yaw)
    assert_close(rotation_from_rpy(roll, pitch, yaw), expected, atol=1e-14)


@given(R=rotations())
def test_quaternion_is_of_unit_length_with_w_not_negative_and_gives_the_rotation_back(R):
    xyzw = quaternion_xyzw_from_rotation(R)
    assert_close(np.linalg.norm(xyzw), 1.0, atol=1e-15)
    assert xyzw[3] >= 0.0
    assert_close(rotation_from_quaternion_xyzw(xyzw), R, atol=1e-14)


@given(R=rotations(), scale=st.sampled_from([0.11, 0.5, 3.0, 1e100, 1e200, -1.0, -1e200]))
def test_length_and_sign_of_a_quaternion_do_not_matter(R, scale):
    xyzw = quaternion_xyzw_from_rotation(R)
    assert_close(rotation_from_quaternion_xyzw(scale * xyzw), R, atol=1e-14)


@given(R=rotations())
def test_quaternion_agrees_with_scipy_up_to_its_sign(R):
    expected = scipy_rotation().from_matrix(R).as_quat()
    assert_close(abs(quaternion_xyzw_from_rotation(R) @ expected), 1.0, atol=1e-14)


@pytest.mark.parametrize('gap', [0.0, 1e-16, 1e-9, 1e-4])
@pytest.mark.parametrize('axis', [(1, 0, 0), (0, 1, 0), (0, 0, 1), (0.6, 0.8, 0), (0.6, 0, -0.8)])
def test_half_turns_lose_no_precision_whichever_component_is_largest(axis, gap):
    angle = math.pi - gap
    R = rotation_from_axis_angle(axis, angle)
    expected = [*(math.sin(0.5 * angle) * np.array(axis)), math.cos(0.5 * angle)]
    xyzw = quaternion_xyzw_from_rotation(R)
    assert_close(xyzw * np.sign(xyzw @ expected), expected, atol=1e-15)


@given(axis=directions(), angle=angles)
def test_rotation_vector_is_axis_times_angle_from_nothing_to_a_half_turn(axis, angle):
    v = rotation_vector(rotation_from_axis_angle(axis, angle))
    assert np.linalg.norm(v) <= math.pi * (1 + 1e-15)
    if angle < math.pi - 1e-12:
        assert_close(v, axis * angle, atol=1e-14)
    else:  # both ends of the axis are right
        assert_close(abs(v @ axis), angle, atol=1e-14)


@given(axis=directions(), angle=st.floats(1e-150, 1e-3))
def test_rotation_vector_keeps_relative_precision_near_zero(axis, angle):
    x, y, z = axis * angle
    R = np.array([[1, -z, y], [z, 1, -x], [-y, x, 1]])  # exact to angle squared
    assert_close(rotation_vector(R) / angle, axis, atol=angle**2 + 1e-14)


@given(axis=directions(), angle=angles)
def test_rotation_vector_leads_back_to_its_rotation(axis, angle):
    R = rotation_from_vector(axis * angle)
    assert_rotation(R)
    assert_close(R, rotation_from_axis_angle(axis, angle), atol=1e-14)
    assert_close(rotation_from_vector(rotation_vector(R)), R, atol=1e-14)


@given(R=rotations())
def test_rotation_vector_agrees_with_pinocchio_short_of_a_half_turn(R):
    pinocchio = pytest.importorskip('pinocchio')
    v = rotation_vector(R)
    assume(np.linalg.norm(v) < math.pi - 0.1)  # closer, the judge itself is coarser
    assert_close(v, pinocchio.log3(R), atol=1e-12)


def test_no_rotation_has_the_rotation_vector_zero():
    assert_close(rotation_vector(np.eye(3)), np.zeros(3), atol=0.0)
    assert_close(rotation_from_vector(np.zeros(3)), np.eye(3), atol=0.0)


@given(axis=directions())
def test_least_rotation_takes_z_to_any_axis_and_turns_about_a_line_across(axis):
    R = rotation_z_to(axis)
    assert_rotation(R)
    assert_close(R[:, 2], axis, atol=1e-15)
    assert_close(np.linalg.norm(rotation_vector(R)), math.acos(axis[2]), atol=3e-8)
    assert_close(rotation_vector(R)[2], 0.0, atol=1e-14)


@pytest.mark.parametrize(
    'axis', [(0, 0, -1), (1e-9, 0, -1), (5e-324, 5e-324, -1), (0, 1e-310, -1), (-1e-170, 0, -1)]
)
def test_an_axis_opposite_to_z_still_gives_a_rotation(axis):
    R = rotation_z_to(axis)
    assert_rotation(R)
    assert_close(R[:, 2], axis, atol=1e-15)


@given(first=rotations(), second=rotations(), p=st.tuples(*[st.floats(-1e3, 1e3)] * 6))
def test_inverse_undoes_a_pose(first, second, p):
    T_a_b, T_b_c = transform(first, p[:3]), transform(second, p[3:])
    assert_close(T_a_b @ inverse(T_a_b), np.eye(4), atol=1e-11)
    assert_close(inverse(T_a_b @ T_b_c), inverse(T_b_c) @ inverse(T_a_b), atol=1e-11)


@given(R=rotations(), p=st.tuples(*[st.floats(-1e3, 1e3)] * 3))
def test_a_rotation_and_a_position_make_a_pose(R, p):
    assert is_pose(transform(R, p))


@pytest.mark.parametrize(
    'not_a_pose',
    [
        np.eye(3),
        np.diag([1.0, 1.0, -1.0, 1.0]),
        np.diag([2.0, 2.0, 2.0, 1.0]),
        np.diag([1.0, 1.0, 1.0, 2.0]),
        transform(np.eye(3), [0.0, math.nan, 0.0]),
        transform(np.eye(3), [0.0, math.inf, 0.0]),
        np.eye(4) + np.diag([1e-3, 0.0, 0.0], k=1),
    ],
    ids=['shape', 'mirror', 'scale', 'last row', 'nan', 'infinite', 'sheared'],
)
def test_anything_else_is_no_pose(not_a_pose):
    assert not is_pose(not_a_pose)


@pytest.mark.parametrize(
    'quaternion', [(0, 0, 1), (0, 0, 0, 1, 0), (0, 0, math.nan, 1), (math.inf, 0, 0, 0), 1.0]
)
def test_a_quaternion_that_is_not_four_finite_numbers_is_refused(quaternion):
    with pytest.raises(TargetError, match='quaternion must be four finite numbers x y z w, got '):
        rotation_from_quaternion_xyzw(quaternion)


@pytest.mark.parametrize(
    ('quaternion', 'norm'), [((0, 0, 0, 0), '0'), ((0, 0, 0.06, 0.07), '0.0922')]
)
def test_a_quaternion_too_short_to_be_meant_is_refused_with_its_norm(quaternion, norm):
    message = rf'has norm {norm}; expected 1 \(anything above 0.1 is normalised\)'
    with pytest.raises(TargetError, match=message):
        rotation_from_quaternion_xyzw(quaternion)


def test_a_quaternion_too_long_for_arithmetic_is_refused():
    with pytest.raises(TargetError, match='has norm inf; expected 1'):
        rotation_from_quaternion_xyzw([1.7e308] * 4)


# -- poses as people give them


@given(st.lists(st.floats(-10.0, 10.0), min_size=6, max_size=6))
def test_pose_of_xyz_and_rpy_is_pinocchios(numbers):
    pinocchio = pytest.importorskip('pinocchio')
    expected = pinocchio.SE3(pinocchio.rpy.rpyToMatrix(*numbers[3:]), np.array(numbers[:3]))
    assert_close(pose_from_xyz_rpy(numbers[:3], numbers[3:]), expected.homogeneous, atol=1e-14)


@given(axis=directions(), angle=turns, length=st.floats(0.2, 5.0))
def test_pose_of_xyz_and_quaternion_is_pinocchios(axis, angle, length):
    pinocchio = pytest.importorskip('pinocchio')
    quaternion = pinocchio.Quaternion(pinocchio.AngleAxis(angle, axis))
    expected = pinocchio.SE3(quaternion, np.array([0.1, -2.0, 3.0])).homogeneous
    pose = pose_from_xyz_quaternion([0.1, -2.0, 3.0], length * quaternion.coeffs())
    assert_close(pose, expected, atol=1e-12)


def test_pose_without_rpy_is_not_turned():
    assert_close(pose_from_xyz_rpy((1, 2, 3))[:3, :3], np.eye(3))


@pytest.mark.parametrize(
    ('make', 'numbers', 'text'),
    [
        (pose_from_xyz_rpy, ([0.0, 1.0], [0.0] * 3), 'position must be 3 finite numbers x y z'),
        (pose_from_xyz_rpy, ([0.0, 1.0, math.nan],), 'position must be 3 finite numbers'),
        (pose_from_xyz_rpy, ([0.0] * 3, [math.inf, 0, 0]), 'rpy must be 3 finite numbers roll'),
        (pose_from_xyz_rpy, ('abc',), "position must be 3 finite numbers x y z, got 'abc'"),
        (pose_from_xyz_quaternion, ([0.0] * 3, [0.0] * 3), 'quaternion must be 4 finite numbers'),
        (pose_from_xyz_quaternion, ([0.0] * 3, [0.0] * 4), 'has norm 0; expected 1'),
        (pose_from_xyz_quaternion, ([0.0, 1.0], [0.0, 0.0, 0.0, 1.0]), 'position must be 3'),
    ],
)
def test_numbers_that_are_no_pose_are_named(make, numbers, text):
    with pytest.raises(TargetError, match=text):
        make(*numbers)
