"""
Goals and the configurations there: judged by pinocchio, and on paper for two links in a plane.

Two links of 1.0 m and 0.8 m turn about z by up to 3 rad.

"""

import math

import pytest

pytest.importorskip('pinocchio', reason='pinocchio is the judge')

from fabrik_ros import load_urdf, SolverOptions
from fabrik_ros.kernels._jit import COMPILED
from fabrik_ros.motion.choosing.goal import Goal, GoalResolver, MotionOptions
from fabrik_ros.motion.choosing.goal_pursuit import GoalPursuit, PATIENCE, RESOLVING_TIME
from fabrik_ros.motion.limits.joint_limiter import JointLimiter
from fabrik_ros.motion.limits.limits import MotionLimits
from fabrik_ros.motion.lines.goal_frame import GoalFrame
from fabrik_ros.motion.lines.motion_solvers import MotionSolvers
from fabrik_ros.motion.paths.joint_path import JointPath
from fabrik_ros.motion.paths.reference_path import LinePath, WorldLinePath
from fabrik_ros.reasons import ReasonKind
from helpers import assert_close, PLANAR, SIX_AXIS
from hypothesis import given, settings, strategies as st
from judging import Judge, pose_errors
import numpy as np
import pinocchio

EXAMPLES = 40 if COMPILED else 3
DT = 0.01
OPTIONS = SolverOptions(
    position_tolerance=1e-6, orientation_tolerance=1e-6, budget=math.inf, max_restarts=50
)
PLACE = SolverOptions(mode='position', position_tolerance=1e-6, budget=math.inf, max_restarts=20)
LONGEST = 1.8
SHORTEST = math.sqrt(1.0 + 0.8**2 + 2.0 * 0.8 * math.cos(3.0))
"""Reach of the two links when they are stretched, and when they are folded up to the limit."""
seeds = st.integers(0, 2**32 - 1)
angles = st.floats(-3.0, 3.0)
BENT = np.array([0.3, 0.4, 0.5, 0.2, 0.6, 0.1])

six_axis = load_urdf(SIX_AXIS).chain('l0', 'l7')
six_axis_judge = Judge(SIX_AXIS, 'l0', 'l7')
planar = load_urdf(PLANAR).chain('l0', 'l3')


def at(x, y):
    """Pose in the plane, shape (1, 4, 4)."""
    T = np.eye(4)
    T[:2, 3] = x, y
    return T[None]


def tip(q):
    """Where the tip of two links is, by trigonometry."""
    a, b = q[0], q[0] + q[1]
    return np.array([math.cos(a) + 0.8 * math.cos(b), math.sin(a) + 0.8 * math.sin(b), 0.0])


def resolver_for(chain, solver, frame=None):
    return GoalResolver(MotionSolvers(chain, solver), frame or GoalFrame(chain))


def random_pose(seed, pulled_in=0.3):
    """Draw the pose of a configuration that is inside the limits by some margin."""
    return six_axis_judge.pose(
        six_axis_judge.random_configuration(np.random.default_rng(seed), pulled_in)
    )


class TestGoal:
    def test_target_for_one_tip_leaves_the_other_and_the_goal_before_as_they_are(self):
        kept = np.array([random_pose(1), random_pose(2)])
        before = Goal.of(kept, [False, True])
        goal = before.with_target(0, random_pose(3), True)
        assert_close(goal.T, [random_pose(3), kept[1]])
        assert goal.in_world.tolist() == [True, True]
        assert goal.is_target.tolist() == [True, False]
        assert_close(before.T, kept)
        assert before.in_world.tolist() == [False, True]
        assert not before.is_target.any()


class TestReachable:
    @given(seeds, st.booleans())
    @settings(max_examples=EXAMPLES)
    def test_tip_is_at_the_goal_by_pinocchio_and_joints_are_inside_their_limits(
        self, seed, resting
    ):
        T = random_pose(seed)
        resolved = resolver_for(six_axis, OPTIONS).resolve(T[None], BENT, resting)
        assert np.all(
            (six_axis_judge.lower <= resolved.solution.q)
            & (resolved.solution.q <= six_axis_judge.upper)
        )
        reached = six_axis_judge.errors(T, resolved.solution.q) < (1.1e-6, 1.1e-6)
        assert reached == resolved.is_reachable == (resolved.reason is None)
        assert reached or not resting
        if reached:
            assert_close(resolved.T, T[None])

    @given(st.booleans())
    def test_collision_at_the_goal_is_one_more_reason_to_fall_short(self, is_near):
        goal = random_pose(1)
        goal[:3, 3] *= 1.0 if is_near else 9.0
        resolved = resolver_for(six_axis, OPTIONS).resolve(goal[None], BENT, True)
        reason = resolved.collides("'l0' and 'l3'")
        assert reason.kind is ReasonKind.GOAL_IN_COLLISION
        assert resolved.is_reachable == is_near
        kind = ReasonKind.GOAL_IN_COLLISION if is_near else ReasonKind.TOO_FAR
        assert resolved.reason.kind is kind
        assert str(reason) in str(resolved.reason)

    @given(seeds)
    @settings(max_examples=EXAMPLES)
    def test_goal_in_the_world_is_reached_from_where_the_base_is(self, seed):
        frame, T = GoalFrame(six_axis), random_pose(seed)
        base = pinocchio.SE3(random_pose(seed + 1))
        frame.base.begin(base.homogeneous)
        frame.hold(np.array([True]))
        resolver = resolver_for(six_axis, OPTIONS, frame)
        T_world = base.inverse().homogeneous @ T
        resolved = resolver.resolve(T_world[None], BENT, True)
        assert six_axis_judge.errors(T, resolved.solution.q) < (1.1e-6, 1.1e-6)
        assert_close(resolved.T, T_world[None])


class TestOutOfReach:
    @given(angles, st.floats(LONGEST + 0.01, 5.0))
    @settings(max_examples=EXAMPLES)
    def test_arm_stretches_towards_what_is_too_far(self, angle, distance):
        goal = at(distance * math.cos(angle), distance * math.sin(angle))
        resolved = resolver_for(planar, PLACE).resolve(goal, np.array([0.1, 0.5]), True)
        assert resolved.reason.kind is ReasonKind.TOO_FAR
        nearest = LONGEST * np.array([math.cos(angle), math.sin(angle), 0.0])
        assert_close(tip(resolved.solution.q), nearest, 1e-3)
        assert_close(resolved.T[0, :3, 3], tip(resolved.solution.q), 1e-9)

    @given(angles, st.floats(0.01, SHORTEST - 0.01))
    @settings(max_examples=EXAMPLES)
    def test_arm_folds_up_to_its_limit_towards_what_is_too_near(self, angle, distance):
        goal = at(distance * math.cos(angle), distance * math.sin(angle))
        resolved = resolver_for(planar, PLACE).resolve(goal, np.array([0.1, 2.5]), True)
        assert not resolved.is_reachable
        inside = ReasonKind.TOO_NEAR, ReasonKind.BLOCKED_BY_LIMITS
        assert resolved.reason.kind in inside
        assert np.abs(resolved.solution.q[1]) == pytest.approx(3.0, abs=1e-3)
        assert_close(resolved.T[0, :3, 3], tip(resolved.solution.q), 1e-9)

    def test_nearest_pose_of_a_goal_in_the_world_is_one_in_the_world(self):
        frame = GoalFrame(planar)
        frame.base.begin(at(0.0, -1.0)[0])  # the world is to the right of the base
        frame.hold(np.array([True]))
        resolved = resolver_for(planar, PLACE, frame).resolve(at(0.0, 5.0), np.zeros(2), True)
        assert_close(
            resolved.T[0, :3, 3], np.array([0.0, 1.0, 0.0]) + tip(resolved.solution.q), 1e-9
        )
        assert_close(tip(resolved.solution.q), [0.0, LONGEST, 0.0], 1e-3)


class TestPursuit:
    def pursuit(self, q=BENT, **options):
        limits = MotionLimits(0.25, 1.0, 1.0, np.full(6, 1.5), np.full(6, 5.0))
        limiter = JointLimiter(six_axis, limits)
        limiter.reset(q)
        self.frame = GoalFrame(six_axis)
        return GoalPursuit(
            six_axis, limiter, self.frame, None, OPTIONS, MotionOptions(**options), None
        )

    def goal(self, x=0.0, y=0.0, z=0.0, in_world=False):
        T = six_axis_judge.pose(BENT)
        T[:3, 3] += x, y, z
        return Goal.of(T[None], in_world)

    @pytest.mark.parametrize(
        ('path', 'in_world', 'kind'),
        [('line', False, LinePath), ('line', True, WorldLinePath), ('joint', False, JointPath)],
    )
    def test_path_is_of_the_kind_that_was_asked_for(self, path, in_world, kind):
        pursuit = self.pursuit(path=path)
        assert type(pursuit.set_out(self.goal(0.05, in_world=in_world), None)) is kind
        assert pursuit.reason is None

    def test_joint_path_ends_at_the_goal_by_pinocchio(self):
        goal = self.goal(-0.1, 0.2, 0.1)
        path = self.pursuit(path='joint').set_out(goal, None)
        assert six_axis_judge.errors(goal.T[0], path.q) < (1.1e-6, 1.1e-6)

    @pytest.mark.parametrize('path', ['line', 'joint'])
    def test_arm_stays_where_goals_out_of_reach_are_not_approached(self, path):
        pursuit = self.pursuit(path=path, approach_unreachable=False)
        assert pursuit.set_out(self.goal(9.0), None) is None
        assert pursuit.reason.kind is ReasonKind.TOO_FAR

    def test_goal_of_a_stream_is_headed_for_at_once_and_resolved_a_moment_later(self):
        pursuit = self.pursuit()
        path = pursuit.set_out(self.goal(0.05), None)
        far = self.goal(9.0)
        assert pursuit.follow_on(far, path)
        assert np.array_equal(path.reference.goal, far.T)
        assert pursuit.reason is None
        for _ in range(PATIENCE):
            pursuit.pass_time(DT)
        assert pursuit.is_due
        assert pursuit.resolve_pending()
        assert pursuit.reason is path.reason
        assert path.reason.kind is ReasonKind.TOO_FAR
        nearest = six_axis_judge.pose(pursuit.resolved.solution.q)
        assert pose_errors(path.reference.goal[0], nearest) < (1e-9, 1e-7)
        assert not pursuit.resolve_pending()

    def test_stream_that_never_pauses_is_resolved_now_and_then(self):
        pursuit = self.pursuit()
        path, resolved = pursuit.set_out(self.goal(0.05), None), 0
        for i in range(100):
            assert pursuit.follow_on(self.goal(0.05, 1e-3 * i), path)
            pursuit.pass_time(DT)
            resolved += pursuit.is_due and pursuit.resolve_pending()
        assert 100 * DT / RESOLVING_TIME / 2 <= resolved <= 100

    @pytest.mark.parametrize(
        ('options', 'in_world'),
        [({'path': 'joint'}, False), ({'approach_unreachable': False}, False), ({}, True)],
    )
    def test_goal_that_has_to_be_known_first_is_not_followed_at_once(self, options, in_world):
        pursuit = self.pursuit(**options)
        path = pursuit.set_out(self.goal(0.05, in_world=in_world), None)
        assert not pursuit.follow_on(self.goal(0.06, in_world=in_world), path)
