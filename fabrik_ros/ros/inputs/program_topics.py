"""The topics of programs: a whole program, or poses to pass one after the other."""

from collections.abc import Callable, Hashable, Mapping

from builtin_interfaces.msg import Time
from nav_msgs.msg import Path
import numpy as np
from rclpy.node import Node
from std_msgs.msg import String

from ...errors import ProgramError
from ...programs.program import Line, Program
from ...programs.program_file import program_of, READ
from ...transforms import Array
from ..messages.conversions import pose_to_matrix
from .frame_resolver import FramedTarget
from .target_subscription import subscribe_to_targets, waiting_message

Placed = Callable[[FramedTarget], Array]
"""Brings a target into the base frame: T_base_target, shape (4, 4)."""


class ProgramTopics:
    """
    Takes `~/program` and `~/target_path`.

    Parameters
    ----------
    node : Node
        Whose topics they are.
    on_program, on_path : callable
        Take each message, and the system time at which it was received [ns].

    Attributes
    ----------
    targets : tuple of Subscription
        Take programs, and paths.

    """

    def __init__(
        self,
        node: Node,
        on_program: Callable[[String, int], None],
        on_path: Callable[[Path, int], None],
    ) -> None:
        self.targets = (
            subscribe_to_targets(node, String, '~/program', on_program),
            subscribe_to_targets(node, Path, '~/target_path', on_path),
        )

    def drop_waiting(self) -> int:
        """Drop waiting messages; return how many there were."""
        return sum(waiting_message(subscription) is not None for subscription in self.targets)


def name_in(message: String) -> str:
    """Read the name of a program; '' where it has none, or cannot be read."""
    try:
        document = READ.parsed(message.data)
    except ProgramError:
        return ''
    name = document.get('name', '') if isinstance(document, Mapping) else ''
    return name if isinstance(name, str) else ''


def program_in(message: String, base_link: str, placed: Placed) -> tuple[str, Program]:
    """
    Read the program in a message, YAML or JSON as in files; return its name, too.

    Raises
    ------
    FabrikError
        If it makes no sense, or a frame is unknown; names the segment.

    """

    def pose_of(frame: str) -> Array:
        return placed(FramedTarget(frame.removeprefix('/') or base_link, np.eye(4), Time()))

    return program_of(READ.parsed(message.data), pose_of)


def words_of(message: Path) -> Hashable:
    """Tell what a path says, whenever it is said."""
    poses = ((pose.header.frame_id, pose_to_matrix(pose.pose).tobytes()) for pose in message.poses)
    return (message.header.frame_id, *poses)


def lines_through(message: Path, blend_radius: float, tip_speed: float, placed: Placed) -> Program:
    """
    Make a program of lines through the poses of a path.

    Parameters
    ----------
    message : Path
        The poses; one without a frame is in that of the path.
    blend_radius : float
        Distance from a pose within which the arm may pass it [m].
    tip_speed : float
        Speed of the tip [m/s]; 0: the greatest.
    placed : callable
        Brings a pose into the base frame.

    Raises
    ------
    FabrikError
        If there are no poses, or one makes no sense; names it.

    """
    if not message.poses:
        raise ProgramError('a path without poses')
    speed, lines = tip_speed or None, []
    for number, stamped in enumerate(message.poses, start=1):
        header = stamped.header if stamped.header.frame_id else message.header
        frame = header.frame_id.removeprefix('/')
        if not frame:
            raise ProgramError(f'pose {number}: frame_id is empty, here and in the path')
        T = placed(FramedTarget(frame, pose_to_matrix(stamped.pose), header.stamp))
        is_last = number == len(message.poses)
        lines.append(Line(T, speed=speed, blend=0.0 if is_last else blend_radius))
    return Program(lines)
