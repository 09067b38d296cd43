"""The node as a process of its own, as `ros2 run` starts it: signals and bad parameters."""

import os
from pathlib import Path
import platform
import signal
import subprocess
import sys

import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed')
pytest.importorskip('pinocchio', reason='pinocchio is the judge')

from bench import JOINTS, shifted, START, values_at
from command_judge import accelerations, velocities
from judging import Judge
import numpy as np

ROOT = Path(__file__).parents[2]
PATIENCE = 60.0
FASTEST, HARDEST = 1.5, 5.0
THREADS = """
import ctypes
import threading

libc = ctypes.CDLL(None)
stdout = ctypes.c_void_p.in_dll(libc, 'stdout')
everyone = threading.Barrier(20)

def allocate():
    everyone.wait()
    libc.malloc(1000)
    everyone.wait()

def start():
    threads = [threading.Thread(target=allocate) for _ in range(everyone.parties)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    libc.malloc_info(0, stdout)
    libc.puts(b'')
    libc.fflush(stdout)

"""


@pytest.fixture
def start_process(domain_id, tmp_path):
    """Start nodes with parameters; what they say is in the file `said`."""
    processes = []

    def start(**parameters):
        given = [word for name, value in parameters.items() for word in ('-p', f'{name}:={value}')]
        environment = os.environ | {
            'PYTHONPATH': os.pathsep.join([str(ROOT), os.environ.get('PYTHONPATH', '')]),
            'ROS_DOMAIN_ID': str(domain_id),
            'ROS_LOG_DIR': str(tmp_path),
        }
        with open(tmp_path / 'said', 'w') as said:
            process = subprocess.Popen(
                [sys.executable, '-m', 'fabrik_ros.ros.main', '--ros-args', *given],
                env=environment,
                stdout=said,
                stderr=subprocess.STDOUT,
            )
        processes.append(process)
        return process

    yield start
    for process in processes:
        process.kill()
        process.wait()


@pytest.fixture
def said(tmp_path):
    return lambda: (tmp_path / 'said').read_text()


@pytest.fixture
def moving(bench, six_axis, start_process):
    """Start a node, and an arm that it moves at full speed."""
    process = start_process()
    bench.start_arm(values_at(JOINTS, START))
    bench.describe(six_axis)
    bench.wait_for_state('IDLE')
    start = Judge(six_axis, 'base_link', 'tool0').pose(START)
    bench.send(shifted(start, x=-0.1, y=0.4))
    bench.wait_for_commands(60)
    return process


def wait_for_the_end(bench, process):
    bench.spin_until(lambda: process.poll() is not None, 'the process ends')
    # What it sent last may still be on its way: a message of our own overtakes nothing.
    seen = [-1]

    def is_quiet():
        seen.append(len(bench.commands))
        return len(seen) > 25 and len(set(seen[-20:])) == 1

    bench.spin_until(is_quiet, 'the last commands')
    return process.returncode


def check_ramp(bench):
    """Check that the last command is one of rest, and that all were within the limits."""
    assert not np.any(bench.commands.messages[-1].velocity)
    assert np.any(bench.commands.messages[-20].velocity)
    runs = bench.commands.runs()
    for times, q in runs:
        assert np.all(np.abs(velocities(times, q)) <= FASTEST * (1.0 + 1e-6))
        assert np.all(np.abs(accelerations(times, q)) <= HARDEST * (1.0 + 1e-3))
    times, q = runs[-1]
    assert len(times) > 20, 'the ramp follows what went before without a pause'
    assert np.abs(velocities(times, q)[-1]).max() <= HARDEST * 0.01 + 1e-6


@pytest.mark.parametrize(
    'number', [pytest.param(signal.SIGINT, marks=pytest.mark.long), signal.SIGTERM]
)
def test_signal_on_the_way_brings_the_arm_to_rest_first(bench, moving, said, number):
    moving.send_signal(number)
    assert wait_for_the_end(bench, moving) == 0, said()
    check_ramp(bench)
    assert 'Traceback' not in said()


@pytest.mark.long
def test_last_status_after_a_signal_is_of_an_arm_at_rest(bench, moving, said):
    assert bench.status['state'] == 'MOVING'
    moving.send_signal(signal.SIGINT)
    assert wait_for_the_end(bench, moving) == 0, said()
    assert bench.status['state'] == 'HOLDING'
    assert bench.status['reason'] == 'the node was interrupted'


@pytest.mark.long
def test_second_interrupt_does_not_cut_the_ramp_short(bench, moving, said):
    """A terminal sends one and `ros2 launch` another."""
    for _ in range(3):
        moving.send_signal(signal.SIGINT)
        bench.wait_for_commands(2)
    assert wait_for_the_end(bench, moving) == 0, said()
    check_ramp(bench)
    assert 'Traceback' not in said()


@pytest.mark.long
def test_commands_keep_their_pace_on_the_way(bench, moving):
    """No pause: neither the compiler nor the garbage collector holds them up."""
    bench.wait_for_state('REACHED')
    assert len(bench.commands.runs()) == 1


@pytest.mark.skipif(platform.libc_ver()[0] != 'glibc', reason='only glibc has heaps of threads')
def test_threads_bring_no_heaps_of_their_own():
    """With them, a node that sees clouds would take far more memory."""

    def heaps_after(*statements):
        program = THREADS + '\n'.join(statements)
        environment = os.environ | {'PYTHONPATH': str(ROOT)}
        return subprocess.check_output(
            [sys.executable, '-c', program], env=environment, text=True
        ).count('<heap nr=')

    assert heaps_after('import fabrik_ros.ros.main', 'start()') == 1
    assert heaps_after('import rclpy', 'start()') > 1


def test_node_without_a_model_ends_when_it_is_interrupted(bench, start_process, said):
    process = start_process()
    bench.wait_for_state('WAITING_FOR_MODEL')
    process.send_signal(signal.SIGINT)
    assert process.wait(PATIENCE) == 0, said()
    assert 'Traceback' not in said()


@pytest.mark.parametrize(
    ('name', 'value', 'words'),
    [
        ('path', 'sideways', 'path must be one of auto, line, joint'),
        pytest.param('max_joint_velocity', '-1.0', 'max_joint_velocity', marks=pytest.mark.long),
        pytest.param('max_joint_velocity', '4.0', 'to stop', marks=pytest.mark.long),
        pytest.param('command_rate', 'fast', 'command_rate', marks=pytest.mark.long),
        pytest.param('axis', '[0.0,0.0,0.0]', 'axis must not be zero', marks=pytest.mark.long),
    ],
)
def test_bad_parameter_ends_the_node_with_the_reason(start_process, said, name, value, words):
    process = start_process(**{name: value})
    assert process.wait(PATIENCE) == 1, said()
    assert words in said()
    assert 'FATAL' in said()
    assert 'Traceback' not in said()
