"""What a log holds: commands, measured states, statuses and targets, all by one clock."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..transforms import Array

SILENCE = 0.1
"""After a longer pause [s] commands begin anew."""
FACTS = (
    'state',
    'reason_code',
    'reason',
    'refusal_code',
    'last_refusal',
    'warnings',
    'measured_position_error',
    'measured_orientation_error',
    'late_commands',
    'lateness',
    'step_time',
    'self_collision',
    'obstacles',
)
"""Facts of a status that are logged."""
TARGETS = 'target_pose', 'target_joints', 'target_configuration', 'target_path', 'program'
"""Topics of targets below the node; `target_pose` is below each of several tips, too."""


@dataclass(frozen=True, eq=False)
class Samples:
    """Joint values over the time, of commands or measured."""

    heard: Array
    """When they came, since the log began, shape (m,) [s]."""
    stamps: Array
    """Times in them, since the first one by the same sender, shape (m,) [s]."""
    q: Array
    """Shape (m, n) [rad or m]; NaN where a joint is left out."""

    def runs(self) -> Iterator[slice]:
        """Yield the parts without a pause, of two samples or more."""
        ends = np.flatnonzero(np.diff(self.heard) > SILENCE) + 1
        for begin, end in zip([0, *ends], [*ends, len(self.heard)], strict=True):
            if end - begin > 1:
                yield slice(int(begin), int(end))


@dataclass(frozen=True)
class Status:
    """What a node said of itself."""

    heard: float
    """When it came, since the log began [s]."""
    facts: Mapping[str, str]
    """Those of `FACTS`, by name."""


@dataclass(frozen=True)
class SentTarget:
    """That somebody sent a target."""

    heard: float
    """When it came, since the log began [s]."""
    kind: str
    """Last part of the topic."""


@dataclass(frozen=True, eq=False)
class MotionLog:
    """A log of one node."""

    joints: tuple[str, ...]
    """Names of the n joints."""
    velocity: Array
    """Limits, shape (n,) [rad/s or m/s]; NaN where they are not known."""
    acceleration: Array
    """The same [rad/s^2 or m/s^2]."""
    commands: Samples
    states: Samples
    statuses: tuple[Status, ...]
    targets: tuple[SentTarget, ...]
    about: Mapping[str, str]
    """Versions and parameters, by name."""
    is_cut: bool = False
    """Whether its end was cut off, and is missing."""

    @property
    def duration(self) -> float:
        """When the last of commands, states and statuses came, since the log began [s]."""
        heard = self.commands.heard, self.states.heard, [s.heard for s in self.statuses]
        return max((float(times[-1]) for times in heard if len(times)), default=0.0)

    @property
    def where_cut(self) -> str:
        """Text about where it was cut off; '' for a whole one."""
        if not self.is_cut:
            return ''
        return f'the log was cut off: its last whole row is of {self.duration:.2f} s'


def stamp_of(message: Any) -> int:
    """Tell the time in the header of a message [ns]."""
    stamp = message.header.stamp
    return int(stamp.sec) * 10**9 + int(stamp.nanosec)


def samples_of(
    heard: Sequence[tuple[float, Any]], joints: Sequence[str], first_stamp: int | None = None
) -> Samples:
    """
    Make samples of joint values of messages; those that name none of the joints are left out.

    Parameters
    ----------
    heard : sequence of (float, JointState)
        When each came since the log began [s], and the message.
    joints : sequence of str
        Names of the n joints.
    first_stamp : int, optional
        Time since which stamps count [ns]; by default the stamp of the first message.

    """
    q = np.full((len(heard), len(joints)), np.nan)
    numbers = {name: number for number, name in enumerate(joints)}
    for row, (_, message) in enumerate(heard):
        for name, value in zip(message.name, message.position, strict=True):
            if name in numbers:
                q[row, numbers[name]] = value
    known = np.isfinite(q).any(axis=1)
    stamps = [stamp_of(message) for _, message in heard]
    begin = next(iter(stamps), 0) if first_stamp is None else first_stamp
    since = [1e-9 * (stamp - begin) for stamp in stamps]
    return Samples(np.array([t for t, _ in heard])[known], np.array(since)[known], q[known])
