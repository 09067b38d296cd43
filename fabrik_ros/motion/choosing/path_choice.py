"""Which path an arm takes from rest: looked for in pieces, and confirmed where that is asked."""

import time

import numpy as np

from ...planning.pieces import Pieces
from ...reasons import Reason, ReasonKind
from ...transforms import Array
from .goal import MotionOptions
from .path_search import FoundPath, LINE

LOOKING = Reason(ReasonKind.LOOKING, 'looking for a path to the target')
WAITING = Reason(
    ReasonKind.LOOKING, 'the line is blocked: leaves it unless another target comes now'
)
IN_STREAM = Reason(
    ReasonKind.PATH_BLOCKED,
    'targets within stream_timeout are followed by the line alone; ~/execute looks for a path',
)
TAKE_IT = '~/execute takes this path'

ProposedMotion = tuple[Array, Array]
"""Times, shape (m,) [s], and joint values then, shape (m, n) [rad or m]."""
NO_MOTION: ProposedMotion = (np.empty(0), np.empty((0, 0)))


class PathChoice:
    """
    Looks for a path, waits before it leaves the line, and asks before it takes a detour.

    Attributes
    ----------
    found : FoundPath or None
        The newest path that was found; None while there is none.
    proposal : FoundPath or None
        The path that waits to be confirmed.

    """

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Look for nothing, and propose nothing."""
        self._work: Pieces[FoundPath] | None = None
        self.found: FoundPath | None = None
        self.proposal: FoundPath | None = None
        self._is_confirmed = False
        self._patience = 0.0

    def begin(
        self, work: Pieces[FoundPath], patience: float = 0.0, is_confirmed: bool = False
    ) -> None:
        """
        Begin to look for a path.

        Parameters
        ----------
        work : generator
            Finds one, in pieces.
        patience : float
            A path that leaves the line is not taken before this time is over [s].
        is_confirmed : bool
            Whether any path may be taken unasked.

        """
        self.forget()
        self._work, self._patience, self._is_confirmed = work, patience, is_confirmed

    @property
    def is_looking(self) -> bool:
        """Whether a path is looked for, or waits until its patience is over."""
        return self._work is not None

    @property
    def proposed_motion(self) -> ProposedMotion:
        """The motion that waits to be confirmed; `NO_MOTION` where none does."""
        preview = None if self.proposal is None else self.proposal.preview
        return NO_MOTION if preview is None else (preview.times, preview.configurations)

    @property
    def reason(self) -> Reason:
        """What it does while it is looking."""
        return LOOKING if self.found is None else WAITING

    def look(self, dt: float, seconds: float, options: MotionOptions) -> FoundPath | None:
        """
        Go on looking; returns what was found once it may be done.

        Parameters
        ----------
        dt : float
            Time since the previous call [s].
        seconds : float
            Longest time for this [s]; at least one piece of work is done.
        options : MotionOptions
            Which paths have to be confirmed.

        """
        self._patience -= dt
        if self.found is None and self._work is not None:
            self.found = found_within(self._work, seconds)
        found = self.found
        if found is None or self._work is None:
            return None
        if found.path is not None and not self._is_confirmed:
            question = _question(found, options)
            if question is not None:
                self._work, self.proposal = None, found
                return FoundPath(found.kind, None, found.preview, question)
            leaves_line = found.kind != LINE and options.path != 'joint'
            if leaves_line and self._patience > 0.0:
                return None
        self._work = None
        return found


def found_within(work: Pieces[FoundPath], seconds: float) -> FoundPath | None:
    """Go on with some work for a time; returns what was found, if it is done."""
    end = time.perf_counter() + seconds
    while True:
        try:
            next(work)
        except StopIteration as done:
            found: FoundPath = done.value
            return found
        if time.perf_counter() >= end:
            return None


def _question(found: FoundPath, options: MotionOptions) -> Reason | None:
    """Say why a path has to be confirmed; None where it need not be."""
    if found.detour is not None:
        text = f'{found.detour}; {TAKE_IT}'
        return Reason(ReasonKind.AWAITS_EXECUTE, text, found.detour.joints)
    leaves_line = found.kind != LINE
    if options.confirm == 'always' or (options.confirm == 'leaving_line' and leaves_line):
        what = 'leaves the line' if leaves_line else 'is a line'
        text = f'the path {what} (confirm: {options.confirm}); {TAKE_IT}'
        return Reason(ReasonKind.AWAITS_EXECUTE, text)
    return None
