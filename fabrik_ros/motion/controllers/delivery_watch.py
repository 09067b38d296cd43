"""
Whether what is sent to a controller of trajectories gets there in time, by what it says it plays.

Nothing new is sent while the controller is silent, or plays nothing that was sent. If it stands
elsewhere, the motion goes on from there.

A controller that says when its trajectory began tells which message it plays as soon as that
arrives. Then the motion is never farther ahead of the newest one that arrived than a little; the
last message is sent again until it is played, however late that is. Of a controller that does not
say, it is known when what is new in a message should be played. If it still plays an older one a
while after that, the motion goes on from that older one; then a little is sent, and nothing new
until that is played.

"""

from collections import deque
from dataclasses import dataclass
import math

import numpy as np

from ...transforms import Array
from .published_trajectory import MILLISECOND, NANOSECONDS, PublishedTrajectory
from .sent_messages import Echo, is_on, Reference, ROUNDING, seconds, Sent, SentMessages

UNHEARD = 20 * MILLISECOND
"""
Longest time for which motion goes on unheard [ns]: what a late message may cost. States that come
less often count for as long as two of them are apart.
"""
USUAL = 3
"""Messages in a row that are late before that is usual [1]."""
SEEN_LONG = 100 * MILLISECOND
"""States farther apart tell too little [ns]."""
REGULAR = 5
"""States in a row after which the next one is missed [1]."""
LOST = 500 * MILLISECOND
"""Time of silence, or off all that was sent, after which the controller is lost [ns]."""
NEVER = 1000 * MILLISECOND
"""Messages that are so late do not get through [ns]."""


@dataclass
class Lateness:
    """Lateness of a message, from when it was due until it was played."""

    played: Sent
    """Message that the controller played instead."""
    sent: int
    """Time at which it was sent [ns]."""
    due: int
    """[ns]."""
    until: int
    """Latest time at which it was not there yet [ns]."""
    seen: int = 0
    """Time at which it, or what replaces it, was seen to be there [ns]; 0 before that."""

    @property
    def duration(self) -> int:
        """Lateness by now [ns]."""
        return self.until - self.due

    @property
    def delivery(self) -> int:
        """Time that it takes from sending until it is there [ns]."""
        return max(self.until, self.seen) - self.sent


@dataclass
class Probe:
    """A little motion, sent to see whether it gets through."""

    base: Sent | None
    """The message it goes on from; None where the controller stands elsewhere."""
    fork: int | None = None
    """Time at which it begins [ns]; None before it is sent."""


class DeliveryWatch:
    """
    Compares what a controller says it plays with what was sent.

    Parameters
    ----------
    period : int
        Of the commands [ns].

    Attributes
    ----------
    sent : SentMessages
        What was sent.
    begins : int
        When the motion from the last rest begins [ns]: before that, being elsewhere means nothing.
    late : Lateness or None
        What is late now.
    was_late : Lateness or None
        What was late, and has come by now; taken away by who reads it.
    was_off : int
        For how long the controller played nothing that was sent, until now [ns]; likewise.

    """

    def __init__(self, period: int) -> None:
        self._period = period
        self.sent = SentMessages()
        self.begins = 0
        self.late: Lateness | None = None
        self.was_late: Lateness | None = None
        self.was_off = 0
        self._probe: Probe | None = None
        self._heard, self._count, self._interval = 0, 0, 0.0
        self._strange: tuple[Reference, Reference] | None = None
        """First reference of a row that belongs to no message, and the first where it is now."""
        self._now = 0
        """Time of the newest reference [ns]."""
        self._echo: Echo | None = None
        """Message that is known to be played; None where the controller does not say."""
        self._took: deque[int] = deque([0], maxlen=USUAL)
        """Times that it took to hear the last echoes [ns]."""

    # -- what is heard

    def note(self, now: int) -> None:
        """Take note that the controller was heard `now` [ns]."""
        gap = now - self._heard
        if not 0 <= gap <= SEEN_LONG:
            self._count = 0
        else:
            self._count += 1
            self._interval += (gap - self._interval) / min(self._count, REGULAR)
        self._heard = now

    def compare(self, reference: Reference, acceleration: Array) -> Sent | Reference | None:
        """
        Compare a reference of the controller with what was sent.

        Parameters
        ----------
        reference : Reference
            Of the controller.
        acceleration : array, shape (n,)
            Greatest acceleration of the joints [rad/s^2 or m/s^2].

        Returns
        -------
        Sent, Reference or None
            Where the motion has to go on from: an older message, or a place of the controller's
            own; None where nothing has to change.

        """
        self._now = reference.time
        if not self.sent:
            return None
        message = self._message_of(reference, acceleration)
        if message is None or message in self.sent.given_up:
            return self._look_at_strange(reference, message)
        if self._strange is not None:
            self.was_off, self._strange = self.off_for, None
        if message is self.sent.newest and not self._is_seen(reference, acceleration):
            return None
        following = self.sent.following(message)
        self._track(message, following)
        if self._echo is not None:
            return None
        is_late = following is not None and reference.time >= following.fork + UNHEARD
        return message if is_late else None

    def _message_of(self, reference: Reference, acceleration: Array) -> Sent | None:
        """Find the message that a reference belongs to."""
        echo, before = self.sent.echo(reference, acceleration), self._echo
        self._echo = echo
        if echo is None:
            return self.sent.played(reference, acceleration)
        if before is None or echo.begin > before.begin:
            self._took.append(self._heard - echo.at)
        return echo.message

    def _is_seen(self, reference: Reference, acceleration: Array) -> bool:
        """Whether the newest message is known to be played, where a reference lies on it."""
        probe = self._probe
        if probe is None:
            return True
        if probe.fork is None:
            return False
        if self._echo is not None:
            self._probe = None
            return True
        if reference.time < probe.fork:
            return False
        base = probe.base
        may_be_base = base is not None and is_on(base.curve, reference, acceleration)
        if may_be_base and reference.time < probe.fork + UNHEARD:
            return False
        self._probe = None
        if self.late is not None:
            self.late.seen = probe.fork
        return True

    def _track(self, message: Sent, following: Sent | None) -> None:
        """Take note of what the controller plays, and of the next message, which may be late."""
        if self.late is not None and self.late.played is not message:
            self.was_late, self.late = self.late, None
        if self.late is not None:
            self.late.until = self._now
        elif following is not None and following.fork < self._now:
            self.late = Lateness(message, following.at, following.fork, self._now)

    def _look_at_strange(self, reference: Reference, given_up: Sent | None) -> Reference | None:
        """Tell where the controller stands, if it does so outside all that was sent."""
        if reference.time <= self.begins:
            return None
        first, here = self._strange or (reference, reference)
        if np.max(np.abs(here.q - reference.q)) > ROUNDING:
            here = reference
        self._strange = first, here
        if given_up is not None:  # what was sent after it may come, too
            self._track(given_up, None)
        patience = UNHEARD if given_up is None else LOST
        stands = reference.rests and reference.time - here.time >= patience
        return reference if stands else None

    @property
    def is_off(self) -> bool:
        """Whether the controller plays nothing that was sent."""
        return self._strange is not None

    @property
    def off_for(self) -> int:
        """Time for which it has played nothing that was sent [ns]."""
        return 0 if self._strange is None else self._now - self._strange[0].time

    # -- what follows from it

    def is_silent(self, now: int) -> bool:
        """Whether a controller that can be heard has not been for too long."""
        longest = max(UNHEARD, math.ceil(2.0 * self._interval))
        return self._count >= REGULAR and now - self._heard > longest

    def must_wait(self, now: int) -> bool:
        """Whether it is not known what the controller does `now` [ns]: nothing may be sent."""
        return self.is_silent(now) or self.is_off

    def why_lost(self, now: int) -> str:
        """Say what is wrong where the controller does not come back; '' where it may."""
        if self.is_silent(now) and now - self._heard > LOST:
            return f'the controller has said nothing for {seconds(LOST):g} s'
        if self.off_for > NEVER:
            return 'the controller does not play what it is sent'
        if self.late is not None and self.late.duration > NEVER:
            return f'trajectories do not get to the controller within {seconds(NEVER):g} s'
        return ''

    def begin(self, now: int) -> None:
        """Begin from rest: a controller that fell silent long ago is not waited for."""
        if now - self._heard > LOST:
            self._count = 0

    def go_on_from(self, base: Sent | None) -> None:
        """Begin anew with a message, or where the controller stands; send little at first."""
        self._probe, self._strange = Probe(base), None
        self.sent.give_up(base)

    def add(self, message: Sent) -> None:
        """Take note of a message that is being sent."""
        self.sent.add(message)
        if self._probe is not None and self._probe.fork is None:
            self._probe.fork = message.fork

    @property
    def knows_messages(self) -> bool:
        """Whether the controller says which message it plays."""
        return self._echo is not None

    @property
    def is_waiting(self) -> bool:
        """Whether it is not known yet whether the last message gets through."""
        echo = self._echo
        return self._probe is not None or (
            echo is not None and echo.message is not self.sent.newest
        )

    def may_extend(self, curve: PublishedTrajectory, speed: Array, begin: int | None) -> bool:
        """
        Whether motion may go on, or has to be seen to be played before.

        Parameters
        ----------
        curve : PublishedTrajectory
            What is settled.
        speed : array, shape (n,)
            Greatest of the joints [rad/s or m/s].
        begin : int or None
            From when on the message that is being made differs from the one before [ns].

        """
        probe, echo = self._probe, self._echo
        if probe is None and echo is not None:
            new = 0 if begin is None else curve.fork - begin
            unheard = self.sent.motion_after(echo.message) + new
            usual = max(UNHEARD, min(self._took) + self._period)
            return self._is_little(new, curve, self.sent.newest, speed, UNHEARD) and (
                self._is_little(unheard, curve, echo.message, speed, usual)
            )
        begin = begin if probe is None or probe.fork is None else probe.fork
        return probe is None or begin is None or curve.fork < begin + UNHEARD

    def _is_little(
        self, motion: int, curve: PublishedTrajectory, before: Sent, speed: Array, most: int
    ) -> bool:
        """Whether motion [ns] on a curve since a message is little even with another step."""
        if motion == 0:
            return True
        way = float(np.max(np.abs(curve.end - before.curve.end) / speed)) * NANOSECONDS
        return max(motion, way) * (1.0 + self._period / motion) <= most

    def go_on_unheard(self) -> None:
        """Wait for the controller no longer."""
        self._count, self._strange, self._probe, self.late = 0, None, None, None
        self._echo = None
