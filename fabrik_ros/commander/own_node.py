"""A node of one's own that is spun in the background, and a way to stop an arm without any."""

from contextlib import suppress
import threading
import time

import rclpy
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from std_srvs.srv import Trigger

NAME = 'fabrik_commander'
RESCUE_TIME = 2.0
"""Longest search for a service, and longest wait for its answer [s]."""


class OwnNode:
    """
    A node in a context of its own: it minds neither `rclpy.init` nor signals.

    Parameters
    ----------
    namespace : str
        Where the node is.

    Attributes
    ----------
    node : Node
        The node.

    """

    def __init__(self, namespace: str) -> None:
        self._context = rclpy.Context()
        rclpy.init(args=[], context=self._context)
        self.node = rclpy.create_node(NAME, namespace=namespace, context=self._context)
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self.node)
        self._thread = threading.Thread(target=self._spin, name=NAME, daemon=True)
        self._thread.start()

    def _spin(self) -> None:
        with suppress(ExternalShutdownException):
            self._executor.spin()

    def close(self) -> None:
        """Leave the network."""
        self._executor.shutdown()
        self._thread.join()
        self.node.destroy_node()
        rclpy.try_shutdown(context=self._context)


def stop_from_outside(name: str, domain_id: int) -> bool:
    """Stop the arm of a node from a context that is there only for that; tell whether it does."""
    context = rclpy.Context()
    rclpy.init(args=[], context=context, domain_id=domain_id)
    node = rclpy.create_node(NAME, context=context)
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(node)
    try:
        client = node.create_client(Trigger, f'{name}/stop')
        deadline = time.monotonic() + RESCUE_TIME
        while not client.service_is_ready() and time.monotonic() < deadline:
            executor.spin_once(timeout_sec=0.02)
        call = client.call_async(Trigger.Request())
        executor.spin_until_future_complete(call, timeout_sec=RESCUE_TIME)
        return call.done() and call.result().success
    finally:
        executor.shutdown()
        node.destroy_node()
        rclpy.try_shutdown(context=context)
