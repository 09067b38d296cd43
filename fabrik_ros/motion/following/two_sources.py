"""Two sources of the values of one joint: they take turns between two places."""

from collections import deque
import math

NOISE = 0.006
"""Difference of two values that says nothing: a coarse servo has steps of 5.1 mrad [rad or m]."""
CLEARLY = 0.25
"""A value is clearly of one of two sources within this share of their distance [1]."""
TURNS = 12
"""Number of clear turns of two places within `MEMORY` that tells two sources [1]."""
FAR, FAR_TURNS = 0.2, 6
"""Distance of places that is no noise [rad or m], and the turns that suffice then [1]."""
FEW_TURNS = 3
"""Number of turns from which on two sources are expected [1]."""
DELAY = 0.15
"""Longest delay of a source behind the other, besides what their stamps say [s]."""
LONGEST_DELAY = 0.5
"""Stamps say no more than this [s]."""
SPAN = 0.1
"""Time over which the speed of a joint is taken [s]."""
MEMORY = 1.5
"""Values older than this contradict nobody [s]."""


class Source:
    """
    Values that seem to come from one source.

    Attributes
    ----------
    value, before : float
        The newest, and the one before [rad or m].
    time, stamp : float
        When that was received, and measured [s].

    """

    __slots__ = ('_begin', '_speeds', 'before', 'stamp', 'time', 'value')

    def __init__(self, value: float, time: float, stamp: float) -> None:
        self.value, self.time, self.stamp = value, time, stamp
        self.before = value
        self._begin = time, value
        self._speeds = 0.0, math.inf
        """Speeds in the last span, and in the one before; inf: not known yet [rad/s or m/s]."""

    def go_on(self, value: float, time: float, stamp: float, cycle: float) -> None:
        """Take the next value of a joint that stands as before after a `cycle`."""
        self.before = self.value
        self.value, self.time, self.stamp = value, time, stamp
        begin, before = self._begin
        if not 0.0 <= time - begin < SPAN:
            last = self._speeds[0]
            self._speeds = _distance(value, before, cycle) / max(SPAN, time - begin), last
            self._begin = time, value

    def speed(self, cycle: float) -> float:
        """Return the greatest speed of the joint lately [rad/s or m/s]; inf: not known yet."""
        return max(_distance(self.value, self._begin[1], cycle) / SPAN, *self._speeds)


class TwoSources:
    """
    Tells whether the values of a joint come from two sources that contradict each other.

    Noise has values between, a motion does not go back, and a source that is only behind the other
    is no farther from it than the joint is fast.

    Parameters
    ----------
    value : float
        The first value [rad or m].
    time, stamp : float
        When it was received, and measured [s].
    cycle : float
        How far the joint goes until it stands as before [rad]; inf unless it is continuous.

    Attributes
    ----------
    contradicted_at : float
        When they last contradicted each other [s]; -inf: never.
    contradiction : tuple of float
        Their values then [rad or m].

    """

    __slots__ = (
        '_last',
        '_other',
        '_turns',
        '_unexplained',
        'contradicted_at',
        'contradiction',
        'cycle',
    )

    def __init__(self, value: float, time: float, stamp: float, cycle: float) -> None:
        self.cycle = cycle
        self._last = Source(value, time, stamp)
        """Source of the newest value."""
        self._other: Source | None = None
        self._turns: deque[float] = deque(maxlen=TURNS)
        """Times at which a value of one followed one of the other [s]."""
        self._unexplained: deque[float] = deque(maxlen=TURNS)
        """
        Times of turns since the last one explained by a source that is only behind the other [s].
        """
        self.contradicted_at = -math.inf
        self.contradiction = math.nan, math.nan

    def take(self, value: float, time: float, stamp: float) -> None:
        """Take the next value [rad or m], received at a time and measured at another [s]."""
        last, other = self._last, self._other
        if other is None and abs(value - last.value) <= NOISE:
            last.go_on(value, time, stamp, self.cycle)
            return
        off = _distance(value, last.value, self.cycle)
        if other is not None and abs(time - other.time) <= MEMORY:
            gap = _distance(other.value, last.value, self.cycle)
            nearest = CLEARLY * gap if gap > NOISE else -1.0
            if off <= nearest:
                self._go_on_as_last(last, value, time, stamp, off)
                return
            if _distance(value, other.value, self.cycle) <= nearest:
                other.go_on(value, time, stamp, self.cycle)
                self._last, self._other = other, last
                self._turn(other, last, gap)
                return
        self._turns.clear()
        self._unexplained.clear()
        if off <= NOISE:
            last.go_on(value, time, stamp, self.cycle)
            self._other = None
        else:
            self._last, self._other = Source(value, time, stamp), last

    def _go_on_as_last(
        self, last: Source, value: float, time: float, stamp: float, off: float
    ) -> None:
        """Take the next value of a source, or find that it is two near to each other."""
        goes_back = _distance(value, last.before, self.cycle) <= CLEARLY * off
        if off > NOISE and goes_back:
            self._turns.clear()
            self._unexplained.clear()
            self._last, self._other = Source(value, time, stamp), last
        else:
            last.go_on(value, time, stamp, self.cycle)

    def are_expected(self, now: float) -> bool:
        """Whether values took turns lately, as those of two sources do."""
        return len(self._turns) >= FEW_TURNS and abs(now - self._turns[-1]) <= MEMORY

    def _turn(self, source: Source, other: Source, gap: float) -> None:
        """Take note that a value of one followed one of the other, in a distance [rad or m]."""
        self._turns.append(source.time)
        self._unexplained.append(source.time)
        speed = max(source.speed(self.cycle), other.speed(self.cycle))
        if math.isinf(speed):
            return
        delay = DELAY + min(abs(source.stamp - other.stamp), LONGEST_DELAY)
        needed = TURNS if gap < FAR else FAR_TURNS
        if gap <= NOISE + delay * speed:
            self._unexplained.clear()
        elif (
            len(self._unexplained) >= needed and source.time - self._unexplained[-needed] <= MEMORY
        ):
            self.contradicted_at = source.time
            self.contradiction = source.value, other.value


def _distance(value: float, other: float, cycle: float) -> float:
    return abs(math.remainder(value - other, cycle))
