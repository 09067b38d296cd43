"""What the robot says of itself: ready or not, and how fast it lets itself move."""

import math

import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed')
pytest.importorskip('pinocchio', reason='pinocchio is the judge')

from bench import JOINTS, LATCHED, PREPARATION, shifted, six_axis_judge, START, values_at
from command_judge import accelerations, velocities
from helpers import mostly_long
import numpy as np
from std_msgs.msg import Bool, Float64
from std_srvs.srv import Trigger

READY, SCALING = 'io/robot_program_running', 'broadcaster/speed_scaling'
HARDEST = 5.0


@pytest.fixture
def start(six_axis):
    return six_axis_judge(six_axis).pose(START)


@pytest.fixture(params=mostly_long(['latched', 'volatile'], 'latched'))
def ready_topic(request, bench):
    return bench.tester.create_publisher(
        Bool, READY, LATCHED if request.param == 'latched' else 10
    )


@pytest.fixture
def scaling(bench):
    return bench.tester.create_publisher(Float64, SCALING, 10)


def begin(bench, six_axis, **parameters):
    bench.start_node(**parameters)
    bench.start_arm(values_at(JOINTS, START))
    bench.describe(six_axis)


def say_speed(bench, scaling, percent):
    def is_heard():
        return bench.status.get('robot_speed_scaling') == f'{percent / 100.0:g}'

    bench.say_until(scaling, Float64(data=percent), is_heard, f'{percent:g} per cent')


def test_robot_is_not_ready_before_it_says_so_and_a_no_stops_the_arm(
    bench, six_axis, start, ready_topic
):
    begin(bench, six_axis, ready_topic=READY)
    status = bench.wait_for_state('HOLDING', PREPARATION)
    assert status['reason'] == f'not ready: no message on {READY} yet'
    assert 'no message' in bench.refusal(start)
    bench.say_until(ready_topic, Bool(data=True), lambda: bench.status['state'] == 'IDLE', 'a yes')
    assert bench.status['robot_ready'] == 'True'
    bench.wait_until_it_may_set_out()
    bench.send(shifted(start, y=0.3))
    bench.wait_for_commands(60)
    ready_topic.publish(Bool(data=False))
    status = bench.wait_for_state('HOLDING')
    assert status['reason'] == f'not ready: {READY} says false'
    bench.wait_until_silent(4)
    assert not np.any(bench.commands.messages[-1].velocity)
    answer = bench.ask(Trigger, 'fabrik/resume', Trigger.Request())
    assert (answer.success, answer.message) == (False, f'not ready: {READY} says false')
    count = len(bench.commands)
    ready_topic.publish(Bool(data=True))
    bench.wait_until_it_may_set_out()
    assert '~/resume' in bench.refusal(shifted(start, y=0.3))
    assert len(bench.commands) == count
    bench.resume()
    assert bench.set(max_tip_speed=1.0) == []
    bench.send(shifted(start, y=0.3))
    bench.wait_for_state('REACHED')


@pytest.mark.long
def test_word_of_a_latched_publisher_counts_though_it_was_said_before(bench, six_axis, start):
    publisher = bench.tester.create_publisher(Bool, READY, LATCHED)
    publisher.publish(Bool(data=True))
    begin(bench, six_axis, ready_topic=READY)
    bench.wait_for_state('IDLE', PREPARATION)
    bench.send(shifted(start, y=0.02))
    bench.wait_for_state('REACHED')


def test_speed_of_the_robot_slows_and_pauses_the_motion(bench, six_axis, start, scaling):
    begin(bench, six_axis, speed_scaling_topic=SCALING)
    bench.wait_for_state('IDLE', PREPARATION)
    target = shifted(start, y=0.2)
    say_speed(bench, scaling, 10.0)
    bench.send(target)
    bench.wait_for_commands(100)
    judge = six_axis_judge(six_axis)
    tips = np.array([judge.pose(q)[:3, 3] for q in bench.commands.q[-50:]])
    speeds = np.linalg.norm(velocities(bench.commands.times[-50:], tips), axis=1)
    assert 0.02 < speeds.max() <= 0.025 * 1.001
    scaling.publish(Float64(data=0.0))
    reason = f'paused by the robot: {SCALING} is 0 %'
    bench.spin_until(lambda: bench.status['reason'] == reason, 'the pause')
    assert bench.status['state'] == 'MOVING'
    bench.wait_for_statuses(5)
    assert not np.any(bench.commands.messages[-1].velocity)
    scaling.publish(Float64(data=100.0))
    bench.wait_for_state('REACHED')
    assert judge.errors(target, bench.commands.q[-1]) < (1e-5, 1e-4)
    for times, q in bench.commands.runs():
        assert np.abs(accelerations(times, q)).max() <= HARDEST * (1.0 + 1e-4)


@pytest.mark.parametrize('wrong', mostly_long([math.nan, math.inf, -1.0, 100.1], math.nan, 100.1))
def test_speed_that_is_no_percentage_is_ignored(bench, six_axis, scaling, wrong):
    begin(bench, six_axis, speed_scaling_topic=SCALING)
    bench.wait_for_state('IDLE', PREPARATION)
    say_speed(bench, scaling, 50.0)
    for _ in range(5):
        scaling.publish(Float64(data=wrong))
    bench.wait_for_statuses(5)
    assert bench.status['robot_speed_scaling'] == '0.5'


@pytest.mark.long
def test_speed_of_the_robot_and_that_asked_for_count_together(bench, six_axis, start, scaling):
    begin(bench, six_axis, speed_scaling_topic=SCALING)
    bench.wait_for_state('IDLE', PREPARATION)
    say_speed(bench, scaling, 50.0)
    assert bench.set(speed_scaling=0.5, max_tip_speed=0.4) == []
    bench.send(shifted(start, y=0.2))
    bench.wait_for_commands(100)
    judge = six_axis_judge(six_axis)
    tips = np.array([judge.pose(q)[:3, 3] for q in bench.commands.q[-50:]])
    speeds = np.linalg.norm(velocities(bench.commands.times[-50:], tips), axis=1)
    assert 0.09 < speeds.max() <= 0.1 * 1.001
