"""Laws of the way to rest that controllers of trajectories are told in advance."""

import itertools

from fabrik_ros.motion.limits.stop_trajectory import trajectory_to_rest
from hypothesis import given, strategies as st
import numpy as np
import pytest

JOINTS = 3
speeds = st.lists(st.floats(-2.0, 2.0), min_size=JOINTS, max_size=JOINTS).map(np.array)
shares = st.lists(st.floats(0.0, 1.0), min_size=JOINTS, max_size=JOINTS).map(np.array)
strengths = st.lists(st.floats(0.5, 20.0), min_size=JOINTS, max_size=JOINTS).map(np.array)


periods = st.sampled_from([0.0, 0.001, 0.002, 0.01, 1.0 / 300.0, 0.1])


def ramp_before_limits(velocity, share, strength, period):
    """Begin a ramp from 0 where each joint may be as near to a limit as it can still stop."""
    nearest = velocity**2 / (2.0 * strength)
    limit = nearest + 3.0 * share * share
    return trajectory_to_rest(np.zeros(JOINTS), velocity, strength, -limit, limit, period), limit


@given(speeds, shares, strengths, periods)
def test_ramp_ends_at_rest_in_time_and_inside_the_limits(velocity, share, strength, period):
    ramp, limit = ramp_before_limits(velocity, share, strength, period)
    assert ramp.times[0] == 0.0
    assert np.all(np.diff(ramp.times) >= 0.9e-6)
    assert not np.any(ramp.velocity[-1])
    assert ramp.times[-1] <= np.max(np.abs(velocity) / strength) + period + 1.1e-6
    assert np.all(np.abs(ramp.q) <= limit + 1e-12)
    assert np.array_equal(ramp.q[0], np.zeros(JOINTS))


@given(speeds, shares, strengths, periods)
def test_ramp_brakes_evenly_and_no_harder_than_allowed(velocity, share, strength, period):
    """Between two points the mean of the velocities covers the way: an even change."""
    ramp, _ = ramp_before_limits(velocity, share, strength, period)
    assert np.abs(ramp.velocity[0] - velocity).max() <= 2.5e-6 * strength.max()
    for i, j in itertools.pairwise(range(len(ramp.times))):
        dt = ramp.times[j] - ramp.times[i]
        change = np.abs(ramp.velocity[j] - ramp.velocity[i])
        assert np.all(change <= strength * (dt + 2.5e-6))
        covered = 0.5 * (ramp.velocity[i] + ramp.velocity[j]) * dt
        assert np.allclose(ramp.q[j] - ramp.q[i], covered, rtol=0.0, atol=1e-11)
        assert np.all(ramp.velocity[i] * ramp.velocity[j] >= 0.0), 'no joint turns back'


def test_ramp_of_rest_is_one_point():
    ramp = trajectory_to_rest(np.ones(2), np.zeros(2), np.ones(2), -np.ones(2), np.ones(2))
    assert ramp.times.tolist() == [0.0]
    assert ramp.q.tolist() == [[1.0, 1.0]]
    assert ramp.velocity.tolist() == [[0.0, 0.0]]


def test_joint_outside_its_limits_comes_in():
    ramp = trajectory_to_rest(
        np.array([1.05]), np.array([-0.5]), np.array([5.0]), -np.ones(1), np.ones(1)
    )
    assert ramp.q[-1, 0] == pytest.approx(1.05 - 0.5 * 0.5 / (2.0 * 5.0), abs=1e-6)


@given(speeds, strengths)
def test_ramp_is_what_a_motion_that_brakes_step_by_step_does(velocity, strength):
    """So that it may be played, or stepped, or both in turn."""
    period, far = 0.01, np.full(JOINTS, 100.0)
    ramp = trajectory_to_rest(np.zeros(JOINTS), velocity, strength, -far, far, period)
    q, v, time = np.zeros(JOINTS), velocity, 0.0
    while np.any(v):
        slower = v * max(0.0, 1.0 - period / np.max(np.abs(v) / strength))
        q, v, time = q + 0.5 * period * (v + slower), slower, time + period
        there, speed = ramp.at(time)
        assert np.abs(q - there).max() < 1e-6
        assert np.abs(v - speed).max() < 1e-4
