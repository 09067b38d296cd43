"""The page: what a source knows goes to the browser, and what is asked there to the source."""

from collections.abc import Mapping
import math
import socket
import threading
import time
from typing import Any

import numpy as np
import viser

from ..errors import FabrikError
from ..programs.program import Program
from ..transforms import Array
from .asked_target import AskedTarget, away_text
from .camera import Camera
from .gallery import Gallery
from .panel import Actions, Panel
from .panel_place import on_panel_place
from .recording import Recording
from .scene_view import Looks, SceneView
from .shapes import missing_text
from .source import Request, Snapshot, Source

PERIOD = 1.0 / 30.0
"""Time between two pictures [s]."""


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
    gallery : Gallery, optional
        Robots that the source can have.

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
        gallery: Gallery | None = None,
    ) -> None:
        check_address(host, port)
        self._source, self._mesh_paths = source, mesh_paths
        self._server = viser.ViserServer(host, port, label='fabrik_ros', verbose=False)
        self.address = f'http://{host}:{self._server.get_port()}'
        self._lock = threading.Lock()
        """For what was asked, by the thread of the server."""
        self._asked = AskedTarget()
        self._joints: dict[str, float] = {}
        self._is_grabbed = False
        """Whether a mouse has the handle, also after what it asked was dropped."""
        self._scene: SceneView | None = None
        self._shown: Snapshot | None = None
        self._recording = Recording()
        self._camera = Camera(self._server)
        actions = Actions(
            self._ask,
            self._ask_target,
            self._ask_joints,
            source.set_speed,
            self._ask_place,
            self._look,
            self._look_at_arm,
            self._ask_program,
            source.send_width,
        )
        self._panel = Panel(self._server, source, actions, self._recording, gallery)
        on_panel_place(self._server, self._camera.place_panel)
        self._server.on_client_disconnect(self._let_go)

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
        self._send(is_fresh and not is_other, now)
        self._panel.replay.list_events(now)
        if not is_fresh:
            self._panel.show_none(self._source.name)
            self._panel.plots.show(None, math.nan, now)
            return
        if is_other:
            self._begin(snapshot)
        self._shown = snapshot
        self._recording.add(snapshot, now)
        assert self._scene is not None
        self._show(self._scene, snapshot, now)

    def close(self) -> None:
        """End the page."""
        self._server.stop()

    def _begin(self, snapshot: Snapshot) -> None:
        """Draw another arm."""
        assert snapshot.robot is not None
        with self._lock:
            self._asked.drop()
        self._is_grabbed = False
        self._panel.replay.end()
        if self._scene is not None:
            self._scene.close()
        self._scene = SceneView(self._server, self._camera, snapshot, self._mesh_paths)
        self._scene.look(self._panel.looks)
        self._panel.make_joints(snapshot.robot, snapshot.measured)
        self._scene.handle.on_update(self._on_handle)
        if self._panel.waypoints is not None:
            self._panel.waypoints.begin(self._scene, snapshot)
        text = missing_text(self._scene.missing)
        if text:
            self._panel.say_once(text)
            print(text, flush=True)

    def _show(self, scene: SceneView, snapshot: Snapshot, now: float) -> None:
        """Show the present, or what is looked at in the recording."""
        with self._lock:
            self._asked.see(snapshot, now)
            asked = self._asked.pose
            falls_short = self._asked.falls_short(snapshot, now)
        T_tool = scene.tool_pose(snapshot.measured)
        T_target = T_tool if asked is None else asked
        words = away_text(T_tool, T_target) if falls_short else ''
        past = self._panel.replay.shown()
        shown, age = (snapshot, 0.0) if past is None else past
        scene.show(shown)
        scene.show_asked('' if past else words, T_tool, T_target)
        self._panel.show(shown, '' if past else words, age)
        scene.show_handle(past is None)
        if not self._is_grabbed:
            scene.place_handle(T_target)
        if self._panel.waypoints is not None:
            self._panel.waypoints.show()
        self._panel.target.show(T_target)
        self._panel.joints.show(snapshot.measured)
        self._panel.plots.show(snapshot, _behind(scene, snapshot), now)

    # -- what somebody does, in the thread of the server

    async def _on_handle(self, event: Any) -> None:
        """Take the pose of the handle: the order counts."""
        if self._scene is None:
            return
        self._is_grabbed = event.phase != 'end'
        self._scene.forget_handle()
        T, now = self._scene.handle_pose(), time.monotonic()
        with self._lock:
            if event.phase == 'start':
                self._asked.grab(T)
                self._panel.target.release()
            elif event.phase == 'update':
                self._asked.drag(T, now)
            else:
                self._asked.let_go(T, now)

    async def _let_go(self, client: viser.ClientHandle) -> None:
        """Take note that a page is closed: nobody is there any more who could let go."""
        if not self._server.get_clients():
            self._is_grabbed = False
            with self._lock:
                if self._asked.is_dragged:
                    self._asked.drop()
            if self._panel.waypoints is not None:
                self._panel.waypoints.release()

    def _ask(self, request: Request) -> None:
        """Ask for something at once; what was asked before counts no more."""
        if request is not Request.EXECUTE:
            self._drop_asked()
        self._panel.replay.end()
        self._source.ask(request)

    def _ask_target(self, T_base_target: Array) -> None:
        with self._lock:
            self._asked.type(T_base_target)
            self._joints = {}

    def _ask_joints(self, values: Mapping[str, float]) -> None:
        with self._lock:
            self._asked.drop()
            self._joints |= values

    def _ask_program(self, program: Program) -> None:
        """Ask for a way through waypoints; what was asked before counts no more."""
        self._drop_asked()
        self._panel.replay.end()
        self._source.send_program(program)

    def _drop_asked(self) -> None:
        with self._lock:
            self._asked.drop()
            self._joints = {}

    def _ask_place(self, name: str) -> None:
        """Ask for a place that has a name; what was asked before counts no more."""
        self._drop_asked()
        assert self._source.choices is not None
        self._source.choices.go_to(name)

    def _look(self, looks: Looks) -> None:
        if self._scene is not None:
            self._scene.look(looks)

    def _look_at_arm(self) -> None:
        if self._scene is not None:
            self._scene.look_at_arm()

    def _send(self, counts: bool, now: float) -> None:
        """Send what was asked, or drop it."""
        with self._lock:
            if not counts:
                self._asked.drop()
            target, joints = self._asked.take(now), self._joints
            self._joints = {}
            # A stop that comes now has to wait for what goes before it, and is not overtaken.
            if target is not None:
                self._asked.sent(self._source.send_target(target), now)
            if joints and counts:
                self._source.send_joints(joints)


def _behind(scene: SceneView, snapshot: Snapshot) -> float:
    """Distance of the tool from where it is told to be [m]; NaN where that is not known."""
    if not snapshot.commanded:
        return math.nan
    commanded = scene.tool_pose({**snapshot.measured, **snapshot.commanded})
    return float(np.linalg.norm((commanded - scene.tool_pose(snapshot.measured))[:3, 3]))


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
