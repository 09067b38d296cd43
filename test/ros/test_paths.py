"""
How the arm gets to its targets, over the wire: looked at first, proposed, confirmed, or held.

Poses on the way are judged by pinocchio from the commands.

"""

import math

import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed')
pytest.importorskip('pinocchio', reason='pinocchio is the judge')

from bench import (
    check_commands,
    JOINTS,
    matrix_message,
    Puppet,
    shifted,
    six_axis_judge,
    START,
    values_at,
)
from command_judge import PAUSE
from hostile_scene import a_scene
from judging import distances_from_line
from nav_msgs.msg import Path
import numpy as np
from rclpy.lifecycle import TransitionCallbackReturn
from rclpy.qos import DurabilityPolicy, QoSProfile
from std_srvs.srv import Trigger

SUCCESS = TransitionCallbackReturn.SUCCESS
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
AT_START = values_at(JOINTS, START)
POSITION, ORIENTATION = 1e-4, 1e-3
"""Of the tip at the end of a motion [m], [rad]."""
ON_THE_PATH = 2e-3
"""How far a tip may be from the chords of its planned path [m]."""
OFF_THE_LINE = 5e-3
"""How far a tip may be from a line, also at its blocked end [m]."""


@pytest.fixture(scope='module')
def judge(six_axis):
    return six_axis_judge(six_axis)


@pytest.fixture(scope='module')
def start(judge):
    return judge.pose(START)


@pytest.fixture(scope='module')
def behind(start):
    """Make a pose behind the column: the line there comes too near the axis of the shoulder."""
    T = shifted(start, x=-2.0 * start[0, 3], y=-0.26)
    c, s = math.cos(3.0), math.sin(3.0)
    T[:3, :3] = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]) @ T[:3, :3]
    return T


@pytest.fixture
def ready(bench, six_axis):
    bench.start_all(six_axis, AT_START)
    return bench


def call(bench, name):
    answer = bench.ask(Trigger, f'fabrik/{name}', Trigger.Request())
    return answer.success, answer.message


def listen_to_paths(bench):
    """Collect the planned paths, as shape (m, 3) [m]."""
    paths = []

    def take(message):
        assert message.header.frame_id == 'base_link'
        points = [pose.pose.position for pose in message.poses]
        paths.append(np.array([(p.x, p.y, p.z) for p in points]).reshape(-1, 3))

    bench.tester.create_subscription(Path, 'fabrik/planned_path', take, LATCHED)
    return paths


def tips_of(bench, judge):
    return np.array([judge.pose(q)[:3, 3] for q in bench.commands.q])


def distances_from_chords(points, path):
    """Distance [m] of each point, shape (m, 3), from the nearest chord of a path, shape (k, 3)."""
    begin, chord = path[:-1], np.diff(path, axis=0)
    lengths = np.maximum(np.sum(chord**2, axis=1), 1e-18)
    share = np.clip(np.sum((points[:, None] - begin) * chord, axis=2) / lengths, 0.0, 1.0)
    nearest = begin + share[:, :, None] * chord
    return np.linalg.norm(points[:, None] - nearest, axis=2).min(axis=1)


def check_arrived(bench, judge, target):
    assert judge.errors(target, bench.commands.q[-1]) < (POSITION, ORIENTATION)
    check_commands(bench, judge)


def wait_for_proposal(bench):
    bench.spin_until(lambda: bench.status['waits_for_execute'] == 'True', 'a proposal')
    return bench.wait_for_state('HOLDING')


def stream(bench, poses, period):
    """Send poses one after the other, the last one again and again; returns the timer."""
    waiting = list(poses)

    def send():
        T = waiting.pop(0) if len(waiting) > 1 else waiting[0]
        bench._targets[''].publish(matrix_message(T))

    bench.spin_until(lambda: bench._is_heard(bench._targets['']), 'somebody listens')
    send()
    return bench.tester.create_timer(period, send)


def between(T, T_goal, shares):
    """Yield poses on the line between two poses, turned by the shortest rotation in common."""
    import pinocchio

    turn = pinocchio.log3(T[:3, :3].T @ T_goal[:3, :3])
    for share in shares:
        here = np.eye(4)
        here[:3, 3] = T[:3, 3] + share * (T_goal[:3, 3] - T[:3, 3])
        here[:3, :3] = T[:3, :3] @ pinocchio.exp3(share * turn)
        yield here


# -- the line, and what is done where it is blocked


def test_blocked_line_moves_nothing_and_cause_and_place_are_said(bench, six_axis, start, behind):
    bench.start_all(six_axis, AT_START, path='line')
    bench.send(behind)
    status = bench.wait_for_state('HOLDING')
    bench.wait_until_silent()
    assert len(bench.commands) == 0
    assert status['reason'].startswith('the line ends after ')
    share = float(status['path_share'])
    assert 0.0 < share < 1.0
    place = [float(word) for word in status['reason'].split(', at ')[1].split(':')[0].split()]
    (expected,) = between(start, behind, [share])
    assert np.linalg.norm(np.array(place) - expected[:3, 3]) < 0.01
    assert call(bench, 'execute')[0], 'somebody asks for a look from here'
    assert bench.wait_for_state('HOLDING')['reason'] == status['reason']
    assert len(bench.commands) == 0


def test_auto_arrives_at_the_target_behind_a_blocked_line(ready, judge, behind):
    paths = listen_to_paths(ready)
    ready.send(behind)
    status = ready.wait_for_state('REACHED')
    check_arrived(ready, judge, behind)
    assert status['path'] == 'joint'
    assert float(status['path_share']) == 1.0
    tips = tips_of(ready, judge)
    length = np.linalg.norm(np.diff(tips, axis=0), axis=1).sum()
    assert float(status['path_length']) == pytest.approx(length, rel=0.02)
    assert ready.commands.times[-1] > 0.9 * float(status['path_duration'])
    ready.spin_until(lambda: paths, 'the planned path')
    assert distances_from_chords(tips, paths[-1]).max() < ON_THE_PATH


@pytest.mark.long
def test_free_line_is_taken(ready, judge, start):
    target = shifted(start, y=0.2)
    ready.send(target)
    status = ready.wait_for_state('REACHED')
    check_arrived(ready, judge, target)
    assert status['path'] == 'line'
    assert float(status['path_length']) == pytest.approx(0.2, abs=1e-6)
    tips = tips_of(ready, judge)
    assert distances_from_line(tips, start[:3, 3], target[:3, 3]).max() < 1e-4


# -- proposals


def proposed(bench, six_axis, behind, **parameters):
    bench.start_all(six_axis, AT_START, **parameters)
    bench.send(behind)
    return wait_for_proposal(bench)


def test_detour_is_proposed_and_taken_when_somebody_says_so(bench, six_axis, judge, start):
    # On this line a joint turns there and back, and no other path is allowed.
    target = shifted(start, y=-0.5)
    paths = listen_to_paths(bench)
    status = proposed(bench, six_axis, target, path='line', max_detour=0.0)
    assert status['reason_code'] == 'awaits_execute'
    assert 'rad beyond the direct way (max_detour 0.00)' in status['reason']
    assert status['reason'].endswith('~/execute takes this path')
    bench.spin_until(lambda: paths, 'the proposal')
    assert np.allclose(paths[-1][[0, -1]], [start[:3, 3], target[:3, 3]], atol=1e-4)
    bench.wait_until_silent()
    assert len(bench.commands) == 0
    assert call(bench, 'execute') == (True, 'setting out if the path is free')
    bench.wait_for_state('REACHED')
    check_arrived(bench, judge, target)
    assert distances_from_chords(tips_of(bench, judge), paths[-1]).max() < ON_THE_PATH


@pytest.mark.long
@pytest.mark.parametrize(
    ('confirm', 'asks_for_line', 'asks_for_other'),
    [
        ('never', False, False),
        ('leaving_line', False, True),
        ('always', True, True),
    ],
)
def test_paths_are_confirmed_as_that_is_asked_for(
    bench, six_axis, judge, start, behind, confirm, asks_for_line, asks_for_other
):
    bench.start_all(six_axis, AT_START, confirm=confirm)
    for target, asks in ((shifted(start, y=0.005), asks_for_line), (behind, asks_for_other)):
        if len(bench.commands):
            bench.wait_until_silent(reports=15)  # a later target is no stream
        count = len(bench.commands)
        bench.send(target)
        if asks:
            status = wait_for_proposal(bench)
            assert status['reason_code'] == 'awaits_execute'
            assert f'(confirm: {confirm})' in status['reason']
            assert len(bench.commands) == count
            assert call(bench, 'execute')[0]
        bench.spin_until(lambda count=count: len(bench.commands) > count, 'the arm sets out')
        bench.wait_for_state('REACHED')
        check_arrived(bench, judge, target)


@pytest.mark.long
def test_nothing_is_executed_where_nothing_is_proposed(ready, start):
    refused = 'there is no path to execute: '
    success, said = call(ready, 'execute')
    assert not success
    assert said.startswith(refused)
    ready.send(shifted(start, y=0.05))
    ready.wait_for_state('REACHED')
    ready.wait_until_silent()
    count = len(ready.commands)
    success, said = call(ready, 'execute')
    assert not success
    assert said.startswith(refused)
    assert len(ready.commands) == count


def test_proposal_is_void_once_the_arm_was_moved_by_hand(bench, six_axis, behind):
    bench.start_node(confirm='always')
    bench.describe(six_axis)
    puppet = Puppet(bench, AT_START)
    bench.wait_for_state('IDLE')
    bench.send(behind)
    wait_for_proposal(bench)
    puppet.values['elbow'] += 0.2
    bench.wait_for_statuses(3)
    success, said = call(bench, 'execute')
    assert not success
    assert 'moved away' in said
    assert len(bench.commands) == 0
    assert call(bench, 'execute')[0] is False
    assert len(bench.commands) == 0


def test_nothing_is_executed_while_the_arm_is_held(bench, six_axis, behind):
    proposed(bench, six_axis, behind, confirm='always')
    assert call(bench, 'hold')[0]
    assert call(bench, 'execute') == (False, 'told to hold, until ~/resume')
    bench.resume()
    success, said = call(bench, 'execute')
    assert not success
    assert said.startswith('there is no path to execute: ')
    bench.wait_until_silent()
    assert len(bench.commands) == 0


def test_who_listens_later_gets_the_path_and_a_hold_takes_it_away(bench, six_axis, behind):
    proposed(bench, six_axis, behind, confirm='always')
    paths = listen_to_paths(bench)
    bench.spin_until(lambda: paths, 'the path that was planned before')
    assert len(paths[-1]) > 2
    assert np.linalg.norm(paths[-1][-1] - behind[:3, 3]) < 1e-3
    assert call(bench, 'hold')[0]
    bench.spin_until(lambda: len(paths[-1]) == 0, 'no path any more')


# -- streams and repeats


@pytest.mark.long
def test_strict_stream_never_leaves_a_line_that_is_blocked_and_holds_there(
    bench, six_axis, judge, start, behind
):
    bench.start_all(six_axis, AT_START, path='line')
    poses = list(between(start, behind, np.linspace(0.02, 1.0, 50)))
    timer = stream(bench, poses, 0.1)
    bench.spin_until(lambda: int(bench.status['accepted']) >= 55, 'the whole stream')
    status = bench.wait_for_state('HOLDING')
    assert 'targets within stream_timeout are followed by the line alone' in status['reason']
    bench.wait_until_silent()
    timer.cancel()
    tips = tips_of(bench, judge)
    assert distances_from_line(tips, start[:3, 3], behind[:3, 3]).max() < OFF_THE_LINE
    assert np.linalg.norm(tips[-1] - behind[:3, 3]) > 0.5
    check_commands(bench, judge)


def slides_there(bench):
    """Tell whether the arm has slid to its target, and followed no path but lines."""
    bench.wait_for_state('REACHED')
    bench.wait_until_silent()
    moving = [status for status in bench.statuses if status['state'] == 'MOVING']
    slides = any('sliding along' in status['reason'] for status in moving)
    return slides and {status['path'] for status in moving} <= {'', 'line'}


@pytest.mark.long
def test_stream_slides_past_what_blocks_its_line(ready, judge, start, behind):
    poses = list(between(start, behind, np.linspace(0.02, 1.0, 50)))
    timer = stream(ready, poses, 0.1)
    ready.spin_until(lambda: int(ready.status['accepted']) >= 55, 'the whole stream')
    assert slides_there(ready)
    timer.cancel()
    check_arrived(ready, judge, behind)


@pytest.mark.long
def test_target_that_is_repeated_is_no_stream_and_is_reached(ready, judge, behind):
    timer = stream(ready, [behind], 0.1)
    ready.wait_for_state('REACHED')
    timer.cancel()
    check_arrived(ready, judge, behind)


@pytest.mark.long
def test_repeated_target_sets_nothing_in_motion_after_a_hold(ready, judge, start):
    target = shifted(start, y=0.3)
    timer = stream(ready, [target], 0.1)
    ready.wait_for_commands(40)
    assert call(ready, 'hold')[0]
    ready.wait_until_silent()
    ready.spin_until(lambda: call(ready, 'resume')[0], 'the arm may go on')
    count = len(ready.commands)
    ready.wait_for_statuses(20)
    assert len(ready.commands) == count
    timer.cancel()
    ready.wait_until_it_may_set_out()
    ready.send(target)
    ready.wait_for_state('REACHED')
    check_arrived(ready, judge, target)


@pytest.mark.long
def test_second_target_that_comes_at_once_makes_a_stream(ready, judge, start, behind):
    (near,) = between(start, behind, [0.98])
    targets = ready._targets['']
    ready.spin_until(lambda: ready._is_heard(targets), 'somebody listens')
    targets.publish(matrix_message(behind))
    ready.spin_until(lambda: ready.status['accepted'] == '1', 'the first target')
    targets.publish(matrix_message(near))
    ready.wait_for_count('accepted', 2)
    assert slides_there(ready)
    check_arrived(ready, judge, near)


class Stamps:
    """Notes the stamps of the commands of a scene [s]."""

    def __init__(self, scene):
        self.times, check = [], scene.command_judge.check

        def noted(names, stamp, values, sent):
            self.times.append(1e-9 * stamp)
            check(names, stamp, values, sent)

        scene.command_judge.check = noted

    def gaps_since(self, time):
        """Gaps between commands of a motion that are stamped later than a time [s]."""
        gaps = np.diff([stamp for stamp in self.times if stamp > time])
        return gaps[gaps < PAUSE]


@pytest.mark.long
def test_path_that_is_looked_for_on_the_way_delays_no_command(
    domain_id, tmp_path, six_axis, start, behind
):
    """A 500 Hz arm that moves gets another target 2 s later, and looks for a path to it."""
    with a_scene(domain_id, tmp_path, six_axis, command_rate=500.0) as scene:
        stamps = Stamps(scene)
        scene.spin_until(lambda: scene.status['state'] == 'IDLE', 'an arm that is ready')
        scene.publishers['target_pose'].publish(matrix_message(shifted(start, y=0.45)))
        scene.spin_until(lambda: scene.status['state'] == 'MOVING', 'an arm that moves')
        scene.spin_until(
            lambda: stamps.times[-1] - stamps.times[0] > 1.6, 'most of the way is behind it'
        )
        middle = stamps.times[-1]
        before = stamps.gaps_since(0.0)
        scene.publishers['target_pose'].publish(matrix_message(behind))
        scene.spin_until(lambda: scene.status['accepted'] == '2', 'the second target')
        scene.spin_until(lambda: scene.status['state'] == 'REACHED', 'the second target')
        assert scene.judge.errors(behind, scene.arm.q) < (POSITION, ORIENTATION)
        after = stamps.gaps_since(middle)
        scene.check()
    assert len(after) > 1000
    # Half of the gaps are as they were; what other programs delay, they delay before and after.
    assert np.median(after) == pytest.approx(0.002, rel=0.1)
    assert np.quantile(after, 0.99) < max(0.004, 1.5 * np.quantile(before, 0.99))


# -- while it looks

PATIENT, LONGER = 3.0, 40
"""How long the arm waits before it leaves the line [s]; statuses, ten a second, for longer."""


@pytest.fixture
def patient(monkeypatch):
    """Let the arm wait long before it leaves the line, so that it is caught looking."""
    monkeypatch.setattr('fabrik_ros.motion.following.follower.SECOND_TARGET_TIME', PATIENT)


def look(bench, target):
    bench.send(target)
    status = bench.wait_for_state('LOOKING')
    assert status['reason_code'] == 'looking'


def test_hold_ends_looking_and_nothing_begins_after_it(patient, ready, judge, start, behind):
    look(ready, behind)
    assert call(ready, 'hold') == (True, 'holding still')
    assert ready.wait_for_state('HOLDING')['reason'] == 'told to hold, until ~/resume'
    ready.wait_for_statuses(LONGER)
    ready.resume()
    ready.wait_until_silent()
    assert len(ready.commands) == 0
    ready.send(shifted(start, y=0.05))
    ready.wait_for_state('REACHED')
    check_arrived(ready, judge, shifted(start, y=0.05))


@pytest.mark.long
def test_deactivation_ends_looking(patient, ready, behind):
    look(ready, behind)
    assert ready.node.trigger_deactivate() == SUCCESS
    ready.wait_for_statuses(2)
    assert ready.node.trigger_activate() == SUCCESS
    ready.wait_for_state('IDLE')
    ready.wait_for_statuses(LONGER)
    assert ready.status['state'] == 'IDLE'
    assert len(ready.commands) == 0


@pytest.mark.long
def test_lost_states_end_looking_and_the_arm_does_not_set_out_when_they_are_back(
    patient, bench, six_axis, behind
):
    bench.start_node()
    bench.describe(six_axis)
    puppet = Puppet(bench, AT_START)
    bench.wait_for_state('IDLE')
    look(bench, behind)
    puppet.fall_silent()
    status = bench.wait_for_state('HOLDING')
    assert status['reason_code'] == 'state_missing'
    puppet.speak_again()
    bench.wait_for_statuses(LONGER)
    assert len(bench.commands) == 0
    assert bench.refusal(behind).startswith('this target was interrupted')


@pytest.mark.long
def test_arm_moved_by_hand_while_it_looks_stays_where_it_is(patient, bench, six_axis, behind):
    bench.start_node()
    bench.describe(six_axis)
    puppet = Puppet(bench, AT_START)
    bench.wait_for_state('IDLE')
    look(bench, behind)
    puppet.values['elbow'] += 0.3
    assert bench.wait_for_state('HOLDING')['reason_code'] == 'moved_away'
    bench.wait_for_statuses(LONGER)
    assert len(bench.commands) == 0


# -- what is no more


@pytest.mark.long
def test_old_parameter_warns_and_changes_nothing(bench, six_axis, judge, behind, capfd):
    bench.start_all(six_axis, AT_START, allow_reconfiguration=False)
    assert 'allow_reconfiguration is no more' in capfd.readouterr().err
    bench.send(behind)
    bench.wait_for_state('REACHED')
    check_arrived(bench, judge, behind)
