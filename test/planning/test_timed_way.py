"""Laws of the times of a way: from rest to rest, on its lines, within what the joints can do."""

from fabrik_ros.planning.rounding import rounded
from fabrik_ros.planning.timed_way import SPEED_UP_TIME, TimedWay
from helpers import assert_close
from hypothesis import given, strategies as st
import numpy as np
import pytest

REACH = 1.0
SAMPLES = 2000
KNOTS = 0.05
"""Bends are in knots: on average over the time of some the acceleration differs by no more [1]."""
seeds = st.integers(0, 2**31 - 1)


def way_of(seed, smooth=True):
    """Make a random way, rounded or with corners, and speeds of its joints."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 8))
    waypoints = rng.uniform(-2.0, 2.0, (int(rng.integers(2, 7)), n))
    knots = rounded(list(waypoints), lambda knots: smooth, REACH)
    knots = knots[np.append(True, np.any(np.diff(knots, axis=0) != 0.0, axis=1))]
    return knots, rng.uniform(0.2, 3.0, n)


def off_polyline(q, knots):
    """Measure how far joint values are from the nearest straight line between knots."""
    begin, step = knots[:-1], np.diff(knots, axis=0)
    share = np.clip(np.sum((q - begin) * step, axis=1) / np.sum(step**2, axis=1), 0.0, 1.0)
    return np.linalg.norm(begin + share[:, None] * step - q, axis=1).min()


@given(seeds, st.booleans())
def test_way_leads_from_end_to_end_on_its_lines_and_no_joint_is_too_fast(seed, smooth):
    knots, fastest = way_of(seed, smooth=smooth)
    way = TimedWay(knots, fastest)
    assert_close(way.at([-1.0, 0.0]), knots[[0, 0]])
    assert_close(way.at([way.duration, way.duration + 1.0]), knots[[-1, -1]])
    times, dt = np.linspace(0.0, way.duration, SAMPLES, retstep=True)
    q = way.at(times)
    assert max(off_polyline(values, knots) for values in q[::50]) < 1e-9
    assert np.all(np.abs(np.diff(q, axis=0)) <= fastest * dt * (1.0 + 1e-9))
    for time, values in zip(times[::100], q[::100], strict=True):
        assert_close(way.at(time), values)


@given(seeds)
def test_no_joint_of_a_smooth_way_speeds_up_too_hard(seed):
    knots, fastest = way_of(seed)
    way = TimedWay(knots, fastest)
    dt = 0.2 * SPEED_UP_TIME
    times = np.arange(-2.0 * dt, way.duration + 2.0 * dt, dt)
    gained = np.diff(way.at(times), n=2, axis=0) / dt
    assert np.all(np.abs(gained) <= fastest * dt / SPEED_UP_TIME * (1.0 + KNOTS))


@given(seeds)
def test_way_takes_no_longer_where_joints_are_faster(seed):
    knots, fastest = way_of(seed)
    assert TimedWay(knots, 1.3 * fastest).duration <= TimedWay(knots, fastest).duration * (
        1.0 + 1e-9
    )


STRAIGHT = np.linspace(0.0, 2.0, 41)[:, None]


def test_straight_way_takes_the_time_that_is_worked_out_by_hand():
    """Half of the acceleration is for bends: it gains 1 rad/s in 0.6 s, on 0.3 rad."""
    way = TimedWay(STRAIGHT, np.array([1.0]))
    assert_close(way.duration, 2.0 * 0.6 + (2.0 - 0.6))
    assert_close(way.at([0.3, 0.6, 0.6 + 0.7]), [[0.075], [0.3], [1.0]])


@pytest.mark.parametrize('count', [1, 2, 5])
def test_way_to_where_the_arm_is_takes_no_time(count):
    way = TimedWay(np.tile([0.3, -0.2], (count, 1)), np.ones(2))
    assert way.duration == 0.0
    assert_close(way.at(0.0), [0.3, -0.2])
    assert_close(way.at([0.0, 1.0]), [[0.3, -0.2]] * 2)


@pytest.mark.parametrize('place', [0, 3, 6])
def test_knots_that_are_there_twice_change_nothing(place):
    knots = np.random.default_rng(3).uniform(-1.0, 1.0, (7, 4))
    twice = np.insert(knots, place, knots[place], axis=0)
    assert_close(TimedWay(twice, np.ones(4)).duration, TimedWay(knots, np.ones(4)).duration)
