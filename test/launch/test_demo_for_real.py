"""The demo with the real packages and no window: targets in, commands out, the arm follows."""

import os
from pathlib import Path
import signal
import subprocess
import sys
import time

import pytest

pytest.importorskip('launch_ros.actions', reason='launch_ros comes with a ROS 2 installation')
pytest.importorskip('rclpy')

from ament_index_python.packages import get_package_share_directory, PackageNotFoundError
import rclpy
from rclpy.executors import SingleThreadedExecutor
from sensor_msgs.msg import JointState

NEEDED = ['fabrik_ros', 'robot_state_publisher', 'joint_state_publisher']
PATIENCE = 60.0
"""How long the slowest machine may take to start everything [s]."""

pytestmark = pytest.mark.long


def is_installed(package):
    try:
        get_package_share_directory(package)
    except (PackageNotFoundError, OSError):
        return False
    return True


@pytest.fixture
def own_domain(monkeypatch):
    monkeypatch.setenv('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
    monkeypatch.setenv('ROS_DOMAIN_ID', str(1 + os.getpid() % 100))


@pytest.fixture
def demo(own_domain, tmp_path):
    missing = [package for package in NEEDED if not is_installed(package)]
    if missing:
        pytest.skip(f'not installed: {", ".join(missing)}')
    run = Path(__file__).with_name('run_launch_file.py')
    launch_file = Path(get_package_share_directory('fabrik_ros'), 'launch', 'demo.launch.py')
    with (
        open(tmp_path / 'output', 'w+') as output,
        subprocess.Popen(
            [sys.executable, str(run), str(launch_file), 'rviz:=false'],
            stdout=output,
            stderr=subprocess.STDOUT,
        ) as process,
    ):
        yield process
        process.kill()


@pytest.fixture
def output(tmp_path, demo):
    return lambda: (tmp_path / 'output').read_text()


def wait_for_a_joint_to_travel(distance, process):
    """Watch joint_states until a joint has moved by `distance` [rad]; False if none ever does."""
    states = []
    with rclpy.init(context=(context := rclpy.Context())):
        node = rclpy.create_node('watcher', context=context)
        node.create_subscription(JointState, 'joint_states', states.append, 10)
        executor = SingleThreadedExecutor(context=context)
        executor.add_node(node)
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline and process.poll() is None:
            executor.spin_once(timeout_sec=0.5)
            if states and _travelled(states[0], states[-1]) > distance:
                return True
    return False


def _travelled(first, last):
    start = dict(zip(first.name, first.position, strict=True))
    return max(abs(q - start[name]) for name, q in zip(last.name, last.position, strict=True))


def test_demo_moves_the_simulated_arm_and_stops_cleanly(demo, output):
    assert wait_for_a_joint_to_travel(0.05, demo), output()
    demo.send_signal(signal.SIGINT)
    assert demo.wait(timeout=PATIENCE) == 0, output()
    ours = [line for line in output().splitlines() if line.startswith(('[fabrik_', '[demo_'))]
    assert not any('Traceback' in line for line in ours), output()
