"""Laws of programs in an `ArmFollower`: whatever interrupts them, limits and courses are kept."""

from dataclasses import replace

import pytest

pytest.importorskip('pinocchio', reason='pinocchio is the judge')

from fabrik_ros import (
    ArmFollower,
    example_arm,
    FollowerOptions,
    load_urdf,
    plan,
    plan_program,
    ReasonKind,
    State,
)
from fabrik_ros.collision import Obstacle, Scene
from fabrik_ros.errors import ProgramError
from fabrik_ros.model.geometry import Box
from fabrik_ros.programs import Arc, Joints, Line, Move, Pause, Program
from helpers import examples
from hypothesis import example, given, settings, strategies as st
import numpy as np
from random_programs import random_program
from solving import judged

DT, LONGEST = 0.01, 6000
OPTIONS = FollowerOptions()


class Drive:
    """An arm that follows exactly, and what it was sent."""

    def __init__(self, name, q, options=OPTIONS):
        self.chain, self.judge = judged(name)
        self.follower = ArmFollower(self.chain, options)
        self.q = [np.array(q)]

    def step(self, target=None):
        self.q.append(self.follower.step(target, DT, measured=self.q[-1]))

    def go(self, steps):
        for _ in range(steps):
            self.step()

    def until(self, *states):
        for _ in range(LONGEST):
            if self.follower.state in states:
                return
            self.step()
        pytest.fail(f'still {self.follower}')

    def check(self):
        limits, q = OPTIONS.limits_for(self.chain), np.array(self.q)
        velocity = np.diff(q, axis=0) / DT
        assert np.max(np.abs(velocity) / limits.joint_velocity) < 1.0 + 1e-6
        acceleration = np.diff(velocity, axis=0) / DT
        assert np.max(np.abs(acceleration) / limits.joint_acceleration) < 1.0 + 1e-6
        assert np.all(q >= self.chain.lower - 1e-9)
        assert np.all(q <= self.chain.upper + 1e-9)


@pytest.fixture
def square():
    judge = judged('six_axis')[1]
    q = np.array([0.0, -1.3, 1.6, -1.9, -1.57, 0.0])
    corners = [judge.pose(q) for _ in range(3)]
    for T, (y, z) in zip(corners, ((0.1, 0.0), (0.1, 0.1), (0.0, 0.1)), strict=True):
        T[:3, 3] += [0.0, y, z]
    lines = [Line(T, speed=0.1) for T in (*corners, judge.pose(q))]
    return Drive('six_axis', q), Program(lines)


@settings(max_examples=examples(12, 100), deadline=None)
@given(st.integers(0, 10_000), st.lists(st.integers(1, 150), min_size=1, max_size=3))
@example(1636, [136, 105, 35])  # on its way to another configuration, before an arc
def test_held_programs_end_where_they_would_have_and_keep_the_limits(seed, pauses):
    chain, judge = judged('ur5')
    rng = np.random.default_rng(seed)
    q = judge.random_configuration(rng, 0.3)
    program = random_program(rng, chain, q, 5)
    whole = plan(chain, q, program)
    if not whole:
        return
    drive = Drive('ur5', q)
    drive.step(program)
    for steps in pauses:
        drive.go(steps)
        if drive.follower.state is State.REACHED:
            break
        drive.follower.hold()
        drive.go(80)
        assert np.array_equal(drive.q[-1], drive.q[-20]), 'it rests'
        drive.follower.resume()
        drive.step()
        drive.follower.execute()
    drive.until(State.REACHED, State.HOLDING)
    drive.check()
    if drive.follower.state is State.REACHED:
        here, there = judge.pose(drive.q[-1]), judge.pose(whole.q[-1])
        assert np.allclose(here, there, atol=1e-4)


def test_plan_is_what_the_follower_drives(square):
    drive, program = square
    whole = plan(drive.chain, drive.q[0], program)
    drive.step(program)
    drive.until(State.REACHED)
    drive.check()
    moving = np.array(
        [q for q, before in zip(drive.q[1:], drive.q, strict=False) if q is not before]
    )
    for row in whole.q[::10]:
        assert np.abs(moving - row).max(axis=1).min() < 2e-3


def test_speed_scaling_of_zero_pauses_a_program_and_its_pauses(square):
    drive, program = square
    drive.step(Program([*program.steps[:1], Pause(0.5), *program.steps[1:2]]))
    drive.go(50)
    drive.follower._motion.scale_speed(0.0)
    drive.go(100)
    stands = drive.q[-1]
    drive.go(100)
    assert np.array_equal(stands, drive.q[-1])
    drive.follower._motion.scale_speed(1.0)
    drive.until(State.REACHED)
    drive.check()


@pytest.mark.parametrize('share', [0.5, 0.1])
def test_program_that_sets_out_gently_stops_as_soon_as_any(square, share):
    drive, lines = square
    there = drive.q[0] + np.array([1.5, 0.0, 0.5, 0.0, 0.0, -2.0])
    program = Program(
        [Joints(there, acceleration=share)]
        + [replace(line, speed=None, acceleration=share) for line in lines.steps]
    )
    for steps in (50, 120, 200, 400, 600):
        arm = Drive('six_axis', drive.q[0])
        arm.step(program)
        arm.go(steps)
        while np.all(arm.q[-1] == arm.q[-2]):  # between two moves
            arm.go(1)
        arm.follower.hold()
        arm.go(round(0.5 / DT) + 1)
        arm.step()
        assert np.array_equal(arm.q[-1], arm.q[-2])
        arm.check()


def test_other_targets_end_what_was_left_of_a_program(square):
    drive, program = square
    drive.step(program)
    drive.go(60)
    drive.follower.hold()
    drive.go(60)
    drive.follower.resume()
    drive.step()
    assert drive.follower.reason.kind is ReasonKind.AWAITS_EXECUTE
    drive.step({drive.chain.joint_names[0]: 0.1})
    drive.until(State.REACHED)
    drive.follower.resume()
    drive.step()
    assert drive.follower.reason is None


def test_arm_moved_by_hand_goes_on_with_the_rest_from_where_it_is(square):
    drive, program = square
    drive.step(program)
    drive.go(60)
    drive.follower.hold()
    drive.go(60)
    drive.follower.resume()
    drive.q.append(drive.q[-1] + 0.02)
    drive.go(60)
    before = len(drive.q)
    drive.follower.execute()
    drive.until(State.REACHED)
    first = drive.q[before]
    assert np.abs(first - drive.q[before - 1]).max() < 2e-3, 'no leap'
    end = drive.judge.pose(drive.q[-1])
    assert np.allclose(end, np.asarray(program.steps[-1].pose), atol=1e-4)


def test_proposed_program_waits_for_execute(square):
    drive, program = square
    drive = Drive('six_axis', drive.q[0], FollowerOptions(confirm='always'))
    drive.step(program)
    drive.until(State.HOLDING)
    assert drive.follower.reason.kind is ReasonKind.AWAITS_EXECUTE
    drive.go(50)
    assert np.array_equal(drive.q[0], drive.q[-1])
    drive.follower.execute()
    drive.until(State.REACHED)
    drive.check()


def test_arc_that_makes_no_circle_is_refused_at_once(square):
    drive, _ = square
    T = drive.judge.pose(drive.q[0])
    drive.step()
    drive.step(Program([Arc(T[:3, 3], T)]))
    assert drive.follower.refusal.text.startswith(
        'segment 1 (arc): two of its points are the same'
    )
    assert drive.follower.state is State.IDLE


@pytest.mark.parametrize('on_blocked', ['hold', 'replan'])
def test_obstacle_on_the_way_stops_a_program_and_its_rest_is_driven_later(square, on_blocked):
    pytest.importorskip('coal', reason='coal measures the distances')
    drive, program = square
    robot, options = load_urdf(example_arm('six_axis')), FollowerOptions(on_blocked=on_blocked)
    drive.follower = ArmFollower(drive.chain, options, robot=robot, scene=Scene())
    drive.step(program)
    drive.go(20)
    place = np.eye(4)
    place[:3, 3] = np.asarray(program.steps[1].pose)[:3, 3]
    drive.follower.set_scene(Scene([Obstacle('block', Box((0.05, 0.05, 0.05)), place)]))
    drive.until(State.HOLDING)
    drive.go(100)
    assert 'block' in drive.follower.reason.text
    stands = drive.judge.pose(drive.q[-1])[:3, 3]
    assert np.linalg.norm(stands - place[:3, 3]) > 0.02
    drive.follower.set_scene(Scene())
    if on_blocked == 'hold':
        drive.follower.resume()
    drive.go(20)
    if drive.follower.state is State.IDLE:
        drive.follower.execute()
    drive.until(State.REACHED)
    drive.check()
    tips = np.array([drive.judge.pose(q)[:3, 3] for q in drive.q])
    corner = np.asarray(program.steps[1].pose)[:3, 3]
    assert np.linalg.norm(tips - corner, axis=1).min() < 1e-4, 'it passed the corner later'


@pytest.mark.parametrize('angle', [None, 6.0])
def test_arc_that_is_held_anywhere_stays_the_same_arc(square, angle):
    drive, _ = square
    start = drive.q[0]
    T = drive.judge.pose(start)
    via, end = np.array(T), np.array(T)
    via[:3, 3] += [-0.05, 0.05, 0.0]
    end[:3, 3] += [0.0, 0.1, 0.0]
    centre = T[:3, 3] + [0.0, 0.05, 0.0]
    program = Program([Arc(via[:3, 3], end, angle)])
    whole = plan(drive.chain, start, program)
    for steps in range(1, len(whole.q) - 1, examples(9, 1)):
        drive = Drive('six_axis', start)
        drive.step(program)
        drive.go(steps)
        drive.follower.hold()
        drive.go(60)
        drive.follower.resume()
        drive.step()
        drive.follower.execute()
        drive.until(State.REACHED, State.HOLDING)
        assert drive.follower.state is State.REACHED, (steps, drive.follower.reason)
        drive.check()
        tips = np.array([drive.judge.pose(q)[:3, 3] for q in drive.q])
        assert np.abs(np.linalg.norm(tips - centre, axis=1) - 0.05).max() < 2e-4, steps
        assert np.allclose(drive.judge.pose(drive.q[-1]), drive.judge.pose(whole.q[-1]), atol=1e-4)


def test_program_to_where_the_arm_is_has_arrived(square):
    drive, _ = square
    T = drive.judge.pose(drive.q[0])
    for segment in (Line(T), Move(T), Joints(drive.q[0])):
        assert plan(drive.chain, drive.q[0], Program([segment])).duration < 0.1
        drive.step(Program([segment]))
        drive.until(State.REACHED)
        drive.go(150)
    assert np.allclose(drive.q[-1], drive.q[0], atol=1e-9)


def test_blend_that_is_next_to_nothing_is_a_stop(square):
    drive, program = square
    lines = [Line(line.pose, speed=0.1, blend=3e-5) for line in program.steps]
    result = plan(drive.chain, drive.q[0], Program(lines))
    assert len(result.remarks) == len(lines) - 1
    assert all('the arm stops there' in remark for remark in result.remarks)


def test_program_that_is_repeated_runs_through_once(square):
    drive, program = square
    for i in range(900):
        drive.step(program if i % 100 == 0 else None)
    drive.until(State.REACHED)
    drive.check()
    tips = np.array([drive.judge.pose(q)[:3, 3] for q in drive.q])
    length = np.linalg.norm(np.diff(tips, axis=0), axis=1).sum()
    assert length == pytest.approx(0.4, rel=0.01), 'one square'


def test_program_that_a_fault_interrupted_waits_for_resume(square):
    drive, program = square
    drive.step(program)
    drive.go(60)
    for _ in range(100):  # nothing is measured
        drive.q.append(drive.follower.step(None, DT))
    drive.until(State.HOLDING)
    drive.go(150)
    drive.step(program)
    assert drive.follower.refusal.kind is ReasonKind.WAS_INTERRUPTED
    drive.follower.resume()
    drive.go(150)
    drive.step(program)
    assert drive.follower.refusal is None
    drive.until(State.REACHED)


def test_program_needs_no_repetition_after_execute(square):
    drive, program = square
    drive = Drive('six_axis', drive.q[0], FollowerOptions(confirm='always', target_timeout=0.5))
    drive.step(program)
    drive.until(State.HOLDING)
    drive.follower.execute()
    drive.until(State.REACHED)


@pytest.mark.parametrize('jerk', [60.0, 10000.0])
def test_program_with_limited_jerk_arrives(jerk):
    """With the greater one commands are the average over less than a period."""
    pytest.importorskip('ruckig', reason='ruckig limits the jerk')
    chain, judge = judged('seven_axis')
    rng = np.random.default_rng(520)
    q = judge.random_configuration(rng, 0.3)
    program = random_program(rng, chain, q, 5)
    result = plan_program(chain, q, program, motion=FollowerOptions(max_joint_jerk=jerk))
    assert result, 'a joint turns back at its limit there'
    assert np.allclose(
        judge.pose(result.q[-1]), judge.pose(plan(chain, q, program).q[-1]), atol=1e-4
    )


def test_plan_of_a_program_can_be_cancelled_and_has_an_end(square):
    drive, program = square
    slow = Program([Line(line.pose, speed=1e-5) for line in program.steps])
    cancelled = plan(drive.chain, drive.q[0], slow, should_stop=lambda: True)
    assert cancelled.reason.kind is ReasonKind.CANCELLED
    endless = plan(drive.chain, drive.q[0], Program([Pause(1e5)]))
    assert 'more than 3600 s' in endless.reason.text
    with pytest.raises(ProgramError, match='speed_scaling is 0'):
        plan_program(drive.chain, drive.q[0], program, motion=FollowerOptions(speed_scaling=0.0))
