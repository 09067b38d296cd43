"""The common part of simulated arms towards ROS: model and commands in, joint states out."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
import time
from typing import Any, Protocol

from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.time import Time
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from ..errors import FabrikError, JointValueError
from ..model.robot import Robot
from ..ros.beside.running import run
from ..ros.clocks.log_periods import REMINDER_PERIOD, WARNING_PERIOD
from ..ros.clocks.qos import LATCHED
from ..ros.clocks.receiving import hear_waiting, with_receipt
from ..ros.messages.conversions import seconds
from ..ros.parameters.whole_numbers import declare_number, declare_numbers
from ..transforms import Array

COMMANDS_KEPT = 100
"""Commands that wait for an arm which the machine has kept from its work."""
LONGEST_CATCH_UP = 0.5
"""Longest pause of the machine during which the arm seems to have gone on [s]."""


class Arm(Protocol):
    """A simulated arm, as the node needs it."""

    joint_names: tuple[str, ...]

    @property
    def measured(self) -> tuple[Array, Array, Array]:
        """Joint values, velocities and efforts, each of shape (n,) or empty where unknown."""

    def take(self, values: Mapping[str, float], stamp: float) -> None:
        """Take a command: joint values by name, also of other arms; stamp in [s]."""

    def advance(self, dt: float) -> None:
        """Let `dt` seconds pass; FabrikError if it had to start again at rest."""

    def close(self) -> None:
        """Give back what it holds, such as a window."""


class ArmNode(Node):
    """
    A node that plays an arm.

    Reads the model from the parameter or else the topic `robot_description`, takes
    `joint_command`, publishes `joint_states`. Each kind of arm says how it is made.
    """

    # Of the class, for a node that is destroyed as its parameters are refused.
    _arm: Arm | None = None

    def __init__(self, name: str, **kwargs: Any) -> None:
        super().__init__(name, **kwargs)
        self._period = 1.0 / self._number('rate', 100.0, 'joint states a second [Hz]', 1.0, 1000.0)
        names = self.declare_parameter('start_names', ['']).value
        values = declare_numbers(self, 'start_values', [0.0])
        self.start = _by_name(names, values)
        """Joint values to start at, as far as they were given [rad or m]."""
        self._description = ''
        self._states = self.create_publisher(JointState, 'joint_states', 10)
        self._commands = self.create_subscription(
            JointState, 'joint_command', with_receipt(self._on_command), COMMANDS_KEPT
        )
        self._descriptions = self.create_subscription(
            String, 'robot_description', self._on_description, LATCHED
        )

    def make_arm(self, description: str) -> Arm:
        """Make the arm that a URDF text describes; FabrikError, saying why, where it cannot be."""
        raise NotImplementedError

    def begin(self) -> None:
        """Start to work, when all parameters are declared."""
        given = self.declare_parameter('robot_description', '').value
        if given:
            self._describe(given)
        self._given = bool(given)
        self._ticked = time.monotonic()
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self.create_timer(self.timer_period(), self._tick, clock=steady)
        self.create_timer(REMINDER_PERIOD, self._remind, clock=steady)
        self._remind()

    def _remind(self) -> None:
        """Log what the arm waits for."""
        if not self._description:
            topic = self._descriptions.topic_name
            self.get_logger().info(f'waiting for a robot description on {topic}')

    def timer_period(self) -> float:
        """Real time between two joint states [s]."""
        return self._period

    def duration(self) -> float:
        """Time that has passed since the last tick [s]; of a long pause, the rest never was."""
        before, self._ticked = self._ticked, time.monotonic()
        return min(self._ticked - before, max(LONGEST_CATCH_UP, 2.0 * self.timer_period()))

    def now(self) -> Time:
        """Time for the stamps of joint states."""
        return self.get_clock().now()

    def _number(self, name: str, default: float, meaning: str, low: float, high: float) -> float:
        """Declare a parameter and check its value."""
        value = declare_number(self, name, default)
        if not low <= value <= high:
            raise JointValueError(
                f'{name} ({meaning}) must be in [{low:g}, {high:g}], got {value:g}'
            )
        return value

    def _on_description(self, message: String) -> None:
        if not self._given:
            self._describe(message.data)

    def _describe(self, description: str) -> None:
        if description == self._description:
            return
        self._description = description
        self._drop_arm()
        try:
            self._arm = self.make_arm(description)
        except FabrikError as error:
            self.get_logger().error(f'the robot cannot be simulated: {error}')

    def _drop_arm(self) -> None:
        if self._arm is not None:
            self._arm.close()
        self._arm = None

    def destroy_node(self) -> None:
        """End the node and the arm it plays."""
        self._drop_arm()
        super().destroy_node()

    def _on_command(self, message: JointState, received: int) -> None:
        if self._arm is None:
            return
        stamp = seconds(message.header.stamp) or 1e-9 * received
        try:
            if len(message.position) != len(message.name):
                raise JointValueError(
                    f'{len(message.position)} values came for {len(message.name)} joints'
                )
            values = dict(zip(message.name, message.position, strict=True))
            self._arm.take(values, stamp)
        except FabrikError as error:
            self.get_logger().warning(
                f'command refused: {error}', throttle_duration_sec=WARNING_PERIOD
            )

    def _tick(self) -> None:
        duration = self.duration()
        stamp = self.now().to_msg()
        if self._arm is None:
            return
        hear_waiting(self._commands)
        try:
            self._arm.advance(duration)
        except FabrikError as error:
            self.get_logger().error(
                f'{error}; the arm begins anew where it was last well',
                throttle_duration_sec=WARNING_PERIOD,
            )
        q, velocity, effort = (values.tolist() for values in self._arm.measured)
        names = list(self._arm.joint_names)
        message = JointState(name=names, position=q, velocity=velocity, effort=effort)
        message.header.stamp = stamp
        self._states.publish(message)


def run_arm(
    make_node: Callable[..., ArmNode], args: list[str] | None, robot: Robot | None
) -> None:
    """Run an arm until it is interrupted; a robot counts instead of parameter and topic."""
    overrides = [] if robot is None else [Parameter('robot_description', value=robot.source)]
    run(partial(make_node, parameter_overrides=overrides), args)


def _by_name(names: Sequence[str], values: Sequence[float]) -> dict[str, float]:
    if len(names) != len(values):
        raise JointValueError(
            f'start_names has {len(names)} names and start_values {len(values)} values'
        )
    return {name: value for name, value in zip(names, values, strict=True) if name}
