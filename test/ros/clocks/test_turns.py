"""Work that takes longer than the next is away: it holds nothing up, and the newest counts."""

import time
from types import SimpleNamespace

import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed')

from fabrik_ros.ros.clocks import turns as turns_module
from fabrik_ros.ros.clocks.turns import LEEWAY, Turns
from fabrik_ros.ros.executor import make_executor
import numpy as np
import rclpy
from rclpy.duration import Duration
from rclpy.qos import QoSProfile
from std_msgs.msg import Int64

DELIVERY = Duration(seconds=60.0)
KINDS = 'left', 'right'
ROUNDS, MEANWHILE = 12, 3
"""Pieces of work in all, and of each kind that come while one is done."""


class Office:
    """A node with work that comes on two topics, and light messages that come on a third."""

    def __init__(self, domain_id):
        rclpy.init(domain_id=domain_id)
        self.node, self.executor = rclpy.create_node('office'), make_executor()
        self.executor.add_node(self.node)
        self.turns = Turns(self.node)
        self.count, self.done, self.events = 0, [], []
        self.publishers = {}
        for topic, depth, take in (
            ('left', 1, self.on_work('left')),
            ('right', 1, self.on_work('right')),
            ('light', 100, lambda message: self.events.append('light')),
        ):
            qos = QoSProfile(depth=depth)
            self.node.create_subscription(Int64, topic, take, qos)
            self.publishers[topic] = self.node.create_publisher(Int64, topic, qos)
        for publisher in self.publishers.values():
            self.spin_until(lambda p=publisher: p.get_subscription_count() > 0)

    def on_work(self, topic):
        return lambda message: self.turns.take(topic, lambda: self.work(topic, message.data))

    def send(self, topic):
        self.count += 1
        self.publishers[topic].publish(Int64(data=self.count))
        assert self.publishers[topic].wait_for_all_acked(DELIVERY)

    def work(self, topic, number):
        """Take so long that more work comes on both topics, and a light message."""
        self.events.append('work')
        self.done.append((topic, number, self.count))
        time.sleep(2.0 * LEEWAY)
        if len(self.done) < ROUNDS:
            for _ in range(MEANWHILE):
                for kind in KINDS:
                    self.send(kind)
            self.send('light')

    def spin_until(self, condition):
        for _ in range(10_000):
            if condition():
                return
            self.executor.spin_once(timeout_sec=0.02)
        raise AssertionError('waited in vain')

    def close(self):
        self.executor.shutdown()
        self.node.destroy_node()
        rclpy.try_shutdown()


@pytest.fixture
def office(domain_id):
    office = Office(domain_id)
    yield office
    office.close()


def test_light_messages_have_their_turn_between_pieces_of_work(office):
    office.send('left')
    office.spin_until(lambda: len(office.done) >= ROUNDS)
    ahead = np.cumsum([1 if event == 'work' else -1 for event in office.events])
    assert ahead.max() <= 1 + len(KINDS), office.events


def test_work_that_is_done_is_the_newest_of_its_kind_and_no_kind_is_forgotten(office):
    office.send('left')
    office.spin_until(lambda: len(office.done) >= ROUNDS)
    assert {kind for kind, _, _ in office.done} == set(KINDS)
    for _, number, newest in office.done[1:]:
        assert number > newest - len(KINDS) * (2 * MEANWHILE + 1)
    for kind in KINDS:
        office.send(kind)
        office.spin_until(lambda last=(kind, office.count): last in [d[:2] for d in office.done])


def test_work_that_comes_seldom_is_done_at_once(office):
    office.turns.take('left', lambda: office.done.append('first'))
    assert office.done == ['first']


def test_work_that_leaves_most_of_the_time_is_done_at_once_however_unevenly_it_comes(
    office, monkeypatch
):
    now = 0.0
    monkeypatch.setattr(turns_module, 'time', SimpleNamespace(perf_counter=lambda: now))

    def work(number):
        nonlocal now
        now += 0.3 * LEEWAY
        office.done.append(number)

    for number in range(20):  # two pieces together, and nothing for a while
        office.turns.take('left', lambda n=number: work(n))
        now += LEEWAY * (number % 2)
    assert office.done == list(range(20))
