"""A target that is sent once, by a publisher that is there only meanwhile."""

from collections.abc import Callable
import time
from typing import Any

from rclpy.node import Node
from rclpy.publisher import Publisher

from ..clocks.qos import NEWEST

LONGEST_WAIT = 1.0
"""A target that nobody hears for so long is dropped [s]."""
ACQUAINTANCE_TIME = 0.1
"""Time for which both sides know each other before something is sent [s]: else it may be lost."""
DELIVERY_TIME = 1.0
"""Time after sending its target at which the publisher ends [s]."""


class SingleTarget:
    """
    Sends targets to a node, one at a time; a newer one takes the place of one that waits.

    Nothing blocks: `step` goes on, and is to be called often.

    Parameters
    ----------
    node : Node
        Publishes the targets.
    on_drop : callable
        Gets a sentence where a target is not sent.

    """

    def __init__(self, node: Node, on_drop: Callable[[str], None]) -> None:
        self._node, self._on_drop = node, on_drop
        self._publisher: Publisher | None = None
        self._message: Any = None
        """Message that waits."""
        self._ends_at = 0.0
        """Time at which the message is dropped, or the publisher ends [s]."""
        self._heard_since = 0.0

    def send(self, topic: str, message: Any) -> None:
        """Send a message as soon as somebody on the topic hears it."""
        self.close()
        self._publisher = self._node.create_publisher(type(message), topic, NEWEST)
        self._message, self._heard_since = message, time.monotonic()
        self._ends_at = self._heard_since + LONGEST_WAIT

    def close(self) -> None:
        """Drop what waits."""
        if self._publisher is not None:
            self._node.destroy_publisher(self._publisher)
        self._publisher = self._message = None

    def step(self) -> None:
        """Send what waits if it is heard, and end what is over."""
        publisher, now = self._publisher, time.monotonic()
        if publisher is None:
            return
        if publisher.get_subscription_count() == 0:
            self._heard_since = now
        if self._message is not None and now - self._heard_since > ACQUAINTANCE_TIME:
            publisher.publish(self._message)
            self._message, self._ends_at = None, now + DELIVERY_TIME
        if now > self._ends_at:
            if self._message is not None:
                self._on_drop(f'nobody listens on {publisher.topic_name}')
            self.close()
