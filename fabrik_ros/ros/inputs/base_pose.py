"""
Pose of the arm's base in the world: by odometry, or by tf2 where it is installed.

Both come at their own rate, mostly slower than commands. In between the base is taken to go on at
its last velocity, which keeps the commands smooth.

"""

from collections.abc import Mapping
import math
from typing import Any, Protocol

from nav_msgs.msg import Odometry
import numpy as np
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rclpy.time import Time

from ...errors import FabrikError, JointValueError
from ...model.robot import Robot
from ...transforms import Array, inverse, rotation_from_vector, rotation_vector, transform
from ..clocks.log_periods import WARNING_PERIOD
from ..clocks.stamps import FUTURE
from ..messages.conversions import pose_to_matrix, seconds, transform_to_matrix

LONGEST_EXTRAPOLATION = 0.1
"""Time for which a base is taken to go on at its last velocity [s]; then it is taken to stop."""
LONGEST_PAUSE = 0.5
"""Longest time between two poses from which a velocity is computed [s]."""
FARTHEST, FASTEST = 1e6, 1e3
"""Greater distances [m] and speeds [m/s or rad/s] of a base are errors."""
NEWEST = QoSProfile(depth=5, reliability=ReliabilityPolicy.BEST_EFFORT)


class BasePoseError(FabrikError):
    """The pose of the base is unknown."""


class BasePose(Protocol):
    """Source of the pose of the world in the base frame."""

    def at(self, time: float, values: Mapping[str, float]) -> Array:
        """
        Pose T_base_world (4, 4) at a time [s], with joint values by name [rad or m].

        Raises
        ------
        BasePoseError
            If it is unknown; says why.

        """
        ...

    def forget(self) -> None:
        """Drop all poses, as after a jump of the clock."""
        ...

    def close(self) -> None:
        """Stop listening."""
        ...


class Track:
    """
    The newest pose of a moving body, and how it moves.

    Parameters
    ----------
    timeout : float
        Age at which a pose is lost [s].

    """

    def __init__(self, timeout: float) -> None:
        self.timeout = timeout
        self.forget()

    def forget(self) -> None:
        """Drop everything."""
        self._stamp = -math.inf
        self._T_world_body = np.eye(4)
        self._twist = self._step = np.zeros(6)

    def add(self, stamp: float, T_world_body: Array, twist: Array | None = None) -> None:
        """
        Take a pose that is not older than the newest.

        Parameters
        ----------
        stamp : float
            Its time [s].
        T_world_body : array, shape (4, 4)
            The pose.
        twist : array, shape (6,), optional
            Velocity [m/s] and turn [rad/s] in the frame of the body. Left out, it is the smaller
            one of the two steps between the last three poses, so that a correction is not taken
            for a motion.

        Raises
        ------
        BasePoseError
            If it is absurdly far away or fast.

        """
        pause = stamp - self._stamp
        if pause < 0.0 or (pause == 0.0 and twist is None):
            return
        if not np.abs(T_world_body).max() <= FARTHEST:
            raise BasePoseError(f'the base is said to be at {T_world_body[:3, 3]} m')
        if twist is None:
            twist = self._twist_of_steps(pause, T_world_body)
        elif not np.abs(twist).max() <= FASTEST:
            raise BasePoseError(f'the base is said to move at {twist} m/s, rad/s')
        self._stamp, self._T_world_body, self._twist = stamp, T_world_body, twist

    def _twist_of_steps(self, pause: float, T_world_body: Array) -> Array:
        """Smaller of the twists of the step to this pose and the step before."""
        step, self._step = self._step, np.zeros(6)
        if pause <= LONGEST_PAUSE:
            self._step = _twist_of(inverse(self._T_world_body) @ T_world_body) / pause
        return min(step, self._step, key=lambda twist: float(np.linalg.norm(twist)))

    def at(self, time: float) -> Array:
        """
        Pose T_world_body (4, 4) at a time [s].

        Raises
        ------
        BasePoseError
            If there is none, or it is too old.

        """
        age = time - self._stamp
        if age == math.inf:
            raise BasePoseError('none has come yet')
        if age > self.timeout:
            raise BasePoseError(f'the newest is {age:.2f} s old (base_timeout {self.timeout:g} s)')
        span = min(max(age, -FUTURE), LONGEST_EXTRAPOLATION)
        return self._T_world_body @ _moved_by(self._twist * span)


class OdometryBase:
    """
    Pose of the base by odometry.

    Parameters
    ----------
    node : Node
        Listens on its behalf.
    topic : str
        Where nav_msgs/Odometry comes.
    world_frame : str
        The frame it has to be given in.
    robot : Robot
        Knows where the body that the odometry is of is, as seen from the base.
    base_link : str
        The base of the arm.
    timeout : float
        Age at which it is lost [s].

    """

    def __init__(
        self,
        node: Node,
        topic: str,
        world_frame: str,
        robot: Robot,
        base_link: str,
        timeout: float,
    ) -> None:
        self._node = node
        self._world_frame = world_frame
        self._robot = robot
        self._base_link = base_link
        self.track = Track(timeout)
        self._body = base_link
        self._refusal_reason = ''
        self._subscription = node.create_subscription(Odometry, topic, self._on_odometry, NEWEST)

    def at(self, time: float, values: Mapping[str, float]) -> Array:
        """Pose T_base_world (4, 4) at a time [s]."""
        try:
            T_base_body = self._robot.pose(self._base_link, self._body, values)
            if not np.abs(T_base_body).max() <= FARTHEST:
                raise BasePoseError(f"'{self._body}' is said to be at {T_base_body[:3, 3]} m")
            return T_base_body @ inverse(self.track.at(time))
        except (BasePoseError, JointValueError) as error:
            last = (
                f'; the last one was refused: {self._refusal_reason}'
                if self._refusal_reason
                else ''
            )
            topic = self._subscription.topic_name
            raise BasePoseError(f'odometry on {topic}: {error}{last}') from error

    def forget(self) -> None:
        """Drop all poses."""
        self.track.forget()

    def close(self) -> None:
        """Stop listening."""
        self._node.destroy_subscription(self._subscription)

    def _on_odometry(self, message: Odometry) -> None:
        try:
            self._take(message)
            self._refusal_reason = ''
        except FabrikError as error:
            self._refusal_reason = str(error)
            self._node.get_logger().warning(
                f'odometry refused: {error}', throttle_duration_sec=WARNING_PERIOD
            )

    def _take(self, message: Odometry) -> None:
        body = message.child_frame_id.removeprefix('/')
        frame = message.header.frame_id.removeprefix('/')
        if frame != self._world_frame:
            raise BasePoseError(f"it is in frame '{frame}'; world_frame is '{self._world_frame}'")
        if body not in self._robot.links:
            raise BasePoseError(f"child_frame_id '{body}' is no link of the robot")
        T_world_body = pose_to_matrix(message.pose.pose)
        v, w = message.twist.twist.linear, message.twist.twist.angular
        twist = np.array([v.x, v.y, v.z, w.x, w.y, w.z])
        if not np.isfinite(twist).all():
            raise BasePoseError(f'twist must be six finite numbers, got {twist}')
        now = 1e-9 * self._node.get_clock().now().nanoseconds
        stamp = seconds(message.header.stamp) or now
        if stamp > now + FUTURE:
            raise BasePoseError(f'its stamp is {stamp - now:.2f} s in the future')
        if body != self._body:
            self._body = body
            self.track.forget()
        self.track.add(stamp, T_world_body, twist)


class TfBase:
    """
    Pose of the base by tf2.

    Parameters
    ----------
    buffer : tf2_ros.Buffer
        Where the transforms are; None where tf2_ros is not installed.
    world_frame, base_link : str
        The two frames.
    timeout : float
        Age at which a transform is lost [s].

    """

    def __init__(self, buffer: Any, world_frame: str, base_link: str, timeout: float) -> None:
        self._buffer = buffer
        self._world_frame = world_frame
        self._base_link = base_link
        self.track = Track(timeout)

    def at(self, time: float, values: Mapping[str, float]) -> Array:
        """Pose T_base_world (4, 4) at a time [s]."""
        if self._buffer is None:
            raise BasePoseError('tf2_ros is not installed; cure: base_odometry')
        from tf2_ros import TransformException

        try:
            found = self._buffer.lookup_transform(self._world_frame, self._base_link, Time())
        except TransformException as error:
            raise BasePoseError(f'tf: {error}') from error
        stamp = seconds(found.header.stamp)
        try:
            T_world_base = transform_to_matrix(found.transform)
            if stamp == 0.0:  # nothing between the two moves
                return inverse(T_world_base)
            self.track.add(stamp, T_world_base)
            return inverse(self.track.at(time))
        except FabrikError as error:
            raise BasePoseError(f'tf: {error}') from error

    def forget(self) -> None:
        """Drop all poses."""
        self.track.forget()

    def close(self) -> None:
        """Nothing to stop: the buffer belongs to someone else."""


def _twist_of(T: Array) -> Array:
    """Motion at constant velocity that leads to the pose `T` (4, 4) in a unit of time."""
    turn = rotation_vector(T[:3, :3])
    return np.concatenate([np.linalg.solve(_mean_rotation(turn), T[:3, 3]), turn])


def _moved_by(twist: Array) -> Array:
    """Pose (4, 4) after a unit of time at constant velocity: exponential of a twist."""
    return transform(rotation_from_vector(twist[3:]), _mean_rotation(twist[3:]) @ twist[:3])


def _mean_rotation(turn: Array) -> Array:
    """Mean of the rotations on the way to the one with the rotation vector `turn` (3,)."""
    x, y, z = turn
    K = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    angle = math.hypot(x, y, z)
    if angle < 1e-4:
        return np.asarray(np.eye(3) + 0.5 * K)
    first = (1.0 - math.cos(angle)) / angle**2
    second = (angle - math.sin(angle)) / angle**3
    mean: Array = np.eye(3) + first * K + second * K @ K
    return mean
