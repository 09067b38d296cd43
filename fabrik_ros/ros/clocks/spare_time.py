"""Work at regular times that waits until a command has left, so that no command waits for it."""

from collections.abc import Callable


class SpareTime:
    """
    Does work right after commands, one piece after each, while nothing else is due for a while.

    Where no commands leave, work is done at once.
    """

    def __init__(self) -> None:
        self._waiting: dict[Callable[[], None], None] = {}
        """Work that waits, the oldest first."""
        self._comes = False
        """Whether there has been spare time since some work waited for it in vain."""

    def ask(self, work: Callable[[], None]) -> None:
        """Do some work in the next spare time; now, if that did not come since the last call."""
        if work in self._waiting:
            del self._waiting[work]
            self._comes = False
        if self._comes:
            self._waiting[work] = None
        else:
            work()

    def use(self) -> None:
        """Do the work that waits longest: a command has just left, or is not needed."""
        self._comes = True
        if self._waiting:
            work = next(iter(self._waiting))
            del self._waiting[work]
            work()
