"""A clock that is set forward: it is the clock that is told of, and nothing sets out by itself."""

import time
from types import SimpleNamespace

import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed')
pytest.importorskip('pinocchio', reason='pinocchio is the judge')

from bench import JOINTS, matrix_message, Puppet, shifted, six_axis_judge, START, values_at
from fabrik_ros.ros.clocks import receiving
from fabrik_ros.ros.clocks.node_clock import NodeClock
import numpy as np
from rosgraph_msgs.msg import Clock

PERIOD = 0.01
FAR = 100.0
SECOND = 1_000_000_000


@pytest.fixture
def away(six_axis):
    return shifted(six_axis_judge(six_axis).pose(START), y=0.3)


@pytest.fixture(params=['simulated', 'system'])
def clock(request, bench, six_axis, monkeypatch):
    """Clock that can be set, and a node with an arm at rest that goes by it."""
    simulated, time_now = request.param == 'simulated', time.time_ns
    clock = SimpleNamespace(now=100.0, ahead=0)

    def tell():
        clock.now += PERIOD
        message = Clock()
        message.clock.sec = int(clock.now)
        message.clock.nanosec = int(1e9 * (clock.now % 1.0))
        publisher.publish(message)

    def jump(by):
        clock.now += by
        clock.ahead += round(1e9 * by)

    clock.jump = jump
    if simulated:
        publisher = bench.tester.create_publisher(Clock, '/clock', 10)
        bench.tester.create_timer(PERIOD, tell)
    else:
        receipt = receiving._receipt  # the middleware reads the same clock
        monkeypatch.setattr(time, 'time_ns', lambda: time_now() + clock.ahead)
        monkeypatch.setattr(receiving, '_receipt', lambda info: receipt(info) + clock.ahead)
    bench.start_node(use_sim_time=simulated)
    bench.describe(six_axis)
    bench.puppet = Puppet(bench, values_at(JOINTS, START))
    bench.wait_for_state('IDLE')
    return clock


def test_on_the_way_the_arm_brakes_and_holds_and_the_clock_is_the_reason(bench, clock, away):
    bench.send(away)
    bench.wait_for_commands(30)
    clock.jump(FAR)
    status = bench.wait_for_state('HOLDING')
    assert status['reason'].startswith('the clock jumped forward by 100.')
    assert status['reason_code'] == 'clock_jumped'
    bench.wait_until_silent()
    assert bench.status['reason_code'] == 'clock_jumped'
    count = len(bench.commands)
    bench.wait_until_it_may_set_out()
    assert 'was interrupted' in bench.refusal(away)
    assert len(bench.commands) == count
    bench.wait_until_it_may_set_out()
    bench.send(shifted(away, z=0.05))
    bench.wait_for_state('REACHED')


@pytest.mark.parametrize('is_engaged', [False, True])
def test_at_rest_it_is_a_note_that_does_not_last(bench, clock, away, is_engaged):
    rest = 'IDLE'
    if is_engaged:
        bench.send(away)
        rest = bench.wait_for_state('REACHED')['state']
        bench.wait_until_silent()
    count, before = len(bench.commands), len(bench.statuses)
    clock.jump(FAR)
    bench.wait_for_statuses(15)
    after = [status for status in bench.statuses[before:] if status['state'] != rest]
    assert all(status['reason_code'] == 'clock_jumped' for status in after)
    assert bench.status['state'] == rest
    assert bench.status['reason'] == ''
    assert len(bench.commands) == count
    bench.wait_until_it_may_set_out()
    bench.send(shifted(away, z=0.05))
    bench.wait_for_state('REACHED')


def test_states_that_do_not_come_after_it_are_missed_because_of_it_and_later_they_are_missing(
    bench, clock
):
    bench.puppet.fall_silent()
    bench.wait_for_statuses()  # no state is on its way any more
    clock.jump(FAR)
    status = bench.wait_for_state('WAITING_FOR_STATE')
    bench.spin_until(
        lambda: bench.status['reason'].startswith('the clock jumped forward by 100.'),
        'the clock as the reason',
    )
    assert 'no fresh state of: shoulder_pan' in bench.status['reason']
    bench.puppet.speak_again()
    bench.wait_for_state('IDLE')
    bench.puppet.fall_silent()
    status = bench.wait_for_state('WAITING_FOR_STATE')
    assert status['reason'].startswith('no fresh state of: shoulder_pan')


def test_a_stream_that_runs_meanwhile_has_to_pause(bench, clock, away, six_axis):
    """Whether its targets are steps relative to the tool, or poses in the base."""
    bench.wait_for_statuses()
    step = matrix_message(shifted(np.eye(4), y=0.03), 'tool0')
    bench.send(step)
    bench.wait_for_state('REACHED')
    count = len(bench.commands)
    publisher = bench._targets_to('')
    timer = bench.tester.create_timer(0.1, lambda: publisher.publish(step))
    bench.wait_for_statuses(5)
    clock.jump(FAR)
    bench.wait_for_statuses(15)
    bench.tester.destroy_timer(timer)
    last = six_axis_judge(six_axis).pose(bench.commands.q[-1])
    first = six_axis_judge(six_axis).pose(bench.commands.q[count - 1])
    assert np.linalg.norm(last[:3, 3] - first[:3, 3]) < 1e-4


def test_what_the_clock_was_set_by_is_known_without_jitter_and_drift(bench, monkeypatch):
    clock, ahead, time_now = NodeClock(bench.tester), [0], time.time_ns
    monkeypatch.setattr(time, 'time_ns', lambda: time_now() + ahead[0])
    assert clock.set_by(*clock.read_ns()) == 0.0
    for by in (SECOND, -3 * SECOND, SECOND // 10):
        ahead[0] += by
        assert clock.set_by(*clock.read_ns()) == pytest.approx(1e-9 * by, abs=0.005)
        assert clock.set_by(*clock.read_ns()) == 0.0
    for _ in range(100):
        ahead[0] += 1_000_000
        assert clock.set_by(*clock.read_ns()) == 0.0
