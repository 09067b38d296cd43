"""
The node as a process, stopped while it moves an arm with physics as fast as joints may go.

What it sent is judged by its stamps; the trajectories as a controller would play them.

"""

import os
from pathlib import Path
import signal
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed')
pytest.importorskip('pinocchio', reason='pinocchio is the judge')
pytest.importorskip('mujoco', reason='the extra `sim`: pip install mujoco')
pytest.importorskip('xacro')

from bench import PREPARATION, values_at
from command_judge import accelerations, velocities
from fabrik_ros import example_arm, load_urdf
from fabrik_ros.sim.physical_arm import PhysicalArmNode
from helpers import mostly_long
from judging import Judge
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
from trajectories import played
from trajectory_msgs.msg import JointTrajectory

ROOT = Path(__file__).parents[2]
WAYS = {
    'six_axis': ((0.0, -1.3, 1.6, -1.9, -1.57, 0.0), (1.8, -1.5, 1.4, -1.7, -1.2, 0.5)),
    'seven_axis': (
        (0.0, -0.5, 0.0, -2.3, 0.0, 1.8, 0.785),
        (1.8, -0.3, 0.2, -2.1, 0.1, 1.6, 0.5),
    ),
}
"""From where to where in joint space."""
FASTEST, HARDEST, PERIOD = 1.5, 5.0, 0.01
STOP, LOOK_AHEAD = 0.5, 0.06
STEP = 0.001
"""Between two updates of a controller [s]."""
NEAR, STILL = 5e-3, 1e-3
"""Of the arm at rest [rad, rad/s]."""


@pytest.fixture(params=mostly_long(WAYS, 'six_axis'))
def moving(request, bench, domain_id, tmp_path):
    """Node in a process of its own that moves an arm at full speed."""
    start, end = WAYS[request.param]
    urdf = load_urdf(example_arm(request.param)).source
    bench.judge = Judge(urdf, 'base_link', 'tool0')
    bench.trajectories = []
    bench._listen(JointTrajectory, 'fabrik/joint_trajectory', bench.trajectories.append)
    given = values_at(bench.judge.joint_names, start)
    bench.add(
        PhysicalArmNode,
        {'start_names': list(given), 'start_values': list(given.values())},
        cli_args=['--ros-args', '-r', 'joint_command:=fabrik/joint_command'],
    )
    environment = os.environ | {
        'PYTHONPATH': os.pathsep.join([str(ROOT), os.environ.get('PYTHONPATH', '')]),
        'ROS_DOMAIN_ID': str(domain_id),
        'ROS_LOG_DIR': str(tmp_path),
    }
    parameters = ['path:=joint', 'output:=[joint_state, trajectory]', 'tip_link:=tool0']
    parameters += ['max_tip_speed:=10.0', 'max_tip_rotation:=10.0']  # so that joints get fast
    words = [word for parameter in parameters for word in ('-p', parameter)]
    bench.process = subprocess.Popen(
        [sys.executable, '-m', 'fabrik_ros.ros.main', '--ros-args', *words], env=environment
    )
    try:
        bench.describe(urdf)
        bench.wait_for_state('IDLE', PREPARATION)
        bench.spin_until(lambda: is_heard(bench), 'the topics of the node')
        bench.wait_for_statuses(5)
        bench.send(bench.judge.pose(end))
        bench.spin_until(lambda: is_at_full_speed(bench), 'a joint at full speed')
        yield bench
    finally:
        bench.process.kill()
        bench.process.wait()


def is_heard(bench):
    topics = ('fabrik/joint_command', 'fabrik/joint_trajectory')
    return all(bench.tester.count_publishers(topic) for topic in topics)


def is_at_full_speed(bench):
    if not len(bench.commands):
        return False
    return max(np.abs(bench.commands.messages[-1].velocity)) > 0.99 * FASTEST


def deactivate(bench):
    request = ChangeState.Request(transition=Transition(id=Transition.TRANSITION_DEACTIVATE))
    assert bench.ask(ChangeState, 'fabrik/change_state', request).success


def interrupt(bench):
    bench.process.send_signal(signal.SIGINT)
    bench.spin_until(lambda: bench.process.poll() is not None, 'the process ends')
    assert bench.process.returncode == 0


@pytest.mark.parametrize('stop', mostly_long([deactivate, interrupt], interrupt))
def test_stop_at_full_speed_keeps_to_the_limits_and_is_over_in_half_a_second(moving, stop):
    stop(moving)
    moving.spin_until(lambda: not np.any(moving.commands.messages[-1].velocity), 'rest')
    ends_at_rest_in_time(moving)
    measured_arm_comes_to_rest(moving)
    controller_comes_to_rest(moving)


def ends_at_rest_in_time(bench):
    times, q = bench.commands.runs()[-1]
    speeds, strengths = np.abs(velocities(times, q)), np.abs(accelerations(times, q))
    assert speeds.max() <= FASTEST * (1.0 + 1e-6)
    assert strengths.max() <= HARDEST * (1.0 + 1e-3)
    full_speed = np.flatnonzero(speeds.max(axis=1) > 0.98 * FASTEST)
    assert full_speed.size, 'no pause between full speed and rest'
    assert times[-1] - times[full_speed[-1] + 1] <= STOP
    assert speeds[-1].max() <= HARDEST * PERIOD + 1e-6


def measured_arm_comes_to_rest(bench):
    """Check that the arm comes to where the last command put it, and does not swing beyond."""
    last = np.array(bench.commands.messages[-1].position)

    def rests_there():
        state = bench.states[-1]
        gap = np.abs(np.array(state.position) - last).max()
        return gap < NEAR and np.abs(state.velocity).max() < STILL

    bench.spin_until(rests_there, 'the arm where it was told to be')
    q = np.array([state.position for state in bench.states])
    way = np.sign(last - q[0])
    assert (way * (q - last)).max() < NEAR


def controller_comes_to_rest(bench):
    """Check the stop, sent as one trajectory, as a controller comes to it and plays it."""
    trajectories = bench.trajectories
    assert len(trajectories) > 20
    assert len(bench.commands) - len(trajectories) > 3, 'many commands and one trajectory'
    stamps = [message.header.stamp for message in bench.commands.messages]
    sent_at = [stamp.sec * 1_000_000_000 + stamp.nanosec for stamp in stamps]
    times, q = played(trajectories, sent_at[: len(trajectories)])
    assert np.abs(velocities(times, q)).max() <= FASTEST * (1.0 + 1e-3)
    assert np.abs(accelerations(times, q)).max() <= HARDEST * 1.05
    speeds = np.abs(velocities(times, q)).max(axis=1)
    moving = times[1:][speeds > HARDEST * STEP]
    stopped_at = bench.commands.times[len(trajectories) - 1]
    assert moving[-1] - stopped_at <= LOOK_AHEAD + STOP + PERIOD
    assert np.abs(q[-1] - bench.commands.q[-1]).max() <= 1e-9
