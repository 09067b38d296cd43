"""The moving target of the demo, beside the node that it is for."""

import time

import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed')
pytest.importorskip('pinocchio', reason='pinocchio is the judge')

from bench import JOINTS, matrix_message, shifted, six_axis_judge, START, values_at
from fabrik_ros.ros.beside import demo_targets
from fabrik_ros.ros.beside.demo_targets import DemoTargets
from geometry_msgs.msg import PoseStamped
from rclpy.lifecycle import TransitionCallbackReturn
from visualization_msgs.msg import InteractiveMarkerFeedback as Feedback

SUCCESS = TransitionCallbackReturn.SUCCESS


@pytest.fixture
def alone(bench):
    """Make a bench without a publisher of targets: those of the demo make way for others."""
    bench.tester.destroy_publisher(bench._targets.pop(''))
    return bench


def test_targets_that_began_before_the_node_move_the_arm_once_it_is_ready(alone, six_axis):
    sent = []
    alone._listen(PoseStamped, 'fabrik/target_pose', sent.append)
    alone.add(DemoTargets, {})
    alone.start_node(tip_link='tool0')
    alone.wait_for_statuses(5)
    assert not sent
    alone.start_arm(values_at(JOINTS, START))
    alone.describe(six_axis)
    alone.spin_until(lambda: len(alone.commands) > 50, 'the arm moves')
    assert alone.status['refused'] == '0'


@pytest.mark.long
def test_targets_pause_where_they_would_be_refused_and_go_on_after(alone, six_axis):
    alone.add(DemoTargets, {})
    alone.start_all(six_axis, values_at(JOINTS, START), tip_link='tool0')
    alone.spin_until(lambda: len(alone.commands) > 20, 'the arm moves')
    assert alone.node.trigger_deactivate() == SUCCESS
    assert alone.node.trigger_activate() == SUCCESS
    alone.wait_until_it_may_set_out()
    alone.wait_for_commands(20)


@pytest.fixture
def moving(alone, six_axis, monkeypatch):
    """Make the targets move an arm; returns all targets on the wire."""
    monkeypatch.setattr(demo_targets, 'WAY_TIME', 1.0)
    sent = []
    alone._listen(PoseStamped, 'fabrik/target_pose', sent.append)
    alone.add(DemoTargets, {})
    alone.start_all(six_axis, values_at(JOINTS, START), tip_link='tool0')
    alone.spin_until(lambda: len(alone.commands) > 20, 'the arm moves')
    return sent


def wait(bench, seconds):
    end = time.monotonic() + seconds
    bench.spin_until(lambda: time.monotonic() > end, 'time passes')


def test_targets_make_way_for_those_of_others_and_go_on_after(alone, moving, six_axis):
    judge = six_axis_judge(six_axis)
    other = alone.tester.create_publisher(PoseStamped, 'fabrik/target_pose', 1)
    alone.spin_until(lambda: other.get_subscription_count() > 1, 'everybody listens')
    wait(alone, 0.3)
    goal = shifted(judge.pose(START), z=0.05)
    other.publish(matrix_message(goal))
    wait(alone, 0.3)
    count = len(moving)
    alone.wait_for_state('REACHED')
    alone.wait_until_silent(4)
    assert len(moving) == count
    assert judge.errors(goal, alone.commands.q[-1]) < (1e-4, 1e-3)
    alone.tester.destroy_publisher(other)
    alone.spin_until(lambda: len(moving) > count, 'more targets')
    alone.wait_for_state('MOVING')


@pytest.mark.long
def test_targets_make_way_for_who_uses_a_handle(alone, moving):
    touches = alone.tester.create_publisher(Feedback, 'fabrik/drag_target/feedback', 10)
    alone.spin_until(lambda: touches.get_subscription_count() > 0, 'somebody listens')
    touches.publish(Feedback(event_type=Feedback.MENU_SELECT))
    wait(alone, 0.3)
    count = len(moving)
    wait(alone, 0.5)
    assert len(moving) == count
    alone.spin_until(lambda: len(moving) > count, 'more targets')
