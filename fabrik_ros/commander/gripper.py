"""The gripper of an arm, and what the hand carries, commanded from Python."""

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
import threading
import time
from typing import Any

from std_msgs.msg import Float64, String

from ..gripper.drive import GripState
from ..reasons import ReasonKind
from ..ros.status.diagnostics import standing_in
from .followed_request import Facts, OpenRequest
from .move import READY_TIME
from .node_link import NodeLink
from .results import (
    MoveRefused,
    MoveStopped,
    NO_NODE,
    NODE_RESTARTED,
    REFUSED,
    SUPERSEDED,
    TIMED_OUT,
)

PERIOD = 0.02
"""Time between two looks at the status [s]."""
SAME = 1e-8
"""Widths that differ by no more are the same, but for how the status writes them [m]."""
GRIPPER, ATTACH, DETACH = 'gripper', 'attach', 'detach'


@dataclass(frozen=True)
class GripperResult:
    """
    End of a motion of the gripper; true where the fingers are measured.

    Attributes
    ----------
    width : float
        Width between the fingers [m].
    holds : bool
        Whether they moved, and stand still before they were closed as asked: something is between.
    is_measured : bool
        Whether that is measured; else it is that of the commands.

    """

    width: float
    holds: bool
    is_measured: bool

    def __bool__(self) -> bool:
        return self.is_measured


class Gripper:
    """
    A gripper; made by `Arm`.

    Parameters
    ----------
    link : NodeLink
        The node that moves it.

    """

    def __init__(self, link: NodeLink) -> None:
        self._link = link

    @property
    def width(self) -> float:
        """
        Measured width; that of the commands where nothing is measured [m].

        Raises
        ------
        MoveRefused
            If there is no gripper, or its width is not known.

        """
        width = self._facts()['gripper_width']
        if not width:
            text = 'the width of the gripper is not known: nobody measures its joint'
            raise MoveRefused(ReasonKind.STATE_MISSING.value, text, self._link.status)
        return float(width)

    def open(self, *, wait: bool = True, timeout: float = 10.0) -> Any:
        """Open as far as it goes; as `move` otherwise."""
        return self._begin(lambda facts: float(facts['gripper_widest']), wait, timeout)

    def close(self, *, wait: bool = True, timeout: float = 10.0) -> Any:
        """Close as far as it goes; as `move` otherwise."""
        return self._begin(lambda facts: float(facts['gripper_narrowest']), wait, timeout)

    def move(self, width: float, *, wait: bool = True, timeout: float = 10.0) -> Any:
        """
        Go to a width; one that was asked for before is replaced.

        Parameters
        ----------
        width : float
            Between the fingers [m].
        wait : bool
            Whether to return when they stand still; else a future is returned at once.
        timeout : float
            Time by the clock of the node after which the wait is given up [s]; the fingers go on.

        Returns
        -------
        GripperResult or Future
            What has come of it; a concurrent.futures.Future of that.

        Raises
        ------
        MoveRefused
            If the node did not take it: nothing has changed.
        MoveStopped
            If the fingers stand still short of it and hold nothing, were stopped, or were sent
            elsewhere; says why.

        """
        return self._begin(lambda facts: width, wait, timeout)

    def _begin(self, width_in: Callable[[Facts], float], waits: bool, timeout: float) -> Any:
        if not timeout > 0.0:
            raise ValueError(f'timeout must be more than 0 s, got {timeout}')

        def move() -> GripperResult:
            deadline = self._link.time.passed + timeout
            return self._move(width_in(self._facts()), deadline)

        return move() if waits else _in_thread(move)

    def _facts(self) -> Facts:
        """Facts of a status that has a gripper; MoveRefused where none comes."""
        link = self._link
        _wait_for(lambda: link.missing() is None, READY_TIME)
        if (missing := link.missing()) is not None:
            raise MoveRefused(missing.code, missing.reason, link.status)
        facts = link.facts
        if 'gripper_state' not in facts:
            raise MoveRefused(REFUSED, f'gripper: {facts.get("gripper", "unknown")}', link.status)
        return facts

    def _move(self, width: float, deadline: float) -> GripperResult:
        before = self._link.facts

        def is_taken(facts: Facts) -> bool:
            return int(facts['gripper_requests']) > int(before['gripper_requests'])

        request(self._link, GRIPPER, Float64(data=float(width)), repr(float(width)), is_taken)
        taken = self._link.facts['gripper_requests']
        while True:
            facts = self._following(before.get('instance'))
            is_newest, why = facts['gripper_requests'] == taken, facts['gripper_reason']
            is_changed = abs(float(facts['gripper_target']) - width) > SAME
            if is_changed and not (is_newest and why):
                text = 'the gripper was sent to another width'
                raise MoveStopped(SUPERSEDED, text, self._link.status)
            if why:
                raise MoveStopped(facts['gripper_reason_code'], why, self._link.status)
            if facts['gripper_state'] != GripState.MOVING.value:
                return _result(facts)
            if self._link.time.passed > deadline:
                text = 'the fingers took longer than the timeout'
                raise MoveStopped(TIMED_OUT, text, self._link.status)
            time.sleep(PERIOD)

    def _following(self, instance: str | None) -> Facts:
        """Facts of the node that was asked; MoveStopped where it is gone."""
        status = self._link.status
        if status.code == NO_NODE:
            raise MoveStopped(NO_NODE, status.reason, status)
        if 'gripper_state' not in status.facts or status.facts.get('instance') != instance:
            text = f'the node knows no more of the width: {standing_in(status.facts)}'
            raise MoveStopped(NODE_RESTARTED, text, status)
        return status.facts


def _result(facts: Facts) -> GripperResult:
    """Say what has come of fingers that stand still."""
    state = GripState(facts['gripper_state'])
    is_measured = state is not GripState.UNMEASURED
    return GripperResult(float(facts['gripper_width']), state is GripState.GRASPED, is_measured)


def attach(link: NodeLink, name: str) -> None:
    """Let the hand carry an obstacle; MoveRefused where it cannot."""
    _change(link, ATTACH, name)


def detach(link: NodeLink, name: str) -> None:
    """Let the hand put an obstacle down; MoveRefused where it cannot."""
    _change(link, DETACH, name)


def _change(link: NodeLink, topic: str, name: str) -> None:
    """Attach or detach an obstacle, and wait until the status says so."""
    before = name in _attached(link.facts)
    request(
        link, topic, String(data=name), name, lambda facts: (name in _attached(facts)) != before
    )


def _attached(facts: Facts) -> list[str]:
    return facts.get('attached', '').split(', ')


def request(
    link: NodeLink, topic: str, message: Any, mark: str, is_done: Callable[[Facts], bool]
) -> None:
    """
    Publish a message until the node has done what it says, or refused it.

    Raises
    ------
    MoveRefused
        If the node refuses it, or does not answer.
    MoveStopped
        If the node was started anew meanwhile.

    """
    kind = type(message)

    def is_ready() -> bool:
        link.advertise(topic, kind)
        return link.missing(topic) is None

    if not _wait_for(is_ready, READY_TIME):
        missing = link.missing(topic) or link.status
        raise MoveRefused(missing.code, missing.reason, link.status)
    asked = OpenRequest(f'{topic} {mark}', link.facts, link.time.slower)
    link.publish(topic, message)
    while not is_done(facts := link.facts):  # else a repeat of what was done may be refused
        if (lost := asked.why_lost(facts)) is not None:
            raise MoveStopped(lost.code, lost.sentence, link.status)
        if (refusal := asked.refusal(facts, link.time.slower)) is not None:
            raise MoveRefused(refusal.code, refusal.sentence, link.status)
        if asked.is_due_again(link.time.slower):
            link.advertise(topic, kind)
            link.publish(topic, message)
        time.sleep(PERIOD)


def _wait_for(holds: Callable[[], bool], patience: float) -> bool:
    deadline = time.monotonic() + patience
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(PERIOD)
    return True


def _in_thread(work: Callable[[], GripperResult]) -> 'Future[GripperResult]':
    """Do something in a thread of its own; return its future."""
    future: Future[GripperResult] = Future()
    future.set_running_or_notify_cancel()

    def run() -> None:
        try:
            future.set_result(work())
        except Exception as error:
            future.set_exception(error)

    threading.Thread(target=run, name='fabrik_gripper', daemon=True).start()
    return future
