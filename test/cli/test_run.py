"""`fabrik_ros run`: a simulated arm, its node and its page, from one command."""

import os
from pathlib import Path
import re
import signal
import subprocess
import sys
import time
import urllib.request

import pytest

pytest.importorskip('viser', reason='the extra view is not installed')
pytest.importorskip('yourdfpy', reason='the extra view is not installed')

from process import environment, PATIENCE, run, without_ros

TARGET = ('--xyz', '.4', '.2', '.4', '--rpy', '3.14', '0', '0')
SCENE = 'obstacles: {table: {box: [0.4, 0.4, 0.1], xyz: [0.5, 0.5, -0.05]}}'


class Running:
    """A `fabrik_ros run` in the background."""

    def __init__(self, folder: Path, network, *words) -> None:
        self._said = folder / 'said'
        with open(self._said, 'w') as said:
            self.process = subprocess.Popen(
                [sys.executable, '-u', '-m', 'fabrik_ros', 'run', *map(str, words), '--port', '0'],
                env=environment(ROS_LOG_DIR=str(folder), **network),
                stdout=said,
                stderr=subprocess.STDOUT,
            )

    @property
    def said(self) -> str:
        return self._said.read_text()

    def wait_for(self, words: str) -> None:
        deadline = time.monotonic() + PATIENCE
        while words not in self.said:
            assert self.process.poll() is None, self.said
            assert time.monotonic() < deadline, self.said
            time.sleep(0.05)

    def end(self, number: int) -> int:
        self.process.send_signal(number)
        return self.process.wait(PATIENCE)


@pytest.fixture
def start(tmp_path, network):
    """Start `fabrik_ros run` with an empty port."""
    started = []

    def start(*words) -> Running:
        started.append(Running(tmp_path, network, *words))
        return started[-1]

    yield start
    for running in started:
        running.process.kill()
        running.process.wait()
    wait_until_gone(network)


@pytest.fixture
def ros():
    pytest.importorskip('rclpy', reason='ROS 2 is not installed')


def processes_in(network) -> dict[int, list[str]]:
    """Find the nodes and arms that were started in a domain: number and command of each."""
    wanted = f'ROS_DOMAIN_ID={network["ROS_DOMAIN_ID"]}'.encode()
    found = {}
    for folder in Path('/proc').glob('[0-9]*'):
        try:
            variables = (folder / 'environ').read_bytes().split(b'\0')
            words = (folder / 'cmdline').read_bytes().decode().split('\0')
        except OSError:
            continue  # it has ended meanwhile
        if wanted in variables and 'fabrik_ros.ros.launching.child_main' in words:
            found[int(folder.name)] = words
    return found


def wait_until_gone(network) -> None:
    deadline = time.monotonic() + PATIENCE
    while processes_in(network):
        assert time.monotonic() < deadline, processes_in(network)
        time.sleep(0.05)


def test_target_is_reached_and_ctrl_c_leaves_no_process(ros, six_axis, start, network, tmp_path):
    (tmp_path / 'scene.yaml').write_text(SCENE)
    running = start(six_axis, '--scene', tmp_path / 'scene.yaml', '--tip-link', 'tool0')
    running.wait_for('takes targets')
    address = re.search(r'open (http://127\.0\.0\.1:\d+) in', running.said)
    with urllib.request.urlopen(address[1], timeout=PATIENCE) as page:
        assert b'<html' in page.read()
    assert 'waiting: looks for others beside /six_axis/fabrik' in running.said
    assert len(processes_in(network)) == 2
    asked = re.search(r'fabrik_ros target --node (\S+) --xyz', running.said)
    ended = run('target', '--node', asked[1], *TARGET, **network)
    assert ended.code == 0, ended
    assert ended.printed.splitlines()[-1].startswith('REACHED')
    assert running.end(signal.SIGINT) == 0
    assert processes_in(network) == {}
    assert 'Traceback' not in running.said


@pytest.mark.long
@pytest.mark.parametrize('number', [signal.SIGTERM, signal.SIGKILL])
def test_no_process_outlives_the_command(ros, six_axis, start, network, number):
    running = start(six_axis)
    running.wait_for('takes targets')
    assert running.end(number) == (0 if number == signal.SIGTERM else -number)
    wait_until_gone(network)


@pytest.mark.long
def test_process_that_dies_ends_the_command_with_the_reason(ros, six_axis, start, network):
    running = start(six_axis, '--namespace', 'mine')
    running.wait_for('/mine/fabrik takes targets')
    node = next(n for n, words in processes_in(network).items() if 'fabrik_ros.ros.main' in words)
    os.kill(node, signal.SIGKILL)
    assert running.process.wait(PATIENCE) == 1
    assert 'fabrik_ros run: error: the node ended by signal 9' in running.said
    assert processes_in(network) == {}


@pytest.mark.long
def test_second_one_is_refused_with_the_name_of_the_first(ros, six_axis, start, network):
    start(six_axis).wait_for('takes targets')
    ended = run('run', six_axis, '--port', '0', **network)
    assert ended.code == 2
    error = ended.complained.strip().splitlines()[-1]
    assert '/six_axis/simulation already publishes on /six_axis/robot_description' in error
    assert 'choose another --namespace' in error
    assert len(processes_in(network)) == 2


@pytest.mark.parametrize(
    ('words', 'why'),
    [
        pytest.param(('--namespace', 'a b'), "'a b' is no namespace", marks=pytest.mark.long),
        (('--tip-link', 'hand'), "no link named 'hand'"),
        pytest.param(('--scene', '/nowhere.yaml'), '/nowhere.yaml', marks=pytest.mark.long),
        (('--no-ros', '--physics'), '--physics needs ROS 2'),
        (('--parts', 'parts.yaml'), '--parts needs --physics'),
        pytest.param(
            ('--physics', '--parts', '/nowhere.yaml'), '/nowhere.yaml', marks=pytest.mark.long
        ),
    ],
)
def test_what_makes_no_sense_is_named_before_anything_starts(ros, six_axis, network, words, why):
    ended = run('run', six_axis, '--port', '0', *words, **network)
    assert ended.code == 2
    assert why in ended.complained.strip().splitlines()[-1]
    assert 'Traceback' not in ended.complained


@pytest.mark.parametrize('is_missing', [True, pytest.param(False, marks=pytest.mark.long)])
def test_arm_moves_in_one_process_without_ros(six_axis, start, network, tmp_path, is_missing):
    scene = tmp_path / 'scene.yaml'
    scene.write_text(SCENE)
    words = ('--scene', scene, '--base-link', 'base_link', *([] if is_missing else ['--no-ros']))
    if is_missing:
        network.update(without_ros(tmp_path))
    running = start(six_axis, *words)
    running.wait_for('in a browser')
    assert processes_in(network) == {}
    assert ('without ROS 2, in this process alone' in running.said) == is_missing
    assert running.end(signal.SIGINT) == 0
    assert 'Traceback' not in running.said
