"""
A planner in its own process, so that callers never wait; a thread would delay a control loop.

The process is a fresh interpreter that imports this package alone, so it does not matter what
else the caller has loaded, which threads it has, or what its main module is.

"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
import socket
import subprocess
import sys
import time

from ..collision.point_cells import PointCells
from ..collision.scene import Scene
from .message_channel import MessageChannel
from .plan_request import PlanRequest
from .plan_result import Plan
from .planner_setup import PlannerSetup
from .planner_worker import Answer, CannotPlan, Ready, Stop, Task

COMMAND = (
    'import sys; sys.path[:] = sys.argv[3:]; '
    'from fabrik_ros.planning.planner_worker import main; main()'
)
NOT_STARTED = 'the process of the planner was not started'
FIRST_DELAY, LONGEST_DELAY = 0.5, 30.0
"""First and longest wait after a process died while starting [s]; doubled each time."""


class ProcessState(Enum):
    """
    State of the process of the planner.

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
        It said that it cannot plan for this arm.

    """

    OFF = 'off'
    STARTING = 'starting'
    READY = 'ready'
    PLANNING = 'planning'
    IMPOSSIBLE = 'impossible'


@dataclass(frozen=True)
class PlannerFailure:
    """
    Failure of a request, which has no answer, or of the process, which is not there.

    Attributes
    ----------
    text : str
        What went wrong, for people.
    is_restarting : bool
        Whether the process has died and is started again; if not, the request makes no sense.

    """

    text: str
    is_restarting: bool


class PlannerProcess:
    """
    Hands requests to a planner in another process; no call waits for it.

    At most one request is under way. A new one replaces it, and the result of the old one never
    comes.

    Attributes
    ----------
    state : ProcessState
        What the process does, as far as `poll` has seen.

    """

    def __init__(self) -> None:
        self.state = ProcessState.OFF
        self._setup: PlannerSetup | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._channel: MessageChannel | None = None
        self._lifeline: socket.socket | None = None
        self._wanted: Task | None = None
        """The task whose answer is wanted."""
        self._sent = 0
        """Number of the task that the process has; 0 for none."""
        self._number = 0
        self._asked_at = 0.0
        self._delay, self._start_at = FIRST_DELAY, 0.0
        self._reason = NOT_STARTED
        """Reason why no process plans."""

    @property
    def is_busy(self) -> bool:
        """Whether a request is under way, or waits for the process to start."""
        return self._wanted is not None

    @property
    def time_passed(self) -> float:
        """Time since the request that is under way [s]; 0 without one."""
        return 0.0 if self._wanted is None else time.monotonic() - self._asked_at

    @property
    def pid(self) -> int:
        """Number of the process; 0 where there is none."""
        return 0 if self._process is None else self._process.pid

    def start(self, setup: PlannerSetup) -> None:
        """Start the process for an arm; one that runs already is closed before."""
        self.close()
        self._setup = setup
        self._spawn()

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
            From where to where. Its planning time begins when the process takes it up.
        scene : Scene, optional
            The obstacles.
        points : mapping, optional
            Cells that sensors have measured, by frame.
        other_joints : mapping, optional
            Values of joints outside the arm [rad or m].

        """
        self.cancel()
        self._number += 1
        self._wanted = Task(
            self._number, request, scene or Scene(), dict(points or {}), dict(other_joints or {})
        )
        self._asked_at = time.monotonic()
        self._hand_over()

    def cancel(self) -> None:
        """Leave the request that is under way; its result never comes."""
        self._wanted = None
        if self.state is ProcessState.PLANNING and self._sent:
            self._send(Stop())

    def poll(self) -> Plan | PlannerFailure | None:
        """
        Return what has come of the request, or that the process has died; None where nothing has.

        A process that has died is started again by the calls that follow.
        """
        if self.state in (ProcessState.OFF, ProcessState.IMPOSSIBLE):
            return self._refused()
        if self._channel is None:
            if time.monotonic() >= self._start_at:
                self._spawn()
            return None
        try:
            self._channel.flush()
            while (message := self._channel.receive()) is not None:
                result = self._take(message)
                if result is not None:
                    return result
        except (EOFError, ConnectionError):
            return self._take_death()
        return None

    def close(self) -> None:
        """End the process."""
        self._wanted, self._sent = None, 0
        self._drop_process()
        self._delay, self._start_at = FIRST_DELAY, 0.0
        self.state, self._reason = ProcessState.OFF, NOT_STARTED

    def _refused(self) -> PlannerFailure | None:
        """Say why no process looks for a way, if one is wanted."""
        if self._wanted is None:
            return None
        self._wanted = None
        return PlannerFailure(self._reason, False)

    # -- the process

    def _spawn(self) -> None:
        ours, theirs = socket.socketpair()
        lifeline, their_lifeline = socket.socketpair()
        descriptors = theirs.fileno(), their_lifeline.fileno()
        path = [entry for entry in sys.path if entry]
        command = [sys.executable, '-c', COMMAND, *map(str, descriptors), *path]
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            pass_fds=descriptors,
            start_new_session=True,  # Ctrl-C at the terminal is for the caller
        )
        theirs.close()
        their_lifeline.close()
        self._channel, self._lifeline = MessageChannel(ours), lifeline
        self.state, self._sent = ProcessState.STARTING, 0
        self._send(self._setup)

    def _drop_process(self) -> None:
        if self._channel is not None:
            self._channel.close()
        if self._lifeline is not None:
            self._lifeline.close()
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        self._process = self._channel = self._lifeline = None

    def _take_death(self) -> PlannerFailure:
        assert self._process is not None
        was_starting = self.state is ProcessState.STARTING
        self._process.kill()  # it may have closed its end alone
        code = self._process.wait()
        self._drop_process()
        self._wanted, self._sent = None, 0
        self.state = ProcessState.STARTING
        self._start_at = time.monotonic() + (self._delay if was_starting else 0.0)
        self._delay = min(2.0 * self._delay, LONGEST_DELAY) if was_starting else FIRST_DELAY
        text = f'the process of the planner ended {how_it_ended(code)}; it is started again'
        return PlannerFailure(text, True)

    # -- messages

    def _hand_over(self) -> None:
        """Send the task that is wanted, if the process waits for one."""
        if self.state is ProcessState.READY and self._wanted is not None:
            self._sent = self._wanted.number
            self.state = ProcessState.PLANNING
            self._send(self._wanted)

    def _send(self, message: object) -> None:
        assert self._channel is not None
        with suppress(ConnectionError):  # `poll` finds that the process has died
            self._channel.send(message)

    def _take(self, message: object) -> Plan | PlannerFailure | None:
        """Take a message of the process; return the result that is wanted, if it is that."""
        if isinstance(message, CannotPlan):
            self.state, self._reason = ProcessState.IMPOSSIBLE, message.reason
            self._drop_process()
            self._wanted = None
            return PlannerFailure(self._reason, False)
        assert isinstance(message, Ready | Answer)
        self.state, self._sent, self._delay = ProcessState.READY, 0, FIRST_DELAY
        wanted = self._wanted
        if isinstance(message, Ready) or wanted is None or message.number != wanted.number:
            self._hand_over()
            return None
        self._wanted = None
        if message.plan is None:
            return PlannerFailure(message.error, False)
        return message.plan


def how_it_ended(code: int) -> str:
    """Say in words what the return code of a process means."""
    return f'by signal {-code}' if code < 0 else f'with exit code {code}'
