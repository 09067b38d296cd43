"""Slower, pause, stop, hold and home, as a user asks for them on the way."""

import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed')
pytest.importorskip('pinocchio', reason='pinocchio is the judge')

from bench import (
    check_commands,
    HARDEST,
    JOINTS,
    matrix_message,
    PREPARATION,
    shifted,
    six_axis_judge,
    START,
    values_at,
)
from command_judge import velocities
import numpy as np
from rclpy.lifecycle import TransitionCallbackReturn
from std_srvs.srv import Trigger

HELD = 'told to hold, until ~/resume'
CANCELLED = 'told to stop; the next target sets out'
LONGER_THAN_A_PAUSE = 13
"""Statuses, ten a second: a stream is over after a second without any target."""
HOME = [0.3, -1.1, 1.4, -1.7, -1.4, 0.2]


@pytest.fixture
def start(six_axis):
    return six_axis_judge(six_axis).pose(START)


@pytest.fixture
def ready(bench, six_axis):
    bench.start_all(six_axis, values_at(JOINTS, START), home_configuration=HOME)
    return bench


def call(bench, name):
    answer = bench.ask(Trigger, f'fabrik/{name}', Trigger.Request())
    return answer.success, answer.message


def move(bench, target):
    bench.send(target)
    bench.spin_until(lambda: len(bench.commands) > 45, 'the arm is on its way')


def test_hold_on_the_way_brings_the_arm_to_rest_until_it_is_resumed(ready, six_axis, start):
    move(ready, shifted(start, y=0.4))
    assert call(ready, 'hold') == (True, 'slowing down to hold')
    status = ready.wait_for_state('HOLDING')
    assert status['reason'] == HELD
    ready.wait_until_silent(4)
    assert not np.any(ready.commands.messages[-1].velocity)
    assert ready.status['state'] == 'HOLDING'
    assert ready.refusal(shifted(start, y=0.05)) == HELD
    assert call(ready, 'home') == (False, HELD)
    ready.resume()
    ready.send(shifted(start, y=0.05))
    ready.wait_for_state('REACHED')
    check_commands(ready, six_axis_judge(six_axis))


def test_stop_on_the_way_brings_the_arm_to_rest_and_the_next_target_sets_out(
    ready, six_axis, start
):
    move(ready, shifted(start, y=0.4))
    assert call(ready, 'stop') == (True, 'slowing down to rest')
    status = ready.wait_for_state('HOLDING')
    assert (status['reason'], status['reason_code']) == (CANCELLED, 'cancelled')
    ready.wait_until_silent(4)
    assert not np.any(ready.commands.messages[-1].velocity)
    assert (ready.status['state'], ready.status['held']) == ('HOLDING', 'False')
    ready.send(shifted(start, y=0.05))
    ready.wait_for_state('REACHED')
    check_commands(ready, six_axis_judge(six_axis))


def test_stop_ends_a_search_and_a_proposal_and_what_came_to_rest_stays_as_it_is(ready, start):
    assert call(ready, 'stop') == (True, 'at rest')
    ready.wait_for_statuses(2)
    assert ready.status['state'] == 'IDLE'
    assert ready.set(confirm='always') == []
    ready.send(shifted(start, y=0.05))
    ready.spin_until(lambda: ready.status['reason_code'] == 'awaits_execute', 'a proposal')
    assert call(ready, 'stop') == (True, 'at rest')
    ready.spin_until(lambda: ready.status['reason_code'] == 'cancelled', 'the end of it')
    assert not call(ready, 'execute')[0]
    assert len(ready.commands) == 0
    assert ready.set(confirm='never') == []
    ready.wait_for_statuses(LONGER_THAN_A_PAUSE)
    ready.send(shifted(start, y=0.05))
    ready.wait_for_state('REACHED')
    assert call(ready, 'stop')[0]
    ready.wait_for_statuses(2)
    assert ready.status['state'] == 'REACHED'


def test_stop_lets_a_repeat_of_the_same_target_set_nothing_in_motion(ready, start):
    move(ready, shifted(start, y=0.4))
    timer = ready.tester.create_timer(
        0.1, lambda: ready._targets[''].publish(matrix_message(shifted(start, y=0.4)))
    )
    ready.wait_for_statuses(4)
    assert call(ready, 'stop')[0]
    ready.wait_until_silent(4)
    count = len(ready.commands)
    ready.wait_for_statuses(LONGER_THAN_A_PAUSE)
    assert len(ready.commands) == count
    timer.cancel()


def test_stop_does_not_end_a_hold(ready, start):
    move(ready, shifted(start, y=0.4))
    assert call(ready, 'hold')[0]
    assert call(ready, 'stop')[0]
    ready.wait_until_silent(4)
    assert (ready.status['reason'], ready.status['held']) == (HELD, 'True')


def test_stop_of_a_node_that_moves_nothing_says_so(bench, six_axis):
    bench.start_node(autostart=False, robot_description=six_axis)
    success, message = call(bench, 'stop')
    assert success
    assert message.startswith('nothing moves: the node is not active: ')


@pytest.mark.long
def test_hold_under_a_stream_holds_and_so_does_resume_until_the_stream_pauses(ready, start):
    move(ready, shifted(start, y=0.4))
    timer = ready.tester.create_timer(
        0.01, lambda: ready._targets[''].publish(matrix_message(shifted(start, y=0.3)))
    )
    assert call(ready, 'hold')[0]
    ready.wait_for_statuses(6)
    count = len(ready.commands)
    ready.wait_for_statuses(LONGER_THAN_A_PAUSE)
    success, message = call(ready, 'resume')
    assert success
    assert message.startswith('no longer held, but targets are coming')
    ready.wait_for_statuses(LONGER_THAN_A_PAUSE)
    assert len(ready.commands) == count
    assert 'after 1 s without any' in ready.status['last_refusal']
    timer.cancel()
    ready.wait_until_it_may_set_out()
    ready.send(shifted(start, y=0.05))
    ready.wait_for_state('REACHED')


def test_hold_outlives_a_start_of_the_node_by_itself_but_no_activation_by_others(
    bench, six_axis, start
):
    bench.start_node(tip_link='tool0')
    bench.start_arm(values_at(JOINTS, START))
    success, message = call(bench, 'hold')
    assert success
    assert 'no robot description yet' in message
    bench.describe(six_axis)
    bench.wait_for_state('HOLDING', PREPARATION)
    assert bench.refusal(start) == HELD
    assert bench.node.trigger_deactivate() == TransitionCallbackReturn.SUCCESS
    assert bench.node.trigger_activate() == TransitionCallbackReturn.SUCCESS
    bench.wait_for_state('IDLE')
    bench.wait_until_it_may_set_out()
    bench.send(shifted(start, y=0.02))
    bench.wait_for_state('REACHED')


def test_hold_at_rest_moves_nothing_and_says_so(ready):
    assert call(ready, 'hold') == (True, 'holding still')
    assert ready.wait_for_state('HOLDING')['reason'] == HELD
    assert len(ready.commands) == 0


def test_home_takes_the_arm_there_from_where_it_is(ready, six_axis):
    assert call(ready, 'home') == (True, 'on the way to home_configuration')
    ready.wait_for_state('REACHED')
    assert np.abs(ready.commands.q[0] - START).max() <= HARDEST * 0.01 * 0.01 + 1e-9
    assert np.abs(ready.commands.q[-1] - HOME).max() <= 1e-6
    check_commands(ready, six_axis_judge(six_axis))


@pytest.mark.long
def test_home_ends_the_talk_of_a_target_that_was_refused(ready, start):
    ready.send(shifted(start, z=90.0))
    ready.spin_until(lambda: ready.status['last_refusal'], 'a refusal')
    assert call(ready, 'home')[0]
    ready.wait_for_state('REACHED')
    assert ready.status['last_refusal'] == ''


@pytest.mark.long
def test_home_ends_a_target_and_a_target_ends_home(ready, six_axis, start):
    move(ready, shifted(start, y=0.4))
    assert call(ready, 'home')[0]
    ready.wait_for_commands(20)
    target = shifted(start, z=0.05)
    ready.send(target)
    ready.wait_for_state('REACHED')
    assert six_axis_judge(six_axis).errors(target, ready.commands.q[-1]) < (1e-5, 1e-4)
    check_commands(ready, six_axis_judge(six_axis))


def test_without_a_home_the_service_says_how_to_set_one_and_then_goes(bench, six_axis):
    bench.start_all(six_axis, values_at(JOINTS, START))
    success, message = call(bench, 'home')
    assert not success
    assert 'home_configuration is empty' in message
    assert bench.set(home_configuration=HOME) == []
    assert call(bench, 'home')[0]
    bench.wait_for_state('REACHED')


def test_home_is_refused_while_the_node_is_not_active(bench, six_axis):
    bench.start_node(autostart=False, robot_description=six_axis)
    success, message = call(bench, 'home')
    assert not success
    assert message.startswith('the node is not active: ')


def test_home_without_measured_joints_is_refused_with_their_names(bench, six_axis):
    bench.start_node(home_configuration=HOME)
    bench.describe(six_axis)
    bench.wait_for_state('WAITING_FOR_STATE')
    assert call(bench, 'home') == (False, f'no fresh joint state of: {", ".join(JOINTS)}')


@pytest.mark.parametrize(
    ('home', 'words'), [([0.0], 'shape (1,)'), ([0.0, 0.0, 9.0, 0.0, 0.0, 0.0], "'elbow' at 9")]
)
def test_home_that_is_none_of_the_arm_is_refused_at_activation_and_live(
    bench, six_axis, home, words
):
    bench.start_node(robot_description=six_axis, home_configuration=home)
    bench.spin_until(lambda: words in bench.status.get('reason', ''), 'the reason')
    assert 'home_configuration' in bench.status['reason']
    assert bench.set(home_configuration=HOME) == []
    (reason,) = bench.set(home_configuration=home)
    assert words in reason


def test_speed_scaling_slows_down_pauses_and_goes_on(ready, six_axis, start):
    target = shifted(start, y=0.25)
    move(ready, target)
    assert ready.set(speed_scaling=0.0) == []
    ready.spin_until(lambda: 'paused' in ready.status['reason'], 'the pause is said')
    ready.wait_for_commands(60)
    before = ready.commands.q[-1]
    ready.wait_for_commands(20)
    assert np.array_equal(ready.commands.q[-1], before), 'at rest, and still under command'
    assert ready.status['state'] == 'MOVING'
    assert ready.set(speed_scaling=0.2) == []
    ready.wait_for_commands(60)
    assert ready.set(speed_scaling=1.0) == []
    ready.wait_for_state('REACHED')
    judge = six_axis_judge(six_axis)
    tips = np.array([judge.pose(q)[:3, 3] for q in ready.commands.q])
    speed = np.linalg.norm(velocities(ready.commands.times, tips), axis=1)
    slow = np.flatnonzero(np.abs(speed - 0.05) < 1e-4)
    assert len(slow) > 10, 'a fifth of 0.25 m/s for a while'
    assert judge.errors(target, ready.commands.q[-1]) < (1e-5, 1e-4)
    assert len(ready.commands.runs()) == 1
    check_commands(ready, six_axis_judge(six_axis))
