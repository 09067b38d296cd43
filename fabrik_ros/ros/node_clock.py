"""The times that a node deals in, as numbers."""

import time

from rclpy.clock import JumpThreshold
from rclpy.node import Node

from .receiving import age_of


class NodeClock:
    """
    Tells the time of a node.

    Parameters
    ----------
    node : Node
        Whose time it is: that of the system, or of /clock where `use_sim_time` is set.

    Attributes
    ----------
    is_simulated : bool
        Whether /clock tells the time.

    """

    def __init__(self, node: Node) -> None:
        self._clock = node.get_clock()
        self._look_who_tells()
        # Asked for every command, the clock would take longer than all that is done with the time.
        self._jump_handle = self._clock.create_jump_callback(
            JumpThreshold(min_forward=None, min_backward=None, on_clock_change=True),
            post_callback=lambda jump: self._look_who_tells(),
        )

    def _look_who_tells(self) -> None:
        self.is_simulated = bool(self._clock.ros_time_is_active)

    def now_ns(self) -> int:
        """Time [ns]; that of the system without the objects of rclpy, which take longer."""
        return int(self._clock.now().nanoseconds) if self.is_simulated else time.time_ns()

    def now(self) -> float:
        """Time [s]."""
        return 1e-9 * self.now_ns()

    def at(self, received: int) -> float:
        """Time [s] when something was `received` by the time of the system [ns]."""
        age = age_of(received)
        return 1e-9 * (self.now_ns() - age)

    def steady_ns(self) -> int | None:
        """Time that never jumps [ns]; None where that of /clock is the time of everything."""
        return None if self.is_simulated else time.monotonic_ns()
