"""What a user learns while kernels are compiled: that they are, why, and how far it has come."""

import sys
import threading
import time

SILENT = 0.8
"""What takes less needs no words [s]."""
PAUSE = 5.0
"""Between two lines [s]."""


class CompileProgress:
    """
    Tells on stderr that kernels are being compiled, while they are.

    Parameters
    ----------
    reason : str
        Why they have to be.

    """

    def __init__(self, reason: str) -> None:
        self.compiled = 0
        """Kernels that are done; one in another counts too."""
        self._reason = reason
        self._depth = 0
        self._since = 0.0

    def begin(self) -> None:
        """Take note that a kernel is being compiled, perhaps for another that is."""
        self._depth += 1
        if self._depth == 1 and self._since == 0.0:
            self._since = time.monotonic()
            threading.Thread(target=self._tell, daemon=True).start()

    def end(self) -> None:
        """Take note that a kernel is done."""
        self._depth -= 1
        self.compiled += 1

    def _tell(self) -> None:
        """Say it once at the beginning, and how many kernels are done until no more are."""
        time.sleep(SILENT)
        if self._depth == 0:
            self._since = 0.0  # it took no time: the next may
            return
        say(f'compiling the solver, which takes up to a minute ({self._reason})')
        told = -1
        while self._depth > 0 or self.compiled > told:
            told = self.compiled
            time.sleep(PAUSE)
            if self._depth > 0:
                say(f'{self.compiled} kernels after {time.monotonic() - self._since:.0f} s')


def say(text: str) -> None:
    """Write a line to stderr, if there is one."""
    if sys.stderr is not None:
        print(f'fabrik_ros: {text}', file=sys.stderr, flush=True)
