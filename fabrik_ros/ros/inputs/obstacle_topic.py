"""Topic of obstacles in markers, also from publishers that keep their messages."""

from collections import deque
from collections.abc import Callable

from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.subscription import Subscription
from visualization_msgs.msg import MarkerArray

from ..clocks.receiving import with_source_time

OBSTACLES = QoSProfile(depth=50)
LATCHED_OBSTACLES = QoSProfile(depth=50, durability=DurabilityPolicy.TRANSIENT_LOCAL)
MESSAGES_REMEMBERED = 200
"""Both subscriptions together have so many messages waiting at most [1]."""


class ObstacleTopic:
    """
    Hears obstacles in markers.

    A subscription for volatile publishers misses what a publisher that keeps its messages sent
    before. The second subscription gets that, and is made once there is such a publisher: asked
    in vain, both sides would warn that no messages are received.

    Parameters
    ----------
    node : Node
        Has the subscriptions.
    name : str
        Of the topic.
    on_markers : callable
        Takes each message once.

    """

    def __init__(self, node: Node, name: str, on_markers: Callable[[MarkerArray], None]) -> None:
        self._node, self._on_markers = node, on_markers
        self._sent: deque[int] = deque(maxlen=MESSAGES_REMEMBERED)
        """Times at which the messages that were taken last were sent [ns]."""
        self._subscriptions: list[Subscription] = []
        self._name = str(self._subscribe(name, OBSTACLES).topic_name)
        self._publisher_count = 0
        self._hears_latched = False

    def hear_latched(self) -> None:
        """Ask for what a publisher sent before, if one keeps its messages; call it regularly."""
        count = self._node.count_publishers(self._name)
        if self._hears_latched or count == self._publisher_count:
            return
        self._publisher_count = count
        publishers = self._node.get_publishers_info_by_topic(self._name)
        kinds = {publisher.qos_profile.durability for publisher in publishers}
        if DurabilityPolicy.TRANSIENT_LOCAL in kinds:
            self._hears_latched = True
            self._subscribe(self._name, LATCHED_OBSTACLES)

    def close(self) -> None:
        """Hear no more."""
        for subscription in self._subscriptions:
            self._node.destroy_subscription(subscription)

    def _subscribe(self, name: str, qos: QoSProfile) -> Subscription:
        callback = with_source_time(self._take)
        subscription = self._node.create_subscription(MarkerArray, name, callback, qos)
        self._subscriptions.append(subscription)
        return subscription

    def _take(self, message: MarkerArray, sent: int) -> None:
        """Hand over a message that was sent at a system time [ns], unless it came before."""
        if sent not in self._sent:
            self._sent.append(sent)
            self._on_markers(message)
