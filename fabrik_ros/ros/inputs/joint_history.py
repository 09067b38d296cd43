"""History of the joints: their values a moment ago."""

from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterable, Sequence
import math

from ...errors import SceneError

LENGTH = 10.0
"""Time for which joint values are remembered [s]."""
MOST_LENGTH = 60.0
"""Longest time for which they may be asked to be remembered [s]."""
LARGEST_STEP = 0.5
"""Values farther apart than this are not interpolated: they were set anew [rad or m]."""
LATEST = 0.5
"""A stamp that is older than this when it is received is wrong [s]."""
LONGEST_GAP = 0.5
"""Longest gap between states in which a joint is known that moved; others always are [s]."""
LONGEST_LAG = 0.1
"""Time after its newest state for which a joint is taken to go on at its last velocity [s]."""
BASELINE = 0.02
"""Shortest time that a velocity is measured over [s]; noise counts for less over a long one."""
AT_REST = 1e-3
"""A joint that moved by less has not moved [rad or m]."""
TURN = 2.0 * math.pi


class JointHistory:
    """
    Values of joints in the last seconds, whoever published them.

    Parameters
    ----------
    names : iterable of str
        The joints to take note of.
    turning : iterable of str
        Those of them whose values mean the same a whole turn apart.

    Attributes
    ----------
    length : float
        How far back values are known [s].

    """

    def __init__(self, names: Iterable[str], turning: Iterable[str] = ()) -> None:
        self._names, self._turning = frozenset(names), frozenset(turning)
        self.length = LENGTH
        self._times: dict[tuple[str, ...], deque[float]] = {}
        self._values: dict[tuple[str, ...], deque[tuple[float, ...]]] = {}

    def add(
        self, names: Sequence[str], values: Sequence[float], stamp: float, received: float
    ) -> None:
        """
        Take a joint state.

        Parameters
        ----------
        names, values : sequence
            Joints and their values [rad or m].
        stamp, received : float
            When it was measured, and when it was received [s]; a stamp that cannot be right
            counts for nothing.

        """
        time = stamp if received - LATEST <= stamp <= received else received
        key, state = tuple(names), tuple(values)
        if len(key) != len(state) or not self._names.issuperset(key):
            known = [(n, v) for n, v in zip(names, values, strict=False) if n in self._names]
            key, state = tuple(n for n, _ in known), tuple(v for _, v in known)
        if not key:
            return
        if key not in self._times:
            self._times[key], self._values[key] = deque(), deque()
        times, states = self._times[key], self._values[key]
        if times and time < times[-1]:
            if time > times[-1] - LATEST:
                return
            times.clear()  # the clock was set back
            states.clear()
        times.append(time)
        states.append(state)
        while times[0] < time - self.length:
            times.popleft()
            states.popleft()

    def newest(self, names: Iterable[str]) -> float:
        """Time up to which all of some joints are known [s]; -inf if one never was."""
        return min((self._newest_of(name) for name in names), default=math.inf)

    def at(self, time: float, needed: Iterable[str]) -> dict[str, float]:
        """
        Values of all joints at a time [s], by name [rad or m].

        Parameters
        ----------
        time : float
            When; after the newest values these count.
        needed : iterable of str
            Joints that must be known.

        Raises
        ------
        SceneError
            If one of those is not known at that time; says why.

        """
        return self._known(time, needed, self._between)

    def carried_on(self, time: float, needed: Iterable[str], longest: float) -> dict[str, float]:
        """
        Values of all joints at a time [s] that may be a little after the newest state.

        Until `LONGEST_LAG` after it a joint is taken to go on as it did for as long before it.
        Later only joints are known that rested for so long.

        Parameters
        ----------
        time : float
            When.
        needed : iterable of str
            Joints that must be known.
        longest : float
            Time after its newest state at which any joint is lost [s].

        Raises
        ------
        SceneError
            If one of those is not known at that time; says why.

        """

        def values(key: tuple[str, ...], after: int, time: float) -> tuple[float, ...]:
            if after < len(self._times[key]):
                return self._between(key, after, time)
            return self._after_newest(key, time, longest)

        return self._known(time, needed, values)

    def forget(self) -> None:
        """Drop everything, as when the clock jumped."""
        self._times.clear()
        self._values.clear()

    def _known(
        self,
        time: float,
        needed: Iterable[str],
        values_of: Callable[[tuple[str, ...], int, float], tuple[float, ...]],
    ) -> dict[str, float]:
        """Collect what is known at a time [s]; of several states the newest counts."""
        places = {key: bisect_right(times, time) for key, times in self._times.items()}
        keys = [key for key, after in places.items() if after > 0]
        found: dict[str, float] = {}
        for key in sorted(keys, key=lambda key: self._times[key][places[key] - 1]):
            pairs = zip(key, values_of(key, places[key], time), strict=False)
            found |= {n: v for n, v in pairs if math.isfinite(v)}
        for name in needed:
            if name not in found:
                raise SceneError(self._unknown(name, time))
        return found

    def _newest_of(self, name: str) -> float:
        return max((t[-1] for key, t in self._times.items() if name in key), default=-math.inf)

    def _between(self, key: tuple[str, ...], after: int, time: float) -> tuple[float, ...]:
        """Values between those before a place and after it; NaN where they are not known."""
        times, states = self._times[key], self._values[key]
        if after == len(times):
            return states[-1]
        before, begin, gap = states[after - 1], times[after - 1], times[after] - times[after - 1]
        share = (time - begin) / gap
        steps = self._steps(key, before, states[after])
        if gap > LONGEST_GAP:
            return tuple(
                a if abs(step) <= AT_REST else math.nan
                for a, step in zip(before, steps, strict=False)
            )
        return tuple(
            a + share * step if abs(step) <= LARGEST_STEP else a
            for a, step in zip(before, steps, strict=False)
        )

    def _after_newest(
        self, key: tuple[str, ...], time: float, longest: float
    ) -> tuple[float, ...]:
        """Values after the newest state; NaN where they are not known."""
        times, newest = self._times[key], self._values[key][-1]
        lag = time - times[-1]
        if lag > longest:
            return (math.nan,) * len(newest)
        begin = bisect_right(times, times[-1] - max(BASELINE, lag)) - 1
        if begin < 0:
            return newest
        share = lag / (times[-1] - times[begin])
        steps = self._steps(key, self._values[key][begin], newest)
        if lag > LONGEST_LAG:
            return tuple(
                b if abs(step) <= AT_REST else math.nan
                for b, step in zip(newest, steps, strict=False)
            )
        return tuple(
            b + share * step if abs(step) <= LARGEST_STEP else b
            for b, step in zip(newest, steps, strict=False)
        )

    def _steps(
        self, key: tuple[str, ...], before: Sequence[float], after: Sequence[float]
    ) -> list[float]:
        """Move of each joint from one state to another, the short way [rad or m]."""
        steps = ((name, b - a) for name, a, b in zip(key, before, after, strict=False))
        return [
            math.remainder(step, TURN) if name in self._turning and math.isfinite(step) else step
            for name, step in steps
        ]

    def _unknown(self, name: str, time: float) -> str:
        """Say why a joint is not known at a time [s]."""
        known = [times for key, times in self._times.items() if name in key]
        if not known:
            return f"no joint state of '{name}' has come yet"
        oldest, newest = min(times[0] for times in known), max(times[-1] for times in known)
        if time < oldest:
            return (
                f'its stamp is {oldest - time:.2f} s before the first known value of joint '
                f"'{name}'; {self.length:g} s are kept"
            )
        if time > newest:
            return f"its stamp is {time - newest:.2f} s after the newest joint state of '{name}'"
        return f"its stamp is in a gap between joint states in which '{name}' moved"
