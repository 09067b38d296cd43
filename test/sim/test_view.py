"""MuJoCo's window on the simulated arm, in a display without a screen (Xvfb)."""

import os
import shutil
import subprocess
import sys

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
