"""
An independent judge: pinocchio, coal and the messages on the wire, nothing of fabrik_ros.

Poses, commands and distances are judged as in the tests. This module adds the messages of ROS, and
keeps what it saw for the summary and the picture.

"""

from collections.abc import Mapping
from pathlib import Path
import sys

import numpy as np
from scenes import Box
from sensor_msgs.msg import JointState

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / 'test'))
from command_judge import Bounds, CommandJudge, PAUSE
from judging import Judge as PoseJudge
from way_judge import BoxAround, WayJudge

POSITION_TOLERANCE, ORIENTATION_TOLERANCE = 1e-4, 1e-3
"""Errors of a reached target [m], [rad]."""


class Judge:
    """
    Watches commands and joint states of one arm.

    Parameters
    ----------
    urdf : str
        The robot.
    base_link, tip_link : str
        The frame of the targets, and the link that reaches them.
    command_rate : float
        Rate of the commands [Hz].
    max_joint_velocity : float
        Speed limit of all joints, beside the URDF's own limits [rad/s].
    max_joint_acceleration : float
        Acceleration limit of all joints [rad/s^2].
    boxes : mapping
        What stands around, by name.

    """

    def __init__(
        self,
        urdf: str,
        base_link: str,
        tip_link: str,
        command_rate: float,
        max_joint_velocity: float,
        max_joint_acceleration: float,
        boxes: Mapping[str, Box],
    ) -> None:
        self._poses = PoseJudge(urdf, base_link, tip_link)
        bounds = Bounds(
            self._poses.lower,
            self._poses.upper,
            np.minimum(self._poses.velocity, max_joint_velocity),
            np.full(len(self._poses.joint_names), max_joint_acceleration),
        )
        # Its states may arrive here after the commands that start from them.
        self._commands = CommandJudge(
            self._poses.joint_names, bounds, 1.0 / command_rate, knows_states=False
        )
        around = {name: BoxAround(box.size, placed(box.centre)) for name, box in boxes.items()}
        self._ways = WayJudge(urdf, base_link, tip_link, boxes=around)
        self._first_stamp = 0
        self._wrong_messages: list[str] = []
        self.too_near: list[str] = []
        """Commands at which a link is within its clearance of another or of an obstacle."""
        self.target: np.ndarray | None = None
        """Pose T_base_target, shape (4, 4)."""
        self.commands: list[tuple[float, np.ndarray]] = []
        """Time since the first command [s] and joint values [rad] of every command."""
        self.residuals: list[tuple[float, float, float]] = []
        """Time [s], position error [m] and orientation error [rad] of every joint state."""

    @property
    def violations(self) -> list[str]:
        """The first violations, in words."""
        return [*self._wrong_messages, *self.too_near, *self._commands.violations]

    @property
    def violation_count(self) -> int:
        """Number of all violations."""
        others = len(self._wrong_messages) + len(self.too_near)
        return others + self._commands.violation_count

    def tip_position(self, q: np.ndarray) -> np.ndarray:
        """Position of the tip in the base frame at joint values, shape (3,) [m]."""
        return self._poses.pose(q)[:3, 3]

    def joint_centres(self, q: np.ndarray) -> np.ndarray:
        """Return base, joint centres and tip in the base frame, shape (n + 2, 3) [m]."""
        return np.vstack([np.zeros(3), self._poses.points(q)])

    def see_command(self, message: JointState) -> None:
        """Check a command: names, order of stamps, limits, speed, acceleration, clearances."""
        q = self._in_order(message)
        if q is None:
            return
        # From the first command on: seconds since 1970 leave a float no nanoseconds.
        stamp = message.header.stamp.sec * 10**9 + message.header.stamp.nanosec
        self._first_stamp = self._first_stamp or stamp
        self._commands.check(self._poses.joint_names, stamp, q)
        if not self._ways.may_be_commanded(q):
            self.too_near.append(f'command {len(self.commands) + 1}: too near, at {q}')
        self.commands.append((1e-9 * (stamp - self._first_stamp), q))

    def see_state(self, message: JointState, now: float) -> bool:
        """Measure how far the arm is from the target; tell whether it is there."""
        q = self._in_order(message)
        if q is None or self.target is None:
            return False
        position, orientation = self._poses.errors(self.target, q)
        self.residuals.append((now, position, orientation))
        return position <= POSITION_TOLERANCE and orientation <= ORIENTATION_TOLERANCE

    def command_rate(self) -> float:
        """Commands per second while the arm moves [Hz]."""
        steps = np.diff([stamp for stamp, _ in self.commands])
        steps = steps[steps < PAUSE]
        return 1.0 / float(np.median(steps)) if len(steps) else 0.0

    def _in_order(self, message: JointState) -> np.ndarray | None:
        values = dict(zip(message.name, message.position, strict=True))
        if set(values) != set(self._poses.joint_names):
            self._wrong_messages.append(f'a message names the joints {list(message.name)}')
            return None
        q = np.array([values[name] for name in self._poses.joint_names])
        if not np.isfinite(q).all():
            self._wrong_messages.append(f'a message has values that are not finite: {q}')
            return None
        return q


def placed(centre: tuple[float, float, float]) -> np.ndarray:
    """Pose, shape (4, 4), of what is not turned, at a position [m]."""
    T = np.eye(4)
    T[:3, 3] = centre
    return T
