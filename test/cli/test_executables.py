"""The executables for ROS: help, version, one line where ROS is missing, the URDF of a file."""

from importlib.util import find_spec
import os
from pathlib import Path
import signal
import subprocess
import sys
import time

import fabrik_ros
from fabrik_ros.cli.executables import MODULES
from helpers import mostly_long, PLANAR
from process import Ended, environment, PATIENCE, run, without_ros
import pytest

CORNERS = ((0.0, 0.0, 0.0), (0.01, 0.0, 0.0), (0.0, 0.01, 0.0), (0.0, 0.0, 0.01))
WITH_ROBOT = ('fabrik_node', 'simulated_arm', 'physical_arm')
"""They take a robot description."""
COMMANDS = 'joint_command:=fabrik/joint_command'
with_handles = pytest.mark.skipif(
    find_spec('interactive_markers') is None,
    reason='interactive_markers comes with a ROS 2 installation',
)
FACES = 'f 1 2 3\nf 1 2 4\nf 1 3 4\nf 2 3 4\n'
"""Of a tetrahedron, as an OBJ file has it [m]."""


def command(name, *words):
    door = f'from fabrik_ros.cli.executables import {name}'
    code = f'import sys\n{door}\nsys.argv[0] = {name!r}\n{name}()'
    return [sys.executable, '-c', code, *map(str, words)]


def run_executable(name, *words, **variables):
    done = subprocess.run(
        command(name, *words),
        env=environment(**variables),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    return Ended(done.returncode, done.stdout, done.stderr)


@pytest.fixture
def start(tmp_path, network):
    """Start executables, whose words are collected in a file."""
    pytest.importorskip('rclpy', reason='ROS 2 is not installed')
    started = []

    def start(name, *words):
        with open(tmp_path / 'said', 'a') as said:
            process = subprocess.Popen(
                command(name, *words),
                env=environment(ROS_LOG_DIR=str(tmp_path), **network),
                stdout=said,
                stderr=subprocess.STDOUT,
            )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()


@pytest.fixture
def wait_for(tmp_path):
    """Wait until words were said; return all that was."""

    def wait_for(words):
        deadline = time.monotonic() + PATIENCE
        said = ''
        while words not in said:
            assert time.monotonic() < deadline, said
            time.sleep(0.05)
            said = (tmp_path / 'said').read_text()
        return said

    return wait_for


@pytest.mark.parametrize('name', MODULES)
def test_help_needs_no_ros(name, tmp_path):
    ended = run_executable(name, '--help', **without_ros(tmp_path))
    assert ended.code == 0, ended.complained
    assert ended.printed.startswith(f'usage: {name} ')
    assert '--ros-args' in ended.printed


@pytest.mark.parametrize('name', MODULES)
def test_version_is_that_of_the_package(name, tmp_path):
    ended = run_executable(name, '--version', **without_ros(tmp_path))
    assert (ended.code, ended.printed) == (0, f'{name} {fabrik_ros.__version__}\n')


@pytest.mark.parametrize('name', MODULES)
def test_without_ros_one_line_says_what_is_missing(name, tmp_path):
    ended = run_executable(name, '--ros-args', '-p', 'rate:=10.0', **without_ros(tmp_path))
    error = ended.error()
    assert ended.complained == f'{error}\n'
    assert error.startswith(f'{name}: error: needs ROS 2')
    assert 'pip install' in error


@pytest.mark.parametrize('name', MODULES)
def test_unknown_argument_is_named(name):
    assert 'unrecognized arguments: --rate' in run_executable(name, '--rate', '--ros-args').error()


def test_every_executable_is_installed_with_its_door():
    setup = (Path(__file__).parents[2] / 'setup.py').read_text()
    for name in MODULES:
        assert f"'{name}': 'fabrik_ros.cli.executables:{name}'" in setup


@pytest.mark.parametrize('name', mostly_long(WITH_ROBOT, 'fabrik_node'))
@pytest.mark.parametrize(
    ('text', 'words'),
    [(None, 'there is no file'), ('<html/>', 'a URDF starts with <robot>')],
)
def test_urdf_that_cannot_be_read_ends_it_with_one_line(tmp_path, name, text, words):
    pytest.importorskip('rclpy', reason='ROS 2 is not installed')
    path = tmp_path / 'arm.urdf'
    if text is not None:
        path.write_text(text)
    ended = run_executable(name, '--urdf', path)
    assert words in ended.error()


def test_node_and_simulated_arm_from_one_file_reach_a_target(start, wait_for, six_axis, network):
    """As the README starts them, in three terminals."""
    start('fabrik_node', '--urdf', six_axis)
    start('simulated_arm', '--urdf', six_axis, '--ros-args', '-r', COMMANDS)
    wait_for('IDLE')
    ended = run('target', '--xyz', '0.4', '0.2', '0.4', '--rpy', '3.14', '0', '0', **network)
    assert ended.code == 0, ended.complained
    assert 'REACHED' in ended.printed


def test_node_takes_the_description_from_a_file_and_meshes_beside_it(
    start, wait_for, six_axis, tmp_path
):
    pytest.importorskip('coal', reason='meshes are loaded by coal')
    (tmp_path / 'urdf').mkdir()
    (tmp_path / 'meshes').mkdir()
    tetrahedron = ''.join(f'v {x} {y} {z}\n' for x, y, z in CORNERS) + FACES
    (tmp_path / 'meshes/tool.obj').write_text(tetrahedron)
    mesh = '<geometry><mesh filename="../meshes/tool.obj"/></geometry>'
    tool = f'<link name="tool0"><collision>{mesh}</collision></link>'
    path = tmp_path / 'urdf/arm.urdf'
    text = six_axis.read_text()
    assert '<link name="tool0"/>' in text
    path.write_text(text.replace('<link name="tool0"/>', tool))
    start('fabrik_node', '--urdf', path)
    said = wait_for('WAITING_FOR_STATE')
    assert "arm from 'base_link' to 'tool0'" in said
    assert 'self-collision checking is on' in said
    assert 'tool.obj' not in said


def test_path_as_description_gets_the_cure(start, wait_for):
    start('fabrik_node', '--ros-args', '-p', 'robot_description:=/somewhere/arm.urdf')
    said = wait_for('path of a file')
    assert "the robot description is '/somewhere/arm.urdf'" in said
    assert 'fabrik_node --urdf FILE' in said


@pytest.mark.parametrize(
    ('name', 'words'),
    [
        ('fabrik_node', 'no robot description yet on /robot_description'),
        ('simulated_arm', 'waiting for a robot description on /robot_description'),
        ('demo_targets', 'no status yet on /fabrik/status'),
        pytest.param('drag_target', 'no status on /fabrik/status', marks=with_handles),
        ('teleop', 'no status on /fabrik/status'),
    ],
)
def test_executable_that_waits_says_for_what(start, wait_for, name, words):
    start(name)
    wait_for(words)


@pytest.mark.parametrize(
    'name',
    [
        'simulated_arm',
        pytest.param('demo_targets', marks=pytest.mark.long),
        pytest.param('drag_target', marks=with_handles),
        'teleop',
    ],
)
def test_interrupt_from_terminal_and_launch_at_once_is_no_error(start, wait_for, name):
    process = start(name)
    said = wait_for('waiting for')
    for _ in range(3):
        os.kill(process.pid, signal.SIGINT)
        time.sleep(0.02)
    assert process.wait(PATIENCE) == 0
    assert 'Traceback' not in said


def test_package_that_cannot_be_loaded_is_named(tmp_path):
    (tmp_path / 'rclpy').mkdir()
    (tmp_path / 'rclpy/__init__.py').write_text('raise ImportError("librcl.so: no such file")')
    variables = {'PYTHONPATH': f'{tmp_path}{os.pathsep}{Path(__file__).parents[2]}'}
    error = run_executable('simulated_arm', **variables).error()
    assert 'librcl.so: no such file' in error
    assert 'fabrik_ros doctor' in error


def test_handles_say_in_one_line_what_they_need(tmp_path):
    pytest.importorskip('rclpy', reason='ROS 2 is not installed')
    words = "No module named 'interactive_markers'"
    (tmp_path / 'interactive_markers.py').write_text(f'raise ModuleNotFoundError("{words}")')
    variables = {'PYTHONPATH': f'{tmp_path}{os.pathsep}{Path(__file__).parents[2]}'}
    ended = run_executable('drag_target', **variables)
    assert ended.complained == f'{ended.error()}\n'
    assert words in ended.error()
    assert 'fabrik_ros doctor' in ended.error()


def test_module_of_the_node_still_starts_it():
    pytest.importorskip('rclpy', reason='ROS 2 is not installed')
    ended = run('--ros-args', '-p', 'path:=sideways', module='fabrik_ros.ros.main')
    assert ended.code == 1
    assert 'path must be one of auto, line, joint' in ended.complained + ended.printed


@pytest.mark.parametrize('name', [n for n in MODULES if n != 'drag_target'])
def test_key_without_a_value_is_named_with_its_file_and_line(name, tmp_path):
    pytest.importorskip('rclpy', reason='ROS 2 is not installed')
    path = tmp_path / 'parameters.yaml'
    path.write_text('/**:\n  ros__parameters:\n    rate:\n')
    for robot in ([], ['--urdf', _planar(tmp_path)])[: 1 + (name in WITH_ROBOT)]:
        error = run_executable(name, *robot, '--ros-args', '--params-file', path).error()
        assert error.startswith(f"{name}: error: {path}, line 3: 'rate' has no value")


def _planar(folder):
    path = folder / 'planar.urdf'
    path.write_text(PLANAR)
    return path


@pytest.mark.parametrize('name', ['simulated_arm', 'demo_targets'])
def test_whole_numbers_are_taken_for_numbers(name, start, wait_for):
    start(name, '--ros-args', '-p', 'rate:=10', '-p', 'centre:=[1, 0.5, 0]')
    wait_for('waiting for')
