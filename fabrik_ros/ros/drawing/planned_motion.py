"""A motion that waits to be executed, played again and again: no ROS here."""

import numpy as np

from ...motion.choosing.path_search import FoundPath
from ...motion.paths.preview import Preview
from ...transforms import Array

LONGEST = 6.0
"""A motion that takes longer is played faster, in this time [s]."""
PAUSE = 0.7
"""How long the end is shown before the beginning [s]."""


class PlannedMotion:
    """Plays the motion that is proposed, from its beginning on when another one is."""

    def __init__(self) -> None:
        self._proposal: FoundPath | None = None
        self._began_at = 0.0

    def configuration(self, proposal: FoundPath | None, now: float) -> Array | None:
        """Tell the joint values, shape (n,) [rad or m], at a time [s]; None without a motion."""
        if proposal is not self._proposal:
            self._proposal, self._began_at = proposal, now
        if proposal is None or proposal.preview is None:
            return None
        return played(proposal.preview, now - self._began_at)


def played(preview: Preview, seconds: float) -> Array:
    """Tell the joint values, shape (n,) [rad or m], so long after the first beginning [s]."""
    times = preview.times * (LONGEST / max(preview.duration, LONGEST))
    time = seconds % (times[-1] + PAUSE)
    return np.array([np.interp(time, times, values) for values in preview.configurations.T])
