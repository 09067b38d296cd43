"""The examples that follow targets without ROS run, are short, and do what pinocchio confirms."""

import ast
import os
from pathlib import Path
import re
import subprocess
import sys

from command_judge import accelerations, velocities
from fabrik_ros import example_arm, pose_from_xyz_rpy
from helpers import example_robot
import numpy as np
import pytest

pytest.importorskip('pinocchio', reason='pinocchio is the judge')

from judging import Judge

EXAMPLES = Path(__file__).resolve().parents[2] / 'examples'
MOST_LINES = 40
NUMBER = r'-?\d+\.?\d*(?:e-?\d+)?'


def run(name, *arguments):
    """Run an example; return what it prints, and what it says on standard error."""
    done = subprocess.run(
        [sys.executable, EXAMPLES / name, *arguments],
        env={**os.environ, 'PYTHONPATH': str(EXAMPLES.parent)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


def six_axis_judge():
    xacro = pytest.importorskip('xacro', reason='needs: pip install xacro')
    urdf = xacro.process_file(str(example_arm('six_axis'))).toxml()
    return Judge(urdf, 'base_link', 'tool0')


@pytest.mark.parametrize('example', sorted(EXAMPLES.glob('*.py')), ids=lambda path: path.stem)
def test_example_is_short(example):
    assert len(example.read_text().splitlines()) <= MOST_LINES


def test_so101_arrives_though_a_read_of_its_bus_fails():
    urdf = example_robot('so101')
    printed, _ = run('follow_with_so101.py', urdf)
    assert 'a read failed, the arm goes on' in printed
    last = printed.splitlines()[-1]
    assert last.startswith('REACHED:')
    q = ast.literal_eval(last[last.index('[') :])
    tip = Judge(urdf.read_text(), 'base_link', 'gripper_frame_link').pose(q)
    assert np.linalg.norm(tip[:3, 3] - [0.24, -0.11, 0.085]) < 1e-4


def test_arm_in_mujoco_goes_from_pose_to_pose():
    pytest.importorskip('mujoco', reason='needs: pip install mujoco')
    judge = six_axis_judge()
    lines = run('follow_in_mujoco.py')[0].splitlines()[1:]
    assert [line.split(':')[0] for line in lines] == ['REACHED', 'REACHED', 'HOLDING', 'REACHED']
    assert 'farther away than the arm is long' in lines[2]
    tips = [np.array(re.findall(NUMBER, line.split('[')[1]), dtype=float) for line in lines]
    first, start = [0.8, -1.0, 1.2, -1.8, -1.5, 0.4], [0.0, -1.2, 1.4, -1.8, -1.5, 0.0]
    expected = [judge.pose(q)[:3, 3] for q in (first, [-0.5, *first[1:]], start)]
    np.testing.assert_allclose(np.array(tips)[[0, 1, 3]], expected, atol=2e-3)


def test_recorded_path_becomes_joint_values_that_stay_on_it_within_the_limits():
    judge = six_axis_judge()
    printed, said = run('follow_recorded_path.py')
    assert said.strip() == 'REACHED: the whole path'
    names, *lines = printed.splitlines()
    assert names.split(',') == ['time', *judge.joint_names]
    times, values = np.split(np.array([line.split(',') for line in lines], dtype=float), [1], 1)
    rows = np.loadtxt(EXAMPLES / 'recorded_path.csv', delimiter=',')
    tips = np.array([judge.pose(q)[:3, 3] for q in values])
    off = np.linalg.norm(tips[:, None] - rows[None, :, 1:4], axis=2)
    spacing = np.linalg.norm(np.diff(rows[:, 1:4], axis=0), axis=1).max()
    assert off.min(axis=1).max() <= spacing
    assert off.min(axis=0).max() <= 0.02
    assert judge.errors(pose_from_xyz_rpy(rows[-1, 1:4], rows[-1, 4:]), values[-1]) < (1e-4, 1e-3)
    rounding = 1e-6
    assert np.abs(velocities(times[:, 0], values)).max() <= 1.5 + 2 * rounding / 0.01
    assert np.abs(accelerations(times[:, 0], values)).max() <= 5.0 + 4 * rounding / 0.01**2
