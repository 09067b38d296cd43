"""The links of a robot in the picture, each in a frame of its own."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import viser

from ..model.robot import Robot
from ..transforms import Array, quaternion_xyzw_from_rotation

LEAST_MOVE = 1e-6
"""Entries of poses that differ by less are not drawn anew [m or 1]."""
GHOST_COLOR = (255, 140, 0)
GHOST_OPACITY = 0.4
GHOST_MARGIN = 0.002
"""A ghost is larger than the arm by this all round: surfaces in one place would fight [m]."""
APART = 0.02
"""A link of the ghost is drawn where its middle is farther from that of the arm [m]."""

Parts = Mapping[str, tuple[Any, ...]]
"""Meshes of each link, in its frame."""


def parts_of(urdf: Any, robot: Robot, is_visual: bool) -> Parts:
    """List the meshes, as trimesh has them, that are drawn of each link."""
    scene = urdf.scene if is_visual else urdf.collision_scene
    parts: dict[str, list[Any]] = {link: [] for link in robot.links}
    if scene is None:
        return dict.fromkeys(parts, ())
    for node in scene.graph.nodes_geometry:
        link = scene.graph.transforms.parents[node]
        T_link_node, geometry = scene.graph.get(node, frame_from=link)
        mesh = scene.geometry[geometry].copy()
        mesh.apply_transform(T_link_node)
        parts.setdefault(link, []).append(mesh)
    return {link: tuple(meshes) for link, meshes in parts.items()}


class ArmView:
    """
    Draws the arm as it is measured.

    Parameters
    ----------
    server : viser.ViserServer
        Draws.
    robot : Robot
        The robot.
    parts : mapping
        What is drawn of each link.

    """

    ROOT = '/measured'

    def __init__(self, server: viser.ViserServer, robot: Robot, parts: Parts) -> None:
        self._server, self._robot = server, robot
        self._root = server.scene.add_frame(self.ROOT, show_axes=False)
        self._frames = {
            link: server.scene.add_frame(f'{self.ROOT}/{link}', show_axes=False)
            for link in robot.links
        }
        self._poses: dict[str, Array] = {}
        for link, number, mesh in numbered(parts):
            server.scene.add_mesh_trimesh(f'{self.ROOT}/{link}/{number}', mesh)

    def frame_of(self, link: str) -> str:
        """Name the frame of a link in the picture; '' where there is no such link."""
        return f'{self.ROOT}/{link}' if link in self._frames else ''

    def pose(self, link: str) -> Array:
        """Where a link is drawn in the root link, shape (4, 4)."""
        return self._poses[link]

    def place(self, values: Mapping[str, float]) -> None:
        """Draw the arm at joint values by name [rad or m]."""
        for link, frame in self._frames.items():
            T = self._robot.pose(self._robot.root_link, link, values)
            last = self._poses.get(link)
            if last is None or np.abs(T - last).max() > LEAST_MOVE:
                self._poses[link] = T
                put(frame, T)


class GhostView:
    """
    Draws the arm where it is told to be: only links that are elsewhere.

    Parameters
    ----------
    server : viser.ViserServer
        Draws.
    robot : Robot
        The robot.
    parts : mapping
        What is drawn of each link.

    Attributes
    ----------
    is_wanted : bool
        Whether somebody wants to see it.

    """

    ROOT = '/commanded'

    def __init__(self, server: viser.ViserServer, robot: Robot, parts: Parts) -> None:
        self._robot = robot
        self.is_wanted = True
        server.scene.add_frame(self.ROOT, show_axes=False)
        self._middles = {link: middle_of(meshes) for link, meshes in parts.items() if meshes}
        self._frames = {
            link: server.scene.add_frame(f'{self.ROOT}/{link}', show_axes=False, visible=False)
            for link in self._middles
        }
        for link, number, mesh in numbered(parts):
            server.scene.add_mesh_simple(
                f'{self.ROOT}/{link}/{number}',
                mesh.vertices + GHOST_MARGIN * mesh.vertex_normals,
                mesh.faces,
                color=GHOST_COLOR,
                opacity=GHOST_OPACITY,
                cast_shadow=False,
                receive_shadow=False,
            )

    def place(self, values: Mapping[str, float], arm: ArmView) -> None:
        """Draw the links that are elsewhere at joint values by name [rad or m]; none: no link."""
        for link, frame in self._frames.items():
            is_seen = False
            if values and self.is_wanted:
                T = self._robot.pose(self._robot.root_link, link, values)
                is_seen = _moved(self._middles[link], T, arm.pose(link)) > APART
            if is_seen:
                put(frame, T)
            if frame.visible != is_seen:
                frame.visible = is_seen


def _moved(point: Array, T_a: Array, T_b: Array) -> float:
    """How far a point of a link, shape (3,), is moved from one pose to another [m]."""
    between = (T_a - T_b)[:3]
    return float(np.linalg.norm(between[:, :3] @ point + between[:, 3]))


def middle_of(meshes: Iterable[Any]) -> Array:
    """Middle of the box around meshes, shape (3,) [m]."""
    bounds = np.array([mesh.bounds for mesh in meshes])
    middle: Array = 0.5 * (bounds[:, 0].min(axis=0) + bounds[:, 1].max(axis=0))
    return middle


def numbered(parts: Parts) -> Iterator[tuple[str, int, Any]]:
    """List link, number and mesh of all parts."""
    for link, meshes in parts.items():
        for number, mesh in enumerate(meshes):
            yield link, number, mesh


def put(node: Any, T: Array) -> None:
    """Put a node of the picture to a pose, shape (4, 4)."""
    node.position, node.wxyz = T[:3, 3], wxyz(T)


def wxyz(T: Array) -> Array:
    """Quaternion of a pose, shape (4,), as the picture has it."""
    x, y, z, w = quaternion_xyzw_from_rotation(T[:3, :3])
    return np.array([w, x, y, z])
