"""The executor that runs the callbacks of the node."""

from rclpy.context import Context
from rclpy.executors import Executor, SingleThreadedExecutor

try:
    from rclpy.experimental import EventsExecutor
except ImportError:  # older releases of Jazzy
    EventsExecutor = None


def make_executor(context: Context | None = None) -> Executor:
    """
    Return an executor that runs all callbacks of a context in one thread, the fastest there is.

    The usual executor builds a wait set of all entities twice for every callback; that takes
    longer than solving. The events executor gets a list of what happened. It sets handlers of its
    own for SIGINT and SIGTERM, whatever the options of `rclpy.init`: set others after making it.
    """
    return (EventsExecutor or SingleThreadedExecutor)(context=context)
