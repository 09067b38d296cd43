"""What a log holds: commands, measured states, statuses and targets, all by one clock."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

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
