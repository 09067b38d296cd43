"""
An independent judge: pinocchio and the messages on the wire, nothing of fabrik_ros.

It keeps what it saw, for the summary and the picture.

"""

from dataclasses import dataclass, field

import numpy as np
import pinocchio as pin
from sensor_msgs.msg import JointState

POSITION_TOLERANCE, ORIENTATION_TOLERANCE = 1e-4, 1e-3
ROUNDING = 1e-6
PAUSE = 0.1
SLACK = 1e-3


@dataclass
class Judge:
    """
    Watches commands and joint states of one arm.

    Parameters
    ----------
    urdf : str
        The robot.
    tip_link : str
        The link that targets are for; they are in the frame of the root link.
    max_joint_velocity : float
        Speed no joint may exceed, beside the URDF's own limits [rad/s].
    max_joint_acceleration : float
        Acceleration no joint may exceed [rad/s^2].

    """

    urdf: str
    tip_link: str
    max_joint_velocity: float
    max_joint_acceleration: float
    violations: list[str] = field(default_factory=list)
    commands: list[tuple[float, np.ndarray]] = field(default_factory=list)
    """Time since the first command [s] and joint values [rad] of every command."""
    residuals: list[tuple[float, float, float]] = field(default_factory=list)
    """Time [s], position error [m] and orientation error [rad] of every joint state."""

    def __post_init__(self) -> None:
        self._model = pin.buildModelFromXML(self.urdf)
        self._data = self._model.createData()
        self._tip = self._model.getFrameId(self.tip_link)
        self._names = list(self._model.names)[1:]
        self._fastest = np.minimum(self._model.velocityLimit, self.max_joint_velocity)
        self._begin = 0
        self.target: pin.SE3 | None = None

    def tip_pose(self, q: np.ndarray) -> pin.SE3:
        """Pose of the tip at joint values, shape (n,)."""
        pin.framesForwardKinematics(self._model, self._data, q)
        return self._data.oMf[self._tip].copy()

    def joint_centres(self, q: np.ndarray) -> np.ndarray:
        """Joint centres and the tip, shape (n + 2, 3) [m]."""
        tip = self.tip_pose(q).translation
        return np.array([frame.translation for frame in self._data.oMi] + [tip])

    def see_command(self, message: JointState) -> None:
        """Check a command: names, limits, speed, acceleration and order of stamps."""
        # From the first command on: seconds since 1970 leave a float no nanoseconds.
        nanoseconds = message.header.stamp.sec * 10**9 + message.header.stamp.nanosec
        self._begin = self._begin or nanoseconds
        stamp = 1e-9 * (nanoseconds - self._begin)
        q = self._in_order(message)
        if q is None:
            return
        low, high = self._model.lowerPositionLimit, self._model.upperPositionLimit
        if not np.all((q >= low - ROUNDING) & (q <= high + ROUNDING)):
            self.violations.append(f'command {len(self.commands)} leaves the limits: {q}')
        if self.commands:
            self._check_speed(stamp, q)
        self.commands.append((stamp, q))

    def see_state(self, message: JointState, now: float) -> bool:
        """Measure how far the arm is from the target; tell whether it is there."""
        q = self._in_order(message)
        if q is None or self.target is None:
            return False
        error = pin.log6(self.target.actInv(self.tip_pose(q)))
        position = float(np.linalg.norm(self.target.translation - self.tip_pose(q).translation))
        orientation = float(np.linalg.norm(error.angular))
        self.residuals.append((now, position, orientation))
        return position <= POSITION_TOLERANCE and orientation <= ORIENTATION_TOLERANCE

    def command_rate(self) -> float:
        """Commands per second while the arm moves [Hz]."""
        steps = np.diff([stamp for stamp, _ in self.commands])
        steps = steps[steps < PAUSE]
        return 1.0 / float(np.median(steps)) if len(steps) else 0.0

    def _in_order(self, message: JointState) -> np.ndarray | None:
        values = dict(zip(message.name, message.position, strict=True))
        if set(values) != set(self._names):
            self.violations.append(f'a message names the joints {list(message.name)}')
            return None
        q = np.array([values[name] for name in self._names])
        if not np.isfinite(q).all():
            self.violations.append(f'a message has values that are not finite: {q}')
            return None
        return q

    def _check_speed(self, stamp: float, q: np.ndarray) -> None:
        before, q_before = self.commands[-1]
        if stamp <= before:
            self.violations.append(f'command {len(self.commands)} is not newer than the last')
            return
        velocity = (q - q_before) / (stamp - before)
        if np.any(np.abs(velocity) > self._fastest * (1.0 + ROUNDING)):
            self.violations.append(f'command {len(self.commands)} is too fast: {velocity}')
        if len(self.commands) > 1 and stamp - before < PAUSE:
            self._check_acceleration(stamp, velocity)

    def _check_acceleration(self, stamp: float, velocity: np.ndarray) -> None:
        (first, q_first), (second, q_second) = self.commands[-2:]
        if second - first > PAUSE:
            return
        change = velocity - (q_second - q_first) / (second - first)
        acceleration = change / (0.5 * (stamp - first))
        if np.any(np.abs(acceleration) > self.max_joint_acceleration * (1.0 + SLACK)):
            self.violations.append(f'command {len(self.commands)} jerks: {acceleration}')
