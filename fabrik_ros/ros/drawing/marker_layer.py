"""Markers that are drawn together: changed ones soon, unchanged ones now and then."""

from collections.abc import Iterable
import math

from visualization_msgs.msg import Marker

from ..messages.marker_shapes import removed

RENEWAL_TIME = 0.3
"""Time after which what stays the same is drawn again [s]."""


class MarkerLayer:
    """
    Knows when its markers are due, and which are gone.

    Parameters
    ----------
    period : float
        Least time between two pictures that differ [s].

    """

    def __init__(self, period: float) -> None:
        self._period = period
        self.forget()

    def forget(self) -> None:
        """Count nothing as drawn."""
        self._shown: set[tuple[str, int]] = set()
        """Namespace and number of each marker that was drawn last."""
        self._key: object = None
        self._drawn_at = -math.inf
        """Time of the last picture, by the same clock as `now` [s]."""

    @property
    def namespaces(self) -> set[str]:
        """Namespaces of what is shown."""
        return {namespace for namespace, _ in self._shown}

    def is_due(self, key: object, now: float) -> bool:
        """Whether the picture with a key is to be drawn at a time [s]."""
        wait = RENEWAL_TIME if key == self._key else self._period
        return now - self._drawn_at >= wait

    def drawn(self, key: object, now: float, markers: Iterable[Marker]) -> list[Marker]:
        """Take note of a picture, and return it, with what takes away those that are gone."""
        picture = list(markers)
        shown = {(marker.ns, int(marker.id)) for marker in picture}
        gone = [removed(*marker) for marker in sorted(self._shown - shown)]
        self._shown, self._key, self._drawn_at = shown, key, now
        return [*gone, *picture]
