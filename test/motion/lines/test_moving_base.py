"""Goals that stay where they are in the world while the base of the arm moves."""

import math

import pytest

pytest.importorskip('pinocchio', reason='pinocchio is the judge')


from fabrik_ros.motion.lines.moving_base import MovingBase
from fabrik_ros.motion.paths.reference_path import LinePath
from helpers import assert_close, why
from hypothesis import given, strategies as st
from judging import pose_errors
import numpy as np
import pinocchio
from two_arms import BENT, check_joints, DT, judges, motion_of, two_arms

CHAIN = two_arms().chains[0]


def base_at(x=0.0, y=0.0, heading=0.0):
    """T_world_base of a base on a floor, by pinocchio."""
    return pinocchio.SE3(pinocchio.rpy.rpyToMatrix(0.0, 0.0, heading), np.array([x, y, 0.0]))


def drive(seconds):
    """T_world_base on a smooth way: from rest, round a bend, to rest after 4 s."""
    share = np.clip(seconds / 4.0, 0.0, 1.0)
    gone = share - math.sin(2.0 * math.pi * share) / (2.0 * math.pi)
    return base_at(0.25 * gone, 0.1 * gone * gone, 0.3 * gone)


def seen(T_world_base):
    return T_world_base.inverse().homogeneous


def tip_in_world(T_world_base, q):
    return T_world_base.homogeneous @ judges().poses(np.concatenate([q, BENT]))[0]


class Ride:
    """An arm on a base, and where both were at every step."""

    def __init__(self, way=drive, **options):
        self.motion = motion_of(CHAIN, BENT, **options)
        self.way = way
        self.time = 0.0
        self.q = [self.motion.q]
        self.bases = [way(0.0)]
        self.motion.frame.base.begin(seen(way(0.0)))

    def aim(self, x=0.0, y=0.0, z=0.0):
        """Aim at a pose in the world, moved by so much from where the tip is."""
        self.goal = self.tip.copy()
        self.goal[:3, 3] += x, y, z
        return self.motion.aim(self.goal, True)

    @property
    def tip(self):
        return tip_in_world(self.bases[-1], self.q[-1])

    @property
    def errors(self):
        return pose_errors(self.goal, self.tip)

    def go(self, seconds):
        for _ in range(round(seconds / DT)):
            self.time += DT
            base = self.way(self.time)
            self.motion.carry(seen(base), DT)
            self.motion.step(DT)
            self.q.append(self.motion.q)
            self.bases.append(base)

    def check(self):
        check_joints(np.array(self.q), CHAIN.lower, CHAIN.upper)


class TestGoalInTheWorld:
    @pytest.mark.parametrize('path', ['line', 'joint'])
    def test_it_is_reached_while_the_base_drives_and_kept(self, path):
        ride = Ride(path=path)
        assert ride.aim(-0.05, 0.2, 0.1)
        ride.go(3.0)
        assert ride.motion.is_at_goal
        while ride.time < 4.0:
            ride.go(DT)
            assert ride.errors < (1e-3, 1e-3)
        ride.go(1.0)
        assert ride.motion.is_at_rest
        assert ride.errors < (2e-5, 1e-4)
        ride.check()

    def test_arm_that_rests_there_sets_out_again_when_the_base_does(self):
        ride = Ride(way=lambda seconds: drive(seconds - 3.0))
        ride.aim(0.0, 0.2, 0.0)
        ride.go(2.9)
        assert ride.motion.is_at_rest
        ride.go(2.0)
        assert isinstance(ride.motion.path, LinePath)
        assert ride.motion.is_at_goal
        assert ride.errors < (1e-3, 1e-3)
        ride.go(3.0)
        assert ride.motion.is_at_rest
        assert ride.errors < (2e-5, 1e-4)
        ride.check()

    def test_tip_stays_where_it_is_when_the_goal_is_where_it_is(self):
        ride = Ride()
        ride.aim()
        ride.go(5.0)
        for base, q in zip(ride.bases, ride.q, strict=True):
            assert pose_errors(ride.goal, tip_in_world(base, q)) < (1e-3, 1e-3)
        ride.check()

    def test_new_goal_while_the_base_carries_the_arm_is_no_jolt(self):
        ride = Ride()
        ride.go(2.0)
        ride.aim(0.0, 0.1, 0.1)
        ride.go(4.0)
        assert ride.errors < (2e-5, 1e-4)
        ride.check()

    @pytest.mark.parametrize('path', ['line', 'joint'])
    def test_goal_in_the_base_goes_along_with_it(self, path):
        ride = Ride(path=path)
        T = judges().poses(np.concatenate([BENT, BENT]))[0]
        T[:3, 3] += 0.0, 0.2, 0.1
        ride.motion.aim(T)
        ride.go(5.0)
        assert pose_errors(T, judges().poses(np.concatenate([ride.q[-1], BENT]))[0]) < (1e-5, 1e-4)
        ride.check()

    def test_base_that_takes_the_goal_out_of_reach_stops_the_arm_with_a_reason(self):
        ride = Ride(way=lambda seconds: base_at(-0.3 * max(0.0, seconds - 1.0)))
        ride.aim(0.05, 0.0, 0.0)
        ride.go(8.0)
        assert ride.motion.is_at_rest
        assert 'cannot be followed' in why(ride.motion)
        assert not ride.motion.velocity.any()
        ride.check()


class TestBadPoses:
    @pytest.mark.parametrize('distance', [0.02, 0.3, 30.0])
    def test_leap_of_the_base_is_no_leap_of_the_arm(self, distance):
        """Small corrections are caught up; after large ones the tip goes back on a line."""
        ride = Ride(way=lambda seconds: base_at(x=0.0 if seconds < 2.0 else -distance))
        ride.aim(0.0, 0.1, 0.0)
        ride.go(6.0)
        ride.check()
        assert ride.motion.is_at_rest
        if distance < 1.0:
            assert ride.errors < (2e-5, 1e-4)
        else:
            assert 'cannot be followed' in why(ride.motion)

    def test_tip_goes_back_at_its_own_speed_after_a_leap(self):
        ride = Ride(way=lambda seconds: base_at(x=0.0 if seconds < 2.0 else -0.3))
        ride.aim(0.0, 0.1, 0.0)
        ride.go(6.0)
        tips = np.array([judges().poses(np.concatenate([q, BENT]))[0, :3, 3] for q in ride.q])
        assert np.linalg.norm(np.diff(tips, axis=0), axis=1).max() / DT < 0.25 * (1.0 + 1e-3)

    def test_noise_of_a_base_that_stands_moves_nothing(self):
        rng = np.random.default_rng(1)
        ride = Ride(way=lambda seconds: base_at(*rng.uniform(-3e-5, 3e-5, 3)))
        ride.aim(0.0, 0.1, 0.0)
        ride.go(2.0)
        assert ride.motion.is_at_rest
        before = ride.q[-1]
        ride.go(1.0)
        assert np.array_equal(ride.q[-1], before)

    def test_noise_of_a_base_that_moves_breaks_no_limit(self):
        rng = np.random.default_rng(2)
        way = lambda seconds: drive(seconds) * base_at(*rng.uniform(-2e-3, 2e-3, 3))  # noqa: E731
        ride = Ride(way=way)
        ride.aim(0.0, 0.1, 0.0)
        ride.go(5.0)
        ride.check()


class TestMovingBase:
    @given(
        x=st.floats(-100.0, 100.0),
        heading=st.floats(-3.0, 3.0),
        step=st.floats(-1.0, 1.0),
    )
    def test_it_moves_or_stands_wherever_the_world_begins(self, x, heading, step):
        """Far from where the world begins a small turn moves the world by metres."""
        base = MovingBase()
        here = base_at(x, 2.0 * x, heading)
        there = here * base_at(heading=4e-5 * step)
        base.begin(seen(here))
        base.follow(seen(there), DT)
        assert not base.moves
        assert_close(base.T_base_world, seen(here))
        base.follow(seen(here * base_at(x=0.001)), DT)
        assert base.moves
        assert not base.has_leapt

    def test_it_creeps_too(self):
        base, x = MovingBase(), 0.0
        base.begin(seen(base_at()))
        for _ in range(300):
            x += 1e-5
            base.follow(seen(base_at(x)), DT)
        assert base.moves
        assert_close(base.T_base_world, seen(base_at(x)))
