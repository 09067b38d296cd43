"""The waypoints of the page: what is set on the panel and in the picture, and the way through."""

from collections.abc import Callable

import numpy as np
import viser

from ..errors import TargetError
from ..programs.program import Program
from ..programs.recorded_poses import poses_in, poses_text
from ..programs.waypoints import Waypoints
from ..transforms import Array
from .scene_view import SceneView
from .source import Snapshot
from .waypoints_panel import WaypointActions, WaypointsPanel
from .waypoints_view import NEAR, WaypointsView


class PageWaypoints:
    """
    Keeps waypoints of the arm that is shown; they stay after a run, and where it is refused.

    Parameters
    ----------
    server : viser.ViserServer
        Has the panel and the picture.
    on_run : callable
        Takes the program through them.

    """

    def __init__(self, server: viser.ViserServer, on_run: Callable[[Program], None]) -> None:
        self._server, self._on_run = server, on_run
        self._waypoints = Waypoints()
        self._chosen: int | None = None
        self._fault = ''
        self._arm = '', ''
        """Base and tip link of the arm that they are of."""
        self._scene: SceneView | None = None
        self._view: WaypointsView | None = None
        actions = WaypointActions(
            self._add, self._undo, self._clear, self._run, self._choose, self._load, self._text
        )
        self._panel = WaypointsPanel(server.gui, actions)

    def begin(self, scene: SceneView, snapshot: Snapshot) -> None:
        """Draw them in another picture; those of another arm are forgotten."""
        arm = snapshot.base_link, snapshot.tip_link
        if arm != self._arm:
            self._arm, self._waypoints, self._chosen = arm, Waypoints(), None
        self._scene = scene
        self._view = WaypointsView(self._server.scene, scene.size, self._toggle, self._move)

    def show(self) -> None:
        """Show what is set now."""
        poses, chosen = self._waypoints.poses, self._chosen
        chosen = chosen if chosen is not None and chosen < len(poses) else None
        self._panel.show(poses, chosen, self._waypoints.can_undo, self._fault)
        if self._view is not None and self._scene is not None:
            self._view.show(poses, chosen, has_line=not self._scene.shows_path)

    def release(self) -> None:
        """Forget what is dragged: nobody is there any more who could let go."""
        if self._view is not None:
            self._view.release()

    # -- what somebody does, in the thread of the server

    def _add(self) -> None:
        if self._scene is not None:
            self._waypoints.add(self._scene.handle_pose())
            self._fault = ''

    def _undo(self) -> None:
        self._chosen, self._fault = None, ''
        self._waypoints.undo()

    def _clear(self) -> None:
        self._chosen, self._fault = None, ''
        self._waypoints.clear()

    def _run(self) -> None:
        if len(self._waypoints):
            self._on_run(self._waypoints.program(self._panel.blend, self._panel.speed))

    def _choose(self, number: int | None) -> None:
        self._chosen = number

    def _toggle(self, number: int) -> None:
        self._chosen = None if self._chosen == number else number

    def _move(self, number: int, T: Array) -> None:
        poses = self._waypoints.poses
        if number < len(poses) and np.abs(T - poses[number]).max() > NEAR:
            self._waypoints.move(number, T)

    def _load(self, text: str, name: str) -> None:
        try:
            poses = poses_in(text, name)
        except TargetError as error:
            self._fault = str(error)
            return
        self._chosen, self._fault = None, ''
        self._waypoints.replace(poses)

    def _text(self) -> str:
        return poses_text(self._waypoints.poses)
