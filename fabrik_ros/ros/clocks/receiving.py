"""The time at which a message was received: long before its callback, if the node was busy."""

from collections.abc import Callable, Mapping
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
    return _with_info(lambda message, info: callback(message, _receipt(info)))


def with_source_time(callback: Callable[[M, int], None]) -> Callable[..., None]:
    """Make a callback of one that takes a message and the system time it was sent [ns]."""
    return _with_info(
        lambda message, info: callback(message, info['source_timestamp'] or _receipt(info))
    )


def _receipt(info: Mapping[str, int]) -> int:
    """System time at which a message was received [ns]."""
    return info['received_timestamp'] or time.time_ns()


def _with_info(callback: Callable[[Any, Mapping[str, int]], None]) -> Callable[..., None]:
    def take(*received: Any) -> None:
        callback(*(received if len(received) == 2 else received[0]))

    # The signature by which rclpy passes the info.
    vars(take)['__signature__'] = WITH_INFO
    return take


def hear_waiting(subscription: Any) -> None:
    """Hand all messages that wait at a subscription to its callback, before their turn."""
    while True:
        with subscription.handle:
            found = subscription.handle.take_message(subscription.msg_type, subscription.raw)
        if found is None:
            return
        subscription.callback(found)


def age_of(received: int) -> int:
    """Age of something `received` at a system time [ns]; 0 if the clock was set back since."""
    return max(0, time.time_ns() - received)
