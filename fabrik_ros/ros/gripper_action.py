"""A gripper controller with the action `ParallelGripperCommand` of control_msgs, as its client."""

from collections.abc import Callable
import importlib
import math
import time
from typing import Any

from action_msgs.msg import GoalStatus
from rclpy.action import ActionClient
from rclpy.node import Node
from sensor_msgs.msg import JointState

from ..errors import GripperError, shown

ANSWER_TIME = 5.0
"""A goal that was not answered for so long is given up [s]."""
OnEnd = Callable[[str, float | None], None]
"""
Gets why the controller gave up, '' where it did not, as where something keeps the fingers from
going on; and the value of the joint that it tells, if it does [rad or m].
"""


class _Goal:
    """A goal that was sent."""

    def __init__(self, on_end: OnEnd) -> None:
        self.on_end = on_end
        self.handle: Any = None
        self.is_cancelled = False
        self.give_up_at = time.monotonic() + ANSWER_TIME
        """When it is given up; infinite once it was answered [s]."""

    def cancel(self) -> None:
        """Let the controller stop where it is, also where it has yet to take the goal."""
        self.is_cancelled = True
        if self.handle is not None:
            self.handle.cancel_goal_async()


class GripperAction:
    """
    Sends goals to a gripper controller; a new one supersedes the one before.

    Parameters
    ----------
    node : Node
        Asks on its behalf.

    """

    def __init__(self, node: Node) -> None:
        self._node = node
        self._client: Any = None
        self._name = ''
        self._goal: _Goal | None = None
        """The newest one, until it has ended."""

    def check(self, name: str) -> None:
        """
        Make sure that a controller takes goals.

        Parameters
        ----------
        name : str
            Name of its action.

        Raises
        ------
        GripperError
            If control_msgs is missing, or nobody offers the action.

        """
        kind = _action_type()
        if kind is None:
            raise GripperError(
                f"gripper_action '{shown(name)}' needs control_msgs with ParallelGripperCommand, "
                'which is not installed'
            )
        if self._name != name:
            self.close()
            self._name, self._client = name, ActionClient(self._node, kind, name)
        if not self._client.server_is_ready():
            raise GripperError(f"nobody offers the action '{shown(name)}'")

    def close(self) -> None:
        """Ask no more."""
        if self._client is not None:
            self._client.destroy()
        self._name, self._client, self._goal = '', None, None

    def send(self, joint: str, value: float, effort: float, on_end: OnEnd) -> None:
        """
        Send a goal.

        Parameters
        ----------
        joint : str
            Name of the joint of the gripper.
        value : float
            Where it is to go [rad or m].
        effort : float
            Greatest effort [N or N m]; 0: the controller's own.
        on_end : callable
            Is called once it is over, unless another goal was sent meanwhile.

        """
        command = JointState(name=[joint], position=[value])
        if effort > 0.0:
            command.effort = [effort]
        before, goal = self._goal, _Goal(on_end)
        self._goal = goal

        def answered(done: Any) -> None:
            handle, goal.give_up_at = done.result(), math.inf
            if handle.accepted:
                goal.handle = handle
                if goal.is_cancelled:
                    goal.cancel()
                handle.get_result_async().add_done_callback(ended)
                return
            if before is not None:  # the controller is on its way there
                before.cancel()
            self._end(goal, 'it refused the goal')

        def ended(done: Any) -> None:
            answer = done.result()
            self._end(goal, _why_given_up(answer), _value_of(joint, answer.result.state))

        sent = self._client.send_goal_async(_action_type().Goal(command=command))
        sent.add_done_callback(answered)

    def _end(self, goal: _Goal, why_not: str, value: float | None = None) -> None:
        """Tell of the end of a goal, unless that is over or another was sent."""
        if goal is self._goal:
            self._goal = None
            goal.on_end(why_not, value)

    def attend(self) -> None:
        """Give up a goal that nobody answers, or sees to the end; to be called now and then."""
        goal = self._goal
        if goal is None:
            return
        if time.monotonic() > goal.give_up_at:
            goal.cancel()
            self._end(goal, f'no answer for {ANSWER_TIME:g} s')
        elif goal.handle is not None and not self._client.server_is_ready():
            self._end(goal, 'it is gone')

    def cancel(self) -> None:
        """Let the controller stop where it is; nobody is told of the end."""
        if self._goal is not None:
            self._goal.cancel()
            self._goal = None


def _why_given_up(answer: Any) -> str:
    """Say why a controller has ended a goal; '' where it stands there, or cannot go on."""
    if answer.status == GoalStatus.STATUS_CANCELED:
        return 'it cancelled the goal'
    gave_up = answer.status != GoalStatus.STATUS_SUCCEEDED and not answer.result.stalled
    return 'it aborted the goal' if gave_up else ''


def _value_of(joint: str, state: JointState) -> float | None:
    """Value of a joint in a state; None where that is not told [rad or m]."""
    values = dict(zip(state.name, state.position, strict=False))
    return values.get(joint)


def _action_type() -> Any:
    """Type of the action; None where control_msgs is not installed, or has none of its name."""
    try:
        actions = importlib.import_module('control_msgs.action')
    except ImportError:
        return None
    return getattr(actions, 'ParallelGripperCommand', None)
