"""The topics of each tip: its targets in, and where the commands put it out."""

from collections.abc import Callable
from functools import partial
from typing import Any

from builtin_interfaces.msg import Time
from geometry_msgs.msg import PoseStamped, TwistStamped
import numpy as np
from rclpy.event_handler import QoSRequestedIncompatibleQoSInfo, SubscriptionEventCallbacks
from rclpy.node import Node
from rclpy.qos import HistoryPolicy, QoSProfile, ReliabilityPolicy
from rclpy.qos_overriding_options import QoSOverridingOptions

from ..transforms import Array
from .conversions import stamped_pose, twist_to_array
from .receiving import with_receipt

NEWEST = QoSProfile(
    depth=1, history=HistoryPolicy.KEEP_LAST, reliability=ReliabilityPolicy.RELIABLE
)
LATEST = QoSProfile(
    depth=1, history=HistoryPolicy.KEEP_LAST, reliability=ReliabilityPolicy.BEST_EFFORT
)
"""Takes jogs from reliable and from best effort publishers; a lost one is soon repeated."""


class TipTopics:
    """
    Topics of one tip.

    Parameters
    ----------
    node : Node
        Whose topics they are.
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
        self.targets = node.create_subscription(
            PoseStamped,
            f'{prefix}/target_pose',
            with_receipt(partial(on_target, self)),
            NEWEST,
            event_callbacks=SubscriptionEventCallbacks(incompatible_qos=self._on_bad_qos),
            qos_overriding_options=QoSOverridingOptions.with_default_policies(),
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

    def warn_of_rivals(self) -> None:
        """Warn if several publishers send targets."""
        topic = self.targets.topic_name
        publishers = self._node.count_publishers(topic)
        if publishers > 1:
            self._node.get_logger().warning(
                f'{publishers} publishers send targets on {topic}; the newest target wins'
            )

    def drop_waiting(self) -> tuple[bool, bool]:
        """Drop waiting messages; return whether there was a target, and a jog for motion."""
        target, jog = _waiting_message(self.targets), _waiting_message(self._jogs)
        return target is not None, jog is not None and bool(np.any(twist_to_array(jog.twist)))

    def close(self) -> None:
        """Remove the topics."""
        self._node.destroy_subscription(self.targets)
        self._node.destroy_subscription(self._jogs)
        self._node.destroy_publisher(self._solutions)

    def _on_bad_qos(self, info: QoSRequestedIncompatibleQoSInfo) -> None:
        topic = self.targets.topic_name
        self._node.get_logger().warning(
            f'a publisher on {topic} is best effort and this '
            'subscription is reliable, so nothing arrives; make the publisher reliable, or set '
            f'the parameter qos_overrides.{topic}'
            '.subscription.reliability to best_effort'
        )


def _waiting_message(subscription: Any) -> Any:
    """Take the message that waits at a subscription; None if none does."""
    with subscription.handle:
        found = subscription.handle.take_message(subscription.msg_type, subscription.raw)
    return None if found is None else found[0]
