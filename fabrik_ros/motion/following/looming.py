"""What comes near an arm at rest, and how long that is announced before the arm moves."""

import math

from ...reasons import Reason, ReasonKind
from ..choosing.motion import Motion

LOOKING_TIME = 0.1
"""Time between two looks at what is near [s]."""
NOTICE = 11
"""Looks, one after the other, after which the arm moves: a second [1]."""
WITHDRAWN = 5
"""Looks without anything near after which it is announced no more [1]."""
SMOOTHED = 0.2
"""Share of a look in the distance that counts, as obstacles tremble [1]."""
RETRY = 60
"""Looks before an arm tries again to get away from what is too near; then twice as many [1]."""
NEARER = 0.02
"""By so much must something come nearer than the arm got away from it before [m]."""


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
        self.begin()

    def begin(self) -> None:
        """Take note that the arm sets out: whatever is near where it comes to rest counts."""
        self._settled = self._gap = math.inf
        """Distance that the arm got away to [m], and the smoothed one now."""
        self._has_settled = True
        self._still, self._wait, self._next_wait = 0, 0, RETRY
        """Looks since it got away; how many there are to be before it tries again, and then."""
        self.forget()

    def forget(self) -> None:
        """Announce nothing."""
        self.announcement: Reason | None = None
        self._looks = self._absent = 0

    def settle(self) -> None:
        """Take note that the arm gets out of the way now, as far as it can."""
        self._has_settled = False
        self._still, self._wait, self._next_wait = 0, self._next_wait, 2 * self._next_wait
        self.forget()

    def may_look(self, now: float) -> bool:
        """Whether it is time to look again."""
        return not 0.0 <= now - self._looked_at < LOOKING_TIME

    def is_due(self, now: float) -> bool:
        """Look at what is near, and announce it; tell whether that was done for long enough."""
        is_next = 0.0 <= now - self._looked_at <= 2.0 * LOOKING_TIME
        self._looked_at, near = now, self._motion.approach()
        gap = self._motion.options.dodge_distance if near is None else near.gap
        goes_on = is_next and self._gap < math.inf
        self._gap = self._gap + SMOOTHED * (gap - self._gap) if goes_on else gap
        self._still += 1
        if not self._has_settled:
            self._settled, self._has_settled = self._gap, True
        elif self._settled < math.inf:
            self._settled = max(self._settled, self._gap)
        is_too_near = gap < 0.0 and self._still >= self._wait
        if near is None or not (is_too_near or self._gap <= self._settled - NEARER):
            self._absent += 1
            if self._absent >= WITHDRAWN:
                self.forget()
            return False
        self._absent, self._looks = 0, self._looks + 1 if is_next else 1
        text = f'comes near: {near.name}; the arm gets out of the way soon, the tool stays'
        self.announcement = Reason(ReasonKind.DODGING, text)
        return self._looks >= NOTICE
