"""Subscriptions to targets of all kinds: the newest one counts, and none is lost unnoticed."""

from collections.abc import Callable
from typing import Any

from rclpy.event_handler import QoSRequestedIncompatibleQoSInfo, SubscriptionEventCallbacks
from rclpy.node import Node
from rclpy.qos import HistoryPolicy, QoSProfile, ReliabilityPolicy
from rclpy.qos_overriding_options import QoSOverridingOptions
from rclpy.subscription import Subscription

from .receiving import with_receipt

NEWEST = QoSProfile(
    depth=1, history=HistoryPolicy.KEEP_LAST, reliability=ReliabilityPolicy.RELIABLE
)


def subscribe_to_targets(
    node: Node, kind: type, topic: str, on_target: Callable[[Any, int], None]
) -> Subscription:
    """
    Subscribe to a topic of targets; a publisher that cannot be heard is warned about.

    Parameters
    ----------
    node : Node
        Whose subscription it is.
    kind : type
        Of the messages.
    topic : str
        Name of the topic.
    on_target : callable
        Takes each message, and the system time at which it was received [ns].

    """

    def on_bad_qos(info: QoSRequestedIncompatibleQoSInfo) -> None:
        name = subscription.topic_name
        node.get_logger().warning(
            f'a publisher on {name} is best effort and this '
            'subscription is reliable, so nothing arrives; make the publisher reliable, or set '
            f'the parameter qos_overrides.{name}'
            '.subscription.reliability to best_effort'
        )

    subscription = node.create_subscription(
        kind,
        topic,
        with_receipt(on_target),
        NEWEST,
        event_callbacks=SubscriptionEventCallbacks(incompatible_qos=on_bad_qos),
        qos_overriding_options=QoSOverridingOptions.with_default_policies(),
    )
    return subscription


def warn_of_rivals(node: Node, subscription: Subscription) -> None:
    """Warn if several publishers send targets on one topic."""
    topic = subscription.topic_name
    publishers = node.count_publishers(topic)
    if publishers > 1:
        node.get_logger().warning(
            f'{publishers} publishers send targets on {topic}; the newest target wins'
        )


def waiting_message(subscription: Any) -> Any:
    """Take the message that waits at a subscription; None if none does."""
    with subscription.handle:
        found = subscription.handle.take_message(subscription.msg_type, subscription.raw)
    return None if found is None else found[0]
