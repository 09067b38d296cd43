"""Goals for a gripper controller: one that takes its time, or dies; a client stands in for it."""

import time
from types import SimpleNamespace

import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed')

from action_msgs.msg import GoalStatus
from fabrik_ros.ros import gripper_action
from fabrik_ros.ros.gripper_action import GripperAction
from rclpy.task import Future
from sensor_msgs.msg import JointState


class Controller:
    """Stands in for the client of an action; answers when it is told to."""

    def __init__(self):
        self.is_there, self.cancelled = True, 0
        self.answer, self.result = Future(), Future()

    def server_is_ready(self):
        return self.is_there

    def send_goal_async(self, goal):
        return self.answer

    def accept(self):
        self.accepted = True
        self.answer.set_result(self)

    def refuse(self):
        self.accepted = False
        self.answer.set_result(self)

    def end(self, status):
        result = SimpleNamespace(stalled=False, state=JointState())
        self.result.set_result(SimpleNamespace(status=status, result=result))

    def get_result_async(self):
        return self.result

    def cancel_goal_async(self):
        self.cancelled += 1


@pytest.fixture
def asked(monkeypatch):
    """Send a goal; return action, controller, and what is told of the end."""
    kind = SimpleNamespace(Goal=SimpleNamespace)
    monkeypatch.setattr(gripper_action, '_action_type', lambda: kind)
    controller, ends = Controller(), []
    monkeypatch.setattr(gripper_action, 'ActionClient', lambda *given: controller)
    action = GripperAction(None)
    action.check('hand/gripper_cmd')
    action.send('finger', 0.01, 0.0, lambda *end: ends.append(end))
    return action, controller, ends


def test_goal_that_is_taken_once_it_was_cancelled_is_cancelled(asked):
    action, controller, _ = asked
    action.cancel()
    controller.accept()
    assert controller.cancelled == 1


def test_controller_that_dies_is_given_up(asked):
    action, controller, ends = asked
    controller.accept()
    action.attend()
    assert ends == []
    controller.is_there = False
    action.attend()
    assert ends == [('it is gone', None)]
    action.attend()
    assert ends == [('it is gone', None)]


def test_goal_that_is_taken_after_it_was_given_up_is_cancelled(asked, monkeypatch):
    action, controller, ends = asked
    monkeypatch.setattr(time, 'monotonic', lambda: 1e9)
    action.attend()
    assert ends == [('no answer for 5 s', None)]
    controller.accept()
    assert controller.cancelled == 1
    controller.end(GoalStatus.STATUS_CANCELED)
    assert len(ends) == 1


def test_goal_before_one_that_is_refused_is_cancelled(asked):
    """The controller is on its way there, and nobody would see to it."""
    action, controller, ends = asked
    controller.accept()
    controller.answer = Future()
    action.send('finger', 0.02, 0.0, lambda *end: ends.append(end))
    controller.refuse()
    assert controller.cancelled == 1
    assert ends == [('it refused the goal', None)]


def test_goal_that_was_cancelled_from_here_tells_of_no_end(asked):
    action, controller, ends = asked
    controller.accept()
    action.cancel()
    controller.end(GoalStatus.STATUS_CANCELED)
    assert (controller.cancelled, ends) == (1, [])


def test_goal_that_others_cancelled_says_so(asked):
    _, controller, ends = asked
    controller.accept()
    controller.end(GoalStatus.STATUS_CANCELED)
    assert ends == [('it cancelled the goal', None)]
