"""The targets that a node shows in its markers."""

import numpy as np
from visualization_msgs.msg import Marker, MarkerArray

from ..ros.drawing.markers import ARROW_FROM_POSE
from ..ros.messages.conversions import pose_to_matrix, seconds
from ..transforms import Array

KIND = '/target'
"""Ends the namespaces of their markers."""


class ShownTargets:
    """Keeps the accepted targets, by tip, as long as their node renews them."""

    def __init__(self) -> None:
        self._targets: dict[str, tuple[str, Array, float]] = {}
        """Frame, pose in it and when that ends to count, by namespace of the marker."""

    def take(self, message: MarkerArray, now: float) -> None:
        """Take markers, received at a time [s]."""
        for marker in message.markers:
            if not marker.ns.endswith(KIND):
                continue
            if marker.action == Marker.ADD and marker.type == Marker.ARROW:
                T = pose_to_matrix(marker.pose) @ ARROW_FROM_POSE.T
                until = now + seconds(marker.lifetime)
                self._targets[marker.ns] = marker.header.frame_id, T, until
            else:
                self._targets.pop(marker.ns, None)

    def at(self, now: float) -> list[tuple[str, Array]]:
        """List the targets at a time [s]: frame, and pose in it, shape (4, 4)."""
        return [
            (frame, T)
            for frame, T, until in self._targets.values()
            if now <= until and np.all(np.isfinite(T))
        ]
