"""Laws of following a stream of goals, whatever its pace, direction and interval."""

from dataclasses import replace
import math

from command_judge import accelerations, velocities
from fabrik_ros import example_arm, load_urdf, SolverOptions, Status
from fabrik_ros.kernels._jit import COMPILED
from fabrik_ros.motion.choosing.goal import Goal, MotionOptions
from fabrik_ros.motion.choosing.motion import Motion
from fabrik_ros.motion.limits.limits import MotionLimits
from helpers import examples, why
from hypothesis import given, settings, strategies as st
from judging import Judge
import numpy as np
import pinocchio
import pytest
from scipy.optimize import minimize

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


def motion_with(limits):
    return Motion(CHAIN, limits, SolverOptions(mode='pose'), MotionOptions())


def stream(limits, way, duration, every, prepares=True, motion=None):
    """
    Send goals `way(t)`, offsets (3,), every so many steps; then rest at the last.

    Returns offsets of the tip, shape (m, 3), and the joint values, from the first step on.
    """
    motion = motion or motion_with(limits)
    motion.reset(START)
    q = [START]
    for i in range(3000):
        if i <= int(duration / DT):
            if i % every == 0:
                motion.pursue(Goal.of(goal_at(way(i * DT))[None]), in_stream=i > 0)
        elif motion.is_at_rest:
            break
        motion.step(DT)
        q.append(motion.q)
        if prepares:
            motion.prepare()
    assert motion.is_at_rest
    return np.array([JUDGE.pose(values)[:3, 3] for values in q]) - T_START[:3, 3], np.array(q)


@given(
    direction=directions,
    pace=st.floats(0.05, 1.5),
    duration=st.floats(0.05, 0.8),
    every=st.integers(1, 10),
    tip_speed=st.sampled_from([0.1, 0.25, 1.0]),
    tip_acceleration=st.sampled_from([0.5, 1.0, 4.0]),
    prepares=st.booleans(),
)
@settings(max_examples=examples(10, 25), deadline=None)
def test_stream_that_ends_is_never_passed(
    direction, pace, duration, every, tip_speed, tip_acceleration, prepares
):
    limits = replace(LIMITS, tip_speed=tip_speed, tip_acceleration=tip_acceleration)
    along = np.array(direction) / np.linalg.norm(direction)
    speed = pace * tip_speed
    duration = min(duration, LONGEST_WAY / speed)
    end = along * speed * DT * every * (int(duration / DT) // every)
    points, q = stream(limits, lambda t: along * speed * t, duration, every, prepares)
    assert np.linalg.norm(points[-1] - end) < 1e-6
    assert (points @ along).max() <= end @ along + 1e-5
    assert np.linalg.norm(points - np.outer(points @ along, along), axis=1).max() < 1e-3
    times = DT * np.arange(len(q))
    assert np.linalg.norm(velocities(times, points), axis=1).max() <= tip_speed * (1.0 + 1e-3)
    assert np.abs(velocities(times, q)).max() <= 1.5 * (1.0 + 1e-6)
    assert np.abs(accelerations(times, q)).max() <= 5.0 * (1.0 + 1e-3)


@given(direction=directions, speed=st.floats(0.02, 0.2), every=st.integers(1, 10))
@settings(max_examples=examples(8, 20), deadline=None)
def test_goals_that_come_evenly_are_followed_evenly(direction, speed, every):
    """Even where one comes only at every tenth step."""
    along = np.array(direction) / np.linalg.norm(direction)
    duration = 1.2
    points, _ = stream(LIMITS, lambda t: along * speed * t, duration, every)
    speeds = np.diff(points @ along)[60 : round(duration / DT)] / DT
    assert speeds.min() > 0.9 * speed
    assert speeds.max() < 1.1 * speed


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


def nearer_as_upright(q, T):
    """By how much the tip might be nearer to a place without more rotation, by scipy [m]."""

    def missing(values):
        return np.linalg.norm(JUDGE.pose(values)[:3, 3] - T[:3, 3])

    def turned(values):
        return np.linalg.norm(pinocchio.log3(JUDGE.pose(values)[:3, :3].T @ T[:3, :3]))

    no_more = {'type': 'ineq', 'fun': lambda values: turned(q) + 1e-3 - turned(values)}
    bounds = list(zip(JUDGE.lower, JUDGE.upper, strict=True))
    best = minimize(missing, q, method='SLSQP', bounds=bounds, constraints=[no_more])
    return missing(q) - best.fun


@pytest.mark.long
@pytest.mark.skipif(not COMPILED, reason='takes minutes interpreted')
@given(
    direction=directions,
    speed=st.floats(0.2, 0.5),
    every=st.integers(1, 10),
    prepares=st.booleans(),
)
@settings(max_examples=examples(6, 15), deadline=None)
def test_stream_that_leaves_the_reach_is_followed_as_far_as_it_goes(
    direction, speed, every, prepares
):
    motion, along = motion_with(LIMITS), np.array(direction) / np.linalg.norm(direction)
    duration = 1.5 / speed
    _, q = stream(LIMITS, lambda t: along * speed * t, duration, every, prepares, motion)
    assert why(motion).startswith(Status.TOO_FAR.value)
    end = goal_at(along * speed * DT * every * (int(duration / DT) // every))
    assert nearer_as_upright(motion.q, end) < 2e-3
    times = DT * np.arange(len(q))
    assert np.abs(velocities(times, q)).max() <= 1.5 * (1.0 + 1e-6)
    assert np.abs(accelerations(times, q)).max() <= 5.0 * (1.0 + 1e-3)


@pytest.mark.parametrize('prepares', [True, False])
def test_goal_that_is_sent_again_at_every_step_is_reached_and_rested_at(prepares):
    motion, end = motion_with(LIMITS), np.array([0.0, 0.1, 0.0])
    motion.reset(START)
    for _ in range(200):
        motion.aim(goal_at(end))
        motion.step(DT)
        if prepares:
            motion.prepare()
        if motion.is_at_rest:
            break
    assert motion.is_at_rest
    assert np.allclose(JUDGE.pose(motion.q), goal_at(end), atol=1e-6)
