"""Frames of targets: links by our own kinematics, others by tf2 where there is one."""

from collections.abc import Callable, Mapping
from contextlib import suppress
import math
import time
from typing import Any, NamedTuple

from builtin_interfaces.msg import Time as Stamp
from geometry_msgs.msg import PoseStamped
import numpy as np
from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.time import Time

from ...errors import JointValueError, SceneError, shown, TargetError
from ...model.robot import Robot
from ...transforms import Array
from ..messages.conversions import pose_to_matrix, seconds, transform_to_matrix
from .base_pose import Track

LONGEST_LAG = Duration(seconds=0.1)
"""Time after its newest transform for which a frame is taken to go on at its last velocity."""
STEP = 0.1
"""Time between the transforms that tell a velocity [s]."""

LOOK_AGAIN = 1.0
"""Time for which a frame that moves against all links is taken to do so [s]."""

JointValues = Callable[[float, tuple[str, ...]], Mapping[str, float]]
"""
Tells joint values by name [rad or m]: at a stamp [s], or now where that is 0; the joints named
must be known, or it raises a SceneError.
"""


class FramedTarget(NamedTuple):
    """A target as it was said: a pose in a frame, at a time."""

    frame: str
    T: Array
    """T_frame_target, shape (4, 4)."""
    stamp: Stamp


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
        """Transforms that tf2 knows; None where tf2_ros is not installed."""
        self._joints: dict[tuple[str, str], tuple[str, ...]] = {}
        """The joints between two links, as far as somebody asked for them."""
        self._carriers: dict[str, str] = {}
        """Links that frames were fixed to."""
        self._free_until: dict[str, float] = {}
        """Time until which each frame counts as fixed to no link, by the steady clock [s]."""
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

    def read(self, message: PoseStamped) -> FramedTarget:
        """
        Read a target.

        Raises
        ------
        TargetError
            If its frame is empty, or its pose is none.

        """
        frame: str = message.header.frame_id.removeprefix('/')
        if not frame:
            raise TargetError(
                f"frame_id is empty; use '{self._base_link}' for the base of the arm"
            )
        return FramedTarget(frame, pose_to_matrix(message.pose), message.header.stamp)

    def target_in_base(self, target: FramedTarget, values: JointValues) -> Array:
        """
        Pose of a target, T_base_target of shape (4, 4), where its frame was at its stamp.

        Parameters
        ----------
        target : FramedTarget
            The target.
        values : callable
            Tells joint values, for targets in a frame that moves with a link.

        Raises
        ------
        TargetError
            If the frame is unknown, or its pose at the stamp is unknown; says why.

        """
        frame, T_frame_target, stamp = target
        if frame == self._base_link:
            return T_frame_target
        return self.pose_of(frame, self._base_link, stamp, values) @ T_frame_target

    def is_in_world(self, frame: str) -> bool:
        """
        Whether a target in a frame stays where it is in the world while the base moves.

        Those in `world_frame`, and in frames that are no links of the robot, do.
        """
        if not self._world_frame or frame == self._base_link:
            return False
        return frame == self._world_frame or frame not in self._robot.links

    def target_in_world(self, target: FramedTarget, values: JointValues) -> Array:
        """
        Pose of a target that `is_in_world`, T_world_target of shape (4, 4).

        Parameters
        ----------
        target : FramedTarget
            The target.
        values : callable
            Tells joint values, for targets in a frame that moves with a link.

        Raises
        ------
        TargetError
            If the pose of its frame at the stamp is unknown; says why.

        """
        frame, T_frame_target, stamp = target
        if frame == self._world_frame:
            return T_frame_target
        if self.carrier_of(frame) is None:
            return self._pose_by_tf(self._world_frame, frame, stamp) @ T_frame_target
        T_base_frame = self.pose_of(frame, self._base_link, stamp, values)
        T_world_base = self._pose_by_tf(self._world_frame, self._base_link, stamp)
        return T_world_base @ T_base_frame @ T_frame_target

    def pose_of(self, frame: str, into: str, stamp: Stamp, values: JointValues) -> Array:
        """
        Pose of a frame in a link at a stamp, T_link_frame of shape (4, 4).

        Parameters
        ----------
        frame : str
            A link of the robot, or what tf knows.
        into : str
            The link.
        stamp : Stamp
            When; 0: as it is known last.
        values : callable
            Tells joint values, for frames that move with a link.

        Raises
        ------
        TargetError
            If the frame is unknown, or its pose is unknown then; says why.

        """
        carrier = self.carrier_of(frame)
        if carrier is None:
            return self._pose_by_tf(into, frame, stamp)
        link, T_link_frame = carrier
        try:
            known = values(seconds(stamp), self._joints_between(into, link))
            return self._robot.pose(into, link, known) @ T_link_frame
        except (JointValueError, SceneError) as error:
            raise TargetError(f"the pose of frame '{frame}' cannot be told: {error}") from error

    def carrier_of(self, frame: str) -> tuple[str, Array] | None:
        """
        Find a link that a frame is fixed to, and T_link_frame of shape (4, 4).

        A link is fixed to itself. A frame that only tf knows is fixed to the link under which it
        hangs by static transforms. None where it moves against all links, or is unknown.
        """
        if frame in self._robot.links:
            return frame, np.eye(4)
        if self.buffer is None or time.monotonic() < self._free_until.get(frame, -math.inf):
            return None
        moves, before = False, self._carriers.get(frame)
        for link in (*([before] if before else []), *self._robot.links):
            found = self._newest_of(link, frame)
            if found is not None and seconds(found.header.stamp) == 0.0:
                self._carriers[frame] = link
                return link, transform_to_matrix(found.transform)
            moves |= found is not None
        if moves:
            self._free_until[frame] = time.monotonic() + LOOK_AGAIN
        return None

    def joints_of(self, frame: str, into: str = '') -> tuple[str, ...]:
        """Name the joints that move a frame in a link, or the base, as far as links carry it."""
        into = into or self._base_link
        if frame in self._robot.links:
            return self._joints_between(into, frame)
        carrier = self.carrier_of(frame)
        return () if carrier is None else self._joints_between(into, carrier[0])

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
        from tf2_ros import TransformException

        try:
            found = self.buffer.lookup_transform(into, frame, Time())
        except TransformException as error:
            raise TargetError(f"frame '{frame}': {error}") from error
        return transform_to_matrix(found.transform), seconds(found.header.stamp)

    def _joints_between(self, link_a: str, link_b: str) -> tuple[str, ...]:
        between = link_a, link_b
        if between not in self._joints:
            self._joints[between] = joint_names_between(self._robot, link_a, link_b)
        return self._joints[between]

    def _newest_of(self, link: str, frame: str) -> Any:
        """Newest transform of a frame in a link; None where tf does not connect them."""
        from tf2_ros import TransformException

        try:
            return self.buffer.lookup_transform(link, frame, Time())
        except TransformException:
            return None

    def _pose_by_tf(self, into: str, frame: str, stamp: Stamp) -> Array:
        """Pose of a frame at a stamp; a little after the newest, as it went on moving."""
        if self.buffer is None:
            raise self._not_installed(frame)
        from tf2_ros import ExtrapolationException, TransformException

        then = Time.from_msg(stamp)
        try:
            try:
                found = self.buffer.lookup_transform(into, frame, then)
                return transform_to_matrix(found.transform)
            except ExtrapolationException:
                newest = self.buffer.lookup_transform(into, frame, Time())
                if not Duration() <= then - Time.from_msg(newest.header.stamp) <= LONGEST_LAG:
                    raise
                return self._carried_on(into, frame, newest, seconds(stamp))
        except TransformException as error:
            raise TargetError(f"frame '{frame}': {error}") from error

    def _carried_on(self, into: str, frame: str, newest: Any, stamp: float) -> Array:
        """Pose at a stamp [s] after the newest transform, by the steps before that."""
        from tf2_ros import ExtrapolationException

        track, last = Track(math.inf), Time.from_msg(newest.header.stamp)
        with suppress(ExtrapolationException, ValueError):  # no times before 0
            for span in (2.0 * STEP, STEP):
                before = last - Duration(seconds=span)
                earlier = self.buffer.lookup_transform(into, frame, before)
                track.add(seconds(earlier.header.stamp), transform_to_matrix(earlier.transform))
        track.add(seconds(newest.header.stamp), transform_to_matrix(newest.transform))
        return track.at(stamp)

    def _not_installed(self, frame: str) -> TargetError:
        return TargetError(
            f"frame '{shown(frame)}' is no link of the robot, and tf2_ros is not installed to "
            f'look elsewhere; the links are: {", ".join(self._robot.links)}'
        )


def joint_names_between(robot: Robot, link_a: str, link_b: str) -> tuple[str, ...]:
    """Name the joints whose measured values the pose of one link in another depends on."""
    return tuple(
        joint.mimic.source if joint.mimic else joint.name
        for joint in robot.joints_between(link_a, link_b)
        if joint.type.is_drivable
    )
