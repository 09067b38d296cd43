"""The page beside a real node, which comes late, is killed during a drag, and comes back."""

import os
from pathlib import Path
import signal
import subprocess
import sys
import time

from browser import chromium, Page, shown
from fabrik_ros import example_arm, load_urdf
import pytest

sync_api = pytest.importorskip('playwright.sync_api', reason='playwright is not installed')
rclpy = pytest.importorskip('rclpy', reason='ROS 2 is not installed')
pytestmark = pytest.mark.long

ROOT = Path(__file__).resolve().parents[2]
DOMAIN_ID = 94


@pytest.fixture
def start(monkeypatch, tmp_path):
    """Start modules of the package as processes; they are killed at the end."""
    monkeypatch.setenv('ROS_DOMAIN_ID', str(DOMAIN_ID))
    monkeypatch.setenv('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
    monkeypatch.setenv('ROS_LOG_DIR', str(tmp_path))
    monkeypatch.setenv(
        'PYTHONPATH', os.pathsep.join([str(ROOT), os.environ.get('PYTHONPATH', '')])
    )
    processes = []

    def start(module: str, *words: str) -> subprocess.Popen:
        command = [sys.executable, '-m', module, '--ros-args', *words]
        processes.append(subprocess.Popen(command, stderr=subprocess.DEVNULL))
        return processes[-1]

    yield start
    for process in processes:
        process.kill()
        process.wait()


@pytest.fixture
def world(start):
    """Publish the description, and hear targets."""
    from geometry_msgs.msg import PoseStamped
    from rclpy.qos import DurabilityPolicy, QoSProfile
    from std_msgs.msg import String

    context = rclpy.Context()
    rclpy.init(context=context)
    node = rclpy.create_node('world', context=context)
    executor = rclpy.executors.SingleThreadedExecutor(context=context)
    executor.add_node(node)
    latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    publisher = node.create_publisher(String, 'robot_description', latched)
    publisher.publish(String(data=load_urdf(example_arm('six_axis')).source))
    node.heard = []
    node.create_subscription(PoseStamped, '/fabrik/target_pose', node.heard.append, 10)
    node.spin_for = lambda seconds: spin_for(executor, seconds)
    yield node
    node.destroy_node()
    rclpy.try_shutdown(context=context)


def spin_for(executor, seconds: float) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        executor.spin_once(timeout_sec=0.05)


def test_node_that_comes_late_dies_in_a_drag_and_comes_back(start, world):
    from fabrik_ros.view.ros_source import RosSource

    with sync_api.sync_playwright() as playwright:
        browser = chromium(playwright)
        with shown(RosSource('/fabrik')) as address:
            page = Page(browser, address)
            page.wait_for_state('NO DATA')
            assert 'nothing is heard of the node /fabrik' in page.text
            simulated = 'fabrik_ros.sim.simulated_arm'
            start(simulated, '-r', 'joint_command:=fabrik/joint_command', '-p', 'elbow:=0.5')
            node = start('fabrik_ros.ros.main')
            page.wait_for_state('IDLE')

            def is_followed() -> bool:
                world.spin_for(0.02)
                return len(world.heard) > 3 and page.status.startswith('MOVING')

            x, y = page.drag(page.grab_handle(), (4, 2), is_followed)
            node.send_signal(signal.SIGKILL)
            node.wait()
            killed = time.monotonic()
            page.page.mouse.move(x + 20, y + 20)
            page.wait_for_state('NO DATA', 2.0)
            assert time.monotonic() - killed < 2.0
            page.page.mouse.move(x + 30, y + 20)
            page.page.wait_for_timeout(500)
            assert not any(word in page.status for word in ('MOVING', 'REACHED', 'IDLE', 'solve:'))
            page.page.mouse.up()
            world.spin_for(1.0)
            world.heard.clear()
            start('fabrik_ros.ros.main')
            page.wait_for_state('IDLE')
            world.spin_for(2.0)
            assert world.heard == []
            assert 'MOVING' not in page.status
            assert page.errors == []
        browser.close()
