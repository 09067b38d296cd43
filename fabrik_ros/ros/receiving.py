"""When a message was received: long before its turn comes, where the node was busy."""

from collections.abc import Callable
import inspect
import time
from typing import Any, TypeVar

M = TypeVar('M')
OF_TWO = inspect.signature(lambda message, info: None)


def with_receipt(callback: Callable[[M, int], None]) -> Callable[..., None]:
    """
    Make a callback for rclpy of one that takes a message and when it was received.

    That is system time [ns], whatever the clock of ROS shows; the present, where the middleware
    does not tell. `EventsExecutor` hands over message and info as one argument.
    """

    def take(*received: Any) -> None:
        message, info = received if len(received) == 2 else received[0]
        callback(message, info['received_timestamp'] or time.time_ns())

    # By this rclpy knows that the info is wanted.
    vars(take)['__signature__'] = OF_TWO
    return take


def age_of(received: int) -> int:
    """Time since then [ns]; 0 where the clock was set back."""
    return max(0, time.time_ns() - received)
