"""MuJoCo's own window on a simulated arm, where there is a display."""

from contextlib import AbstractContextManager, nullcontext
import os
from typing import Any


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
        if not (os.environ.get('DISPLAY') or os.environ.get('WAYLAND_DISPLAY')):
            self.reason = 'there is no display'
            return
        try:
            from mujoco import viewer

            self._window = viewer.launch_passive(
                model, data, show_left_ui=False, show_right_ui=False
            )
        except Exception as error:  # of whatever stands between MuJoCo and the screen
            self.reason = str(error)

    def locked(self) -> AbstractContextManager[Any]:
        """Keep the window from reading while the simulation writes."""
        return self._window.lock() if self._is_open() else nullcontext()

    def show(self) -> None:
        """Show the present state."""
        if self._is_open():
            self._window.sync()

    def close(self) -> None:
        """Close the window."""
        if self._is_open():
            self._window.close()

    def _is_open(self) -> bool:
        return self._window is not None and self._window.is_running()
