"""Keys as they are typed in a terminal, which is left as it was found."""

import atexit
import os
import select
import sys
import termios
import tty

from ...errors import ProfileError

LONGEST_READ = 1024
"""[bytes]."""


class Terminal:
    """
    Takes keys without Enter, and shows none of them; Ctrl-C still interrupts.

    Raises
    ------
    ProfileError
        If the input is no terminal.

    """

    def __init__(self) -> None:
        self._input = sys.stdin.fileno()
        if not os.isatty(self._input):
            raise ProfileError(
                'the keyboard is that of a terminal, and the input is none: start it in one, '
                'not by a launch file'
            )
        self._before = termios.tcgetattr(self._input)
        atexit.register(self.close)  # an interrupt may come while the node is made
        tty.setcbreak(self._input)

    def typed(self) -> str:
        """Take what was typed since; '' for nothing."""
        ready, _, _ = select.select([self._input], [], [], 0.0)
        return os.read(self._input, LONGEST_READ).decode(errors='ignore') if ready else ''

    def close(self) -> None:
        """Leave the terminal as it was."""
        atexit.unregister(self.close)
        termios.tcsetattr(self._input, termios.TCSADRAIN, self._before)
