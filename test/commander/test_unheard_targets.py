"""The commander beside a node that does not hear a target at once, and says what it is told."""

import threading
import time

import numpy as np
import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed')

from commanded import until
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from fabrik_ros.commander import Arm, followed_request, move, MoveRefused, MoveStopped
from fabrik_ros.commander.followed_request import RESEND_TIME
from fabrik_ros.commander.node_link import STREAM_TIMEOUT
from fabrik_ros.ros.messages.conversions import seconds
from fabrik_ros.ros.status.diagnostics import target_stamp
from geometry_msgs.msg import PoseStamped
import rclpy
from rclpy.clock import Clock, ClockType
from rclpy.executors import SingleThreadedExecutor
from rclpy.parameter import Parameter
from rclpy.time import Time
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
    """
    Says the statuses of a node that takes a target only when it came often enough.

    With a pace its time is simulated, and goes so much faster than that of the others.
    """

    def __init__(self, domain_id: int, hears_at: int, pace: float | None) -> None:
        self._context = rclpy.Context()
        rclpy.init(context=self._context, domain_id=domain_id)
        self._node = rclpy.create_node(
            'fabrik', context=self._context, allow_undeclared_parameters=True
        )
        self._hears_at = hears_at
        self.facts = dict(IDLE)
        self.received: list[tuple[float, PoseStamped]] = []
        self.heard: list[float] = []
        """When, by the time of the node [s]."""
        self.ends_as, self.expects_pause = 'REACHED', False
        self.speaks = True
        self._pace, self._begin = pace, time.monotonic()
        self._statuses = self._node.create_publisher(DiagnosticArray, '~/status', 10)
        self._node.create_subscription(PoseStamped, '~/target_pose', self._on_target, 1)
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._node.create_timer(PERIOD, self._say, clock=steady)
        simulated = Parameter('use_sim_time', value=pace is not None)
        self._node.set_parameters([simulated])
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self._node)
        self._thread = threading.Thread(target=self._spin)
        self._ends = threading.Event()
        self._thread.start()

    @property
    def now(self) -> float:
        """Time of the node [s]."""
        if self._pace is None:
            return time.time()
        return 1000.0 + self._pace * (time.monotonic() - self._begin)

    def _spin(self) -> None:
        while not self._ends.is_set():
            self._executor.spin_once(0.05)

    def _on_target(self, message: PoseStamped) -> None:
        self.received.append((time.monotonic(), message))
        self.heard.append(self.now)
        if self.expects_pause:
            self._refuse(target_stamp(seconds(message.header.stamp)))
        elif len(self.received) >= self._hears_at:
            stamp, count = target_stamp(seconds(message.header.stamp)), len(self.received)
            accepted = {'accepted': str(count), 'target_stamp': stamp}
            self.facts = {**IDLE, 'state': self.ends_as, **accepted}

    def _refuse(self, stamp: str) -> None:
        why = {'refusal_code': 'waits_for_pause', 'refused_because': 'a pause'}
        refusal = {'refused': str(len(self.received)), 'refused_target': stamp, **why}
        self.facts = {**IDLE, **refusal, 'waits_for_pause': 'True'}

    def offer(self, service: str) -> None:
        """Offer a service that never answers: its thread hangs in it."""

        def hang(asked: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
            self._ends.wait()
            return response

        self._node.create_service(Trigger, f'~/{service}', hang)

    def _say(self) -> None:
        if not self.speaks:
            return
        values = [KeyValue(key=key, value=value) for key, value in self.facts.items()]
        message = DiagnosticArray(status=[DiagnosticStatus(values=values)])
        message.header.stamp = Time(nanoseconds=round(1e9 * self.now)).to_msg()
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

    def meet(hears_at: int, pace: float | None = None):
        opened.append(DeafNode(int(network['ROS_DOMAIN_ID']), hears_at, pace))
        opened.append(Arm('fabrik'))
        opened[1].wait_until_ready(30.0)
        until(lambda: opened[1]._link.time.is_simulated == (pace is not None), 'its parameters')
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


def test_target_that_came_and_went_between_two_statuses_is_not_sent_again(meet):
    """As where the node is deactivated as the arm sets out, and activated again."""
    node, arm = meet(100)
    threading.Timer(0.3, lambda: node.facts.update(accepted='1')).start()
    with pytest.raises(MoveStopped) as ended:
        arm.move_to(np.eye(4))
    assert ended.value.code == 'ended'
    assert len(node.received) == 1


def test_refusal_of_somebody_elses_target_is_not_taken_for_ones_own(meet):
    node, arm = meet(2)
    others = {'refused': '1', 'refused_target': '3.000000', 'refused_because': 'too far'}
    threading.Timer(0.3, lambda: node.facts.update(others)).start()
    assert arm.move_to(np.eye(4), timeout=10.0).state == 'REACHED'


def test_target_that_comes_too_soon_after_those_of_others_is_sent_again_after_the_pause(meet):
    node, arm = meet(1)
    node.expects_pause = True

    def look(status):
        if status.reason == 'the node takes targets after one second without any':
            node.expects_pause, node.facts = False, {**node.facts, 'waits_for_pause': 'False'}

    assert arm.move_to(np.eye(4), on_progress=look).state == 'REACHED'
    assert len({seconds(message.header.stamp) for _, message in node.received}) == 2


def test_node_to_which_others_send_all_the_time_refuses_in_the_end(meet, monkeypatch):
    monkeypatch.setattr(move, 'READY_TIME', 2.0)
    node, arm = meet(1)
    node.expects_pause = True
    with pytest.raises(MoveRefused, match='one second without any') as ended:
        arm.move_to(np.eye(4))
    assert ended.value.code == 'not_ready'
    assert len(node.received) == 1


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


@pytest.mark.parametrize('pace', [0.5, 20.0])
def test_pause_between_two_poses_is_by_the_clock_of_the_node(meet, pace):
    node, arm = meet(1, pace)
    for x in (0.1, 0.2):
        assert arm.move_to(((x, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0))).state == 'REACHED'
    before, after = node.heard
    assert after - before > STREAM_TIMEOUT


def test_patience_and_duration_are_by_the_clock_of_the_node(meet, monkeypatch):
    monkeypatch.setattr(move, 'STOP_TIME', 0.2)
    node, arm = meet(1, 0.5)
    begin = node.now
    assert 0.0 < arm.move_to(np.eye(4)).duration < node.now - begin + PERIOD
    node.ends_as = 'MOVING'
    begin = node.now
    with pytest.raises(MoveStopped, match='not there after') as ended:
        arm.move_to(np.diag([-1.0, -1.0, 1.0, 1.0]), timeout=3.0)
    assert ended.value.code == 'timed_out'
    assert node.now - begin > 3.0


def test_nothing_waits_for_ever_where_the_clock_stands(meet):
    node, arm = meet(1, 0.0)
    assert arm.move_to(np.eye(4)).state == 'REACHED'
    with pytest.raises(MoveRefused, match='are a stream') as ended:
        arm.move_to(np.diag([-1.0, -1.0, 1.0, 1.0]), timeout=1.0)
    assert ended.value.code == 'not_ready'
    assert len(node.received) == 1


def test_stamps_differ_and_are_never_far_ahead_of_the_newest_status(meet):
    node, arm = meet(1, 0.0)
    stamps = []
    for _ in range(30):
        stamps.append(seconds(arm._link.new_stamp()))
        time.sleep(0.01)
    assert len(set(stamps)) == 30
    assert max(stamps) < node.now + 0.1


def test_commanders_that_heard_the_same_status_last_make_different_stamps(meet):
    """Else each takes what became of the target of another for the fate of its own."""
    node, arm = meet(1, 0.0)
    with Arm('fabrik') as other:
        other.wait_until_ready(30.0)
        node.speaks = False
        time.sleep(2.0 * PERIOD)
        assert arm._link.new_stamp() != other._link.new_stamp()
