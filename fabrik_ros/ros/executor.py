"""What runs the callbacks of the node."""

from rclpy.executors import Executor, SingleThreadedExecutor

try:
    from rclpy.experimental import EventsExecutor
except ImportError:  # before Jazzy
    EventsExecutor = None


def make_executor() -> Executor:
    """
    Return an executor that runs all callbacks in one thread, the fastest there is.

    The usual one builds a set of all that might happen, twice for every callback; that takes
    longer than solving. The other is told what has happened. It sets handlers of its own for
    SIGINT and SIGTERM, whatever `rclpy.init` was told: who has others sets them afterwards.
    """
    return SingleThreadedExecutor() if EventsExecutor is None else EventsExecutor()
