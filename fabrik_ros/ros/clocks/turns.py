"""Work that may take longer than the next piece of it is away, and lets others have their turn."""

from collections.abc import Callable, Hashable
import math
import time

from rclpy.node import Node

LEEWAY = 0.002
"""Work beyond half of the time that is done at once, as messages come unevenly [s]."""


class Turns:
    """
    Does work as it comes; where it comes too fast, the newest of each kind, after all else.

    An executor that keeps events in a queue has one for every message that came while it was
    busy, and with each it takes the newest message there is. Where that takes longer than the
    next message is away, the queue grows without end, and whatever else waits in it (joint
    states, ticks, services) comes later and later. So work that fills more than half of the time
    goes to the end of the queue, one piece at a time, and what is newer takes its place there.

    Parameters
    ----------
    node : Node
        Its executor has the queue.

    """

    def __init__(self, node: Node) -> None:
        self._node = node
        self._waiting: dict[Hashable, Callable[[], None]] = {}
        """The newest work of each kind that waits for its turn, the oldest first."""
        self._end, self._excess = -math.inf, 0.0
        """End of the last work, by a steady clock, and what exceeded half of the time [s]."""

    def take(self, kind: Hashable, work: Callable[[], None]) -> None:
        """Do some work now, or once what came before it is done, unless it is superseded."""
        is_much = self._excess - (time.perf_counter() - self._end) > LEEWAY
        if not (is_much or self._waiting) or self._node.executor is None:
            self._do(work)
            return
        if not self._waiting:
            self._ask_for_a_turn()
        self._waiting.pop(kind, None)
        self._waiting[kind] = work

    def _ask_for_a_turn(self) -> None:
        self._node.executor.create_task(self._take_turn)

    def _take_turn(self) -> None:
        work = self._waiting.pop(next(iter(self._waiting)))
        if self._waiting:
            self._ask_for_a_turn()
        self._do(work)

    def _do(self, work: Callable[[], None]) -> None:
        begin = time.perf_counter()
        try:
            work()
        finally:
            left = max(0.0, self._excess - (begin - self._end))
            self._end = time.perf_counter()
            self._excess = left + self._end - begin
