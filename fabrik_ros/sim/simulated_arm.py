"""A small simulated arm: takes joint commands, lags behind them, and reports joint states."""

import math
from typing import Any

import numpy as np
import rclpy
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from ..errors import FabrikError
from ..robot import Robot
from ..transforms import Array
from ..urdf import parse_urdf

LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)


class SimulatedArm(Node):
    """
    Every movable joint of a robot, following its commands with a first-order lag.

    Reads the model from the topic `robot_description`, takes `joint_command`, publishes
    `joint_states`. No dynamics and no collisions: an arm whose drives are perfect but late.
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__('simulated_arm', **kwargs)
        self._lag = self.declare_parameter('lag', 0.05).value
        rate = self.declare_parameter('rate', 100.0).value
        start_names = self.declare_parameter('start_names', ['']).value
        start_values = self.declare_parameter('start_values', [0.0]).value
        self._start = dict(zip(start_names, start_values, strict=True))
        self._period = 1.0 / rate
        self._description = ''
        self._names: list[str] = []
        self._q = self._wanted = np.empty(0)
        self._states = self.create_publisher(JointState, 'joint_states', 10)
        self.create_subscription(JointState, 'joint_command', self._on_command, 10)
        self.create_subscription(String, 'robot_description', self._on_description, LATCHED)
        self.create_timer(self._period, self._step)

    def _on_description(self, message: String) -> None:
        if message.data == self._description:
            return
        self._description = message.data
        try:
            robot = parse_urdf(message.data)
        except FabrikError as error:
            self.get_logger().error(f'the robot description cannot be used: {error}')
            return
        joints = [joint for joint in robot.joints if joint.type.moves and joint.mimic is None]
        self._names = [joint.name for joint in joints]
        self._q = self._starting_values(robot)
        self._wanted = self._q.copy()

    def _starting_values(self, robot: Robot) -> Array:
        """Values asked for by parameter; else 0, or the nearest to it that the limits allow."""
        nearest = {j.name: min(max(0.0, j.lower), j.upper) for j in robot.joints}
        return np.array([self._start.get(name, nearest[name]) for name in self._names])

    def _on_command(self, message: JointState) -> None:
        for name, value in zip(message.name, message.position, strict=True):
            if name in self._names:
                self._wanted[self._names.index(name)] = value

    def _step(self) -> None:
        if not self._names:
            return
        self._q += (self._wanted - self._q) * (1.0 - math.exp(-self._period / self._lag))
        message = JointState(name=self._names, position=self._q.tolist())
        message.header.stamp = self.get_clock().now().to_msg()
        self._states.publish(message)


def main(args: list[str] | None = None) -> None:
    """Run the arm until it is interrupted."""
    rclpy.init(args=args)
    try:
        rclpy.spin(SimulatedArm())
    except (KeyboardInterrupt, ExternalShutdownException):
        pass
    finally:
        rclpy.try_shutdown()


if __name__ == '__main__':
    main()
