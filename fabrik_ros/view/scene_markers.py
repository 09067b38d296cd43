"""What a node knows of its surroundings, as it shows that in markers."""

from collections.abc import Iterator

import numpy as np
from visualization_msgs.msg import Marker, MarkerArray

from ..collision import ObstacleSource
from ..model.geometry import Box, Cylinder, Mesh, Sphere
from ..ros.messages.conversions import pose_to_matrix
from ..transforms import Array
from .solid import Cells, Drawn, Solid, Triangles

SOURCES = {source.value: source for source in ObstacleSource}


def solids_in(message: MarkerArray) -> tuple[Solid, ...]:
    """List what a message of `~/scene_markers` shows: each one is the whole scene."""
    return tuple(_solids_in(message))


def _solids_in(message: MarkerArray) -> Iterator[Solid]:
    for marker in message.markers:
        shape = _shape(marker) if marker.action == Marker.ADD else None
        source = SOURCES.get(marker.ns)
        if shape is None or source is None:
            continue
        yield Solid(
            marker.text or f'{marker.ns}/{marker.id}',
            source,
            marker.header.frame_id.removeprefix('/'),
            shape,
            tuple(pose_to_matrix(marker.pose).ravel().tolist()),
            _color(marker),
        )


def _shape(marker: Marker) -> Drawn | None:
    """Read the shape of a marker; None where it is no solid."""
    scale = marker.scale
    x, y, z = float(scale.x), float(scale.y), float(scale.z)
    match marker.type:
        case Marker.CUBE:
            return Box((x, y, z))
        case Marker.SPHERE:
            return Sphere(0.5 * max(x, y, z))
        case Marker.CYLINDER:
            return Cylinder(0.5 * max(x, y), z)
        case Marker.MESH_RESOURCE:
            return Mesh(marker.mesh_resource, (x, y, z))
        case Marker.TRIANGLE_LIST:
            return Triangles(_bytes(_points(marker) * (x, y, z)))
        case Marker.CUBE_LIST:
            return Cells(_bytes(_points(marker)), (x, y, z))
        case _:
            return None


def _points(marker: Marker) -> Array:
    return np.array([(p.x, p.y, p.z) for p in marker.points]).reshape(-1, 3)


def _bytes(points: Array) -> bytes:
    return points.astype(np.float32).tobytes()


def _color(marker: Marker) -> tuple[int, int, int]:
    color = marker.color
    red, green, blue = (round(255.0 * min(max(c, 0.0), 1.0)) for c in (color.r, color.g, color.b))
    return red, green, blue
