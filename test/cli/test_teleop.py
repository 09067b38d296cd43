"""The command and the executable `teleop`: profiles, and the keyboard of a terminal."""

import os
import pty
import signal
import subprocess
import sys
import termios
import time

from process import environment, PATIENCE, run
import pytest
from test_executables import command, run_executable

TELEOP = ['-m', 'fabrik_ros', 'teleop', 'keyboard']


@pytest.mark.parametrize('start', [run_executable, pytest.param(run, marks=pytest.mark.long)])
@pytest.mark.parametrize(
    ('profile', 'words'),
    [
        ('gamepat', "no profile 'gamepat'; did you mean 'gamepad'?; there are: gamepad, hand"),
        ('own.yaml', "own.yaml: needs 'stop', a button; nothing moves without"),
    ],
)
def test_profile_that_cannot_be_used_ends_it_with_one_line(tmp_path, start, profile, words):
    pytest.importorskip('rclpy', reason='ROS 2 is not installed')
    (tmp_path / 'own.yaml').write_text('joy: joy\ndeadman: 0\nsticks: {}\n')
    name = str(tmp_path / profile) if profile.endswith('.yaml') else profile
    assert words in start('teleop', name).error()


def test_name_that_no_node_has_ends_the_executable_with_one_line(network):
    pytest.importorskip('rclpy', reason='ROS 2 is not installed')
    ended = run_executable('teleop', 'gamepad', '--ros-args', '-p', 'node:=bad name', **network)
    assert "'bad name/status'" in ended.error()


def test_parameter_of_another_type_ends_the_executable_with_one_line(network):
    pytest.importorskip('rclpy', reason='ROS 2 is not installed')
    ended = run_executable('teleop', 'gamepad', '--ros-args', '-p', 'node:=3', **network)
    assert ended.code == 1
    assert "'node'" in ended.complained
    assert 'Traceback' not in ended.complained


def test_keyboard_needs_a_terminal(network):
    pytest.importorskip('rclpy', reason='ROS 2 is not installed')
    ended = run('teleop', 'keyboard', typed='', **network)
    assert ended.code == 1
    assert 'the keyboard is that of a terminal' in ended.complained
    assert 'Traceback' not in ended.complained


@pytest.mark.parametrize(
    'end',
    [b'\x03', pytest.param(signal.SIGTERM, marks=pytest.mark.long)],
    ids=['Ctrl-C', 'SIGTERM'],
)
def test_terminal_is_left_as_it_was_found(tmp_path, network, end):
    pytest.importorskip('rclpy', reason='ROS 2 is not installed')
    ours, its = pty.openpty()
    before = termios.tcgetattr(its)
    process = subprocess.Popen(
        command('teleop', 'keyboard'),
        env=environment(ROS_LOG_DIR=str(tmp_path), **network),
        stdin=its,
        stdout=its,
        stderr=its,
        start_new_session=True,
        preexec_fn=lambda: _control(its),
    )
    said = b''
    while b'Space stops' not in said:
        said += os.read(ours, 4096)
    assert not termios.tcgetattr(its)[3] & (termios.ICANON | termios.ECHO)
    if isinstance(end, bytes):
        os.write(ours, end)
    else:
        process.send_signal(end)
    deadline = time.monotonic() + PATIENCE
    while process.poll() is None:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert process.returncode in (0, -signal.SIGTERM)
    assert termios.tcgetattr(its) == before
    os.close(ours)
    os.close(its)


LAST_WORDS = """
import rclpy
from rclpy.node import Node
from fabrik_ros.ros.beside.running import run

class Talker(Node):
    def __init__(self):
        super().__init__('talker')
        self.timer = self.create_timer(0.02, self.begin)

    def begin(self):
        print('ready', flush=True)
        self.timer.cancel()
        self.create_timer(0.02, lambda: None)

    def destroy_node(self):
        print('can talk:', self.context.ok(), flush=True)
        super().destroy_node()

run(Talker, ['talker'], has_last_words=True)
"""


@pytest.mark.parametrize('end', [signal.SIGINT, signal.SIGTERM])
def test_node_can_say_its_last_words_when_it_is_interrupted(tmp_path, network, end):
    pytest.importorskip('rclpy', reason='ROS 2 is not installed')
    process = subprocess.Popen(
        [sys.executable, '-c', LAST_WORDS],
        env=environment(ROS_LOG_DIR=str(tmp_path), **network),
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert process.stdout.readline() == 'ready\n'
    process.send_signal(end)
    said, _ = process.communicate(timeout=PATIENCE)
    assert said == 'can talk: True\n'
    assert process.returncode == 0


def _control(terminal):
    """Make a terminal that of the session: Ctrl-C in it interrupts."""
    import fcntl

    fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)
