"""The picture: the arm as measured and as commanded, what is asked, the path, obstacles."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import viser

from ..collision import MeshFinder
from ..motion.following.arm_state import UNDER_WAY
from ..transforms import Array, rotation_from_quaternion_xyzw, transform
from .arm_view import ArmView, GhostView, parts_of, put
from .camera import Camera
from .path_view import PathView
from .shapes import drawable
from .solids_view import SolidsView
from .source import Snapshot

CHAIN_COLOR = (255, 140, 0)
ASKED_COLOR = (120, 120, 120)
FLOOR_GAP = 0.004
"""The floor is so far below the lowest thing: surfaces in one place would fight [m]."""
HANDLE_SHARE = 0.25
"""Size of the handle [lengths of the arm]."""
ARROW = 1.25
"""An arrow of it is so long [sizes]."""
DEEPEST_FLOOR = 1.5
"""The floor is at most so far below the root link [lengths of the arm]."""


@dataclass(frozen=True)
class Looks:
    """What somebody wants to see."""

    obstacles: bool = True
    clear_obstacles: bool = False
    ghost: bool = True
    path: bool = True
    chain: bool = False
    floor: bool = True


class SceneView:
    """
    Draws one robot.

    Parameters
    ----------
    server : viser.ViserServer
        Draws.
    camera : Camera
        Looks at it.
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
    shows_path : bool
        Whether there is a path ahead to be seen.

    """

    def __init__(
        self,
        server: viser.ViserServer,
        camera: Camera,
        snapshot: Snapshot,
        mesh_paths: tuple[str, ...] = (),
    ) -> None:
        if snapshot.robot is None:
            raise ValueError('nothing can be drawn before a description came')
        robot = snapshot.robot
        self._server, self._camera, self._robot = server, camera, robot
        self._base_link, self._tip_link = snapshot.base_link, snapshot.tip_link
        self._T_tip_tool = snapshot.T_tip_tool
        self._zeros = {
            joint.name: min(max(0.0, joint.lower), joint.upper) for joint in robot.joints
        }
        self._looks = Looks()
        self._shown: dict[str, Array] = {}
        self.shows_path = False
        urdf, is_visual, self.missing = drawable(robot, mesh_paths)
        self._parts = parts_of(urdf, robot, is_visual)
        self._arm = ArmView(server, robot, self._parts)
        self._ghost = GhostView(server, robot, self._parts)
        self._arm.place(self._known(snapshot.measured))
        self._size = self._length(snapshot.measured)
        self._add_aids()
        self._solids = SolidsView(
            server, MeshFinder(mesh_paths, robot.folder), 4.0 * self._size, self._arm.frame_of
        )
        self.place_handle(self.tool_pose(snapshot.measured))
        self.look_at_arm()

    def _add_aids(self) -> None:
        scene, size = self._server.scene, self._size
        self._base = scene.add_frame('/base', axes_length=0.12 * size, axes_radius=0.003 * size)
        put(self._base, self._arm.pose(self._base_link))
        self.handle = scene.add_transform_controls(
            '/base/target', scale=HANDLE_SHARE * size, depth_test=False
        )
        self._words = scene.add_label('/base/asked', '', anchor='bottom-center', visible=False)
        self._chain = self._line('/base/chain', CHAIN_COLOR, 4.0)
        self._path = PathView(self._server.scene, '/base/path')
        self._gap = self._line('/base/gap', ASKED_COLOR, 2.0)
        self._floor = scene.add_grid(
            '/floor',
            width=4.0 * size,
            height=4.0 * size,
            cell_size=0.1 * size,
            section_size=0.5 * size,
            position=(0.0, 0.0, -FLOOR_GAP),
        )

    @property
    def size(self) -> float:
        """Length of the arm [m]."""
        return self._size

    def tool_pose(self, values: Mapping[str, float]) -> Array:
        """Where the tool is in the base frame, shape (4, 4), at joint values by name."""
        known = self._known(values)
        return self._robot.pose(self._base_link, self._tip_link, known) @ self._T_tip_tool

    def place_handle(self, T_base_target: Array) -> None:
        """Put the handle to a pose, shape (4, 4), unless it is there."""
        if self._has_changed('handle', T_base_target):
            put(self.handle, T_base_target)

    def handle_pose(self) -> Array:
        """Where the handle is, T_base_target, shape (4, 4)."""
        w, x, y, z = self.handle.wxyz
        return transform(rotation_from_quaternion_xyzw((x, y, z, w)), self.handle.position)

    def forget_handle(self) -> None:
        """Take note that somebody drags the handle: it is no more where it was put."""
        self._shown.pop('handle', None)

    def show_handle(self, is_wanted: bool) -> None:
        """Show the handle, or not while something else is looked at."""
        if self.handle.visible != is_wanted:
            self.handle.visible = is_wanted

    def show(self, snapshot: Snapshot) -> None:
        """Draw what has changed."""
        looks, measured = self._looks, self._known(snapshot.measured)
        self._arm.place(measured)
        elsewhere = snapshot.planned or snapshot.commanded
        self._ghost.place({**measured, **elsewhere} if elsewhere else {}, self._arm)
        if self._has_changed('base', self._arm.pose(self._base_link)):
            put(self._base, self._arm.pose(self._base_link))
        self._draw_line('chain', self._chain, self._points(measured), looks.chain)
        is_ahead = snapshot.state in UNDER_WAY or snapshot.waits_for_execute
        self.shows_path = looks.path and is_ahead and len(snapshot.path) > 1
        self._path.show(snapshot, self.shows_path)
        if self._solids.show(snapshot.solids):
            self._lower_floor()

    def show_asked(self, words: str, T_base_tool: Array, T_base_asked: Array) -> None:
        """Say at what was asked how far the tool is from it; '' for nothing to be said."""
        ends = np.array([T_base_tool[:3, 3], T_base_asked[:3, 3]])
        self._draw_line('gap', self._gap, ends, bool(words))
        if self._words.visible != bool(words):
            self._words.visible = bool(words)
        if words and self._words.text != words:
            self._words.text = words
        if words and self._has_changed('words', ends[1]):
            self._words.position = ends[1] + (0.0, 0.0, 0.28 * self._size)

    def look(self, looks: Looks) -> None:
        """Show what somebody wants to see."""
        self._looks = looks
        self._ghost.is_wanted = looks.ghost
        self._solids.look(looks.obstacles, looks.clear_obstacles)
        self._floor.visible = looks.floor

    def look_at_arm(self) -> None:
        """Let the whole arm be seen, and the arrows of the handle."""
        corners = np.concatenate(
            [
                mesh.bounding_box.vertices @ T[:3, :3].T + T[:3, 3]
                for link, meshes in self._parts.items()
                for T in [self._arm.pose(link)]
                for mesh in meshes
            ]
            or [self._points(self._zeros)]
        )
        handle, T = self.handle_pose(), self._arm.pose(self._base_link)
        tips = handle[:3, 3] + HANDLE_SHARE * ARROW * self._size * handle[:3, :3].T
        in_root = tips @ T[:3, :3].T + T[:3, 3]
        self._camera.look_at(np.concatenate([corners, in_root]))

    def close(self) -> None:
        """Take the picture away."""
        self._server.scene.reset()
        self._server.scene.set_up_direction('+z')

    def _known(self, values: Mapping[str, float]) -> dict[str, float]:
        return {**self._zeros, **values}

    def _length(self, values: Mapping[str, float]) -> float:
        """Length of the chain [m]."""
        steps = np.diff(self._points(self._known(values)), axis=0)
        return float(np.linalg.norm(steps, axis=1).sum()) or 1.0

    def _points(self, known: Mapping[str, float]) -> Array:
        """Points from the base to the tool, shape (m, 3), in the base frame [m]."""
        base, robot = self._base_link, self._robot
        links = [base, *(j.child for j in robot.joints_between(base, self._tip_link))]
        points = np.array([robot.pose(base, link, known)[:3, 3] for link in links])
        points[-1] = self.tool_pose(known)[:3, 3]
        return points

    def _has_changed(self, name: str, values: Array) -> bool:
        """Whether values differ from those that were drawn last under a name."""
        last = self._shown.get(name)
        if (
            last is not None
            and last.shape == values.shape
            and np.allclose(values, last, rtol=0.0, atol=1e-5)
        ):
            return False
        self._shown[name] = values
        return True

    def _line(self, name: str, color: tuple[int, int, int], width: float) -> Any:
        return self._server.scene.add_line_segments(
            name,
            np.zeros((1, 2, 3)),
            color,
            thickness=width,
            thickness_units='screen',
            visible=False,
        )

    def _draw_line(self, name: str, line: Any, points: Array, is_wanted: bool) -> None:
        is_seen = is_wanted and len(points) > 1
        if line.visible != is_seen:
            line.visible = is_seen
        if is_seen and self._has_changed(name, points):
            line.points = np.stack([points[:-1], points[1:]], axis=1).astype(np.float32)

    def _lower_floor(self) -> None:
        """Let the floor be below all that stands, but not out of sight."""
        height = max(self._solids.bottom(), -DEEPEST_FLOOR * self._size) - FLOOR_GAP
        self._floor.position = (0.0, 0.0, height)
