"""The last minute of an arm."""

from bisect import bisect_right
from collections import deque
from collections.abc import Sequence

from .source import Snapshot

SPAN = 60.0
"""What is kept [s]."""
PERIOD = 0.1
"""Time between two samples [s]."""

Sample = tuple[float, Snapshot]
"""When it was taken [s], and what was known then."""


class Recording:
    """
    Keeps what the arm did, ten times a second.

    Times are those of `time.monotonic` [s].
    """

    def __init__(self) -> None:
        self._samples: deque[Sample] = deque()

    def add(self, snapshot: Snapshot, now: float) -> None:
        """Take what is known now; of another arm nothing is kept."""
        samples = self._samples
        if samples and now - samples[-1][0] < PERIOD:
            return
        if samples and not samples[-1][1].is_of_same_arm(snapshot):
            samples.clear()
        samples.append((now, snapshot))
        while now - samples[0][0] > SPAN:
            samples.popleft()

    def samples(self) -> tuple[Sample, ...]:
        """List what is kept, oldest first."""
        return tuple(self._samples)


def sample_at(samples: Sequence[Sample], time: float) -> Snapshot:
    """Return the last of some samples that was taken by a time [s], or else the first one."""
    number = bisect_right(samples, time, key=lambda sample: sample[0])
    return samples[max(number - 1, 0)][1]


def changes(samples: Sequence[Sample]) -> list[Sample]:
    """List the samples at which state, reason or refusal became another."""
    changed = []
    last = None
    for time, snapshot in samples:
        said = snapshot.state, snapshot.reason, snapshot.refusal
        if said != last:
            changed.append((time, snapshot))
        last = said
    return changed
