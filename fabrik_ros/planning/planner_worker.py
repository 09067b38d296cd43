"""
Main program of the process of the planner.

It makes the planner of one arm, says that it is ready, and answers requests one after the other. A
message that comes while it plans ends that. It ends when the process that started it does.

"""

from collections.abc import Mapping
from dataclasses import dataclass
import os
import select
import signal
import socket
import sys
import threading
import time
from typing import Any

from ..collision.point_cells import PointCells
from ..collision.scene import Obstacle, Scene
from ..errors import FabrikError
from .message_channel import MessageChannel
from .plan_request import PlanRequest
from .plan_result import Plan
from .planner import Planner
from .planner_setup import PlannerSetup

LOOK_INTERVAL = 0.002
"""Time between two looks for messages while it plans [s]."""
NICENESS = 5
"""Niceness of the process: it gives way to the control loop [1]."""


@dataclass(frozen=True, eq=False)
class Task:
    """A request with the world that it is for."""

    number: int
    request: PlanRequest
    scene: Scene
    points: Mapping[str, PointCells]
    """Cells that sensors have measured, by frame."""
    other_joints: Mapping[str, float]
    """Values of joints outside the arm [rad or m]."""


@dataclass(frozen=True)
class Ready:
    """The planner waits for tasks."""


@dataclass(frozen=True)
class Stop:
    """A request to the planner to abandon its task."""


@dataclass(frozen=True, eq=False)
class Answer:
    """Answer to a task."""

    number: int
    plan: Plan | None
    """None where the task makes no sense."""
    error: str = ''
    """Reason why the task makes no sense."""


@dataclass(frozen=True)
class CannotPlan:
    """Message that there is no planner for this arm, and will not be."""

    reason: str


class PlannerWorker:
    """
    Answers the tasks of another process.

    Parameters
    ----------
    channel : MessageChannel
        To that process. The first message is a `PlannerSetup`, the others are tasks.

    """

    def __init__(self, channel: MessageChannel) -> None:
        self._channel = channel
        self._waiting = select.poll()
        self._waiting.register(channel.fileno(), select.POLLIN)
        self._next_look = 0.0

    def run(self) -> None:
        """Answer until the other process is gone."""
        try:
            setup: PlannerSetup = self._received()
            try:
                self._make(setup)
            except FabrikError as error:
                self._send(CannotPlan(str(error)))
                return
            self._send(Ready())
            while True:
                message = self._received()
                if isinstance(message, Task):
                    self._send(self._answer(message))
        except (EOFError, ConnectionError):
            return

    def _make(self, setup: PlannerSetup) -> None:
        self._world = setup.world(Scene())
        self._planner = Planner(setup.arm, self._world, setup.options, setup.tips)
        self._planner.warm_up()

    def _answer(self, task: Task) -> Answer:
        try:
            self._world.set_scene(self._with_known(task.scene))
            for frame in {**self._world.points, **task.points}:
                self._world.set_points(frame, task.points.get(frame))
            self._world.set_other_joints(task.other_joints)
            return Answer(task.number, self._planner.plan(task.request, self._should_stop))
        except (FabrikError, ValueError) as error:
            return Answer(task.number, None, str(error))

    def _with_known(self, scene: Scene) -> Scene:
        """Put obstacles that are known in the place of their copies: these are loaded already."""
        known = {_parts(obstacle): obstacle for obstacle in self._world.scene}
        return Scene(known.get(_parts(obstacle), obstacle) for obstacle in scene)

    def _should_stop(self) -> bool:
        """Whether a message has come, or the other process is gone."""
        now = time.monotonic()
        if now < self._next_look:
            return False
        if self._channel.has_more or self._waiting.poll(0):
            return True
        self._next_look = now + LOOK_INTERVAL
        return False

    def _received(self) -> Any:
        """Wait for the next message."""
        while (message := self._channel.receive()) is None:
            self._waiting.poll()
        return message

    def _send(self, message: object) -> None:
        self._channel.send(message)
        while not self._channel.flush():
            select.select([], [self._channel], [])


def _parts(obstacle: Obstacle) -> tuple[object, ...]:
    """Return all that an obstacle consists of; a copy consists of the same."""
    pose = obstacle.T_link_obstacle.tobytes()
    return obstacle.name, obstacle.shape, pose, obstacle.link, obstacle.touch_links


def main() -> None:
    """Run a worker on the sockets whose descriptors are the first two arguments."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    channel_descriptor, lifeline_descriptor = map(int, sys.argv[1:3])
    lifeline = socket.socket(fileno=lifeline_descriptor)
    threading.Thread(target=_end_with, args=(lifeline,), daemon=True).start()
    os.nice(NICENESS)
    PlannerWorker(MessageChannel(socket.socket(fileno=channel_descriptor))).run()
    os._exit(0)  # whatever compiles or searches still


def _end_with(lifeline: socket.socket) -> None:
    """End this process with the one that holds the other end, also while numba compiles."""
    lifeline.recv(1)
    os._exit(0)
