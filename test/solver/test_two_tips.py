"""Motions of arms that share a base: they travel together, and a tip may be free."""

import pytest

pytest.importorskip('pinocchio', reason='pinocchio is the judge')

from fabrik_ros.motion.lines.line_reference import LineReference
from helpers import assert_close, why
from judging import distances_from_line, pose_errors
import numpy as np
from two_arms import check_joints, DT, judges, limits_for, motion_of, START, two_arms

FREE = np.full((4, 4), np.nan)


def moved(T, *ways):
    T = T.copy()
    T[:, :3, 3] += np.array(ways)
    return T


def run(motion, longest=30.0):
    q = [motion.q]
    while not motion.is_at_rest:
        motion.step(DT)
        q.append(motion.q)
        assert len(q) < longest / DT, f'the arms never rest: {motion.path}'
    return np.array(q)


def steps(motion, count):
    q = [motion.q]
    for _ in range(count):
        motion.step(DT)
        q.append(motion.q)
    return np.array(q)


def check(q):
    check_joints(q, two_arms().lower, two_arms().upper)


def test_tips_go_straight_and_arrive_together():
    motion, start = motion_of(two_arms(), START), judges().poses(START)
    goal = moved(start, (0.0, 0.1, 0.2), (0.1, -0.3, 0.1))
    assert motion.aim(goal)
    q = run(motion)
    check(q)
    tips = np.array([judges().poses(row)[:, :3, 3] for row in q])
    shares = []
    for i in range(2):
        ends = start[i, :3, 3], goal[i, :3, 3]
        assert distances_from_line(tips[:, i], *ends).max() < 1e-6
        assert np.linalg.norm(np.diff(tips[:, i], axis=0), axis=1).max() <= 0.25 * DT * (1 + 1e-6)
        way = ends[1] - ends[0]
        shares.append((tips[:, i] - ends[0]) @ way / (way @ way))
        assert pose_errors(goal[i], judges().poses(q[-1])[i]) < (1e-5, 1e-4)
    assert_close(shares[0], shares[1], 1e-5)


def test_tip_with_the_longest_way_sets_the_pace():
    """0.4 m at 0.25 m/s, 1 m/s^2: 1.6 s and 0.25 s for getting fast and slow; some more."""
    motion, start = motion_of(two_arms(), START), judges().poses(START)
    motion.aim(moved(start, (0.0, 0.4, 0.0), (0.01, 0.0, 0.0)))
    assert 1.85 <= DT * len(run(motion)) <= 2.6


def test_arm_whose_tip_is_free_moves_not_at_all():
    motion, start = motion_of(two_arms(), START), judges().poses(START)
    goal = moved(start, (0.0, 0.1, 0.2), (0.0, 0.0, 0.0))
    goal[1] = FREE
    assert motion.aim(goal)
    q = run(motion)
    check(q)
    assert pose_errors(goal[0], judges().poses(q[-1])[0]) < (1e-5, 1e-4)
    assert np.array_equal(q[-1, 6:], START[6:])


def both_and_one():
    """Goals for both tips, and the same with the right one free."""
    both = moved(judges().poses(START), (0.0, 0.3, 0.1), (0.0, -0.3, 0.1))
    one = both.copy()
    one[1] = FREE
    return both, one


def left_speeds(motion, first, second):
    """Speeds [m/s] of the left tip on the way to the first goal, then from step 70 to another."""
    motion.aim(first)
    q = [steps(motion, 70)]
    motion.aim(second)
    q = np.concatenate([*q, run(motion)[1:]])
    check(q)
    assert pose_errors(second[0], judges().poses(q[-1])[0]) < (1e-5, 1e-4)
    tips = np.array([judges().poses(row)[0, :3, 3] for row in q])
    return np.linalg.norm(np.diff(tips, axis=0), axis=1) / DT


def test_tip_keeps_its_speed_when_another_becomes_free():
    speeds = left_speeds(motion_of(two_arms(), START), *both_and_one())
    assert speeds[68:74].min() > 0.95 * 0.25


def test_tip_slows_down_gently_when_another_gets_a_goal_that_is_farther_away():
    speeds = left_speeds(motion_of(two_arms(), START), *both_and_one()[::-1])
    assert speeds[69] > 0.98 * 0.25
    assert np.abs(np.diff(speeds)).max() / DT <= 1.0 * (1.0 + 1e-3)
    assert speeds[100:120].max() < 0.2


def test_goal_of_one_tip_out_of_reach_is_approached_by_that_tip():
    motion, start = motion_of(two_arms(), START, path='joint'), judges().poses(START)
    goal = moved(start, (3.0, 0.0, 0.0), (0.0, -0.1, 0.0))
    assert motion.aim(goal)
    assert 'farther away' in why(motion)
    q = run(motion)
    check(q)
    assert pose_errors(goal[1], judges().poses(q[-1])[1]) < (1e-5, 1e-4)


def test_lines_of_two_tips_that_do_the_same_are_the_line_of_one():
    chain = two_arms().chains[0]
    q = START[:6]
    T = chain.tip_poses(q)
    goal = T.copy()
    goal[0, :3, 3] += 0.1, -0.2, 0.05
    one = LineReference(T, q, limits_for(chain))
    both = LineReference(np.repeat(T, 2, axis=0), q, limits_for(chain))
    one.head_for(goal)
    both.head_for(np.repeat(goal, 2, axis=0))
    for _ in range(300):
        speeds = one.next_speed(DT, 1.0), both.next_speed(DT, 1.0)
        one.advance(speeds[0], DT, one.pose_after(speeds[0], DT), q)
        both.advance(speeds[1], DT, both.pose_after(speeds[1], DT), q)
        assert np.array_equal(one.T, both.T[:1])
        assert np.array_equal(one.T, both.T[1:])
    assert one.has_arrived()
    assert both.has_arrived()
