"""Stamps of commands: a steady grid where the scheduler allows, real time where it does not."""

NANOSECONDS = 1_000_000_000
GAP_PERIODS = 5


class CommandClock:
    """
    Gives each command its stamp and the time since the command before.

    A tick that comes a little early or late keeps to the grid, so jitter of the scheduler does
    not turn into jitter of the velocities. A tick that comes later is stamped with its own
    time. After a longer gap the arm has come to rest: `was_interrupted` tells.

    Parameters
    ----------
    period : float
        Time between commands [s].

    """

    def __init__(self, period: float) -> None:
        self._period = round(period * NANOSECONDS)
        self._last: int | None = None
        self.was_interrupted = True
        """Whether the newest stamp does not follow the one before it."""

    def next(self, now: int) -> tuple[int, float]:
        """Stamp [ns] of a command sent at `now` [ns], and the time it covers [s]."""
        last, period = self._last, self._period
        self.was_interrupted = last is None or not 0 < now - last <= GAP_PERIODS * period
        if last is None or self.was_interrupted:
            self._last = now if last is None or now < last else max(now, last + 1)
            return self._last, period / NANOSECONDS
        late = now - (last + period)
        self._last = last + period if abs(late) <= period // 2 else now
        return self._last, (self._last - last) / NANOSECONDS

    def follow_on(self) -> tuple[int, float]:
        """Stamp [ns] one period after the last, whatever the time is."""
        return self.next((self._last or 0) + self._period)
