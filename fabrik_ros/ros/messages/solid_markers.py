"""Shapes as markers, without frame, name and colour: of links, and of what stands around them."""

from collections.abc import Iterator

import numpy as np
from visualization_msgs.msg import Marker

from ...model.geometry import Box, Capsule, Cylinder, HalfSpace, Mesh, Shape, Sphere
from ...transforms import Array, transform
from .conversions import matrix_to_pose

FLOOR = 4.0, 0.01
"""Edge and thickness of the plate that a half space is drawn as [m]."""


def solid_markers(shape: Shape | HalfSpace, T: Array, mesh: str = '') -> Iterator[Marker]:
    """
    Draw a shape, by one marker or several.

    Parameters
    ----------
    shape : shape
        What is drawn.
    T : array, shape (4, 4)
        Where it is.
    mesh : str
        By what RViz finds it, if it is a mesh.

    """
    match shape:
        case Box(size):
            yield solid_marker(Marker.CUBE, T, *size)
        case Sphere(radius):
            yield solid_marker(Marker.SPHERE, T, *3 * (2.0 * radius,))
        case Cylinder(radius, length) | Capsule(radius, length):
            yield solid_marker(Marker.CYLINDER, T, 2.0 * radius, 2.0 * radius, length)
            if isinstance(shape, Capsule):
                for end in (-0.5 * length, 0.5 * length):
                    yield solid_marker(Marker.SPHERE, T @ _up(end), *3 * (2.0 * radius,))
        case HalfSpace():
            edge, thickness = FLOOR
            yield solid_marker(Marker.CUBE, T @ _up(-0.5 * thickness), edge, edge, thickness)
        case Mesh(_, scale):
            marker = solid_marker(Marker.MESH_RESOURCE, T, *scale)
            marker.mesh_resource = mesh
            yield marker


def solid_marker(kind: int, T: Array, *scale: float) -> Marker:
    """Make a marker of a kind at a pose, shape (4, 4)."""
    marker = Marker(type=kind, pose=matrix_to_pose(T))
    marker.scale.x, marker.scale.y, marker.scale.z = map(float, scale)
    return marker


def _up(height: float) -> Array:
    """Pose above another one by a height [m], shape (4, 4)."""
    return transform(np.eye(3), np.array([0.0, 0.0, height]))
