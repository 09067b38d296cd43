"""Stop, Resume, Home, Execute and the speed: always at the same place of the panel."""

from collections.abc import Callable
import math
import time

import viser

from .path_view import legend_html
from .source import Request, Snapshot

SLIDING_TIME = 1.0
"""A slider that somebody moved is left to them for so long [s]."""
QUIET = (92, 104, 120)
LOUD = (31, 111, 235)
"""Colors of a button that may be pressed, and of one that the arm waits for."""
LATER = {Request.RESUME: 'Resume', Request.HOME: 'Home', Request.EXECUTE: 'Execute'}


class StopButton:
    """
    Stop, first and red; the space bar presses it, too.

    Parameters
    ----------
    server : viser.ViserServer
        Has the panel.
    on_stop : callable
        Called at once when somebody wants the arm to stop.

    """

    def __init__(self, server: viser.ViserServer, on_stop: Callable[[], None]) -> None:
        server.gui.add_html('<span class="fabrik-stop"></span>')
        self._button = server.gui.add_button('Stop (space bar)', color='red')
        self._command = server.gui.add_command('Stop', hotkey='space')
        self._is_enabled = True

        async def stop(event: object) -> None:
            on_stop()

        self._button.on_click(stop)
        self._command.on_trigger(stop)

    def enable(self, is_enabled: bool) -> None:
        """Let it be pressed, or not where nothing could stop."""
        if is_enabled != self._is_enabled:
            self._is_enabled = is_enabled
            self._button.disabled = not is_enabled


class Controls:
    """
    The other buttons, and the speed.

    Parameters
    ----------
    server : viser.ViserServer
        Has the panel.
    requests : frozenset of Request
        What may be asked.
    has_speed : bool
        Whether there is a speed to set.
    on_request : callable
        Takes what somebody asks.
    on_speed : callable
        Takes the share of all speeds that somebody sets [1].

    """

    def __init__(
        self,
        server: viser.ViserServer,
        requests: frozenset[Request],
        has_speed: bool,
        on_request: Callable[[Request], None],
        on_speed: Callable[[float], None],
    ) -> None:
        gui = server.gui
        gui.add_html('<span class="fabrik-row"></span>')
        self._buttons = {}
        self._awaited: dict[Request, bool] = {}
        for request, title in LATER.items():
            button = gui.add_button(title, color=QUIET, disabled=request not in requests)
            button.on_click(_asking(request, on_request))
            self._buttons[request] = button
        self._speed = gui.add_slider('speed [%]', 0, 100, 1, 100, marks=(), disabled=not has_speed)
        self._legend = gui.add_html(legend_html(math.nan)) if has_speed else None
        self._set_at = -math.inf

        async def set_speed(event: viser.GuiEvent) -> None:
            if event.client is not None:  # else it was set from here
                self._set_at = time.monotonic()
                on_speed(0.01 * self._speed.value)

        self._speed.on_update(set_speed)

    def show(self, snapshot: Snapshot) -> None:
        """Show the speed, and what the arm waits for."""
        self._color(Request.RESUME, snapshot.is_held)
        self._color(Request.EXECUTE, snapshot.waits_for_execute)
        legend = legend_html(snapshot.speed * snapshot.top_speed)
        if self._legend is not None and self._legend.content != legend:
            self._legend.content = legend
        is_left = time.monotonic() - self._set_at > SLIDING_TIME
        if is_left and math.isfinite(snapshot.speed):
            percent = round(100.0 * snapshot.speed)
            if self._speed.value != percent:
                self._speed.value = percent

    def _color(self, request: Request, is_awaited: bool) -> None:
        if self._awaited.get(request, False) != is_awaited:
            self._awaited[request] = is_awaited
            self._buttons[request].color = LOUD if is_awaited else QUIET


def _asking(
    request: Request, on_request: Callable[[Request], None]
) -> Callable[[viser.GuiEvent], object]:
    async def ask(event: viser.GuiEvent) -> None:
        on_request(request)

    return ask
