"""How long plans take, and where the arm is when: as it will be driven, judged from outside."""

from command_judge import accelerations, velocities
from fabrik_ros import ArmFollower, FollowerOptions, load_urdf, plan, SolverOptions
from fabrik_ros.errors import MotionError
from fabrik_ros.motion import driven_way
from helpers import examples, SIX_AXIS
from hypothesis import example, given, settings, strategies as st
from judging import Judge
import numpy as np
import pytest

FASTEST, HARDEST, TIP_SPEED = 1.5, 5.0, 0.25
"""Defaults [rad/s, rad/s^2, m/s]."""
DT = 0.01


@pytest.fixture(scope='module')
def arm():
    return load_urdf(SIX_AXIS).chain()


@pytest.fixture(scope='module')
def judge(arm):
    return Judge(SIX_AXIS, arm.base_link, arm.tip_link)


def way_between(arm, seed, **options):
    rng = np.random.default_rng(seed)
    start, end = arm.random_configuration(rng), arm.random_configuration(rng)
    return plan(arm, start, start + 0.5 * (end - start), **options)


@settings(max_examples=examples(10, 60), deadline=None)
@given(st.integers(0, 10**6))
@example(265)
def test_plan_keeps_the_limits_of_the_node_from_rest_to_rest(arm, judge, seed):
    way = way_between(arm, seed)
    times = np.arange(-2.0, way.duration / DT + 3.0) * DT
    q = way.at(times)
    assert np.array_equal(q[2], way.knots[0])
    assert q[-1] == pytest.approx(way.knots[-1], abs=1e-9)
    assert np.abs(velocities(times, q)).max() <= FASTEST * 1.001
    assert np.abs(accelerations(times, q)).max() <= HARDEST * 1.001
    tips = np.array([judge.pose(values)[:3, 3] for values in q])
    speeds = np.linalg.norm(np.diff(tips, axis=0), axis=1) / DT
    assert speeds.max() <= TIP_SPEED * 1.001


@settings(max_examples=examples(5, 30), deadline=None)
@given(st.integers(0, 10**6))
def test_plan_takes_as_long_as_the_arm_that_is_sent_there(arm, seed):
    way = way_between(arm, seed)
    start = tuple(way.knots[0].tolist())
    options = FollowerOptions(wait_for_state=False, path='joint', start_configuration=start)
    follower = ArmFollower(arm, options)
    steps = 0
    while steps == 0 or follower.state.name in ('LOOKING', 'PLANNING', 'MOVING'):
        follower.step(dict(zip(arm.joint_names, way.q, strict=True)), DT)
        steps += 1
    assert steps * DT == pytest.approx(way.duration, rel=0.03, abs=3 * DT)


def test_plan_of_an_arm_that_may_go_slower_takes_longer(arm):
    usual = way_between(arm, 3)
    slow = way_between(arm, 3, options=FollowerOptions(max_tip_speed=0.5 * TIP_SPEED))
    assert slow.duration > 1.3 * usual.duration
    asked = SolverOptions(position_tolerance=1e-4)
    assert way_between(arm, 3, options=asked).duration == usual.duration


def test_plan_that_was_not_found_has_no_duration(arm):
    nowhere = np.eye(4)
    nowhere[2, 3] = 9.0
    way = plan(arm, arm.mid_configuration(), nowhere)
    with pytest.raises(ValueError, match='no way was found'):
        way.at(0.0)


def test_plan_of_an_arm_that_is_paused_is_refused(arm):
    with pytest.raises(MotionError, match='never arrive'):
        way_between(arm, 1, options=FollowerOptions(speed_scaling=0.0))


def test_plan_that_takes_hours_is_refused(arm, monkeypatch):
    monkeypatch.setattr(driven_way, 'LONGEST', 0.5)
    way = way_between(arm, 3)
    with pytest.raises(MotionError, match=r'more than 0\.5 s'):
        way.at(0.0)
