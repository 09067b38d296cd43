"""Subscriptions to targets of all kinds: the newest one counts, and none is lost unnoticed."""

from collections.abc import Callable
from copy import copy
from typing import Any

from rclpy.node import Node
from rclpy.qos_overriding_options import QoSOverridingOptions
from rclpy.subscription import Subscription

from ..clocks.qos import NEWEST
from ..clocks.receiving import with_receipt


def subscribe_to_targets(
    node: Node, kind: type, topic: str, on_target: Callable[[Any, int], None]
) -> Subscription:
    """
    Subscribe to a topic of targets.

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
    qos = copy(NEWEST)  # rclpy writes into it what parameters of the node override
    return node.create_subscription(
        kind,
        topic,
        with_receipt(on_target),
        qos,
        qos_overriding_options=QoSOverridingOptions.with_default_policies(),
    )


def waiting_message(subscription: Any) -> Any:
    """Take the message that waits at a subscription; None if none does."""
    with subscription.handle:
        found = subscription.handle.take_message(subscription.msg_type, subscription.raw)
    return None if found is None else found[0]
