"""MuJoCo's own window on a simulated arm, where there is a display."""

import atexit
from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
import os
import threading
from typing import Any

import mujoco
import numpy as np

from ..transforms import Array

CLOSING_TIME = 5.0
"""Longest wait until the window is closed [s]."""
LOOK_PERIOD = 0.1
"""Time between two checks whether the process ends [s]."""
AXIS_LENGTH, AXIS_WIDTH = 0.15, 0.008
"""Size of the axes of a target [m]."""
NEAREST = 0.3
"""Least size of an arm for the distance of the camera [m]."""
AXIS_COLOURS = np.hstack([0.2 + 0.7 * np.eye(3), np.ones((3, 1))])
"""Red, green and blue, as everywhere."""


class View:
    """
    A window that shows a simulation, or nothing at all.

    A thread opens the window and keeps it, so that Ctrl-C, which interrupts the main thread, never
    interrupts MuJoCo. The process does not end before the window is gone: MuJoCo lets GLFW end
    when the process does, and a thread that opens or draws then crashes it.

    Parameters
    ----------
    model, data
        MuJoCo's.

    Attributes
    ----------
    reason : str
        Why there is no window; '' when there is one.

    """

    def __init__(self, model: Any, data: Any) -> None:
        self.reason = ''
        self._model, self._data = model, data
        self._window: Any = None
        self._is_ready, self._ends = threading.Event(), threading.Event()
        self._keeper = threading.Thread(target=self._keep, name='window', daemon=False)
        if not (os.environ.get('DISPLAY') or os.environ.get('WAYLAND_DISPLAY')):
            self.reason = 'there is no display'
            return
        self._keeper.start()
        self._is_ready.wait()

    def locked(self) -> AbstractContextManager[Any]:
        """Keep the window from reading while the simulation writes."""
        return self._window.lock() if self._is_open() else nullcontext()

    def show(self, targets: Iterable[Array] = ()) -> None:
        """Show the present state, and the axes of targets: poses in the world, (4, 4) each."""
        if not self._is_open():
            return
        with self._window.lock():
            scene = self._window.user_scn
            scene.ngeom = 0
            for T in targets:
                _add_axes(scene, T)
        self._window.sync()

    def close(self) -> None:
        """Close the window, and wait until it is gone."""
        self._ends.set()
        if self._keeper.is_alive():
            self._keeper.join(CLOSING_TIME)
        atexit.unregister(self.close)

    def _is_open(self) -> bool:
        return self._window is not None and self._window.is_running()

    def _keep(self) -> None:
        """Open the window; close it when that is asked for, or when the main thread has ended."""
        before = set(threading.enumerate())
        try:
            from mujoco import viewer

            self._window = viewer.launch_passive(
                self._model, self._data, show_left_ui=False, show_right_ui=False
            )
        except Exception as error:  # of whatever stands between MuJoCo and the screen
            self.reason = str(error)
            return
        finally:
            self._is_ready.set()
        self._look_at_arm()
        drawing = set(threading.enumerate()) - before
        # After MuJoCo's own, so called before: a second Ctrl-C may end the wait for this thread.
        atexit.register(self.close)
        while not self._ends.wait(LOOK_PERIOD) and threading.main_thread().is_alive():
            pass
        self._window.close()
        for thread in drawing:
            thread.join(CLOSING_TIME)

    def _look_at_arm(self) -> None:
        """Let the whole arm be seen where it stands, from the front, the left and above."""
        points = self._data.xpos
        lowest, highest = points.min(axis=0), points.max(axis=0)
        with self._window.lock():
            camera = self._window.cam
            camera.lookat[:] = 0.5 * (lowest + highest)
            camera.distance = 2.0 * max(float(np.linalg.norm(highest - lowest)), NEAREST)
            camera.azimuth, camera.elevation = 225.0, -20.0


def _add_axes(scene: Any, T: Array) -> None:
    """Draw the axes of a pose T_world_target, shape (4, 4), as far as there is room."""
    for axis, colour in zip(T[:3, :3].T, AXIS_COLOURS, strict=True):
        if scene.ngeom == scene.maxgeom:
            return
        geom = scene.geoms[scene.ngeom]
        kind = mujoco.mjtGeom.mjGEOM_CAPSULE
        mujoco.mjv_initGeom(geom, kind, np.zeros(3), np.zeros(3), np.zeros(9), colour)
        end = T[:3, 3] + AXIS_LENGTH * axis
        mujoco.mjv_connector(geom, kind, AXIS_WIDTH, T[:3, 3], end)
        scene.ngeom += 1
