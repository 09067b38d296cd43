"""Markers of one frame and one time, by their shapes."""

from collections.abc import Iterable, Sequence

from builtin_interfaces.msg import Duration, Time
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker

from ...model.mechanism import Mechanism
from ...transforms import Array
from .conversions import matrix_to_pose, to_point
from .palette import WHITE, X_AXIS, Y_AXIS, Z_AXIS

NAMESPACE = 'fabrik'
"""Begins the namespaces of all markers of the node, so that they can be told from obstacles."""
LONGEST = 10.0
"""Arms that reach farther are drawn as if they reached as far as this [m]."""
SPACE = 0.5
"""Width of spaces as a share of the height of letters [1]: left at 0, RViz makes them a metre."""
LIFETIME = 1
"""Markers that are not renewed are gone after this time [s]."""


class Pen:
    """
    Makes markers.

    Parameters
    ----------
    frame_id : str
        Frame of their points and poses.
    stamp : Time
        Their time.
    lifetime : int
        How long they stay [s].

    """

    def __init__(self, frame_id: str, stamp: Time, lifetime: int = LIFETIME) -> None:
        self._frame_id, self._stamp, self._lifetime = frame_id, stamp, Duration(sec=lifetime)

    def line(
        self, kind: str, points: Iterable[Array], color: ColorRGBA, width: float, number: int = 0
    ) -> Marker:
        """Draw a line through points, (3,) each [m]."""
        marker = self._marker(kind, number, Marker.LINE_STRIP, color)
        marker.scale.x = width
        marker.points = [to_point(p) for p in points]
        return marker

    def balls(
        self, kind: str, points: Iterable[Array], color: ColorRGBA, size: float, number: int = 0
    ) -> Marker:
        """Draw balls of a diameter around points, (3,) each [m]."""
        marker = self._marker(kind, number, Marker.SPHERE_LIST, color)
        marker.scale.x = marker.scale.y = marker.scale.z = size
        marker.points = [to_point(p) for p in points]
        return marker

    def bead_chain(
        self, kind: str, points: Iterable[Array], colors: Sequence[ColorRGBA], size: float
    ) -> Marker:
        """Draw balls as `balls` does, each in its own of as many colours."""
        marker = self.balls(kind, points, colors[0], size)
        marker.colors = colors
        return marker

    def arrow(self, kind: str, T: Array, color: ColorRGBA, length: float) -> Marker:
        """Draw an arrow along the x axis of a pose, shape (4, 4), that begins there [m]."""
        marker = self._marker(kind, 0, Marker.ARROW, color)
        marker.scale.x = length
        marker.scale.y = marker.scale.z = 0.125 * length
        marker.pose = matrix_to_pose(T)
        return marker

    def text(
        self, kind: str, at: Array, text: str, color: ColorRGBA, size: float, number: int = 0
    ) -> Marker:
        """Write a text around a point, shape (3,), in letters `size` high: see `text_marker`."""
        return self.signed(text_marker(text, at, color, size), kind, color, number)

    def axes(self, kind: str, T: Array, length: float, width: float) -> Marker:
        """Draw the axes of a pose, shape (4, 4), in red, green and blue [m]."""
        marker = self._marker(kind, 0, Marker.LINE_LIST, WHITE)
        marker.scale.x = width
        for axis, color in enumerate((X_AXIS, Y_AXIS, Z_AXIS)):
            end = T[:3, 3] + length * T[:3, axis]
            marker.points += [to_point(T[:3, 3]), to_point(end)]
            marker.colors += [color, color]
        return marker

    def signed(self, marker: Marker, kind: str, color: ColorRGBA, number: int = 0) -> Marker:
        """Say which marker it is, where and when it belongs, and for how long."""
        marker.ns, marker.id, marker.color = f'{NAMESPACE}/{kind}', number, color
        marker.header.frame_id, marker.header.stamp = self._frame_id, self._stamp
        marker.lifetime = self._lifetime
        return marker

    def _marker(self, kind: str, number: int, shape: int, color: ColorRGBA) -> Marker:
        marker = Marker(type=shape)
        marker.pose.orientation.w = 1.0
        return self.signed(marker, kind, color, number)


def text_marker(text: str, at: Sequence[float] | Array, color: ColorRGBA, size: float) -> Marker:
    """
    Make a text around a point, shape (3,); capital letters are `size` high [m].

    Characters beyond ASCII become `?`: the font of RViz need not have them.
    """
    marker = Marker(type=Marker.TEXT_VIEW_FACING, color=color)
    marker.scale.z, marker.scale.x = size, SPACE * size
    marker.pose.position, marker.pose.orientation.w = to_point(at), 1.0
    marker.text = text.encode('ascii', 'replace').decode()
    return marker


def drawn_reach(robot: Mechanism) -> float:
    """Reach of a robot, as sizes in pictures have it [m]."""
    return min(robot.size, LONGEST)


def removed(namespace: str, number: int) -> Marker:
    """Take away one marker."""
    return Marker(ns=namespace, id=number, action=Marker.DELETE)


def all_removed(namespace: str) -> Marker:
    """Take away all markers of a namespace; of all namespaces in RViz that is not the newest."""
    return Marker(ns=namespace, action=Marker.DELETEALL)
