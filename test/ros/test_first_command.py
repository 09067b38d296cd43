"""The first command of a target leaves in the callback that solved it, and the pace holds."""

import time

import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed')
pytest.importorskip('pinocchio', reason='pinocchio is the judge')

from bench import shifted, six_axis_judge, START
from judging import accelerations, velocities
import numpy as np

FASTEST, HARDEST = 1.5, 5.0
PERIOD = 0.01


@pytest.fixture
def start(six_axis):
    return six_axis_judge(six_axis).pose(START)


def ready(bench, six_axis, command_rate):
    # The arm cannot report in time for a slow node, and need not.
    bench.start_node(
        command_rate=command_rate, wait_for_state=False, start_configuration=list(START)
    )
    bench.describe(six_axis)
    bench.wait_for_state('IDLE')


def check_limits(bench, command_rate):
    for times, q in bench.commands.runs(command_rate):
        assert np.all(np.abs(velocities(times, q)) <= FASTEST * (1.0 + 1e-6))
        assert np.all(np.abs(accelerations(times, q)) <= HARDEST * (1.0 + 1e-4))


def test_first_command_does_not_wait_for_the_tick_and_the_second_comes_a_period_later(
    bench, six_axis, start
):
    """At one command a second nobody can mistake one for the other."""
    ready(bench, six_axis, 1.0)
    until_tick = bench.node._control_timer.time_until_next_call
    bench.spin_until(lambda: until_tick() > 0.7e9, 'the next tick is far away')
    bench.send(shifted(start, y=0.1))
    sent, arrivals = time.monotonic(), []
    for count in (1, 2, 3):
        bench.spin_until(lambda count=count: len(bench.commands) >= count, f'{count} commands')
        arrivals.append(time.monotonic() - sent)
    assert arrivals[0] < 0.5
    assert np.diff(arrivals) == pytest.approx(1.0, abs=0.3)
    assert np.diff(bench.commands.times) == pytest.approx(1.0, abs=1e-9)
    check_limits(bench, 1.0)


def test_flood_of_targets_neither_doubles_nor_drops_a_step(bench, six_axis, start):
    """Targets ever farther along one line, many in each period, each moved to at once."""
    ready(bench, six_axis, 100.0)
    bench.send(shifted(start, y=0.2))
    begin = time.monotonic()
    while (passed := time.monotonic() - begin) < 1.5:
        bench.send(shifted(start, y=0.2 + 0.1 * passed))
        bench.executor.spin_once(timeout_sec=0.001)
    bench.wait_for_statuses(2)
    targets = int(bench.status['accepted'])
    bench.wait_for_state('REACHED')
    assert targets > 2 * 1.5 / PERIOD, 'else it is no flood'
    steps = np.diff(bench.commands.times)
    assert steps.min() >= 0.5 * PERIOD - 1e-9, 'no step is doubled'
    assert np.median(steps) == pytest.approx(PERIOD, abs=1e-9), 'the stamps keep to their grid'
    check_limits(bench, 100.0)
    judge = six_axis_judge(six_axis)
    tips = np.array([judge.pose(q)[:3, 3] for q in bench.commands.q])
    speed = np.linalg.norm(velocities(bench.commands.times, tips), axis=1)
    under_way = (bench.commands.times[1:] > 0.5) & (bench.commands.times[1:] < 1.3)
    assert speed[under_way].min() >= 0.25 * 0.98, 'the speed does not dip'


def test_target_on_the_way_waits_for_its_tick(bench, six_axis, start):
    """A command more than once a period would be more than the driver was told to expect."""
    ready(bench, six_axis, 2.0)
    bench.send(shifted(start, y=0.3))
    bench.spin_until(lambda: len(bench.commands) >= 1, 'the first command')
    sent = time.monotonic()
    bench.send(shifted(start, y=-0.3))
    bench.wait_for_commands(1)
    assert time.monotonic() - sent > 0.2
    bench.wait_for_commands(2)
    assert np.diff(bench.commands.times) == pytest.approx(0.5, abs=1e-9)
    check_limits(bench, 2.0)
