"""Messages in and out, judged by pinocchio's quaternions."""

import math

import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed')
pytest.importorskip('pinocchio', reason='pinocchio is the judge')

from builtin_interfaces.msg import Time
from fabrik_ros import TargetError
from fabrik_ros.motion.following.arm_state import Command
from fabrik_ros.ros.messages.conversions import (
    matrix_to_pose,
    pose_to_matrix,
    seconds,
    stamped_pose,
    write_command,
)
from geometry_msgs.msg import Point, Pose, Quaternion
from helpers import assert_close
from hypothesis import assume, given, strategies as st
import numpy as np
import pinocchio
from sensor_msgs.msg import JointState

numbers = st.floats(-1e3, 1e3)
components = st.floats(-1.0, 1.0)


@st.composite
def poses(draw):
    """Poses whose quaternion has any length that is meant as a rotation."""
    xyzw = np.array(draw(st.tuples(components, components, components, components)))
    norm = np.linalg.norm(xyzw)
    assume(norm > 1e-3)
    xyzw *= draw(st.floats(0.11, 10.0)) / norm
    position = draw(st.tuples(numbers, numbers, numbers))
    return _pose(position, xyzw)


def _pose(position, xyzw):
    return Pose(
        position=Point(**dict(zip('xyz', map(float, position), strict=True))),
        orientation=Quaternion(**dict(zip('xyzw', map(float, xyzw), strict=True))),
    )


def judged_matrix(pose):
    o, p = pose.orientation, pose.position
    quaternion = pinocchio.Quaternion(o.w, o.x, o.y, o.z).normalized()
    return pinocchio.SE3(quaternion, np.array([p.x, p.y, p.z])).homogeneous


@given(poses())
def test_pose_becomes_the_matrix_that_pinocchio_makes_of_it(pose):
    assert_close(pose_to_matrix(pose), judged_matrix(pose), 1e-12)


@given(poses())
def test_matrix_survives_the_way_through_a_message(pose):
    T = judged_matrix(pose)
    assert_close(pose_to_matrix(matrix_to_pose(T)), T, 1e-12)


@given(poses())
def test_message_holds_a_unit_quaternion(pose):
    o = matrix_to_pose(judged_matrix(pose)).orientation
    assert math.hypot(o.x, o.y, o.z, o.w) == pytest.approx(1.0, abs=1e-15)


BAD = [math.nan, math.inf, -math.inf]


@pytest.mark.parametrize('value', BAD)
@pytest.mark.parametrize('part', ['x', 'y', 'z'])
def test_position_that_is_not_finite_is_refused(part, value):
    pose = _pose((0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0))
    setattr(pose.position, part, value)
    with pytest.raises(TargetError, match='position must be three finite numbers'):
        pose_to_matrix(pose)


@pytest.mark.parametrize('value', BAD)
@pytest.mark.parametrize('part', ['x', 'y', 'z', 'w'])
def test_quaternion_that_is_not_finite_is_refused(part, value):
    pose = _pose((0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0))
    setattr(pose.orientation, part, value)
    with pytest.raises(TargetError, match='quaternion must be four finite numbers'):
        pose_to_matrix(pose)


@pytest.mark.parametrize('norm', [0.0, 1e-300, 0.099])
def test_quaternion_of_nearly_no_length_is_refused(norm):
    with pytest.raises(TargetError, match='norm'):
        pose_to_matrix(_pose((0.0, 0.0, 0.0), (0.0, 0.0, 0.0, norm)))


def test_quaternion_too_long_to_be_told_is_refused():
    with pytest.raises(TargetError, match='norm inf'):
        pose_to_matrix(_pose((0.0, 0.0, 0.0), (1.7e308, 1.7e308, 0.0, 0.0)))


def test_message_as_ros_makes_it_is_no_rotation_error():
    """A default pose has w = 1: meant as no rotation."""
    assert_close(pose_to_matrix(Pose()), np.eye(4))


def test_stamped_pose_carries_frame_and_stamp():
    stamp = Time(sec=3, nanosec=5)
    message = stamped_pose(np.eye(4), 'base_link', stamp)
    assert message.header.frame_id == 'base_link'
    assert message.header.stamp == stamp
    assert message.pose == Pose()


@given(st.integers(0, 2**31 - 1), st.integers(0, 10**9 - 1))
def test_seconds_of_a_stamp(sec, nanosec):
    assert seconds(Time(sec=sec, nanosec=nanosec)) == pytest.approx(sec + nanosec / 1e9, abs=1e-6)


@given(st.lists(st.tuples(numbers, numbers), min_size=1, max_size=9))
def test_joint_state_holds_names_positions_and_velocities_bit_for_bit(values):
    q, velocity = np.array(values).T
    names = tuple(f'joint_{i}' for i in range(len(q)))
    message = JointState(name=names)
    write_command(Command(q, velocity), 1_000_000_002, message)
    assert tuple(message.name) == names
    assert np.array_equal(message.position, q)
    assert np.array_equal(message.velocity, velocity)
    assert len(message.effort) == 0
    assert message.header.stamp == Time(sec=1, nanosec=2)
    assert message.header.frame_id == ''
