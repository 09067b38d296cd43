"""The process of the node: signals, and spinning until it is told to stop."""

from . import one_heap  # noqa: F401 - before rclpy

# isort: split

from collections.abc import Callable
from contextlib import suppress
import json
import signal
from types import FrameType

import rclpy
from rclpy.clock import Clock, ClockType
from rclpy.exceptions import InvalidHandle
from rclpy.executors import Executor, ExternalShutdownException
from rclpy.parameter import Parameter
from rclpy.signals import SignalHandlerOptions
from rclpy.task import Future

from ..collision.meshes import folders_beside
from ..errors import FabrikError
from ..model.robot import Robot
from .executor import make_executor
from .node import FabrikNode
from .parameters.ros_arguments import init

STOP_CHECK_PERIOD = 0.05
"""Time between two looks whether the node is to stop [s]."""
SPIN_TIME = 60.0
"""Longest spin of the executor before it is called again [s]."""


def main(args: list[str] | None = None, robot: Robot | None = None) -> None:
    """
    Run the node until it is told to stop; the arm is brought to rest first.

    Parameters
    ----------
    args : list of str, optional
        As `sys.argv`, which is taken where they are left out.
    robot : Robot, optional
        Read from a file; its description counts instead of that of the parameter or the topic.

    """
    asked_to_stop = False
    node: FabrikNode | None = None

    def ask_to_stop(signum: int, frame: FrameType | None) -> None:
        nonlocal asked_to_stop
        asked_to_stop = True
        if node is not None and node.node_state.is_preparing:
            raise KeyboardInterrupt

    overrides = []
    if robot is not None:
        overrides = [Parameter('robot_description', value=robot.source)]
        args = [*_mesh_paths(robot.folder), *(args or [])]
    init(args, signal_handler_options=SignalHandlerOptions.NO)
    _on_signals(ask_to_stop)
    try:
        node = FabrikNode(parameter_overrides=overrides)
        executor = make_executor()
        # From here on, as the executor has taken the signals for itself.
        _on_signals(ask_to_stop)
        try:
            _spin(executor, node, lambda: asked_to_stop)
        finally:  # an error, too, must not leave the arm at speed
            node.interrupt()
    except (ExternalShutdownException, KeyboardInterrupt):
        pass
    except (FabrikError, rclpy.exceptions.ParameterException) as error:
        rclpy.logging.get_logger('fabrik').fatal(str(error))
        raise SystemExit(1) from error
    finally:
        # A second interrupt must not kill the process before it has taken leave of the network.
        _on_signals(signal.SIG_IGN)
        if node is not None:
            node.destroy_node()
        rclpy.try_shutdown()


def _mesh_paths(folder: str) -> list[str]:
    """Make arguments by which meshes are found beside a URDF; later arguments win over them."""
    return ['--ros-args', '-p', f'mesh_paths:={json.dumps(folders_beside(folder))}', '--']


def _on_signals(
    handler: Callable[[int, FrameType | None], None] | signal.Handlers,
) -> None:
    """Handle what asks a process to stop; a hang-up only where nohup does not shield from it."""
    signal.signal(signal.SIGINT, handler)
    signal.signal(signal.SIGTERM, handler)
    hang_up = getattr(signal, 'SIGHUP', None)
    if hang_up is not None and signal.getsignal(hang_up) is not signal.SIG_IGN:
        signal.signal(hang_up, handler)


def _spin(executor: Executor, node: FabrikNode, should_stop: Callable[[], bool]) -> None:
    """
    Run the callbacks of a node until it should stop.

    A timer looks whether it should: returning from the executor after each callback would take
    as long as some of them. Handlers of signals must not end it: they might interrupt the thread
    while it holds the lock of the future.
    """
    end: Future[None] = Future()

    def look() -> None:
        if should_stop():
            end.set_result(None)

    node.create_timer(STOP_CHECK_PERIOD, look, clock=Clock(clock_type=ClockType.STEADY_TIME))
    executor.add_node(node)
    while not end.done() and rclpy.ok():
        # Events may wait for what was removed meanwhile: rclpy's other executors go on, too.
        with suppress(InvalidHandle):
            # With no timeout at all, the EventsExecutor of rclpy 9.1.2 never runs a callback.
            executor.spin_until_future_complete(end, SPIN_TIME)


if __name__ == '__main__':
    main()
