"""Obstacles in markers, as RViz shows them: solids, by namespace and number, for a lifetime."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
import math
import re

import numpy as np
from visualization_msgs.msg import Marker, MarkerArray

from ...collision import Obstacle
from ...errors import FabrikError, SceneError, shown
from ...model.geometry import Box, Cylinder, Mesh, Shape, Sphere
from ...model.robot import Robot
from ...transforms import Array, transform
from ..messages.conversions import pose_to_matrix, seconds
from ..messages.marker_shapes import NAMESPACE

KINDS = {
    Marker.CUBE: 'CUBE',
    Marker.SPHERE: 'SPHERE',
    Marker.CYLINDER: 'CYLINDER',
    Marker.CUBE_LIST: 'CUBE_LIST',
    Marker.SPHERE_LIST: 'SPHERE_LIST',
    Marker.MESH_RESOURCE: 'MESH_RESOURCE',
}
"""Markers that are solids."""
MOST_IN_A_LIST = 1000
"""Cubes or spheres of one marker: point clouds are for more [1]."""

NOTHING = re.compile('(?!)')
"""Pattern of no name."""

Key = tuple[str, int]
"""Namespace and number of a marker."""


@dataclass(frozen=True, eq=False)
class MarkedObstacle:
    """
    A solid in some frame.

    Raises
    ------
    SceneError
        If its shape has no size, or it is farther away than 1000 m.

    """

    name: str
    shape: Shape
    T_frame_obstacle: Array
    """Shape (4, 4) [m]."""
    frame: str
    is_locked: bool
    """Whether it moves with the frame."""
    stamp: float = 0.0
    """Time at which it was in that place of the frame [s]; 0: when it came."""

    def __post_init__(self) -> None:
        Obstacle(self.name, self.shape, self.T_frame_obstacle)  # which checks them
        if not self.frame:
            raise SceneError(f"obstacle '{self.name}': frame_id is empty")

    def is_same(self, other: 'MarkedObstacle') -> bool:
        """Whether it is the same solid in the same place of the same frame, as it was then."""
        mine, theirs = (
            (each.name, each.shape, each.frame, each.is_locked, each.is_locked or each.stamp)
            for each in (self, other)
        )
        return mine == theirs and np.array_equal(self.T_frame_obstacle, other.T_frame_obstacle)


@dataclass(frozen=True, eq=False)
class MarkedGroup:
    """Obstacles that one marker shows."""

    obstacles: tuple[MarkedObstacle, ...]
    ends_at: float
    """End of its lifetime [s]; infinite where it has none."""


Groups = Mapping[Key, MarkedGroup]


def after(groups: Groups, message: MarkerArray, now: float) -> Groups:
    """
    Return what is there after a message.

    Parameters
    ----------
    groups : mapping
        What was there before; it does not change.
    message : MarkerArray
        Markers that are added, changed and deleted.
    now : float
        The time [s].

    Raises
    ------
    SceneError
        If a marker is no obstacle, or makes no sense; names it.

    """
    left = dict(in_time(groups, now))
    for marker in message.markers:
        key = marker.ns, int(marker.id)
        if marker.action == Marker.DELETEALL:
            left = {other: left[other] for other in left if marker.ns not in ('', other[0])}
        elif marker.action == Marker.DELETE:
            left.pop(key, None)
        elif marker.action != Marker.ADD:
            raise SceneError(f'{_name(marker)}: the action is {marker.action}; expected 0, 2 or 3')
        elif marker.type != Marker.TEXT_VIEW_FACING:
            left[key] = _unchanged(left.get(key), _group(marker, now))
    return left


def deleted_by(message: MarkerArray) -> re.Pattern[str]:
    """Pattern of the names of obstacles that a message deletes; it may tell them anew."""
    patterns = []
    for marker in message.markers:
        if marker.action == Marker.DELETE:
            patterns.append(rf'{re.escape(_name(marker))}(/\d+)?')
        elif marker.action == Marker.DELETEALL:
            namespace = re.escape(shown(marker.ns)) if marker.ns else '.+'
            patterns.append(rf'{namespace}/-?\d+(/\d+)?')
    return re.compile('|'.join(patterns)) if patterns else NOTHING


def in_time(groups: Groups, now: float) -> Groups:
    """Return those whose lifetime has not ended."""
    if all(now < group.ends_at for group in groups.values()):
        return groups
    return {key: group for key, group in groups.items() if now < group.ends_at}


def on_link(marked: MarkedObstacle, robot: Robot, values: Mapping[str, float]) -> Obstacle:
    """
    Attach an obstacle in the frame of a link to it, or leave it where the link was.

    Raises
    ------
    FabrikError
        If the robot has no such link, or `values`, of joints by name [rad or m], do not say where
        it is.

    """
    frame = marked.frame
    if marked.is_locked and joint_that_moves(robot, frame):
        return Obstacle(marked.name, marked.shape, marked.T_frame_obstacle, frame)
    T = robot.pose(robot.root_link, frame, values) @ marked.T_frame_obstacle
    return Obstacle(marked.name, marked.shape, T)


def joint_that_moves(robot: Robot, link: str) -> str:
    """Name a joint that moves a link against the root link; '' where none does."""
    joints = robot.joints_between(robot.root_link, link)
    return next((joint.name for joint in joints if joint.type.moves), '')


def _unchanged(before: MarkedGroup | None, group: MarkedGroup) -> MarkedGroup:
    """Keep the obstacles of a marker that is only said again."""
    if before is None or len(before.obstacles) != len(group.obstacles):
        return group
    pairs = zip(before.obstacles, group.obstacles, strict=True)
    is_same = all(old.is_same(new) for old, new in pairs)
    return MarkedGroup(before.obstacles, group.ends_at) if is_same else group


def _group(marker: Marker, now: float) -> MarkedGroup:
    lifetime = marker.lifetime.sec + 1e-9 * marker.lifetime.nanosec
    return MarkedGroup(tuple(_obstacles(marker)), now + lifetime if lifetime > 0.0 else math.inf)


def _obstacles(marker: Marker) -> Iterator[MarkedObstacle]:
    name = _name(marker)
    if marker.ns == NAMESPACE or marker.ns.startswith(f'{NAMESPACE}/'):
        raise SceneError(f"{name}: namespace '{NAMESPACE}' is what a node shows on ~/markers")
    try:
        T = pose_to_matrix(marker.pose)
    except FabrikError as error:
        raise SceneError(f'{name}: {error}') from error
    shape, frame = _shape(marker), marker.header.frame_id.removeprefix('/')
    stamp = seconds(marker.header.stamp)
    if marker.type not in (Marker.CUBE_LIST, Marker.SPHERE_LIST):
        yield MarkedObstacle(name, shape, T, frame, bool(marker.frame_locked), stamp)
        return
    if not 0 < len(marker.points) <= MOST_IN_A_LIST:
        raise SceneError(
            f'{name} has {len(marker.points)} points; expected 1 to {MOST_IN_A_LIST}, and for '
            'more ~/points'
        )
    for number, point in enumerate(marker.points):
        T_point = T @ transform(np.eye(3), np.array([point.x, point.y, point.z]))
        is_locked = bool(marker.frame_locked)
        yield MarkedObstacle(f'{name}/{number}', shape, T_point, frame, is_locked, stamp)


def _shape(marker: Marker) -> Shape:
    """
    Make the shape of a marker; one that is thinner along one axis becomes round.

    Balls and cylinders that are drawn as ellipses are taken to be as wide as they are at most.
    """
    scale = marker.scale
    x, y, z = float(scale.x), float(scale.y), float(scale.z)
    match marker.type:
        case Marker.CUBE | Marker.CUBE_LIST:
            return Box((x, y, z))
        case Marker.SPHERE | Marker.SPHERE_LIST:
            return Sphere(_radius(x, y, z))
        case Marker.CYLINDER:
            return Cylinder(_radius(x, y), z)
        case Marker.MESH_RESOURCE:
            return Mesh(marker.mesh_resource, (x, y, z))
        case _:
            raise SceneError(
                f'{_name(marker)} has the type {marker.type}, which is no solid; expected one '
                f'of {", ".join(KINDS.values())}'
            )


def _radius(*diameters: float) -> float:
    """Half of the greatest diameter; 0 where one is no length, which no solid has."""
    return 0.5 * max(diameters) if min(diameters) > 0.0 else 0.0


def _name(marker: Marker) -> str:
    """Name a marker by its namespace and number."""
    return f'{shown(marker.ns) or "marker"}/{marker.id}'
