"""A gripper controller with the action `ParallelGripperCommand` of control_msgs, as its client."""

from collections.abc import Callable
import importlib
import time
from typing import Any

from rclpy.action import ActionClient
from rclpy.node import Node
from sensor_msgs.msg import JointState

from ..errors import GripperError, shown

ANSWER_TIME = 5.0
"""A goal that was not answered for so long is given up [s]."""
OnEnd = Callable[[str], None]
"""Gets why the controller did not do it; '' where it did, as far as that went."""


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
        self._goals = 0
        """Number of goals so far: the end of an old one means nothing."""
        self._handle: Any = None
        self._end: OnEnd = _end_nothing
        self._is_cancelled = False
        self._give_up_at: float | None = None
        """When a goal without an answer is given up [s]."""

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
        self._name, self._client, self._handle = '', None, None

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
        self._goals += 1
        number = self._goals
        command = JointState(name=[joint], position=[value])
        if effort > 0.0:
            command.effort = [effort]

        def end(why_not: str) -> None:
            if number == self._goals:
                self._handle = self._give_up_at = None
                on_end(why_not)

        def answered(done: Any) -> None:
            handle = done.result()
            if number == self._goals:
                self._give_up_at = None
            if not handle.accepted:
                end('it refused the goal')
                return
            if number == self._goals:
                self._handle = handle
                if self._is_cancelled:
                    handle.cancel_goal_async()
            handle.get_result_async().add_done_callback(lambda _: end(''))

        goal = self._client.send_goal_async(_action_type().Goal(command=command))
        self._give_up_at = time.monotonic() + ANSWER_TIME
        self._end, self._is_cancelled = end, False
        goal.add_done_callback(answered)

    def attend(self) -> None:
        """Give up a goal that nobody answers, or sees to the end; to be called now and then."""
        if self._give_up_at is not None and time.monotonic() > self._give_up_at:
            self._end(f'no answer for {ANSWER_TIME:g} s')
        elif self._handle is not None and not self._client.server_is_ready():
            self._end('it is gone')

    def cancel(self) -> None:
        """Let the controller stop where it is, also where it has yet to take the goal."""
        self._is_cancelled = True
        if self._handle is not None:
            self._handle.cancel_goal_async()


def _end_nothing(why_not: str) -> None:
    """Stand in for the end of a goal before the first one."""


def _action_type() -> Any:
    """Type of the action; None where control_msgs is not installed, or has none of its name."""
    try:
        actions = importlib.import_module('control_msgs.action')
    except ImportError:
        return None
    return getattr(actions, 'ParallelGripperCommand', None)
