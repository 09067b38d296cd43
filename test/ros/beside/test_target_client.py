"""The client that sends one target, beside a node that does not hear it at once."""

import threading
import time

import numpy as np
import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed')

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from fabrik_ros.ros.beside.target_client import Outcome, RESEND_TIME, TargetClient
from fabrik_ros.ros.messages.conversions import seconds
from fabrik_ros.ros.status.diagnostics import target_stamp
from geometry_msgs.msg import PoseStamped
import rclpy
from rclpy.executors import SingleThreadedExecutor

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
    'last_refusal': '',
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
def meet(domain_id):
    """Bring a client together with a deaf node."""
    rclpy.init(args=[], domain_id=domain_id)
    opened = []

    def meet(hears_at: int):
        opened.append(DeafNode(domain_id, hears_at))
        opened.append(TargetClient('fabrik', '', lambda line: None))
        opened[1].wait_until_ready(30.0)
        return opened

    yield meet
    for each in opened:
        each.close()
    rclpy.try_shutdown()


def test_target_that_is_heard_at_once_is_sent_once(meet):
    node, client = meet(1)
    assert client.send(np.eye(4), '', 10.0).outcome is Outcome.REACHED
    time.sleep(1.5 * RESEND_TIME)
    assert len(node.received) == 1


def test_target_without_an_answer_is_sent_again_the_same(meet):
    node, client = meet(3)
    assert client.send(np.eye(4), '', 10.0).outcome is Outcome.REACHED
    (first, message), *others = node.received
    assert len(others) == 2
    assert all(again == message for _, again in others)
    times = [first, *(at for at, _ in others)]
    assert np.all(np.diff(times) > 0.9 * RESEND_TIME)


@pytest.mark.long
def test_target_without_any_answer_ends_as_that(meet):
    node, client = meet(100)
    answer = client.send(np.eye(4), '', 2.5 * RESEND_TIME)
    assert answer.outcome is Outcome.NO_ANSWER
    assert len(node.received) == 3


def test_target_is_not_sent_again_over_that_of_somebody_else(meet):
    node, client = meet(100)
    threading.Timer(0.3, lambda: node.facts.update(target_stamp='12345.000000')).start()
    answer = client.send(np.eye(4), '', 2.5 * RESEND_TIME)
    assert answer.outcome is Outcome.NO_ANSWER
    assert len(node.received) == 1
