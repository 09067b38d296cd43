"""Going on after an obstacle blocked the path of an arm: on request, or by itself."""

import math

from ...reasons import Reason

QUIET = 1.0
"""Time without a nearby change after which a blocked arm replans [s]."""
MOST_REPLANS = 3
"""Most replans for one goal [1]."""


class Blockage:
    """
    A block of an arm's path, and how the arm goes on.

    Attributes
    ----------
    is_there : bool
        Whether a block stopped the arm, which has not gone on since.

    """

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Take note of another goal, or of none."""
        self.is_there = False
        self._replans = 0
        self._replan_at = math.inf

    def begin(self, reason: Reason, replans: bool, now: float) -> Reason:
        """
        Take note that the arm was stopped `now` [s]; return the reason with what comes next.

        Parameters
        ----------
        reason : Reason
            What blocks the path.
        replans : bool
            Whether the arm may look for another path by itself.
        now : float
            The time [s].

        """
        self.is_there, self._replan_at = True, math.inf
        if replans and self._replans < MOST_REPLANS:
            self._replans += 1
            self._replan_at = now + QUIET
            count = f'{self._replans} of {MOST_REPLANS}'
            hint = f'looks for another path after {QUIET:g} s without a change nearby ({count})'
        else:
            hint = '~/resume goes on once the way is free'
        return Reason(reason.kind, f'{reason}; {hint}', reason.joints, reason.place)

    def wait(self, now: float) -> None:
        """Restart the wait, as the arm still moves or something changed nearby, `now` [s]."""
        if self._replan_at < math.inf:
            self._replan_at = now + QUIET

    def is_due(self, now: float) -> bool:
        """Whether the arm is to replan now."""
        return now >= self._replan_at

    @property
    def will_replan(self) -> bool:
        """Whether the arm is to look for another path by itself."""
        return self._replan_at < math.inf

    def go_on(self) -> None:
        """Take note that the arm looks for another path, to the same goal."""
        self.is_there, self._replan_at = False, math.inf

    @property
    def may_come_back(self) -> bool:
        """Whether the arm has looked for another path by itself, and may do so again."""
        return 0 < self._replans < MOST_REPLANS and not self.is_there
