"""
Limits of acceleration and jerk in a robot description: every command keeps them, by every door.

Nothing of the package is used to judge: velocity, acceleration and jerk are divided differences
over the steps.

"""

import itertools
import math
import re
import sys

from drawing import random_numbers
from fabrik_ros import (
    ArmFollower,
    FollowerOptions,
    load_urdf,
    plan,
    plan_program,
    pose_from_xyz_rpy,
)
from fabrik_ros.errors import MotionError, RefusedError
from fabrik_ros.kernels._jit import COMPILED
from fabrik_ros.programs import Joints, Line, Program
from helpers import assert_close, examples, SIX_AXIS
from hypothesis import given, settings, strategies as st
import numpy as np
import pytest

EXAMPLES, LONGEST = (examples(8, 40), 60) if COMPILED else (2, 8)
DT, START = 0.01, np.array([0.2, 0.4, 0.6, 0.1, 0.6, 0.0])
ROUNDING = 1e-6


def six_axis(**limits):
    """Give joints of an arm limits in turn, as `jerk=(1.0, None)`; none where that is None."""
    text = SIX_AXIS.replace('<robot ', '<robot version="1.2" ')
    for attribute, values in limits.items():
        pending = itertools.chain(values, itertools.repeat(None))
        text = re.sub('<limit ', lambda _, a=attribute, p=pending: limit_with(a, next(p)), text)
    return load_urdf(text).chain()


def limit_with(attribute, value):
    return '<limit ' if value is None else f'<limit {attribute}="{value!r}" '


def rates(q, dt):
    """Velocities, accelerations and jerks, each of shape (m, n), of an arm that rested before."""
    q = np.vstack([q[:1], q[:1], q[:1], q])
    return [np.abs(np.diff(q, number, axis=0)) / dt**number for number in (1, 2, 3)]


def bounds(values, otherwise):
    return np.array([otherwise if value is None else min(value, otherwise) for value in values])


def assert_kept(q, acceleration, deceleration=6 * (None,), jerk=6 * (None,)):
    fastest, hardest, jerkiest = (rate.max(axis=0) for rate in rates(q, DT))
    allowed = np.minimum(bounds(acceleration, 5.0), bounds(deceleration, 5.0))
    assert np.all(hardest <= allowed * (1.0 + ROUNDING) + 1e-9)
    assert np.all(fastest <= np.minimum(1.0, 0.5 * allowed) + ROUNDING)
    assert np.all(jerkiest <= bounds(jerk, math.inf) * (1.0 + ROUNDING) + 0.02)


def ask(follower, what, rng):
    """Ask an arm for something; the target of the next step."""
    q = rng.uniform(-1.9, 1.9, 6)
    try:
        if what == 'hold':
            follower.hold()
            follower.resume()
        if what == 'jog':
            follower.jog(0.3 * rng.normal(size=6), in_tip=bool(rng.random() < 0.5))
    except RefusedError:
        return None
    if what == 'pose':
        return follower.arm.forward_kinematics(q)
    return dict(zip(follower.arm.joint_names, q, strict=True)) if what == 'joints' else None


def wander(follower, parts):
    """Follow what is asked for, as an arm that is where it is told to be; the joint values."""
    q = [START]
    for what, seed, steps in parts:
        target = ask(follower, what, np.random.default_rng(seed))
        for _ in range(steps):
            q.append(follower.step(target, DT, q[-1]))
            target = None
    return np.array(q)


accelerations = st.one_of(st.none(), st.floats(0.05, 20.0))
by_joint = st.tuples(*[accelerations] * 6)
jerks = st.tuples(*[st.one_of(st.none(), st.floats(0.5, 2000.0))] * 6)
asked = st.sampled_from(['pose', 'pose', 'joints', 'jog', 'hold'])
wishes = st.lists(
    st.tuples(asked, random_numbers(), st.integers(1, LONGEST)), min_size=1, max_size=6
)


@settings(max_examples=EXAMPLES)
@given(by_joint, by_joint, wishes)
def test_accelerations_of_the_description_hold_whatever_is_asked_for(
    acceleration, deceleration, parts
):
    follower = ArmFollower(
        six_axis(acceleration=acceleration, deceleration=deceleration), looking_time=math.inf
    )
    assert_kept(wander(follower, parts), acceleration, deceleration)


@settings(max_examples=EXAMPLES)
@given(by_joint, jerks, wishes)
def test_jerks_of_the_description_hold_whatever_is_asked_for(acceleration, jerk, parts):
    pytest.importorskip('ruckig', reason='ruckig plans the steps')
    follower = ArmFollower(six_axis(acceleration=acceleration, jerk=jerk), looking_time=math.inf)
    assert_kept(wander(follower, parts), acceleration, jerk=jerk)


ACCELERATION, JERK = (1.0, None, 0.4, 8.0, None, 2.0), (None, 20.0, None, 100.0, 1.0, None)


@pytest.mark.parametrize('jerk', [(), JERK])
def test_plans_keep_them(jerk):
    if jerk:
        pytest.importorskip('ruckig', reason='ruckig plans the steps')
    way = plan(six_axis(acceleration=ACCELERATION, jerk=jerk), START, -START)
    assert way.found
    q = way.at(np.arange(0.0, way.duration + DT, DT))
    assert_close(q[-1], -START, atol=1e-9)
    assert_kept(q, ACCELERATION, jerk=jerk or 6 * (None,))


def test_programs_keep_them_and_remark_what_became_slower():
    arm = six_axis(acceleration=ACCELERATION)
    tool = arm.forward_kinematics(START)
    lowered = pose_from_xyz_rpy([0.0, 0.0, -0.1]) @ tool
    program = Program([Joints(-START), Joints(START), Line(lowered)])
    way = plan_program(arm, START, program)
    assert way, way.reason
    assert_kept(way.q, ACCELERATION)
    assert any(remark.startswith('velocities are lowered') for remark in way.remarks)


def test_the_narrower_of_description_and_option_counts():
    limits = FollowerOptions(max_joint_acceleration=4.0).limits_for(
        six_axis(acceleration=(1.0, 9.0), deceleration=(None, 3.0))
    )
    assert_close(limits.joint_acceleration, [1.0, 3.0, 4.0, 4.0, 4.0, 4.0])


def test_a_velocity_that_cannot_be_stopped_in_time_is_lowered_and_that_is_said():
    follower = ArmFollower(six_axis(acceleration=(None, 1.0, 1.9, 2.0)))
    limits = follower.options.limits_for(follower.arm)
    assert_close(limits.joint_velocity, [1.0, 0.5, 0.95, 1.0, 1.0, 1.0])
    assert follower.warnings == (
        'velocities are lowered, as the acceleration in the robot description has to stop them '
        "within 0.5 s: 'j1' from 1 to 0.5, 'j2' from 1 to 0.95",
    )


def test_an_acceleration_that_the_jerk_allows_too_late_is_lowered_and_that_is_said():
    pytest.importorskip('ruckig', reason='otherwise it is said, too')
    options, arm = FollowerOptions(), six_axis(acceleration=(None, 3.0), jerk=(10.0, 2.0))
    limits = options.limits_for(arm)
    assert_close(limits.joint_acceleration, [5.0, 1.0, 5.0, 5.0, 5.0, 5.0])
    assert_close(limits.joint_velocity, [1.0, 0.5, 1.0, 1.0, 1.0, 1.0])
    assert options.warnings_for(arm)[0] == (
        'accelerations are lowered, as the jerk in the robot description has to allow them '
        "within 0.5 s: 'j1' from 3 to 1"
    )
    assert len(options.warnings_for(arm)) == 2


def test_a_description_without_them_changes_nothing_and_nothing_is_said():
    options, arm = FollowerOptions(), load_urdf(SIX_AXIS).chain()
    limits = options.limits_for(arm)
    assert limits.joint_velocity.tolist() == 6 * [1.0]
    assert limits.joint_acceleration.tolist() == 6 * [5.0]
    assert options.jerk_filter_for(arm) is None
    assert options.warnings_for(arm) == ()


def test_without_ruckig_a_jerk_of_the_description_is_told_and_one_of_the_options_refused(
    monkeypatch,
):
    monkeypatch.setitem(sys.modules, 'ruckig', None)  # as if it were not installed
    arm = six_axis(jerk=(50.0,))
    follower = ArmFollower(arm)
    (warning,) = follower.warnings
    assert 'is not kept, as ruckig is not installed: pip install' in warning
    follower.step({'j0': 1.0}, DT, START)
    with pytest.raises(MotionError, match='pip install ruckig'):
        ArmFollower(arm, FollowerOptions(max_joint_jerk=50.0))


def test_the_narrower_jerk_counts_and_joints_without_one_are_no_slower_for_it():
    pytest.importorskip('ruckig', reason='ruckig plans the steps')
    arm, options = six_axis(jerk=(50.0, 500.0)), FollowerOptions(max_joint_jerk=100.0)
    limiter = options.jerk_filter_for(arm)
    limiter.change_limits(options.limits_for(arm))
    assert_close(limiter.jerk, [50.0, *5 * [100.0]])
    limiter = FollowerOptions().jerk_filter_for(arm)
    limiter.change_limits(FollowerOptions().limits_for(arm))
    assert limiter.delay == 0.1
    assert_close(limiter.jerk, [50.0, 500.0, *4 * [50.0]])
