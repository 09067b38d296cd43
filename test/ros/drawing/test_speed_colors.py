"""The colours of speeds, and the tube that has them: on paper, and as bytes."""

import pytest

pytest.importorskip('visualization_msgs', reason='ROS 2 is not installed')

from builtin_interfaces.msg import Time
from fabrik_ros.ros.drawing.path_ahead import MOST_BALLS, PathAhead, tube
from fabrik_ros.ros.messages.conversions import path_in, timed_path
from fabrik_ros.ros.messages.marker_shapes import Pen
from fabrik_ros.ros.messages.palette import SPEEDS
from fabrik_ros.ros.messages.speed_ramp import RAMP, STEPS, steps_of
from hypothesis import given, strategies as st
import numpy as np
from rclpy.serialization import deserialize_message, serialize_message
from visualization_msgs.msg import Marker

numbers = st.floats(-2.0, 2.0)
lines = st.lists(st.tuples(numbers, numbers, numbers), min_size=2, max_size=8)


def luminance(rgb):
    """Relative luminance by the sRGB standard."""
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    return linear @ (0.2126, 0.7152, 0.0722)


def test_faster_is_lighter_for_whoever_sees_no_colours():
    steps = luminance(RAMP)
    assert np.diff(steps).min() > 0.0
    assert (steps[-1] + 0.05) / (steps[0] + 0.05) > 2.0
    background = luminance(np.array([76, 84, 94]) / 255.0)  # of `config/demo.rviz`
    assert (steps[0] + 0.05) / (background + 0.05) > 1.3


@given(st.lists(st.floats(0.0, 3.0), min_size=1), st.floats(0.01, 1.0))
def test_speeds_have_their_share_of_the_ramp(speeds, top):
    for speed, step in zip(speeds, steps_of(np.array(speeds), top), strict=True):
        assert 0 <= step < STEPS
        assert abs(step / (STEPS - 1) - min(speed / top, 1.0)) <= 0.5 / (STEPS - 1) + 1e-9


def test_where_no_greatest_speed_is_known_all_is_slow():
    assert steps_of(np.array([0.1, 5.0]), 0.0).tolist() == [0, 0]
    assert steps_of(np.array([0.1]), np.nan).tolist() == [0]


@given(lines, st.floats(0.005, 0.05))
def test_each_ball_of_a_tube_is_on_its_piece(corners, width):
    corners = np.array(corners)
    centres, pieces = tube(corners, width)
    assert len(centres) == len(pieces) <= MOST_BALLS
    for centre, piece in zip(centres, pieces, strict=True):
        ends = corners[piece : piece + 2]
        detour = np.linalg.norm(ends - centre, axis=1).sum()
        assert detour == pytest.approx(np.linalg.norm(ends[1] - ends[0]), abs=1e-6)


def test_tips_never_go_back_on_their_path():
    path = np.tile(np.eye(4), (5, 1, 1, 1))
    path[:, 0, 0, 3] = np.arange(5.0)
    ahead, tip = PathAhead(), np.eye(4)[None].copy()
    found = []
    for x in (0.0, 1.2, 3.9, 2.0):
        tip[0, 0, 3] = x
        found += ahead.passed(path, tip)
    assert found == [0, 1, 4, 4]


def test_the_longest_tube_is_small_on_the_wire():
    """A point has 24 bytes, a colour 16."""
    points = np.zeros((MOST_BALLS, 3))
    pen = Pen('base_link', Time(sec=7))
    colors = [SPEEDS[k % STEPS] for k in range(MOST_BALLS)]
    sent = serialize_message(pen.bead_chain('path', points, colors, 0.01))
    assert len(sent) < 40 * MOST_BALLS + 300
    heard = deserialize_message(sent, Marker)
    assert heard.type == Marker.SPHERE_LIST
    assert [(c.r, c.g, c.b, c.a) for c in heard.colors] == [
        pytest.approx((*RAMP[k % STEPS], 1.0)) for k in range(MOST_BALLS)
    ]


@given(st.lists(st.floats(0.0, 900.0), max_size=6), st.integers(0, 2**31 - 1000))
def test_a_path_says_when_the_tip_is_where_and_is_no_longer_for_it(times, sec):
    times, T = np.sort(times), np.tile(np.eye(4), (len(times), 1, 1))
    T[:, 0, 3] = np.arange(len(times))
    message = timed_path(T, times, 'base_link', Time(sec=sec, nanosec=999_999_999))
    points, heard = path_in(message)
    np.testing.assert_allclose(heard, times, atol=1e-6)
    np.testing.assert_allclose(points, T[:, :3, 3])
    plain = timed_path(T, np.zeros(len(times)), 'base_link', Time())
    assert len(serialize_message(message)) == len(serialize_message(plain))
    assert all(pose.header.frame_id == 'base_link' for pose in message.poses)
