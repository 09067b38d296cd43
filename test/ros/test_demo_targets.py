"""The moving target of the demo, beside the node that it is for."""

import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed')
pytest.importorskip('pinocchio', reason='pinocchio is the judge')

from bench import JOINTS, START, values_at
from fabrik_ros.ros.demo_targets import DemoTargets
from geometry_msgs.msg import PoseStamped
from rclpy.lifecycle import TransitionCallbackReturn

SUCCESS = TransitionCallbackReturn.SUCCESS


def test_targets_that_began_before_the_node_move_the_arm_once_it_is_ready(bench, six_axis):
    sent = []
    bench._listen(PoseStamped, 'fabrik/target_pose', sent.append)
    bench.add(DemoTargets, {})
    bench.start_node(tip_link='tool0')
    bench.wait_for_statuses(5)
    assert not sent
    bench.start_arm(values_at(JOINTS, START))
    bench.describe(six_axis)
    bench.spin_until(lambda: len(bench.commands) > 50, 'the arm moves')
    assert bench.status['refused'] == '0'


def test_targets_pause_where_they_would_be_refused_and_go_on_after(bench, six_axis):
    bench.add(DemoTargets, {})
    bench.start_all(six_axis, values_at(JOINTS, START), tip_link='tool0')
    bench.spin_until(lambda: len(bench.commands) > 20, 'the arm moves')
    assert bench.node.trigger_deactivate() == SUCCESS
    assert bench.node.trigger_activate() == SUCCESS
    bench.wait_until_it_may_set_out()
    bench.wait_for_commands(20)
