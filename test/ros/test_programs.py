"""Programs of moves over the wire: one message, one result, judged by pinocchio."""

import json
import math

import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed')
pytest.importorskip('pinocchio', reason='pinocchio is the judge')

import itertools

from bench import check_commands, JOINTS, matrix_message, shifted, six_axis_judge, START, values_at
from fabrik_ros.programs import Arc, Joints, Line, Pause, Program
from fabrik_ros.programs.program_file import document_of
from judging import distances_from_line
from nav_msgs.msg import Path
import numpy as np
from std_msgs.msg import String
from std_srvs.srv import Trigger

AT_START = values_at(JOINTS, START)
ON_LINE = 1e-4
"""How far the tip may be from a line [m]."""
SPEED = 0.1


@pytest.fixture(scope='module')
def judge(six_axis):
    return six_axis_judge(six_axis)


@pytest.fixture(scope='module')
def start(judge):
    return judge.pose(START)


@pytest.fixture
def ready(bench, six_axis):
    bench.start_all(six_axis, AT_START)
    return bench


def send(bench, program, name=''):
    """Send a program, or a document that is to be one."""
    document = program if isinstance(program, dict) else document_of(program, name)
    bench._publish('fabrik/program', String(data=json.dumps(document)))


def send_path(bench, poses):
    path = Path(poses=[matrix_message(T, '') for T in poses])
    path.header.frame_id = 'base_link'
    bench._publish('fabrik/target_path', path)


def call(bench, name):
    answer = bench.ask(Trigger, f'fabrik/{name}', Trigger.Request())
    return answer.success, answer.message


def tips_of(bench, judge):
    return np.array([judge.pose(q)[:3, 3] for q in bench.commands.q])


def speeds_of(bench, tips):
    """Speeds of the tip from command to command, by their stamps [m/s]."""
    return np.linalg.norm(np.diff(tips, axis=0), axis=1) / np.diff(bench.commands.times)


def corners(start):
    """Give three corners of a square that begins at the fourth, the start."""
    return shifted(start, y=0.1), shifted(start, y=0.1, z=0.1), shifted(start, z=0.1)


def square(start, **settings):
    return [Line(T, **settings) for T in (*corners(start), start)]


def distances_from_square(tips, start):
    places = [T[:3, 3] for T in (start, *corners(start), start)]
    sides = [distances_from_line(tips, a, b) for a, b in itertools.pairwise(places)]
    return np.min(sides, axis=0)


def test_program_is_driven_as_it_was_sent(ready, judge, start):
    send(ready, Program(square(start, speed=SPEED)), 'a square')
    status = ready.wait_for_state('MOVING')
    assert (status['program'], status['segments']) == ('a square', '4')
    status = ready.wait_for_state('REACHED')
    assert (status['segment'], float(status['progress'])) == ('4', 1.0)
    check_commands(ready, judge)
    tips = tips_of(ready, judge)
    assert distances_from_square(tips, start).max() < ON_LINE
    for T in corners(start):
        assert np.linalg.norm(tips - T[:3, 3], axis=1).min() < ON_LINE
    speeds = speeds_of(ready, tips)
    assert speeds.max() < 1.01 * SPEED
    assert np.median(speeds[speeds > 0.0]) == pytest.approx(SPEED, rel=0.01)


def test_blends_stay_within_their_radius(ready, judge, start):
    radius = 0.02
    send(ready, Program([*square(start, speed=SPEED, blend=radius)[:3], Line(start)]))
    ready.wait_for_state('REACHED')
    check_commands(ready, judge)
    tips = tips_of(ready, judge)
    waypoints = np.array([T[:3, 3] for T in corners(start)])
    near = np.linalg.norm(tips[:, None] - waypoints, axis=2).min(axis=1)
    off = distances_from_square(tips, start)
    assert off[near > radius].max() < ON_LINE
    assert np.all(np.linalg.norm(tips[:, None] - waypoints, axis=2).min(axis=0) > 1e-3)
    passed = (near < radius) & (np.arange(len(tips)) > 20)
    speeds = speeds_of(ready, tips)
    assert speeds[passed[1:]].min() > 0.5 * SPEED, 'it does not stop'


def test_target_path_goes_through_its_poses(bench, six_axis, judge, start):
    bench.start_all(six_axis, AT_START, blend_radius=0.03, tip_speed=SPEED)
    send_path(bench, [*corners(start), start])
    status = bench.wait_for_state('REACHED')
    assert status['segments'] == '4'
    check_commands(bench, judge)
    tips = tips_of(bench, judge)
    waypoints = np.array([T[:3, 3] for T in corners(start)])
    near = np.linalg.norm(tips[:, None] - waypoints, axis=2)
    assert near.min(axis=0).max() < 0.03
    assert distances_from_square(tips, start)[near.min(axis=1) > 0.03].max() < ON_LINE


STEP = 0.03
"""[m]."""


def send_step(bench):
    segment = {'line': {'xyz': [0.0, 0.0, -STEP], 'rpy': [0.0, 0.0, 0.0]}}
    send(bench, {'frame': 'tool0', 'segments': [segment]})


def send_step_as_path(bench):
    T = np.eye(4)
    T[2, 3] = -STEP
    bench._publish('fabrik/target_path', Path(poses=[matrix_message(T, 'tool0')]))


@pytest.mark.parametrize('send_again', [send_step, send_step_as_path])
def test_steps_of_the_tool_that_are_said_again_are_repeats_and_later_new_ones(
    ready, judge, start, send_again
):
    for _ in range(20):
        send_again(ready)
        ready.wait_for_statuses(1)
    ready.wait_for_state('REACHED')
    moved = [np.linalg.norm(tips_of(ready, judge)[-1] - start[:3, 3])]
    ready.wait_for_statuses(15)
    send_again(ready)
    ready.wait_for_commands(1)
    ready.wait_for_state('REACHED')
    moved.append(np.linalg.norm(tips_of(ready, judge)[-1] - start[:3, 3]))
    assert moved == pytest.approx([STEP, 2.0 * STEP], abs=1e-4)


def test_step_that_is_said_again_after_something_else_begins_where_the_tool_is(
    ready, judge, start
):
    send_step(ready)
    ready.wait_for_state('REACHED')
    ready.send(matrix_message(shifted(start, y=0.15)))
    ready.spin_until(lambda: tips_of(ready, judge)[-1][1] > start[1, 3] + 0.05, 'a third of it')
    place = tips_of(ready, judge)[-1]
    send_step(ready)
    ready.wait_for_state('REACHED')
    went = np.linalg.norm(tips_of(ready, judge)[-1] - place)
    assert went == pytest.approx(STEP, abs=0.01), 'it does not go back'


@pytest.mark.parametrize(
    ('document', 'words'),
    [
        ({'segments': [{'lin': {'xyz': [0, 0, 0]}}]}, "segment 1 has the unknown key 'lin'"),
        ({'segments': [{'pause': 1.0}, {'joints': 'nowhere'}]}, 'segment 2 (joints): no config'),
        ({'segments': [{'joints': {'shoulder_pan_jiont': 0.1}}]}, "no joint 'shoulder_pan_jiont'"),
        (
            {'segments': [{'line': {'xyz': [0.4, 0, 0.4]}, 'frame': 'moon'}]},
            "segment 1: frame 'moon",
        ),
        ({'segments': [{'line': {'xyz': [0.4, 0, 0.4]}, 'speed': -1}]}, 'speed must be positive'),
        ({'segments': []}, 'a program has no segments'),
    ],
)
def test_program_that_makes_no_sense_is_refused_and_says_where(ready, document, words):
    refused = int(ready.status['refused'])
    send(ready, document)
    status = ready.wait_for_count('refused', refused + 1)
    assert words in status['last_refusal']
    assert len(ready.commands) == 0


def test_program_that_leads_out_of_reach_moves_nothing_and_names_the_segment(ready, start):
    send(ready, Program([Line(shifted(start, y=0.1)), Line(shifted(start, x=3.0))]))
    status = ready.wait_for_state('HOLDING')
    assert status['reason'].startswith('segment 2 (line): ')
    ready.wait_until_silent()
    assert len(ready.commands) == 0


def test_rest_of_a_held_program_is_taken_up_by_execute(ready, judge, start):
    arc = Arc(shifted(start, y=0.05, x=-0.05)[:3, 3], shifted(start, y=0.1), speed=SPEED)
    send(ready, Program([arc, Line(shifted(start, y=0.1, z=-0.1), speed=SPEED)]))
    ready.spin_until(lambda: float(ready.status.get('progress', 0.0)) > 0.2, 'it is on the arc')
    assert call(ready, 'hold')[0]
    ready.wait_until_silent()
    count = len(ready.commands)
    assert call(ready, 'resume')[0]
    ready.wait_for_statuses(2)
    assert ready.status['state'] == 'IDLE'
    assert ready.status['reason'] == 'segments 1 to 2 of the program are left: ~/execute'
    assert len(ready.commands) == count
    assert call(ready, 'execute')[0]
    status = ready.wait_for_state('REACHED')
    assert (status['segment'], status['segments']) == ('2', '2')
    check_commands(ready, judge)
    tips = tips_of(ready, judge)
    on_arc = tips[: int(np.argmax(np.linalg.norm(tips - start[:3, 3], axis=1) > 0.0999))]
    centre = shifted(start, y=0.05)[:3, 3]
    assert np.abs(np.linalg.norm(on_arc - centre, axis=1) - 0.05).max() < 1e-3
    end = shifted(start, y=0.1, z=-0.1)
    assert judge.errors(end, ready.commands.q[-1]) < (ON_LINE, 1e-3)


def test_pause_and_speed_scaling_of_zero_interrupt_nothing(ready, judge, start):
    send(ready, Program([Line(shifted(start, y=0.1), speed=SPEED), Pause(0.5), Line(start)]))
    ready.spin_until(lambda: float(ready.status.get('progress', 0.0)) > 0.1, 'it moves')
    assert ready.set(speed_scaling=0.0) == []
    ready.spin_until(lambda: 'paused' in ready.status['reason'], 'it pauses')
    ready.wait_for_statuses(5)
    assert ready.set(speed_scaling=1.0) == []
    ready.wait_for_state('REACHED')
    check_commands(ready, judge)
    tips, times = tips_of(ready, judge), ready.commands.times
    there = np.linalg.norm(tips - shifted(start, y=0.1)[:3, 3], axis=1) < 1e-6
    assert np.ptp(times[there]) == pytest.approx(0.5, abs=0.05)
    assert distances_from_line(tips, start[:3, 3], shifted(start, y=0.1)[:3, 3]).max() < ON_LINE


def test_target_supersedes_a_program(ready, judge, start):
    send(ready, Program(square(start, speed=SPEED)), 'first')
    ready.spin_until(lambda: float(ready.status.get('progress', 0.0)) > 0.1, 'it moves')
    target = shifted(start, y=-0.1)
    ready.send(target)
    status = ready.wait_for_state('REACHED')
    assert 'program' not in status
    check_commands(ready, judge)
    assert judge.errors(target, ready.commands.q[-1]) < (ON_LINE, 1e-3)


def test_named_configurations_and_joints_by_name_are_segments(bench, six_axis, judge):
    bench.start_all(six_axis, AT_START, **{'configurations.bent': list(START)})
    first = JOINTS[0]
    send(bench, Program([Joints({first: START[0] + 0.3}, blend=0.02), Joints('bent')]))
    bench.wait_for_state('REACHED')
    check_commands(bench, judge)
    q = bench.commands.q
    assert q[:, 0].max() > START[0] + 0.25
    assert np.allclose(q[-1], START, atol=1e-9)
    assert math.isclose(q[:, 1:].min(), min(START[1:]), abs_tol=1e-6)
