"""What the node hears of the controller that plays its trajectories."""

from types import SimpleNamespace

import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed')
pytest.importorskip('pinocchio', reason='pinocchio is the judge')

from bench import JOINTS, Puppet, shifted, six_axis_judge, START, values_at
from controllers import Controller, from_ros
import numpy as np
from rclpy.duration import Duration
from rclpy.time import Time
from trajectory_msgs.msg import JointTrajectory

OUTPUT = {'output': ['trajectory', 'joint_state'], 'trajectory_topic': 'jtc/joint_trajectory'}


def state(bench, values):
    """Stand in for a control_msgs/JointTrajectoryControllerState."""
    stamp = bench.tester.get_clock().now().to_msg()
    point = SimpleNamespace(positions=list(values), velocities=[])
    header = SimpleNamespace(stamp=stamp)
    unsaid = SimpleNamespace(time_from_start=Duration().to_msg())
    return SimpleNamespace(
        header=header, joint_names=list(JOINTS), reference=point, feedback=unsaid
    )


@pytest.fixture
def ready(bench, six_axis):
    bench.start_node(robot_description=six_axis, **OUTPUT)
    bench.puppet = Puppet(bench, values_at(JOINTS, START))
    bench.wait_for_state('IDLE')
    return bench


def test_motion_begins_where_the_controller_is(ready, six_axis):
    reference = np.array(START) + 0.02
    ready.witness.begins_elsewhere = True
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
        now = ready.node.node_state.clock.now()
        return not ready.node.topics.controller.reference.missing(JOINTS, now, 1.0)

    ready.say_until(publisher, message, is_heard, 'the reference')
    ready.witness.begins_elsewhere = True
    ready.send(shifted(six_axis_judge(six_axis).pose(START), y=0.05))
    ready.wait_for_state('REACHED')
    assert np.abs(ready.commands.q[0] - message.reference.positions).max() < 1e-3


class HeardController:
    """
    The stand-in for joint_trajectory_controller behind the topic, in real time; it is heard.

    control_msgs is no wheel, so its states are handed to the node as they would come.
    """

    def __init__(self, bench):
        self._bench, self._seen = bench, 0
        now = bench.tester.get_clock().now().nanoseconds
        self.controller = Controller(JOINTS, START, 250.0, activated_at_ns=now)
        self.holds_back, self._waiting = False, None
        bench._listen(JointTrajectory, 'jtc/joint_trajectory', self._take)
        bench.tester.create_timer(0.004, self._update)

    def _now(self):
        return self._bench.tester.get_clock().now().nanoseconds

    def _take(self, message):
        if self.holds_back:
            self._waiting = message
        else:
            self.controller.receive(from_ros(message), self._now())

    def let_go(self):
        """Deliver the newest message that was held back."""
        self.holds_back = False
        if self._waiting is not None:
            self.controller.receive(from_ros(self._waiting), self._now())

    def _update(self):
        self.controller.run_until(self._now())
        for time, q, velocity, passed in self.controller.states(self._seen):
            self._seen += 1
            message = state(self._bench, q)
            message.header.stamp = Time(nanoseconds=time).to_msg()
            message.reference.velocities = list(velocity)
            message.feedback.time_from_start = Duration(nanoseconds=passed).to_msg()
            self._bench.node.topics.controller.take(message)

    def run_for(self, seconds):
        end = self._now() + round(seconds * 1e9)
        self._bench.spin_until(lambda: self._now() >= end, 'time passes')


def test_late_messages_are_told_and_the_motion_goes_on_from_where_the_controller_is(
    ready, six_axis
):
    heard = HeardController(ready)
    target = shifted(six_axis_judge(six_axis).pose(START), x=-0.1, y=0.3)
    ready.send(target)
    ready.wait_for_commands(60)
    heard.holds_back = True
    heard.run_for(0.3)
    end, ahead = heard.controller.end, ready.commands.q[-1]
    assert np.abs(ahead - end).max() <= 0.1, 'nothing went on unheard'
    heard.let_go()
    status = ready.wait_for_state('REACHED')
    assert int(status['late_commands']) >= 1
    assert float(status['lateness']) > 0.0
    assert float(status['look_ahead']) > 0.06
    late = [one['warnings'] for one in ready.statuses if one.get('warnings')]
    assert late
    assert all('too late for the look-ahead' in warning for warning in late)
    heard.run_for(0.5)
    assert six_axis_judge(six_axis).errors(target, heard.controller.end) < (1e-4, 1e-3)


def test_speed_that_the_controller_scales_is_no_lateness(ready, six_axis):
    heard = []
    ready.node.topics.controller._on_reference = heard.append
    message = state(ready, START)
    message.reference.velocities = [0.1] * len(JOINTS)
    for scaling, told in ((1.0, len(JOINTS)), (0.0, len(JOINTS)), (0.5, 0)):
        message.speed_scaling_factor = scaling
        ready.node.topics.controller.take(message)
        assert len(heard[-1].velocity) == told
