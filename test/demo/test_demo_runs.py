"""The judge of the demo, and whole runs: each scene, and somebody who sends targets besides."""

import os
from pathlib import Path
import subprocess
import sys
import threading
import time

from fabrik_ros import example_arm, load_urdf
import numpy as np
import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed')
pytest.importorskip('pinocchio', reason='pinocchio is the judge')
pytest.importorskip('coal', reason='coal measures the distances')

from demo_node import BASE_LINK, COMMAND_RATE, markers, TIP_LINK
from fabrik_ros.ros.inputs.marker_obstacles import after
from fabrik_ros.ros.messages.conversions import stamped_pose
from geometry_msgs.msg import PoseStamped
from judge import Judge
import rclpy
from run import START
from scenes import SCENES
from sensor_msgs.msg import JointState

ROOT = Path(__file__).resolve().parents[2]
DOMAIN_ID = 96
ROBOT = load_urdf(example_arm('six_axis'))
CHAIN = ROBOT.chain()


def judge_of(scene: str) -> Judge:
    boxes = SCENES[scene].boxes()
    return Judge(ROBOT.source, BASE_LINK, TIP_LINK, COMMAND_RATE, 3.2, 20.0, boxes)


def see(judge: Judge, number: int, q: np.ndarray) -> None:
    """Show a judge the command of a period."""
    message = JointState(name=list(CHAIN.joint_names), position=q.tolist())
    message.header.stamp.sec, message.header.stamp.nanosec = 1, number * 10_000_000
    judge.see_command(message)


def turned(q: np.ndarray) -> list[np.ndarray]:
    """Turn the shoulder until the tool is on the other side of the wall."""
    angles = np.arange(0.0, 0.6, 0.01)
    return [np.append(q[0] - angle, q[1:]) for angle in angles]


def test_commands_through_the_wall_are_too_near_and_those_over_it_are_not():
    low, high = np.array(START), np.array(START)
    high[1] -= 0.5
    for q, is_free in ((high, True), (low, False)):
        judge, commands = judge_of('obstacles'), turned(q)
        sides = [CHAIN.forward_kinematics(end)[1, 3] for end in (commands[0], commands[-1])]
        assert sides[0] > 0.05 > -0.05 > sides[1]
        for number, command in enumerate(commands):
            see(judge, number, command)
        assert (judge.too_near == []) is is_free
        assert judge.violation_count == len(judge.too_near)
    assert 'too near' in judge.violations[0]


def test_markers_show_the_obstacles_that_the_judge_knows():
    scene = SCENES['obstacles']
    groups = after({}, markers(scene), 0.0)
    placed = {
        name: (one.shape.size, tuple(one.T_frame_obstacle[:3, 3]), one.frame)
        for (name, _), group in groups.items()
        for one in group.obstacles
    }
    boxes = scene.boxes()
    assert placed == {name: (b.size, b.centre, BASE_LINK) for name, b in boxes.items()}
    assert markers(SCENES['around']).markers == []


def start_demo(tmp_path, *words: str) -> subprocess.Popen:
    environment = {
        **os.environ,
        'ROS_DOMAIN_ID': str(DOMAIN_ID),
        'ROS_AUTOMATIC_DISCOVERY_RANGE': 'LOCALHOST',
        'ROS_LOG_DIR': str(tmp_path),
        'PYTHONPATH': os.pathsep.join([str(ROOT), os.environ.get('PYTHONPATH', '')]),
    }
    return subprocess.Popen(
        [sys.executable, ROOT / 'demo' / 'run.py', *words],
        cwd=tmp_path,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def test_wrong_scene_ends_at_once_and_names_the_right_ones(tmp_path):
    demo = start_demo(tmp_path, '--scene', 'everything')
    said = demo.communicate(timeout=60.0)[0]
    assert demo.returncode == 2
    assert "no scene 'everything'. There are around: " in said


@pytest.mark.long
@pytest.mark.parametrize('name', SCENES)
def test_scene_goes_well(tmp_path, name):
    demo = start_demo(tmp_path, '--scene', name, '--duration', '12', '--no-view')
    said = demo.communicate(timeout=180.0)[0]
    assert demo.returncode == 0, said
    assert f'{SCENES[name].done:17} ' in said
    assert 'view: ' not in said
    assert (tmp_path / 'demo.png').stat().st_size > 10_000


@pytest.mark.long
def test_targets_from_elsewhere_are_waited_for_and_not_judged(tmp_path, monkeypatch):
    monkeypatch.setenv('ROS_DOMAIN_ID', str(DOMAIN_ID))
    monkeypatch.setenv('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
    demo = start_demo(tmp_path, '--duration', '15', '--no-view')
    lines: list[str] = []
    reader = threading.Thread(target=lambda: lines.extend(demo.stdout))
    reader.start()
    context = rclpy.Context()
    rclpy.init(context=context)
    guest = rclpy.create_node('guest', context=context)
    try:
        topic = f'/demo_{demo.pid}/fabrik/target_pose'
        target = guest.create_publisher(PoseStamped, topic, 1)
        end = time.monotonic() + 120.0
        while not any('  target ' in line for line in lines):
            assert time.monotonic() < end, lines
            time.sleep(0.1)
        pose = CHAIN.forward_kinematics(np.array(START))
        target.publish(stamped_pose(pose, BASE_LINK, guest.get_clock().now().to_msg()))
        reader.join(timeout=120.0)
        assert demo.wait() == 0, lines
    finally:
        demo.kill()
        guest.destroy_node()
        rclpy.try_shutdown(context=context)
    assert 'interrupted       1\n' in lines
