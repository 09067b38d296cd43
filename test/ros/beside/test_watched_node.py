"""What is asked of a node that may not be there: an answer comes in any case."""

import time

import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed')

from fabrik_ros.ros.beside.node_client import LONGEST_ANSWER
from fabrik_ros.ros.beside.watched_node import WatchedNode
import rclpy
from std_srvs.srv import Trigger

PATIENCE = 30.0
"""How long the slowest machine may take for anything [s]."""


@pytest.fixture
def watched(bench):
    return WatchedNode(bench.tester, 'fabrik', lambda: None)


def test_service_that_nobody_offers_is_said_at_once(watched):
    answers = []
    watched.trigger('hold', lambda *answer: answers.append(answer))
    watched.set_parameter('path', 'line', lambda *answer: answers.append(answer))
    assert answers == [
        (None, 'nobody offers fabrik/hold'),
        (None, 'nobody offers fabrik/set_parameters'),
    ]


def test_node_that_hangs_is_said_not_to_answer(bench, watched):
    hanging = rclpy.create_node('fabrik', context=bench.context)
    hanging.create_service(Trigger, '~/hold', lambda request, response: response)
    answers = []
    try:
        begin = time.monotonic()
        is_there = watched._triggers['hold'].service_is_ready
        bench.spin_until(is_there, 'the service', PATIENCE)
        watched.trigger('hold', lambda *answer: answers.append(answer))
        bench.spin_until(lambda: answers, 'an answer', PATIENCE)
        assert time.monotonic() - begin > LONGEST_ANSWER
        assert answers == [(None, 'fabrik does not answer')]
    finally:
        hanging.destroy_node()
