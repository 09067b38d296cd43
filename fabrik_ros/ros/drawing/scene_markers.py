"""Obstacles as a node knows them, as markers: whole scenes, a namespace for each source."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from builtin_interfaces.msg import Duration
import numpy as np
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker

from ...collision import MeshFinder, Obstacle, ObstacleSource, PointCells
from ...model.geometry import Mesh
from ..messages.conversions import to_point
from ..messages.palette import BLOCKING, CELLS, NEAREST, WOOD
from ..messages.solid_markers import solid_marker, solid_markers

LIFETIME = 3
"""Markers of scenes that are not renewed are gone after this time [s]."""
MOST_CUBES = 2000
"""Most cubes; more cells are drawn as fewer, larger ones: commands wait for the message [1]."""


@dataclass(frozen=True)
class KnownScene:
    """Scene around the arm; two that are equal look alike."""

    root_link: str
    of_file: tuple[Obstacle, ...] = ()
    in_markers: tuple[Obstacle, ...] = ()
    cells: tuple[tuple[str, PointCells], ...] = ()
    """Cells with points of each sensor, by its frame."""
    nearest: str = ''
    """Name of what is nearest; '' where nothing is."""
    blocking: frozenset[str] = frozenset()
    """Names of obstacles that are in the way now."""


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
    for marker in _markers(scene, finder):
        marker.frame_locked, marker.lifetime = True, Duration(sec=LIFETIME)
        yield marker


def _markers(scene: KnownScene, finder: MeshFinder) -> Iterator[Marker]:
    """Draw what stands around."""
    numbers = dict.fromkeys(ObstacleSource, 0)
    for source, obstacles in (
        (ObstacleSource.FILE, scene.of_file),
        (ObstacleSource.MARKERS, scene.in_markers),
    ):
        for obstacle in obstacles:
            shown_as = ObstacleSource.ATTACHED if obstacle.link else source
            color = _color(scene, obstacle.name, WOOD)
            shape = obstacle.shape
            mesh = _url(shape.filename, finder) if isinstance(shape, Mesh) else ''
            for marker in solid_markers(shape, obstacle.T_link_obstacle, mesh):
                marker.header.frame_id = obstacle.link or scene.root_link
                marker.text, marker.color = obstacle.name, color
                marker.ns, marker.id = shown_as.value, numbers[shown_as]
                numbers[shown_as] += 1
                yield marker
    for number, (frame, cells) in enumerate(scene.cells):
        if len(cells) > 0:
            marker = _cubes(frame, cells)
            marker.header.frame_id = scene.root_link
            marker.color = _color(scene, f"points of '{frame}'", CELLS)
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


def _url(filename: str, finder: MeshFinder) -> str:
    """Address where RViz finds a mesh: its file, or its own name if the file is gone by now."""
    try:
        return finder.find(filename).as_uri()
    except FileNotFoundError:
        return filename


def _cubes(frame: str, cells: PointCells) -> Marker:
    """Draw cells, in larger cubes where they are many, which the text says."""
    size, centres = cells.size, cells.centres
    while len(centres) > MOST_CUBES:
        size *= 2.0
        centres = (np.unique(np.floor(centres / size), axis=0) + 0.5) * size
    marker = solid_marker(Marker.CUBE_LIST, np.eye(4), size, size, size)
    marker.points = [to_point(centre) for centre in centres]
    drawn = '' if size == cells.size else f', drawn in cubes of {size:g} m'
    marker.text = f"points of '{frame}': {len(cells)} cells{drawn}"
    return marker
