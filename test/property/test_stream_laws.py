"""Laws of following a stream of goals, whatever its pace, direction and interval."""

from dataclasses import replace
import math

from fabrik_ros import example_arm, load_urdf, SolverOptions
from fabrik_ros.motion import Motion, MotionOptions, Phase
from fabrik_ros.reference import MotionLimits
from hypothesis import given, settings, strategies as st
from judging import accelerations, Judge, velocities
import numpy as np
import pytest

pytest.importorskip('xacro')

ROBOT = load_urdf(example_arm('six_axis'))
CHAIN = ROBOT.chain('base_link', 'tool0')
JUDGE = Judge(ROBOT.source, 'base_link', 'tool0')
START = np.array([0.0, -1.3, 1.6, -1.9, -1.57, 0.0])
T_START = JUDGE.pose(START)
LIMITS = MotionLimits(0.25, 1.0, 1.0, np.full(6, 1.5), np.full(6, 5.0))
DT, LONGEST_WAY = 0.01, 0.25
directions = st.sampled_from([(0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 1, 1), (0, -1, 1)])


def goal_at(offset):
    T = T_START.copy()
    T[:3, 3] += offset
    return T


def stream(limits, way, duration, every):
    """
    Send goals `way(t)`, offsets (3,), every so many steps; then rest at the last.

    Returns offsets of the tip, shape (m, 3), and the joint values, from the first step on.
    """
    motion = Motion(CHAIN, limits, SolverOptions(mode='pose'), MotionOptions())
    motion.reset(START)
    q = [START]
    for i in range(3000):
        if i * DT <= duration:
            if i % every == 0:
                motion.aim(goal_at(way(i * DT)))
        elif motion.phase is Phase.RESTING:
            break
        motion.step(DT)
        q.append(motion.q)
    assert motion.phase is Phase.RESTING
    return np.array([JUDGE.pose(values)[:3, 3] for values in q]) - T_START[:3, 3], np.array(q)


@given(
    direction=directions,
    pace=st.floats(0.05, 1.5),
    duration=st.floats(0.05, 0.8),
    every=st.integers(1, 10),
    tip_speed=st.sampled_from([0.1, 0.25, 1.0]),
    tip_acceleration=st.sampled_from([0.5, 1.0, 4.0]),
)
@settings(max_examples=25, deadline=None)
def test_stream_that_ends_is_never_passed(
    direction, pace, duration, every, tip_speed, tip_acceleration
):
    limits = replace(LIMITS, tip_speed=tip_speed, tip_acceleration=tip_acceleration)
    along = np.array(direction) / np.linalg.norm(direction)
    speed = pace * tip_speed
    duration = min(duration, LONGEST_WAY / speed)
    end = along * speed * DT * every * (duration / DT // every)
    points, q = stream(limits, lambda t: along * speed * t, duration, every)
    assert np.linalg.norm(points[-1] - end) < 1e-6
    assert (points @ along).max() <= end @ along + 1e-5
    assert np.linalg.norm(points - np.outer(points @ along, along), axis=1).max() < 1e-3
    times = DT * np.arange(len(q))
    assert np.linalg.norm(velocities(times, points), axis=1).max() <= tip_speed * (1.0 + 1e-3)
    assert np.abs(velocities(times, q)).max() <= 1.5 * (1.0 + 1e-6)
    assert np.abs(accelerations(times, q)).max() <= 5.0 * (1.0 + 1e-3)


@given(direction=directions, speed=st.floats(0.02, 0.2), every=st.sampled_from([3, 10]))
@settings(max_examples=10, deadline=None)
def test_goals_that_come_slowly_are_followed_without_a_stop_at_each(direction, speed, every):
    along = np.array(direction) / np.linalg.norm(direction)
    duration = 1.2
    points, _ = stream(LIMITS, lambda t: along * speed * t, duration, every)
    speeds = np.diff(points @ along)[60 : round(duration / DT)] / DT
    assert speeds.min() > 0.8 * speed
    assert speeds.max() < 1.2 * speed


@pytest.mark.parametrize('speed', [0.1, 0.25])
def test_right_angle_is_rounded_no_more_than_the_acceleration_asks_for(speed):
    """Two straight ways, joined with the acceleration of the tip: a parabola."""
    half = 0.1

    def corner(t):
        way = speed * t
        return np.array([0.0, min(way, half), max(0.0, way - half)])

    points, _ = stream(LIMITS, corner, 2.0 * half / speed, 1)
    gap = np.linalg.norm(points - corner(half / speed), axis=1).min()
    turn = math.sqrt(2.0) * speed / LIMITS.tip_acceleration
    assert gap <= 1.1 * LIMITS.tip_acceleration * turn**2 / 8.0
