"""The times that a node deals in, as numbers."""

import time

from rclpy.node import Node

from .receiving import age_of


class NodeClock:
    """
    Tells the time of a node.

    Parameters
    ----------
    node : Node
        Whose time it is: that of the system, or of /clock where `use_sim_time` is set.

    """

    def __init__(self, node: Node) -> None:
        self._clock = node.get_clock()

    @property
    def is_simulated(self) -> bool:
        """Whether /clock tells the time."""
        return bool(self._clock.ros_time_is_active)

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
