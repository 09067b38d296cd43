"""Stamps of commands: a steady grid where the scheduler allows, real time where it does not."""

NANOSECONDS = 1_000_000_000
LONGEST_GAP = 0.1
LONGEST_GAP_PERIODS = 3


class CommandClock:
    """
    Gives each command its stamp and the time since the command before.

    A tick that comes a little early or late keeps to the grid, so jitter of the scheduler does
    not turn into jitter of the velocities. A tick that comes later is stamped with its own
    time. After a longer gap the arm has come to rest: `was_interrupted` tells. Stamps increase
    strictly, unless the clock goes back: then they go on from its new time, one period a step.
    Where a steady clock is given, too, no jump forwards is taken for a gap.

    Parameters
    ----------
    period : float
        Time between commands [s].

    """

    def __init__(self, period: float) -> None:
        self._period = round(period * NANOSECONDS)
        self._longest_gap = round(max(LONGEST_GAP, LONGEST_GAP_PERIODS * period) * NANOSECONDS)
        self._last: int | None = None
        self._seen = 0
        self._seen_steady: int | None = None
        self.was_interrupted = True
        """Whether the newest stamp does not follow the one before it."""
        self.went_back = False
        """Whether the clock showed less than the time before."""

    @property
    def last(self) -> int:
        """Stamp [ns] of the last command; 0 before the first."""
        return self._last or 0

    def is_due(self, now: int) -> bool:
        """Whether a period has passed at `now` [ns] since the last command, or none was sent."""
        return self._last is None or now - self._last >= self._period

    def is_early(self, now: int) -> bool:
        """Whether the command for a tick at `now` [ns] has left already, before the tick."""
        return self._last is not None and self._seen <= now < self._last + self._period // 2

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
        if self._last is None:
            return True
        if steady is None or self._seen_steady is None:
            return now - self._last > self._longest_gap
        return steady - self._seen_steady > self._longest_gap

    def next(self, now: int, steady: int | None = None) -> tuple[int, float]:
        """Stamp [ns] of a command sent at `now` [ns], and the time it covers [s]."""
        last, period = self._last, self._period
        self.went_back = now < self._seen
        self.was_interrupted = self.has_paused(now, steady)
        self._seen, self._seen_steady = now, steady
        if last is None or self.was_interrupted:
            self._last = now if last is None or self.went_back else max(now, last + 1)
            return self._last, period / NANOSECONDS
        if self.went_back or now - last > self._longest_gap:
            self._last = now
            # The last stamp is that of the grid: the clock may go back and still be past it.
            return now, (min(period, now - last) if now > last else period) / NANOSECONDS
        late = now - (last + period)
        self._last = last + period if abs(late) <= period // 2 else max(now, last + 1)
        return self._last, (self._last - last) / NANOSECONDS

    def follow_on(self) -> tuple[int, float]:
        """Stamp [ns] one period after the last, whatever the time is."""
        return self.next(self.last + self._period)
