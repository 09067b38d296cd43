"""An arm at its target gets its elbow out of the way of a marker, and says so before."""

import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed')
pytest.importorskip('coal', reason='coal measures the distances')
pytest.importorskip('pinocchio', reason='pinocchio is the judge')
pytest.importorskip('xacro')

from bench import values_at
from fabrik_ros import example_arm, load_urdf
from judging import Judge, pose_errors
import numpy as np
from visualization_msgs.msg import Marker, MarkerArray

ROBOT = load_urdf(example_arm('seven_axis'))
CHAIN = ROBOT.chain()
JUDGE = Judge(ROBOT.source, CHAIN.base_link, CHAIN.tip_link)
START = np.array([0.3, 0.2, 0.2, -1.8, 0.1, 1.9, 0.3])
T_START = JUDGE.pose(START)
BESIDE_ELBOW = JUDGE.points(START)[3] + (0.02, 0.15, 0.0)
"""Middle of the marker [m]."""
NOTICE = 0.9
"""Least time for which it is announced: a second, but for delays of delivery [s]."""


def come_near(bench):
    publisher = bench.tester.create_publisher(MarkerArray, 'fabrik/obstacles', 10)
    bench.spin_until(publisher.get_subscription_count, 'someone who heeds obstacles')
    marker = Marker(ns='box', type=Marker.CUBE, action=Marker.ADD)
    marker.header.frame_id = CHAIN.base_link
    place, scale = marker.pose.position, marker.scale
    place.x, place.y, place.z = map(float, BESIDE_ELBOW)
    scale.x = scale.y = scale.z = 0.1
    publisher.publish(MarkerArray(markers=[marker]))
    bench.wait_for_count('obstacles', 1)


def be_at_target(bench, **parameters):
    values = values_at(CHAIN.joint_names, START)
    bench.start_all(ROBOT.source, values, tip_link=CHAIN.tip_link, **parameters)
    bench.send(T_START)
    bench.wait_for_state('REACHED')
    bench.wait_until_silent()


def test_it_is_announced_and_the_tool_stays(bench):
    be_at_target(bench, dodge_at_rest=True)
    before = len(bench.commands)
    come_near(bench)
    bench.spin_until(lambda: 'comes near' in bench.status['reason'], 'an announcement')
    announced = bench.status
    assert announced['state'] == 'REACHED'
    assert announced['reason_code'] == 'dodging'
    assert 'box' in announced['reason']
    assert len(bench.commands) == before
    bench.wait_for_commands(20)
    assert bench.status['state'] == 'MOVING'
    bench.wait_for_state('REACHED')
    bench.wait_until_silent()
    assert 'comes near' not in bench.status['reason']
    q = bench.commands.q[before:]
    assert np.abs(q[-1] - START).max() > 0.05
    errors = [pose_errors(T_START, JUDGE.pose(values)) for values in q]
    assert max(error.distance for error in errors) < 1e-3
    assert max(error.angle for error in errors) < 2e-3
    said = [i for i, status in enumerate(bench.statuses) if 'comes near' in status['reason']]
    moves = [i for i, status in enumerate(bench.statuses) if status['state'] == 'MOVING']
    assert min(i for i in moves if i > said[0]) - said[0] >= 10.0 * NOTICE - 1.0  # ten a second


def test_it_stays_where_that_was_not_asked_for(bench):
    be_at_target(bench)
    before = len(bench.commands)
    come_near(bench)
    bench.wait_for_statuses(20)
    assert len(bench.commands) == before
    assert bench.status['state'] == 'REACHED'
    assert 'comes near' not in bench.status['reason']
