"""A handle at each tool in RViz: whoever drags it sends targets to a node that is running."""

from collections.abc import Mapping
import math
import time
from typing import Any

from interactive_markers.interactive_marker_server import InteractiveMarkerServer
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.qos import QoSProfile

from ...programs.waypoints import Waypoints
from ..clocks.log_periods import REMINDER_PERIOD
from .dragging import PERIOD
from .running import run
from .tip_handle import TipHandle
from .watched_node import Tool, WatchedNode

FOLLOW_PERIOD = 0.1
"""Time between two updates of handles that go with their tools, at least [s]: RViz takes one a
frame, and those that it has not taken wait in a queue."""
FEEDBACK = QoSProfile(depth=100)
"""Quality of service of feedback: a press and a release while this process is busy both count."""


class DragTarget(Node):
    """
    Shows a handle at each tool of a node, and publishes where it is dragged to.

    Nothing is published but what somebody drags, and while the node is alive; its handles are
    there only then.
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__('drag_target', **kwargs)
        name = self.declare_parameter('node', 'fabrik').value
        self._watched = WatchedNode(self, name, self._on_status)
        self._server = InteractiveMarkerServer(
            self, f'{name}/drag_target', feedback_sub_qos=FEEDBACK
        )
        self._handles: dict[str, TipHandle] = {}
        """Handles by the tip link."""
        self._waypoints: dict[tuple[str, ...], Waypoints] = {}
        """Those of each arm, by its base and tip links: they stay while its node is silent."""
        self._followed_at = -math.inf
        """Time at which the handles were put where the tools are last [s]."""
        self._shown: tuple[Any, ...] | None = None
        """Robot, base link and tips that the handles were made for."""
        self._feedback_topic = self._server.feedback_sub.topic_name
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self.create_timer(PERIOD, self._step, clock=steady)
        self.create_timer(REMINDER_PERIOD, self._remind, clock=steady)
        self._remind()

    def destroy_node(self) -> None:
        """Take the handles away, and end."""
        self._server.shutdown()
        super().destroy_node()

    def _remind(self) -> None:
        """Log why no handle is shown."""
        if not self._handles:
            self.get_logger().info(f'waiting for the node to move: {self._watched.missing}')

    def _step(self) -> None:
        """Show a handle at each tool, or none."""
        watched = self._watched
        tools = watched.tools() if watched.is_alive else {}
        needed = (watched.robot, watched.base_link, tuple(tools)) if tools else None
        if needed != self._shown:
            self._renew(tools)
            self._shown = needed
        if self._handles and self.count_publishers(self._feedback_topic) == 0:
            for handle in self._handles.values():
                handle.release()
        now = time.monotonic()
        follows = now - self._followed_at >= FOLLOW_PERIOD
        self._followed_at = now if follows else self._followed_at
        for tip, handle in self._handles.items():
            handle.step(tools[tip], follows)
        self._server.applyChanges()

    def _renew(self, tools: Mapping[str, Tool]) -> None:
        """Make the handles anew; what was dragged is forgotten."""
        for handle in self._handles.values():
            handle.close()
        self._server.applyChanges()
        waypoints = self._waypoints_of(tuple(tools))
        self._handles = {
            tip: TipHandle(self, self._server, self._watched, tip, tool, waypoints)
            for tip, tool in tools.items()
        }

    def _waypoints_of(self, tips: tuple[str, ...]) -> Waypoints | None:
        """Return the waypoints of an arm; of several tips none: programs are for one."""
        if len(tips) != 1:
            return None
        return self._waypoints.setdefault((self._watched.base_link, *tips), Waypoints())

    def _on_status(self) -> None:
        for handle in self._handles.values():
            handle.see_status()


def main(args: list[str] | None = None) -> None:
    """Show handles until interrupted."""
    run(DragTarget, args)


if __name__ == '__main__':
    main()
