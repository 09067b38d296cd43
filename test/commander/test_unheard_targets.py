"""The commander beside a node that does not hear a target at once, and says what it is told."""

import threading
import time

import numpy as np
import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed')

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from fabrik_ros.commander import Arm, followed_request, MoveRefused, MoveStopped
from fabrik_ros.commander.followed_request import RESEND_TIME
from fabrik_ros.ros.messages.conversions import seconds
from fabrik_ros.ros.status.diagnostics import target_stamp
from geometry_msgs.msg import PoseStamped
import rclpy
from rclpy.executors import SingleThreadedExecutor
from std_srvs.srv import Trigger

PERIOD = 0.1
"""Time between two statuses [s]."""
IDLE = {
    'state': 'IDLE',
    'reason': '',
    'waits_for': '',
    'waits_for_pause': 'False',
    'waits_for_execute': 'False',
    'base_link': 'base_link',
    'tip_link': 'tool0',
    'accepted': '0',
    'refused': '0',
    'refused_target': '',
    'last_refusal': '',
    'reason_code': '',
    'position_error': '0.0',
    'orientation_error': '0.0',
}


class DeafNode:
    """Says the statuses of a node that takes a target only when it came often enough."""

    def __init__(self, domain_id: int, hears_at: int) -> None:
        self._context = rclpy.Context()
        rclpy.init(context=self._context, domain_id=domain_id)
        self._node = rclpy.create_node('fabrik', context=self._context)
        self._hears_at = hears_at
        self.facts = dict(IDLE)
        self.received: list[tuple[float, PoseStamped]] = []
        self._statuses = self._node.create_publisher(DiagnosticArray, '~/status', 10)
        self._node.create_subscription(PoseStamped, '~/target_pose', self._on_target, 1)
        self._node.create_timer(PERIOD, self._say)
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self._node)
        self._thread = threading.Thread(target=self._spin)
        self._ends = threading.Event()
        self._thread.start()

    def _spin(self) -> None:
        while not self._ends.is_set():
            self._executor.spin_once(0.05)

    def _on_target(self, message: PoseStamped) -> None:
        self.received.append((time.monotonic(), message))
        if len(self.received) >= self._hears_at:
            stamp = target_stamp(seconds(message.header.stamp))
            self.facts = {**IDLE, 'state': 'REACHED', 'accepted': '1', 'target_stamp': stamp}

    def offer(self, service: str) -> None:
        """Offer a service that never answers: its thread hangs in it."""

        def hang(asked: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
            self._ends.wait()
            return response

        self._node.create_service(Trigger, f'~/{service}', hang)

    def _say(self) -> None:
        values = [KeyValue(key=key, value=value) for key, value in self.facts.items()]
        message = DiagnosticArray(status=[DiagnosticStatus(values=values)])
        message.header.stamp = self._node.get_clock().now().to_msg()
        self._statuses.publish(message)

    def close(self) -> None:
        self._ends.set()
        self._thread.join()
        self._executor.shutdown()
        self._node.destroy_node()
        rclpy.try_shutdown(context=self._context)


@pytest.fixture
def meet(network):
    """Bring a commander together with a deaf node."""
    opened = []

    def meet(hears_at: int):
        opened.append(DeafNode(int(network['ROS_DOMAIN_ID']), hears_at))
        opened.append(Arm('fabrik'))
        opened[1].wait_until_ready(30.0)
        return opened

    yield meet
    for each in reversed(opened):
        each.close()


def test_target_that_is_heard_at_once_is_sent_once_and_is_not_said_to_be_measured(meet):
    node, arm = meet(1)
    result = arm.move_to(np.eye(4), timeout=10.0)
    assert (result.state, result.is_measured, bool(result)) == ('REACHED', False, False)
    assert result.sentence.endswith('of the commands: the arm is not measured')
    time.sleep(1.5 * RESEND_TIME)
    assert len(node.received) == 1


def test_target_without_an_answer_is_sent_again_the_same(meet):
    node, arm = meet(3)
    assert arm.move_to(np.eye(4), timeout=10.0).state == 'REACHED'
    (first, message), *others = node.received
    assert len(others) == 2
    assert all(again == message for _, again in others)
    times = [first, *(at for at, _ in others)]
    assert np.all(np.diff(times) > 0.9 * RESEND_TIME)


def test_target_without_any_answer_ends_as_that(meet, monkeypatch):
    monkeypatch.setattr(followed_request, 'ANSWER_TIME', 2.5 * RESEND_TIME)
    node, arm = meet(100)
    with pytest.raises(MoveRefused, match='the node did not answer for') as ended:
        arm.move_to(np.eye(4))
    assert ended.value.code == 'no_answer'
    assert len(node.received) == 3


def test_target_is_not_sent_again_over_that_of_somebody_else(meet):
    node, arm = meet(100)
    threading.Timer(0.3, lambda: node.facts.update(target_stamp='12345.000000')).start()
    with pytest.raises(MoveStopped, match='another target came in its place') as ended:
        arm.move_to(np.eye(4))
    assert ended.value.code == 'superseded'
    assert len(node.received) == 1


def test_refusal_of_somebody_elses_target_is_not_taken_for_ones_own(meet):
    node, arm = meet(2)
    others = {'refused': '1', 'refused_target': '3.000000', 'last_refusal': 'too far'}
    threading.Timer(0.3, lambda: node.facts.update(others)).start()
    assert arm.move_to(np.eye(4), timeout=10.0).state == 'REACHED'


def test_service_that_is_not_answered_is_given_up(meet):
    node, arm = meet(1)
    node.offer('stop')
    with pytest.raises(MoveRefused, match='/fabrik does not answer') as ended:
        arm.stop()
    assert ended.value.code == 'no_answer'


def test_stop_that_nobody_offers_is_told(meet, monkeypatch):
    _, arm = meet(1)
    monkeypatch.setattr(Arm._wait_until, '__defaults__', (0.5,))
    with pytest.raises(MoveRefused, match='nobody offers /fabrik/stop'):
        arm.stop()
