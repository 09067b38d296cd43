"""Publication of markers: of changed ones at once, of unchanged ones now and then."""

import time

from builtin_interfaces.msg import Time
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from visualization_msgs.msg import Marker, MarkerArray

from ...model.mechanism import Mechanism
from ..arm.node_state import NodeState
from ..messages.marker_shapes import all_removed, Pen
from ..status.reporter import DELIVERY_TIME
from .ahead_markers import AheadMarkers
from .marker_layer import MarkerLayer
from .markers import markers_of, nearest_markers, Picture
from .status_markers import state_color, state_sentences, text_markers

PERIOD = 1.0 / 30.0
"""Time between two pictures of an arm that moves, at least [s]: joint states come faster."""
SLOW_PERIOD = 0.1
"""Least time between two pictures of what is nearest and ahead: commands wait for these [s]."""
LONGEST_PREPARATION = 120
"""Lifetime of the text that the solver is compiled; no other markers come meanwhile [s]."""
DEPTH = 5
"""Messages that wait for a slow subscriber [1]."""


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
        self._picture_layer = MarkerLayer(0.0)
        self._nearest, self._ahead = MarkerLayer(SLOW_PERIOD), MarkerLayer(SLOW_PERIOD)
        self._ahead_of: AheadMarkers | None = None
        self._looked_at = 0.0
        """Time of the last look at what is ahead, by the monotonic clock [s]."""
        node.create_timer(PERIOD, self._show, clock=Clock(clock_type=ClockType.STEADY_TIME))

    @property
    def _layers(self) -> tuple[MarkerLayer, ...]:
        return self._picture_layer, self._nearest, self._ahead

    def show_preparation(self, robot: Mechanism) -> None:
        """Say that the solver of a robot is prepared."""
        standing, pen = self._state.standing(), self._pen(robot.base_link, LONGEST_PREPARATION)
        sentences = state_sentences(standing.state, standing.reason, '', ())
        color = state_color(standing.state, standing.reason)
        markers = text_markers(pen, robot, sentences, color)
        self._publish(self._picture_layer.drawn(None, time.monotonic(), markers))

    def clear(self) -> None:
        """Delete all markers, and wait until subscribers have the message."""
        namespaces = sorted(set().union(*(layer.namespaces for layer in self._layers)))
        self._forget()
        if namespaces:
            self._publish([*map(all_removed, namespaces)])
            self._publisher.wait_for_all_acked(DELIVERY_TIME)

    def _forget(self) -> None:
        for layer in self._layers:
            layer.forget()

    def _show(self) -> None:
        """Publish what has changed, and renew what has not."""
        self._read_new_arm()
        if self._publisher.get_subscription_count() == 0:
            self._forget()
            return
        picture = self._picture()
        if picture is None:
            self.clear()
            return
        markers = [*self._drawn(picture), *self._drawn_nearest(picture), *self._drawn_ahead()]
        if markers:
            self._publish(markers)

    def _read_new_arm(self) -> None:
        """Read what is to be seen of a new arm, before it moves: that takes a while."""
        arm = self._state.arm
        if arm is None:
            self._ahead_of = None
        elif self._ahead_of is None or self._ahead_of.arm is not arm:
            self._ahead_of = AheadMarkers(arm, self._state.parameters.mesh_paths)

    def _publish(self, markers: list[Marker]) -> None:
        self._publisher.publish(MarkerArray(markers=markers))

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
        )

    def _drawn(self, picture: Picture) -> list[Marker]:
        """Draw the arm, if that is due."""
        now, key = time.monotonic(), picture.key
        if not self._picture_layer.is_due(key, now):
            return []
        pen = self._pen(picture.robot.base_link)
        return self._picture_layer.drawn(key, now, markers_of(picture, pen))

    def _drawn_nearest(self, picture: Picture) -> list[Marker]:
        """Measure and draw what is nearest to the arm, if that is due."""
        arm, q, now = self._state.arm, picture.q, time.monotonic()
        key = None if q is None else q.tobytes()
        if arm is None or not self._nearest.is_due(key, now):
            return []
        found = {} if q is None else arm.watch.nearest_points(q)
        pen = self._pen(arm.robot.root_link)
        return self._nearest.drawn(key, now, nearest_markers(pen, arm.chain, found))

    def _drawn_ahead(self) -> list[Marker]:
        """Look for and draw what is ahead of the arm, if that is due."""
        drawer, now = self._ahead_of, time.monotonic()
        if drawer is None or now - self._looked_at < SLOW_PERIOD:
            return []
        self._looked_at = now
        ahead = drawer.look(self._state.standing())
        if not self._ahead.is_due(ahead.key, now):
            return []
        markers = drawer.markers(ahead, self._pen(drawer.arm.chain.base_link))
        return self._ahead.drawn(ahead.key, now, markers)

    def _pen(self, frame_id: str, *lifetime: int) -> Pen:
        stamp: Time = self._node.get_clock().now().to_msg()
        return Pen(frame_id, stamp, *lifetime)
