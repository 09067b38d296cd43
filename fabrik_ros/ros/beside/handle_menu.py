"""The menu of a handle as RViz gets it, and what somebody chooses in it."""

from collections.abc import Callable
import time

from interactive_markers.interactive_marker_server import InteractiveMarkerServer
from visualization_msgs.msg import InteractiveMarkerFeedback as Feedback

from .menu_entries import entries_of, Entry, Known, Wish
from .menu_numbers import MenuNumbers

RENEWAL_PERIOD = 1.0
"""Time between two changes of a menu, at least [s]: RViz builds the whole handle anew."""


class HandleMenu:
    """
    The menu of one handle.

    Parameters
    ----------
    server : InteractiveMarkerServer
        Has the handle.
    marker : str
        Its name.
    on_wish : callable
        Gets what somebody chooses.

    """

    def __init__(
        self, server: InteractiveMarkerServer, marker: str, on_wish: Callable[[Wish], None]
    ) -> None:
        self._server, self._marker, self._on_wish = server, marker, on_wish
        self._numbers = MenuNumbers()
        self._known: Known | None = None
        self._shown: tuple[Entry, ...] = ()
        self._shown_at = 0.0
        server.setCallback(marker, self._on_select, Feedback.MENU_SELECT)

    def show(self, known: Known) -> None:
        """Offer what is of use now, unless that is there, or was changed only just now."""
        now = time.monotonic()
        if known == self._known or now - self._shown_at < RENEWAL_PERIOD:
            return
        self._known, entries = known, entries_of(known)
        if entries == self._shown:
            return
        self._shown, self._shown_at = entries, now
        marker = self._server.get(self._marker)
        marker.menu_entries = self._numbers.messages(entries)
        self._server.insert(marker)

    def _on_select(self, feedback: Feedback) -> None:
        wish = self._numbers.wish(feedback.menu_entry_id)
        if wish is not None:
            self._on_wish(wish)
