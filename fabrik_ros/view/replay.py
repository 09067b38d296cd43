"""A bar along the last minute, to look at what the arm did."""

from collections.abc import Sequence
import time

import viser

from .controls import QUIET
from .recording import changes, PERIOD, Recording, Sample, sample_at, SPAN
from .source import Snapshot
from .status_text import event_html

EVENTS_PERIOD = 1.0
"""Time between two lists of what happened [s]."""


class Replay:
    """
    Shows the past while the bar is not at its end; the minute that is looked at stands still.

    Parameters
    ----------
    server : viser.ViserServer
        Has the panel.
    recording : Recording
        The last minute, which goes on meanwhile.

    """

    def __init__(self, server: viser.ViserServer, recording: Recording) -> None:
        self._recording = recording
        self._frozen: Sequence[Sample] = ()
        """The minute that is looked at; empty while the arm is shown as it is."""
        self._frozen_at = 0.0
        self._listed_at = 0.0
        with server.gui.add_folder('Last minute'):
            self._bar = server.gui.add_slider(
                'seconds from now', -SPAN, 0.0, PERIOD, 0.0, marks=()
            )
            self._now = server.gui.add_button('Back to now', color=QUIET, disabled=True)
            self._events = server.gui.add_html(event_html([], []))
        self._bar.on_update(self._scrub)
        self._now.on_click(self._end)

    def shown(self) -> tuple[Snapshot, float] | None:
        """Return what is looked at, and its age then [s]; None where that is the present."""
        frozen, age = self._frozen, -float(self._bar.value)
        if not frozen or age <= 0.0:
            return None
        return sample_at(frozen, self._frozen_at - age), age

    def list_events(self, now: float) -> None:
        """Write what happened in the last minute before a time of `time.monotonic` [s]."""
        if self._frozen or now - self._listed_at < EVENTS_PERIOD:
            return
        self._listed_at = now
        events = changes(self._recording.samples())
        content = event_html([now - at for at, _ in events], [each for _, each in events])
        if content != self._events.content:
            self._events.content = content

    def end(self) -> None:
        """Show the present again."""
        self._frozen = ()
        self._now.disabled = True
        self._bar.value = 0.0

    # Callbacks run at once, in the thread of the server: values do not change meanwhile.

    async def _scrub(self, event: viser.GuiEvent) -> None:
        if event.client is None:  # it was set from here
            return
        if self._bar.value >= 0.0:
            self.end()
        elif not self._frozen:
            self._frozen, self._frozen_at = self._recording.samples(), time.monotonic()
            self._now.disabled = False

    async def _end(self, event: viser.GuiEvent) -> None:
        self.end()
