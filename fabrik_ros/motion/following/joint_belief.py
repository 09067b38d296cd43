"""Belief in a measured joint: values that it can have reached since the one before."""

import math

from .two_sources import MEMORY, TwoSources

MARGIN = 1.25
"""A joint may be this many times as fast as its limit, moved by hand [1]."""
LEAST_SPEED = 1.0
"""Any joint may be this fast when it is moved by hand [rad/s or m/s]."""
UNKNOWN_SPEED = 20.0
"""Greatest speed of a joint without a limit [rad/s or m/s]."""
NOISE = 0.005
"""Difference of two values that says nothing [rad or m]."""
JITTER = 0.05
"""Greatest excess of the time between two values over what it seems [s]."""
SILENCE = 0.15
"""A first value elsewhere after so long needs a second one that agrees [s]."""
RELAYED = 0.5
"""A value that is older than the one before by up to this is left out if it fits that [s]."""


def believable_speed(limit: float) -> float:
    """Greatest speed that is believed of a joint with a velocity limit, or an infinite one."""
    return max(MARGIN * limit, LEAST_SPEED) if math.isfinite(limit) else UNKNOWN_SPEED


class Track:
    """
    Values that one joint may have gone through, one after the other.

    Attributes
    ----------
    value : float
        The newest [rad or m].
    time, stamp : float
        When that was received, and measured [s].
    run : int
        How many came since a value of another track [1].

    """

    __slots__ = ('run', 'stamp', 'time', 'value')

    def __init__(self, value: float, time: float, stamp: float) -> None:
        self.value, self.time, self.stamp, self.run = value, time, stamp, 1

    def go_on(self, value: float, time: float, stamp: float) -> None:
        """Take the next value."""
        self.value, self.time, self.stamp = value, time, stamp
        self.run += 1


class JointBelief:
    """
    The value of one joint, from all that is said about it.

    A value too far from the one before, for the time between, is put aside: a glitch. If a second
    one agrees with it and nothing else came meanwhile, the joint is there: somebody set it anew,
    or restarted its simulation. If both go on in turn, there are two sources. The first value of
    all is in doubt until a second one follows, and so is one elsewhere after a silence.

    Parameters
    ----------
    value : float
        The first value [rad or m].
    time, stamp : float
        When it was received, and measured [s].
    speed : float
        Greatest speed of the joint [rad/s or m/s]; inf: every value is believed.
    cycle : float
        How far it goes until it stands as before [rad]; inf unless it is continuous.

    Attributes
    ----------
    believed : Track
        What is believed.
    sources : TwoSources
        Whether two contradict each other, however near their values are.
    jumped_at : float
        When it was last somewhere else at once [s]; -inf: never.

    """

    __slots__ = ('_cycle', '_is_lone', '_other', '_speed', 'believed', 'jumped_at', 'sources')

    def __init__(
        self,
        value: float,
        time: float,
        stamp: float,
        speed: float = math.inf,
        cycle: float = math.inf,
    ) -> None:
        self._speed, self._cycle = speed, cycle
        self.believed = Track(value, time, stamp)
        self._other: Track | None = None
        self._is_lone = True
        """Whether one value alone says where the joint is."""
        self.sources = TwoSources(value, time, stamp, cycle)
        self.jumped_at = -math.inf

    def expect(self, speed: float, cycle: float) -> None:
        """Believe in another greatest speed, and cycle, from now on."""
        self._speed, self._cycle = speed, cycle
        self.sources.cycle = cycle

    def take(self, value: float, time: float, stamp: float) -> None:
        """Take the next value [rad or m], received at a time and measured at another [s]."""
        self.sources.take(value, time, stamp)
        believed, other = self.believed, self._other
        if other is None and stamp >= believed.stamp and abs(value - believed.value) <= NOISE:
            self._is_lone = False
            believed.go_on(value, time, stamp)
            return
        if other is not None and not abs(time - other.time) <= MEMORY:
            other = self._other = None
        if stamp < believed.stamp and self._is_late(believed, value, stamp):
            return
        if self._leads_to(believed, value, time, stamp):
            is_elsewhere = self._distance(believed.value, value) > NOISE
            self._is_lone = is_elsewhere and time - believed.time > SILENCE
            believed.go_on(value, time, stamp)
            if other is not None:
                self._set_back(other, value)
        elif other is not None and self._leads_to(other, value, time, stamp):
            other.go_on(value, time, stamp)
            self._weigh(believed, other, time)
        else:
            self._other = Track(value, time, stamp)

    def confirm(self) -> None:
        """Take note that the joint is where it is believed to be: no second value is needed."""
        self._is_lone = False

    def is_in_doubt(self, since: float) -> bool:
        """Whether the newest value came after a time [s], and waits for another that agrees."""
        believed, other = self.believed, self._other
        if other is not None and other.time > believed.time:
            return other.time >= since
        return self._is_lone and believed.time >= since

    def _set_back(self, other: Track, value: float) -> None:
        """Take note that a value followed that is believed."""
        if self._distance(other.value, value) <= NOISE:
            self._other = None  # both say the same again
        else:
            other.run = 0

    def _weigh(self, believed: Track, other: Track, now: float) -> None:
        """Believe in the other values, if they go on alone."""
        if other.run > 1 and not self.sources.are_expected(now):
            self.believed, self._other = other, believed
            believed.run, self.jumped_at, self._is_lone = 0, now, False

    def _is_late(self, believed: Track, value: float, stamp: float) -> bool:
        """Whether a value that was measured before came late: by a relay, or another way."""
        age = believed.stamp - stamp
        reach = NOISE + self._speed * age
        return age <= RELAYED and self._distance(believed.value, value) <= reach

    def _leads_to(self, track: Track, value: float, time: float, stamp: float) -> bool:
        distance = abs(math.remainder(track.value - value, self._cycle))
        if distance <= NOISE:
            return True
        passed = max(abs(time - track.time), min(stamp - track.stamp, MEMORY))
        return distance <= NOISE + self._speed * (passed + JITTER)

    def _distance(self, value: float, other: float) -> float:
        return abs(math.remainder(value - other, self._cycle))
