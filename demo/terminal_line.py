"""One line that says how it is going, written over again and again."""

from collections.abc import Callable
import shutil
import sys
import time

REDRAW_PERIOD = 0.1
"""Time between two redraws in a terminal [s]."""
LINE_PERIOD = 5.0
"""Time between two lines where the output is no terminal [s]."""


class TerminalLine:
    """
    A line at the bottom of a terminal; elsewhere, as in a file, a line now and then.

    Parameters
    ----------
    clock : callable
        Time [s].

    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._shown_at = float('-inf')

    def show(self, line: str) -> None:
        """Show a line, unless the one before is too recent."""
        now, is_terminal = self._clock(), sys.stdout.isatty()
        if now - self._shown_at < (REDRAW_PERIOD if is_terminal else LINE_PERIOD):
            return
        self._shown_at = now
        if is_terminal:
            # One column stays empty: some terminals go on to the next line after the last one.
            width = shutil.get_terminal_size().columns - 1
            print(f'\r{line[:width]:<{width}}', end='', flush=True)
        else:
            print(line, flush=True)
