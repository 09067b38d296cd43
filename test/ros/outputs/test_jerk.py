"""Limited jerk over the wire: what a listener makes of the commands, from start to rest."""

import sys

import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed')
pytest.importorskip('pinocchio', reason='pinocchio is the judge')
pytest.importorskip('ruckig', reason='ruckig plans the steps')

from bench import JOINTS, shifted, six_axis_judge, START, values_at
from command_judge import accelerations, velocities
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
import numpy as np
from rclpy.parameter import Parameter
from trajectories import SplineController
from trajectory_msgs.msg import JointTrajectory

FASTEST, HARDEST, JERK, PERIOD = 1.5, 5.0, 50.0, 0.01
REPEATED = 40
"""Commands at rest; the node repeats the last for half a second."""
LONGEST_STOP = FASTEST / HARDEST + 2.0 * HARDEST / JERK


def jerks(times, values):
    """Third divided differences of the values, shape (m, n), at times, shape (m,)."""
    spans = (times[3:] - times[:-3]) / 3.0
    return np.diff(accelerations(times, values), axis=0) / spans[:, None]


def check_commands(bench, judge):
    assert np.all(np.diff(bench.commands.times) > 0.0)
    for times, q in bench.commands.runs():
        assert np.all((judge.lower <= q) & (q <= judge.upper))
        assert np.abs(velocities(times, q)).max() <= FASTEST * (1.0 + 1e-6)
        assert np.abs(accelerations(times, q)).max() <= HARDEST * (1.0 + 1e-4)
        assert np.abs(jerks(times, q)).max() <= JERK * (1.0 + 1e-3)


def deactivate(bench):
    request = ChangeState.Request(transition=Transition(id=Transition.TRANSITION_DEACTIVATE))
    assert bench.ask(ChangeState, 'fabrik/change_state', request).success


def test_targets_that_change_on_the_way_and_deactivation_keep_the_jerk(bench, six_axis):
    judge = six_axis_judge(six_axis)
    start = judge.pose(START)
    bench.start_all(six_axis, values_at(JOINTS, START), max_joint_jerk=JERK)
    bench.send(shifted(start, x=-0.1, y=0.3))
    bench.wait_for_commands(60)
    bench.send(shifted(start, y=-0.2))
    bench.wait_for_commands(50)
    bench.send(target := shifted(start, z=0.1))
    bench.wait_for_state('REACHED')
    bench.wait_until_silent()
    position, orientation = judge.errors(target, bench.commands.q[-1])
    assert position < 1e-5
    assert orientation < 1e-4
    at_rest = bench.commands.q[-REPEATED:]
    assert np.std(at_rest, axis=0).max() < 1e-6
    bench.send(shifted(start, y=0.3))
    bench.wait_for_commands(60)
    before = len(bench.commands)
    deactivate(bench)
    bench.wait_for_statuses(5)
    assert not np.any(bench.commands.messages[-1].velocity)
    ramp = bench.commands.times[before:]
    assert ramp[-1] - ramp[0] <= LONGEST_STOP + 2.0 * PERIOD
    check_commands(bench, judge)


@pytest.mark.long
def test_trajectories_promise_a_ramp_that_keeps_the_jerk_and_is_gone(bench, six_axis):
    sent = []
    bench._listen(JointTrajectory, 'fabrik/joint_trajectory', sent.append)
    judge = six_axis_judge(six_axis)
    start, output = values_at(JOINTS, START), ['joint_state', 'trajectory']
    bench.start_all(six_axis, start, max_joint_jerk=JERK, output=output)
    bench.send(shifted(judge.pose(START), y=0.3))
    bench.wait_for_commands(60)
    bench.spin_until(lambda: max(bench.commands.messages[-1].velocity) > 0.1, 'some speed')
    deactivate(bench)
    bench.wait_for_statuses(5)
    last = sent[-1]
    assert len(bench.commands) > len(sent), 'one for the whole ramp'
    gap = np.abs(np.array(last.points[-1].positions) - bench.commands.q[-1])
    assert gap.max() < 1e-6
    for trajectory in sent:
        assert not np.any(trajectory.points[-1].velocities)
        check_spline(trajectory)


def check_spline(trajectory):
    """Sample a controller's cubics on the ramp: they keep to the limits, but for rounding."""
    stamps = [p.time_from_start.sec + 1e-9 * p.time_from_start.nanosec for p in trajectory.points]
    assert np.all(np.diff(stamps) > 0.0)
    assert stamps[0] == 0.0
    rows = [(p.positions, p.velocities) for p in trajectory.points]
    controller = SplineController(rows[0][0])
    points = [(t, *row) for t, row in zip(stamps, rows, strict=True)]
    controller.take(0.0, points)
    times = np.arange(stamps[0], stamps[-1], 0.002)
    if len(times) < 4:
        return
    q = np.array([controller.state(t)[0] for t in times])
    assert np.abs(velocities(times, q)).max() <= FASTEST * (1.0 + 1e-3)
    assert np.abs(accelerations(times, q)).max() <= HARDEST * (1.0 + 1e-3)
    assert np.abs(jerks(times, q)).max() <= JERK * (1.0 + 1e-2)


def test_without_ruckig_configuring_is_refused_with_the_cure(bench, six_axis, monkeypatch):
    monkeypatch.setitem(sys.modules, 'ruckig', None)  # as if it were not installed
    bench.start_node(robot_description=six_axis, max_joint_jerk=JERK)
    bench.spin_until(lambda: 'ruckig' in bench.status.get('reason', ''), 'the reason')
    assert bench.status['state'] == 'WAITING_FOR_MODEL'
    assert 'pip install ruckig' in bench.status['reason']
    assert bench.node.set_parameters([Parameter('max_joint_jerk', value=0.0)])[0].successful
    bench.wait_for_state('WAITING_FOR_STATE')


def test_jerk_that_would_delay_commands_for_too_long_is_refused_with_the_figures(bench):
    bench.start_node()
    (reason,) = bench.set(max_joint_jerk=5.0)
    assert 'max_joint_acceleration 5 with max_joint_jerk 5' in reason
    assert 'at most 0.5 s' in reason
