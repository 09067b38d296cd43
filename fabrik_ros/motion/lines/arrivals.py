"""When the goals of a stream begin: as evenly as they were sent, however unevenly they come."""

from collections import deque

COUNT = 20
"""Gaps between goals of which the interval is the mean [1]."""
LOST, MOST_LOST = 1.75, 0.2
"""Gaps longer than this many usual ones are left out, if no more than this share is [1]."""
SHORTEST_INTERVAL, LONGEST_INTERVAL = 0.005, 0.25
"""Bounds of the interval [s]."""
DRAIN = 0.02
"""Share of the interval by which a goal waits less than the one before it [1]."""
MOST_WAITING = 1.5
"""Intervals for which a goal waits at most [1]."""


class Arrivals:
    """
    Schedule of the goals of a stream, which come late by turns: by a network, or by the ticks.

    Each goal begins an interval after the one before it, or as soon as it is there. So goals soon
    begin as late as the latest of them come, and evenly.
    """

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Forget the stream."""
        self._gaps: deque[float] = deque(maxlen=COUNT)
        self.interval = SHORTEST_INTERVAL
        """Time between two goals, but for lost ones [s]."""

    def copy(self) -> 'Arrivals':
        """Another schedule that goes on alike."""
        other = Arrivals()
        other._gaps, other.interval = self._gaps.copy(), self.interval
        return other

    def note(self, gap: float) -> None:
        """Take note of a goal that comes so long [s] after the one before it."""
        self._gaps.append(gap)
        gaps = sorted(self._gaps)
        longest = LOST * gaps[len(gaps) // 2]
        usual = [gap for gap in gaps if gap <= longest]
        if len(usual) < (1.0 - MOST_LOST) * len(gaps):
            usual = gaps
        self.interval = min(max(sum(usual) / len(usual), SHORTEST_INTERVAL), LONGEST_INTERVAL)

    def wait(self, since_last: float) -> float | None:
        """
        Time until a goal that is there now begins [s]; None if it is to go along with the last.

        Parameters
        ----------
        since_last : float
            Time since the goal before it began; negative if it has not begun [s].

        """
        late = since_last - self.interval
        if late > 0.0:
            return max(0.0, round(late / self.interval) * self.interval - late)
        wait = -late - DRAIN * self.interval
        return max(0.0, wait) if wait <= MOST_WAITING * self.interval else None
