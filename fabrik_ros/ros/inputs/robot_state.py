"""The state that the robot publishes: whether it is ready to move, and its speed scaling."""

from collections.abc import Callable
import math
from typing import Any

from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from std_msgs.msg import Bool, Float64

from ...reasons import Reason, ReasonKind
from ..clocks.log_periods import WARNING_PERIOD
from ..clocks.qos import LATCHED, NEWEST_OF_ANY
from ..clocks.receiving import WITH_INFO

VOLATILE = QoSProfile(depth=1, reliability=ReliabilityPolicy.RELIABLE)
FULL_SPEED = 100.0
"""[percent]."""


class RobotState:
    """
    Listens to the robot's own state.

    Parameters
    ----------
    node : Node
        Has the topics, and the log.
    ready_topic : str
        std_msgs/Bool; '': the robot is always ready.
    speed_scaling_topic : str
        std_msgs/Float64 in percent; '': always 100.
    on_change : callable
        Is called after each change.

    Attributes
    ----------
    not_ready : Reason or None
        Why the robot is not ready; '' when it is. Before the first message it is not.
    speed_scaling : float
        Share of the speed that the robot allows itself, 0 to 1.
    paused_by : Reason or None
        Why the robot pauses although it is ready; '' where it may move.

    """

    def __init__(
        self,
        node: Node,
        ready_topic: str,
        speed_scaling_topic: str,
        on_change: Callable[[], None],
    ) -> None:
        self._node, self._on_change = node, on_change
        self._ready_topic, self._speed_topic = ready_topic, speed_scaling_topic
        self.not_ready = _not_ready(f'no message on {ready_topic} yet') if ready_topic else None
        self.speed_scaling = 1.0
        self.paused_by: Reason | None = None
        self._last_no_time = -math.inf
        self._subscriptions: list[Any] = []
        if ready_topic:
            # A latched subscription gets nothing from a volatile publisher. A volatile one gets no
            # message that a latched publisher sent before.
            for qos in (LATCHED, VOLATILE):
                self._listen(Bool, ready_topic, _with_time(self._on_ready), qos)
        if speed_scaling_topic:
            self._listen(Float64, speed_scaling_topic, self._on_speed, NEWEST_OF_ANY)

    def facts(self) -> dict[str, Any]:
        """State by name, as far as there is a topic for it."""
        facts: dict[str, Any] = {}
        if self._ready_topic:
            facts['robot_ready'] = not self.not_ready
        if self._speed_topic:
            facts['robot_speed_scaling'] = self.speed_scaling
        return facts

    def close(self) -> None:
        """Remove the subscriptions."""
        for subscription in self._subscriptions:
            self._node.destroy_subscription(subscription)

    def _listen(self, kind: Any, topic: str, callback: Callable[..., None], qos: Any) -> None:
        self._subscriptions.append(self._node.create_subscription(kind, topic, callback, qos))

    def _on_ready(self, message: Bool, sent: int) -> None:
        """Take an answer; a yes that was sent before the last no comes too late."""
        if not message.data:
            self._last_no_time = max(self._last_no_time, sent)
        elif sent < self._last_no_time:
            return
        not_ready = None if message.data else _not_ready(f'{self._ready_topic} says false')
        if str(not_ready) != str(self.not_ready):
            self.not_ready = not_ready
            self._on_change()

    def _on_speed(self, message: Float64) -> None:
        if not 0.0 <= message.data <= FULL_SPEED:
            self._node.get_logger().warning(
                f'{self._speed_topic} says {message.data:g}: ignored, as it must be a percentage '
                f'from 0 to {FULL_SPEED:g}',
                throttle_duration_sec=WARNING_PERIOD,
            )
            return
        speed_scaling = message.data / FULL_SPEED
        if speed_scaling != self.speed_scaling:
            self.speed_scaling = speed_scaling
            text = f'paused by the robot: {self._speed_topic} is 0 %'
            self.paused_by = None if speed_scaling else Reason(ReasonKind.PAUSED, text)
            self._on_change()


def _not_ready(why: str) -> Reason:
    return Reason(ReasonKind.NOT_READY, f'not ready: {why}')


def _with_time(callback: Callable[[Any, int], None]) -> Callable[..., None]:
    """Make a callback for rclpy of one that takes a message and the time it was sent [ns]."""

    def take(*received: Any) -> None:
        message, info = received if len(received) == 2 else received[0]
        callback(message, info['source_timestamp'])

    vars(take)['__signature__'] = WITH_INFO
    return take
