"""Modules that run as processes of their own, and end with the one that started them."""

import subprocess
import sys
import time

from . import child_main

ENDING_TIME = child_main.PATIENCE + 2.0
"""Time in which children have to end; they are killed then [s]."""


class ChildProcesses:
    """
    Starts modules as children, which share the output of this process.

    A child is interrupted, as by Ctrl-C, when its standard input ends: in `close`, and when this
    process is gone, in whatever way. Ctrl-C at the terminal reaches this process alone.
    """

    def __init__(self) -> None:
        self._children: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, name: str, module: str, *arguments: str) -> None:
        """
        Start a module.

        Parameters
        ----------
        name : str
            What `fault` calls it.
        module : str
            Its full name.
        arguments : str
            What it finds in `sys.argv[1:]`.

        """
        self._children[name] = subprocess.Popen(
            [sys.executable, '-m', child_main.__name__, module, *arguments],
            stdin=subprocess.PIPE,
            start_new_session=True,
        )

    def fault(self) -> str:
        """Say which child has ended, and how; '' while all of them live."""
        for name, child in self._children.items():
            code = child.poll()
            if code is not None:
                return f'{name} ended {how_it_ended(code)}'
        return ''

    def close(self) -> None:
        """End all children, and wait for them."""
        for child in self._children.values():
            assert child.stdin is not None
            child.stdin.close()
        deadline = time.monotonic() + ENDING_TIME
        for child in self._children.values():
            try:
                child.wait(max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
        self._children.clear()


def how_it_ended(code: int) -> str:
    """Say in words what the return code of a process means."""
    return f'by signal {-code}' if code < 0 else f'with exit code {code}'
