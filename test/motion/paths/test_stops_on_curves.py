"""
Laws of stops on planned paths: on the curve, in time, within all limits, as was told before.

The judge of commands counts what is faster or harder than allowed; pinocchio tells where tip and
joint centres are.

"""

from command_judge import accelerations, Bounds, CommandJudge, velocities
from drawing import random_numbers
from fabrik_ros.kernels._jit import COMPILED
from fabrik_ros.motion.limits.limits import MotionLimits
from helpers import examples, stopped
from hypothesis import given, settings, strategies as st
import numpy as np
import pytest

pytest.importorskip('pinocchio', reason='pinocchio is the judge')

from knotted_paths import DT, farthest_off, MAKERS, motion_along, OFF_CURVE

EXAMPLES = examples(9, 20) if COMPILED else 3
LONGEST_STOP = 0.5
"""[s]."""
CORNER_OF_LONGEST_STEP = 1e-3
"""So far is what is driven in two long steps off a path that turns in between [m]."""
LONGEST = 3000
"""Steps in which any of these paths is over."""
WIDE = MotionLimits(9.0, 30.0, 90.0, np.full(6, 1.5), np.full(6, 5.0))
"""Tips may do what joints can."""
made = st.sampled_from(sorted(MAKERS))
shares = st.floats(0.0, 0.99)


def moving(seed, kind, share):
    """Return knots, and a motion along them that has come so far, with its commands."""
    knots = MAKERS[kind](np.random.default_rng(seed))
    motion, commands = motion_along(knots, WIDE), [knots[0]]
    while motion.path.share <= share:
        assert len(commands) < LONGEST, 'the arm does not get on'
        motion.step(DT)
        commands.append(motion.command[0])
    return knots, motion, commands


def finish(motion, commands):
    """Go on until the arm rests; return how many steps that took."""
    for number in range(LONGEST):
        if motion.is_at_rest:
            return number
        motion.step(DT)
        commands.append(motion.command[0])
    return pytest.fail('the arm never rests')


def assert_kept(motion, commands):
    chain = motion.robot
    bounds = Bounds(
        chain.lower, chain.upper, WIDE.joint_velocity, WIDE.joint_acceleration, np.inf, np.inf
    )
    judge = CommandJudge(chain.joint_names, bounds, DT, knows_states=False)
    for number, q in enumerate(commands):
        judge.check(chain.joint_names, round(1e9 * number * DT), q.tolist())
    assert judge.violation_count == 0, judge.violations


def test_bend_too_tight_for_its_speed_is_passed_slowly():
    """The speed has to fall there by more than there is of it: it swung to and fro for ever."""
    knots, motion, commands = moving(46947, 'cornered', 0.9)
    finish(motion, commands)
    np.testing.assert_allclose(commands[-1], knots[-1], atol=1e-9)
    assert_kept(motion, commands)
    assert farthest_off(knots, commands) < OFF_CURVE


@settings(max_examples=EXAMPLES, deadline=None)
@given(seed=random_numbers(), kind=made, share=shares)
def test_arm_that_is_stopped_rests_on_the_curve_in_time(seed, kind, share):
    knots, motion, commands = moving(seed, kind, share)
    motion.stop(stopped('told to'))
    steps = finish(motion, commands)
    assert steps * DT <= LONGEST_STOP + DT
    assert motion.reason.text == 'told to'
    assert_kept(motion, commands)
    assert farthest_off(knots, commands) < OFF_CURVE


@settings(max_examples=EXAMPLES, deadline=None)
@given(seed=random_numbers(), kind=made, share=shares)
def test_stop_is_the_one_that_controllers_were_told_of(seed, kind, share):
    knots, motion, commands = moving(seed, kind, share)
    told = motion.stop_trajectory()
    assert np.all(np.diff(told.times) > 0.0)
    assert not told.velocity[-1].any()
    motion.stop(stopped('told to'))
    begin = len(commands)
    finish(motion, commands)
    for number, q in enumerate(commands[begin:]):
        there, velocity = told.at((number + 0.5) * DT)
        assert np.abs(there + 0.5 * DT * velocity - q).max() < 1e-9
    assert farthest_off(knots, told.q) < OFF_CURVE


@settings(max_examples=EXAMPLES, deadline=None)
@given(
    seed=random_numbers(),
    kind=made,
    share=shares,
    late=st.integers(1, 30),
    times=st.integers(1, 3),
)  # fmt: skip
def test_arm_whose_controller_followed_its_stop_goes_on_from_there(seed, kind, share, late, times):
    """As where messages come late: in between the arm goes on for some steps."""
    knots, motion, commands = moving(seed, kind, share)
    for _ in range(times):
        if motion.is_at_rest:
            break
        begin, told = commands[-1], motion.stop_trajectory()
        motion.follow_stop(late * DT, DT)
        followed = [told.at((number + 0.5) * DT) for number in range(late)]
        commands += [q + 0.5 * DT * velocity for q, velocity in followed]
        assert np.abs(commands[-1] - motion.command[0]).max() < 1e-9, begin
        for _ in range(5):
            if not motion.is_at_rest:
                motion.step(DT)
                commands.append(motion.command[0])
    finish(motion, commands)
    np.testing.assert_allclose(commands[-1], knots[-1], atol=1e-9)
    assert_kept(motion, commands)
    assert farthest_off(knots, commands) < OFF_CURVE


@settings(max_examples=EXAMPLES, deadline=None)
@given(
    seed=random_numbers(),
    kind=made,
    share=shares,
    in_time=st.floats(0.0, 0.9),
    late_before=st.integers(0, 9),
)  # fmt: skip
def test_arm_whose_steps_come_late_stops_within_its_limits_and_never_goes_back(
    seed, kind, share, in_time, late_before
):
    """As on a busy machine; what comes after it begins from rest. On the curve if it was there."""
    rng = np.random.default_rng(seed)
    knots, motion, commands = moving(seed, kind, share)
    times = [DT * number for number in range(len(commands))]

    def take_step():
        dt = DT * (1.0 if rng.random() < in_time else rng.choice([0.7, 1.25, 1.8, 3.0]))
        motion.step(dt)
        commands.append(motion.command[0])
        times.append(times[-1] + dt)

    for _ in range(late_before):
        take_step()
    motion.stop(stopped('told to'))
    while not motion.is_at_rest:
        assert len(commands) < LONGEST, 'the arm never rests'
        take_step()
    times, commands = np.append(times, times[-1] + DT), np.array([*commands, commands[-1]])
    speeds = velocities(times, commands)
    assert np.all(np.abs(speeds) <= WIDE.joint_velocity * (1.0 + 1e-6))
    assert np.all(np.abs(accelerations(times, commands)) <= WIDE.joint_acceleration * 1.0001)
    assert np.abs(speeds[-2:]).max() < 1e-9, 'it rests in the last step, and not after it'
    to_rest = np.linalg.norm(commands[-4:] - commands[-1], axis=1)
    assert np.all(np.diff(to_rest) <= 1e-9), 'it does not go beyond its rest and back'
    if late_before == 0:
        assert farthest_off(knots, commands) < OFF_CURVE + CORNER_OF_LONGEST_STEP
