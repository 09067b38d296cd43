"""Marker of a handle in RViz: arrows and rings along the axes of a tool, round a ball."""

from collections.abc import Iterator
import math
from textwrap import wrap

from geometry_msgs.msg import Quaternion
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import InteractiveMarker, InteractiveMarkerControl, Marker

from ...transforms import Array
from ..messages.conversions import matrix_to_pose
from ..messages.marker_shapes import text_marker
from ..messages.text_layout import LARGE_LINE, SPACING

SIZE_SHARE = 0.25
"""Size of a handle as a share of the reach of its arm [1]."""
BALL_SHARE = 0.6
"""Diameter of the ball as a share of the handle [1]: RViz picks what is in front, and inside a
flange nobody could take hold of it."""
BALL = ColorRGBA(r=0.1, g=0.7, b=0.9, a=0.35)
BALL_NAME = 'move'
"""Name of the control that is a ball."""
WORDS = 'words'
"""Name of the control that has the words over a handle."""
WORDS_HEIGHT, WORDS_SIZE = 1.0, 0.12
"""Height of the lowest line over the tool, and of letters, as shares of the handle [1]."""
WORDS_COLOR = ColorRGBA(r=1.0, g=1.0, b=1.0, a=1.0)
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
    marker.controls = [*axis_controls(), ball_control(BALL_SHARE * size, BALL)]
    return marker


def write_over(marker: InteractiveMarker, words: str) -> None:
    """
    Write words over a handle, in lines, instead of those before.

    As its description they would have spaces a metre wide: see `marker_shapes.SPACE`.
    """
    marker.controls = [control for control in marker.controls if control.name != WORDS]
    if words:
        marker.controls.append(_words_control(words, marker.scale))


def _words_control(words: str, scale: float) -> InteractiveMarkerControl:
    """Make a control whose lines are upright, however the tool is turned."""
    control = still_control(WORDS)
    size = WORDS_SIZE * scale
    for number, line in enumerate(reversed(wrap(words, LARGE_LINE))):
        height = WORDS_HEIGHT * scale + number * SPACING * size
        control.markers.insert(0, text_marker(line, (0.0, 0.0, height), WORDS_COLOR, size))
    return control


def still_control(name: str) -> InteractiveMarkerControl:
    """Make a control that is to be seen only, and stays upright."""
    control = InteractiveMarkerControl(
        name=name,
        orientation_mode=InteractiveMarkerControl.FIXED,
        interaction_mode=InteractiveMarkerControl.NONE,
        always_visible=True,
    )
    control.orientation.w = 1.0
    return control


def axis_controls() -> Iterator[InteractiveMarkerControl]:
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


def ball_control(diameter: float, color: ColorRGBA) -> InteractiveMarkerControl:
    """Make a ball that moves in the plane of the screen."""
    ball = Marker(type=Marker.SPHERE, color=color)
    ball.pose.orientation.w = 1.0
    ball.scale.x = ball.scale.y = ball.scale.z = diameter
    control = InteractiveMarkerControl(
        name=BALL_NAME, interaction_mode=InteractiveMarkerControl.MOVE_3D, always_visible=True
    )
    control.orientation.w = 1.0
    control.markers = [ball]
    return control
