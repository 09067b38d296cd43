"""An arm that is commanded from Python, over a node that is running."""

import atexit
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, TimeoutError as NoAnswer, wait as wait_for
import threading
import time
from types import TracebackType
from typing import Any

from rclpy.node import Node
from sensor_msgs.msg import JointState

from ..errors import NotMeasuredError
from ..programs.program import Program
from ..programs.program_file import document_of
from ..ros.beside.node_client import LONGEST_ANSWER, NO_EVENTS
from ..ros.clocks.qos import NEWEST_OF_ANY
from ..transforms import Array
from .gripper import attach, detach, Gripper
from .move import Move, OnProgress, READY_TIME, STOP_TIME
from .node_link import NodeLink
from .own_node import OwnNode, stop_from_outside
from .results import (
    CANCELLED,
    CLOSED,
    INTERRUPTED,
    MoveRefused,
    MoveResult,
    MoveStopped,
    NO_ANSWER,
    REFUSED,
    ROS_ENDED,
    Status,
)
from .wishes import ExecuteWish, program_through, ProgramWish, Target, Wish, wish_for

PERIOD = 0.02
"""Time between two looks at what has become of the moves [s]."""
STATE_AGE = 1.0
"""Joint values that are older do not count as measured [s]."""


class Arm:
    """
    An arm that a running node moves.

    Parameters
    ----------
    name : str
        Name of the node, with its namespace.
    tip : str
        The tip link, of a node that moves several.
    node : Node, optional
        Listens and publishes; its owner spins it, in another thread than the one that waits here.
        Without it there is a node of its own, which a thread spins.

    Attributes
    ----------
    gripper : Gripper
        The gripper of the arm.

    Notes
    -----
    Nothing here blocks for ever. A move that is not waited for any more, as its time is over, its
    future was cancelled, the arm was closed or Ctrl-C came, is stopped. Where ROS was shut down
    here, as rclpy does on Ctrl-C after `rclpy.init`, a connection is made for that.

    """

    def __init__(self, name: str = '/fabrik', *, tip: str = '', node: Node | None = None) -> None:
        full_name = '/' + name.strip('/')
        self._own: OwnNode | None = None
        if node is None:
            self._own = OwnNode(full_name[: full_name.rindex('/')])
            node = self._own.node
        self._node = node
        self._domain_id = self._node.context.get_domain_id()
        self._link = NodeLink(self._node, full_name, tip)
        self.gripper = Gripper(self._link)
        self._commanded: dict[str, float] = {}
        self._commands = self._node.create_subscription(
            JointState,
            f'{full_name}/joint_command',
            self._on_command,
            NEWEST_OF_ANY,
            event_callbacks=NO_EVENTS,
        )
        self._moves: list[Move] = []
        self._lock = threading.Lock()
        """For the list of moves."""
        self._ends = threading.Event()
        if self._own is not None:
            self._own.start()
        self._thread = threading.Thread(target=self._run, name='fabrik_moves', daemon=True)
        self._thread.start()
        atexit.register(self.close)

    def __enter__(self) -> 'Arm':
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Stop the arm if it is on the way to where it was sent from here, and leave."""
        if self._ends.is_set():
            return
        self._stop_moves(CLOSED, 'the commander was closed')
        self._ends.set()
        if threading.current_thread() is not self._thread:
            self._thread.join()
        for move in self._open_moves():
            move.fail(MoveStopped(CLOSED, 'the commander was closed', self._link.status))
        atexit.unregister(self.close)
        if self._own is not None:
            self._own.close()
        elif self._node.context.ok():
            self._node.destroy_subscription(self._commands)
            self._link.close()

    # -- where it is

    @property
    def name(self) -> str:
        """Full name of the node."""
        return self._link.name

    @property
    def state(self) -> Status:
        """The newest status; waits for the first one."""
        self._wait_until(lambda: bool(self._link.facts))
        return self._link.status

    @property
    def pose(self) -> Array:
        """
        Pose of the tool in the base, shape (4, 4).

        It is measured; commanded where nothing is measured, and the node needs no measurements.

        Raises
        ------
        NotMeasuredError
            If it is not known.

        """
        tools = self._tools()
        tip = self._link.tip or (next(iter(tools)) if len(tools) == 1 else '')
        if tip not in tools:
            tips = ', '.join(tools)
            raise NotMeasuredError(f'{self.name} moves several tips: {tips}; say which (tip=...)')
        return tools[tip].T_base_tool

    @property
    def joints(self) -> dict[str, float]:
        """
        Joint values by name [rad or m], as for `pose`.

        Raises
        ------
        NotMeasuredError
            If they are not known.

        """
        tools = self._tools().values()
        return {joint.name: joint.value for tool in tools for joint in tool.joints}

    def _tools(self) -> Mapping[str, Any]:
        """Tell where the tools are; NotMeasuredError where that is not known."""
        watched = self._link.watched
        found: list[Mapping[str, Any]] = []

        def find() -> bool:
            tools = watched.tools()
            names = [joint.name for tool in tools.values() for joint in tool.joints]
            until = self._link.time.went_on_at  # an arm whose clock stands stays where it is
            if not names or until - watched.measured_at(names) > STATE_AGE:
                is_blind = watched.parameters.get('wait_for_state') is False
                tools = watched.tools(self._commanded) if is_blind else {}
            found[:] = [tools]
            return bool(tools)

        if not self._wait_until(find):
            text = watched.missing or f'no joint values for {STATE_AGE:g} s'
            raise NotMeasuredError(f'it is not known where the arm is: {text}')
        return found[0]

    # -- what it is asked for

    def move_to(
        self,
        target: Target,
        *,
        frame_id: str | None = None,
        wait: bool = True,
        timeout: float | None = None,
        on_progress: OnProgress | None = None,
    ) -> Any:
        """
        Move the arm somewhere; a move that is under way is replaced.

        Parameters
        ----------
        target : PoseStamped, Pose, array (4, 4), (position, quaternion x y z w), joint values
                as a sequence (base to tip) or by name, or str
            Pose of the tool, joint values [rad or m], or the name of a configuration.
        frame_id : str, optional
            Frame of a pose; that of the message, else the base link, where it is left out.
        wait : bool
            Whether to return when the arm is there; else a future is returned at once.
        timeout : float, optional
            Time after which the arm is stopped [s]; None: 70 s more than the node says that its
            path takes.
        on_progress : callable, optional
            Gets each new `Status`, in another thread. What it raises stops the arm.

        Returns
        -------
        MoveResult or Future
            True where the measured arm is there; a concurrent.futures.Future of that.

        Raises
        ------
        MoveRefused
            If the node did not take it: nothing has changed.
        MoveStopped
            If the arm did not arrive.
        TargetError, JointValueError
            If the target makes no sense.

        """
        return self._begin(wish_for(self._link, target, frame_id), wait, timeout, on_progress)

    def move_through(
        self,
        targets: Sequence[Target],
        *,
        wait: bool = True,
        timeout: float | None = None,
        on_progress: OnProgress | None = None,
        **settings: Any,
    ) -> Any:
        """
        Move the arm through several targets: in lines to poses, freely to joint values and names.

        All of it is looked at before the arm sets out.

        Parameters
        ----------
        targets : sequence
            As for `move_to`.
        wait, timeout, on_progress
            As for `move_to`.
        **settings
            Of every segment, as `blend=0.02` [m] and `speed=0.1` [m/s]; see `Segment`.

        Returns
        -------
        MoveResult or Future
            As for `move_to`.

        Raises
        ------
        MoveRefused, MoveStopped, TargetError
            As for `move_to`; the sentence names the segment.

        """
        wish = ProgramWish(self._link, program_through(targets, settings))
        return self._begin(wish, wait, timeout, on_progress)

    def run(
        self,
        program: Program | Mapping[str, Any],
        *,
        name: str = 'program',
        wait: bool = True,
        timeout: float | None = None,
        on_progress: OnProgress | None = None,
    ) -> Any:
        """
        Run a program of moves; as `move_through` otherwise.

        Parameters
        ----------
        program : Program or mapping
            A program, with poses in the base of the arm; or what YAML or JSON have read of a
            file, with poses in any frame that the node knows.
        name : str
            What the status calls it, with something behind it that no other has.
        wait, timeout, on_progress
            As for `move_to`.

        """
        if isinstance(program, Program):
            document = document_of(program, name)
        else:
            document = {'name': name, **program}
        wish = ProgramWish(self._link, document)
        return self._begin(wish, wait, timeout, on_progress)

    def home(
        self,
        *,
        wait: bool = True,
        timeout: float | None = None,
        on_progress: OnProgress | None = None,
    ) -> Any:
        """Move the arm to `home_configuration`, as `move_to` does."""
        return self.move_to('home', wait=wait, timeout=timeout, on_progress=on_progress)

    def execute(
        self,
        *,
        wait: bool = True,
        timeout: float | None = None,
        on_progress: OnProgress | None = None,
    ) -> Any:
        """Take the path that the node proposes, as `move_to` does."""
        return self._begin(ExecuteWish(self._link), wait, timeout, on_progress)

    def attach(self, name: str) -> None:
        """
        Let the hand carry an obstacle that the node knows, from where it is.

        Raises
        ------
        MoveRefused
            If there is no such obstacle, or it cannot be carried.

        """
        attach(self._link, name)

    def detach(self, name: str) -> None:
        """Let the hand put an obstacle down where it is; MoveRefused if it does not carry it."""
        detach(self._link, name)

    def stop(self) -> str:
        """
        Let the arm brake along its path, whoever sent it; return what the node says.

        The next target sets out again. Other than `hold` that needs no `resume`.

        Raises
        ------
        MoveRefused
            If nobody answers: the arm may still move.

        """
        self._stop_moves(CANCELLED, 'told to stop', waits=False)
        return self._ask('stop')

    def hold(self) -> str:
        """Let the arm brake, and refuse all targets until `resume`; as `stop` otherwise."""
        return self._ask('hold')

    def resume(self) -> str:
        """
        Let the arm set out again after `hold` or a fault; return what the node says.

        Raises
        ------
        MoveRefused
            If the cause lasts, or nobody answers.

        """
        return self._ask('resume')

    def wait_until_ready(
        self, timeout: float = READY_TIME, on_progress: OnProgress | None = None
    ) -> None:
        """
        Wait until the node takes a pose.

        Raises
        ------
        MoveRefused
            If that has not come about in time [s]; says what is missing.

        """
        wish, said = wish_for(self._link, ((0, 0, 0), (0, 0, 0, 1)), None), ''
        deadline = time.monotonic() + timeout
        while (missing := wish.missing()) is not None:
            if time.monotonic() > deadline:
                text = f'{missing.reason}, for {timeout:g} s'
                raise MoveRefused(missing.code, text, self._link.status)
            if on_progress is not None and missing.reason != said:
                on_progress(missing)
            said = missing.reason
            time.sleep(PERIOD)

    def wait_until_heard(self, timeout: float = READY_TIME) -> None:
        """
        Wait until it is known where the arm is.

        Raises
        ------
        MoveRefused
            If no status came in time [s].

        """
        if not self._wait_until(lambda: bool(self._link.facts), timeout):
            status = self._link.status
            raise MoveRefused(status.code, f'{status.reason}, for {timeout:g} s', status)

    # -- how it is done

    def _begin(
        self, wish: Wish, waits: bool, timeout: float | None, on_progress: OnProgress | None
    ) -> Any:
        if timeout is not None and not timeout > 0.0:
            raise ValueError(f'timeout must be more than 0 s, got {timeout}')
        if waits and threading.current_thread() is self._thread:
            raise RuntimeError('on_progress must not wait for a move: use wait=False')
        move = Move(self._link, wish, timeout, on_progress)
        with self._lock:
            if self._ends.is_set():
                raise MoveRefused(CLOSED, 'the commander was closed', self._link.status)
            for other in self._moves:
                other.supersede()
            self._moves.append(move)
        return self._result_of(move) if waits else move.future

    def _result_of(self, move: Move) -> MoveResult:
        """Wait for the end of a move; Ctrl-C stops the arm."""
        try:
            return move.future.result()
        except KeyboardInterrupt:
            move.stop(MoveStopped(INTERRUPTED, 'interrupted', self._link.status))
            wait_for([move.future], 2.0 * STOP_TIME)
            raise

    def _open_moves(self) -> list[Move]:
        with self._lock:
            self._moves = [move for move in self._moves if not move.is_over]
            return list(self._moves)

    def _stop_moves(self, code: str, text: str, waits: bool = True) -> None:
        moves = self._open_moves()
        for move in moves:
            move.stop(MoveStopped(code, text, self._link.status))
        if waits and threading.current_thread() is not self._thread:
            self._wait_until(lambda: all(move.is_over for move in moves), 2.0 * STOP_TIME)

    def _ask(self, service: str) -> str:
        """Ask a service, and wait for its answer; MoveRefused where it refuses, or none comes."""
        watched = self._link.watched
        answer: Future[tuple[bool | None, str]] = Future()
        if not self._node.context.ok():
            stops = service == 'stop' and stop_from_outside(self.name, self._domain_id)
            answer.set_result((stops or None, 'ROS was shut down here'))
        elif not self._wait_until(lambda: watched.offers(service)):
            answer.set_result((None, f'nobody offers {self.name}/{service}'))
        else:
            watched.trigger(service, lambda *given: answer.set_result(given))
        try:
            is_done, text = answer.result(LONGEST_ANSWER + 1.0)
        except NoAnswer:  # nobody spins the node that was given
            text = f'no answer of {self.name}/{service}'
            raise MoveRefused(NO_ANSWER, text, self._link.status) from None
        if not is_done:
            code = NO_ANSWER if is_done is None else REFUSED
            raise MoveRefused(code, text, self._link.status)
        return text

    def _wait_until(self, holds: Callable[[], bool], patience: float = READY_TIME) -> bool:
        deadline = time.monotonic() + patience
        while not holds():
            if time.monotonic() > deadline or not self._node.context.ok():
                return False
            time.sleep(PERIOD)
        return True

    def _run(self) -> None:
        """Go on with the moves until the end."""
        while not self._ends.wait(PERIOD):
            try:
                self._link.look()
                self._step()
            except Exception as error:  # whoever waits for a move must hear of it
                if self._node.context.ok():
                    for move in self._open_moves():
                        move.fail(error)

    def _step(self) -> None:
        moves = self._open_moves()
        if not self._node.context.ok():
            self._end_without_ros(moves)
            return
        is_stopping = False
        for move in moves:
            move.step(may_send=not is_stopping)
            is_stopping |= move.is_stopping
        if not moves:
            self._link.drop_unused()

    def _end_without_ros(self, moves: list[Move]) -> None:
        """End all moves as ROS was shut down, by rclpy on Ctrl-C for one; the arm is stopped."""
        stops = any(move.was_sent for move in moves)
        stops = stops and stop_from_outside(self.name, self._domain_id)
        for move in moves:
            fate = 'the arm was told to stop' if stops else 'the arm may still move'
            text = f'ROS was shut down; {fate if move.was_sent else "nothing was sent"}'
            move.fail(MoveStopped(ROS_ENDED, text, self._link.status))

    def _on_command(self, message: JointState) -> None:
        values = dict(zip(message.name, message.position, strict=True))
        self._commanded = self._commanded | values
