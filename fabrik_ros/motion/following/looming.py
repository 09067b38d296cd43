"""What comes near an arm at rest, and how long that is announced before the arm moves."""

import math

from ...reasons import Reason, ReasonKind
from ..choosing.motion import Motion

LOOKING_TIME = 0.1
"""Time between two looks at what is near [s]."""
NOTICE = 1.0
"""Time for which it is announced that the arm is going to move [s]."""


class Looming:
    """
    Watches what comes near an arm at rest, which is to get out of the way.

    Parameters
    ----------
    motion : Motion
        How the arm moves.

    Attributes
    ----------
    announcement : Reason or None
        What is announced; None while nothing is.

    """

    def __init__(self, motion: Motion) -> None:
        self._motion = motion
        self._looked_at = -math.inf
        self.forget()

    def forget(self) -> None:
        """Announce nothing."""
        self.announcement: Reason | None = None
        self._since = math.inf

    def may_look(self, now: float) -> bool:
        """Whether it is time to look again."""
        return not 0.0 <= now - self._looked_at < LOOKING_TIME

    def is_due(self, now: float) -> bool:
        """Look at what is near, and announce it; tell whether that was done for long enough."""
        self._looked_at, near = now, self._motion.looming()
        if near is None:
            self.forget()
            return False
        if self.announcement is None or now < self._since:
            self._since = now
        text = f'{near}: it gets out of the way soon, the tool stays where it is'
        self.announcement = Reason(ReasonKind.DODGING, text)
        return now - self._since >= NOTICE
