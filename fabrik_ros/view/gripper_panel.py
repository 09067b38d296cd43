"""The part of the panel that opens and closes a gripper."""

from collections.abc import Callable
import math
import time

import viser

from .controls import QUIET, SLIDING_TIME
from .source import Gripping


class GripperPanel:
    """
    Two buttons and a slider; nothing is shown where there is no gripper.

    Parameters
    ----------
    server : viser.ViserServer
        Has the panel.
    on_width : callable
        Takes the width that somebody wants [m].

    """

    def __init__(self, server: viser.ViserServer, on_width: Callable[[float], None]) -> None:
        self._on_width = on_width
        self._known: Gripping | None = None
        self._set_at = -math.inf
        self._folder = server.gui.add_folder('Gripper', visible=False)
        with self._folder:
            self._slider = server.gui.add_slider('width [mm]', 0, 100, 1, 0, marks=())
            server.gui.add_html('<span class="fabrik-row"></span>')
            opens = server.gui.add_button('Open', color=QUIET)
            closes = server.gui.add_button('Close', color=QUIET)

        async def open_it(event: viser.GuiEvent) -> None:
            if self._known is not None:
                on_width(self._known.widest)

        async def close_it(event: viser.GuiEvent) -> None:
            if self._known is not None:
                on_width(self._known.narrowest)

        async def set_width(event: viser.GuiEvent) -> None:
            if event.client is not None and self._known is not None:  # else it was set from here
                self._set_at = time.monotonic()
                on_width(
                    min(max(0.001 * self._slider.value, self._known.narrowest), self._known.widest)
                )

        opens.on_click(open_it)
        closes.on_click(close_it)
        self._slider.on_update(set_width)

    def show(self, gripping: Gripping | None) -> None:
        """Show how wide it is; None: there is none."""
        if self._folder.visible is (gripping is None):
            self._folder.visible = gripping is not None
        before, self._known = self._known, gripping
        if gripping is None:
            return
        if before is None or before[1:3] != gripping[1:3]:
            self._slider.min = math.floor(1000.0 * gripping.narrowest)
            self._slider.max = max(math.ceil(1000.0 * gripping.widest), self._slider.min + 1)
        is_left = time.monotonic() - self._set_at > SLIDING_TIME
        if is_left and math.isfinite(gripping.width):
            shown = min(max(round(1000.0 * gripping.width), self._slider.min), self._slider.max)
            if self._slider.value != shown:
                self._slider.value = shown
