"""Markers of waypoints in RViz: a numbered frame with a ball for each, and a line through them."""

from collections.abc import Sequence

import numpy as np
from visualization_msgs.msg import InteractiveMarker, InteractiveMarkerControl, Marker

from ...transforms import Array
from ..messages.conversions import matrix_to_pose, to_point
from ..messages.marker_shapes import text_marker
from ..messages.palette import CHOSEN, WAYPOINT, X_AXIS, Y_AXIS, Z_AXIS
from .handle_marker import axis_controls, ball_control, still_control

PREFIX = 'waypoint_'
"""Begins the names of the markers of waypoints."""
LINE = 'waypoints'
"""Name of the marker that is the line."""
SCALE, BALL, AXIS, TEXT, WIDTH = 0.5, 0.14, 0.24, 0.12, 0.012
"""Arrows and rings, ball, axes, height of numbers, and width of lines, in sizes of the handle."""


def name_of(number: int) -> str:
    """Name the marker of a waypoint by its number, from 0 on."""
    return f'{PREFIX}{number + 1}'


def number_of(name: str) -> int:
    """Return the number of the waypoint of a marker, from 0 on; -1 for another marker."""
    digits = name.removeprefix(PREFIX)
    return int(digits) - 1 if digits.isdecimal() else -1


def waypoint_marker(
    number: int, T: Array, frame_id: str, size: float, is_chosen: bool
) -> InteractiveMarker:
    """
    Make the marker of a waypoint; one that is chosen has arrows and rings, too.

    Parameters
    ----------
    number : int
        Its number, from 0 on.
    T : array, shape (4, 4)
        Its pose.
    frame_id : str
        The frame that this is in, and that of what is dragged.
    size : float
        Size of the handle of the tool [m].
    is_chosen : bool
        Whether somebody has chosen it.

    """
    marker = InteractiveMarker(name=name_of(number), scale=SCALE * size, pose=matrix_to_pose(T))
    marker.header.frame_id = frame_id
    color = CHOSEN if is_chosen else WAYPOINT
    label = still_control('number')
    place = (0.0, 0.0, AXIS * size)
    label.markers = [text_marker(str(number + 1), place, color, TEXT * size)]
    marker.controls = [ball_control(BALL * size, color), _frame(size), label]
    if is_chosen:
        marker.controls += axis_controls()
    return marker


def _frame(size: float) -> InteractiveMarkerControl:
    """Make the axes of a waypoint, which turn with it."""
    axes = Marker(type=Marker.LINE_LIST)
    axes.pose.orientation.w, axes.scale.x = 1.0, WIDTH * size
    for axis, color in zip(np.eye(3), (X_AXIS, Y_AXIS, Z_AXIS), strict=True):
        axes.points += [to_point(np.zeros(3)), to_point(AXIS * size * axis)]
        axes.colors += [color, color]
    control = still_control('frame')
    control.orientation_mode = InteractiveMarkerControl.INHERIT
    control.markers = [axes]
    return control


def line_marker(poses: Sequence[Array], frame_id: str, size: float) -> InteractiveMarker:
    """Make the line through poses, shape (4, 4) each, that nobody can drag."""
    line = Marker(type=Marker.LINE_STRIP, color=WAYPOINT)
    line.pose.orientation.w, line.scale.x = 1.0, WIDTH * size
    line.points = [to_point(T[:3, 3]) for T in poses]
    marker = InteractiveMarker(name=LINE, pose=matrix_to_pose(np.eye(4)))
    marker.header.frame_id = frame_id
    control = still_control('line')
    control.markers = [line]
    marker.controls = [control]
    return marker
