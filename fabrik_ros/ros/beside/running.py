"""Main loop of executables whose node has nothing to bring to rest."""

from collections.abc import Callable
from contextlib import suppress
import os
import signal

import rclpy
from rclpy.executors import ExternalShutdownException
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions

from ...errors import FabrikError, shown
from ..parameters.ros_arguments import init, WRONG_USE

RCLError = rclpy_implementation.RCLError


def run(
    make_node: Callable[[], Node], args: list[str] | None = None, has_last_words: bool = False
) -> None:
    """
    Run a node until it is interrupted; errors end the process with one line and code 1 or 2.

    Code 2 stands for a name of a node or topic that is none.

    Parameters
    ----------
    make_node : callable
        Makes the node.
    args : list of str, optional
        As `sys.argv`, which is taken where they are left out.
    has_last_words : bool
        Whether it publishes as it is destroyed: rclpy is left to work until then. Such a node
        needs a timer, by which it notices that it was interrupted.

    """
    node = None
    try:
        if has_last_words:
            init(args, signal_handler_options=SignalHandlerOptions.NO)
            signal.signal(signal.SIGTERM, signal.default_int_handler)
        else:
            init(args)
        _take_a_hang_up_as_interrupt()
        node = make_node()
        rclpy.spin(node)
    except (KeyboardInterrupt, ExternalShutdownException):
        pass
    except RCLError:
        if rclpy.ok():
            raise
        # It was interrupted while the node was made: nothing can be added to it any more.
    except (FabrikError, rclpy.exceptions.ParameterException) as error:
        rclpy.logging.get_logger('fabrik_ros').fatal(str(error))
        raise SystemExit(1) from error
    except rclpy.exceptions.NameValidationException as error:
        what, name, *_ = map(str.strip, str(error).splitlines())
        rclpy.logging.get_logger('fabrik_ros').fatal(f'{what} {shown(name)}')
        raise SystemExit(WRONG_USE) from error
    finally:
        # A second interrupt, as a terminal and `ros2 launch` send one each, changes nothing.
        with suppress(KeyboardInterrupt):
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            if has_last_words:
                signal.signal(signal.SIGTERM, signal.SIG_IGN)
        if node is not None:
            node.destroy_node()
        rclpy.try_shutdown()


def _take_a_hang_up_as_interrupt() -> None:
    """Leave the network in order when the terminal is closed, unless nohup shields from that."""
    hang_up = getattr(signal, 'SIGHUP', None)
    if hang_up is not None and signal.getsignal(hang_up) is not signal.SIG_IGN:
        signal.signal(hang_up, lambda number, frame: os.kill(os.getpid(), signal.SIGINT))
