"""What is ahead on a path, beside what pinocchio and the motion itself say of it."""

import functools
import math

import pytest

pytest.importorskip('pinocchio', reason='pinocchio is the judge')

from collision_models import body, with_bodies
from fabrik_ros import load_urdf, SolverOptions
from fabrik_ros.kernels._jit import COMPILED
from fabrik_ros.motion.choosing.goal import Goal, MotionOptions
from fabrik_ros.motion.choosing.motion import Motion
from fabrik_ros.motion.limits.limits import MotionLimits
from fabrik_ros.motion.paths.preview import Ahead, PathChecker, PIECE
from fabrik_ros.planning.pieces import finish
from fabrik_ros.reasons import Reason, ReasonKind
from helpers import assert_close, examples, PLANAR, SIX_AXIS
from hypothesis import given, settings, strategies as st
from judging import distances_from_line, Judge
import numpy as np

DT = 0.01
EXAMPLES = examples(15, 40) if COMPILED else 3
START = (0.1, -1.0, 1.2, 0.3, 0.8, 0.2)
FASTEST = 1.5
seeds = st.integers(0, 2**32 - 1)
judge = Judge(SIX_AXIS, 'l0', 'l7')
planar_judge = Judge(PLANAR, 'l0', 'l3')
SHORTEST = math.sqrt(1.0 + 0.8**2 + 1.6 * math.cos(3.0))
"""Reach of the two links of `PLANAR` when they are folded up to the limit [m]."""


@functools.cache
def chain_of(urdf):
    return load_urdf(urdf).chain()


def motion_of(urdf, start, path='line', tip_speed=0.25):
    chain = chain_of(urdf)
    n = len(chain)
    limits = MotionLimits(tip_speed, 1.0, 1.0, np.full(n, FASTEST), np.full(n, 5.0))
    motion = Motion(chain, limits, SolverOptions(max_restarts=20), MotionOptions(path))
    motion.reset(np.array(start))
    return motion


def onlooker_of(motion):
    return PathChecker(motion.robot, motion.limiter.joints, None)


def look(motion):
    """Look along the path that the arm follows, to its end."""
    return finish(onlooker_of(motion).look(motion.path.ahead()))


def look_along(configurations, guard=None):
    """Look along joint values of two links, the first of which is where they are."""
    motion = motion_of(PLANAR, configurations[0])
    ahead = Ahead('a test', np.array(configurations[0]), iter(configurations[1:]), 4)
    return finish(PathChecker(motion.robot, motion.limiter.joints, guard).look(ahead))


def test_line_is_as_long_as_it_is_and_ends_where_the_arm_will():
    motion = motion_of(SIX_AXIS, START)
    T = judge.pose(START)
    T[:3, 3] += 0.0, 0.12, -0.05
    assert motion.aim(T)
    preview = look(motion)
    assert preview.reason is None
    assert preview.share == 1.0
    assert preview.length == pytest.approx(np.hypot(0.12, 0.05), rel=1e-3)
    assert np.abs(judge.pose(preview.q) - T).max() < 1e-6
    assert_close(preview.tips[-1, 0, :3, 3], T[:3, 3], 1e-6)
    before = motion.q.copy()
    while not motion.is_at_rest:
        motion.step(DT)
    assert_close(motion.q, preview.q, 1e-3)
    assert not np.array_equal(before, motion.q)


def test_points_of_a_line_lie_on_it_and_the_arm_has_not_moved():
    motion = motion_of(SIX_AXIS, START)
    T = judge.pose(START)
    begin = T[:3, 3].copy()
    T[:3, 3] += 0.1, 0.0, 0.1
    motion.aim(T)
    q = motion.q.copy()
    points = look(motion).tips[:, 0, :3, 3]
    assert_close(points[0], begin, 1e-9)
    assert distances_from_line(points, begin, T[:3, 3]).max() < 1e-6
    assert np.array_equal(motion.q, q)


@given(seeds, st.sampled_from(['line', 'joint']))
@settings(max_examples=EXAMPLES, deadline=None)
def test_arm_arrives_where_its_preview_ends_and_no_sooner_than_that_says(seed, path):
    motion = motion_of(SIX_AXIS, START, path)
    elsewhere = judge.random_configuration(np.random.default_rng(seed))
    motion.aim(judge.pose(np.array(START) + 0.3 * (elsewhere - START)))
    if motion.path is None:
        return
    preview, steps, travel = look(motion), 0, np.zeros(6)
    assert preview.reason is None
    while not motion.is_at_rest:
        before = motion.q
        motion.step(DT)
        travel += np.abs(motion.q - before)
        steps += 1
    assert_close(motion.q, preview.q, 2e-3)
    assert preview.duration <= (steps + 1) * DT
    assert_close(travel, preview.travel, 2e-2)


def test_no_motion_takes_much_longer_than_its_preview_says():
    for path in ('line', 'joint'):
        motion = motion_of(SIX_AXIS, START, path)
        T = judge.pose(START)
        T[:3, 3] += 0.0, 0.2, 0.0
        motion.aim(T)
        expected, steps = look(motion).duration, 0
        while not motion.is_at_rest:
            motion.step(DT)
            steps += 1
        assert expected <= steps * DT <= expected + 1.5


def test_line_through_the_base_of_an_arm_ends_at_a_place_with_a_reason_and_is_not_begun():
    start = np.array((0.4, 1.2))
    motion = motion_of(PLANAR, start)
    goal = planar_judge.pose((-2.7, 1.2))
    assert not motion.aim(goal)
    preview = motion.found.preview
    assert preview.reason.kind is ReasonKind.PATH_BLOCKED
    assert preview.reason is motion.reason
    assert 0.0 < preview.share < 1.0
    place = preview.reason.place[0]
    assert_close(place, preview.tips[-1, 0, :3, 3])
    assert_close(planar_judge.pose(preview.q)[:3, 3], place, 1e-6)
    begin = planar_judge.pose(start)[:3, 3]
    assert distances_from_line(place[None], begin, goal[:3, 3])[0] < 1e-4
    gone = np.linalg.norm(place - begin) / np.linalg.norm(goal[:3, 3] - begin)
    assert preview.share == pytest.approx(gone, abs=0.02)
    shown = ' '.join(f'{coordinate:.2f}' for coordinate in place)
    assert f'the line ends after {100.0 * preview.share:.0f} %, at {shown}: ' in str(motion.reason)
    assert np.array_equal(motion.q, start)


def test_joint_path_goes_straight_to_its_end():
    motion = motion_of(SIX_AXIS, START)
    q_end = np.add(START, (0.5, -0.3, 0.2, 0.0, 0.4, -0.6))
    motion.go_to(q_end)
    preview = look(motion)
    assert_close(preview.q, q_end)
    assert preview.share == 1.0
    assert_close(preview.travel, np.abs(q_end - START), 1e-9)
    assert preview.duration >= 0.6 / FASTEST


def test_paths_without_an_end_have_no_preview():
    motion = motion_of(SIX_AXIS, START)
    motion.jog(np.array([0.1, 0.0, 0.0, 0.0, 0.0, 0.0]))
    motion.step(DT)
    with pytest.raises(NotImplementedError, match='JogPath'):
        motion.path.ahead()


def test_way_there_and_back_is_travel_and_length_though_it_ends_where_it_begins():
    there = np.array([0.3, -0.5])
    preview = look_along([np.zeros(2), there, np.zeros(2), there, np.zeros(2)])
    assert_close(preview.travel, 4.0 * np.abs(there))
    assert_close(preview.q, np.zeros(2))
    chord = np.linalg.norm(planar_judge.pose(there)[:3, 3] - [1.8, 0.0, 0.0])
    assert preview.length == pytest.approx(4.0 * chord)
    assert preview.duration >= 4.0 * 0.5 / FASTEST


@pytest.mark.parametrize('after', [0, 1, 3])
def test_what_blocks_a_path_is_named_with_the_share_and_the_place_before_it(after):
    q = [np.array([0.1 * number, 0.2]) for number in range(after + 1)]
    blocked = Reason(ReasonKind.PATH_BLOCKED, 'a wall', ('j1',))
    preview = look_along([*q, blocked])
    assert preview.share == after / 4
    assert preview.reason.kind is ReasonKind.PATH_BLOCKED
    assert preview.reason.joints == ('j1',)
    place = planar_judge.pose(q[-1])[:3, 3]
    assert_close(preview.reason.place[0], place, 1e-9)
    assert_close(preview.q, q[-1])
    assert len(preview.tips) == after + 1
    shown = ' '.join(f'{coordinate:.2f}' for coordinate in place)
    assert str(preview.reason) == f'a test ends after {25 * after} %, at {shown}: a wall'


def test_look_stops_after_every_few_configurations_and_does_no_more():
    asked = []

    def configurations():
        for number in range(1, 10 * PIECE + 1):
            asked.append(number)
            yield np.array([0.01 * number, 0.0])

    motion = motion_of(PLANAR, (0.0, 0.0))
    work = onlooker_of(motion).look(Ahead('a test', np.zeros(2), configurations(), 10 * PIECE))
    for pieces in range(1, 11):
        next(work)
        assert len(asked) == pieces * PIECE


BALL = '<sphere radius="0.1"/>'


@given(st.floats(0.3, 2.0), st.floats(0.02, 0.3))
@settings(max_examples=EXAMPLES, deadline=None)
def test_post_in_the_way_is_met_where_trigonometry_says(at, step):
    """The elbow swings on a circle towards a ball; both have a radius of 0.1 m."""
    pytest.importorskip('coal', reason='coal measures the distances')
    from fabrik_ros.collision import CollisionGuard, SelfCollision

    post = body(BALL, f'{math.cos(at)} {math.sin(at)} 0')
    robot = load_urdf(with_bodies(PLANAR, {'l0': post, 'l2': body(BALL)}))
    chain = robot.chain('l0', 'l3')
    guard = CollisionGuard(SelfCollision(robot, chain))
    motion = Motion(
        chain,
        MotionLimits(0.25, 1.0, 1.0, np.full(2, 1.5), np.full(2, 5.0)),
        SolverOptions(mode='position'),
        MotionOptions(),
        guard=guard,
    )
    touches = at - 2.0 * math.asin(0.5 * 0.202)
    start = np.array([touches - 1.0, 0.5])
    path = [start + np.array([step * number, 0.0]) for number in range(math.ceil(2.0 / step))]
    ahead = Ahead('a test', start, iter(path[1:]), len(path) - 1)
    preview = finish(PathChecker(chain, motion.limiter.joints, guard).look(ahead))
    assert preview.reason.kind is ReasonKind.COLLISION_AHEAD
    assert 'l0' in str(preview.reason)
    assert 'l2' in str(preview.reason)
    assert touches - step - 3e-3 <= preview.q[0] <= touches + 1e-3


def test_motion_looks_in_pieces_and_moves_only_once_it_has_looked_to_the_end():
    motion = motion_of(SIX_AXIS, START)
    T = judge.pose(START)
    T[:3, 3] += 0.0, 0.2, 0.0
    motion.pursue(Goal.of(T[None]))
    pieces = 0
    while motion.is_looking:
        assert motion.path is None
        assert motion.reason.kind is ReasonKind.LOOKING
        motion.look(DT, 0.0)
        pieces += 1
        assert np.array_equal(motion.q, START)
    assert pieces > 5
    assert motion.path is not None
