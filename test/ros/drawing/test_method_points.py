"""The node with `method: points`: exact on arms in a plane, honest and within limits on all."""

import math

import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed')
pytest.importorskip('pinocchio', reason='pinocchio is the judge')

from bench import JOINTS, matrix_message, shifted, START, values_at
from command_judge import accelerations, velocities
from helpers import joint_xml, mostly_long, PLANAR, robot_xml
from judging import Judge
import numpy as np

FASTEST, HARDEST = 1.5, 5.0


def check_commands(bench, judge):
    fastest = np.minimum(judge.velocity, FASTEST)
    for times, q in bench.commands.runs():
        assert np.all((judge.lower <= q) & (q <= judge.upper))
        assert np.all(np.abs(velocities(times, q)) <= fastest * (1.0 + 1e-6))
        assert np.all(np.abs(accelerations(times, q)) <= HARDEST * (1.0 + 1e-4))


@pytest.mark.parametrize('path', mostly_long(['line', 'joint'], 'line'))
def test_arm_in_a_plane_reaches_its_target(bench, path):
    judge = Judge(PLANAR, 'l0', 'l3')
    bench.start_all(PLANAR, {'j0': 0.4, 'j1': 1.0}, method='points', mode='position', path=path)
    goal = judge.pose([0.7, 1.2])
    bench.send(matrix_message(goal, 'l0'))
    bench.wait_for_state('REACHED')
    bench.wait_until_silent(4)
    status = bench.wait_for_state('REACHED')
    assert status['finished_by'] in ('fabrik', 'seed')
    assert judge.errors(goal, bench.commands.q[-1])[0] < 1e-4
    check_commands(bench, judge)


@pytest.mark.long
def test_arm_in_space_keeps_its_limits_whatever_comes_of_it(bench, six_axis):
    judge = Judge(six_axis, 'base_link', 'tool0')
    bench.start_all(six_axis, values_at(JOINTS, START), method='points', path='joint')
    bench.send(shifted(judge.pose(START), y=0.2, z=0.05))
    bench.wait_for_count('accepted', 1)
    bench.spin_until(lambda: bench.status['state'] in ('REACHED', 'HOLDING'), 'an end')
    bench.wait_until_silent()
    if bench.commands.messages:
        check_commands(bench, judge)
    assert math.isfinite(float(bench.status['position_error']))


def test_arm_that_points_cannot_tell_is_refused_with_the_reason(bench):
    body = '<axis xyz="0 0 1"/><limit lower="-1" upper="1" velocity="1" effort="1"/>'
    follower = body + '<mimic joint="a"/><origin xyz="0.5 0 0"/>'
    arm = robot_xml(
        'l0 l1 l2',
        joint_xml('a', 'l0', 'l1', body=body),
        joint_xml('b', 'l1', 'l2', body=follower),
    )
    bench.start_node(method='points')
    bench.describe(arm)
    bench.spin_until(
        lambda: "use method 'articulated'" in bench.status.get('reason', ''), 'the reason'
    )
