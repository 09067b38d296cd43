"""Clouds of points as messages, and where the joints were when they were measured."""

import array
import math

import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed')

from fabrik_ros.errors import SceneError
from fabrik_ros.ros.inputs.joint_history import JointHistory
from fabrik_ros.ros.messages.point_messages import points_of
from helpers import assert_close
from hypothesis import given, strategies as st
import numpy as np
from sensor_msgs.msg import PointCloud2, PointField

F4, F8, U1 = PointField.FLOAT32, PointField.FLOAT64, PointField.UINT8
TYPES = {F4: 'f4', F8: 'f8'}


def cloud_message(points, datatype=F4, big=False, gaps=(0, 0), row_gap=0, before=0):
    """Write points, shape (rows, columns, 3), byte by byte; `gaps` behind x, and y."""
    rows, columns, _ = points.shape
    kind = ('>' if big else '<') + TYPES[datatype]
    size = np.dtype(kind).itemsize
    offsets = [before, before + size + gaps[0], before + 2 * size + gaps[0] + gaps[1]]
    message = PointCloud2(height=rows, width=columns, is_bigendian=big)
    message.point_step = offsets[2] + size + 1
    message.row_step = columns * message.point_step + row_gap
    data = bytearray(rows * message.row_step)
    for i, j, axis in np.ndindex(points.shape):
        at = i * message.row_step + j * message.point_step + offsets[axis]
        data[at : at + size] = np.array(points[i, j, axis], kind).tobytes()
    message.data = array.array('B', bytes(data))
    fields = [
        PointField(name=name, offset=offset, datatype=datatype, count=1)
        for name, offset in zip('xyz', offsets, strict=True)
    ]
    message.fields = [PointField(name='rgb', offset=0, datatype=U1, count=1), *fields[::-1]]
    return message


gaps = st.integers(0, 9)


@given(
    st.integers(1, 4),
    st.integers(0, 5),
    st.sampled_from([F4, F8]),
    st.booleans(),
    st.tuples(gaps, gaps),
    gaps,
    gaps,
    st.integers(0, 2**32 - 1),
)
def test_points_are_read_whatever_the_layout(rows, columns, kind, big, between, row, first, seed):
    points = np.random.default_rng(seed).uniform(-9.0, 9.0, (rows, columns, 3))
    points[np.abs(points) > 8.0] = np.nan
    message = cloud_message(points, kind, big, between, row, first)
    read = points_of(message)
    assert read.dtype == np.float32
    np.testing.assert_array_equal(read, points.astype(np.float32).reshape(-1, 3))


def good():
    return cloud_message(np.ones((2, 3, 3)))


def without(name):
    message = good()
    message.fields = [field for field in message.fields if field.name != name]
    return message


def changed(**values):
    message = good()
    for name, value in values.items():
        setattr(message, name, value)
    return message


def with_field(name, **values):
    message = good()
    field = next(field for field in message.fields if field.name == name)
    for key, value in values.items():
        setattr(field, key, value)
    return message


@pytest.mark.parametrize(
    ('message', 'text'),
    [
        (without('x'), "it has no field 'x'; its fields are: rgb, z, y"),
        (changed(fields=[]), "it has no field 'x'; its fields are: $"),
        (
            with_field('y', datatype=U1),
            "its field 'y' has 1 of datatype 2; expected one of",
        ),
        (with_field('y', datatype=99), "its field 'y' has 1 of datatype 99"),
        (with_field('z', count=3), "its field 'z' has 3 of datatype 7"),
        (with_field('z', offset=10), "its field 'z' ends at byte 14 of a point, which has 13"),
        (with_field('z', offset=2**32 - 1), "its field 'z' ends at byte 4294967299 of a point"),
        (
            changed(data=array.array('B', bytes(70))),
            'its data has 70 bytes; 2 rows of 39 bytes',
        ),
        (changed(height=3), 'its data has 78 bytes; 3 rows of 39 bytes need 117'),
        (changed(row_step=30), 'row_step is 30 bytes, too few for 3 points of 13 bytes'),
        (changed(point_step=0), "its field 'x' ends at byte 4 of a point, which has 0"),
        (changed(height=2000, width=5000), '2000 x 5000 points; at most 3000000 are taken'),
        (changed(height=2**32 - 1, width=2**32 - 1), 'points; at most 3000000 are taken'),
    ],
)
def test_clouds_that_cannot_be_right_are_refused(message, text):
    with pytest.raises(SceneError, match=text):
        points_of(message)


def test_numbers_too_large_for_float32_are_infinite():
    assert np.isinf(points_of(cloud_message(np.full((1, 1, 3), 1e300), F8))).all()


# -- joints

TWO = ('shoulder', 'elbow')


def history(times, period=0.01):
    joints = JointHistory([*TWO, 'finger'])
    for time in times:
        joints.add(TWO, (math.sin(time), 0.1 * time), time, time)
        joints.add(('finger', 'other'), (time, 1.0), time + 0.5 * period, time + 0.5 * period)
    return joints


def test_joints_are_where_they_were_between_two_states():
    joints = history(np.arange(0.0, 2.0, 0.01))
    for time in (0.3, 0.777, 1.5001):
        found = joints.at(time, TWO)
        assert set(found) == {*TWO, 'finger'}
        assert_close(found['shoulder'], math.sin(time), 1e-4)
        assert_close(found['elbow'], 0.1 * time, 1e-12)
        assert_close(found['finger'], time - 0.005, 1e-9)


def test_after_the_newest_state_that_counts():
    joints = history([0.0, 0.5])
    assert joints.newest(TWO) == 0.5
    assert joints.at(0.6, TWO)['elbow'] == 0.05
    assert joints.newest([*TWO, 'unknown']) == -math.inf


@pytest.mark.parametrize(
    ('time', 'text'),
    [
        (
            1.0,
            r"its stamp is 1.99 s before the first known value of joint 'shoulder'; 10 s are",
        ),
        (-9.0, r'its stamp is 11.99 s before'),
    ],
)
def test_only_so_much_is_kept(time, text):
    joints = history(np.arange(0.0, 13.0, 0.01))
    with pytest.raises(SceneError, match=text):
        joints.at(time, TWO)


def test_a_joint_that_never_was_measured_is_named():
    with pytest.raises(SceneError, match="no joint state of 'knee' has come yet"):
        history([0.0]).at(0.0, ['knee'])


def test_a_joint_that_goes_round_is_not_interpolated_the_long_way():
    joints = JointHistory(['pan'])
    joints.add(['pan'], [3.14], 1.0, 1.0)
    joints.add(['pan'], [-3.14], 1.1, 1.1)
    assert joints.at(1.05, ['pan']) == {'pan': 3.14}
    joints = JointHistory(['pan'], turning=['pan'])
    joints.add(['pan'], [3.14], 1.0, 1.0)
    joints.add(['pan'], [-3.14], 1.1, 1.1)
    assert_close(joints.at(1.05, ['pan'])['pan'], math.pi)


@pytest.mark.parametrize(('step', 'is_known'), [(0.1, False), (0.0, True)])
def test_in_a_gap_between_states_only_joints_are_known_that_rest(step, is_known):
    joints = JointHistory(['pan'])
    joints.add(['pan'], [0.0], 1.0, 1.0)
    joints.add(['pan'], [step], 1.6, 1.6)
    if is_known:
        assert joints.at(1.3, ['pan']) == {'pan': 0.0}
    else:
        with pytest.raises(SceneError, match="gap between joint states in which 'pan' moved"):
            joints.at(1.3, ['pan'])


@pytest.mark.parametrize('first', ['arm', 'all'])
def test_of_several_publishers_of_a_joint_the_newest_value_counts(first):
    joints, kinds = JointHistory(['pan']), {'arm': ['pan'], 'all': ['pan', 'tilt']}
    other = 'all' if first == 'arm' else 'arm'
    joints.add(kinds[other], [0.5, 0.0], 0.9, 0.9)
    joints.add(kinds[first], [0.1, 0.0], 1.0, 1.0)
    joints.add(kinds[other], [0.2, 0.0], 1.1, 1.1)
    assert joints.at(1.2, ['pan']) == {'pan': 0.2}


def moving(speed):
    joints = JointHistory(['pan'])
    for time in np.arange(0.0, 2.001, 0.01):
        joints.add(['pan'], [speed * time], time, time)
    return joints


@pytest.mark.parametrize('lag', [0.0, 0.004, 0.05, 0.0999])
def test_a_little_after_the_newest_state_a_joint_goes_on(lag):
    assert_close(moving(0.8).carried_on(2.0 + lag, ['pan'], 0.5)['pan'], 0.8 * (2.0 + lag), 1e-9)


@pytest.mark.parametrize(
    ('speed', 'lag', 'text'),
    [
        (0.8, 0.2, r"its stamp is 0.20 s after the newest joint state of 'pan'"),
        (0.01, 0.2, r'its stamp is 0.20 s after'),
        (0.0, 0.6, r'its stamp is 0.60 s after'),
        (0.0, 0.4, ''),
    ],
)
def test_later_only_joints_are_known_that_rest(speed, lag, text):
    joints = moving(speed)
    if text:
        with pytest.raises(SceneError, match=text):
            joints.carried_on(2.0 + lag, ['pan'], 0.5)
    else:
        assert joints.carried_on(2.0 + lag, ['pan'], 0.5) == {'pan': 0.0}


def test_stamps_that_cannot_be_right_count_for_nothing():
    joints = JointHistory(['pan'])
    joints.add(['pan'], [0.1], 0.0, 5.0)
    joints.add(['pan'], [0.2], 99.0, 5.1)
    joints.add(['pan'], [math.nan], 5.2, 5.2)
    assert joints.newest(['pan']) == 5.2
    assert_close(joints.at(5.1, ['pan'])['pan'], 0.2)
    joints.add(['pan'], [0.3], 1.0, 1.0)  # the clock was set back
    assert joints.at(1.0, ['pan']) == {'pan': 0.3}
    joints.forget()
    assert joints.newest(['pan']) == -math.inf
