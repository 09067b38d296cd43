"""MuJoCo's window on the simulated arm, in a display without a screen (Xvfb)."""

import os
import shutil
import subprocess
import sys

from helpers import mostly_long
import pytest

pytest.importorskip('mujoco', reason='the extra `sim`: pip install mujoco')
pytest.importorskip('xacro', reason='the bundled arms are xacro files')

PATIENCE = 60.0
"""How long the slowest machine may take to open and close a window [s]."""

OPEN = """
import threading
import fabrik_ros
from fabrik_ros.sim.physics import PhysicalArm
from fabrik_ros.sim.view import View
import xacro

arm = PhysicalArm(xacro.process_file(str(fabrik_ros.example_arm('six_axis'))).toxml())
view = View(arm.model, arm.data)
assert not view.reason, view.reason
for _ in range(5):
    with view.locked():
        arm.step(0.01)
    view.show()
"""


def run_in_display(program):
    """Run a program of Python in a display of its own; return its exit status and output."""
    xvfb = shutil.which('xvfb-run')
    if xvfb is None:
        pytest.skip('xvfb-run is not installed (Debian: apt install xvfb xauth)')
    ended = subprocess.run(
        [xvfb, '-a', '-s', '-screen 0 640x480x24', sys.executable, '-c', program],
        env=os.environ | {'WAYLAND_DISPLAY': ''},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=PATIENCE,
    )
    return ended.returncode, ended.stdout


def test_no_thread_draws_once_the_window_is_closed():
    program = f'{OPEN}\nview.close()\nassert threading.active_count() == 1, threading.enumerate()'
    assert run_in_display(program) == (0, '')


def test_process_that_leaves_its_window_open_ends_well():
    assert run_in_display(OPEN) == (0, '')


def test_window_that_its_user_closed_is_let_go():
    program = f"""{OPEN}
view._window.close()  # as the button of the window does
with view.locked():
    arm.step(0.01)
view.show()
view.close()
assert threading.active_count() == 1, threading.enumerate()
"""
    assert run_in_display(program) == (0, '')


INTERRUPTED = """
import os, signal, sys, threading, time
import mujoco.viewer
import fabrik_ros
from fabrik_ros.sim.physics import PhysicalArm
from fabrik_ros.sim.view import View
import xacro

def interrupt(delays):
    for delay in delays:
        time.sleep(delay)
        os.kill(os.getpid(), signal.SIGINT)

arm = PhysicalArm(xacro.process_file(str(fabrik_ros.example_arm('six_axis'))).toxml())
threading.Thread(target=interrupt, args=(DELAYS,), daemon=True).start()
try:
    view = View(arm.model, arm.data)
    time.sleep(60.0)
except KeyboardInterrupt:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # as `ros.running` does
"""


@pytest.mark.parametrize(
    'delays',
    mostly_long(
        [(0.05,), (0.2,), (0.35,), (0.5,), (1.5,), (0.3, 0.001), (0.5, 0.001)],
        (0.5, 0.001),
    ),
)
def test_interrupt_at_any_time_of_opening_ends_well(delays):
    assert run_in_display(f'DELAYS = {delays}\n{INTERRUPTED}') == (0, '')


def test_target_is_drawn_as_axes_where_it_is():
    program = f"""{OPEN}
import numpy as np

T = np.eye(4)
T[:3, :3] = [[0, -1, 0], [1, 0, 0], [0, 0, 1]]
T[:3, 3] = 0.4, 0.2, 0.6
view.show([T])
scene = view._window.user_scn
assert scene.ngeom == 3
for number in range(3):
    geom = scene.geoms[number]
    axis = geom.mat.reshape(3, 3)[:, 2]  # of the capsule, which begins at the target
    assert np.allclose(np.abs(axis @ T[:3, number]), 1.0), (axis, number)
    assert np.isclose(np.linalg.norm(geom.pos - T[:3, 3]), 0.075), geom.pos
    assert geom.rgba[number] == max(geom.rgba[:3])
view.show()
assert scene.ngeom == 0
view.close()
"""
    assert run_in_display(program) == (0, '')
