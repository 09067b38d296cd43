"""Which frame a target is in: links by our own kinematics, others by tf2 where there is one."""

from collections.abc import Mapping
from typing import Any

from geometry_msgs.msg import PoseStamped
import numpy as np
from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.time import Time

from ..errors import JointValueError, TargetError
from ..robot import Robot
from ..transforms import Array, rotation_from_quaternion_xyzw, transform
from .conversions import pose_to_matrix

NEARLY = Duration(seconds=0.1)


class FrameResolver:
    """
    Brings targets into the base frame.

    Parameters
    ----------
    node : Node
        Listens to tf on its behalf, where tf2_ros is installed.
    robot : Robot
        Its links are known frames.
    base_link : str
        The frame targets are brought into.

    """

    def __init__(self, node: Node, robot: Robot, base_link: str) -> None:
        self._robot = robot
        self._base_link = base_link
        self._buffer: Any = None
        try:
            from tf2_ros import Buffer, TransformListener
        except ImportError:
            return
        self._buffer = Buffer()
        self._listener = TransformListener(self._buffer, node)

    def close(self) -> None:
        """Stop listening."""
        if self._buffer is not None:
            self._listener.unregister()

    def target_in_base(self, message: PoseStamped, values: Mapping[str, float]) -> Array:
        """
        Pose of a target, T_base_target of shape (4, 4).

        Parameters
        ----------
        message : PoseStamped
            The target.
        values : mapping
            Measured joint values, for targets in the frame of a moving link.

        Raises
        ------
        TargetError
            If the frame is empty or unknown, or its pose cannot be told now; says why.

        """
        T_frame_target = pose_to_matrix(message.pose)
        frame = message.header.frame_id.removeprefix('/')
        if not frame:
            raise TargetError(
                f"frame_id is empty; use '{self._base_link}' for the base of the arm"
            )
        if frame == self._base_link:
            return T_frame_target
        T_base_frame = (
            self._pose_of_link(frame, values)
            if frame in self._robot.links
            else self._pose_by_tf(frame, message)
        )
        return T_base_frame @ T_frame_target

    def _pose_of_link(self, link: str, values: Mapping[str, float]) -> Array:
        try:
            return self._robot.pose(self._base_link, link, values)
        except JointValueError as error:
            raise TargetError(f"the pose of frame '{link}' cannot be told: {error}") from error

    def _pose_by_tf(self, frame: str, message: PoseStamped) -> Array:
        if self._buffer is None:
            raise TargetError(
                f"frame '{frame}' is no link of the robot, and tf2_ros is not installed to look "
                f'elsewhere; the links are: {", ".join(self._robot.links)}'
            )
        return _matrix(self._look_up(frame, Time.from_msg(message.header.stamp)))

    def _look_up(self, frame: str, time: Time) -> Any:
        from tf2_ros import ExtrapolationException, TransformException

        try:
            try:
                return self._buffer.lookup_transform(self._base_link, frame, time)
            except ExtrapolationException:
                newest = self._buffer.lookup_transform(self._base_link, frame, Time())
                gap = time - Time.from_msg(newest.header.stamp)
                if not Duration() <= gap <= NEARLY:
                    raise
                return newest
        except TransformException as error:
            raise TargetError(f"frame '{frame}': {error}") from error


def _matrix(stamped: Any) -> Array:
    t, r = stamped.transform.translation, stamped.transform.rotation
    R = rotation_from_quaternion_xyzw([r.x, r.y, r.z, r.w])
    return transform(R, np.array([t.x, t.y, t.z]))
