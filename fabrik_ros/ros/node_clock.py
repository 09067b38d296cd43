"""The time of the node, as numbers."""

from collections.abc import Callable
import time
from typing import Any

from rclpy.clock import JumpThreshold
from rclpy.node import Node
from rosgraph_msgs.msg import Clock

from .receiving import age_of

WARNING_PERIOD = 1.0
"""The same warning is not logged again within this time [s]."""


class NodeClock:
    """
    The time of a node.

    Parameters
    ----------
    node : Node
        Its time is the system's, or the one of /clock where `use_sim_time` is set.

    Attributes
    ----------
    is_simulated : bool
        Whether the time comes from /clock.

    """

    def __init__(self, node: Node) -> None:
        self._clock = node.get_clock()
        self._update_source()
        # Cached: asking the clock at every command takes longer than all use of the time.
        self._jump_handle = self._clock.create_jump_callback(
            JumpThreshold(min_forward=None, min_backward=None, on_clock_change=True),
            post_callback=lambda jump: self._update_source(),
        )

    def _update_source(self) -> None:
        self.is_simulated = bool(self._clock.ros_time_is_active)

    def now_ns(self) -> int:
        """Time [ns]. System time is read without rclpy, whose objects are slower."""
        return int(self._clock.now().nanoseconds) if self.is_simulated else time.time_ns()

    def now(self) -> float:
        """Time [s]."""
        return 1e-9 * self.now_ns()

    def at(self, received: int) -> float:
        """Time [s] when something was `received` at a system time [ns]."""
        age = age_of(received)
        return 1e-9 * (self.now_ns() - age)

    def steady_ns(self) -> int | None:
        """Time that never jumps [ns]; None in simulated time."""
        return None if self.is_simulated else time.monotonic_ns()


def without_negative_times(
    node: Node, callback: Callable[[Clock], Any]
) -> Callable[[Clock], None]:
    """Make a callback for /clock that ignores negative times, of which rclpy would die."""

    def take(message: Clock) -> None:
        if message.clock.sec >= 0:
            callback(message)
            return
        node.get_logger().warning(
            f'/clock shows {message.clock.sec} s: ignored, as times must not be negative',
            throttle_duration_sec=WARNING_PERIOD,
        )

    return take
