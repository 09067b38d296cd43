"""The state of a controller of trajectories: its own reference."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from rclpy.node import Node

from ...motion.controllers.published_trajectory import NANOSECONDS
from ...motion.following.measured_joints import MeasuredJoints
from ..clocks.node_clock import NodeClock
from ..clocks.qos import NEWEST_OF_ANY

COMMANDS, STATE = '/joint_trajectory', '/controller_state'
SCALED = 1e-3
"""Smallest difference from 1 of a scaled speed; 0 is said by controllers that do not scale [1]."""


class ControllerReference(NamedTuple):
    """Reference of a controller: the state that it wants its joints to be in."""

    time: int
    """[ns]."""
    q: Mapping[str, float]
    """Joint values by name [rad or m]."""
    velocity: Mapping[str, float]
    """
    Velocities by name [rad/s or m/s]; empty where the controller says none, or scales its speed.
    """
    begin: int
    """Time of the first point of the trajectory that it plays [ns], if it says so."""


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
        Takes each reference.

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
        on_reference: Callable[[ControllerReference], None],
    ) -> None:
        self.reference = MeasuredJoints()
        self._node, self._clock, self._on_reference = node, clock, on_reference
        kind, self._subscription = _message_type(), None
        if kind is not None and trajectory_topic.endswith(COMMANDS):
            topic = trajectory_topic.removesuffix(COMMANDS) + STATE
            self._subscription = node.create_subscription(kind, topic, self.take, NEWEST_OF_ANY)

    def take(self, message: Any) -> None:
        """Take a control_msgs/JointTrajectoryControllerState."""
        names, positions = message.joint_names, message.reference.positions
        if len(names) != len(positions):
            return
        values = dict(zip(names, map(float, positions), strict=True))
        self.reference.update(values.keys(), values.values(), self._clock.now())
        time = _nanoseconds(message.header.stamp)
        begin = time - _nanoseconds(message.feedback.time_from_start)
        self._on_reference(ControllerReference(time, values, _velocities(message), begin))

    def close(self) -> None:
        """Remove the subscription."""
        if self._subscription is not None:
            self._node.destroy_subscription(self._subscription)


def _nanoseconds(time: Any) -> int:
    return int(time.sec) * NANOSECONDS + int(time.nanosec)


def _velocities(message: Any) -> dict[str, float]:
    """Velocities by joint, of a reference that goes at the speed of the trajectory."""
    names, velocities = message.joint_names, message.reference.velocities
    scaling = getattr(message, 'speed_scaling_factor', 1.0) or 1.0
    if len(velocities) != len(names) or abs(scaling - 1.0) > SCALED:
        return {}
    return dict(zip(names, map(float, velocities), strict=True))


def _message_type() -> Any:
    """Type of the message; None where control_msgs is not installed."""
    try:
        from control_msgs.msg import JointTrajectoryControllerState
    except ImportError:
        return None
    return JointTrajectoryControllerState
