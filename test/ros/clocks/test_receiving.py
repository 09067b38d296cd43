"""What waited while the node was busy or not active counts by when it was received."""

import time

import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed')

from bench import JOINTS, matrix_message, Puppet, shifted, six_axis_judge, START, values_at
from fabrik_ros.ros.clocks.receiving import age_of, with_receipt
from fabrik_ros.ros.executor import make_executor
from geometry_msgs.msg import TwistStamped
import rclpy
from rclpy.duration import Duration
from rclpy.executors import SingleThreadedExecutor
from rclpy.lifecycle import TransitionCallbackReturn
from rclpy.qos import QoSProfile
from std_msgs.msg import String

SUCCESS = TransitionCallbackReturn.SUCCESS
DELIVERY = Duration(seconds=60.0)
SECOND = 1_000_000_000


@pytest.fixture
def away(six_axis):
    return shifted(six_axis_judge(six_axis).pose(START), y=0.1)


@pytest.fixture
def ready(bench, six_axis):
    bench.start_all(six_axis, values_at(JOINTS, START))
    return bench


def publish_and_wait(publisher, message):
    """Publish; return when the message is with its reader, whether or not that looked at it."""
    publisher.publish(message)
    assert publisher.wait_for_all_acked(DELIVERY)


@pytest.mark.parametrize('make', [SingleThreadedExecutor, make_executor])
def test_callback_is_told_when_its_message_came_not_when_its_turn_came(domain_id, make):
    rclpy.init(domain_id=domain_id)
    node, got, executor = rclpy.create_node('receiver'), [], make()
    try:
        executor.add_node(node)
        node.create_subscription(String, 'topic', with_receipt(lambda *pair: got.append(pair)), 1)
        publisher = node.create_publisher(String, 'topic', QoSProfile(depth=1))
        while publisher.get_subscription_count() < 1:
            executor.spin_once(timeout_sec=0.02)
        before = time.time_ns()
        publish_and_wait(publisher, String(data='words'))
        after = time.time_ns()
        deadline = time.monotonic() + 60.0
        while not got and time.monotonic() < deadline:
            executor.spin_once(timeout_sec=0.02)
        ((message, received),) = got
        assert message.data == 'words'
        assert before <= received <= after
    finally:
        executor.shutdown()
        node.destroy_node()
        rclpy.try_shutdown()


def test_what_the_middleware_says_nothing_of_is_received_now():
    got = []
    take = with_receipt(lambda message, received: got.append(received))
    before = time.time_ns()
    take('message', {'received_timestamp': 0})
    assert before <= got[0] <= time.time_ns()


def test_nothing_is_younger_than_new():
    assert age_of(time.time_ns() + SECOND) == 0
    assert age_of(time.time_ns() - SECOND) >= SECOND


def test_target_that_came_while_the_node_was_not_active_is_refused_later_too(ready, away):
    assert ready.node.trigger_deactivate() == SUCCESS
    publisher = ready._targets_to('')
    ready.spin_until(lambda: ready._is_heard(publisher), 'somebody listens to targets')
    publish_and_wait(publisher, matrix_message(away))
    assert ready.node.trigger_activate() == SUCCESS
    status = ready.wait_for_count('refused', 1)
    assert status['last_refusal'] == 'it was received while the node was not active'
    assert len(ready.commands) == 0
    ready.wait_until_it_may_set_out()
    ready.send(away)
    ready.wait_for_state('REACHED')


@pytest.mark.long
def test_jog_that_came_while_the_node_was_not_active_is_refused_later_too(ready):
    message = TwistStamped()
    message.twist.linear.y = 0.1
    assert ready.node.trigger_deactivate() == SUCCESS
    received = time.time_ns()
    assert ready.node.trigger_activate() == SUCCESS
    ready.node.inbox.on_jog(ready.node.topics.tips[0], message, received)
    assert 'was not active' in ready.node.node_state.tally.last_refusal
    ready.wait_until_it_may_set_out()
    ready.node.inbox.on_jog(ready.node.topics.tips[0], message, time.time_ns())
    assert ready.node.node_state.tally.last_refusal == ''


def test_joint_states_age_while_nobody_looks_at_them(bench, six_axis):
    bench.start_node(state_timeout=0.2)
    bench.describe(six_axis)
    puppet = Puppet(bench, values_at(JOINTS, START))
    bench.wait_for_state('IDLE')
    puppet.fall_silent()
    bench.wait_for_state('WAITING_FOR_STATE')
    for _ in range(5):
        puppet.say()
    time.sleep(0.3)
    before = len(bench.statuses)
    bench.wait_for_statuses(5)
    assert {status['state'] for status in bench.statuses[before:]} == {'WAITING_FOR_STATE'}
    puppet.speak_again()
    bench.wait_for_state('IDLE')


@pytest.mark.parametrize('came', [True, False])
def test_state_is_lost_that_did_not_come_not_one_that_waits_while_the_node_is_busy(
    bench, six_axis, away, came
):
    """The node stands still for longer than states may be old, as where memory is paged out."""
    bench.start_node(state_timeout=0.2)
    bench.describe(six_axis)
    puppet = Puppet(bench, values_at(JOINTS, START))
    bench.wait_for_state('IDLE')
    bench.send(away)
    bench.wait_for_commands(20)
    puppet.fall_silent()
    time.sleep(0.3)
    if came:
        puppet.say()
        assert puppet._publisher.wait_for_all_acked(DELIVERY)
    bench.node.node_state.arm.loop._tick()
    state, reason = bench.node.node_state.follower.state(bench.node.node_state.clock.now())
    assert (state.name, 'is lost' in str(reason)) == (
        ('MOVING', False) if came else ('HOLDING', True)
    )
    puppet.speak_again()
