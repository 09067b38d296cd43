"""Look-ahead: the time by which commands are sent early to controllers of trajectories."""

from .published_trajectory import MILLISECOND, NANOSECONDS

LONGEST = 300 * MILLISECOND
"""Longest look-ahead that lateness makes of the default [ns]; holds show so much later."""
MARGIN = 10 * MILLISECOND
"""Excess over the time of late messages that others may take, besides a period [ns]."""
KEPT = 10 * NANOSECONDS
"""Time without lateness after which a longer look-ahead begins to come back [ns]."""
EASING = NANOSECONDS
"""Time for each period by which it comes back then [ns]."""


class LookAhead:
    """
    Time from the stamp of a command until a controller reaches it.

    It grows where messages come too late, and slowly comes back. Both change when commands are
    made, not what they are: a longer one takes two steps at once for a while, a shorter one none.

    Parameters
    ----------
    base : int
        The shortest [ns].
    period : int
        Of the commands; what is added to the shortest is a multiple [ns].
    adapts : bool
        Whether it changes at all.

    Attributes
    ----------
    extra : int
        What is added to the shortest one now [ns].

    """

    def __init__(self, base: int, period: int, adapts: bool) -> None:
        self._base, self._period = base, period
        self._longest = max(base, LONGEST) if adapts else base
        self.extra = self._wanted = 0
        self._changed = 0

    @property
    def total(self) -> int:
        """Look-ahead in force [ns]."""
        return self._base + self.extra

    @property
    def budget(self) -> int:
        """Part of it in which a step that changes the curve is planned, sent and received [ns]."""
        return (self.total - 2 * self._period) * 3 // 4

    def bear_delivery(self, duration: int, now: int) -> None:
        """Become long enough for messages that take so long [ns], as found `now` [ns]."""
        self.bear((duration + MARGIN + self._period) * 4 // 3 + 2 * self._period, now)

    def bear(self, needed: int, now: int) -> None:
        """Become as long as was found to be needed `now` [ns]; not if that is too long."""
        self._changed = now + KEPT
        if needed <= self._longest:
            periods = -(-(needed - self._base) // self._period)
            self._wanted = max(self._wanted, periods * self._period)

    def take_up(self, now: int, rests: bool) -> None:
        """Change towards what is wanted: by a period, or at once where the curve `rests`."""
        if self._wanted and now - self._changed >= EASING:
            self._wanted, self._changed = self._wanted - self._period, now
        change = self._wanted - self.extra
        most = abs(change) if rests else self._period
        self.extra += max(-most, min(change, most))
