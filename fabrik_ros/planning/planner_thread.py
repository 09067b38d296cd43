"""
A planner in a thread of its own, so that callers never wait.

What takes time runs in kernels that let other threads run. What is left of Python, and
measurements by coal, make room for others every fifth of a millisecond: from the interpreter they
would get it after five. So the steps of a control loop are as punctual beside it as without; see
`benchmark/node/planning_beside.py`. A process would have an interpreter, the robot and its meshes
once more.

"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from queue import SimpleQueue
import threading
import time
import weakref

import numpy as np

from ..collision.point_cells import PointCells
from ..collision.scene import Scene
from ..collision.self_collision import SelfCollision
from ..errors import FabrikError
from ..kernels.separation import Indices
from .plan_request import PlanRequest
from .plan_result import Plan
from .planner import Planner
from .planner_setup import PlannerSetup

NOT_STARTED = 'the planner was not started'
TURN = 2e-4
"""Time for which Python of the planner runs before others may [s]."""
PAUSE = 1e-6
"""Pause for them; any pause lets one that waits run first [s]."""
ENDING_TIME = 1.0
"""Longest wait for the thread to end; it takes milliseconds, but while it compiles [s]."""


class PlannerState(Enum):
    """
    State of a planner in its thread.

    Attributes
    ----------
    OFF
        It was not started, or is closed.
    STARTING
        It compiles and loads; a request waits.
    READY
        It waits for a request.
    PLANNING
        It looks for a way.
    IMPOSSIBLE
        It cannot plan for this arm.

    """

    OFF = 'off'
    STARTING = 'starting'
    READY = 'ready'
    PLANNING = 'planning'
    IMPOSSIBLE = 'impossible'


@dataclass(frozen=True)
class PlannerFailure:
    """
    Failure of a request, which has no answer, or of the planner.

    Attributes
    ----------
    text : str
        What went wrong, for people.
    is_restarting : bool
        Whether the planner has failed and is made anew; if not, the request makes no sense.

    """

    text: str
    is_restarting: bool


@dataclass(frozen=True, eq=False)
class Task:
    """A request with the world that it is for."""

    request: PlanRequest
    scene: Scene
    points: Mapping[str, PointCells]
    """Cells that sensors have measured, by frame."""
    other_joints: Mapping[str, float]
    """Values of joints outside the arm [rad or m]."""
    stop: Indices = field(default_factory=lambda: np.zeros(1, dtype=np.int64))
    """Other than 0 once its answer is not wanted any more, shape (1,); kernels look at it."""


class PlannerThread:
    """
    Hands requests to a planner in another thread; no call waits for it.

    At most one request is under way. A new one replaces it, and the result of the old one never
    comes.

    """

    def __init__(self) -> None:
        self._setup: PlannerSetup | None = None
        self._own: SelfCollision | None = None
        self._worker: PlannerWorker | None = None
        self._wanted: Task | None = None
        """The task whose answer is wanted."""
        self._asked_at = 0.0
        self._without, self._reason = PlannerState.OFF, NOT_STARTED
        """State without a worker, and why there is none."""

    @property
    def state(self) -> PlannerState:
        """State of the planner."""
        if self._worker is None:
            return self._without
        if not self._worker.is_ready:
            return PlannerState.STARTING
        return PlannerState.READY if self._wanted is None else PlannerState.PLANNING

    @property
    def is_busy(self) -> bool:
        """Whether a request is under way, or waits for the planner to start."""
        return self._wanted is not None

    @property
    def time_passed(self) -> float:
        """Time since the request that is under way [s]; 0 without one."""
        return 0.0 if self._wanted is None else time.monotonic() - self._asked_at

    def start(self, setup: PlannerSetup, own: SelfCollision | None = None) -> None:
        """
        Start a planner for an arm; one that runs already is closed before.

        Parameters
        ----------
        setup : PlannerSetup
            The arm.
        own : SelfCollision, optional
            Its pairs of links, where they are known: to find them takes a second or more.

        """
        self.close()
        self._setup, self._own = setup, own
        self._begin()

    def request(
        self,
        request: PlanRequest,
        scene: Scene | None = None,
        points: Mapping[str, PointCells] | None = None,
        other_joints: Mapping[str, float] | None = None,
    ) -> None:
        """
        Ask for a way; `poll` returns it.

        Parameters
        ----------
        request : PlanRequest
            From where to where. Its planning time begins when the planner takes it up.
        scene : Scene, optional
            The obstacles.
        points : mapping, optional
            Cells that sensors have measured, by frame.
        other_joints : mapping, optional
            Values of joints outside the arm [rad or m].

        """
        self.cancel()
        self._wanted = Task(
            request, scene or Scene(), dict(points or {}), dict(other_joints or {})
        )
        self._asked_at = time.monotonic()
        if self._worker is not None:
            self._worker.tasks.put(self._wanted)

    def cancel(self) -> None:
        """Leave the request that is under way; its result never comes."""
        if self._wanted is not None:
            self._wanted.stop[0] = 1
            self._wanted = None

    def poll(self) -> Plan | PlannerFailure | None:
        """
        Return what has come of the request, or that the planner failed; None where nothing has.

        A planner that failed is made anew.
        """
        worker = self._worker
        if worker is None:
            return self._refused()
        while not worker.answers.empty():
            task, answer = worker.answers.get()
            if task is self._wanted:
                self._wanted = None
                return answer
        failure = worker.failure
        if failure is None:
            return None
        self._wanted = None
        self._leave(worker)
        if failure.is_restarting:
            self._begin()
        else:
            self._without, self._reason = PlannerState.IMPOSSIBLE, failure.text
        return failure

    def close(self) -> None:
        """Let the thread end; no call waits for that."""
        self.cancel()
        if self._worker is not None:
            self._leave(self._worker)
        self._without, self._reason = PlannerState.OFF, NOT_STARTED

    def _begin(self) -> None:
        assert self._setup is not None
        self._worker = PlannerWorker(self._setup, self._own)
        self._forgotten = weakref.finalize(self, self._worker.close)

    def _leave(self, worker: PlannerWorker) -> None:
        self._forgotten.detach()
        worker.end()
        self._worker = None

    def _refused(self) -> PlannerFailure | None:
        """Say why nobody looks for a way, if one is wanted."""
        if self._wanted is None:
            return None
        self._wanted = None
        return PlannerFailure(self._reason, False)


class PlannerWorker:
    """
    Makes a planner and answers tasks one after the other, in a thread.

    Parameters
    ----------
    setup : PlannerSetup
        The arm.
    own : SelfCollision or None
        Its pairs of links, where they are known.

    Attributes
    ----------
    tasks, answers : SimpleQueue
        The tasks, and their answers with them; None in the place of a task ends the thread.
    is_ready : bool
        Whether the planner is made.
    failure : PlannerFailure or None
        Why the thread has ended, if it failed.

    """

    def __init__(self, setup: PlannerSetup, own: SelfCollision | None) -> None:
        self.tasks: SimpleQueue[Task | None] = SimpleQueue()
        self.answers: SimpleQueue[tuple[Task, Plan | PlannerFailure]] = SimpleQueue()
        self.is_ready = False
        self.failure: PlannerFailure | None = None
        self._setup, self._own = setup, own
        self._is_closed, self._turn_ends = False, 0.0
        self._thread = threading.Thread(target=self._run, name='planner', daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Let the thread end soon, and what it does."""
        self._is_closed = True
        self.tasks.put(None)

    def close(self) -> None:
        """End the thread, and wait until it has."""
        self.end()
        if self._thread is not threading.current_thread():
            self._thread.join(ENDING_TIME)

    def _run(self) -> None:
        try:
            self._make()
        except FabrikError as error:
            self.failure = PlannerFailure(str(error), False)
            return
        except BaseException as error:
            self.failure = PlannerFailure(f'the planner cannot be made: {error!r}', False)
            raise
        try:
            while (task := self.tasks.get()) is not None:
                if not task.stop[0]:
                    self.answers.put((task, self._answer(task)))
        except BaseException as error:
            self.failure = PlannerFailure(
                f'the planner failed: {error!r}; it is started again', True
            )
            raise

    def _make(self) -> None:
        setup = self._setup
        self._world = setup.world(Scene(), self._own)
        self._planner = Planner(setup.arm, self._world, setup.options, setup.tips)
        self._planner.warm_up()
        self.is_ready = True

    def _answer(self, task: Task) -> Plan | PlannerFailure:
        try:
            self._world.set_scene(task.scene)
            for frame in {**self._world.points, **task.points}:
                self._world.set_points(frame, task.points.get(frame))
            self._world.set_other_joints(task.other_joints)
            return self._planner.plan(task.request, lambda: self._should_stop(task), task.stop)
        except (FabrikError, ValueError) as error:
            return PlannerFailure(str(error), False)

    def _should_stop(self, task: Task) -> bool:
        """Whether the task is to end; makes room for other threads, where it is their turn."""
        if time.perf_counter() >= self._turn_ends:
            time.sleep(PAUSE)
            self._turn_ends = time.perf_counter() + TURN
        return self._is_closed or bool(task.stop[0])
