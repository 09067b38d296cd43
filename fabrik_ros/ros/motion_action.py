"""The action `~/execute_motion`: a sequence of motion primitives, and how it ends."""

from collections.abc import Callable
from dataclasses import dataclass
import importlib
import time
from typing import Any

from rclpy.action import ActionServer, CancelResponse
from rclpy.action.server import ServerGoalHandle
from rclpy.clock import Clock, ClockType
from rclpy.node import Node

from ..errors import FabrikError
from ..motion.following.arm_state import CANCELLED, State
from ..motion.following.follower import Follower
from ..programs.program import Program
from ..reasons import Reason
from .arm.configured_arm import ConfiguredArm
from .arm.node_state import NodeState
from .inbox import Inbox
from .inputs.motion_primitives import check_stamps, PrimitiveReader

NAME = 'execute_motion'
PERIOD = 0.1
"""Time between two looks at the goal, with one feedback each [s]."""
DELIVERY_TIME = 0.1
"""Time for the delivery of the result as the process ends [s]."""
NOT_REACHED, SUPERSEDED = -10, -11
"""Error codes beside those of the message: ended on the way, and by another goal."""
ABORT, CANCEL = ServerGoalHandle.abort, ServerGoalHandle.canceled
SUCCEED = ServerGoalHandle.succeed
LAST_INDEX = 255
"""Greatest index of a primitive that the feedback can say [1]."""


class DeferredServer(ActionServer):
    """An action server whose goals last until they are ended; nothing waits meanwhile."""

    def notify_execute(self, goal_handle: Any, execute_callback: Any) -> None:
        """Run nothing for a goal that begins."""

    def send_result(self, goal_handle: Any, result: Any) -> None:
        """Send the result of a goal that is in its last state, once the executor gets to it."""
        super().notify_execute(goal_handle, lambda _: result)


@dataclass(frozen=True)
class Outcome:
    """How a goal ends."""

    finish: Callable[[Any], None]
    """Puts its handle into its last state."""
    code: int
    text: str


@dataclass(frozen=True)
class RunningGoal:
    """A goal that the arm pursues."""

    handle: Any
    follower: Follower
    program: Program | None
    """What the follower goes through."""
    remarks: tuple[str, ...]
    """What differs from what was asked."""


class MotionAction:
    """
    Offers the action, where control_msgs is installed.

    Parameters
    ----------
    node : Node
        Whose action it is.
    state : NodeState
        The arm.
    inbox : Inbox
        Takes the programs.

    """

    def __init__(self, node: Node, state: NodeState, inbox: Inbox) -> None:
        self._node, self._state, self._inbox = node, state, inbox
        self._log = node.get_logger()
        self._running: RunningGoal | None = None
        self._count = 0
        """Number of goals so far; each is a program of its own, even where it is the same."""
        self._server: DeferredServer | None = None
        kind = _action_type()
        if kind is None:
            self._log.info(f'no ~/{NAME}: control_msgs is not installed, or has no such action')
            return
        self._kind = kind
        self._server = DeferredServer(
            node,
            kind,
            f'~/{NAME}',
            execute_callback=_nothing,
            handle_accepted_callback=self._begin,
            cancel_callback=self._cancel,
        )
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._timer = node.create_timer(PERIOD, self._look, clock=steady)
        self._timer.cancel()

    def close(self) -> None:
        """End the goal, and offer the action no longer."""
        server, self._server = self._server, None
        if server is not None:
            self._end_running(Outcome(ABORT, NOT_REACHED, 'the node ends'))
            server.destroy()

    def end_now(self, reason: Reason) -> None:
        """End the goal while nobody runs the executor, and see that its client hears of it."""
        if self._running is None:
            return
        self._end_running(Outcome(ABORT, NOT_REACHED, str(reason)))
        deadline = time.monotonic() + DELIVERY_TIME
        while (left := deadline - time.monotonic()) > 0.0:
            self._node.executor.spin_once(left)

    # -- what clients ask for

    def _begin(self, handle: Any) -> None:
        """Let the arm set out for a goal, or end that at once, saying why."""
        handle.execute()
        motions, results = handle.request.trajectory.motions, self._kind.Result
        self._count += 1
        name = f'{NAME} {self._count}'
        try:
            most = self._state.parameters.max_target_age
            check_stamps(motions, self._state.clock.now(), most)
        except FabrikError as error:
            self._inbox.refuse(error, name)
            self._end(handle, Outcome(ABORT, results.OLD_HEADER_TIMESTAMP, str(error)))
            return
        try:
            arm, follower = self._inbox.go_through(
                lambda arm: _reader(arm).program(motions), name, time.time_ns()
            )
        except FabrikError as error:
            self._end(handle, Outcome(ABORT, results.INVALID_GOAL, str(error)))
            return
        remarks = tuple(_reader(arm).remarks(motions))
        self._end_running(Outcome(ABORT, SUPERSEDED, 'superseded by a newer goal'))
        self._running = RunningGoal(handle, follower, _program_of(follower), remarks)
        for remark in remarks:
            self._log.info(remark)
        self._timer.reset()

    def _cancel(self, handle: Any) -> CancelResponse:
        """Let the arm brake along its path; the goal ends once it rests."""
        running = self._running
        if running is None or running.handle != handle:
            return CancelResponse.REJECT
        if self._is_in_force(running):
            running.follower.cancel()
        return CancelResponse.ACCEPT

    # -- how it goes on

    def _look(self) -> None:
        """End the goal if it is time for that; else say how far the arm is."""
        running = self._running
        if running is None:
            self._timer.cancel()
            return
        outcome = self._outcome(running)
        if outcome is not None:
            self._end_running(outcome)
            return
        run = running.follower.run
        if run is not None:
            feedback = self._kind.Feedback()
            feedback.current_primitive_index = min(run.segment, LAST_INDEX)
            running.handle.publish_feedback(feedback)

    def _is_in_force(self, running: RunningGoal) -> bool:
        follower = self._state.follower
        is_same = follower is running.follower
        return is_same and _program_of(running.follower) is running.program

    def _outcome(self, running: RunningGoal) -> Outcome | None:
        """How the goal ends; None as long as it goes on."""
        follower = running.follower
        if self._state.follower is not follower:
            return Outcome(ABORT, NOT_REACHED, str(self._state.inactivity()))
        if not self._is_in_force(running):
            what = 'a jog' if follower.motion.is_jogging else 'another target'
            return Outcome(ABORT, SUPERSEDED, f'superseded by {what}')
        if running.handle.is_cancel_requested:
            is_over = follower.is_at_rest and not follower.is_under_way
            return Outcome(CANCEL, NOT_REACHED, str(CANCELLED)) if is_over else None
        state, reason = follower.state(self._state.clock.now())
        if state is State.REACHED:
            found = follower.motion.found
            text = '; '.join([str(reason or state.value), *(found.remarks if found else ())])
            return Outcome(SUCCEED, self._kind.Result.SUCCESSFUL, text)
        waits = follower.motion.waits_for_execute or follower.goes_on_by_itself
        if state not in (State.HOLDING, State.IDLE) or waits or not follower.is_at_rest:
            return None
        run = follower.run
        has_set_out = run is not None and run.progress is not None
        is_refused = not (has_set_out or follower.was_stopped)
        code = self._kind.Result.INVALID_GOAL if is_refused else NOT_REACHED
        return Outcome(ABORT, code, str(reason))

    def _end_running(self, outcome: Outcome) -> None:
        """End the goal that the arm pursues, if there is one."""
        running, self._running = self._running, None
        if running is None:
            return
        if running.handle.is_cancel_requested:
            outcome = Outcome(CANCEL, NOT_REACHED, outcome.text)
        text = '; '.join([outcome.text, *running.remarks])
        self._end(running.handle, Outcome(outcome.finish, outcome.code, text))

    def _end(self, handle: Any, outcome: Outcome) -> None:
        outcome.finish(handle)
        if self._server is not None and self._node.executor is not None:
            result = self._kind.Result(error_code=outcome.code, error_string=outcome.text)
            self._server.send_result(handle, result)


def _program_of(follower: Follower) -> Program | None:
    """Program that a follower goes through, or was stopped in; by that it is known."""
    return None if follower.run is None else follower.run.whole


def _reader(arm: ConfiguredArm) -> PrimitiveReader:
    return PrimitiveReader(arm.chain, arm.motion.limits, arm.placed)


def _nothing(handle: Any) -> None:
    """Stand where rclpy wants a callback: goals are ended one by one."""


def _action_type() -> Any:
    """Type of the action; None where control_msgs is not installed, or has none of its name."""
    try:
        actions = importlib.import_module('control_msgs.action')
    except ImportError:
        return None
    return getattr(actions, 'ExecuteMotionPrimitiveSequence', None)
