"""Waypoints of the page without a browser: what is set is drawn, dragged and run."""

import asyncio
import time
from types import SimpleNamespace

import pytest

pytest.importorskip('viser', reason='the extra view is not installed: viser is missing')
pytest.importorskip('yourdfpy', reason='the extra view is not installed: yourdfpy is missing')

from fabrik_ros import example_arm, load_urdf
from fabrik_ros.programs.recorded_poses import poses_text
from fabrik_ros.ros.messages.speed_ramp import RAMP
from fabrik_ros.transforms import pose_from_xyz_rpy
from fabrik_ros.view.app import View
from fabrik_ros.view.path_view import as_drawn, legend_html
from fabrik_ros.view.solver_source import SolverSource
import numpy as np
from staged import Staged


@pytest.fixture
def arm():
    return Staged()


@pytest.fixture
def view(arm):
    view = View(arm, port=0)
    view.step(time.monotonic())
    yield view
    view.close()


def press(view, button, client=None):
    """Press a button of the part of the panel that waypoints have."""
    handle = getattr(view._panel.waypoints._panel, f'_{button}')
    for each in handle._impl.update_cb:
        asyncio.run(each(SimpleNamespace(client=client, target=handle)))
    view.step(time.monotonic())


def load(view, text, name='a.csv'):
    panel = view._panel.waypoints._panel
    panel._load._impl.value = SimpleNamespace(content=text.encode(), name=name)
    press(view, 'load')


def drag(view, *poses, phase='end'):
    """Drag the handle of the chosen waypoint through poses, and let go, unless told otherwise."""
    waypoints = view._panel.waypoints._view
    for T, each in zip(poses, [*['update'] * (len(poses) - 1), phase], strict=True):
        for turn in ['start', each] if T is poses[0] else [each]:
            waypoints._handle.position, waypoints._handle.wxyz = T[:3, 3], (0.0, 1.0, 0.0, 0.0)
            asyncio.run(waypoints._on_handle(SimpleNamespace(phase=turn)))
        view.step(time.monotonic())


def drawn(view):
    """Where waypoints are in the picture, shape (m, 3)."""
    frames = view._panel.waypoints._view._frames
    return np.reshape([frame.position for frame in frames], (-1, 3))


def down(*xyz):
    return pose_from_xyz_rpy(xyz, (np.pi, 0.0, 0.0))


WAY = [down(0.4, -0.1, 0.3), down(0.5, 0.0, 0.3), down(0.4, 0.1, 0.4)]


def test_a_waypoint_is_added_where_the_handle_is(view, arm):
    for T in WAY:
        view._ask_target(T)
        view.step(time.monotonic())
        press(view, 'add')
    np.testing.assert_allclose(drawn(view), [T[:3, 3] for T in WAY], atol=1e-6)
    press(view, 'undo')
    np.testing.assert_allclose(drawn(view), [T[:3, 3] for T in WAY[:2]], atol=1e-6)
    press(view, 'clear')
    assert len(drawn(view)) == 0
    press(view, 'undo')
    assert len(drawn(view)) == 2
    assert arm.programs == []


def test_program_goes_through_all_and_counts_instead_of_what_was_asked(view, arm):
    press(view, 'run')
    assert arm.programs == [], 'there is nothing to run'
    load(view, poses_text(WAY))
    panel = view._panel.waypoints._panel
    panel._blend.value, panel._speed.value = 20, 50
    view._ask_joints({'elbow': 0.1})
    press(view, 'run')
    (program,) = arm.programs
    assert [step.name for step in program.steps] == ['move', 'line', 'line']
    assert [step.blend for step in program.steps] == [0.02, 0.02, 0.0]
    assert [step.speed for step in program.steps] == [0.05] * 3
    np.testing.assert_allclose([step.pose for step in program.steps], WAY, atol=1e-5)
    view.step(time.monotonic())
    assert arm.joints == []
    panel._speed.value = 0
    press(view, 'run')
    assert arm.programs[-1].steps[0].speed is None
    assert len(drawn(view)) == 3, 'they stay'


def test_the_chosen_one_is_dragged_and_only_that(view, arm):
    load(view, poses_text(WAY))
    drag(view, down(0.0, 0.0, 1.0))
    np.testing.assert_allclose(drawn(view), [T[:3, 3] for T in WAY], atol=1e-6)
    page = view._panel.waypoints
    page._toggle(1)
    view.step(time.monotonic())
    assert page._view._handle.visible
    np.testing.assert_allclose(page._view._handle.position, WAY[1][:3, 3], atol=1e-6)
    drag(view, WAY[1], down(0.5, 0.2, 0.3), phase='update')
    np.testing.assert_allclose(drawn(view)[1], (0.5, 0.2, 0.3), atol=1e-6)
    np.testing.assert_allclose(page._waypoints.poses[1], WAY[1], atol=1e-5, err_msg='in the hand')
    drag(view, down(0.5, 0.2, 0.35))
    np.testing.assert_allclose(drawn(view)[1], (0.5, 0.2, 0.35), atol=1e-6)
    press(view, 'undo')
    np.testing.assert_allclose(drawn(view)[1], WAY[1][:3, 3], atol=1e-6)
    assert not page._view._handle.visible
    assert arm.targets == arm.joints == [], 'the arm stays'


def test_file_is_written_as_it_is_read_and_one_that_makes_no_sense_is_said(view):
    load(view, poses_text(WAY))
    files = []

    def download(name, content, save_immediately):
        files.append((name, content, save_immediately))

    press(view, 'save', SimpleNamespace(send_file_download=download))
    assert files == [('waypoints.csv', poses_text(WAY).encode(), True)]
    load(view, 'x,y\n', '<b>.csv')
    listed = view._panel.waypoints._panel._list.content
    assert '&lt;b&gt;.csv: the first line must be x,y,z,qx,qy,qz,qw' in listed
    assert len(drawn(view)) == 3
    press(view, 'undo')
    assert 'the first line' not in view._panel.waypoints._panel._list.content


def test_waypoints_outlive_a_new_description_but_not_another_arm(view, arm):
    load(view, poses_text(WAY))
    arm.change(robot=load_urdf(example_arm('six_axis')))
    view.step(time.monotonic())
    np.testing.assert_allclose(drawn(view), [T[:3, 3] for T in WAY], atol=1e-6)
    arm.change(tip_link='wrist_2_link')
    view.step(time.monotonic())
    assert len(drawn(view)) == 0


def test_an_arm_that_stands_where_it_is_put_has_none():
    robot = load_urdf(example_arm('six_axis'))
    view = View(SolverSource(robot, robot.chain()), port=0)
    assert view._panel.waypoints is None
    view.close()


def light_of(rgb):
    """Linear light of a colour by the sRGB standard, 0 to 255."""
    light = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in rgb]
    return 255.0 * np.array(light)


def test_line_ahead_has_a_colour_for_each_piece_and_is_drawn_anew_only_where_it_differs(view, arm):
    path = np.array([(0.3, 0.0, 0.3), (0.4, 0.0, 0.3), (0.5, 0.0, 0.3)])
    arm.change(state='MOVING', path=path, path_speeds=np.array([0.0, 0.25]), top_speed=0.25)
    view.step(time.monotonic())
    line = view._scene._path._line
    slow, fast = line.colors[:, 0].astype(int)
    np.testing.assert_array_equal(line.colors[:, 0], line.colors[:, 1])
    assert slow[2] > slow[0] + 100, 'blue'
    assert fast[0] > fast[2] + 100, 'yellow'
    assert np.abs(slow - light_of(RAMP[0])).max() <= 1, 'light, as the picture mixes it'
    view.step(time.monotonic())
    assert view._scene._path._line is line
    load(view, poses_text(WAY))
    assert view._panel.waypoints._view._line is None, 'it would fight with the path'
    arm.change(top_speed=0.5)
    view.step(time.monotonic())
    assert view._scene._path._line is not line
    arm.change(state='REACHED')
    view.step(time.monotonic())
    assert not view._scene._path._line.visible
    assert view._panel.waypoints._view._line is not None


def test_legend_says_the_greatest_speed():
    assert '<span>250 mm/s</span>' in legend_html(0.25)
    assert 'from 0 to fast' in legend_html(np.nan)


def test_legend_has_the_colours_that_chromium_showed_of_the_line():
    """Screenshots of viser 1.1.1."""
    given = [(0.25, 0.42, 0.88), (0.16, 0.66, 0.66), (0.96, 0.82, 0.25), (1, 0, 0), (1, 1, 1)]
    shown = [(69, 115, 215), (65, 182, 181), (226, 210, 104), (250, 16, 20), (226, 226, 226)]
    assert 255.0 * as_drawn(np.array(given)) == pytest.approx(np.array(shown), abs=1.0)
