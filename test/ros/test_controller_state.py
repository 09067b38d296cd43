"""What the node hears of the controller that plays its trajectories."""

from types import SimpleNamespace

import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed')
pytest.importorskip('pinocchio', reason='pinocchio is the judge')

from bench import JOINTS, Puppet, shifted, six_axis_judge, START, values_at
import numpy as np

OUTPUT = {'output': ['trajectory', 'joint_state'], 'trajectory_topic': 'jtc/joint_trajectory'}


def state(bench, values):
    """Stand in for a control_msgs/JointTrajectoryControllerState."""
    stamp = bench.tester.get_clock().now().to_msg()
    point = SimpleNamespace(positions=list(values))
    header = SimpleNamespace(stamp=stamp)
    return SimpleNamespace(header=header, joint_names=list(JOINTS), reference=point)


@pytest.fixture
def ready(bench, six_axis):
    bench.start_node(robot_description=six_axis, **OUTPUT)
    bench.puppet = Puppet(bench, values_at(JOINTS, START))
    bench.wait_for_state('IDLE')
    return bench


def test_motion_begins_where_the_controller_is(ready, six_axis):
    reference = np.array(START) + 0.02
    ready.node.topics.controller.take(state(ready, reference))
    ready.send(shifted(six_axis_judge(six_axis).pose(START), y=0.05))
    ready.wait_for_state('REACHED')
    assert np.abs(ready.commands.q[0] - reference).max() < 1e-3


def test_controller_that_plays_something_else_stops_the_arm(ready, six_axis):
    ready.send(shifted(six_axis_judge(six_axis).pose(START), y=0.3))
    ready.wait_for_commands(60)
    ready.node.topics.controller.take(state(ready, ready.commands.q[-1]))
    ready.wait_for_statuses(2)
    assert ready.status['state'] == 'MOVING'
    ready.node.topics.controller.take(state(ready, ready.commands.q[-1] + 0.3))
    status = ready.wait_for_state('HOLDING')
    assert 'the controller does not follow its trajectory' in status['reason']


def test_reference_is_heard_on_the_topic_beside_the_commands(ready, six_axis):
    messages = pytest.importorskip(
        'control_msgs.msg', reason='control_msgs comes with ROS 2, not with its wheels'
    )
    publisher = ready.tester.create_publisher(
        messages.JointTrajectoryControllerState, 'jtc/controller_state', 10
    )
    message = messages.JointTrajectoryControllerState(joint_names=list(JOINTS))
    message.reference.positions = (np.array(START) + 0.02).tolist()

    def is_heard():
        publisher.publish(message)
        now = ready.node.node_state.clock.now()
        return not ready.node.topics.controller.reference.missing(JOINTS, now, 1.0)

    ready.spin_until(is_heard, 'the reference')
    ready.send(shifted(six_axis_judge(six_axis).pose(START), y=0.05))
    ready.wait_for_state('REACHED')
    assert np.abs(ready.commands.q[0] - message.reference.positions).max() < 1e-3
