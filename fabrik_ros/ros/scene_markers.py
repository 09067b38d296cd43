"""Obstacles as a node knows them, as markers: whole scenes, a namespace for each source."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker

from ..collision import MeshFinder, Obstacle, ObstacleSource, PointCells
from ..model.geometry import Box, Capsule, Cylinder, HalfSpace, Mesh, Sphere
from ..transforms import Array, transform
from .conversions import matrix_to_pose, to_point

WOOD = ColorRGBA(r=0.76, g=0.6, b=0.42, a=0.85)
GREY = ColorRGBA(r=0.6, g=0.62, b=0.65, a=0.85)
NEAREST = ColorRGBA(r=0.95, g=0.8, b=0.25, a=0.95)
BLOCKING = ColorRGBA(r=0.85, g=0.3, b=0.2, a=0.95)
MOST_CUBES = 2000
"""More cells are drawn as fewer, larger cubes: commands wait for the message [1]."""
FLOOR = 4.0, 0.01
"""Edge and thickness of the plate that a half space is drawn as [m]."""


@dataclass(frozen=True)
class KnownScene:
    """What stands around the arm; two that are equal look alike."""

    root_link: str
    of_file: tuple[Obstacle, ...] = ()
    in_markers: tuple[Obstacle, ...] = ()
    cells: tuple[tuple[str, PointCells], ...] = ()
    """Those of each sensor, by its frame."""
    nearest: str = ''
    """Name of what is nearest; '' where nothing is."""
    blocking: frozenset[str] = frozenset()
    """Names of what is in the way now."""


def scene_markers(scene: KnownScene, finder: MeshFinder) -> Iterator[Marker]:
    """
    Draw a scene: the first marker takes away all that was drawn before.

    Parameters
    ----------
    scene : KnownScene
        The scene.
    finder : MeshFinder
        Finds the meshes of obstacles.

    """
    yield Marker(action=Marker.DELETEALL)
    numbers = dict.fromkeys(ObstacleSource, 0)
    for source, obstacles in (
        (ObstacleSource.FILE, scene.of_file),
        (ObstacleSource.MARKERS, scene.in_markers),
    ):
        for obstacle in obstacles:
            shown_as = ObstacleSource.ATTACHED if obstacle.link else source
            color = _color(scene, obstacle.name, WOOD)
            for marker in _solids(obstacle, finder):
                marker.header.frame_id = obstacle.link or scene.root_link
                marker.text, marker.color = obstacle.name, color
                marker.ns, marker.id = shown_as.value, numbers[shown_as]
                numbers[shown_as] += 1
                yield marker
    for number, (frame, cells) in enumerate(scene.cells):
        if len(cells) > 0:
            marker = _cubes(frame, cells)
            marker.header.frame_id = scene.root_link
            marker.color = _color(scene, f"points of '{frame}'", GREY)
            marker.ns, marker.id = ObstacleSource.CELLS.value, number
            yield marker


def names_in(reason: str, names: Iterable[str]) -> frozenset[str]:
    """Names of obstacles that a reason quotes: those that are in the way."""
    return frozenset(name for name in names if f"'{name}'" in reason or _is_cloud(name, reason))


def _is_cloud(name: str, reason: str) -> bool:
    return name.startswith('points of ') and name in reason


def _color(scene: KnownScene, name: str, otherwise: ColorRGBA) -> ColorRGBA:
    if name in scene.blocking:
        return BLOCKING
    return NEAREST if name == scene.nearest else otherwise


def _marker(kind: int, T: Array, *scale: float) -> Marker:
    """Make a marker that moves with its frame, which tf may tell later."""
    marker = Marker(type=kind, pose=matrix_to_pose(T), frame_locked=True)
    marker.scale.x, marker.scale.y, marker.scale.z = map(float, scale)
    return marker


def _solids(obstacle: Obstacle, finder: MeshFinder) -> Iterator[Marker]:
    """Draw the shape of an obstacle, by one marker or several."""
    T = obstacle.T_link_obstacle
    match obstacle.shape:
        case Box(size):
            yield _marker(Marker.CUBE, T, *size)
        case Sphere(radius):
            yield _marker(Marker.SPHERE, T, *3 * (2.0 * radius,))
        case Cylinder(radius, length) | Capsule(radius, length):
            yield _marker(Marker.CYLINDER, T, 2.0 * radius, 2.0 * radius, length)
            if isinstance(obstacle.shape, Capsule):
                for end in (-0.5 * length, 0.5 * length):
                    yield _marker(Marker.SPHERE, T @ _up(end), *3 * (2.0 * radius,))
        case HalfSpace():
            edge, thickness = FLOOR
            yield _marker(Marker.CUBE, T @ _up(-0.5 * thickness), edge, edge, thickness)
        case Mesh(filename, scale):
            marker = _marker(Marker.MESH_RESOURCE, T, *scale)
            marker.mesh_resource = _url(filename, finder)
            yield marker


def _url(filename: str, finder: MeshFinder) -> str:
    """Where RViz finds a mesh: its file, or its own name if the file is gone by now."""
    try:
        return finder.find(filename).as_uri()
    except FileNotFoundError:
        return filename


def _up(height: float) -> Array:
    """Pose above another one by a height [m], shape (4, 4)."""
    return transform(np.eye(3), np.array([0.0, 0.0, height]))


def _cubes(frame: str, cells: PointCells) -> Marker:
    """Draw cells, in larger cubes where they are many, which the text says."""
    size, centres = cells.size, cells.centres
    while len(centres) > MOST_CUBES:
        size *= 2.0
        centres = (np.unique(np.floor(centres / size), axis=0) + 0.5) * size
    marker = _marker(Marker.CUBE_LIST, np.eye(4), size, size, size)
    marker.points = [to_point(centre) for centre in centres]
    drawn = '' if size == cells.size else f', drawn in cubes of {size:g} m'
    marker.text = f"points of '{frame}': {len(cells)} cells{drawn}"
    return marker
