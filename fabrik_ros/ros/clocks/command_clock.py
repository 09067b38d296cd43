"""Stamps of commands: a steady grid where the scheduler allows, real time where it does not."""

import math

from ...motion.controllers.published_trajectory import NANOSECONDS
from ...motion.follower_options import longest_gap

PACE_TOLERANCE = 0.1
"""Greatest difference between the period of targets and of commands [1], for one pace."""
PACE_MEMORY = 32
"""Number of targets that the pace is averaged over [1]."""
TARGET_WAIT = 0.25
"""Longest wait of a tick for the target that leads its command [periods]."""
TRACKING = 0.25
"""Share of the time a target was early or late that the stamps take over [1]."""
LEAST_JUMP = 10_000_000
"""A smaller step of the clock [ns] is a correction of its rate, not a jump."""


class TargetStream:
    """
    Tells whether targets come at the pace of the commands.

    Parameters
    ----------
    period : int
        Time between commands [ns].
    longest_gap : int
        A longer one ends a stream [ns].

    """

    def __init__(self, period: int, longest_gap: int) -> None:
        self._period, self._longest_gap = period, longest_gap
        self.forget()

    def forget(self) -> None:
        """Forget the stream."""
        self._last: int | None = None
        self._gap, self._count = math.inf, 0

    def note_target(self, now: int) -> None:
        """Note a target that came at `now` [ns]."""
        gap = -1 if self._last is None else now - self._last
        if not 0 <= gap <= self._longest_gap:
            self.forget()
        else:
            self._count = min(self._count + 1, PACE_MEMORY)
            before = self._gap if self._count > 1 else 0.0
            self._gap = before + (gap - before) / self._count
        self._last = now

    def keep_pace(self, now: int, within: int) -> bool:
        """Whether targets come as often as commands, the last one `within` this time [ns]."""
        return (
            self._last is not None
            and 0 <= now - self._last <= within
            and abs(self._gap - self._period) <= PACE_TOLERANCE * self._period
        )


class CommandClock:
    """
    Gives each command its stamp and the time since the command before.

    A tick that comes a little early or late keeps to the grid, so jitter of the scheduler does
    not turn into jitter of the velocities. A tick that comes later is stamped with its own
    time. After a longer gap the arm has come to rest: `was_interrupted` tells. Stamps increase
    strictly, unless the clock goes back: then they go on from its new time, one period a step.
    Where a steady clock is given, too, no jump forwards is taken for a gap.

    A stream of targets at the pace of the commands leads them: each command leaves with the
    target it is for, instead of up to a period later. For that the ticks wait a little longer,
    until they meet the targets and are no longer needed, and the stamps follow the targets.
    Where the steps have to be `even`, no target leads, and a command that comes late covers a
    whole number of periods.

    Parameters
    ----------
    period : float
        Time between commands [s].
    before : CommandClock, optional
        The clock of the commands before.
    even : bool
        Whether all commands of a stream are whole periods apart.

    """

    def __init__(
        self, period: float, before: 'CommandClock | None' = None, even: bool = False
    ) -> None:
        self._period, self._even = round(period * NANOSECONDS), even
        self._target_wait = round(TARGET_WAIT * self._period)
        self._longest_gap = round(longest_gap(period) * NANOSECONDS)
        self._last: int | None = None if before is None else before._last
        self._before = self._last
        self._seen: int = 0 if before is None else before._seen
        self._seen_steady: int | None = None if before is None else before._seen_steady
        self._targets = TargetStream(self._period, self._longest_gap)
        self.was_interrupted = True
        """Whether the newest stamp does not follow the one before it."""
        self.back_by = 0
        """Step back of the clock since the time before [ns]."""

    @property
    def went_back(self) -> bool:
        """Whether the clock showed less than the time before."""
        return self.back_by > 0

    @property
    def last(self) -> int:
        """Stamp [ns] of the last command; 0 before the first."""
        return self._last or 0

    @property
    def period(self) -> int:
        """Time between commands [ns]."""
        return self._period

    @property
    def earliest(self) -> int:
        """Earliest time [ns] of the next command, with a target that leads or by a tick."""
        return self.last + self._period // 2

    def note_target(self, now: int) -> None:
        """Note a target that came at `now` [ns]."""
        if not self._even:
            self._targets.note_target(now)

    def is_led(self, now: int) -> bool:
        """Whether targets come at the pace of the commands, and the last one just did."""
        return self._targets.keep_pace(now, within=self._period + self._target_wait)

    def tick_period(self, now: int) -> int:
        """Time [ns] from a command to the tick that sends the next one without a target."""
        return self._period + (self._target_wait if self.is_led(now) else 0)

    def is_due(self, now: int) -> bool:
        """Whether the command for a target that came at `now` [ns] may leave with it."""
        if self._last is None:
            return True
        # The stamps are ahead of a stream that is faster than the commands.
        return now >= self._last + self._period or (now >= self.earliest and self.is_led(now))

    def is_early(self, now: int) -> bool:
        """Whether the command for a tick at `now` [ns] has left already, before the tick."""
        return self._last is not None and self._seen <= now < self.earliest

    def has_paused(self, now: int, steady: int | None = None) -> bool:
        """
        Whether an arm that waits for commands has come to rest since the last one.

        Parameters
        ----------
        now : int
            The time that commands are stamped with [ns].
        steady : int, optional
            The time by a clock that never jumps [ns]; left out where `now` is the time of
            everything, as in a simulation.

        """
        return self._last is None or self._gap(self._last, now, steady) > self._longest_gap

    def _gap(self, last: int, now: int, steady: int | None) -> int:
        """Time since a stamp [ns], less what the clock was set by in between."""
        if steady is None or self._seen_steady is None:
            return now - last
        set_by = (now - self._seen) - (steady - self._seen_steady)
        return now - last - (set_by if abs(set_by) > LEAST_JUMP else 0)

    def next(
        self, now: int, steady: int | None = None, with_target: bool = False
    ) -> tuple[int, float]:
        """
        Stamp [ns] of a command sent at `now` [ns], and the time it covers [s].

        `with_target` tells whether a target leads it, not a tick.
        """
        last, period = self._last, self._period
        self._before = last
        self.back_by = max(0, self._seen - now)
        self.was_interrupted = self.has_paused(now, steady)
        self._seen, self._seen_steady = now, steady
        if last is None or self.was_interrupted:
            self._last = now if last is None or self.went_back else max(now, last + 1)
            return self._last, period / NANOSECONDS
        if self.went_back or now - last > self._longest_gap:
            self._last = now
            # The last stamp is that of the grid: the clock may go back and still be past it.
            return now, (min(period, now - last) if now > last else period) / NANOSECONDS
        self._last = self._on_grid(now, last, with_target)
        return self._last, (self._last - last) / NANOSECONDS

    def _on_grid(self, now: int, last: int, with_target: bool) -> int:
        """Stamp of a command that follows the one stamped `last` [ns]."""
        is_led = self.is_led(now)
        expected = last + (self._period if with_target else self.tick_period(now))
        late = now - expected
        if self._even:
            return expected + max(0, round(late / self._period)) * self._period
        if abs(late) > self._period // 2:
            return max(now, last + 1)
        return expected + (round(TRACKING * late) if with_target and is_led else 0)

    def take_back(self) -> None:
        """Forget the newest stamp: its command was not sent."""
        self._last = self._before

    def follow_on(self) -> tuple[int, float]:
        """Stamp [ns] one period after the last, whatever the time is."""
        self._targets.forget()
        return self.next(self.last + self._period)
