"""The first command of a target leaves in the callback that solved it, and the pace holds."""

import time

import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed')
pytest.importorskip('pinocchio', reason='pinocchio is the judge')

from bench import matrix_message, shifted, six_axis_judge, START
from command_judge import accelerations, velocities
from fabrik_ros.ros.outputs import command_loop
import numpy as np

FASTEST, HARDEST = 1.5, 5.0
PERIOD = 0.01


@pytest.fixture
def start(six_axis):
    return six_axis_judge(six_axis).pose(START)


@pytest.fixture(autouse=True)
def time_to_look(monkeypatch):
    """How far a node looks within ten milliseconds is up to the machine."""
    monkeypatch.setattr(command_loop, 'FIRST_LOOK', 1.0)


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


def take(bench, T):
    """Have a target taken in its callback; return how many commands that sent."""
    before = bench.node.node_state.tally.commands
    bench.node.inbox.on_target(bench.node.topics.tips[0], matrix_message(T), time.time_ns())
    assert bench.node.node_state.tally.last_refusal == ''
    return bench.node.node_state.tally.commands - before


def test_first_command_leaves_in_the_callback_and_the_second_one_a_period_later(
    bench, six_axis, start
):
    ready(bench, six_axis, 1.0)
    assert take(bench, shifted(start, y=0.1)) == 1
    bench.spin_until(lambda: len(bench.commands) >= 3, 'three commands')
    check_limits(bench, 1.0)


@pytest.mark.long
def test_target_on_the_way_waits_for_its_tick(bench, six_axis, start):
    """A command more than once a period would be more than the driver was told to expect."""
    ready(bench, six_axis, 1.0)
    assert take(bench, shifted(start, y=0.1)) == 1
    assert take(bench, shifted(start, y=-0.1)) == 0
    bench.spin_until(lambda: len(bench.commands) >= 3, 'three commands')
    check_limits(bench, 1.0)


def test_flood_of_targets_doubles_no_step(bench, six_axis, start):
    """Targets ever farther along one line, many in each period, each moved to at once."""
    ready(bench, six_axis, 100.0)
    for share in np.linspace(0.0, 1.0, 600):
        bench.send(shifted(start, y=0.2 + 0.15 * share))
        bench.executor.spin_once(timeout_sec=0.001)
    bench.wait_for_state('REACHED')
    assert np.diff(bench.commands.times).min() >= 0.5 * PERIOD - 1e-9
    check_limits(bench, 100.0)
