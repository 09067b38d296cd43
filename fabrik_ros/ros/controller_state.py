"""The state of a controller of trajectories: its own reference."""

from collections.abc import Callable
from typing import Any

from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy

from ..motion.measured_joints import MeasuredJoints
from .node_clock import NodeClock

COMMANDS, STATE = '/joint_trajectory', '/controller_state'
NEWEST = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)


class ControllerState:
    """
    Listens to the state of joint_trajectory_controller, where its message type is installed.

    Parameters
    ----------
    node : Node
        Has the subscription.
    clock : NodeClock
        Its time.
    trajectory_topic : str
        Topic of the trajectories; the state is beside it, on `<controller>/controller_state`.
    on_reference : callable
        Takes the time of each reference [ns], and its joint values by name [rad or m].

    Attributes
    ----------
    reference : MeasuredJoints
        The newest reference of the controller.

    """

    def __init__(
        self,
        node: Node,
        clock: NodeClock,
        trajectory_topic: str,
        on_reference: Callable[[int, dict[str, float]], None],
    ) -> None:
        self.reference = MeasuredJoints()
        self._node, self._clock, self._on_reference = node, clock, on_reference
        kind, self._subscription = _message_type(), None
        if kind is not None and trajectory_topic.endswith(COMMANDS):
            topic = trajectory_topic.removesuffix(COMMANDS) + STATE
            self._subscription = node.create_subscription(kind, topic, self.take, NEWEST)

    def take(self, message: Any) -> None:
        """Take a control_msgs/JointTrajectoryControllerState."""
        names, positions = message.joint_names, message.reference.positions
        if len(names) != len(positions):
            return
        values = dict(zip(names, map(float, positions), strict=True))
        self.reference.update(values.keys(), values.values(), self._clock.now())
        stamp = message.header.stamp
        self._on_reference(stamp.sec * 1_000_000_000 + stamp.nanosec, values)

    def close(self) -> None:
        """Remove the subscription."""
        if self._subscription is not None:
            self._node.destroy_subscription(self._subscription)


def _message_type() -> Any:
    """Type of the message; None where control_msgs is not installed."""
    try:
        from control_msgs.msg import JointTrajectoryControllerState
    except ImportError:
        return None
    return JointTrajectoryControllerState
