"""Obstacles that a running node is told of, as the view hears them."""

import time

from fabrik_ros import example_arm, load_urdf
from fabrik_ros.model.geometry import Box, Sphere
from fabrik_ros.transforms import rotation_from_rpy, transform
import numpy as np
import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed')

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from fabrik_ros.ros.conversions import matrix_to_pose
from fabrik_ros.view.heard_obstacles import HeardObstacles
from fabrik_ros.view.ros_source import RosSource
from geometry_msgs.msg import Vector3
import rclpy
from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from visualization_msgs.msg import Marker, MarkerArray

DOMAIN_ID = 95
PATIENCE = 20.0
"""[s]"""
ROBOT = load_urdf(example_arm('six_axis'))
CHAIN = ROBOT.chain()
HERE = dict.fromkeys(CHAIN.joint_names, 0.3)
ELSEWHERE = dict.fromkeys(CHAIN.joint_names, -0.4)
PLACE = transform(rotation_from_rpy(0.1, 0.2, 0.3), np.array([0.4, 0.5, 0.6]))


def marker(name, frame='base_link', **fields):
    made = Marker(ns=name, type=Marker.CUBE, pose=matrix_to_pose(PLACE), **fields)
    made.header.frame_id = frame
    made.scale = Vector3(x=0.1, y=0.2, z=0.3)
    return made


def heard(*markers) -> HeardObstacles:
    obstacles = HeardObstacles()
    obstacles.take(MarkerArray(markers=markers), 0.0)
    return obstacles


def test_marker_stands_where_it_says_and_the_same_is_told_again():
    obstacles = heard(marker('crate'))
    (crate,) = obstacles.place(ROBOT, HERE, 1.0)
    assert (crate.name, crate.shape, crate.link) == ('crate/0', Box((0.1, 0.2, 0.3)), '')
    np.testing.assert_allclose(crate.T_link_obstacle, PLACE, atol=1e-12)
    assert obstacles.place(ROBOT, ELSEWHERE, 2.0) == (crate,)


def test_marker_on_a_link_stays_where_the_link_was():
    obstacles = heard(marker('crate', 'forearm_link'))
    at = ROBOT.pose(ROBOT.root_link, 'forearm_link', HERE) @ PLACE
    for values in (HERE, ELSEWHERE):
        (crate,) = obstacles.place(ROBOT, values, 1.0)
        np.testing.assert_allclose(crate.T_link_obstacle, at, atol=1e-12)


def test_marker_locked_to_a_link_is_carried():
    (crate,) = heard(marker('crate', 'tool0', frame_locked=True)).place(ROBOT, HERE, 1.0)
    assert crate.link == 'tool0'


def test_what_only_tf_knows_is_left_out_and_a_refused_message_changes_nothing():
    obstacles = heard(marker('crate'), marker('cart', 'odom'))
    obstacles.take(
        MarkerArray(markers=[marker('arrow', action=0), Marker(type=Marker.ARROW)]), 0.0
    )
    assert [crate.name for crate in obstacles.place(ROBOT, HERE, 1.0)] == ['crate/0']


def test_lifetime_ends_and_deleted_markers_are_gone():
    short = marker('short')
    short.lifetime.sec = 2
    obstacles = heard(marker('crate'), short)
    assert len(obstacles.place(ROBOT, HERE, 1.9)) == 2
    assert [crate.name for crate in obstacles.place(ROBOT, HERE, 2.1)] == ['crate/0']
    obstacles.take(MarkerArray(markers=[Marker(action=Marker.DELETEALL)]), 3.0)
    assert obstacles.place(ROBOT, HERE, 3.0) == ()


@pytest.fixture
def world(monkeypatch):
    """Publish what a node and its robot would."""
    monkeypatch.setenv('ROS_DOMAIN_ID', str(DOMAIN_ID))
    monkeypatch.setenv('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
    context = rclpy.Context()
    rclpy.init(context=context)
    node = rclpy.create_node('world', context=context)
    yield node
    node.destroy_node()
    rclpy.try_shutdown(context=context)


class Node:
    """Publishes what a node and its robot would."""

    def __init__(self, world, keeps_obstacles: bool) -> None:
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self._end = time.monotonic() + PATIENCE
        description = world.create_publisher(String, 'robot_description', latched)
        description.publish(String(data=ROBOT.source))
        self._states = world.create_publisher(JointState, 'joint_states', 10)
        self._status = world.create_publisher(DiagnosticArray, 'fabrik/status', 10)
        qos = latched if keeps_obstacles else 1
        self.obstacles = world.create_publisher(MarkerArray, 'fabrik/obstacles', qos)

    def wait(self) -> None:
        """Wait a moment, in silence."""
        assert time.monotonic() < self._end
        time.sleep(0.05)

    def speak(self, **more: str) -> None:
        """Say how the arm is, and wait a moment."""
        facts = {'state': 'IDLE', 'base_link': 'base_link', 'tip_link': 'tool0', 'obstacles': '2'}
        values = [KeyValue(key=key, value=value) for key, value in (facts | more).items()]
        self._states.publish(JointState(name=list(HERE), position=list(HERE.values())))
        self._status.publish(DiagnosticArray(status=[DiagnosticStatus(values=values)]))
        self.wait()


@pytest.mark.parametrize('is_kept', [False, True])
def test_obstacles_of_a_node_are_drawn_also_those_sent_before(world, is_kept):
    node = Node(world, is_kept)
    message = MarkerArray(markers=[marker('crate'), marker('ball', id=3)])
    message.markers[1].type = Marker.SPHERE
    if is_kept:
        node.obstacles.publish(message)
    source = RosSource('/fabrik')
    try:
        while len(source.snapshot().obstacles) < 2:
            if not is_kept:
                node.obstacles.publish(message)
            node.speak()
        crate, ball = source.snapshot().obstacles
        assert (crate.name, ball.name, ball.shape) == ('crate/0', 'ball/3', Sphere(0.15))
        np.testing.assert_allclose(crate.T_link_obstacle, PLACE, atol=1e-12)
        assert source.snapshot().is_fresh(time.monotonic())
        # A node that knows none, for lack of coal or as it began anew, keeps clear of none.
        while source.snapshot().obstacles:
            node.speak(obstacles='0')
    finally:
        source.close()


@pytest.mark.parametrize('is_kept', [pytest.param(False, marks=pytest.mark.long), True])
def test_obstacles_that_a_node_was_told_of_go_with_it_but_those_that_are_kept_come_back(
    world, is_kept
):
    node = Node(world, is_kept)
    message = MarkerArray(markers=[marker('crate')])
    source = RosSource('/fabrik')
    try:
        while world.count_subscribers('fabrik/obstacles') == 0:
            node.speak()
        node.obstacles.publish(message)
        while not source.snapshot().obstacles:
            if not is_kept:
                node.obstacles.publish(message)
            node.speak()
        while source.snapshot().robot is not None:  # the node is gone
            node.wait()
        while source.snapshot().robot is None:  # another one is there
            node.speak()
        for _ in range(20):
            node.speak()
        assert len(source.snapshot().obstacles) == int(is_kept)
    finally:
        source.close()
