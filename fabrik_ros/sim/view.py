"""MuJoCo's own window on a simulated arm, where there is a display."""

import atexit
from contextlib import AbstractContextManager, nullcontext
import os
import threading
from typing import Any

CLOSING_TIME = 5.0
"""How long the window may take to close [s]."""


class View:
    """
    A window that shows a simulation, or nothing at all.

    Parameters
    ----------
    model, data
        MuJoCo's.

    Attributes
    ----------
    reason : str
        Why there is no window; '' when there is one.

    """

    def __init__(self, model: Any, data: Any) -> None:
        self.reason = ''
        self._window: Any = None
        self._threads: set[threading.Thread] = set()
        """Threads that MuJoCo started to draw the window."""
        if not (os.environ.get('DISPLAY') or os.environ.get('WAYLAND_DISPLAY')):
            self.reason = 'there is no display'
            return
        running = set(threading.enumerate())
        try:
            from mujoco import viewer

            self._window = viewer.launch_passive(
                model, data, show_left_ui=False, show_right_ui=False
            )
        except Exception as error:  # of whatever stands between MuJoCo and the screen
            self.reason = str(error)
            return
        self._threads = set(threading.enumerate()) - running
        # Registered after MuJoCo's own, so called before: a second Ctrl-C may interrupt `close`.
        atexit.register(self.close)

    def locked(self) -> AbstractContextManager[Any]:
        """Keep the window from reading while the simulation writes."""
        return self._window.lock() if self._is_open() else nullcontext()

    def show(self) -> None:
        """Show the present state."""
        if self._is_open():
            self._window.sync()

    def close(self) -> None:
        """
        Close the window, and wait until it is gone.

        A thread that still draws when the process ends crashes it: GLFW has ended by then.
        """
        if self._is_open():
            self._window.close()
        for thread in self._threads:
            thread.join(CLOSING_TIME)
        atexit.unregister(self.close)

    def _is_open(self) -> bool:
        return self._window is not None and self._window.is_running()
