"""
Collision geometry as convex solids of coal: the only module that knows coal.

coal (https://github.com/coal-library/coal) measures by GJK (Gilbert, Johnson and Keerthi 1988),
and the depth of a penetration by EPA (van den Bergen 2001). Both want convex solids: meshes become
their convex hulls, or convex parts, which are never smaller. A depth may be wrong by the size of
the solids, as for a sphere far in a cylinder (coal 3.0.3; see its issue 351); whether they collide
never is.

"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import product
import math
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..errors import CollisionUnavailableError, SceneError, shown
from ..model.geometry import Box, Capsule, Collision, Cylinder, HalfSpace, Mesh, Shape, Sphere
from ..transforms import Array
from .collada import unit_of
from .hulls import convex_hull
from .link_meshes import LinkMeshes, MeshShape
from .meshes import MeshFinder
from .outlines import (
    box_outline,
    capsule_outline,
    cylinder_outline,
    Outline,
    outline_of,
    point_outline,
)
from .point_cells import CellMeter, PointCells
from .scene import Obstacle

CURE = (
    'sudo apt install ros-$ROS_DISTRO-coal, or, where ROS 2 is not from apt, pip install coal in '
    'a virtual environment'
)
"""How to install coal; docs/obstacles.md says why."""
LARGEST = 1e4
"""Largest extent of a part of a robot [m]; beyond it numbers become coarse."""
LONGEST_REASON = 500
"""Most characters of a reason [1]; it may hold long paths."""


@dataclass(frozen=True)
class MissingGeometry:
    """
    Collision geometry that is not checked.

    Attributes
    ----------
    link : str
        Its link.
    name : str
        The file, or the kind of shape.
    reason : str
        Why it is not checked.

    """

    link: str
    name: str
    reason: str

    def __str__(self) -> str:
        return f"link '{shown(self.link)}', {shown(self.name)}: {self.reason}"


@dataclass(frozen=True, eq=False)
class Solid:
    """A convex solid that moves with a link."""

    link: str
    T_link_solid: Array
    """Shape (4, 4)."""
    geometry: Any
    """Of coal, or `PointCells`, which stand in the root link and do not move."""
    centre: Array
    """Of a ball around the solid, in its own frame, shape (3,) [m]."""
    radius: float
    """Of that ball [m]; infinite where there is none."""
    padding: float = 0.0
    """How far the solid reaches beyond the geometry, all around [m]."""

    @cached_property
    def outline(self) -> Outline:
        """The solid as a polytope and a margin; there is none of a half space, or of cells."""
        coal, geometry = _coal(), self.geometry
        match geometry:
            case coal.Box():
                return box_outline(np.array(geometry.halfSide))
            case coal.Cylinder():
                return cylinder_outline(geometry.radius, geometry.halfLength)
            case coal.Capsule():
                return capsule_outline(geometry.radius, geometry.halfLength)
            case coal.Sphere():
                return point_outline(geometry.radius)
            case _:
                return outline_of(
                    np.array(geometry.points()), np.array(geometry.normals()), self.padding
                )


def solids_of(
    collisions: tuple[Collision, ...],
    finder: MeshFinder,
    tell: Callable[[str], None] = lambda _: None,
) -> tuple[list[Solid], tuple[MissingGeometry, ...], tuple[MeshShape, ...]]:
    """
    Make solids of collision geometry.

    Parameters
    ----------
    collisions : tuple of Collision
        The geometry.
    finder : MeshFinder
        Finds its meshes.
    tell : callable
        Is told in a sentence what takes long: a mesh that is divided for the first time.

    Returns
    -------
    list of Solid
        The solids; a mesh may be several.
    tuple of MissingGeometry
        What is missing.
    tuple of MeshShape
        What meshes count as.

    Raises
    ------
    CollisionUnavailableError
        If coal is not installed.

    """
    coal, meshes = _coal(), LinkMeshes(tell)
    solids, missing, shapes = [], [], []
    for collision in collisions:
        try:
            if isinstance(collision.shape, Mesh):
                shape, parts = _parts(coal, collision, finder, meshes)
                solids.extend(parts)
                shapes.append(shape)
            else:
                geometry = _geometry(coal, collision.shape, finder, _surface)
                solids.append(_solid(collision, geometry))
        except (OSError, ValueError, RuntimeError) as error:
            reason = shown(' '.join(str(error).split()), LONGEST_REASON)
            missing.append(MissingGeometry(collision.link, _name(collision.shape), reason))
    return solids, tuple(missing), tuple(shapes)


def _parts(
    coal: Any, collision: Collision, finder: MeshFinder, meshes: LinkMeshes
) -> tuple[MeshShape, list[Solid]]:
    """Make the solids of a mesh of a link."""
    mesh = collision.shape
    assert isinstance(mesh, Mesh)
    path = finder.find(mesh.filename)
    surface = _surface(coal, str(path), mesh.scale)
    division, parts = meshes.load(coal, path, mesh.scale, surface)
    solids = [_solid(collision, geometry, padding) for geometry, padding in parts]
    reached = division.hull_reach, division.reach, division.seconds, division.reason
    return MeshShape(collision.link, mesh.filename, len(parts), *reached), solids


def solid_of_obstacle(obstacle: Obstacle, root_link: str, finder: MeshFinder) -> Solid:
    """
    Make a solid of an obstacle; `link` is the one it stands on or is attached to.

    Raises
    ------
    CollisionUnavailableError
        If coal is not installed.
    SceneError
        If it cannot be loaded; says why.

    """
    coal = _coal()
    at = Collision(obstacle.link or root_link, obstacle.T_link_obstacle, obstacle.shape)
    try:
        load = _hull if obstacle.link else _surface
        return _solid(at, _geometry(coal, obstacle.shape, finder, load))
    except (OSError, ValueError, RuntimeError) as error:
        reason = shown(' '.join(str(error).split()), LONGEST_REASON)
        raise SceneError(
            f"obstacle '{shown(obstacle.name)}', {shown(_name(obstacle.shape))}: {reason}"
        ) from error


def solid_of_cells(cells: PointCells, root_link: str) -> Solid:
    """Make a solid of cells, which stand in the root link."""
    return Solid(root_link, np.eye(4), cells, *cells.ball)


class DistanceMeter:
    """
    Measures the distance between two solids, negative by the depth of a penetration [m].

    Every measurement starts afresh, so the answer depends on nothing but the poses. Cells are the
    second solid of a pair.

    Parameters
    ----------
    solids : list of Solid
        The g solids.
    poses : list of array, shape (12,)
        Where they are: rotation by rows, and origin in the root link [m].

    """

    def __init__(self, solids: list[Solid], poses: list[Array]) -> None:
        coal = _coal()
        self._solids, self._poses_of_solids = solids, poses
        self._rotations = [pose[:9].reshape(3, 3) for pose in poses]
        self._centres = [pose[9:] for pose in poses]
        self._cell_meters: dict[int, CellMeter] = {}
        self._request = coal.DistanceRequest()
        self._request.enable_signed_distance = True
        self._result = coal.DistanceResult()
        self._poses = [coal.Transform3s() for _ in range(2)]
        self._measure = coal.distance

    def distance(self, a: int, b: int) -> float:
        """Distance between solids number `a` and `b` where their frames are now."""
        if isinstance(self._solids[b].geometry, PointCells):
            return self.distance_to(a, self._solids[b])
        T_a, T_b = self._poses
        T_a.setTransform(self._rotations[a], self._centres[a])
        T_b.setTransform(self._rotations[b], self._centres[b])
        self._result.clear()
        solid_a, solid_b = self._solids[a], self._solids[b]
        distance = float(
            self._measure(
                solid_a.geometry, T_a, solid_b.geometry, T_b, self._request, self._result
            )
        )
        distance -= solid_a.padding + solid_b.padding
        return distance if math.isfinite(distance) else -math.inf

    def points(self, a: int, b: int) -> Array | None:
        """
        Nearest points of solids number `a` and `b` in the root link, shape (2, 3) [m].

        None for cells, of which only the distance is measured, and where coal knows none.
        """
        if isinstance(self._solids[b].geometry, PointCells) or self.distance(a, b) == -math.inf:
            return None
        result = self._result
        points = np.array([result.getNearestPoint1(), result.getNearestPoint2()])
        return self._padded(points, a, b) if np.isfinite(points).all() else None

    def _padded(self, points: Array, a: int, b: int) -> Array:
        """Move points that are nearest, shape (2, 3), out to where paddings end."""
        between = points[1] - points[0]
        length = float(np.linalg.norm(between))
        if length == 0.0:
            return points
        along = between / length
        return points + np.outer([self._solids[a].padding, -self._solids[b].padding], along)

    def distance_to(self, a: int, cells: Solid) -> float:
        """Distance between solid number `a`, where its frame is now, and some cells [m]."""
        meter = self._cell_meters.get(a)
        if meter is None:
            self._cell_meters[a] = meter = CellMeter(self._solids[a].outline)
        return meter.distance(self._poses_of_solids[a], cells.geometry)

    def replace(self, number: int, cells: Solid) -> None:
        """Have other cells in the place of a solid of cells from now on."""
        self._solids[number] = cells


class Support(NamedTuple):
    """A convex solid as the hull of points, widened by a disc about z and then by a ball."""

    points: Array
    """Shape (m, 3), in the frame of the solid [m]; a half space has none."""
    disc: float
    """Radius [m]."""
    ball: float
    """Radius [m]."""


def support_of(solid: Solid) -> Support | None:
    """Describe a solid by points; None where it is made of triangles, and not convex."""
    coal, geometry = _coal(), solid.geometry
    match geometry:
        case coal.Box():
            signs = np.array(list(product((-1.0, 1.0), repeat=3)))
            return Support(signs * np.array(geometry.halfSide), 0.0, 0.0)
        case coal.Cylinder():
            return Support(_along_z(geometry.halfLength), geometry.radius, 0.0)
        case coal.Capsule():
            return Support(_along_z(geometry.halfLength), 0.0, geometry.radius)
        case coal.Sphere():
            return Support(np.zeros((1, 3)), 0.0, geometry.radius)
        case coal.Halfspace():
            return Support(np.empty((0, 3)), 0.0, 0.0)
        case coal.Convex():
            return Support(np.array(geometry.points()), 0.0, solid.padding)
    return None


def _along_z(half_length: float) -> Array:
    return np.array([[0.0, 0.0, -half_length], [0.0, 0.0, half_length]])


def _coal() -> Any:
    try:
        import coal
    except ImportError as error:
        raise CollisionUnavailableError(f'coal is not installed; cure: {CURE}') from error
    return coal


def _geometry(coal: Any, shape: Shape | HalfSpace, finder: MeshFinder, load: Any) -> Any:
    match shape:
        case HalfSpace():
            return coal.Halfspace(np.array([0.0, 0.0, 1.0]), 0.0)
        case Box(size):
            return coal.Box(*size)
        case Cylinder(radius, length):
            return coal.Cylinder(radius, length)
        case Capsule(radius, length):
            return coal.Capsule(radius, length)
        case Sphere(radius):
            return coal.Sphere(radius)
        case Mesh(filename, scale):
            return load(coal, str(finder.find(filename)), scale)


def _surface(coal: Any, path: str, scale: tuple[float, float, float]) -> Any:
    """Load the triangles of a mesh, in metres."""
    surface = coal.MeshLoader().load(path, unit_of(Path(path)) * np.array(scale))
    vertices = np.array(surface.vertices())
    if len(vertices) == 0 or not np.abs(vertices).max() < LARGEST:
        raise ValueError(f'{path} has no vertices, or some beyond {LARGEST:.0f} m')
    return surface


def _hull(coal: Any, path: str, scale: tuple[float, float, float]) -> Any:
    """Load the convex hull of a mesh."""
    return convex_hull(coal, np.array(_surface(coal, path, scale).vertices()))


def _solid(collision: Collision, geometry: Any, padding: float = 0.0) -> Solid:
    if isinstance(collision.shape, HalfSpace):
        return Solid(collision.link, collision.T_link_geometry, geometry, np.zeros(3), math.inf)
    geometry.computeLocalAABB()
    centre, radius = np.array(geometry.aabb_center), float(geometry.aabb_radius) + padding
    size = float(np.abs(collision.T_link_geometry[:3, 3]).max() + np.abs(centre).max()) + radius
    if not size < LARGEST:
        raise ValueError(
            f'reaches {size:.3g} m from its link; at most {LARGEST:.0f} m are allowed'
        )
    return Solid(collision.link, collision.T_link_geometry, geometry, centre, radius, padding)


def _name(shape: Shape | HalfSpace) -> str:
    return shape.filename if isinstance(shape, Mesh) else type(shape).__name__.lower()
