"""REACHED is said of the arm: not of its commands, and never while it is elsewhere."""

import functools

from fabrik_ros import FollowerOptions, ReasonKind, State
from helpers import examples, SIX_AXIS
import hypothesis
from hypothesis import strategies as st
import numpy as np
import pytest

pytest.importorskip('pinocchio', reason='pinocchio is the judge')

from judging import Judge, pose_errors
from pushed_arm import Bench, DT, HARDEST, NEAR, NEARBY, six_axis, START

ANYWHERE = st.lists(st.floats(-0.3, 0.3), min_size=6, max_size=6).map(np.array)


@functools.cache
def judge():
    return Judge(SIX_AXIS, 'l0', 'l7')


@hypothesis.settings(max_examples=examples(12, 25))
@hypothesis.given(
    way=ANYWHERE,
    lag=st.sampled_from([0.0, 0.05, 0.3, 0.6]),
    sag=st.floats(-0.05, 0.05),
    position=st.sampled_from([0.002, 0.01, 0.03]),
    orientation=st.sampled_from([0.01, 0.05]),
    mode=st.sampled_from(['pose', 'position', 'auto']),
)
def test_reached_implies_that_the_measured_tip_is_there_and_that_this_is_the_target(
    way, lag, sag, position, orientation, mode
):
    options = FollowerOptions(
        mode=mode, arrival_tolerance_position=position, arrival_tolerance_orientation=orientation
    )
    bench = Bench(six_axis(), START, options, lag=lag, sag=sag)
    target = judge().pose(START + way)
    bench.step(target)
    for _ in range(900):
        if bench.follower.state is State.REACHED:
            commanded = judge().pose(bench.sent[-1])
            errors = pose_errors(commanded, judge().pose(bench.arm.q))
            assert errors.distance <= position + 1e-9
            assert mode == 'position' or errors.angle <= orientation + 1e-9
            errors = pose_errors(commanded, target)
            assert errors.distance < 2e-5
            assert mode == 'position' or errors.angle < 2e-4
        bench.step()
    reason = bench.follower.reason
    if lag > 0.3 and reason is not None and reason.kind is ReasonKind.DOES_NOT_FOLLOW:
        return
    errors = pose_errors(judge().pose(bench.sent[-1]), judge().pose(bench.arm.q))
    is_there = errors.distance <= 0.9 * position
    is_there &= mode == 'position' or errors.angle <= 0.9 * orientation
    if is_there:
        assert bench.follower.state is State.REACHED
    if errors.distance > 1.1 * position:
        assert bench.follower.state is State.HOLDING
        assert reason.kind is ReasonKind.STAYS_SHORT


def test_arm_that_lags_is_settling_until_it_is_there():
    bench = Bench(six_axis(), START, lag=0.3)
    bench.step(judge().pose(NEAR))
    while not bench.follower.is_at_rest:
        bench.step()
    assert bench.follower.state is State.MOVING
    assert bench.follower.reason.kind is ReasonKind.SETTLING
    bench.go(3.0)
    assert bench.follower.state is State.REACHED


def test_arm_that_hangs_below_its_commands_holds_and_says_by_how_much():
    bench = Bench(six_axis(), START, sag=np.array([0.0, 0.05, 0.0, 0.0, 0.0, 0.0]))
    bench.step(judge().pose(NEAR))
    bench.go(6.0)
    reason = bench.follower.reason
    assert (bench.follower.state, reason.kind) == (State.HOLDING, ReasonKind.STAYS_SHORT)
    assert reason.joints == ('j1',)
    assert "'j1' by +0.0500" in reason.text
    distance = pose_errors(judge().pose(bench.sent[-1]), judge().pose(bench.arm.q)).distance
    assert f'{distance:.4f} m' in reason.text


def test_arm_that_is_pushed_out_of_its_target_is_no_longer_at_it():
    bench = Bench(six_axis(), START)
    bench.arrive(judge().pose(NEAR))
    bench.go(1.0)
    assert bench.follower.state is State.REACHED
    bench.push(np.array([0.095, 0.0, 0.0, 0.0, 0.0, 0.0]), 0.2)
    bench.go(0.1)
    assert (bench.follower.state, bench.follower.reason.kind) == (
        State.HOLDING,
        ReasonKind.MOVED_AWAY,
    )


def test_same_target_brings_back_an_arm_that_was_pushed_a_little():
    bench = Bench(six_axis(), START)
    bench.arrive(judge().pose(NEAR))
    bench.go(2.0)
    bench.push(np.array([0.05, 0.0, 0.0, 0.0, 0.0, 0.0]), 0.2)
    bench.go(0.5)
    first = bench.first_command(lambda bench: bench.step(judge().pose(NEAR)))
    assert np.abs(first - bench.arm.q).max() < NEARBY + HARDEST * DT**2
    bench.go(3.0)
    assert bench.follower.state is State.REACHED
    assert np.abs(bench.arm.q - bench.sent[-1]).max() < 1e-6


def test_arrival_is_said_of_the_commands_where_nothing_is_measured():
    bench = Bench(six_axis(), START, FollowerOptions(wait_for_state=False))
    assert bench.follower.is_measured
    bench.arm.measured = lambda: None
    bench.arrive(judge().pose(NEAR))
    assert bench.follower.state is State.REACHED
    assert not bench.follower.is_measured
