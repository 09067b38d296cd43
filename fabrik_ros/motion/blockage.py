"""How an arm goes on after something came into its way: when it is told to, or by itself."""

import math

from ..reasons import Reason

QUIET = 1.0
"""An arm looks for another path by itself after so long without a change nearby [s]."""
MOST_REPLANS = 3
"""So often it does so on the way to one goal [1]."""


class Blockage:
    """
    What came into the way of an arm, and how it goes on.

    Attributes
    ----------
    is_there : bool
        Whether the arm was stopped by it, and has not gone on since.

    """

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Take note of another goal, or of none."""
        self.is_there = False
        self._replans = 0
        self._due = math.inf

    def begin(self, reason: Reason, replans: bool, now: float) -> Reason:
        """
        Take note that the arm was stopped `now` [s], and say for how long.

        Parameters
        ----------
        reason : Reason
            What came into the way.
        replans : bool
            Whether the arm may look for another path by itself.
        now : float
            The time [s].

        """
        self.is_there, self._due = True, math.inf
        if replans and self._replans < MOST_REPLANS:
            self._replans += 1
            self._due = now + QUIET
            count = f'{self._replans} of {MOST_REPLANS}'
            hint = f'looks for another path after {QUIET:g} s without a change nearby ({count})'
        else:
            hint = '~/resume goes on once the way is free'
        return Reason(reason.kind, f'{reason}; {hint}', reason.joints, reason.place)

    def wait(self, now: float) -> None:
        """Take note that the arm moves still, or that something changed nearby, `now` [s]."""
        if self._due < math.inf:
            self._due = now + QUIET

    def is_due(self, now: float) -> bool:
        """Whether the arm looks for another path now, by itself."""
        return now >= self._due

    def go_on(self) -> None:
        """Take note that the arm looks for another path, to the same goal."""
        self.is_there, self._due = False, math.inf

    @property
    def may_come_back(self) -> bool:
        """Whether the arm has looked for another path by itself, and may do so again."""
        return 0 < self._replans < MOST_REPLANS and not self.is_there
