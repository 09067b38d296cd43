"""Programs in the library: driven as they are written, or refused before anything moves."""

import math

import numpy as np
import pytest

pytest.importorskip('pinocchio', reason='pinocchio is the judge')

from fabrik_ros import FollowerOptions, plan, plan_program, ReasonKind
from fabrik_ros.errors import JointValueError, ProgramError, TargetError
from fabrik_ros.programs import Arc, Joints, Line, Move, Pause, Program
from fabrik_ros.programs.rest import course_of, rest_of
from helpers import examples, mostly_long
from program_judge import AVERAGED, follows_to, judged_program
from random_programs import random_program
from solving import judged

ARMS = ('six_axis', 'ur5', 'panda', 'xarm7', 'jaco', 'z1', 'tiago')
OPTIONS = FollowerOptions()


def start_of(judge, chain, rng):
    q = judge.random_configuration(rng, 0.3)
    return q[[judge.joint_names.index(name) for name in chain.joint_names]]


@pytest.fixture(scope='module')
def arm():
    chain, judge = judged('six_axis')
    q = np.array([0.0, -1.3, 1.6, -1.9, -1.57, 0.0])
    return chain, judge, q, judge.pose(q)


def shifted(T, x=0.0, y=0.0, z=0.0):
    moved = np.array(T)
    moved[:3, 3] += [x, y, z]
    return moved


@pytest.mark.parametrize('name', mostly_long(ARMS, 'six_axis', 'panda'))
def test_random_programs_are_driven_as_they_are_written(name):
    chain, judge = judged(name)
    limits = OPTIONS.limits_for(chain)
    rng, driven, steady = np.random.default_rng(7), 0, 0.0
    for _ in range(examples(10, 50)):
        q = start_of(judge, chain, rng)
        program = random_program(rng, chain, q, int(rng.integers(3, 13)))
        result = plan(chain, q, program)
        if not result:
            assert result.reason.text.startswith(f'segment {result.segment + 1} (')
            if len(chain) == 6:  # spare joints may get on by another choice
                there = follows_to(judge, program, q, chain.joint_names)
                assert there <= result.segment, result.reason
            continue
        found = judged_program(judge, program, result, limits)
        assert not found.wrong, found.wrong[:5]
        driven, steady = driven + 1, steady + found.steady
    assert driven > 0
    assert steady > 0.0


@pytest.mark.parametrize('name', mostly_long(ARMS, 'six_axis'))
def test_random_programs_with_limited_jerk_are_driven_nearly_as_they_are_written(name):
    pytest.importorskip('ruckig', reason='ruckig limits the jerk')
    chain, judge = judged(name)
    options, driven = FollowerOptions(max_joint_jerk=60.0), 0
    rng = np.random.default_rng(6)
    for _ in range(examples(8, 30)):
        q = start_of(judge, chain, rng)
        program = random_program(rng, chain, q, int(rng.integers(3, 13)))
        result = plan_program(chain, q, program, motion=options)
        if not result:
            continue
        assert AVERAGED.position <= result.position_error, 'it is said beforehand'
        found = judged_program(judge, program, result, options.limits_for(chain), slack=AVERAGED)
        assert not found.wrong, found.wrong[:5]
        driven += 1
    assert driven > 0


def test_waypoints_without_a_blend_are_reached_exactly(arm):
    chain, judge, q, T = arm
    corner = shifted(T, y=0.1)
    result = plan(chain, q, Program([Line(corner), Line(shifted(T, y=0.1, z=0.1))]))
    tips = np.array([judge.pose(row) for row in result.q])
    distances = np.linalg.norm(tips[:, :3, 3] - corner[:3, 3], axis=1)
    i = int(np.argmin(distances))
    assert distances[i] < 1e-8
    assert np.abs(result.q[i + 1] - result.q[i]).max() < 1e-3, 'it rests there'


def test_full_circle_comes_back_to_its_beginning(arm):
    chain, judge, q, T = arm
    circle = Arc(shifted(T, x=-0.05, y=0.05)[:3, 3], shifted(T, y=0.1), 2.0 * math.pi, speed=0.1)
    result = plan(chain, q, Program([circle]))
    tips = np.array([judge.pose(row)[:3, 3] for row in result.q])
    centre = shifted(T, y=0.05)[:3, 3]
    assert np.abs(np.linalg.norm(tips - centre, axis=1) - 0.05).max() < 1e-4
    assert np.linalg.norm(tips[-1] - tips[0]) < 1e-6
    length = np.linalg.norm(np.diff(tips, axis=0), axis=1).sum()
    assert length == pytest.approx(2.0 * math.pi * 0.05, rel=1e-3)


def test_other_configuration_is_taken_where_the_first_cannot_follow():
    chain, judge = judged('ur5')
    rng, found = np.random.default_rng(2), 0
    for _ in range(60):
        q = start_of(judge, chain, rng)
        T = judge.pose(q)
        goal = shifted(T, *rng.uniform(-0.3, 0.3, 3))
        program = Program([Line(goal)])
        result = plan(chain, q, program)
        if result and 'goes to another configuration first' in result.remarks:
            first = result.q[result.segments == 0][0]
            assert follows_to(judge, program, q, chain.joint_names) == 0, 'not from the first one'
            assert np.linalg.norm((judge.pose(first) - T)[:3, 3]) < 1e-3
            assert np.abs(first - q).max() > 0.5
            assert not judged_program(judge, program, result, OPTIONS.limits_for(chain)).wrong
            found += 1
    assert found > 0


def test_pause_takes_its_time_and_names_its_segment(arm):
    chain, _, q, T = arm
    result = plan(chain, q, Program([Line(shifted(T, y=0.05)), Pause(0.5), Line(T)]))
    pausing = result.times[result.segments == 1]
    assert np.ptp(pausing) == pytest.approx(0.5, abs=0.03)
    assert result.segment_at(float(pausing[len(pausing) // 2])) == 1
    assert list(dict.fromkeys(result.segments.tolist())) == [0, 1, 2]


def test_slow_parts_are_told_where_joints_are_the_limit(arm):
    chain, _, q, T = arm
    fast = Program([Line(shifted(T, y=0.2), speed=5.0)])
    result = plan_program(chain, q, fast, motion=FollowerOptions(max_tip_speed=5.0))
    whole = sum(end - begin for begin, end in result.slow)
    assert whole > 0.9 * result.duration, 'joints never let it go at 5 m/s'
    calm = plan(chain, q, Program([Line(shifted(T, y=0.2), speed=0.05)]))
    whole = sum(end - begin for begin, end in calm.slow)
    assert whole < 0.1 * calm.duration


def test_speed_that_the_arm_may_not_have_is_told(arm):
    chain, _, q, T = arm
    result = plan(chain, q, Program([Line(shifted(T, y=0.2), speed=1.0)]))
    assert result.remarks == ('segment 1: 0.25 m/s instead of 1',)


@pytest.mark.parametrize('share', [0.5, 0.1])
def test_share_slows_tip_and_joints(arm, share):
    chain, _, q, T = arm
    for segment in (Line, Move):
        whole = plan(chain, q, Program([segment(shifted(T, y=0.3))]))
        part = plan(chain, q, Program([segment(shifted(T, y=0.3), share=share)]))
        assert part.duration > 0.8 * whole.duration / share


def test_line_out_of_reach_is_refused_with_segment_and_place(arm):
    chain, _, q, T = arm
    result = plan(chain, q, Program([Line(shifted(T, y=0.1)), Line(shifted(T, x=2.0))]))
    assert not result
    assert (result.segment, result.reason.kind) == (1, ReasonKind.PATH_BLOCKED)
    assert result.reason.text.startswith('segment 2 (line): ')
    assert result.reason.place is not None
    with pytest.raises(ValueError, match='no way through the program was found: segment 2'):
        result.at(0.0)


@pytest.mark.parametrize(
    ('segments', 'words'),
    [
        ([Arc([0.5, 0.0, 0.3], np.eye(4)), Joints([9.0] * 6)], 'segment 2 (joints): '),
        ([Joints({'shoulder_pna': 0.1})], "segment 1 (joints): no joint 'shoulder_pna'"),
    ],
)
def test_segment_that_makes_no_sense_for_the_arm_is_named(arm, segments, words):
    chain, _, q, T = arm
    segments = [Line(shifted(T, y=0.01)) if isinstance(s, Arc) else s for s in segments]
    result = plan(chain, q, Program(segments))
    assert not result
    assert result.reason.kind is ReasonKind.BAD_REQUEST
    assert words in result.reason.text


def test_points_that_make_no_circle_are_refused(arm):
    chain, _, q, T = arm
    in_line = Arc(shifted(T, y=0.05)[:3, 3], shifted(T, y=0.1))
    result = plan(chain, q, Program([in_line]))
    assert result.reason.text.startswith('segment 1 (arc): its points lie on a line')
    same = Arc(shifted(T, y=0.05)[:3, 3], T)
    result = plan(chain, q, Program([same]))
    assert 'two of its points are the same' in result.reason.text


@pytest.mark.parametrize(
    ('make', 'error', 'words'),
    [
        (lambda: Line(np.eye(4), speed=0.0), ProgramError, 'line: speed must be positive, got 0'),
        (lambda: Line(np.eye(4), share=1.5), ProgramError, 'share must be above 0 and at most 1'),
        (lambda: Line(np.eye(4), blend=-1.0), ProgramError, 'blend must be 0 or more, got -1'),
        (lambda: Line(np.ones((4, 4))), TargetError, 'not a pose'),
        (lambda: Line('there'), ProgramError, 'line: pose is no array of numbers'),
        (lambda: Arc([0, 0], np.eye(4)), ProgramError, 'arc: via must be three finite numbers'),
        (lambda: Pause(-1.0), ProgramError, 'pause: seconds must be 0 or more, got -1'),
        (lambda: Program([]), ProgramError, 'a program has no segments'),
        (lambda: Program([np.eye(4)]), ProgramError, 'segment 1 must be a Line, Arc, Move'),
    ],
)
def test_what_makes_no_sense_is_refused_when_it_is_made(make, error, words):
    with pytest.raises(error, match=words):
        make()


def test_names_are_found_among_the_configurations(arm):
    chain, _, q, _ = arm
    result = plan_program(chain, q, Program([Joints('bent')]), configurations={'bent': q + 0.1})
    assert np.allclose(result.q[-1], q + 0.1, atol=1e-9)
    with pytest.raises(TargetError, match=r"segment 1 \(joints\): no configuration named 'bnt'"):
        plan_program(chain, q, Program([Joints('bnt')]), configurations={'bent': q})
    with pytest.raises(JointValueError):
        plan_program(chain, q, Program([Joints('bent')]), configurations={'bent': [0.0]})
    with pytest.raises(JointValueError, match='the start has'):
        plan_program(chain, np.degrees(chain.upper), Program([Joints(q)]))


@pytest.mark.parametrize('kind', ['line', 'arc', 'move', 'joints', 'gentle line'])
@pytest.mark.parametrize('seconds', [1.5, 5.0])
def test_segment_takes_as_long_as_it_is_asked_to(arm, kind, seconds):
    chain, _, q, T = arm
    end, via = shifted(T, y=0.1), shifted(T, x=-0.05, y=0.05)[:3, 3]
    segment = {
        'line': Line(end, duration=seconds),
        'gentle line': Line(end, duration=seconds, acceleration=0.3),
        'arc': Arc(via, end, duration=seconds),
        'move': Move(end, duration=seconds),
        'joints': Joints(np.add(q, [0.4, 0.1, -0.1, 0.0, 0.2, 0.3]), duration=seconds),
    }[kind]
    result = plan(chain, q, Program([segment]))
    assert result.duration == pytest.approx(seconds, rel=0.02)
    assert not result.remarks


def test_durations_of_blended_segments_add_up(arm):
    chain, _, q, T = arm
    corner, end = shifted(T, y=0.1), shifted(T, y=0.1, z=0.1)
    program = Program([Line(corner, duration=2.0, blend=0.02), Line(end, duration=1.0)])
    result = plan(chain, q, program)
    assert result.duration == pytest.approx(3.0, rel=0.02)


@pytest.mark.parametrize('kind', ['line', 'joints'])
def test_duration_that_is_too_short_is_told_of(arm, kind):
    chain, _, q, T = arm
    segment = {
        'line': Line(shifted(T, y=0.2), duration=0.1),
        'joints': Joints(np.add(q, [0.8, 0.1, -0.1, 0.0, 0.2, 0.3]), duration=0.1),
    }[kind]
    result = plan(chain, q, Program([segment]))
    (remark,) = result.remarks
    assert remark.endswith(' s instead of 0.1 s')
    told = float(remark.split()[2])
    assert result.duration == pytest.approx(told, rel=0.05)


@pytest.mark.parametrize('segment', [Line(np.eye(4), duration=4.0), Joints('home', duration=4.0)])
def test_what_is_left_of_a_segment_has_what_is_left_of_its_duration(segment):
    program = Program([Line(np.eye(4)), segment, Line(np.eye(4), duration=2.0)])
    rest, _ = rest_of(program, 1, 0.25, np.eye(4), np.eye(4))
    assert [step.duration for step in rest.steps] == [3.0, 2.0]


def test_what_is_left_of_an_arc_has_what_is_left_of_its_duration(arm):
    *_, T = arm
    arc = Arc(shifted(T, x=-0.05, y=0.05)[:3, 3], shifted(T, y=0.1), duration=4.0)
    half_way = shifted(T, x=-0.05, y=0.05)
    back, rest = rest_of(Program([arc]), 0, 0.5, T, half_way)[0].steps
    assert rest.duration == pytest.approx(2.0, rel=1e-3)
    assert back.speed == pytest.approx(np.pi * 0.05 / 4.0), 'no faster than on the arc'
    later = course_of(T, rest).pose(0.5)
    last = rest_of(Program([rest]), 0, 0.5, T, later)[0].steps[-1]
    assert last.duration == pytest.approx(1.0, rel=1e-2)
