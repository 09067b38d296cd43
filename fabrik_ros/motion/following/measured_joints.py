"""The measured joint values, from any publisher."""

from collections.abc import Callable, Iterable, Mapping
import math

from .joint_belief import JointBelief
from .two_sources import MEMORY

MOST_KINDS = 100
"""Number of kinds of messages, by the joints they are about, that are remembered [1]."""


class MeasuredJoints:
    """
    The newest believable value of every joint, from any publisher, with its age.

    Parameters
    ----------
    names : iterable of str, optional
        The joints whose values are kept; None: all.

    Attributes
    ----------
    on_update : callable or None
        Is called after each message, with the time it was received [s].
    hear : callable
        Takes what has come already, but was not looked at: nothing is missing before that.

    """

    def __init__(self, names: Iterable[str] | None = None) -> None:
        self.on_update: Callable[[float], None] | None = None
        self.hear: Callable[[], None] = _hear_nothing
        self._names = None if names is None else frozenset(names)
        self._speeds: dict[str, tuple[float, float]] = {}
        self._joints: dict[str, JointBelief] = {}
        self._known: dict[tuple[str, ...], list[JointBelief]] = {}
        """Beliefs about several joints, none of which is missing, by their names."""
        self._told: dict[tuple[str, ...], list[JointBelief | None]] = {}
        """Beliefs that the values of a message are about, by its names; None: of no interest."""
        self._contradicted_at = -math.inf
        """Time at which two sources last contradicted each other about any joint [s]."""

    def expect(
        self, names: Iterable[str], speeds: Iterable[float], cycles: Iterable[float]
    ) -> None:
        """
        Believe of some joints only what they can have reached since the value before.

        Parameters
        ----------
        names : iterable of str
            The joints; of all others every value is believed.
        speeds : iterable of float
            Their greatest speeds [rad/s or m/s].
        cycles : iterable of float
            How far each goes until it stands as before [rad]; inf unless it is continuous.

        """
        for name, speed, cycle in zip(names, speeds, cycles, strict=True):
            self._speeds[name] = speed, cycle
            if name in self._joints:
                self._joints[name].expect(speed, cycle)

    def update(
        self,
        names: Iterable[str],
        values: Iterable[float],
        now: float,
        stamp: float | None = None,
    ) -> None:
        """
        Merge a message; values that are not finite are left out.

        Parameters
        ----------
        names, values : iterable
            Joints and their values [rad or m].
        now : float
            When it was received [s].
        stamp : float, optional
            When it was measured [s]; left out: as it was received.

        """
        measured, names = now if stamp is None else stamp, tuple(names)
        told = self._told.get(names)
        if told is None:
            values = tuple(values)
            told = self._begin(names, values, now, measured)
        is_finite = math.isfinite
        for joint, value in zip(told, values, strict=False):
            if joint is not None and is_finite(value):
                joint.take(value, now, measured)
                if joint.sources.contradicted_at > self._contradicted_at:
                    self._contradicted_at = joint.sources.contradicted_at
        if self.on_update is not None:
            self.on_update(now)

    def _begin(
        self, names: tuple[str, ...], values: Iterable[float], now: float, measured: float
    ) -> list[JointBelief | None]:
        """Take the first value of each joint; return the beliefs that there were before."""
        told = [self._joints.get(name) for name in names]
        kept = set(names) if self._names is None else self._names.intersection(names)
        if kept <= self._joints.keys():
            if len(self._told) >= MOST_KINDS:
                self._told.clear()
            self._told[names] = told
        for name, value in zip(names, values, strict=False):
            if name in kept and name not in self._joints and math.isfinite(value):
                self._joints[name] = JointBelief(value, now, measured, *self._speeds.get(name, ()))
        return told

    def confirm(self, names: Iterable[str]) -> None:
        """Take note that some joints, none of which is missing, are where they were measured."""
        for name in names:
            self._joints[name].confirm()

    def fresh(self, now: float, timeout: float) -> Mapping[str, float]:
        """Values no older than `timeout`."""
        return {
            name: joint.believed.value
            for name, joint in self._joints.items()
            if abs(now - joint.believed.time) <= timeout
        }

    def reading(self, name: str, now: float, timeout: float) -> tuple[float, float] | None:
        """Value of a joint and its time [s]; None where there is none, or one too old."""
        believed = self._joints[name].believed if name in self._joints else None
        if believed is None or abs(now - believed.time) > timeout:
            return None
        return believed.value, believed.time

    def newest(self, names: Iterable[str]) -> list[float]:
        """Values of some joints, none of which is missing, however old."""
        joints = self._joints
        return [joints[name].believed.value for name in names]

    def _beliefs(self, names: tuple[str, ...]) -> list[JointBelief] | None:
        """Beliefs about some joints; None where one of them is missing."""
        if not all(name in self._joints for name in names):
            return None
        known = self._known[names] = [self._joints[name] for name in names]
        return known

    def missing(self, names: Iterable[str], now: float, timeout: float) -> list[str]:
        """Names that have no value, or one that is too old, of all that has come."""
        names = tuple(names)
        known = self._known.get(names) or self._beliefs(names)
        if known and max([abs(now - joint.believed.time) for joint in known]) <= timeout:
            return []
        missing = self._too_old(names, now, timeout)
        if missing:
            self.hear()
        return self._too_old(missing, now, timeout)

    def _too_old(self, names: Iterable[str], now: float, timeout: float) -> list[str]:
        time_of = self._time
        return [name for name in names if not abs(now - time_of(name)) <= timeout]

    def oldest_time(self, names: Iterable[str]) -> float:
        """Time of receipt of the oldest value of some joints [s]; -inf: one was never received."""
        return min(map(self._time, names))

    def contradictions(self, names: Iterable[str], now: float) -> dict[str, tuple[float, float]]:
        """Both values of each joint about which two sources contradict each other [rad or m]."""
        joints = self._joints
        if not abs(now - self._contradicted_at) <= MEMORY:
            return {}
        return {
            name: joints[name].sources.contradiction
            for name in names
            if name in joints and abs(now - joints[name].sources.contradicted_at) <= MEMORY
        }

    def take_turns(self, names: Iterable[str], now: float) -> bool:
        """Whether values of some joint took turns lately, as those of two sources do."""
        joints = (self._joints.get(name) for name in names)
        return any(joint is not None and joint.sources.are_expected(now) for joint in joints)

    def newest_time(self, names: Iterable[str]) -> float:
        """Time of receipt of the newest value of some joints [s]; -inf: none was ever received."""
        return max(map(self._time, names))

    def in_doubt(self, names: Iterable[str], since: float) -> list[str]:
        """Names of joints whose newest value, after a time [s], waits for one that agrees."""
        joints = self._joints
        return [name for name in names if name in joints and joints[name].is_in_doubt(since)]

    def jumped_at(self, names: Iterable[str]) -> float:
        """Time at which one of some joints was last somewhere else at once [s]; -inf: never."""
        joints = (self._joints.get(name) for name in names)
        return max((joint.jumped_at for joint in joints if joint is not None), default=-math.inf)

    def forget(self) -> None:
        """Drop everything, as when the clock jumped."""
        self._joints.clear()
        self._known.clear()
        self._told.clear()
        self._contradicted_at = -math.inf

    def _time(self, name: str) -> float:
        joint = self._joints.get(name)
        return -math.inf if joint is None else joint.believed.time


def _hear_nothing() -> None:
    """Hear nothing: whatever comes is handed over by the caller."""
