"""The time of the node, as numbers."""

from collections.abc import Callable
import time
from typing import Any

from rclpy.clock import JumpThreshold
from rclpy.node import Node
from rosgraph_msgs.msg import Clock

from .command_clock import LEAST_JUMP
from .log_periods import WARNING_PERIOD
from .receiving import age_of

LONGEST_READING = 1_000_000
"""Longest reading of two clocks after which they can be compared [ns]."""


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
        self._offset: int | None = None
        """Difference of system time and steady time at the last look [ns]."""
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

    def read_ns(self) -> tuple[int, int | None]:
        """
        Return the time, and that of a clock that never jumps [ns].

        None for the latter in simulated time, and where something came between the two readings,
        so that they cannot be compared.
        """
        if self.is_simulated:
            return self.now_ns(), None
        begin, system, end = time.monotonic_ns(), time.time_ns(), time.monotonic_ns()
        return system, begin if end - begin <= LONGEST_READING else None

    def set_by(self, system: int, steady: int | None) -> float:
        """
        Tell by how much the system's clock was set since the last call [s]; 0.0 if it was not.

        In simulated time that does not matter: 0.0.

        Parameters
        ----------
        system : int
            Its time [ns], of `read_ns`.
        steady : int or None
            Time of a clock that never jumps [ns], if it can be compared.

        """
        if self.is_simulated:
            self._offset = None
            return 0.0
        if steady is None:
            return 0.0
        before, self._offset = self._offset, system - steady
        by = 0 if before is None else self._offset - before
        return 1e-9 * by if abs(by) > LEAST_JUMP else 0.0


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
