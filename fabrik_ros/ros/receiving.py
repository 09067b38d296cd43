"""The time at which a message was received: long before its callback, if the node was busy."""

from collections.abc import Callable
import inspect
import time
from typing import Any, TypeVar

M = TypeVar('M')
WITH_INFO = inspect.signature(lambda message, info: None)


def with_receipt(callback: Callable[[M, int], None]) -> Callable[..., None]:
    """
    Make a callback for rclpy of one that takes a message and the time it was received.

    That is system time [ns], whatever the clock of ROS shows, and the present time where the
    middleware gives none. `EventsExecutor` hands over message and info as one argument.
    """

    def take(*received: Any) -> None:
        message, info = received if len(received) == 2 else received[0]
        callback(message, info['received_timestamp'] or time.time_ns())

    # The signature by which rclpy passes the info.
    vars(take)['__signature__'] = WITH_INFO
    return take


def age_of(received: int) -> int:
    """Age of something `received` at a system time [ns]; 0 if the clock was set back since."""
    return max(0, time.time_ns() - received)
