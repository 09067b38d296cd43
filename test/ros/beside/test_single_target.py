"""A target that is sent once: to whoever hears it, and to nobody later."""

import time

import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed')

from fabrik_ros.ros.beside.single_target import DELIVERY_TIME, LONGEST_WAIT, SingleTarget
from fabrik_ros.ros.clocks.qos import NEWEST
from std_msgs.msg import String

TOPIC = 'fabrik/target_configuration'


@pytest.fixture
def said():
    return []


@pytest.fixture
def single(bench, said):
    single = SingleTarget(bench.tester, said.append)
    bench.tester.create_timer(0.03, single.step)
    yield single
    single.close()


@pytest.fixture
def heard(bench):
    """Begin to listen when told to; what is heard."""
    messages = []

    def listen():
        bench.tester.create_subscription(String, TOPIC, lambda m: messages.append(m.data), NEWEST)
        return messages

    return listen


def wait(bench, seconds):
    end = time.monotonic() + seconds
    bench.spin_until(lambda: time.monotonic() > end, 'time passes')


def test_it_comes_once_and_its_publisher_goes(bench, single, heard, said):
    messages = heard()
    single.send(TOPIC, String(data='up'))
    bench.spin_until(lambda: messages, 'the target')
    assert bench.tester.count_publishers(TOPIC) == 1
    bench.spin_until(lambda: bench.tester.count_publishers(TOPIC) == 0, 'its end')
    wait(bench, 0.2)
    assert messages == ['up']
    assert said == []


def test_nobody_gets_it_later(bench, single, heard, said):
    single.send(TOPIC, String(data='up'))
    bench.spin_until(lambda: said, 'a sentence')
    assert said == [f'nobody listens on /{TOPIC}']
    messages = heard()
    wait(bench, 0.5)
    assert messages == []


def test_newer_one_takes_the_place_of_one_that_waits(bench, single, heard, said):
    single.send(TOPIC, String(data='up'))
    single.send(TOPIC, String(data='down'))
    messages = heard()
    bench.spin_until(lambda: messages, 'the target')
    wait(bench, LONGEST_WAIT + DELIVERY_TIME)
    assert messages == ['down']
    assert said == []


def test_dropped_one_is_not_sent(bench, single, heard, said):
    single.send(TOPIC, String(data='up'))
    single.close()
    messages = heard()
    wait(bench, LONGEST_WAIT + 0.2)
    assert messages == said == []
