"""The executor that runs the callbacks of the node."""

from rclpy.executors import Executor, SingleThreadedExecutor

try:
    from rclpy.experimental import EventsExecutor
except ImportError:  # before Jazzy
    EventsExecutor = None


def make_executor() -> Executor:
    """
    Return an executor that runs all callbacks in one thread, the fastest there is.

    The usual executor builds a wait set of all entities twice for every callback; that takes
    longer than solving. The events executor gets a list of what happened. It sets handlers of its
    own for SIGINT and SIGTERM, whatever the options of `rclpy.init`: set others after making it.
    """
    return SingleThreadedExecutor() if EventsExecutor is None else EventsExecutor()
