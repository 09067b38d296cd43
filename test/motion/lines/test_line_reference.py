"""References that move: judged by distances, angles by pinocchio, and differences of poses."""

import itertools

import pytest

pytest.importorskip('pinocchio', reason='pinocchio is the judge')

from fabrik_ros.kernels._jit import COMPILED
from fabrik_ros.motion.limits.limits import MotionLimits
from fabrik_ros.motion.lines.jog_reference import Jog, JogReference
from fabrik_ros.motion.lines.line_reference import LineReference
from helpers import assert_close
from hypothesis import given, settings, strategies as st
from judging import distances_from_line, pose_errors
import numpy as np
import pinocchio

EXAMPLES = 50 if COMPILED else 5
DT = 0.01
SPEED, TURNING, HARDNESS = 0.25, 1.0, 1.0
LIMITS = MotionLimits(SPEED, TURNING, HARDNESS, np.ones(2), np.ones(2))
HARDNESS_OF_TURNING = HARDNESS / SPEED * TURNING
ROUNDING = 1e-6
LANDING = 1.1e-4 * TURNING
"""From so near a goal is reached in one step: a change of speed [m/s, rad/s]."""
LONGEST = 4000
seeds = st.integers(0, 2**32 - 1)
sizes = st.sampled_from([0.0, 1e-4, 0.02, 0.3, 1.0])


def pose(rng, size=1.0):
    """Pose at most a metre and three radians from the origin, times a size."""
    turn = rng.normal(size=3)
    turn *= size * rng.uniform(0.0, 3.0) / np.linalg.norm(turn)
    return pinocchio.SE3(pinocchio.exp3(turn), size * rng.uniform(-0.5, 0.5, 3)).homogeneous


def poses_near(T, seed, size):
    """Poses some way from others, shape (k, 4, 4)."""
    rng = np.random.default_rng(seed)
    moves = [pose(rng, size) for _ in T]
    T_near = T.copy()
    for before, after, move in zip(T, T_near, moves, strict=True):
        after[:3, :3] = before[:3, :3] @ move[:3, :3]
        after[:3, 3] = before[:3, 3] + move[:3, 3]
    return T_near


def start(seed, tips=1):
    rng = np.random.default_rng(seed)
    return np.array([pose(rng) for _ in range(tips)])


def go(reference, steps=LONGEST, until_arrived=True, margin=1.0):
    """Let a reference move; return its poses, shape (m, k, 4, 4)."""
    T = [reference.T]
    for _ in range(steps):
        if until_arrived and reference.has_arrived() and reference.pace == 0.0:
            break
        speed = reference.next_speed(DT, margin)
        reference.advance(speed, DT, reference.pose_after(speed, DT), reference.q)
        T.append(reference.T)
    return np.array(T)


def line_to(T, T_goal):
    line = LineReference(T, np.zeros(2), LIMITS)
    line.head_for(T_goal)
    return line


def jog_from(T, twist, in_tip=False):
    jog = Jog(len(T))
    jog.steer(np.array(twist, dtype=float), in_tip, 0)
    return JogReference(T, np.zeros(2), LIMITS, jog)


def velocities(T):
    """Linear and angular velocity of a tip, each (m - 1, 3), of poses (m, 4, 4)."""
    turns = [pinocchio.log3(b[:3, :3] @ a[:3, :3].T) for a, b in itertools.pairwise(T)]
    return np.diff(T[:, :3, 3], axis=0) / DT, np.array(turns).reshape(-1, 3) / DT


def check_speeds(T, share=1.0):
    """Check speeds of all tips, which come from rest, and accelerations up to a share of all."""
    for tip in range(T.shape[1]):
        limits = (SPEED, HARDNESS), (TURNING, HARDNESS_OF_TURNING)
        for velocity, (fastest, hardest) in zip(velocities(T[:, tip]), limits, strict=True):
            assert np.linalg.norm(velocity, axis=1).max(initial=0.0) <= fastest + ROUNDING
            changes = np.diff(np.vstack([np.zeros(3), velocity]), axis=0)
            change = np.linalg.norm(changes, axis=1).max(initial=0.0)
            assert change <= share * hardest * DT * 1.001 + LANDING


def shares(T, T_start, T_goal):
    """Share of the straight line that a tip is along at poses, shape (m, 4, 4)."""
    way = T_goal[:3, 3] - T_start[:3, 3]
    return (T[:, :3, 3] - T_start[:3, 3]) @ way / (way @ way)


class TestLine:
    @given(seeds, sizes, st.integers(1, 2))
    @settings(max_examples=EXAMPLES)
    def test_it_is_straight_and_turns_the_shortest_way_and_ends_at_the_goal(
        self, seed, size, tips
    ):
        T_start = start(seed, tips)
        T_goal = poses_near(T_start, seed + 1, size)
        T = go(line_to(T_start, T_goal))
        assert np.array_equal(T[-1], T_goal)
        check_speeds(T)
        for tip in range(tips):
            begin, end = T_start[tip], T_goal[tip]
            if size:
                away = distances_from_line(T[:, tip, :3, 3], begin[:3, 3], end[:3, 3])
                assert away.max() < 1e-9
            angle = pose_errors(begin, end).angle
            for now in T[:, tip]:
                turned, left = pose_errors(begin, now).angle, pose_errors(now, end).angle
                assert turned + left == pytest.approx(angle, abs=1e-6)

    @given(seeds, sizes.filter(bool))
    @settings(max_examples=EXAMPLES)
    def test_both_tips_are_always_as_far_along_and_never_turn_back(self, seed, size):
        T_start = start(seed, 2)
        T_goal = poses_near(T_start, seed + 1, size)
        T = go(line_to(T_start, T_goal))
        one, other = (shares(T[:, tip], T_start[tip], T_goal[tip]) for tip in (0, 1))
        assert_close(one, other, 1e-6)
        assert np.all(np.diff(one) > -1e-12)
        assert one[-1] == pytest.approx(1.0)

    @pytest.mark.parametrize('distance', [0.02, 0.4])
    def test_it_takes_as_long_as_the_textbook_says(self, distance):
        """Up to the speed and down again: d/v + v/a, or 2 sqrt(d/a) where that is not reached."""
        T_goal = np.eye(4)[None].copy()
        T_goal[0, 0, 3] = distance
        count = len(go(line_to(np.eye(4)[None], T_goal))) - 1
        is_short = distance * HARDNESS < SPEED**2
        duration = distance / SPEED + SPEED / HARDNESS
        duration = 2.0 * np.sqrt(distance / HARDNESS) if is_short else duration
        assert duration - DT <= count * DT <= duration + 4 * DT

    @given(seeds, st.lists(st.tuples(st.integers(1, 60), sizes), min_size=1, max_size=6))
    @settings(max_examples=EXAMPLES)
    def test_goals_that_change_on_the_way_are_no_jolt(self, seed, changes):
        """In a stream the speed changes by one share, and may then be cut by two."""
        T_start = start(seed)
        line, T = LineReference(T_start, np.zeros(2), LIMITS), [T_start[None]]
        was_filtered = False
        for i, (count, size) in enumerate(changes):
            line.head_for(poses_near(line.T, seed + i, size))
            was_filtered |= line.is_filtered
            T.append(go(line, count, until_arrived=False)[1:])
        T.append(go(line)[1:])
        check_speeds(np.concatenate(T), 3.0 if was_filtered else 1.0)
        assert np.array_equal(line.T, line.goal)

    @given(seeds, st.integers(1, 200))
    @settings(max_examples=EXAMPLES)
    def test_line_that_ends_early_rests_before_the_pose_ahead_that_showed_it(self, seed, count):
        T_start = start(seed)
        T_goal = poses_near(T_start, seed + 1, 1.0)
        line = line_to(T_start, T_goal)
        before = go(line, count, until_arrived=False)
        ahead, _ = line.pose_ahead(DT)
        line.ends_at = object()
        T = np.concatenate([before, go(line, 200, until_arrived=False)[1:]])
        check_speeds(T)
        assert line.pace == 0.0
        along = shares(T[:, 0], T_start[0], T_goal[0])
        assert along[-1] <= shares(ahead, T_start[0], T_goal[0])[0] + 1e-9
        away = distances_from_line(T[:, 0, :3, 3], T_start[0, :3, 3], T_goal[0, :3, 3])
        assert away.max() < 1e-9

    @pytest.mark.parametrize('share', [0.2, 0.5])
    @pytest.mark.parametrize('slow_down', ['scaling', 'margin', 'joints'])
    def test_it_goes_at_the_share_of_the_speed_that_is_left(self, share, slow_down):
        T_goal = np.eye(4)[None].copy()
        T_goal[0, :3, 3] = 0.3, 0.0, 0.4
        line = line_to(np.eye(4)[None], T_goal)
        if slow_down == 'scaling':
            line.scale_speed(share)
        elif slow_down == 'joints':
            line.greatest_share = share
        T = go(line, 80, margin=share if slow_down == 'margin' else 1.0)
        speeds = np.linalg.norm(velocities(T[:, 0])[0], axis=1)
        assert speeds.max() == pytest.approx(share * SPEED)

    def test_other_greatest_speeds_leave_it_as_fast_as_it_is(self):
        line = line_to(*(poses_near(start(1), 2, size) for size in (0.0, 1.0)))
        before = go(line, 20)
        other = MotionLimits(2.0 * SPEED, 3.0 * TURNING, HARDNESS, np.ones(2), np.ones(2))
        assert line.change_limits(other)
        T = line.pose_after(line.speed, DT)
        for now, then in zip(
            *map(velocities, (before[-2:, 0], np.concatenate([line.T, T]))), strict=True
        ):
            assert_close(now, then, 1e-9)

    def test_tip_that_is_unconstrained_stays_so_and_holds_the_other_up_no_longer(self):
        T_start = start(3, 2)
        T_start[1] = np.nan
        T_goal = poses_near(T_start, 4, 1.0)
        T = go(line_to(T_start, T_goal))
        assert np.all(np.isnan(T[:, 1]))
        assert_close(T[:, 0], go(line_to(T_start[:1], T_goal[:1]))[:, 0])


class TestJog:
    linear = st.lists(st.floats(-0.1, 0.1), min_size=3, max_size=3)
    angular = st.lists(st.floats(-0.5, 0.5), min_size=3, max_size=3)

    @given(seeds, linear, angular, st.booleans())
    @settings(max_examples=EXAMPLES)
    def test_tip_has_the_twist_in_the_frame_that_was_asked_for(
        self, seed, linear, angular, in_tip
    ):
        jog = jog_from(start(seed), linear + angular, in_tip)
        T = go(jog, 60, until_arrived=False)
        check_speeds(T)
        R = jog.T[0, :3, :3] if in_tip else np.eye(3)
        then = go(jog, 1, until_arrived=False)
        moved, turned = velocities(then[:, 0])
        assert_close(moved[0], R @ linear, 1e-9)
        assert_close(turned[0], R @ angular, 1e-9)

    @given(seeds, st.floats(2.0, 1e4))
    @settings(max_examples=EXAMPLES)
    def test_twist_beyond_the_limits_is_shortened_and_keeps_its_direction(self, seed, excess):
        twist = np.random.default_rng(seed).normal(size=6)
        part = max(np.linalg.norm(twist[:3]) / SPEED, np.linalg.norm(twist[3:]) / TURNING)
        T = go(jog_from(start(seed), excess / part * twist), 60, until_arrived=False)
        check_speeds(T)
        moved, turned = velocities(T[:, 0])
        assert_close(moved[-1], twist[:3] / part, 1e-9)
        assert_close(turned[-1], twist[3:] / part, 1e-9)

    @given(seeds, linear, angular, st.integers(1, 60))
    @settings(max_examples=EXAMPLES)
    def test_jog_that_is_let_go_stops_straight_ahead_as_in_the_textbook(
        self, seed, linear, angular, count
    ):
        jog = jog_from(start(seed), linear + angular)
        before = go(jog, count, until_arrived=False)
        jog.jog.let_go(np.array([True]))
        T = go(jog)
        check_speeds(np.concatenate([before, T[1:]]))
        assert jog.has_arrived()
        moved, _ = velocities(before[-2:, 0])
        speed, way = np.linalg.norm(moved[-1]), T[-1, 0, :3, 3] - T[0, 0, :3, 3]
        part = max(np.linalg.norm(linear) / SPEED, np.linalg.norm(angular) / TURNING)
        if np.any(moved[-1]):
            hardness = HARDNESS * np.linalg.norm(linear) / SPEED / part
            assert np.linalg.norm(way) <= speed**2 / (2.0 * hardness) + 1e-9
        assert_close(np.cross(way, moved[-1]), np.zeros(3), 1e-9)

    @pytest.mark.parametrize(
        ('twist', 'is_blocked'),
        [([0.0, 3.0, 0.4], True), ([0.1, 0.1, 0.1], False), ([0.0, -0.1, 0.0], False)],
    )
    def test_way_that_is_blocked_is_blocked_at_any_speed_and_no_other_is(self, twist, is_blocked):
        jog = Jog(1)
        jog.steer(np.array([0.0, 0.1, 0.0, 0.0, 0.0, 0.0]), False, 0)
        assert not jog.is_blocked()
        jog.block()
        jog.steer(np.array([*twist, 0.0, 0.0, 0.0]), False, 0)
        assert jog.is_blocked() == is_blocked


class TestHandingOver:
    def test_jog_that_takes_over_from_a_line_goes_on_as_fast_and_back_again(self):
        T_start = start(6)
        line = line_to(T_start, poses_near(T_start, 7, 1.0))
        T = [go(line, 30)]
        jog = JogReference.continuing(line)
        jog.jog.steer(np.array([0.1, -0.1, 0.1, 0.2, 0.0, -0.3]), False, 0)
        T.append(go(jog, 40)[1:])
        back = LineReference.continuing(jog)
        back.head_for(T_start)
        check_speeds(np.concatenate([*T, go(back)[1:]]))
        assert np.array_equal(back.T, T_start)

    @given(seeds)
    @settings(max_examples=EXAMPLES)
    def test_reference_that_begins_on_the_way_has_the_speed_of_the_tips(self, seed):
        T_before = start(seed)
        T = poses_near(T_before, seed + 1, 1e-3)
        line = LineReference(T, np.zeros(2), LIMITS)
        line.take_speed(T_before, DT)
        T_after = line.pose_after(line.speed, DT)
        done, next_ = (velocities(np.concatenate(pair)) for pair in ((T_before, T), (T, T_after)))
        for one, other in zip(done, next_, strict=True):
            assert_close(one, other, 1e-9)


def square(side, speed):
    """Place on a square at a time, shape (2,) [m]."""

    def place(time):
        turn, along = divmod(speed * time, side)
        corners = np.array([(0.0, 0.0), (side, 0.0), (side, side), (0.0, side)])
        begin, end = corners[int(turn) % 4], corners[(int(turn) + 1) % 4]
        return begin + along / side * (end - begin)

    return place


@pytest.mark.parametrize('rate', [30.0, 60.0, 100.0])
@pytest.mark.parametrize('speed', [0.1, 0.2])
def test_streamed_square_is_followed_round_its_corners_without_overshoot(speed, rate):
    """The first corner comes unforeseen: there the tip passes by at most 2 mm."""
    side, step, place = 0.15, 0.01, square(0.15, speed)
    T = np.eye(4)[None]
    limits = MotionLimits(SPEED, TURNING, 1.5, np.ones(2), np.ones(2))
    line, due, places, speeds = LineReference(T, np.zeros(2), limits), 1.0 / rate, [], []
    for tick in range(round(6.0 * side / speed / step)):
        while due <= tick * step:
            goal = T.copy()
            goal[0, :2, 3] = place(due)
            line.head_for(goal)
            due += 1.0 / rate
        pace = line.next_speed(step, 1.0)
        line.advance(pace, step, line.pose_after(pace, step), line.q)
        places.append(line.T[0, :2, 3])
        speeds.append(pace[0, :3] * limits.tip_speed)
    past = np.maximum(-np.array(places), np.array(places) - side).max(axis=1)
    first = round(1.5 * side / speed / step)
    assert past[:first].max() <= 2.5e-3
    assert past[first:].max() <= 1e-3
    accelerations = np.linalg.norm(np.diff(speeds, axis=0), axis=1) / step
    assert accelerations.max() <= limits.tip_acceleration * (1.0 + 1e-9)
    assert np.linalg.norm(speeds, axis=1).max() <= limits.tip_speed * (1.0 + 1e-9)
