"""One request to a node, followed through its statuses to its end."""

from collections.abc import Mapping
from enum import Enum
import math
from typing import NamedTuple

from ..motion.following.arm_state import State, UNDER_WAY
from ..ros.status.diagnostics import ERRORS, MEASURED_ERRORS, standing_in
from .results import NO_ANSWER, NODE_RESTARTED, REFUSED, SUPERSEDED

RESEND_TIME = 1.0
"""A target without an answer is sent again after this time [s]; twice the same is a repeat."""
ANSWER_TIME = 10.0
"""A request without an answer is given up after this time [s]."""
HOLD_TIME = 0.5
"""An arm that holds for this long does not go on by itself [s]."""
ENDED = 'ended'
"""Code of a request that is no longer in force, where the status gives no reason."""

Facts = Mapping[str, str]


class Outcome(Enum):
    """Outcome of a request."""

    REACHED = 'reached'
    STOPPED = 'accepted, but not reached'
    REFUSED = 'refused: nothing has changed'
    UNANSWERED = 'neither accepted nor refused'


class Ending(NamedTuple):
    """Outcome of a request, and why."""

    outcome: Outcome
    code: str
    sentence: str


class OpenRequest:
    """
    A message to a node that has not done what it says yet.

    Parameters
    ----------
    name : str
        What the status calls it in `refused_target`; '' where a service answers.
    facts : mapping
        The newest status before it was sent.
    now : float
        Time at which it was sent, by a steady clock [s].

    """

    def __init__(self, name: str, facts: Facts, now: float) -> None:
        self._name, self._instance = name, facts.get('instance')
        self._refused = int(facts['refused'])
        """Count before it was sent."""
        self._begin = self._sent_at = now

    def waited(self, now: float) -> float:
        """Time since it was sent first [s]."""
        return now - self._begin

    def is_due_again(self, now: float) -> bool:
        """Tell, once, whether it is to be sent again, as nobody answers."""
        is_due = bool(self._name) and now - self._sent_at > RESEND_TIME
        self._sent_at = now if is_due else self._sent_at
        return is_due

    def why_lost(self, facts: Facts) -> Ending | None:
        """Say whether the node was started anew, and knows nothing of it."""
        if facts.get('instance') == self._instance:
            return None
        text = f'the node was started anew: {standing_in(facts)}'
        return Ending(Outcome.STOPPED, NODE_RESTARTED, text)

    def refusal(self, facts: Facts, now: float) -> Ending | None:
        """Say why the node refused it, or that it did not answer in time; None before that."""
        is_refused = int(facts['refused']) > self._refused
        if is_refused and self._name and facts['refused_target'] == self._name:
            return Ending(Outcome.REFUSED, facts['refusal_code'], facts['refused_because'])
        if self.waited(now) > ANSWER_TIME:
            text = f'the node did not answer for {ANSWER_TIME:g} s: {standing_in(facts)}'
            return Ending(Outcome.UNANSWERED, NO_ANSWER, text)
        return None


class FollowedRequest:
    """
    Follows a request through the statuses of the node until it is known what became of it.

    Parameters
    ----------
    marks : mapping
        Facts that the status has, by name, while the request is the newest goal.
    name : str
        What the status calls it in `refused_target`; '' where a service answers.
    facts : mapping
        The newest status before it was sent.
    now : float
        Time at which it was sent, by a steady clock [s].
    prefix : str
        Prefix of the facts that are of its tip; '' where there is one tip, or where all move.

    Attributes
    ----------
    was_accepted : bool
        Whether the node has taken it.

    """

    def __init__(
        self, marks: Facts, name: str, facts: Facts, now: float, prefix: str = ''
    ) -> None:
        self._marks, self._prefix = marks, prefix
        self._open = OpenRequest(name, facts, now)
        self._goal_before = self._goal_in(facts)
        self._accepted = int(facts['accepted'])
        """Count before it was sent."""
        self._taken_as: float = math.inf
        """Count of those accepted with which it was among them first; infinite before."""
        self._held_since: float | None = None
        """Time since which the arm holds [s]; None while it does not."""
        self._answer: Ending | None = None
        self.was_accepted = False

    def take_answer(self, is_done: bool | None, text: str) -> None:
        """Take the answer of a service; None where there was none."""
        if is_done:
            self.was_accepted = True
        elif is_done is None:
            self._answer = Ending(Outcome.UNANSWERED, NO_ANSWER, text)
        else:
            self._answer = Ending(Outcome.REFUSED, REFUSED, text)

    def is_due_again(self, facts: Facts, now: float) -> bool:
        """Tell, once, whether it is to be sent again: nobody answered, and nobody else came."""
        is_open = not (self.was_accepted or self._has_another_come(facts))
        return is_open and self._open.is_due_again(now)

    def is_pursued(self, facts: Facts) -> bool:
        """Whether the arm goes there, or may go on there by itself."""
        goes = facts['state'] in UNDER_WAY or facts.get('goes_on') == 'True'
        return self.was_accepted and self._is_newest(facts) and goes

    def see(self, facts: Facts, now: float) -> Ending | None:
        """Take a look at the newest status; say how the request ended, or None."""
        if (lost := self._open.why_lost(facts)) is not None:
            return lost
        is_newest = self._is_newest(facts)
        count = int(facts['accepted'])
        if is_newest and count > self._accepted:
            self.was_accepted, self._taken_as = True, min(count, self._taken_as)
        if self.was_accepted:
            return self._fate(facts, is_newest, now)
        return self._answer or self._refusal(facts, now)

    def _goal_in(self, facts: Facts) -> Facts:
        return {key: facts[key] for key in self._marks if key in facts}

    def _has_another_come(self, facts: Facts) -> bool:
        """Whether another goal is in force, or some came and went, which may have been this."""
        goal = self._goal_in(facts)
        came_and_went = not goal and int(facts['accepted']) > self._accepted
        return came_and_went or goal != self._goal_before

    def _is_replaced(self, facts: Facts) -> bool:
        """Whether there is another goal of the same kind, or another target was accepted since."""
        return bool(self._goal_in(facts)) or int(facts['accepted']) > self._taken_as

    def _is_newest(self, facts: Facts) -> bool:
        return self._goal_in(facts) == self._marks

    def _fate(self, facts: Facts, is_newest: bool, now: float) -> Ending | None:
        """Say what became of a request that was accepted; None while it is pursued."""
        state, code = facts['state'], facts['reason_code']
        if not is_newest:
            if self._is_replaced(facts):
                return Ending(Outcome.STOPPED, SUPERSEDED, 'another target replaced it')
            if state == State.JOGGING.name:
                return Ending(Outcome.STOPPED, SUPERSEDED, 'the arm is jogged')
            return Ending(Outcome.STOPPED, code or ENDED, standing_in(facts))
        if state == State.REACHED.name:
            return Ending(Outcome.REACHED, code, self._arrival(facts))
        if self.is_pursued(facts):
            self._held_since = None
        elif self._held_since is None:
            self._held_since = now
        elif now - self._held_since > HOLD_TIME:
            return Ending(Outcome.STOPPED, code or ENDED, standing_in(facts))
        return None

    def _refusal(self, facts: Facts, now: float) -> Ending | None:
        """Say why a request was not accepted; None while that may come."""
        goal, refusal = self._goal_in(facts), self._open.refusal(facts, now)
        is_late = self._open.waited(now) > RESEND_TIME
        if refusal is not None or not (is_late and self._has_another_come(facts)):
            return refusal
        if goal or facts['state'] in UNDER_WAY:
            return Ending(Outcome.STOPPED, SUPERSEDED, 'another target came in its place')
        return Ending(Outcome.STOPPED, facts['reason_code'] or ENDED, standing_in(facts))

    def _arrival(self, facts: Facts) -> str:
        position, turn, is_measured = errors_in(facts, self._prefix)
        text = f'position error {position:.9g} m, orientation error {turn:.9g} rad'
        return text if is_measured else f'{text}, of the commands: the arm is not measured'


def errors_in(facts: Facts, prefix: str) -> tuple[float, float, bool]:
    """Errors of a tip at its goal [m, rad], and whether they are measured."""
    is_measured = facts.get('is_measured') == 'True'
    keys = MEASURED_ERRORS if is_measured else ERRORS
    position, turn = (facts[f'{prefix}{key}'] for key in keys)
    return float(position), float(turn), is_measured
