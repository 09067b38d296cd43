"""Clouds that come in: put in place, turned into cells beside the event loop, or refused."""

import math
import threading
import time

import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed')
pytest.importorskip('coal', reason='coal knows the shapes of the links')

from builtin_interfaces.msg import Time
from collision_models import planar_arm
from fabrik_ros import load_urdf
from fabrik_ros.collision import PointMap, Scene, SelfCollision, WorldCollision
from fabrik_ros.ros.clocks.node_clock import NodeClock
from fabrik_ros.ros.inputs.frame_resolver import FrameResolver
from fabrik_ros.ros.inputs.joint_history import JointHistory
from fabrik_ros.ros.inputs.point_input import PointInput
import numpy as np
import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import PointCloud2
from test_point_messages import cloud_message

PATIENCE = 30.0
NOW = 1000.0
AT_REST = (0.0, 0.0)


class PausingMap(PointMap):
    """Takes clouds while it is told that it may."""

    def __init__(self, size, padding):
        super().__init__(size, padding)
        self.may_go_on = threading.Event()
        self.may_go_on.set()

    def take(self, *cloud):
        assert self.may_go_on.wait(PATIENCE)
        return super().take(*cloud)


class Bench:
    """An arm of two capsules along x, which has stood still up to now, and what came of clouds."""

    def __init__(self, context, monkeypatch):
        monkeypatch.setitem(__import__('sys').modules, 'tf2_ros', None)
        robot = load_urdf(planar_arm(2))
        chain = robot.chain('l0', 'l2')
        world = WorldCollision(SelfCollision(robot, chain), Scene())
        self.names = chain.joint_names
        self.joints = JointHistory(self.names)
        self.node = rclpy.create_node('points', context=context)
        self.cells = []
        self.map = PausingMap(0.02, 0.015)
        self.input = PointInput(
            self.node,
            NodeClock(self.node),
            FrameResolver(self.node, robot, 'l0'),
            self.joints,
            self.names,
            robot.root_link,
            world.robot_shape(),
            self.map,
            world.check_arm_whole,
            lambda *accepted: self.cells.append(accepted),
        )

    def state(self, stamp, q=AT_REST):
        self.joints.add(self.names, q, stamp, stamp)

    def send(self, points, stamp, frame='l0', **layout):
        points = np.asarray(points, dtype=np.float64).reshape(1, -1, 3)
        message = cloud_message(points, **layout)
        message.header.frame_id = frame
        message.header.stamp = Time(sec=int(stamp), nanosec=round(stamp % 1.0 * 1e9))
        self.input.on_cloud(message, time.time_ns())
        return self

    def settle(self):
        end = time.monotonic() + PATIENCE
        while self.input.is_busy and time.monotonic() < end:
            self.input.look()
            time.sleep(0.001)
        return self.cells[-1] if self.cells else None


@pytest.fixture
def bench(context, monkeypatch):
    made = Bench(context, monkeypatch)
    yield made
    made.input.close()
    made.node.destroy_node()


BESIDE = [0.51, 0.31, 0.01]


def test_points_become_cells_of_their_frame(bench):
    now = time.time()
    bench.state(now - 1.0)
    bench.state(now)
    frame, cells, stamp = bench.send([BESIDE, [math.nan] * 3], now - 0.5).settle()
    assert (frame, len(cells)) == ('l0', 1)
    assert stamp == pytest.approx(now - 0.5, abs=1e-6)
    np.testing.assert_allclose(cells.centres, [BESIDE], atol=1e-9)
    assert (bench.input.accepted, bench.input.last_refusal) == (1, '')


def test_a_sensor_on_a_link_and_the_links_are_where_they_were_at_the_stamp(bench):
    now = time.time()
    bench.state(now - 0.4, (0.0, 0.0))
    bench.state(now, (0.4, 0.0))  # at half of the time, 0.2 rad
    turn = np.array([math.cos(0.2), math.sin(0.2), 0.0])
    up = np.array([0.0, 0.0, 1.0])
    own, other = 0.25 * turn + 0.06 * up, 0.25 * turn + 0.2 * up
    in_l1 = [[0.25, 0.0, 0.06], [0.25, 0.0, 0.2]]
    _, cells, _ = bench.send(in_l1, now - 0.2, 'l1').settle()
    assert len(cells) == 1
    assert np.abs(cells.centres[0] - other).max() < 0.011
    assert np.abs(cells.centres[0] - own).max() > 0.1


def test_a_cloud_waits_for_the_joint_state_of_its_stamp(bench):
    now = time.time()
    bench.state(now - 0.1)
    bench.send([BESIDE], now)
    assert bench.input.is_busy
    assert not bench.cells
    bench.state(now + 0.01)
    assert bench.settle() is not None


def test_of_many_clouds_the_newest_is_taken_of_which_the_joints_are_known(bench):
    now = time.time()
    bench.state(now - 1.0)
    bench.state(now)
    bench.map.may_go_on.clear()
    for number in range(5):
        bench.send([BESIDE] * (number + 1), now - 0.5 + 0.02 * number)
    bench.send([BESIDE], now + 0.05)
    bench.map.may_go_on.set()
    *_, stamp = bench.settle()
    assert stamp == pytest.approx(now - 0.42, abs=1e-6)
    assert len(bench.cells) == 2


@pytest.mark.parametrize(
    ('frame', 'age', 'points', 'text'),
    [
        ('', 0.1, [BESIDE], "points of '' refused: frame_id is empty"),
        ('moon', 0.12, [BESIDE], "frame 'moon' is no link of the robot, and tf2_ros is not inst"),
        ('l0', 100.0, [BESIDE], "before the first known value of joint 'j0'; 10 s are kept"),
        ('l0', 1.7e9, [BESIDE], "before the first known value of joint 'j0'"),
        ('l0', -5.0, [BESIDE], 's after it was received'),
        ('l0', -0.05, [BESIDE], 'after the newest joint state; one was waited for 0.2 s'),
        ('l0', 0.12, [[math.nan] * 3] * 4, 'none of its 4 points is finite'),
        ('l0', 0.12, np.zeros((0, 3)), 'none of its 0 points is finite'),
    ],
)
def test_a_cloud_of_no_use_is_refused_and_the_last_cells_stay(bench, frame, age, points, text):
    now = time.time()
    for stamp in np.arange(now - 2.0, now + 0.01, 0.1):
        bench.state(stamp)
    good = bench.send([BESIDE], now - 0.25).settle()
    bench.send(points, max(now - age, 1.0), frame).settle()
    assert text in bench.input.last_refusal
    assert bench.cells == [good]
    assert (bench.input.accepted, bench.input.refused) == (1, 1)


def test_no_joint_state_is_named(bench):
    bench.send([BESIDE], time.time()).settle()
    assert "no joint state of 'j0' has come yet" in bench.input.last_refusal


def test_clouds_of_the_topic_come_in(bench, context):
    other = rclpy.create_node('camera', context=context)
    publisher = other.create_publisher(PointCloud2, '/points/points', qos_profile_sensor_data)
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(bench.node)
    message = cloud_message(np.array([[BESIDE]]))
    message.header.frame_id = '/l0'
    end = time.monotonic() + PATIENCE
    while not bench.cells and time.monotonic() < end:
        bench.state(time.time())
        publisher.publish(message)  # without a stamp: as it was received
        executor.spin_once(timeout_sec=0.05)
    assert bench.cells[0][0] == 'l0'
    other.destroy_node()


def test_what_the_executor_calls_after_the_end_does_nothing(bench):
    """It has a list of what is due, and goes through that though a callback before ends it all."""
    now = time.time()
    bench.state(now)
    bench.send([BESIDE], now)
    bench.input.close()
    bench.input.look()
    bench.send([BESIDE], now)
    assert bench.cells == []
