"""Which frame a target is in: links by our own kinematics, others by tf2 where there is one."""

from collections.abc import Callable, Mapping
from typing import Any

from builtin_interfaces.msg import Time as Stamp
from geometry_msgs.msg import PoseStamped
from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.time import Time

from ..errors import JointValueError, shown, TargetError
from ..model.robot import Robot
from ..transforms import Array
from .conversions import pose_to_matrix, seconds, transform_to_matrix

LONGEST_LAG = Duration(seconds=0.1)
"""A transform that is older than its target by less than this is used for it."""


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
    world_frame : str
        The frame that targets which stay where they are in the world are brought into; '' when
        all are to be held in the base frame.

    """

    def __init__(self, node: Node, robot: Robot, base_link: str, world_frame: str = '') -> None:
        self._robot = robot
        self._base_link = base_link
        self._world_frame = world_frame
        self.buffer: Any = None
        """What tf2 knows; None where tf2_ros is not installed."""
        try:
            from tf2_ros import Buffer, TransformListener
        except ImportError:
            return
        self.buffer = Buffer()
        self._listener = TransformListener(self.buffer, node)

    def close(self) -> None:
        """Stop listening."""
        if self.buffer is not None:
            self._listener.unregister()

    def target_in_base(
        self, message: PoseStamped, values: Callable[[], Mapping[str, float]]
    ) -> Array:
        """
        Pose of a target, T_base_target of shape (4, 4).

        Parameters
        ----------
        message : PoseStamped
            The target.
        values : callable
            Returns measured joint values, for targets in the frame of a moving link.

        Raises
        ------
        TargetError
            If the frame is empty or unknown, or its pose is unknown now; says why.

        """
        T_frame_target = pose_to_matrix(message.pose)
        frame = self._frame_of(message)
        if frame == self._base_link:
            return T_frame_target
        T_base_frame = (
            self._pose_of_link(frame, values())
            if frame in self._robot.links
            else self._pose_by_tf(self._base_link, frame, message.header.stamp)
        )
        return T_base_frame @ T_frame_target

    def is_in_world(self, message: PoseStamped) -> bool:
        """
        Whether a target stays where it is in the world while the base moves.

        Those in `world_frame`, and in frames that are no links of the robot, do; TargetError if
        the frame is empty.
        """
        frame = self._frame_of(message)
        if not self._world_frame or frame == self._base_link:
            return False
        return frame == self._world_frame or frame not in self._robot.links

    def target_in_world(self, message: PoseStamped) -> Array:
        """
        Pose of a target that `is_in_world`, T_world_target of shape (4, 4).

        Raises
        ------
        TargetError
            If the pose of its frame is unknown now; says why.

        """
        T_frame_target = pose_to_matrix(message.pose)
        frame = self._frame_of(message)
        if frame == self._world_frame:
            return T_frame_target
        stamp = message.header.stamp
        return self._pose_by_tf(self._world_frame, frame, stamp) @ T_frame_target

    def pose_of(self, frame: str, into: str, stamp: Stamp, values: Mapping[str, float]) -> Array:
        """
        Pose of a frame in a link, T_link_frame of shape (4, 4).

        Parameters
        ----------
        frame : str
            A link of the robot, or what tf knows.
        into : str
            The link.
        stamp : Stamp
            When, for frames that only tf knows.
        values : mapping of str to float
            Joint values then, by name [rad or m].

        Raises
        ------
        TargetError
            If the frame is unknown, or its pose is unknown then; says why.

        """
        if frame in self._robot.links:
            return self._pose_of_link(frame, values, into)
        return self._pose_by_tf(into, frame, stamp)

    def newest(self, into: str, frame: str) -> tuple[Array, float]:
        """
        Newest pose of a frame that is no link, T_into_frame of shape (4, 4), and its time [s].

        The time is 0 where the frame does not move.

        Raises
        ------
        TargetError
            If it is not known; says why.

        """
        if self.buffer is None:
            raise self._not_installed(frame)
        stamped = self._look_up(into, frame, Time())
        return transform_to_matrix(stamped.transform), seconds(stamped.header.stamp)

    def _frame_of(self, message: PoseStamped) -> str:
        frame: str = message.header.frame_id.removeprefix('/')
        if not frame:
            raise TargetError(
                f"frame_id is empty; use '{self._base_link}' for the base of the arm"
            )
        return frame

    def _pose_of_link(self, link: str, values: Mapping[str, float], into: str = '') -> Array:
        try:
            return self._robot.pose(into or self._base_link, link, values)
        except JointValueError as error:
            raise TargetError(f"the pose of frame '{link}' cannot be told: {error}") from error

    def _pose_by_tf(self, into: str, frame: str, stamp: Stamp) -> Array:
        if self.buffer is None:
            raise self._not_installed(frame)
        stamped = self._look_up(into, frame, Time.from_msg(stamp))
        return transform_to_matrix(stamped.transform)

    def _not_installed(self, frame: str) -> TargetError:
        return TargetError(
            f"frame '{shown(frame)}' is no link of the robot, and tf2_ros is not installed to "
            f'look elsewhere; the links are: {", ".join(self._robot.links)}'
        )

    def _look_up(self, into: str, frame: str, time: Time) -> Any:
        from tf2_ros import ExtrapolationException, TransformException

        try:
            try:
                return self.buffer.lookup_transform(into, frame, time)
            except ExtrapolationException:
                newest = self.buffer.lookup_transform(into, frame, Time())
                gap = time - Time.from_msg(newest.header.stamp)
                if not Duration() <= gap <= LONGEST_LAG:
                    raise
                return newest
        except TransformException as error:
            raise TargetError(f"frame '{frame}': {error}") from error
