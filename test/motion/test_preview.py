"""What is ahead on a path, beside what pinocchio and the motion itself say of it."""

from fabrik_ros import load_urdf, SolverOptions
from fabrik_ros.motion.goal import MotionOptions
from fabrik_ros.motion.limits import MotionLimits
from fabrik_ros.motion.motion import Motion
from fabrik_ros.reasons import ReasonKind
from helpers import PLANAR, SIX_AXIS
from judging import Judge
import numpy as np
import pytest

DT = 0.01


def motion_of(urdf, start, path='line', tip_speed=0.25):
    chain = load_urdf(urdf).chain()
    n = len(chain)
    limits = MotionLimits(tip_speed, 1.0, 1.0, np.full(n, 1.5), np.full(n, 5.0))
    motion = Motion(chain, limits, SolverOptions(max_restarts=20), MotionOptions(path))
    motion.reset(np.array(start))
    return motion


def whole(motion):
    """Look along the active path to its end; return all previews."""
    return list(motion.path.preview(None))


START = (0.1, -1.0, 1.2, 0.3, 0.8, 0.2)


@pytest.fixture(scope='module')
def judge():
    return Judge(SIX_AXIS, 'l0', 'l7')


def test_line_is_as_long_as_it_is_and_ends_where_the_arm_will(judge):
    motion = motion_of(SIX_AXIS, START)
    T = judge.pose(START)
    T[:3, 3] += 0.0, 0.12, -0.05
    assert motion.aim(T)
    previews = whole(motion)
    last = previews[-1]
    assert [preview.is_complete for preview in previews] == [False] * (len(previews) - 1) + [True]
    assert last.reason is None
    assert last.length == pytest.approx(np.hypot(0.12, 0.05), rel=1e-3)
    assert np.abs(judge.pose(last.q) - T).max() < 1e-6
    np.testing.assert_allclose(last.points[-1, 0], T[:3, 3], atol=1e-6)
    before = motion.q.copy()
    while not motion.is_at_rest:
        motion.step(DT)
    np.testing.assert_allclose(motion.q, last.q, atol=1e-3)
    assert not np.array_equal(before, motion.q)


def test_points_of_a_line_lie_on_it_and_the_arm_has_not_moved(judge):
    motion = motion_of(SIX_AXIS, START)
    T = judge.pose(START)
    T[:3, 3] += 0.1, 0.0, 0.1
    motion.aim(T)
    q = motion.q.copy()
    points = whole(motion)[-1].points[:, 0]
    along = (T[:3, 3] - points[0]) / np.linalg.norm(T[:3, 3] - points[0])
    apart = np.linalg.norm(np.cross(points - points[0], along), axis=1)
    assert apart.max() < 1e-6
    assert np.array_equal(motion.q, q)


def test_no_motion_takes_less_time_than_its_preview_says(judge):
    for path in ('line', 'joint'):
        motion = motion_of(SIX_AXIS, START, path)
        T = judge.pose(START)
        T[:3, 3] += 0.0, 0.2, 0.0
        motion.aim(T)
        expected, steps = whole(motion)[-1].duration, 0
        while not motion.is_at_rest:
            motion.step(DT)
            steps += 1
        assert expected <= steps * DT <= expected + 1.5


def test_line_through_the_base_of_an_arm_ends_at_a_place_with_a_reason():
    judge = Judge(PLANAR, 'l0', 'l3')
    start = (0.4, 1.2)
    motion = motion_of(PLANAR, start)
    goal = judge.pose((-2.7, 1.2))
    assert motion.aim(goal)
    last = whole(motion)[-1]
    assert last.reason is not None
    assert last.reason.kind is ReasonKind.PATH_BLOCKED
    assert 0.0 < last.share < 1.0
    np.testing.assert_allclose(last.reason.place[0], last.points[-1, 0])
    np.testing.assert_allclose(judge.pose(last.q)[:3, 3], last.reason.place[0], atol=1e-6)


def test_joint_path_goes_straight_to_its_end():
    motion = motion_of(SIX_AXIS, START)
    q_end = np.add(START, (0.5, -0.3, 0.2, 0.0, 0.4, -0.6))
    motion.go_to(q_end)
    last = whole(motion)[-1]
    np.testing.assert_allclose(last.q, q_end)
    assert last.is_complete
    assert last.duration >= 0.6 / 1.5


def test_paths_without_an_end_have_no_preview():
    motion = motion_of(SIX_AXIS, START)
    motion.jog(np.array([0.1, 0.0, 0.0, 0.0, 0.0, 0.0]))
    motion.step(DT)
    assert whole(motion) == []
