"""A client that sends one target to a node, and follows what becomes of it."""

from collections.abc import Callable, Mapping
from enum import Enum
import math
import time
from typing import NamedTuple

from builtin_interfaces.msg import Time
from geometry_msgs.msg import PoseStamped
import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.qos import DurabilityPolicy

from ...errors import FabrikError, listed
from ...transforms import Array
from ..clocks.qos import NEWEST
from ..messages.conversions import seconds, stamped_pose
from ..parameters.tip_names import topic_name
from ..status.diagnostics import (
    awaited_in,
    ERRORS,
    MEASURED_ERRORS,
    standing_in,
    target_stamp,
)
from ..status.neighbours import node_of
from .node_client import NodeClient

SILENCE = 2.0
"""A node from which no status came for this long is gone [s]; it sends ten a second."""
SPIN_TIME = 0.05
"""Time for which the network is listened to between two looks [s]."""
RESEND_TIME = 1.0
"""A target without an answer is sent again after this time [s]; twice the same is a repeat."""
HOLD_TIME = 0.5
"""An arm that holds for this long does not go on by itself [s]."""


class NotSentError(FabrikError):
    """The target was not sent; says why."""


class Outcome(Enum):
    """Outcome of a target."""

    REACHED = 'reached'
    NOT_REACHED = 'accepted, but not reached'
    REFUSED = 'refused: nothing has changed'
    NO_ANSWER = 'neither accepted nor refused'


class Answer(NamedTuple):
    """Outcome of a target, and why."""

    outcome: Outcome
    text: str


class TargetClient:
    """
    Sends a target to a node, and waits until its status says what became of it.

    Parameters
    ----------
    name : str
        Name of the node; one that is not absolute is below `/`.
    tip : str
        The tip link, for a node that moves several; '' otherwise.
    say : callable
        Gets a line whenever something else is waited for.

    """

    def __init__(self, name: str, tip: str, say: Callable[[str], None]) -> None:
        self.name = '/' + name.strip('/')
        self._say = say
        self._said = ''
        self._held_since = math.inf
        """Time at which the arm was last seen not to hold [s]."""
        self._prefix = f'{topic_name(tip)}/' if tip else ''
        """Prefix of the facts in the status that are of the tip."""
        self._node = rclpy.create_node('fabrik_ros_target')
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(self._node)
        self._client = NodeClient(self._node, self.name)
        topic = f'{self.name}/{self._prefix}target_pose'
        self._targets = self._node.create_publisher(PoseStamped, topic, NEWEST)

    def close(self) -> None:
        """Leave the network."""
        self._executor.shutdown()
        self._node.destroy_node()

    @property
    def status(self) -> Mapping[str, str]:
        """The facts of the newest status, by name."""
        return self._client.facts

    def wait_until_ready(self, patience: float) -> None:
        """
        Wait until the node is active and would receive a target.

        Raises
        ------
        NotSentError
            If that has not come about within `patience` [s]; says what is missing.

        """
        deadline = time.monotonic() + patience
        while (missing := self._missing()) and time.monotonic() < deadline:
            self._tell(f'waiting: {missing}')
            self._executor.spin_once(SPIN_TIME)
        if missing:
            raise NotSentError(f'nothing was sent: {missing}, for {patience:g} s')

    def _missing(self) -> str:
        """Say what is missing until a target can be sent; '' where nothing is."""
        if self._is_silent:
            return f'no status is heard on {self.name}/status'
        if awaited := awaited_in(self.status):
            return awaited
        if not self._is_connected:
            return f'{self.name} does not listen on {self._targets.topic_name}{self._other_tips()}'
        return ''

    def _other_tips(self) -> str:
        tips = self.status.get('tip_link', '').split(', ')
        return f'; its tips are: {listed(tips)}: say which' if len(tips) > 1 else ''

    @property
    def _is_silent(self) -> bool:
        return time.monotonic() - self._client.heard_at > SILENCE

    @property
    def _is_connected(self) -> bool:
        """
        Whether the node itself would get what is sent now, not only somebody who looks on.

        How many subscriptions are matched is known, but not which: so all have to be.
        """
        infos = self._node.get_subscriptions_info_by_topic(self._targets.topic_name)
        matching = [
            info
            for info in infos
            if info.qos_profile.durability != DurabilityPolicy.TRANSIENT_LOCAL
        ]
        names = set(map(node_of, matching))
        return self.name in names and self._targets.get_subscription_count() >= len(matching)

    def send(self, T: Array, frame: str, patience: float) -> Answer:
        """
        Send a target, and wait until the arm has reached it or will not.

        Parameters
        ----------
        T : array, shape (4, 4)
            The pose.
        frame : str
            The frame that it is in; '' for the base link.
        patience : float
            How long to wait [s].

        """
        refused = int(self.status['refused'])
        message = stamped_pose(T, frame or self.base_link, self._new_stamp())
        own = target_stamp(seconds(message.header.stamp))
        before = self.status.get(f'{self._prefix}target_stamp')
        self._targets.publish(message)
        sent = self._held_since = time.monotonic()
        deadline = time.monotonic() + patience
        was_accepted = False
        while time.monotonic() < deadline:
            self._executor.spin_once(SPIN_TIME)
            newest = self.status.get(f'{self._prefix}target_stamp')
            was_accepted = was_accepted or newest == own
            answer = self._fate(newest == own) if was_accepted else self._refusal(refused)
            if answer is not None:
                return answer
            if was_accepted:
                self._tell(self.standing)
            elif newest == before and time.monotonic() - sent > RESEND_TIME:
                self._targets.publish(message)
                sent = time.monotonic()
        what = Outcome.NOT_REACHED if was_accepted else Outcome.NO_ANSWER
        return Answer(what, f'after {patience:g} s: {self.standing}')

    def _fate(self, is_newest: bool) -> Answer | None:
        """Say what became of a target that was accepted; None while it is pursued."""
        status, state = self.status, self.status['state']
        if self._is_silent:
            return Answer(Outcome.NOT_REACHED, f'the node fell silent in state {state}')
        if not is_newest:
            replaced = f'{self._prefix}target_stamp' in status
            text = 'another target replaced it' if replaced else self.standing
            return Answer(Outcome.NOT_REACHED, text)
        if state == 'REACHED':
            is_measured = status.get('is_measured') == 'True'
            keys = MEASURED_ERRORS if is_measured else ERRORS
            position, turn = (status[f'{self._prefix}{key}'] for key in keys)
            text = f'position error {position} m, orientation error {turn} rad'
            if not is_measured:
                text += ', of the commands: the arm is not measured'
            return Answer(Outcome.REACHED, text)
        if status['waits_for_execute'] == 'True':
            return Answer(Outcome.NOT_REACHED, f'{self.standing}; {self.name}/execute goes there')
        if state != 'HOLDING' and not state.startswith('WAITING'):
            self._held_since = time.monotonic()
        elif time.monotonic() - self._held_since > HOLD_TIME:
            return Answer(Outcome.NOT_REACHED, self.standing)
        return None

    def _refusal(self, refused_before: int) -> Answer | None:
        """Say why a target was refused; None where it was not."""
        if self._is_silent:
            return Answer(Outcome.NO_ANSWER, 'the node fell silent')
        if int(self.status['refused']) == refused_before:
            return None
        text = self.status['last_refusal']
        others = self._node.count_publishers(self._targets.topic_name) - 1
        if others > 0:
            text += f' ({others} more publishers send targets: it may be one of theirs)'
        return Answer(Outcome.REFUSED, text)

    @property
    def base_link(self) -> str:
        """The base link of the node, once it is ready."""
        return self.status['base_link']

    @property
    def standing(self) -> str:
        """State and reason of the newest status."""
        return standing_in(self.status)

    def _new_stamp(self) -> Time:
        """Make a stamp by the node's clock, in whole microseconds: the status tells those."""
        passed = time.monotonic() - self._client.heard_at
        microseconds = max(1, self._client.stamp // 1000 + round(1e6 * passed))
        return Time(sec=microseconds // 10**6, nanosec=microseconds % 10**6 * 1000)

    def _tell(self, text: str) -> None:
        """Say a line, unless it is the last one again."""
        if text != self._said:
            self._said = text
            self._say(text)
