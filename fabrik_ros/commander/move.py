"""A move on its way: it waits until it can be sent, is followed, and ends as a future."""

from collections.abc import Callable, Mapping
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
import math

from ..errors import FabrikError
from ..reasons import ReasonKind
from .followed_request import Ending, errors_in, FollowedRequest, Outcome
from .node_link import NodeLink
from .results import (
    CANCELLED,
    MoveRefused,
    MoveResult,
    MoveStopped,
    NO_NODE,
    Status,
    SUPERSEDED,
    TIMED_OUT,
)
from .wishes import Wish

READY_TIME = 10.0
"""Longest wait until a node takes requests [s]."""
LONGEST_DELAY = 60.0
"""Time by which a move may take longer than its path was announced to take [s]."""
STOP_PERIOD, STOP_TIME = 0.3, 4.0
"""Time after which a node is told to stop again, and until that is given up [s]."""
DELIVERY_TIME = 0.5
"""Time after which a target that was sent, and that nobody took, does not come any more [s]."""

PAUSE_NEEDED = ReasonKind.WAITS_FOR_PAUSE.value

OnProgress = Callable[[Status], object]


class Move:
    """
    A move that somebody asked for.

    Parameters
    ----------
    link : NodeLink
        The node that is asked.
    wish : Wish
        What for.
    patience : float or None
        Time for all of it by the clock of the node [s]; None: as long as it takes, within reason.
    on_progress : callable, optional
        Gets each new status.

    Attributes
    ----------
    future : Future
        Its end; whoever cancels it stops the arm.
    is_over : bool
        Whether nothing is left to do.

    """

    def __init__(
        self,
        link: NodeLink,
        wish: Wish,
        patience: float | None,
        on_progress: OnProgress | None = None,
    ) -> None:
        self._link, self._wish, self._on_progress = link, wish, on_progress
        self._begin, self._begin_slower = link.time.passed, link.time.slower
        self._deadline = math.inf if patience is None else self._begin + patience
        self._request: FollowedRequest | None = None
        self._seen: Status | None = None
        """The status that was told last."""
        self._stop_as: Exception | None = None
        """What the move ends with once the arm is stopped."""
        self._stop_begin = self._told_at = -math.inf
        self.future: Future[MoveResult] = Future()
        self.is_over = False

    @property
    def was_sent(self) -> bool:
        """Whether the node was asked."""
        return self._request is not None

    def stop(self, error: Exception) -> None:
        """Let the arm come to rest, unless it is there by then, and end with an error."""
        if self._stop_as is None:
            self._stop_begin = self._link.time.slower
            self._stop_as = error

    def supersede(self) -> None:
        """End a move that was not sent yet, as a newer one takes its place."""
        if not self.was_sent:
            text = 'another move was asked for before this one was sent'
            self.stop(MoveStopped(SUPERSEDED, text, self._link.status))

    def fail(self, error: Exception) -> None:
        """End with an error."""
        self.is_over = True
        with suppress(InvalidStateError):  # somebody cancelled the future
            self.future.set_exception(error)

    @property
    def is_stopping(self) -> bool:
        """Whether the arm has to come to rest before it sets out again."""
        return self.was_sent and self._stop_as is not None and not self.is_over

    def step(self, may_send: bool = True) -> None:
        """Go on with it; to be called often until it is over."""
        if self.future.cancelled():
            self.stop(MoveStopped(CANCELLED, 'the future was cancelled', self._link.status))
        now = self._link.time.slower
        try:
            if self._request is None:
                self._wait(now, may_send)
            elif self._stop_as is not None:
                self._come_to_rest(now, self._request, self._stop_as)
            else:
                self._follow(now, self._request)
        except FabrikError as error:
            self.fail(error)

    def _wait(self, now: float, may_send: bool) -> None:
        if self._stop_as is not None:
            self.fail(self._stop_as)
            return
        missing = self._wish.missing() if may_send else self._link.braking
        if missing is None:
            self._request = self._wish.send(now)
            return
        self._tell(missing)
        if self._is_too_late or now > self._begin_slower + READY_TIME:
            text = f'nothing was sent: {missing.reason}, for {self._duration:.1f} s'
            self.fail(MoveRefused(missing.code, text, self._link.status))

    def _follow(self, now: float, request: FollowedRequest) -> None:
        status = self._link.status
        facts = status.facts
        if status.code == NO_NODE:
            self._tell_to_stop(now)  # it may hear although it is not heard
            text = f'{status.reason}, while the arm was on its way: it may still move'
            self.fail(MoveStopped(NO_NODE, text, status))
            return
        ending = request.see(facts, now)
        if request.was_accepted:
            self._tell(status)
        if ending is not None:
            self._end(ending, status, now)
        elif self._is_too_late or now > self._longest(facts):
            text = f'not there after {self._duration:.1f} s: {status.sentence}'
            self.stop(MoveStopped(TIMED_OUT, text, status))
        elif request.is_due_again(facts, now):
            self._wish.send_again()

    @property
    def _duration(self) -> float:
        """Time since it was asked for, by the clock of the node [s]."""
        return self._link.time.passed - self._begin

    @property
    def _is_too_late(self) -> bool:
        """Whether the time that it was given is over."""
        return self._link.time.passed > self._deadline

    def _longest(self, facts: Mapping[str, str]) -> float:
        """Time at which the patience ends where it was given none [s]."""
        if self._deadline < math.inf:
            return math.inf
        share = self._link.watched.parameters.get('speed_scaling', 1.0) or 1.0
        duration = float(facts.get('path_duration', 0.0)) / share
        return self._begin_slower + READY_TIME + LONGEST_DELAY + duration

    def _end(self, ending: Ending, status: Status, now: float) -> None:
        if ending.outcome is Outcome.REACHED:
            self._succeed(ending, status)
        elif ending.code == PAUSE_NEEDED and now < self._begin_slower + READY_TIME:
            self._request = None  # others sent targets since the status: it waits as before
        elif ending.outcome is Outcome.REFUSED:
            self.fail(MoveRefused(ending.code, ending.sentence, status))
        elif ending.outcome is Outcome.UNANSWERED:
            # It may be on its way still.
            self.stop(MoveRefused(ending.code, ending.sentence, status))
        else:
            self.fail(MoveStopped(ending.code, ending.sentence, status))

    def _come_to_rest(self, now: float, request: FollowedRequest, error: Exception) -> None:
        """Tell the node to stop for as long as the arm goes on."""
        status = self._link.status
        facts = status.facts
        if status.code == NO_NODE or now - self._stop_begin > STOP_TIME:
            self.fail(_unconfirmed(error, status))
            return
        ending = request.see(facts, now)
        if ending is not None and ending.outcome is Outcome.REACHED:
            self._succeed(ending, status)
        elif ending is not None and ending.outcome is not Outcome.UNANSWERED:
            self.fail(error)
        elif request.is_pursued(facts):
            self._tell_to_stop(now)
        elif not request.was_accepted and now - self._stop_begin > DELIVERY_TIME:
            self.fail(error)

    def _tell_to_stop(self, now: float) -> None:
        if now - self._told_at > STOP_PERIOD:
            self._told_at = now
            self._link.watched.trigger('stop', lambda is_done, text: None)

    def _succeed(self, ending: Ending, status: Status) -> None:
        position, turn, is_measured = errors_in(status.facts, self._link.prefix)
        self.is_over = True
        result = MoveResult(
            status.state,
            ending.code,
            ending.sentence,
            position,
            turn,
            is_measured,
            self._duration,
        )
        with suppress(InvalidStateError):  # somebody cancelled the future
            self.future.set_result(result)

    def _tell(self, status: Status) -> None:
        """Tell of a status that is new."""
        seen, self._seen = self._seen, status
        is_new = seen is None or seen.facts is not status.facts or seen.reason != status.reason
        if is_new and self._on_progress is not None:
            try:
                self._on_progress(status)
            except Exception as error:  # it is raised where the move is waited for
                self.stop(error)


def _unconfirmed(error: Exception, status: Status) -> Exception:
    """Say of an end that nobody confirmed that the arm is at rest."""
    if isinstance(error, MoveStopped):
        text = f'{error.sentence}; it may still move: {status.sentence}'
        return MoveStopped(error.code, text, status)
    return error
