"""Requests for the gripper, to a node whose word comes late."""

import time

import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed')

from fabrik_ros.commander import gripper
from fabrik_ros.commander.node_time import NodeTime
from fabrik_ros.commander.results import Status


class LateLink:
    """Stands in for a node that was busy, took both messages, and only then said so."""

    def __init__(self):
        self.facts = {'refused': '0', 'refused_target': '', 'attached': ''}
        self.sent, self.time = 0, NodeTime()

    @property
    def status(self):
        return Status('IDLE', '', '', self.facts)

    def missing(self, topic=''):
        return None

    def advertise(self, topic, kind):
        pass

    def publish(self, topic, message):
        self.sent += 1
        if self.sent == 2:
            self.facts = {
                'refused': '1',
                'refused_target': f'attach {message.data}',
                'refusal_code': 'refused',
                'refused_because': 'the hand carries it already',
                'attached': message.data,
            }


def test_repeat_that_is_refused_is_no_refusal_of_what_was_done(monkeypatch):
    monkeypatch.setattr(gripper, 'RESEND_TIME', 0.05)
    link = LateLink()
    gripper.attach(link, 'cup/0')
    assert link.sent == 2


def test_future_of_fingers_that_move_cannot_be_cancelled():
    """They go on: a future that says otherwise would lie."""
    future = gripper._in_thread(lambda: time.sleep(0.1))
    assert not future.cancel()
    assert future.result(10.0) is None
