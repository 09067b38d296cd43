"""A small simulated arm: takes joint commands, lags behind them, and reports joint states."""

from collections.abc import Mapping
import math
from typing import Any

import numpy as np

from ..model.robot import Robot
from ..model.urdf import parse_urdf
from ..transforms import Array
from .arm_node import Arm, ArmNode, run_arm
from .commands import finite_values


class LaggingArm:
    """
    Every movable joint of a robot, following its commands with a first-order lag.

    Parameters
    ----------
    robot : Robot
        The robot.
    start : mapping
        Joint values to start at; the others start at 0, or the nearest to it that the limits
        allow.
    lag : float
        Time constant [s].

    """

    def __init__(self, robot: Robot, start: Mapping[str, float], lag: float) -> None:
        joints = [joint for joint in robot.joints if joint.type.moves and joint.mimic is None]
        self.joint_names = tuple(joint.name for joint in joints)
        self._q = np.array(
            [start.get(joint.name, min(max(0.0, joint.lower), joint.upper)) for joint in joints]
        )
        self._wanted = self._q.copy()
        self._lag = lag

    @property
    def measured(self) -> tuple[Array, Array, Array]:
        """Joint values; velocities and efforts are not simulated."""
        return self._q, np.empty(0), np.empty(0)

    def take(self, values: Mapping[str, float], stamp: float) -> None:
        """Take a command at once, whenever it was sent."""
        for name, value in finite_values(values, self.joint_names).items():
            self._wanted[self.joint_names.index(name)] = value

    def advance(self, dt: float) -> None:
        """Let `dt` seconds pass."""
        self._q += (self._wanted - self._q) * (1.0 - math.exp(-dt / self._lag))

    def close(self) -> None:
        """Hold nothing, give nothing back."""


class SimulatedArm(ArmNode):
    """
    An arm whose drives are perfect but late: no dynamics, no collisions.

    Parameter `lag`: time constant [s].
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__('simulated_arm', **kwargs)
        self._lag = self._number('lag', 0.05, 'time constant [s]', 1e-6, 10.0)
        self.begin()

    def make_arm(self, description: str) -> Arm:
        """Make the arm that a URDF text describes."""
        return LaggingArm(parse_urdf(description), self.start, self._lag)


def main(args: list[str] | None = None, robot: Robot | None = None) -> None:
    """Run the arm until it is interrupted; a robot counts instead of parameter and topic."""
    run_arm(SimulatedArm, args, robot)


if __name__ == '__main__':
    main()
