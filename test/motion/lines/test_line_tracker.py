"""
Steps of the joints along a line: judged by poses of pinocchio and their finite differences.

The Jacobian is that of finite differences: joint velocities times it are velocities of the tip.

"""

import functools
import math

import pytest

pytest.importorskip('pinocchio', reason='pinocchio is the judge')

from fabrik_ros import SolverOptions
from fabrik_ros.kernels._jit import COMPILED
from fabrik_ros.motion.limits.joint_limiter import JointLimiter
from fabrik_ros.motion.lines.goal_frame import GoalFrame
from fabrik_ros.motion.lines.line_tracker import LineTracker
from fabrik_ros.motion.lines.motion_solvers import MotionSolvers
from helpers import assert_close, examples
from hypothesis import given, settings, strategies as st
from judging import distances_from_line, pose_errors
import numpy as np
import pinocchio
from two_arms import BENT, DT, FASTEST, HARDEST, judges, limits_for, START, two_arms

EXAMPLES = examples(10, 25) if COMPILED else 2
CHAIN = two_arms().chains[0]
SOLVER = SolverOptions(
    position_tolerance=1e-7, orientation_tolerance=1e-7, budget=math.inf, max_restarts=20
)
NUDGE = 1e-5
NONE = np.zeros(6)
seeds = st.integers(0, 2**32 - 1)


def pose(q):
    """T_base_tip of the left arm, shape (4, 4)."""
    return judges().poses(np.concatenate([q, BENT]))[0]


def tip_velocity(q, velocity):
    """Linear and angular velocity of the tip, shape (6,): Jacobian times joint velocity."""
    before, after = pose(q - NUDGE * velocity), pose(q + NUDGE * velocity)
    turn = pinocchio.log3(after[:3, :3] @ before[:3, :3].T)
    return np.concatenate([after[:3, 3] - before[:3, 3], turn]) / (2.0 * NUDGE)


@functools.cache
def solvers():
    return MotionSolvers(CHAIN, SOLVER)


def random_start(rng):
    """Draw joint values around which the arm can go any way: bent, and far from its limits."""
    return BENT + rng.uniform(-0.2, 0.2, 6)


def random_move(rng, size=0.1):
    turn = rng.normal(size=3)
    turn *= 2.0 * size / np.linalg.norm(turn)
    return pinocchio.SE3(pinocchio.exp3(turn), size * rng.uniform(-1.0, 1.0, 3))


def moved(T, move):
    """Pose, shape (1, 4, 4), that is shifted and turned in the base frame."""
    T_moved = T.copy()
    T_moved[:3, :3] = move.rotation @ T[:3, :3]
    T_moved[:3, 3] += move.translation
    return T_moved[None]


class Track:
    """A tracker and the joints that it moves, by the velocities that it tells."""

    def __init__(self, q, velocity=NONE):
        self.frame = GoalFrame(CHAIN)
        self.limiter = JointLimiter(CHAIN, limits_for(CHAIN))
        self.joints = self.limiter.joints
        self.tracker = LineTracker(CHAIN, solvers(), self.frame, self.joints)
        self.limiter.reset(q)
        self.joints.velocity = np.array(velocity)
        self.q = [q]

    def line_to(self, T_goal):
        line = self.tracker.begin_line(T_goal)
        line.head_for(T_goal)
        return line

    def step(self, line):
        """Take a step as a motion does; return the velocity that the tracker wants."""
        self.limiter.begin_step(DT)
        self.tracker.look_ahead(line, DT)
        speed, correction = line.next_speed(DT, 1.0), self.tracker.correction(line, DT)
        velocity = self.tracker.advance(line, speed, correction, DT).velocity
        if velocity is not None:
            self.limiter.go(velocity + correction, DT)
            self.q.append(self.joints.q)
        return velocity

    def go(self, line, steps=1000):
        for _ in range(steps):
            if line.has_arrived() or self.step(line) is None:
                return


class TestStep:
    @given(seeds, st.integers(1, 40))
    @settings(max_examples=EXAMPLES)
    def test_joint_velocity_times_jacobian_is_the_velocity_of_the_reference(self, seed, count):
        rng = np.random.default_rng(seed)
        track = Track(random_start(rng))
        line = track.line_to(moved(pose(track.joints.q), random_move(rng)))
        track.go(line, count - 1)
        T, q = line.T[0], track.joints.q
        velocity = track.step(line)
        turn = pinocchio.log3(line.T[0, :3, :3] @ T[:3, :3].T)
        expected = np.concatenate([line.T[0, :3, 3] - T[:3, 3], turn]) / DT
        assert_close(tip_velocity(q + 0.5 * DT * velocity, velocity), expected, 1e-3)
        assert np.linalg.norm(expected) > 1e-3

    @given(seeds)
    @settings(max_examples=EXAMPLES)
    def test_tip_follows_its_reference_in_a_straight_line_to_the_goal(self, seed):
        rng = np.random.default_rng(seed)
        track = Track(random_start(rng))
        T_start = pose(track.joints.q)
        T_goal = moved(T_start, random_move(rng))
        line = track.line_to(T_goal)
        while not line.has_arrived():
            assert track.step(line) is not None
            assert pose_errors(line.T[0], pose(track.joints.q)) < (1e-6, 1e-6)
        tips = np.array([pose(q)[:3, 3] for q in track.q])
        assert distances_from_line(tips, T_start[:3, 3], T_goal[0, :3, 3]).max() < 1e-7
        assert pose_errors(T_goal[0], pose(track.q[-1])) < (1e-6, 1e-6)

    @given(seeds)
    @settings(max_examples=EXAMPLES)
    def test_joints_can_follow_what_is_wanted_of_them(self, seed):
        rng = np.random.default_rng(seed)
        track = Track(random_start(rng))
        track.go(track.line_to(moved(pose(track.joints.q), random_move(rng, 0.2))))
        velocities = np.diff([track.q[0], *track.q], axis=0) / DT
        assert np.abs(velocities).max() <= FASTEST + 1e-6
        assert np.abs(np.diff(velocities, axis=0)).max() <= HARDEST * DT + 1e-6

    @given(seeds, st.booleans())
    @settings(max_examples=EXAMPLES)
    def test_tip_turns_no_faster_as_it_brakes_nor_goes_so_as_its_turn_brakes(self, seed, turns):
        """Where joints cannot brake one of the two so soon, the other one is not sped up."""
        rng = np.random.default_rng(seed)
        velocity = rng.uniform(0.3, 1.0, 6) * rng.choice([-1.0, 1.0], 6)
        q = random_start(rng)
        velocity *= 0.8 / Track(q, velocity).line_to(pose(q)[None]).pace
        track = Track(q, velocity)
        line = track.line_to(moved(pose(q), random_move(rng, 0.3)))
        before, wanted = line.speed[0], line.speed.copy()
        brakes, goes_on = (slice(3, 6), slice(3)) if turns else (slice(3), slice(3, 6))
        wanted[0, brakes] *= 1.0 - min(1.0, 0.5 / np.linalg.norm(before[brakes]))
        track.limiter.begin_step(DT)
        step = track.tracker.advance(line, wanted, NONE, DT)
        assert step.velocity is not None
        sizes = np.linalg.norm([before[goes_on], line.speed[0, goes_on]], axis=1)
        assert sizes[1] <= 1.01 * sizes[0]

    def test_slow_joints_slow_the_reference_down_and_keep_the_tip_on_the_line(self):
        track = Track(BENT)
        track.limiter.change_limits(limits_for(CHAIN, joint_velocity=np.full(6, 0.1)))
        T_start = pose(BENT)
        line = track.line_to(moved(T_start, pinocchio.SE3(np.eye(3), np.array([0.0, 0.2, 0.0]))))
        track.go(line)
        assert line.has_arrived()
        velocities = np.diff(track.q, axis=0) / DT
        assert 0.09 < np.abs(velocities).max() <= 0.1 + 1e-6
        tips = np.array([pose(q)[:3, 3] for q in track.q])
        assert distances_from_line(tips, T_start[:3, 3], line.goal[0, :3, 3]).max() < 1e-6

    def test_step_out_of_reach_is_not_taken(self):
        track = Track(BENT)
        line = track.line_to(
            moved(pose(BENT), pinocchio.SE3(np.eye(3), np.array([9.0, 0.0, 0.0])))
        )
        T = line.T
        far = np.zeros((1, 6))
        far[0, 0] = 500.0
        track.limiter.begin_step(DT)
        step = track.tracker.advance(line, far, NONE, DT)
        assert step.velocity is None
        assert not step.answer.converged
        assert line.T is T


class TestBeginning:
    @given(seeds)
    @settings(max_examples=EXAMPLES)
    @pytest.mark.parametrize('begin', ['begin_line', 'begin_jog'])
    def test_reference_of_an_arm_that_moves_is_where_and_as_fast_as_its_tip(self, begin, seed):
        rng = np.random.default_rng(seed)
        velocity = rng.uniform(-0.3, 0.3, 6)
        track = Track(random_start(rng), velocity)
        q = track.joints.q
        reference = getattr(track.tracker, begin)(pose(q)[None])
        assert_close(reference.T[0], pose(q), 1e-9)
        T_after = reference.pose_after(reference.speed, DT)[0]
        turn = pinocchio.log3(T_after[:3, :3] @ pose(q)[:3, :3].T)
        gone = np.concatenate([T_after[:3, 3] - pose(q)[:3, 3], turn]) / DT
        assert_close(gone, tip_velocity(q, velocity), 5e-3)

    def test_arm_just_outside_a_limit_begins_inside(self):
        q = np.append(CHAIN.upper[0] + 0.01, BENT[1:])
        line = Track(q).tracker.begin_line(pose(q)[None])
        assert line.q[0] == CHAIN.upper[0]
        assert_close(line.T[0], pose(line.q), 1e-9)


class TestLookAhead:
    def test_line_out_of_the_workspace_ends_before_its_border(self):
        """The elbow is 0.5 m above the shoulder and the rest 0.6 m long: no tip is farther."""
        track = Track(BENT)
        line = track.line_to(
            moved(pose(BENT), pinocchio.SE3(np.eye(3), np.array([2.0, 0.0, 0.0])))
        )
        track.go(line, 400)
        assert line.ends_at is not None
        assert not line.ends_at.converged
        assert line.pace == 0.0
        shoulder = np.array([0.0, 0.3, 0.4])
        forearm = math.hypot(0.4, 0.1) + 0.2
        assert np.linalg.norm(pose(track.joints.q)[:3, 3] - shoulder) < 0.1 + 0.5 + forearm
        assert_close(line.T[0], pose(track.joints.q), 1e-6)

    def test_line_within_the_workspace_does_not_end(self):
        track = Track(BENT)
        line = track.line_to(
            moved(pose(BENT), pinocchio.SE3(np.eye(3), np.array([0.0, 0.1, 0.0])))
        )
        track.go(line)
        assert line.ends_at is None


class TestCorrection:
    @given(seeds, st.floats(1e-4, 0.2))
    @settings(max_examples=EXAMPLES)
    def test_joints_that_left_the_line_come_back_to_it_and_go_past_it_nowhere(self, seed, size):
        rng = np.random.default_rng(seed)
        off = size * rng.uniform(-1.0, 1.0, 6)
        track = Track(BENT + off)
        line = track.line_to(pose(BENT + off)[None])
        line.q = BENT
        for _ in range(400):
            track.limiter.begin_step(DT)
            track.limiter.go(track.tracker.correction(line, DT), DT)
            track.q.append(track.joints.q)
        left = (np.array(track.q) - BENT) * np.sign(off)
        assert np.all(left >= -1e-9)
        assert np.abs(left[-1]).max() < 1e-6

    def test_line_leaves_nothing_to_joints_that_use_all_of_the_tip_speed(self):
        track = Track(BENT)
        line = track.line_to(pose(BENT)[None])
        one = np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0])
        fastest = 0.25 / np.linalg.norm(tip_velocity(BENT, one)[:3])
        for share, margin in ((0.0, 1.0), (0.25, 0.75), (1.0, 0.0), (2.0, 0.0)):
            left = track.tracker.margin_beside(line, share * fastest * one)
            assert left == pytest.approx(margin, abs=1e-3)


class TestMovingBase:
    @given(seeds)
    @settings(max_examples=EXAMPLES)
    def test_joints_that_stay_hold_the_tip_still_in_the_world(self, seed):
        rng = np.random.default_rng(seed)
        track = Track(random_start(rng))
        track.frame.hold(np.array([True]))
        goal = pose(track.joints.q)
        line = track.line_to(goal[None])
        for i in range(1, 20):
            carried = pinocchio.SE3(
                pinocchio.exp3(np.array([0, 0, 0.01 * i])), np.ones(3) * 2e-3 * i
            )
            track.frame.base.follow(carried.homogeneous, DT)
            before = line.q
            step = track.tracker.stay(line, DT)
            assert_close(before + step.velocity * DT, line.q)
            assert pose_errors(carried.homogeneous @ goal, pose(line.q)) < (1e-6, 1e-6)


def test_two_tips_arrive_with_the_joints_where_pinocchio_says():
    tree = two_arms()
    limiter, frame = JointLimiter(tree, limits_for(tree)), GoalFrame(tree)
    limiter.reset(START)
    tracker = LineTracker(tree, MotionSolvers(tree, SOLVER), frame, limiter.joints)
    T_goal = judges().poses(START)
    T_goal[:, :3, 3] += [[0.05, 0.1, -0.05], [-0.05, 0.0, 0.1]]
    line = tracker.begin_line(T_goal)
    line.head_for(T_goal)
    while not line.has_arrived():
        limiter.begin_step(DT)
        tracker.look_ahead(line, DT)
        step = tracker.advance(line, line.next_speed(DT, 1.0), np.zeros(12), DT)
        limiter.go(step.velocity, DT)
        for T, tip in zip(line.T, judges().poses(limiter.joints.q), strict=True):
            assert pose_errors(T, tip) < (1e-6, 1e-6)
    assert np.array_equal(line.T, T_goal)
