"""
A stop does not travel: it brakes, and goes back only to where the arm is known to be.

Every stop is judged by arithmetic: how far braking goes, which values were commanded before, and
what was measured.
"""

import itertools
import math

from fabrik_ros import FollowerOptions, ReasonKind, State
from helpers import examples, SIX_AXIS
import hypothesis
from hypothesis import strategies as st
import numpy as np
import pytest

pytest.importorskip('pinocchio', reason='pinocchio is the judge')

from judging import Judge
from pushed_arm import Bench, DT, HARDEST, six_axis, START

FAR = START + np.array([1.2, 0.5, -0.4, 0.3, 0.5, 0.2])


def send_pose(bench):
    bench.step(Judge(SIX_AXIS, 'l0', 'l7').pose(FAR))


def send_joints(bench):
    bench.step(dict(zip(bench.follower.arm.joint_names, FAR, strict=True)))


def go_home(bench):
    bench.follower.home()


def jog(bench):
    bench.follower.jog([0.0, 0.3, 0.0, 0.0, 0.0, 0.0])


DOORS = (send_pose, send_joints, go_home, jog)


def moving(door, **stand_in):
    """Make an arm that is on its way, fast."""
    options = FollowerOptions(
        home_configuration=tuple(FAR), max_tip_speed=1.0, max_tip_rotation=3.0, jog_timeout=60.0
    )
    bench = Bench(six_axis(), START, options, **stand_in)
    door(bench)
    for _ in range(200):
        bench.step()
        if np.abs(bench.follower.velocity).max() > 0.3:
            return bench
    pytest.fail(f'it does not move: {bench.follower!r}')


def braking_distance(velocity):
    """How far joints that all brake together go at most, with a period to notice [rad]."""
    return np.abs(velocity).max() ** 2 / HARDEST + 4.0 * np.abs(velocity).max() * DT


@pytest.mark.parametrize('door', DOORS)
def test_arm_whose_states_stop_brakes_and_stays_and_says_that_states_are_missing(door):
    bench = moving(door, lag=0.05)
    bench.arm.measured = lambda: None
    begin = len(bench.sent)
    while bench.follower.state is not State.HOLDING:
        bench.step()
        if bench.follower.is_at_rest:
            break
        assert bench.follower.reason is None or bench.follower.state is State.HOLDING
    at, velocity = bench.sent[-1], bench.follower.velocity
    bench.go(3.0)
    assert bench.follower.reason.kind is ReasonKind.STATE_MISSING
    after = np.array(bench.sent[begin:])
    assert np.abs(after[-1] - at).max() <= braking_distance(velocity)
    assert (len(bench.sent) - begin) * DT > 0.5, 'a whole state_timeout'
    stop = np.array(bench.sent[-300:])
    steps = np.diff(np.vstack([at, stop]), axis=0)
    assert np.all(steps * np.sign(velocity) >= -1e-12), 'never back'


@pytest.mark.parametrize('door', DOORS)
@pytest.mark.parametrize('is_first', [True, False])
def test_second_source_makes_the_arm_brake_and_stay(door, is_first):
    """Whichever of the two speaks first in a step, and however the ghost stands."""
    bench = moving(door, lag=0.02)
    ghost, turn = START - 1.5, [is_first]
    true = bench.arm.measured

    def measured():
        turn[0] = not turn[0]
        return ghost if turn[0] else true()

    bench.arm.measured = measured
    while bench.follower.state is not State.HOLDING:
        bench.step()
    at, velocity = bench.sent[-2], bench.follower.velocity
    bench.go(4.0)
    assert bench.follower.reason.kind is ReasonKind.STATE_CONTRADICTED
    assert np.abs(bench.sent[-1] - at).max() <= braking_distance(velocity)


@hypothesis.settings(max_examples=examples(15, 40))
@hypothesis.given(
    door=st.sampled_from(DOORS[:3]),
    joint=st.integers(0, 5),
    off=st.floats(math.log(0.01), 0.0).map(math.exp),
    sign=st.sampled_from([-1.0, 1.0]),
    every=st.sampled_from([2, 3, 10]),
    moves=st.booleans(),
)
def test_second_source_is_named_however_near_it_is_and_no_way_is_gone_back(
    door, joint, off, sign, every, moves
):
    """A near one may be noticed only as the arm comes to rest."""
    bench = moving(door, lag=0.02)
    away, frozen, turn = sign * off * np.eye(6)[joint], bench.arm.q, itertools.count()
    true = bench.arm.measured

    def measured():
        is_true = next(turn) % every
        return true() if is_true else (true() if moves else frozen) + away

    bench.arm.measured = measured
    for _ in range(500):
        bench.step()
        assert not bench.follower._follower.is_going_back
    assert bench.follower.is_at_rest
    assert bench.follower.reason.kind is ReasonKind.STATE_CONTRADICTED


@hypothesis.settings(max_examples=examples(12, 30))
@hypothesis.given(
    frozen_after=st.integers(1, 60),
    lag=st.sampled_from([0.0, 0.05, 0.2]),
    push=st.floats(-0.04, 0.04),
)
def test_arm_that_does_not_follow_is_met_only_over_values_that_were_commanded(
    frozen_after, lag, push
):
    bench = moving(send_joints, lag=lag)
    for _ in range(frozen_after):
        bench.step()
    frozen = bench.arm.q + push
    commanded = np.array(bench.sent)
    bench.arm.measured = lambda: frozen
    while bench.follower.state is not State.HOLDING and len(bench.sent) < 1500:
        bench.step()
    hypothesis.assume(bench.follower.state is State.HOLDING)
    assert bench.follower.reason.kind is ReasonKind.DOES_NOT_FOLLOW
    braked = len(bench.sent)
    bench.go(4.0)
    reach = braking_distance(np.full(6, 1.5))
    lower, upper = (
        np.array(bench.sent[:braked]).min(axis=0),
        np.array(bench.sent[:braked]).max(axis=0),
    )
    stop = np.array(bench.sent[braked:])
    assert np.all(stop >= lower - reach)
    assert np.all(stop <= upper + reach)
    met = np.clip(frozen, np.minimum(commanded.min(axis=0), START), np.maximum(upper, START))
    gap = np.abs(stop[-1] - met)
    assert np.all((gap < 1e-6) | (np.abs(stop[-1] - frozen) <= np.abs(met - frozen) + 1e-6))
    assert np.abs(np.diff(bench.sent, axis=0)).max() <= 1.5 * DT + 1e-9


def test_way_back_ends_where_the_states_end():
    """Blind it goes nowhere."""
    bench = moving(send_joints)
    frozen = bench.arm.q
    bench.arm.measured = lambda: frozen
    while not bench.follower._follower.is_going_back:
        bench.step()
    bench.step()
    bench.arm.measured = lambda: None
    bench.go(1.0)
    end = bench.sent[-1]
    assert np.abs(end - frozen).max() > 0.02, 'on the way'
    bench.go(1.0)
    assert np.array_equal(bench.sent[-1], end)


@hypothesis.settings(max_examples=examples(25, 200))
@hypothesis.given(
    door=st.sampled_from(DOORS), lag=st.sampled_from([0.0, 0.05, 0.1]),
    push=st.floats(0.12, 0.5), sign=st.sampled_from([-1.0, 1.0]), joint=st.integers(0, 5),
    begin=st.integers(0, 40), heard=st.integers(1, 30), blind=st.integers(1, 45),
    stays=st.booleans(),
)  # fmt: skip
@hypothesis.example(send_joints, 0.1, 0.3, 1.0, 0, 0, 5, 30, False)
def test_arm_that_is_pushed_and_not_heard_for_a_while_is_not_sent_to_an_old_place(
    door, lag, push, sign, joint, begin, heard, blind, stays
):
    """What leaps is a value that was measured in the same step, where the arm was pushed to."""
    bench = moving(door, lag=lag)
    bench.go(begin * DT)
    by, fastest = sign * push * np.eye(6)[joint], 1.001 * bench.follower.arm.velocity * DT
    bench.arm.q = bench.arm.q + by
    for k in range(300):
        is_heard = not heard <= k < heard + blind
        bench.arm.pass_time(DT)
        if stays:
            bench.arm.put(bench.arm.q)
        measured = bench.arm.measured()
        told = bench.follower.step(None, DT, measured if is_heard else None)
        if np.any(np.abs(told - bench.sent[-1]) > fastest):
            assert is_heard
            assert np.array_equal(told, measured)
        bench.sent.append(told)
        bench.arm.tell(told)
