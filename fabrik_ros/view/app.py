"""The page: what a source knows goes to the browser, and what is asked there to the source."""

from collections.abc import Mapping
import socket
import threading
import time
from typing import Any

import viser

from ..errors import FabrikError
from ..motion.arm_state import UNDER_WAY
from ..transforms import Array
from .panel import Panel
from .scene_view import SceneView
from .shapes import missing_text
from .source import Snapshot, Source

PERIOD = 1.0 / 30.0
"""Time between two pictures [s]."""
SETTLING_TIME = 1.0
"""After a target was sent the handle stays there at least so long [s]."""


class View:
    """
    Shows a source on a page, until it is closed.

    The loop looks at the newest data only, whatever comes between, and sends the newest target
    only: nothing queues. What is asked while the source is silent, or of another arm, is dropped.

    Parameters
    ----------
    source : Source
        The arm.
    host, port
        Where the page is; port 0 takes a free one.
    mesh_paths : tuple of str
        Folders with packages in them.

    Attributes
    ----------
    address : str
        Of the page.

    Raises
    ------
    ViewError
        If nothing can listen there; says why.

    """

    def __init__(
        self,
        source: Source,
        host: str = '127.0.0.1',
        port: int = 8080,
        mesh_paths: tuple[str, ...] = (),
    ) -> None:
        check_address(host, port)
        self._source, self._mesh_paths = source, mesh_paths
        self._server = viser.ViserServer(host, port, label='fabrik_ros', verbose=False)
        self.address = f'http://{host}:{self._server.get_port()}'
        self._lock = threading.Lock()
        self._target: Array | None = None
        self._joints: dict[str, float] = {}
        self._is_dragged = False
        self._asked_at = 0.0
        self._is_ours = False
        """Whether the arm goes where it was asked to from here."""
        self._scene: SceneView | None = None
        self._shown: Snapshot | None = None
        self._panel = Panel(self._server, self._ask_target, self._ask_joints)

    def run(self, ends: threading.Event) -> None:
        """Show the source until an event is set."""
        due = time.monotonic()
        while not ends.wait(max(0.0, due - time.monotonic())):
            due = max(due + PERIOD, time.monotonic())
            self.step(time.monotonic())

    def step(self, now: float) -> None:
        """Show what is known at a time of `time.monotonic` [s], and send what was asked."""
        snapshot = self._source.snapshot()
        is_fresh = snapshot.is_fresh(now)
        is_other = self._shown is None or not self._shown.is_of_same_arm(snapshot)
        self._send(is_fresh and not is_other)
        if not is_fresh:
            self._panel.show_none(self._source.name, now)
            return
        if is_other:
            self._begin(snapshot)
        self._shown = snapshot
        assert self._scene is not None
        self._scene.show(snapshot)
        self._panel.show(snapshot, now)
        self._move_handle(self._scene, snapshot, now)

    def close(self) -> None:
        """End the page."""
        self._server.stop()

    def _begin(self, snapshot: Snapshot) -> None:
        """Draw another arm."""
        assert snapshot.robot is not None
        self._is_dragged = self._is_ours = False
        if self._scene is not None:
            self._scene.close()
        self._scene = SceneView(self._server, snapshot, self._mesh_paths)
        self._panel.add_joints(snapshot.robot, snapshot.measured)
        self._scene.place_handle(self._scene.tool_pose(snapshot.measured))
        self._scene.handle.on_update(self._on_handle)
        text = missing_text(self._scene.missing)
        if text:
            self._panel.say_once(text)
            print(text, flush=True)

    async def _on_handle(self, event: Any) -> None:
        """Take the pose of the handle, in the thread of the server: the order counts."""
        self._is_dragged = event.phase != 'end'
        if event.phase == 'update' and self._scene is not None:
            self._ask_target(self._scene.handle_pose(), from_handle=True)

    def _ask_target(self, T_base_target: Array, from_handle: bool = False) -> None:
        with self._lock:
            self._target, self._joints = T_base_target, {}
        self._asked_at, self._is_ours = time.monotonic(), True
        if not from_handle and self._scene is not None:
            self._scene.place_handle(T_base_target)

    def _ask_joints(self, values: Mapping[str, float]) -> None:
        with self._lock:
            self._joints |= values
            self._target = None

    def _send(self, counts: bool) -> None:
        """Send what was asked, or drop it."""
        with self._lock:
            target, joints = self._target, self._joints
            self._target, self._joints = None, {}
        if not counts:
            return
        if target is not None:
            self._source.send_target(target)
        if joints:
            self._source.send_joints(joints)

    def _move_handle(self, scene: SceneView, snapshot: Snapshot, now: float) -> None:
        """Let the handle be where the tool is, unless it is the target."""
        is_settling = now - self._asked_at < SETTLING_TIME
        self._is_ours &= is_settling or snapshot.state in UNDER_WAY
        waits = is_settling or self._is_ours
        if not (self._is_dragged or waits):
            scene.place_handle(scene.tool_pose(snapshot.measured))
        if not waits or self._is_dragged:
            self._panel.show_target(scene.handle_pose())


class ViewError(FabrikError):
    """The view cannot be shown."""


def check_address(host: str, port: int) -> None:
    """Raise ViewError, saying why, where nothing can listen: viser would take another port."""
    try:
        with socket.create_server((host, port)):
            pass
    except (OSError, OverflowError) as error:
        cure = 'another --port may be free, 0 takes any' if port else 'see --host'
        raise ViewError(f'the page cannot be at {host}:{port}: {error}; {cure}') from error
