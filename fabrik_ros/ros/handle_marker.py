"""What a handle looks like in RViz: arrows and rings along the axes of a tool, round a ball."""

from collections.abc import Iterator
import math

from geometry_msgs.msg import Quaternion
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import InteractiveMarker, InteractiveMarkerControl, Marker

from ..transforms import Array
from .conversions import matrix_to_pose

SIZE_SHARE = 0.25
"""Size of a handle as a share of the reach of its arm [1]."""
BALL_SHARE = 0.25
"""Diameter of the ball as a share of the handle [1]."""
BALL = ColorRGBA(r=0.1, g=0.7, b=0.9, a=0.6)
HALF = math.sqrt(0.5)
AXES = {
    'x': Quaternion(x=HALF, w=HALF),
    'y': Quaternion(z=HALF, w=HALF),
    'z': Quaternion(y=-HALF, w=HALF),
}
"""Rotations that take the x axis, along which a control works, to the axes of the tool."""


def handle_marker(name: str, frame_id: str, T: Array, size: float) -> InteractiveMarker:
    """
    Make a handle with six degrees of freedom.

    Parameters
    ----------
    name : str
        Of the marker.
    frame_id : str
        The frame that its pose is in, and that of what is dragged.
    T : array, shape (4, 4)
        The pose.
    size : float
        How large it is [m].

    """
    marker = InteractiveMarker(name=name, scale=size, pose=matrix_to_pose(T))
    # Without a time RViz tells poses in this frame, and not in its fixed frame.
    marker.header.frame_id = frame_id
    marker.controls = [*_axis_controls(), _ball(BALL_SHARE * size)]
    return marker


def _axis_controls() -> Iterator[InteractiveMarkerControl]:
    """Make an arrow and a ring for each axis; RViz draws those that have no markers."""
    modes = {
        'move': InteractiveMarkerControl.MOVE_AXIS,
        'turn': InteractiveMarkerControl.ROTATE_AXIS,
    }
    for verb, mode in modes.items():
        for axis, orientation in AXES.items():
            yield InteractiveMarkerControl(
                name=f'{verb}_{axis}', orientation=orientation, interaction_mode=mode
            )


def _ball(diameter: float) -> InteractiveMarkerControl:
    """Make a ball that moves in the plane of the screen."""
    ball = Marker(type=Marker.SPHERE, color=BALL)
    ball.pose.orientation.w = 1.0
    ball.scale.x = ball.scale.y = ball.scale.z = diameter
    control = InteractiveMarkerControl(
        name='move', interaction_mode=InteractiveMarkerControl.MOVE_3D, always_visible=True
    )
    control.orientation.w = 1.0
    control.markers = [ball]
    return control
