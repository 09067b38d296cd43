"""A search for a path, in pieces, and whether what it finds has to be confirmed."""

from dataclasses import dataclass, field
import time

from ...planning.pieces import Pieces
from ...reasons import Reason, ReasonKind
from .goal import MotionOptions
from .path_finder import FoundPath, LINE

TAKE_IT = '~/execute takes this path'


@dataclass
class Search:
    """A search that goes on, for an arm that rests or along the line that it follows."""

    work: Pieces[FoundPath]
    """Finds a path, in pieces."""
    patience: float = 0.0
    """A path that leaves the line is not taken before this time is over [s]."""
    is_confirmed: bool = False
    """Whether any path may be taken unasked."""
    is_second_look: bool = False
    """Whether it looks once more along a path that was free before the world changed."""
    is_outdated: bool = False
    """Whether the world has changed since it began."""
    found: FoundPath | None = field(default=None, init=False)
    """Path or reason that was found; None while the search goes on."""

    def go_on(self, dt: float, seconds: float) -> FoundPath | None:
        """
        Go on looking; returns what was found once that is known.

        Parameters
        ----------
        dt : float
            Time since the previous call [s].
        seconds : float
            Longest time for this [s]; at least one piece of work is done.

        """
        self.patience -= dt
        if self.found is None:
            self.found = found_within(self.work, seconds)
        return self.found

    def question(self, options: MotionOptions) -> Reason | None:
        """Say why the path that was found has to be confirmed; None where it need not be."""
        found = self.found
        if found is None or found.path is None or self.is_confirmed:
            return None
        if found.detour is not None:
            text = f'{found.detour}; {TAKE_IT}'
            return Reason(ReasonKind.AWAITS_EXECUTE, text, found.detour.joints)
        leaves_line = found.kind != LINE
        if options.confirm == 'always' or (options.confirm == 'leaving_line' and leaves_line):
            what = 'leaves the line' if leaves_line else 'is a line'
            text = f'the path {what} (confirm: {options.confirm}); {TAKE_IT}'
            return Reason(ReasonKind.AWAITS_EXECUTE, text)
        return None

    def must_wait(self, options: MotionOptions) -> bool:
        """Whether the path that was found leaves the line, and another goal may come yet."""
        found = self.found
        if found is None or found.path is None or self.is_confirmed or self.patience <= 0.0:
            return False
        return found.kind != LINE and options.path != 'joint'


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
