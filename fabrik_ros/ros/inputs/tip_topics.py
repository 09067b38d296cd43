"""The topics of each tip: its targets in, and where the commands put it out."""

from collections.abc import Callable
from functools import partial

from builtin_interfaces.msg import Time
from geometry_msgs.msg import PoseStamped, TwistStamped
from nav_msgs.msg import Path
import numpy as np
from rclpy.node import Node
from rclpy.qos import HistoryPolicy, QoSProfile, ReliabilityPolicy

from ...transforms import Array
from ..clocks.qos import LATCHED
from ..clocks.receiving import with_receipt
from ..messages.conversions import stamped_pose, timed_path, twist_to_array
from .target_subscription import subscribe_to_targets, waiting_message

LATEST = QoSProfile(
    depth=1, history=HistoryPolicy.KEEP_LAST, reliability=ReliabilityPolicy.BEST_EFFORT
)
"""Quality of service of jogs: reliable publishers or not; a lost one is soon repeated."""


class TipTopics:
    """
    Topics of one tip.

    Parameters
    ----------
    node : Node
        Publishes and subscribes.
    number : int
        Which tip it is.
    prefix : str
        '~' for the only tip, `~/<name>` for one of several.
    on_target, on_jog : callable
        Take each target and each jog: this object, the message, and the system time at which it
        was received [ns].

    Attributes
    ----------
    target_stamp : float
        Stamp of the last accepted target [s]; 0 before the first, or where it had none.
    number : int
        Which tip it is.

    """

    def __init__(
        self,
        node: Node,
        number: int,
        prefix: str,
        on_target: 'Callable[[TipTopics, PoseStamped, int], None]',
        on_jog: 'Callable[[TipTopics, TwistStamped, int], None]',
    ) -> None:
        self._node = node
        self.number = number
        self.target_stamp = 0.0
        self._solutions = node.create_publisher(PoseStamped, f'{prefix}/solution_pose', 10)
        self._paths = node.create_publisher(Path, f'{prefix}/planned_path', LATCHED)
        self.targets = subscribe_to_targets(
            node, PoseStamped, f'{prefix}/target_pose', partial(on_target, self)
        )
        self._jogs = node.create_subscription(
            TwistStamped, f'{prefix}/jog', with_receipt(partial(on_jog, self)), LATEST
        )

    @property
    def has_listener(self) -> bool:
        """Whether `solution_pose` has a subscriber."""
        return int(self._solutions.get_subscription_count()) > 0

    def publish_solution(self, T_base_tip: Array, base_link: str, stamp: Time) -> None:
        """Publish where the command puts the tip: T_base_tip, shape (4, 4)."""
        self._solutions.publish(stamped_pose(T_base_tip, base_link, stamp))

    def publish_path(self, tips: Array, times: Array, base_link: str, stamp: Time) -> None:
        """
        Publish where the tip will go; no poses take away what was.

        Parameters
        ----------
        tips : array, shape (m, 4, 4)
            Poses T_base_tip.
        times : array, shape (m,)
            When it is there, about, if it sets out at the time of the stamp [s].
        base_link, stamp
            Those of the message.

        """
        self._paths.publish(timed_path(tips, times, base_link, stamp))

    def drop_waiting(self) -> tuple[bool, bool]:
        """Drop waiting messages; return whether there was a target, and a jog for motion."""
        target, jog = waiting_message(self.targets), waiting_message(self._jogs)
        return target is not None, jog is not None and bool(np.any(twist_to_array(jog.twist)))

    def close(self) -> None:
        """Remove the topics."""
        self._node.destroy_subscription(self.targets)
        self._node.destroy_subscription(self._jogs)
        self._node.destroy_publisher(self._solutions)
        self._node.destroy_publisher(self._paths)
