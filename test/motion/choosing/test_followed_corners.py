"""A stream with corners is followed round them: not far inside or outside, nor at a stand."""

import pytest

pytest.importorskip('pinocchio', reason='pinocchio is the judge')
pytest.importorskip('xacro')

from fabrik_ros import ArmFollower, example_arm, FollowerOptions, load_urdf
from fabrik_ros.kernels._jit import COMPILED
from judging import Judge
import numpy as np

STARTS = {
    'six_axis': (0.0, -1.3, 1.6, -1.9, -1.57, 0.0),
    'seven_axis': (0.0, -0.5, 0.0, -2.3, 0.0, 1.8, 0.785),
}
DT, SPEED, SIDE, RUN_UP = 0.01, 0.25, 0.2, 1.0
CORNERS = SIDE * np.array([(0, 0, 0), (0, 1, 0), (0, 1, 1), (0, 0, 1)])
DURATION = RUN_UP + 4.0 * SIDE / SPEED
LAGS = np.arange(0.0, 0.4, 0.004)
CLOSE, SLOWEST = 0.005, 0.3 * SPEED

pytestmark = pytest.mark.skipif(not COMPILED, reason='takes minutes interpreted')


def on_square(times):
    """Offsets, shape (m, 3), at times (m,) on an upright square [m]."""
    edges, along = np.divmod(np.clip(times, 0.0, DURATION) * SPEED, SIDE)
    edges = edges.astype(int) % 4
    begin, end = CORNERS[edges], CORNERS[(edges + 1) % 4]
    return begin + (along / SIDE)[:, None] * (end - begin)


def followed(name, rate, **options):
    """Lead an arm round a square; times (m,) and offsets (m, 3) of its tip."""
    robot = load_urdf(example_arm(name))
    judge = Judge(robot.source, 'base_link', 'tool0')
    chain, options = robot.chain('base_link', 'tool0'), FollowerOptions(**options)
    arm, q = ArmFollower(chain, options), np.array(STARTS[name])
    start, due, offsets = judge.pose(q), 0.0, []
    times = DT * np.arange(1, round(DURATION / DT) + 1)
    for time in times:
        goal = None
        while due < time:
            goal = start.copy()
            goal[:3, 3] += on_square(np.array([due]))[0]
            due += 1.0 / rate
        q = arm.step(goal, DT, measured=q)
        offsets.append(judge.pose(q)[:3, 3] - start[:3, 3])
    return times, np.array(offsets)


def outside(offsets):
    """How far a tip was outside the square [m]."""
    return np.maximum(-offsets, offsets - SIDE)[:, 1:].max()


@pytest.mark.parametrize('rate', [100.0, 50.0, 20.0])
@pytest.mark.parametrize('name', STARTS)
def test_tip_is_led_round_the_corners_of_a_square(name, rate):
    times, offsets = followed(name, rate)
    counts = times > RUN_UP
    times, offsets = times[counts], offsets[counts]
    squares = [np.sum((offsets - on_square(times - lag)) ** 2, axis=1).mean() for lag in LAGS]
    assert np.sqrt(min(squares)) < CLOSE
    assert np.linalg.norm(np.diff(offsets, axis=0), axis=1).min() / DT > SLOWEST
    assert outside(offsets) < 0.004


@pytest.mark.parametrize(('acceleration', 'most'), [(0.3, 0.025), (0.5, 0.015), (0.75, 0.004)])
@pytest.mark.parametrize('name', STARTS)
def test_tip_that_turns_slowly_does_not_go_far_past_corners(name, acceleration, most):
    """It can turn as fast as the longest mean of the goal from 0.75 m/s^2 on, and brakes first."""
    _, offsets = followed(name, 100.0, max_tip_acceleration=acceleration)
    assert outside(offsets) < most
