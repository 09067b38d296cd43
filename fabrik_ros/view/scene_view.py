"""The picture: the arm as measured and as commanded, its target, the path ahead, obstacles."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import viser
from viser.extras import ViserUrdf

from ..collision import Obstacle
from ..model.geometry import Box, Capsule, Cylinder, Sphere
from ..transforms import (
    Array,
    quaternion_xyzw_from_rotation,
    rotation_from_quaternion_xyzw,
    transform,
)
from .shapes import drawable
from .source import Snapshot

COMMANDED_COLOR = (1.0, 0.55, 0.0, 0.35)
"""Of the arm where it is told to be: orange, clear."""
CHAIN_COLOR = (255, 140, 0)
PATH_COLOR = (30, 160, 70)
OBSTACLE_COLOR = (170, 70, 70)
LEAST_MOVE = 1e-5
"""Joint values that differ by less are not drawn anew [rad or m]."""


class SceneView:
    """
    Draws one robot.

    Parameters
    ----------
    server : viser.ViserServer
        Draws.
    snapshot : Snapshot
        The robot, and where targets are.
    mesh_paths : tuple of str
        Folders with packages in them.

    Attributes
    ----------
    handle : viser.TransformControlsHandle
        The target, which can be dragged.
    missing : list of str
        Meshes that are not drawn, and why.

    """

    def __init__(
        self, server: viser.ViserServer, snapshot: Snapshot, mesh_paths: tuple[str, ...] = ()
    ) -> None:
        if snapshot.robot is None:
            raise ValueError('nothing can be drawn before a description came')
        robot = snapshot.robot
        self._server, self._robot = server, robot
        self._base_link, self._tip_link = snapshot.base_link, snapshot.tip_link
        self._T_tip_tool = snapshot.T_tip_tool
        self._zeros = {
            joint.name: min(max(0.0, joint.lower), joint.upper) for joint in robot.joints
        }
        urdf, is_visual, self.missing = drawable(robot, mesh_paths)
        self._names: list[str] = list(urdf.actuated_joint_names)
        self._drawn: dict[str, Array] = {}
        server.scene.add_frame('/measured', show_axes=False)
        self._commanded_frame = server.scene.add_frame('/commanded', show_axes=False)
        kinds = {'load_meshes': is_visual, 'load_collision_meshes': not is_visual}
        self._arms = {
            'measured': ViserUrdf(server, urdf, root_node_name='/measured', **kinds),
            'commanded': ViserUrdf(
                server,
                urdf,
                root_node_name='/commanded',
                mesh_color_override=COMMANDED_COLOR,
                collision_mesh_color_override=COMMANDED_COLOR,
                **kinds,
            ),
        }
        T, points = self._poses(snapshot.measured)
        size = float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum()) or 1.0
        self._base = server.scene.add_frame(
            '/base', axes_length=0.15 * size, axes_radius=0.004 * size
        )
        self.handle = server.scene.add_transform_controls(
            '/base/target', scale=0.3 * size, depth_test=False
        )
        self._chain = self._line('/base/chain', CHAIN_COLOR, 4.0)
        self._path = self._line('/base/path', PATH_COLOR, 3.0)
        server.scene.add_grid('/floor', width=4.0 * size, height=4.0 * size, cell_size=0.1 * size)
        self._obstacles: tuple[Obstacle, ...] = ()
        self._solids: list[Any] = []
        self._look_at(T, points, size)

    def tool_pose(self, values: Mapping[str, float]) -> Array:
        """Where the tool is in the base frame, shape (4, 4), at joint values by name."""
        known = {**self._zeros, **values}
        return self._robot.pose(self._base_link, self._tip_link, known) @ self._T_tip_tool

    def place_handle(self, T_base_target: Array) -> None:
        """Put the handle to a pose, shape (4, 4)."""
        self.handle.position = T_base_target[:3, 3]
        self.handle.wxyz = _wxyz(T_base_target)

    def handle_pose(self) -> Array:
        """Where the handle is, T_base_target, shape (4, 4)."""
        w, x, y, z = self.handle.wxyz
        return transform(rotation_from_quaternion_xyzw((x, y, z, w)), self.handle.position)

    def show(self, snapshot: Snapshot) -> None:
        """Draw what has changed."""
        self._draw_arm('measured', snapshot.measured)
        self._commanded_frame.visible = bool(snapshot.commanded)
        if snapshot.commanded:
            self._draw_arm('commanded', {**snapshot.measured, **snapshot.commanded})
        self._draw_line('path', self._path, snapshot.path)
        if snapshot.obstacles is not self._obstacles and snapshot.obstacles != self._obstacles:
            self._draw_obstacles(snapshot.obstacles)

    def close(self) -> None:
        """Take the picture away."""
        self._server.scene.reset()
        self._server.scene.set_up_direction('+z')

    def _draw_arm(self, name: str, values: Mapping[str, float]) -> None:
        known = {**self._zeros, **values}
        q = np.array([known[joint] for joint in self._names])
        if not self._has_changed(name, q):
            return
        self._arms[name].update_cfg(q)
        if name == 'measured':
            T, points = self._poses(values)
            self._base.position, self._base.wxyz = T[:3, 3], _wxyz(T)
            self._draw_line('chain', self._chain, points)

    def _has_changed(self, name: str, values: Array) -> bool:
        """Whether values differ from those that were drawn last under a name."""
        last = self._drawn.get(name)
        if (
            last is not None
            and last.shape == values.shape
            and np.allclose(values, last, rtol=0.0, atol=LEAST_MOVE)
        ):
            return False
        self._drawn[name] = values
        return True

    def _poses(self, values: Mapping[str, float]) -> tuple[Array, Array]:
        """Pose of the base in the root, and the points from the base to the tool, (m, 3)."""
        known = {**self._zeros, **values}
        base, robot = self._base_link, self._robot
        links = [base, *(j.child for j in robot.joints_between(base, self._tip_link))]
        points = np.array([robot.pose(base, link, known)[:3, 3] for link in links])
        points[-1] = self.tool_pose(values)[:3, 3]
        return robot.pose(robot.root_link, base, known), points

    def _line(self, name: str, color: tuple[int, int, int], width: float) -> Any:
        return self._server.scene.add_line_segments(
            name, np.zeros((1, 2, 3)), color, thickness=width, thickness_units='screen'
        )

    def _draw_line(self, name: str, line: Any, points: Array) -> None:
        line.visible = len(points) > 1
        if len(points) > 1 and self._has_changed(name, points):
            line.points = np.stack([points[:-1], points[1:]], axis=1).astype(np.float32)

    def _draw_obstacles(self, obstacles: tuple[Obstacle, ...]) -> None:
        for solid in self._solids:
            solid.remove()
        self._obstacles = obstacles
        self._solids = [
            solid
            for number, obstacle in enumerate(obstacles)
            if (solid := self._solid(f'/obstacles/{number}', obstacle)) is not None
        ]

    def _solid(self, name: str, obstacle: Obstacle) -> Any:
        """Draw a simple solid; meshes, half spaces and what links carry are left out."""
        add, T = self._server.scene, obstacle.T_link_obstacle
        at = {'color': OBSTACLE_COLOR, 'position': T[:3, 3], 'wxyz': _wxyz(T), 'opacity': 0.6}
        if obstacle.link:
            return None
        match obstacle.shape:
            case Box(size):
                return add.add_box(name, dimensions=size, **at)
            case Sphere(radius):
                return add.add_icosphere(name, radius, **at)
            case Cylinder(radius, length):
                return add.add_cylinder(name, radius, length, **at)
            case Capsule(radius, length):
                return add.add_cylinder(name, radius, length + 2.0 * radius, **at)
        return None

    def _look_at(self, T_root_base: Array, points: Array, size: float) -> None:
        """Let the whole arm be seen, from the front, to the left and above."""
        centre = T_root_base[:3, :3] @ (0.5 * (points[0] + points[-1])) + T_root_base[:3, 3]
        away = centre + 1.1 * size * np.array([0.8, 0.8, 0.5])
        camera = self._server.initial_camera
        camera.position, camera.look_at = away, centre
        for client in self._server.get_clients().values():
            client.camera.position, client.camera.look_at = away, centre


def _wxyz(T: Array) -> Array:
    x, y, z, w = quaternion_xyzw_from_rotation(T[:3, :3])
    return np.array([w, x, y, z])
