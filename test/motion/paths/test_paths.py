"""
Paths, each on its own in front of a limiter: judged by pinocchio and by trigonometry.

A path is followed here as a motion does it, but nothing takes its place where it is blocked.

"""

from dataclasses import replace
import math

import pytest

pytest.importorskip('pinocchio', reason='pinocchio is the judge')

from fabrik_ros import load_urdf, SolverOptions
from fabrik_ros.kernels._jit import COMPILED
from fabrik_ros.motion.choosing.goal import Goal, MotionOptions
from fabrik_ros.motion.choosing.goal_pursuit import GoalPursuit
from fabrik_ros.motion.limits.joint_limiter import JointLimiter
from fabrik_ros.motion.limits.limits import MotionLimits
from fabrik_ros.motion.lines.goal_frame import GoalFrame
from fabrik_ros.motion.paths.joint_path import JointPath, StopPath
from fabrik_ros.reasons import ReasonKind
from helpers import assert_close, PLANAR, stopped
from hypothesis import given, settings, strategies as st
from judging import distances_from_line, pose_errors
import numpy as np
import pinocchio
from two_arms import BENT, check_joints, DT, HARDEST, judges, limits_for, two_arms

EXAMPLES = 25 if COMPILED else 2
CHAIN = two_arms().chains[0]
EXACT = SolverOptions(
    position_tolerance=1e-5, orientation_tolerance=1e-4, budget=math.inf, max_restarts=20
)
PLACE = SolverOptions(mode='position', position_tolerance=1e-5, budget=math.inf, max_restarts=20)
LONGEST = 3000
"""Steps in which any path here is over."""
seeds = st.integers(0, 2**32 - 1)
configurations = st.lists(st.floats(-2.4, 2.4), min_size=6, max_size=6).map(np.array)
planar = load_urdf(PLANAR).chain('l0', 'l3')


def pose(q):
    """T_base_tip of the left arm, shape (4, 4)."""
    return judges().poses(np.concatenate([q, BENT]))[0]


def tip(q):
    """Where the tip of two links in a plane is, by trigonometry."""
    a, b = q[0], q[0] + q[1]
    return np.array([math.cos(a) + 0.8 * math.cos(b), math.sin(a) + 0.8 * math.sin(b), 0.0])


class Walk:
    """An arm that follows paths, and its commands."""

    def __init__(self, start=BENT, chain=CHAIN, limits=None, solver=EXACT):
        self.limiter = JointLimiter(chain, limits or limits_for(chain))
        self.limiter.reset(np.array(start, dtype=float))
        self.frame = GoalFrame(chain)
        self.pursuit = GoalPursuit(
            chain, self.limiter, self.frame, None, solver, MotionOptions(), None
        )
        self.q = [self.limiter.joints.q]

    @classmethod
    def of_two_links(cls, start, solver=PLACE):
        limits = MotionLimits(0.5, 2.0, 2.0, np.full(2, 1.5), np.full(2, 5.0))
        return cls(start, planar, limits, solver)

    def line_to(self, T, in_world=False):
        return self.pursuit.set_out(Goal.of(T[None], in_world), None)

    def jog(self, twist, in_tip=False):
        path = self.pursuit.jog_path(None, np.array([False]))
        path.steer(np.array(twist, dtype=float), in_tip, 0)
        return path

    def step(self, path):
        """Take a step; tell whether the path could be followed."""
        self.limiter.begin_step(DT)
        path.look_ahead(DT)
        velocity = path.velocity(DT)
        if velocity is None or not self.limiter.go(velocity, DT):
            path.lose_speed()
            self.limiter.brake(DT)
        self.q.append(self.limiter.joints.q)
        path.end_step()
        return velocity is not None

    def go(self, path, steps=LONGEST):
        """Follow a path until it is over, is blocked, or so many steps are taken."""
        for _ in range(steps):
            if path.has_arrived():
                return
            if not self.step(path):
                return


class TestJointPath:
    @given(configurations, configurations)
    @settings(max_examples=EXAMPLES)
    def test_it_is_straight_and_all_joints_arrive_together(self, start, end):
        walk = Walk(start)
        path = JointPath(walk.limiter, end)
        walk.go(path)
        assert path.has_arrived()
        q = np.array(walk.q)
        assert_close(q[-1], end, 1e-9)
        check_joints(np.vstack([q[:1], q, q[-1:]]), CHAIN.lower, CHAIN.upper)
        way = end - start
        if np.abs(way).max() > 1e-6:
            along = (q - start) @ way / (way @ way)
            assert np.abs(q - start - np.outer(along, way)).max() < 1e-6
            assert np.all(np.diff(along) >= -1e-12)

    def test_it_takes_as_long_as_the_slowest_joint_needs(self):
        """At least v/a + way/v of a trapezoid; it brakes more gently than it may."""
        walk = Walk(limits=limits_for(CHAIN, tip_speed=9.0, tip_rotation=9.0))
        end = BENT + np.array([0.5, 0.1, -0.2, 0.4, 0.0, 1.5])
        walk.go(JointPath(walk.limiter, end))
        needed = 1.5 / 1.5 + 1.5 / HARDEST
        assert needed - DT <= len(walk.q) * DT <= needed + 0.5 * 1.5 / HARDEST + 10 * DT

    def test_tip_keeps_to_its_speed(self):
        walk = Walk()
        walk.go(JointPath(walk.limiter, BENT + np.array([1.0, 0.2, 0.0, 0.0, 0.0, 0.0])))
        tips = np.array([pose(q)[:3, 3] for q in walk.q])
        speeds = np.linalg.norm(np.diff(tips, axis=0), axis=1) / DT
        assert 0.24 < speeds.max() <= 0.25 * 1.001


class TestStopPath:
    @given(seeds, st.integers(1, 100))
    @settings(max_examples=EXAMPLES)
    def test_arm_rests_after_the_way_of_the_textbook_in_its_direction(self, seed, count):
        walk = Walk()
        end = BENT + np.random.default_rng(seed).uniform(-1.0, 1.0, 6)
        walk.go(JointPath(walk.limiter, end), count)
        q, velocity = walk.limiter.command
        stop = StopPath(walk.limiter, stopped('a test'))
        assert stop.is_stop
        walk.go(stop)
        assert stop.has_arrived()
        assert not np.any(np.abs(walk.limiter.joints.velocity) > 1e-9)
        hardest = HARDEST * velocity / np.abs(velocity).max()
        way = walk.q[-1] - q
        assert np.abs(way).max() <= np.abs(velocity).max() ** 2 / (2.0 * HARDEST)
        assert_close(way, hardest * (way @ hardest) / (hardest @ hardest), 1e-9)


class TestLinePath:
    @given(seeds)
    @settings(max_examples=EXAMPLES)
    def test_tip_goes_straight_to_the_goal_and_rests_there(self, seed):
        rng, walk = np.random.default_rng(seed), Walk()
        T_start = pose(BENT)
        T_goal = pose(BENT + rng.uniform(-0.3, 0.3, 6))
        path = walk.line_to(T_goal)
        walk.go(path)
        assert path.has_arrived()
        assert pose_errors(T_goal, pose(walk.q[-1])) < (1e-5, 1e-4)
        tips = np.array([pose(q)[:3, 3] for q in walk.q])
        assert distances_from_line(tips, T_start[:3, 3], T_goal[:3, 3]).max() < 1e-4
        q = np.array(walk.q)
        check_joints(np.vstack([q[:1], q, q[-1:]]), CHAIN.lower, CHAIN.upper)

    def test_line_across_the_inside_is_blocked_where_the_arm_cannot_fold(self):
        """From one side of the base to the other: no tip is nearer than the folded arm is."""
        walk = Walk.of_two_links([0.5, 1.0])
        T_goal, begin = np.eye(4), tip([0.5, 1.0])
        T_goal[:3, 3] = -begin
        path = walk.line_to(T_goal)
        while walk.step(path):
            assert len(walk.q) < LONGEST
        assert path.blocked.kind is ReasonKind.PATH_BLOCKED
        shortest = math.sqrt(1.0 + 0.8**2 + 1.6 * math.cos(3.0))
        tips = np.array([tip(q) for q in walk.q[:-1]])
        assert distances_from_line(tips, begin, -begin).max() < 1e-4
        assert shortest < np.linalg.norm(path.blocked.place[0]) < shortest + 0.2
        assert_close(path.blocked.place[0], tips[-1], 1e-2)

    def test_stretched_arm_joins_its_line_farther_along(self):
        exact = replace(PLACE, position_tolerance=1e-8)
        walk, begin = Walk.of_two_links([0.4, 0.0], exact), tip([0.4, 0.0])
        T_goal = np.eye(4)
        T_goal[:3, 3] = 0.6 * begin
        path = walk.line_to(T_goal)
        while walk.step(path):
            assert len(walk.q) < LONGEST
        other = walk.pursuit.joined_later(path)
        assert distances_from_line(tip(other.q)[None], begin, 0.6 * begin).max() < 1e-4
        walk.go(other)
        on = other.then()
        walk.go(on)
        assert on.has_arrived()
        assert_close(tip(walk.q[-1]), 0.6 * begin, 2e-5)


class TestJogPath:
    def test_tip_goes_as_it_is_jogged_and_stops_when_it_is_let_go(self):
        walk = Walk()
        path = walk.jog([0.0, 0.1, 0.0, 0.0, 0.0, 0.2])
        assert path.is_jog
        walk.go(path, 60)
        before, now = pose(walk.q[-2]), pose(walk.q[-1])
        turned = pinocchio.log3(now[:3, :3] @ before[:3, :3].T) / DT
        assert_close((now - before)[:3, 3] / DT, [0.0, 0.1, 0.0], 1e-4)
        assert_close(turned, [0.0, 0.0, 0.2], 1e-3)
        path.steer(np.zeros(6), False, 0)
        walk.go(path)
        assert path.has_arrived()
        way = pose(walk.q[-1])[:3, 3] - now[:3, 3]
        assert 0.0 < way[1] <= 0.1**2 / (2.0 * 0.5) + 1e-6
        assert_close(way[[0, 2]], [0.0, 0.0], 1e-4)

    def test_tip_is_jogged_as_far_as_the_arm_is_long_and_back(self):
        walk = Walk.of_two_links([0.5, 1.0])
        outwards = tip([0.5, 1.0]) / np.linalg.norm(tip([0.5, 1.0]))
        path = walk.jog([*0.2 * outwards, 0.0, 0.0, 0.0])
        walk.go(path, 600)
        assert path.reason.kind is ReasonKind.JOG_BLOCKED
        assert not np.any(np.abs(walk.limiter.joints.velocity) > 1e-6)
        farthest = np.linalg.norm(tip(walk.q[-1]))
        assert 1.7 < farthest < 1.8
        path.steer(np.array([*-0.2 * outwards, 0.0, 0.0, 0.0]), False, 0)
        walk.go(path, 100)
        assert path.reason is None
        assert np.linalg.norm(tip(walk.q[-1])) < farthest - 0.1


class TestWorldLinePath:
    def base_at(self, seconds):
        """T_world_base of a base that drives from rest and turns for two seconds."""
        share = min(seconds, 2.0) / 2.0
        gone = share - math.sin(2.0 * math.pi * share) / (2.0 * math.pi)
        turn = pinocchio.rpy.rpyToMatrix(0.0, 0.0, 0.15 * gone)
        return pinocchio.SE3(turn, np.array([0.1 * gone, 0.03 * gone, 0.0]))

    def drive(self, walk, path, steps):
        """Follow a path while the base drives; yield the tip in the world."""
        for i in range(1, steps):
            base = self.base_at(i * DT)
            walk.frame.base.follow(base.inverse().homogeneous, DT)
            assert walk.step(path)
            yield base.homogeneous @ pose(walk.q[-1])

    def test_tip_stays_in_the_world_while_the_base_drives(self):
        walk, T = Walk(), pose(BENT)
        path = walk.line_to(T, in_world=True)
        for now in self.drive(walk, path, 150):
            assert pose_errors(T, now) < (1e-3, 1e-3)
            assert path.is_at_goal
        assert not path.has_arrived()
        check_joints(np.array(walk.q), CHAIN.lower, CHAIN.upper)

    def test_line_is_straight_in_the_world_and_the_path_arrives_when_the_base_stands(self):
        walk, T = Walk(), pose(BENT)
        T_goal = T.copy()
        T_goal[:3, 3] += 0.05, 0.15, -0.05
        path = walk.line_to(T_goal, in_world=True)
        tips = np.array(list(self.drive(walk, path, 300)))
        assert distances_from_line(tips[:, :3, 3], T[:3, 3], T_goal[:3, 3]).max() < 1e-3
        assert pose_errors(T_goal, tips[-1]) < (2e-5, 1e-4)
        assert path.has_arrived()
        check_joints(np.array(walk.q), CHAIN.lower, CHAIN.upper)

    def test_path_goes_on_until_the_base_is_known_to_stand(self):
        walk, T = Walk(), pose(BENT)
        path = walk.line_to(T, in_world=True)
        nudged = np.eye(4)
        nudged[0, 3] = -1e-3
        arrived = []
        for _ in range(40):
            walk.frame.base.follow(nudged, DT)
            walk.step(path)
            arrived.append(path.has_arrived())
        assert np.abs(walk.q[19] - walk.q[15]).max() < 1e-6
        assert not any(arrived[:19])
        assert arrived[-1]
        assert pose_errors(nudged @ T, pose(walk.q[-1])) < (1e-5, 1e-4)
