"""Publication of the scene: as soon as it is another one, to whoever looks at it."""

import math
import time

from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from visualization_msgs.msg import Marker, MarkerArray

from ..arm.configured_arm import ConfiguredArm
from ..arm.node_state import NodeState
from ..clocks.qos import LATCHED
from ..status.reporter import DELIVERY_TIME
from .scene_markers import KnownScene, names_in, scene_markers

PERIOD = 0.2
"""Time between two scenes, at least [s]."""
RENEWAL_TIME = 1.0
"""A scene that stays the same is published again after this time [s]."""


class ScenePublisher:
    """
    Publishes what stands around the arm, and that it is gone at the end.

    Parameters
    ----------
    node : Node
        Publishes the topic.
    state : NodeState
        Has the arm, and what stands around it.

    """

    def __init__(self, node: Node, state: NodeState) -> None:
        self._state = state
        self._publisher = node.create_publisher(MarkerArray, '~/scene_markers', LATCHED)
        self._shown: KnownScene | None = None
        """Scene that was published last; None where nothing is shown."""
        self._shown_at = -math.inf
        """Time of that publication, by the monotonic clock [s]."""
        node.create_timer(PERIOD, self._show, clock=Clock(clock_type=ClockType.STEADY_TIME))

    def clear(self) -> None:
        """Take the scene away, and wait until subscribers have the message."""
        if self._shown is not None:
            self._shown = None
            self._publisher.publish(MarkerArray(markers=[Marker(action=Marker.DELETEALL)]))
            self._publisher.wait_for_all_acked(DELIVERY_TIME)

    def _show(self) -> None:
        """Publish the scene if it has changed, and now and then, while somebody looks at it."""
        arm = self._state.arm
        if arm is None or self._state.end is not None:
            self.clear()
            return
        if self._publisher.get_subscription_count() == 0:
            return
        scene, now = self._scene(arm), time.monotonic()
        if scene != self._shown or now - self._shown_at >= RENEWAL_TIME:
            self._shown, self._shown_at = scene, now
            markers = list(scene_markers(scene, arm.watch.finder))
            self._publisher.publish(MarkerArray(markers=markers))

    def _scene(self, arm: ConfiguredArm) -> KnownScene:
        """Put together what stands around an arm."""
        _, cells, _ = arm.watch.snapshot()
        world, q = arm.world, arm.shown_configuration()
        nearest = None if q is None else arm.watch.nearest_obstacle(q)
        clouds = (f"points of '{frame}'" for frame in cells)
        names = [*(o.name for o in (*world.of_file, *world.in_markers)), *clouds]
        reason = self._state.standing().reason
        return KnownScene(
            arm.robot.root_link,
            world.of_file,
            world.in_markers,
            tuple(cells.items()),
            '' if nearest is None else nearest.link_b,
            names_in('' if reason is None else str(reason), names),
        )
