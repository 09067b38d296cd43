"""When markers are published: changed ones at once, unchanged ones now and then."""

import time

from builtin_interfaces.msg import Time
from rclpy.clock import Clock, ClockType
from rclpy.duration import Duration
from rclpy.node import Node
from visualization_msgs.msg import Marker, MarkerArray

from ..model.mechanism import Mechanism
from ..motion.follower import Follower
from ..transforms import Array
from .marker_shapes import all_removed, Pen, removed
from .markers import markers_of, nearest_markers, Picture
from .node_state import NodeState
from .status_markers import state_color, state_sentences, text_markers

PERIOD = 1.0 / 30.0
"""Time between two pictures of an arm that moves, at least [s]: joint states come faster."""
NEAREST_PERIOD = 0.1
"""Time between two measurements of what is nearest [s]: commands wait for them."""
RENEWAL_TIME = 0.3
"""A picture that stays the same is published again after this time [s]."""
LONGEST_PREPARATION = 120
"""Lifetime of the text that the solver is compiled; no other markers come meanwhile [s]."""
DEPTH = 5
"""Messages that wait for a slow subscriber [1]."""
DELIVERY_TIME = Duration(seconds=0.2)
"""Longest wait for the delivery of the last message."""


class MarkerPublisher:
    """
    Publishes markers while there are subscribers, and deletes them at the end.

    Parameters
    ----------
    node : Node
        Publishes the topic.
    state : NodeState
        What the node does, and its arm.

    """

    def __init__(self, node: Node, state: NodeState) -> None:
        self._node, self._state = node, state
        self._publisher = node.create_publisher(MarkerArray, '~/markers', DEPTH)
        self._shown: set[tuple[str, int]] = set()
        """Namespace and number of each marker that was published last."""
        self._key: object = None
        """Key of the picture that was published last."""
        self._published_at = self._measured_at = 0.0
        """Times by the monotonic clock [s]."""
        self._nearest: list[Marker] = []
        node.create_timer(PERIOD, self._show, clock=Clock(clock_type=ClockType.STEADY_TIME))

    def show_preparation(self, robot: Mechanism) -> None:
        """Say that the solver of a robot is prepared."""
        standing, pen = self._state.standing(), self._pen(robot.base_link, LONGEST_PREPARATION)
        sentences = state_sentences(standing.state, standing.reason, '', ())
        color = state_color(standing.state, standing.reason)
        self._publish([*text_markers(pen, robot, sentences, color)])

    def clear(self) -> None:
        """Delete all markers, and wait until subscribers have the message."""
        namespaces = sorted({namespace for namespace, _ in self._shown})
        if namespaces:
            self._shown, self._key = set(), None
            self._publisher.publish(MarkerArray(markers=[*map(all_removed, namespaces)]))
            self._publisher.wait_for_all_acked(DELIVERY_TIME)

    def _show(self) -> None:
        """Publish what has changed, and renew what has not."""
        if self._publisher.get_subscription_count() == 0:
            self._shown, self._key = set(), None
            return
        picture = self._picture()
        if picture is None:
            self.clear()
            return
        now, key = time.monotonic(), picture.key
        if key == self._key and now - self._published_at < RENEWAL_TIME:
            return
        self._key, self._published_at = key, now
        markers = list(markers_of(picture, self._pen(picture.robot.base_link)))
        if now - self._measured_at >= NEAREST_PERIOD:
            self._nearest, self._measured_at = self._measure(picture.q), now
        self._publish(markers + self._nearest)

    def _publish(self, markers: list[Marker]) -> None:
        """Publish markers, and take away those before that are not among them."""
        shown = {(marker.ns, int(marker.id)) for marker in markers}
        gone = [removed(*key) for key in sorted(self._shown - shown)]
        self._shown = shown
        self._publisher.publish(MarkerArray(markers=[*gone, *markers]))

    def _picture(self) -> Picture | None:
        """Put together what there is to draw; None without an arm."""
        state, arm = self._state, self._state.arm
        if arm is None or state.end is not None:
            return None
        standing, refusal = state.standing(), state.tally.last_refusal
        follower = arm.follower
        if follower is None:
            return Picture(arm.chain, standing.state, standing.reason, refusal)
        return Picture(
            arm.chain,
            standing.state,
            standing.reason,
            refusal,
            arm.shown_configuration(),
            follower.goal_in_base(),
            _goal_configuration(follower),
        )

    def _measure(self, q: Array | None) -> list[Marker]:
        """Measure and draw what is nearest to the arm at `q`, shape (n,)."""
        arm = self._state.arm
        if arm is None or q is None:
            return []
        pen = self._pen(arm.robot.root_link)
        return list(nearest_markers(pen, arm.chain, arm.watch.nearest_points(q)))

    def _pen(self, frame_id: str, *lifetime: int) -> Pen:
        stamp: Time = self._node.get_clock().now().to_msg()
        return Pen(frame_id, stamp, *lifetime)


def _goal_configuration(follower: Follower) -> Array | None:
    """Joint values at the end of the path that was found, or at the goal; None without."""
    motion = follower.motion
    if follower.goal is None:
        return None
    found = None if motion.departure.in_stream else motion.choice.found
    if found is not None and found.preview is not None and found.preview.share == 1.0:
        return found.preview.q
    return None if motion.solution is None else motion.solution.q
