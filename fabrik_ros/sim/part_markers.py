"""The parts of a simulation as markers, as a node takes for obstacles and RViz shows them."""

from collections.abc import Callable

import numpy as np
from visualization_msgs.msg import Marker, MarkerArray

from ..collision import MeshFinder, Scene
from ..errors import shown
from ..model.geometry import Capsule, Cylinder, HalfSpace, Mesh, Shape
from ..ros.inputs.marker_names import name_in_node, namespace_and_number
from ..ros.messages.conversions import matrix_to_pose
from ..ros.messages.palette import CHAIN
from ..ros.messages.solid_markers import solid_markers
from ..transforms import Array
from .surroundings import SurroundingsError

SAME_PLACE = 1e-4
"""A part of whose pose no entry has changed by more is where it was [1 or m]."""


class PartMarkers:
    """
    Tells where parts are.

    A part `part/1` has the namespace `part` and the number 1, for which a node calls it `part/1`;
    one that is called `cup` is `cup/0` there. A part that rests is in the same place each time,
    so that nobody takes its trembling for a change.

    Parameters
    ----------
    parts : Scene
        Their shapes.
    frame : str
        The root link of the robot.
    finder : MeshFinder
        Finds the files of meshes.

    Raises
    ------
    SurroundingsError
        If two parts would have the same namespace and number, or a mesh is not there.

    """

    def __init__(self, parts: Scene, frame: str, finder: MeshFinder) -> None:
        self._frame = frame
        self._markers: dict[str, Marker] = {}
        self._told: dict[str, Array] = {}
        names: dict[str, str] = {}
        for part in parts:
            marker = _marker(part.shape, finder)
            marker.ns, marker.id = namespace_and_number(part.name)
            marker.header.frame_id, marker.color = frame, CHAIN
            self._markers[part.name] = marker
            other = names.setdefault(name_in_node(part.name), part.name)
            if other != part.name:
                raise SurroundingsError(
                    f"parts '{shown(other)}' and '{shown(part.name)}' would both be "
                    f"'{shown(name_in_node(part.name))}'"
                )

    def message(self, pose_of: Callable[[str], Array]) -> MarkerArray:
        """Make the message; `pose_of` gives the pose of a part in the frame, shape (4, 4)."""
        for name, marker in self._markers.items():
            T, told = pose_of(name), self._told.get(name)
            if told is None or np.abs(T - told).max() > SAME_PLACE:
                self._told[name] = T
                marker.pose = matrix_to_pose(T)
        return MarkerArray(markers=list(self._markers.values()))


def _marker(shape: Shape | HalfSpace, finder: MeshFinder) -> Marker:
    """Make one marker; a capsule becomes the cylinder around it."""
    if isinstance(shape, Capsule):
        shape = Cylinder(shape.radius, shape.length + 2.0 * shape.radius)
    mesh = f'file://{finder.find(shape.filename)}' if isinstance(shape, Mesh) else ''
    (marker,) = solid_markers(shape, np.eye(4), mesh)
    return marker
