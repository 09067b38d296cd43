"""A node in a process of its own, and an arm in simulated time that goes as fast as both can."""

from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
import os
from pathlib import Path
import threading
import time
from typing import Any, NamedTuple

from bench import JOINTS, START
from diagnostic_msgs.msg import DiagnosticArray
from hostile_scene import BEST_EFFORT, LATCHED
from node_process import NodeProcess
import numpy as np
import rclpy
from rclpy.context import Context
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool, String

STEP = 0.02
"""Simulated time between two joint states [s]."""
BEGIN = 1000.0
READY_STEPS = 20
"""Steps between two messages about whether the arm is ready."""
LAG, SAG, NOISE = 0.05, 2e-3, 1e-4
"""Time constant of the joints [s], how far they stay off, and noise of what is measured [rad]."""
STREAM_STEPS = 5
"""Commands that are farther apart are none of one motion [steps]."""
PATIENCE = 0.1
"""Longest wait of the clock for the next command of a motion [s]."""
LATE, GONE = 0.25, 1.0
"""
A node whose last status is that old is busy: the clock waits for it, until it is that old [s].
"""
LOOK_BACK = 1.0
"""Time for which it is known where the arm was [s]."""


class Moment(NamedTuple):
    """Where the arm was, and when by a steady clock [s]."""

    at: float
    q: np.ndarray


class PacedWorld:
    """
    An arm that lags, sags and trembles, with the clock of its node; it shares no code with it.

    Parameters
    ----------
    domain_id : int
        Its ROS domain.
    folder : Path
        For what the node says.
    urdf : str
        Of the six-axis arm.
    parameters : mapping
        What the node is started with, beside what it needs here.

    Attributes
    ----------
    namespace : str
        Where the node is.
    pace : float
        Simulated time in a second, at most; 0: the clock stands.
    speaks, is_ready : bool
        Whether joint states come, and whether the arm says that it is ready.
    time : float
        Simulated time [s].
    pushed_at : float
        When somebody moved the arm last, by a steady clock [s].

    """

    def __init__(
        self, domain_id: int, folder: Path, urdf: str, parameters: Mapping[str, Any]
    ) -> None:
        self.namespace = f'/moves_{os.getpid()}'
        self.pace, self.speaks, self.is_ready = 10.0, True, True
        self.time, self.pushed_at = BEGIN, -np.inf
        self._given = {**parameters, 'use_sim_time': True, 'ready_topic': 'ready'}
        self._domain_id, self._folder = domain_id, folder
        self._context = Context()
        rclpy.init(context=self._context, domain_id=domain_id)
        node = rclpy.create_node('paced', namespace=self.namespace, context=self._context)
        self._node = node
        self._commands = node.create_subscription(
            JointState, 'fabrik/joint_command', lambda message: None, 1000
        )
        self._statuses = node.create_subscription(
            DiagnosticArray, 'fabrik/status', lambda message: None, 10
        )
        self._told_at = -np.inf
        """When the last status came, by a steady clock [s]."""
        self._clock = node.create_publisher(Clock, 'clock', BEST_EFFORT)
        self._states = node.create_publisher(JointState, 'joint_states', 10)
        self._ready = node.create_publisher(Bool, 'ready', 1)
        self._descriptions = node.create_publisher(String, 'robot_description', LATCHED)
        self._descriptions.publish(String(data=urdf))
        self._q, self._told = np.array(START), np.array(START)
        self._last = 0.0
        """Stamp of the newest command [s]."""
        self._rng = np.random.default_rng(domain_id)
        self._past: deque[Moment] = deque()
        self._push: np.ndarray | None = None
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._run, name='paced_world')
        self._thread.start()
        self.node = self._begin()

    def _begin(self) -> NodeProcess:
        names = {'__ns': self.namespace, '/clock': f'{self.namespace}/clock'}
        return NodeProcess(self._domain_id, self._folder, self._given, names)

    def restart(self, number: int) -> None:
        """End the node by a signal, and start another."""
        self.node.end(number)
        self.node = self._begin()

    def close(self) -> None:
        self._ends.set()
        self._thread.join()
        self.node.end()
        self._node.destroy_node()
        rclpy.try_shutdown(context=self._context)

    def push(self, by: np.ndarray) -> None:
        """Move the arm by hand at the next step, so far from where it is [rad]."""
        self._push = by

    def moments(self, since: float) -> list[np.ndarray]:
        """Where the arm was from a time by a steady clock [s] on, and just before."""
        past = list(self._past)
        first = sum(moment.at < since for moment in past)
        return [moment.q for moment in past[max(0, first - 1) :]]

    def wait(self, seconds: float) -> None:
        """Let simulated time pass [s]."""
        until = self.time + seconds
        while self.time < until:
            if not self._thread.is_alive():
                raise RuntimeError('the world has ended')
            time.sleep(STEP)

    @property
    def q(self) -> np.ndarray:
        """Where the arm is [rad]."""
        return self._past[-1].q

    # -- time passes

    def _run(self) -> None:
        steps, due = 0, time.monotonic()
        while not self._ends.is_set():
            if (pace := self.pace) <= 0.0:
                time.sleep(STEP)
                due = time.monotonic()
                continue
            self._step(steps)
            steps += 1
            due = max(due + STEP / pace, time.monotonic() - STEP)
            while (now := time.monotonic()) < due or self._is_awaited(now - due):
                time.sleep(2e-4)
                self._hear()

    def _is_awaited(self, waited: float) -> bool:
        """Whether the next command of a motion is to come yet, or the node is busy."""
        since = self.time - self._last
        is_moving = 2.0 * STEP < since < STREAM_STEPS * STEP and waited < PATIENCE
        return is_moving or LATE < time.monotonic() - self._told_at < GONE

    def _step(self, number: int) -> None:
        self._hear()
        self.time += STEP
        self._q += (1.0 - np.exp(-STEP / LAG)) * (self._told + SAG - self._q)
        if self._push is not None:
            self._q, self._push, self.pushed_at = self._q + self._push, None, time.monotonic()
            self._told = self._q - SAG
        now = time.monotonic()
        self._past.append(Moment(now, self._q.copy()))
        while self._past[0].at < now - LOOK_BACK and len(self._past) > 2:
            self._past.popleft()
        clock = Clock()
        clock.clock.sec, clock.clock.nanosec = divmod(round(1e9 * self.time), 10**9)
        self._clock.publish(clock)
        if self.speaks:
            measured = self._q + self._rng.normal(0.0, NOISE, len(JOINTS))
            state = JointState(name=list(JOINTS), position=measured.tolist())
            state.header.stamp = clock.clock
            self._states.publish(state)
        if number % READY_STEPS == 0:
            self._ready.publish(Bool(data=self.is_ready))

    def _hear(self) -> None:
        """Take all commands that have come: the arm goes to the newest; and the statuses."""
        while self._statuses.handle.take_message(DiagnosticArray, False) is not None:
            self._told_at = time.monotonic()
        while (taken := self._commands.handle.take_message(JointState, False)) is not None:
            message = taken[0]
            stamp = message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec
            self._last, self._told = stamp, np.array(message.position)


@contextmanager
def a_paced_world(
    domain_id: int, folder: Path, urdf: str, **parameters: Any
) -> Iterator[PacedWorld]:
    """Have a world, and everything put away afterwards."""
    world = PacedWorld(domain_id, folder, urdf, parameters)
    try:
        yield world
    finally:
        world.close()
