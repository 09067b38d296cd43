"""
Arms that share no joints, each led by a hand of its own: none is held by what another one meets.

The poses are judged by pinocchio, clearances by the distance of balls from a plane.

"""

from collections import Counter
import functools

import pytest

pytest.importorskip('pinocchio', reason='pinocchio is the judge')
pytest.importorskip('coal', reason='coal measures the distances')

from collision_models import body, with_bodies
from fabrik_ros import ArmFollower, FollowerOptions, load_urdf, State
from fabrik_ros.collision import CollisionGuard, Obstacle, Scene
from fabrik_ros.model.geometry import Box
from fabrik_ros.solver.tree_solver import TreeSolver
from helpers import examples, mostly_long
from hypothesis import given, settings, strategies as st
from judging import pose_errors
import numpy as np
from two_arms import check_joints, DT, judges, START, TIPS, two_arms_xml

LEFT, RIGHT = 0, 1
RADIUS, CLEARANCE = 0.04, 0.02
BALL = body(f'<sphere radius="{RADIUS}"/>')
ROBOT = load_urdf(with_bodies(two_arms_xml(), dict.fromkeys(TIPS, BALL)))
TREE = ROBOT.tree('base', TIPS)
POSES = judges().poses(START)
PUSHED = 0.1
"""How far from the start of a hand its shelf is [m]."""
SETTLING, COUNTED = 150, 200
SLOWER, ROUNDING = 1.02, 1e-4
"""How much farther behind its hand a tip may be beside one that is blocked [1], [m]."""


def shelf(tip, distance=PUSHED, name='shelf'):
    """Put a plane outwards of a tip, so far from where its ball begins [m]."""
    T = np.eye(4)
    outwards = 1.0 if tip == LEFT else -1.0
    T[:3, 3] = POSES[tip, :3, 3] + [0.0, outwards * (distance + RADIUS + 0.01), 0.0]
    return Obstacle(name, Box((2.0, 0.02, 2.0)), T)


def gap(q, tip, distance=PUSHED):
    """Distance [m] between the ball of a tip and its shelf."""
    outwards = 1.0 if tip == LEFT else -1.0
    return distance - outwards * (judges().poses(q)[tip] - POSES[tip])[1, 3]


def circling(tip, radius=0.08, pace=2.0):
    """Let a hand circle upright, in front of its arm."""

    def pose(t):
        T = POSES[tip].copy()
        T[0, 3] += radius * np.sin(pace * t)
        T[2, 3] += radius * (1.0 - np.cos(pace * t))
        return T

    return pose


def pushing(tip, way, speed=0.2, farthest=0.4):
    """Let a hand push along a way, stay there, and tremble, so that no target is a repeat."""

    def pose(t):
        T = POSES[tip].copy()
        T[:3, 3] += np.array(way) * (min(speed * t, farthest) + 2e-4 * (round(t / DT) % 2))
        return T

    return pose


def turning(tip, speed=0.8):
    """Let a hand turn about its own axis, beyond the limit of the last joint."""

    def pose(t):
        angle = min(speed * t, 4.0) + 2e-3 * (round(t / DT) % 2)
        c, s = np.cos(angle), np.sin(angle)
        T = POSES[tip].copy()
        T[:3, :3] = T[:3, :3] @ [[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]]
        return T

    return pose


def once(tip, way):
    """Let a hand give one target, and nothing more."""

    def pose(t):
        T = POSES[tip].copy()
        T[:3, 3] += way
        return T if t < 2.5 * DT else np.full((4, 4), np.nan)

    return pose


def silent(t):
    return np.full((4, 4), np.nan)


def follow(hands, obstacles=(), steps=SETTLING + COUNTED, **options):
    """Follow the hands of both tips; returns joint values, shape (m + 1, n), and what is said."""
    arm = ArmFollower(TREE, FollowerOptions(**options), robot=ROBOT, scene=Scene(obstacles))
    q, said = [START], []
    for i in range(steps):
        targets = np.array([hand(i * DT) for hand in hands])
        q.append(arm.step(targets, DT, measured=q[-1]))
        said.append((arm.state, str(arm.reason)))
    return np.array(q), said


def lags(q, tip, hand, settling=SETTLING):
    """How far a tip is behind its hand in each of the steps that count [m]."""
    times = DT * np.arange(len(q) - 1)[settling:]
    poses = [judges().poses(values)[tip] for values in q[1 + settling :]]
    return np.array([pose_errors(hand(t), T)[0] for t, T in zip(times, poses, strict=True)])


def lag_without(tip, hand, **options):
    """How far a tip is behind its hand at most, beside one without targets [m]."""
    hands = [silent, silent]
    hands[tip] = hand
    return lags(follow(hands, **options)[0], tip, hand).max()


@functools.cache
def lag_of_circling(tip, **options):
    """Tell the same of a hand that circles."""
    return lag_without(tip, circling(tip), **options)


BLOCKED = {
    'obstacle': ((0.0, 1.0, 0.0), 'collision ahead'),
    'reach': ((1.0, 0.0, 0.0), 'farther away than the arm is long'),
    'both': ((1.0, 1.0, 0.0), 'collision ahead'),
}
"""Outwards or forwards for the left hand; the right one goes to the other side."""


def side(tip, way):
    return np.array(way) * [1.0, 1.0 if tip == LEFT else -1.0, 1.0]


@pytest.mark.parametrize('kind', BLOCKED)
@pytest.mark.parametrize('blocked', mostly_long([LEFT, RIGHT], LEFT))
@pytest.mark.parametrize('idle_tips', mostly_long(['keep', 'free'], 'keep'))
def test_tip_beside_a_blocked_one_is_followed_as_if_it_were_alone(kind, blocked, idle_tips):
    free, (way, why) = 1 - blocked, BLOCKED[kind]
    hands = [circling(LEFT), circling(RIGHT)]
    hands[blocked] = pushing(blocked, side(blocked, way), farthest=1.2)
    q, said = follow(hands, [shelf(blocked)], idle_tips=idle_tips)
    alone = lag_of_circling(free, idle_tips=idle_tips)
    assert lags(q, free, hands[free]).max() <= SLOWER * alone + ROUNDING
    assert min(gap(values, blocked) for values in q) > CLEARANCE - 1e-4
    check_joints(q, TREE.lower, TREE.upper)
    for state, reason in said[-20:]:
        assert state is State.MOVING
        assert f'{TIPS[blocked]!r}: ' in reason
        assert why in reason
        assert f'{TIPS[free]!r}: ' not in reason


@pytest.mark.parametrize('blocked', mostly_long([LEFT, RIGHT], LEFT))
def test_tip_beside_one_at_a_limit_is_followed_as_if_it_were_alone(blocked):
    free = 1 - blocked
    hands = [circling(LEFT), circling(RIGHT)]
    hands[blocked] = turning(blocked)
    q, said = follow(hands, steps=600)
    assert lags(q, free, hands[free]).max() <= SLOWER * lag_of_circling(free) + ROUNDING
    check_joints(q, TREE.lower, TREE.upper)
    assert said[-1][0] is State.MOVING
    assert f'{TIPS[blocked]!r}: ' in said[-1][1]


@pytest.mark.parametrize('way', [(0.0, 0.05, 0.0), (0.0, 0.3, 0.0), (1.5, 0.0, 0.0)])
def test_tip_beside_one_that_has_fallen_silent_is_followed_as_if_it_were_alone(way):
    hands = [once(LEFT, way), circling(RIGHT)]
    q, _ = follow(hands, [shelf(LEFT)])
    assert lags(q, RIGHT, hands[RIGHT]).max() <= SLOWER * lag_of_circling(RIGHT) + ROUNDING
    assert min(gap(values, LEFT) for values in q) > CLEARANCE - 1e-4
    check_joints(q, TREE.lower, TREE.upper)


def test_tip_that_was_blocked_follows_on_when_its_hand_comes_back():
    begin, speed = SETTLING * DT, 0.1

    def hand(t):
        there = pushing(LEFT, (0.0, 1.0, 0.0))
        if t < begin:
            return there(t)
        T = POSES[LEFT].copy()
        T[1, 3] += PUSHED - CLEARANCE - speed * (t - begin)
        return T

    hands = [hand, circling(RIGHT)]
    q, said = follow(hands, [shelf(LEFT)])
    assert 'collision ahead' in said[SETTLING - 1][1]
    alone = lag_without(LEFT, pushing(LEFT, (0.0, -1.0, 0.0), speed))
    late = lags(q, LEFT, hand)[COUNTED // 2 :]
    assert late.max() <= SLOWER * alone + 1e-3
    assert said[-1] == (State.MOVING, 'None')


def test_tip_that_was_blocked_and_fell_silent_stays_though_the_way_is_free_again():
    """Nothing sets out by itself, whatever the other hand does."""
    push, gone = pushing(LEFT, (0.0, 1.0, 0.0)), SETTLING * DT
    hands = [lambda t: push(t) if t < gone else silent(t), circling(RIGHT)]
    arm = ArmFollower(TREE, FollowerOptions(), robot=ROBOT, scene=Scene([shelf(LEFT)]))
    q = [START]
    for i in range(SETTLING + COUNTED):
        if i == SETTLING + 50:
            arm.set_scene(Scene([shelf(LEFT, 2.0)]))
        q.append(arm.step(np.array([hand(i * DT) for hand in hands]), DT, measured=q[-1]))
    last = np.array(q[SETTLING + 20 :])
    assert np.abs(last[:, :6] - last[0, :6]).max() < 1e-9
    assert arm.state is State.MOVING
    assert f'{TIPS[LEFT]!r}: ' in str(arm.reason)


@pytest.mark.parametrize('blocked', mostly_long([LEFT, RIGHT], LEFT))
@pytest.mark.parametrize('farthest', mostly_long([0.4, 1.2], 1.2))
def test_step_beside_a_blocked_tip_costs_at_most_twice_what_a_free_one_does(
    blocked, farthest, monkeypatch
):
    counts = Counter()

    def counted(kind, name):
        original = getattr(kind, name)
        monkeypatch.setattr(
            kind, name, lambda *args: counts.update([kind.__name__]) or original(*args)
        )

    counted(CollisionGuard, 'allows')
    counted(TreeSolver, 'solve')
    counted(TreeSolver, 'solve_within')
    hands = [circling(LEFT), circling(RIGHT)]
    follow(hands)
    free = Counter(counts)
    counts.clear()
    hands[blocked] = pushing(blocked, side(blocked, (0.0, 1.0, 0.0)), farthest=farthest)
    follow(hands, [shelf(blocked)])
    assert min(free.values()) >= SETTLING + COUNTED - 1
    assert all(counts[name] <= 2 * free[name] for name in free)


def test_tips_that_are_both_blocked_hold_and_both_are_named():
    hands = [pushing(tip, side(tip, (0.0, 1.0, 0.0))) for tip in (LEFT, RIGHT)]
    q, said = follow(hands, [shelf(LEFT), shelf(RIGHT, name='other')])
    check_joints(q, TREE.lower, TREE.upper)
    for state, reason in said[SETTLING:]:
        assert state is State.HOLDING
        assert 'collision ahead' in reason
        assert 'stream_timeout' in reason
    for tip in (LEFT, RIGHT):
        assert CLEARANCE - 1e-4 < gap(q[-1], tip) < CLEARANCE + 5e-3


def test_tips_that_are_pushed_into_each_other_stop_in_front_of_each_other():
    hands = [pushing(tip, side(tip, (0.0, -1.0, 0.0)), farthest=0.6) for tip in (LEFT, RIGHT)]
    q, _ = follow(hands, steps=500)
    check_joints(q, TREE.lower, TREE.upper)
    tips = np.array([judges().poses(values)[:, :3, 3] for values in q])
    distances = np.linalg.norm(tips[:, LEFT] - tips[:, RIGHT], axis=1) - 2.0 * RADIUS
    assert 0.0 < distances.min() < 0.1


@given(
    pace=st.floats(0.5, 2.5),
    radius=st.floats(0.02, 0.1),
    speed=st.floats(0.05, 0.6),
    way=st.tuples(st.floats(-0.5, 1.0), st.floats(0.5, 1.0), st.floats(-0.5, 0.5)),
    distance=st.floats(0.06, 0.3),
)
@settings(max_examples=examples(2, 5), deadline=None)
def test_law_of_arms_apart(pace, radius, speed, way, distance):
    """However a hand pushes, the other tip keeps up with its own, within all limits."""
    hands = [pushing(LEFT, way, speed, farthest=0.8), circling(RIGHT, radius, pace)]
    q, _ = follow(hands, [shelf(LEFT, distance)])
    alone = lag_without(RIGHT, hands[RIGHT])
    assert lags(q, RIGHT, hands[RIGHT]).max() <= SLOWER * alone + ROUNDING
    assert min(gap(values, LEFT, distance) for values in q) > CLEARANCE - 1e-4
    check_joints(q, TREE.lower, TREE.upper)


@pytest.mark.parametrize('jerk', mostly_long([30.0, 100.0, 500.0], 100.0))
def test_tip_beside_a_blocked_one_is_followed_where_the_jerk_is_limited(jerk):
    """The joints of the blocked arm come to rest on their own while those of the other go on."""
    pytest.importorskip('ruckig', reason='the extra `motion`: pip install ruckig')
    hands = [pushing(LEFT, (0.0, 1.0, 0.0)), circling(RIGHT)]
    q, said = follow(hands, [shelf(LEFT)], max_joint_jerk=jerk)
    alone = follow([silent, circling(RIGHT)], max_joint_jerk=jerk)[0]
    assert lags(q, RIGHT, hands[RIGHT], 0).max() <= (
        SLOWER * lags(alone, RIGHT, hands[RIGHT], 0).max() + ROUNDING
    )
    assert min(gap(values, LEFT) for values in q) > CLEARANCE - 1e-4
    check_joints(q, TREE.lower, TREE.upper)
    jerks = np.diff(q, n=3, axis=0) / DT**3
    assert np.abs(jerks).max() <= jerk * (1.0 + 1e-3)
    assert said[-1][0] is State.MOVING
    assert f'{TIPS[LEFT]!r}: collision ahead' in said[-1][1]
