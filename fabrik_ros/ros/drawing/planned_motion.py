"""A motion that waits to be executed, played again and again: no ROS here."""

import numpy as np

from ...motion.paths.preview import NO_MOTION, ProposedMotion
from ...transforms import Array

LONGEST = 6.0
"""A motion that takes longer is played faster, in this time [s]."""
PAUSE = 0.7
"""Time for which the end is shown before the beginning [s]."""


class PlannedMotion:
    """Plays the motion that is proposed, from its beginning on when another one is."""

    def __init__(self) -> None:
        self._times, _ = NO_MOTION
        self._began_at = 0.0

    def configuration(self, motion: ProposedMotion, now: float) -> Array | None:
        """Tell the joint values, shape (n,) [rad or m], at a time [s]; None without a motion."""
        times, _ = motion
        if times is not self._times:
            self._times, self._began_at = times, now
        return played(motion, now - self._began_at) if len(times) else None


def played(motion: ProposedMotion, seconds: float) -> Array:
    """Tell the joint values, shape (n,) [rad or m], so long after the first beginning [s]."""
    times, configurations = motion
    times = times * (LONGEST / max(times[-1], LONGEST))
    time = seconds % (times[-1] + PAUSE)
    return np.array([np.interp(time, times, values) for values in configurations.T])
