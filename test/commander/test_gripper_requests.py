"""Requests for the gripper, to a node whose word comes late."""

import time

import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed')

from fabrik_ros.commander import followed_request, gripper
from fabrik_ros.commander.node_time import NodeTime
from fabrik_ros.commander.results import MoveStopped, Status


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
    monkeypatch.setattr(followed_request, 'RESEND_TIME', 0.05)
    link = LateLink()
    gripper.attach(link, 'cup/0')
    assert link.sent == 2


class SaidLink(LateLink):
    """Stands in for a node that takes a width, and then says one thing of it."""

    def __init__(self, **said):
        super().__init__()
        self.facts |= {'gripper_requests': '0', 'gripper_state': 'IDLE', 'gripper_target': ''}
        self.facts |= {'gripper_reason': '', 'gripper_reason_code': '', 'instance': 'a'}
        self.facts |= {'state': 'IDLE', 'reason': ''}
        self._said = {'gripper_target': '0.0', 'gripper_width': '0.03', **said}

    def publish(self, topic, message):
        self.facts = self.facts | {'gripper_requests': '1', **self._said}


@pytest.mark.parametrize('state', ['BLOCKED', 'STOPPED', 'UNMEASURED', 'GRASPED', 'MOVING'])
def test_fingers_that_were_stopped_are_said_to_be_whatever_their_state(state):
    said = {'gripper_reason': 'it aborted the goal', 'gripper_reason_code': 'error'}
    link = SaidLink(gripper_state=state, gripper_target='0.03', **said)
    with pytest.raises(MoveStopped, match='it aborted the goal') as stopped:
        gripper.Gripper(link).move(0.0)
    assert stopped.value.code == 'error'


def test_fingers_that_hold_something_say_so():
    assert gripper.Gripper(SaidLink(gripper_state='GRASPED')).move(0.0).holds


@pytest.mark.parametrize('requests', ['0', '1'], ids=['before it answers', 'on the way'])
def test_node_that_was_started_anew_knows_nothing_of_a_width(requests):
    link = SaidLink(gripper_requests=requests, instance='b', gripper_target='')
    with pytest.raises(MoveStopped) as stopped:
        gripper.Gripper(link).move(0.0)
    assert stopped.value.code == 'node_restarted'


def test_future_of_fingers_that_move_cannot_be_cancelled():
    """They go on: a future that says otherwise would lie."""
    future = gripper._in_thread(lambda: time.sleep(0.1))
    assert not future.cancel()
    assert future.result(10.0) is None
