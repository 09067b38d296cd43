"""A node of one's own that is spun in the background, and a way to stop an arm without any."""

import atexit
from contextlib import suppress
import itertools
import math
import os
import threading
import time

import rclpy
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.task import Future
from std_srvs.srv import Trigger

NAMES = (f'fabrik_commander_{os.getpid()}_{number}' for number in itertools.count(1))
"""Names of nodes that nobody else has on this machine."""
RESCUE_TIME, ASKING_PERIOD = 6.0, 1.0
"""Longest wait for an answer, and time after which a service is asked again [s]."""


class OwnNode:
    """
    A node in a context of its own: it minds neither `rclpy.init` nor signals.

    Make what listens on its behalf first, then start it: no callback comes before all is there.
    Or spin it in the thread that made it, where its callbacks may raise.

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
        self.node = _create_node(self._context, namespace)
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self.node)
        self._thread = threading.Thread(target=self._spin, name=self.node.get_name(), daemon=True)
        # An interrupt may come before anybody has this object to close it.
        atexit.register(self.close)

    def start(self) -> None:
        """Take messages from now on, in a thread."""
        self._thread.start()

    def spin_once(self, longest: float) -> bool:
        """Handle what comes next, within a time [s]; False once there is nothing to spin."""
        try:
            self._executor.spin_once(timeout_sec=longest)
        except ExternalShutdownException:
            return False
        return self._context.ok()

    def _spin(self) -> None:
        with suppress(ExternalShutdownException):
            self._executor.spin()

    def close(self) -> None:
        """Leave the network."""
        atexit.unregister(self.close)
        self._executor.shutdown()
        if self._thread.ident is not None:
            self._thread.join()
        self.node.destroy_node()
        rclpy.try_shutdown(context=self._context)


def stop_from_outside(name: str, domain_id: int) -> bool:
    """Stop the arm of a node from a context that is there only for that; tell whether it does."""
    context = rclpy.Context()
    rclpy.init(args=[], context=context, domain_id=domain_id)
    node = _create_node(context)
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(node)
    calls: list[Future[Trigger.Response]] = []
    asked_at, deadline = -math.inf, time.monotonic() + RESCUE_TIME
    try:
        client = node.create_client(Trigger, f'{name}/stop')
        while time.monotonic() < deadline and not any(call.done() for call in calls):
            if client.service_is_ready() and time.monotonic() - asked_at > ASKING_PERIOD:
                asked_at = time.monotonic()
                calls.append(client.call_async(Trigger.Request()))
            executor.spin_once(timeout_sec=0.02)
        return any(call.done() and call.result().success for call in calls)
    finally:
        executor.shutdown()
        node.destroy_node()
        rclpy.try_shutdown(context=context)


def _create_node(context: rclpy.Context, namespace: str = '') -> Node:
    return rclpy.create_node(
        next(NAMES),
        namespace=namespace,
        context=context,
        enable_rosout=False,
        start_parameter_services=False,
    )
