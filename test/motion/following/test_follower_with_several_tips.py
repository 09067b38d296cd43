"""The rules of following for several tips, and for targets that stay in the world."""

from dataclasses import replace
import math

import pytest

pytest.importorskip('pinocchio', reason='pinocchio is the judge')

from fabrik_ros.errors import RefusedError
from fabrik_ros.motion.following.arm_state import State
from fabrik_ros.motion.following.follower import Follower
from fabrik_ros.motion.following.following_rules import FollowingRules
from fabrik_ros.motion.following.measured_joints import MeasuredJoints
from fabrik_ros.solver.options import SolverOptions
from helpers import assert_close, said, stopped
from judging import pose_errors
import numpy as np
import pinocchio
from two_arms import check_joints, DT, judges, motion_of, START, two_arms

LEFT, RIGHT = 0, 1
CLOSE = (2e-5, 1e-4)


class Scene:
    """Two arms that do what they are told at once, on a base that is moved by hand."""

    def __init__(self, **rules):
        self.tree = two_arms()
        self.motion = motion_of(self.tree, START)
        self.measured = MeasuredJoints()
        self.follower = Follower(self.tree, self.motion, FollowingRules(**rules), self.measured)
        self.now = 1000.0
        self.q = START.copy()
        self.commands = []
        self.base = np.eye(4)
        self.report()
        self.report()  # one value alone is no start

    def report(self):
        self.measured.update(self.tree.joint_names, self.q, self.now)

    @property
    def world(self):
        """T_base_world."""
        return np.linalg.inv(self.base)

    def accept(self, T, tip, in_world=False):
        world = self.world if in_world else None
        self.follower.accept(T, self.now, tip, world)

    def go(self, seconds, velocity=(0.0, 0.0, 0.0)):
        """Let time pass while the base moves at a velocity [m/s]."""
        for _ in range(round(seconds / DT)):
            self.now += DT
            self.base = self.base.copy()
            self.base[:3, 3] += DT * np.array(velocity)
            if self.follower.is_held_in_world:
                self.motion.carry(self.world, DT)
            command = self.follower.tick(self.now, DT)
            if command is not None:
                self.q = command.q
                self.commands.append(command.q)
            self.report()

    def until(self, state):
        end = self.now + 30.0
        while self.state is not state:
            assert self.now < end, f'{state} never comes: {said(self.follower, self.now)}'
            self.go(DT)

    @property
    def state(self):
        return said(self.follower, self.now)[0]

    @property
    def reason(self):
        return said(self.follower, self.now)[1]

    @property
    def tips(self):
        """Poses of the tips in the base frame, by pinocchio, shape (2, 4, 4)."""
        return judges().poses(self.q)

    def target(self, tip, x=0.0, y=0.0, z=0.0):
        T = judges().poses(START)[tip]
        T[:3, 3] += x, y, z
        return T


class TestIdleTips:
    def test_tip_without_a_target_keeps_its_pose(self):
        scene = Scene()
        scene.accept(scene.target(LEFT, z=0.1), LEFT)
        scene.until(State.REACHED)
        assert pose_errors(scene.target(LEFT, z=0.1), scene.tips[LEFT]) < CLOSE
        assert pose_errors(scene.target(RIGHT), scene.tips[RIGHT]) < CLOSE
        assert scene.follower.goal.is_target.tolist() == [True, False]

    def test_free_tip_has_no_goal(self):
        scene = Scene(idle_tips='free')
        scene.accept(scene.target(LEFT, z=0.1), LEFT)
        assert np.isnan(scene.follower.goal.T[RIGHT]).all()
        scene.until(State.REACHED)
        assert np.array_equal(scene.q[6:], START[6:])

    @pytest.mark.parametrize('idle_tips', ['keep', 'free'])
    def test_target_of_one_tip_leaves_that_of_another_in_force(self, idle_tips):
        scene = Scene(idle_tips=idle_tips)
        goals = scene.target(LEFT, z=0.2), scene.target(RIGHT, y=-0.1)
        scene.accept(goals[LEFT], LEFT)
        scene.go(0.3)
        scene.accept(goals[RIGHT], RIGHT)
        scene.until(State.REACHED)
        for goal, tip in zip(goals, scene.tips, strict=True):
            assert pose_errors(goal, tip) < CLOSE
        check_joints(np.array(scene.commands), scene.tree.lower, scene.tree.upper)


class TestBeginningAnew:
    @pytest.mark.parametrize('wait_for_state', [True, False])
    def test_stop_for_a_reason_ends_the_targets_of_all_tips(self, wait_for_state):
        scene = Scene(wait_for_state=wait_for_state, start_configuration=tuple(START))
        scene.accept(scene.target(LEFT, z=0.3), LEFT)
        scene.go(0.4)
        scene.follower.hold(stopped('somebody said so'))
        scene.go(1.0)
        left = scene.tips[LEFT]
        scene.accept(scene.target(RIGHT, y=-0.1), RIGHT)
        assert scene.follower.goal.is_target.tolist() == [False, True]
        scene.until(State.REACHED)
        assert pose_errors(left, scene.tips[LEFT]) < CLOSE

    def test_arms_moved_by_someone_else_begin_where_they_are(self):
        scene = Scene()
        scene.accept(scene.target(LEFT, z=0.1), LEFT)
        scene.until(State.REACHED)
        scene.go(1.0)
        scene.q = START + 0.3
        scene.go(0.03)
        moved = scene.tips[LEFT]
        assert scene.state is State.HOLDING
        goal = scene.tips[RIGHT].copy()
        goal[1, 3] -= 0.05
        scene.accept(goal, RIGHT)
        scene.until(State.REACHED)
        assert pose_errors(moved, scene.tips[LEFT]) < CLOSE
        assert pose_errors(goal, scene.tips[RIGHT]) < CLOSE

    def test_refused_target_changes_nothing(self):
        scene = Scene()
        scene.accept(scene.target(LEFT, z=0.1), LEFT)
        goal = scene.follower.goal
        with pytest.raises(RefusedError, match='metres'):
            scene.accept(scene.target(RIGHT, x=50.0), RIGHT)
        assert scene.follower.goal is goal
        assert scene.follower.goal.is_target.tolist() == [True, False]

    def test_target_is_measured_from_its_own_arm(self):
        scene = Scene()
        far = scene.tree.root_points[RIGHT] + [0.0, -2.99 * scene.tree.reaches[RIGHT], 0.0]
        T = np.eye(4)
        T[:3, 3] = far
        scene.accept(T, RIGHT)
        with pytest.raises(RefusedError, match='metres'):
            Scene().accept(T, LEFT)


class TestInTheWorld:
    def test_same_target_again_changes_nothing_once_it_is_reached(self):
        scene = Scene()
        goal = scene.target(LEFT, z=0.1)
        scene.accept(goal, LEFT, in_world=True)
        scene.until(State.REACHED)
        scene.go(1.0)
        count = len(scene.commands)
        scene.accept(goal, LEFT, in_world=True)
        scene.go(0.5)
        assert len(scene.commands) == count

    def test_same_pose_in_the_base_is_another_target(self):
        scene = Scene()
        goal = scene.target(LEFT, z=0.1)
        scene.accept(goal, LEFT, in_world=True)
        scene.until(State.REACHED)
        scene.accept(goal, LEFT)
        assert not scene.follower.is_held_in_world

    def test_arms_are_silent_half_a_second_after_all_is_still(self):
        scene = Scene()
        goal = scene.target(LEFT)
        scene.accept(goal, LEFT, in_world=True)
        scene.go(1.0, velocity=(0.05, 0.0, 0.0))
        assert scene.state is State.REACHED
        scene.go(3.0)
        count = len(scene.commands)
        assert count * DT == pytest.approx(1.0 + 0.5 + 0.3, abs=0.3)
        scene.go(1.0, velocity=(-0.05, 0.0, 0.0))
        assert len(scene.commands) > count + 90
        assert_close((scene.base @ scene.tips[LEFT])[:3, 3], goal[:3, 3], 1e-3)
        check_joints(np.array(scene.commands), scene.tree.lower, scene.tree.upper)

    def test_kept_tip_goes_along_with_the_base(self):
        scene = Scene()
        scene.accept(scene.target(LEFT), LEFT, in_world=True)
        scene.go(2.0, velocity=(0.05, 0.0, 0.0))
        assert pose_errors(scene.target(RIGHT), scene.tips[RIGHT]) < CLOSE

    def test_target_out_of_reach_is_tried_again_as_the_base_comes_nearer(self):
        scene = Scene(idle_tips='free')
        goal = scene.target(LEFT, x=1.0)
        scene.accept(goal, LEFT, in_world=True)
        scene.until(State.HOLDING)
        scene.go(1.0)
        assert scene.reason
        scene.go(5.0, velocity=(0.2, 0.0, 0.0))
        scene.go(4.0)
        assert scene.state is State.REACHED
        assert pose_errors(goal, scene.base @ scene.tips[LEFT]) < (2e-4, 3e-4)
        check_joints(np.array(scene.commands), scene.tree.lower, scene.tree.upper)

    @pytest.mark.parametrize('first', [True, False])
    def test_target_under_way_goes_over_from_base_to_world_or_back(self, first):
        scene = Scene()
        scene.base[:3, 3] = 0.5, -0.3, 0.1
        goals = scene.target(LEFT, z=0.3), scene.target(LEFT, z=0.3, y=0.1)
        seen = [
            scene.base @ T if held else T
            for T, held in zip(goals, (first, not first), strict=True)
        ]
        scene.accept(seen[0], LEFT, in_world=first)
        scene.go(0.5)
        scene.accept(seen[1], LEFT, in_world=not first)
        scene.until(State.REACHED)
        assert pose_errors(goals[1], scene.tips[LEFT]) < CLOSE
        heights = np.array([judges().poses(q)[LEFT, 2, 3] for q in scene.commands])
        assert np.all(np.diff(heights) > -1e-6), 'the tip goes on from where it is'
        check_joints(np.array(scene.commands), scene.tree.lower, scene.tree.upper)

    def test_stream_of_targets_in_the_world_is_followed_from_a_moving_base(self):
        """A circle in the world for one tip, while another one stays where it is in the world."""
        scene = Scene()
        scene.accept(scene.target(RIGHT), RIGHT, in_world=True)
        for i in range(200):
            angle = 0.02 * i
            goal = scene.target(LEFT, y=0.08 * math.sin(angle), z=0.08 * (1.0 - math.cos(angle)))
            scene.accept(goal, LEFT, in_world=True)
            scene.go(0.02, velocity=(0.04, 0.02, 0.0))
            assert pose_errors(goal, scene.base @ scene.tips[LEFT])[0] < 0.02
            right = scene.base @ scene.tips[RIGHT]
            assert pose_errors(scene.target(RIGHT), right) < (1e-3, 1e-3)
        scene.until(State.REACHED)
        assert pose_errors(goal, scene.base @ scene.tips[LEFT]) < (2e-4, 3e-4)
        check_joints(np.array(scene.commands), scene.tree.lower, scene.tree.upper)

    def test_base_that_is_lost_ends_it(self):
        scene = Scene()
        scene.accept(scene.target(LEFT), LEFT, in_world=True)
        scene.go(1.0)
        scene.follower.hold(stopped('the pose of the base is lost'))
        assert scene.state is State.HOLDING
        before = scene.q
        scene.go(1.0, velocity=(0.1, 0.0, 0.0))
        assert np.array_equal(scene.q, before)

    def test_turn_of_the_base_far_from_where_the_world_begins(self):
        """There a small turn moves the world by metres, as seen from the base."""
        scene = Scene()
        scene.base[:3, 3] = 300.0, -200.0, 0.0
        goal = scene.base @ scene.target(LEFT)
        scene.accept(goal, LEFT, in_world=True)
        turn = pinocchio.rpy.rpyToMatrix(0.0, 0.0, 0.002 * math.pi * DT)
        for _ in range(300):
            scene.base[:3, :3] = turn @ scene.base[:3, :3]
            scene.go(DT)
        assert pose_errors(goal, scene.base @ scene.tips[LEFT]) < (1e-3, 1e-3)
        check_joints(np.array(scene.commands), scene.tree.lower, scene.tree.upper)


class TestJog:
    SIDE = np.array([0.0, 0.1, 0.0, 0.0, 0.0, 0.0])

    def test_tip_that_is_not_jogged_keeps_its_pose(self):
        scene = Scene()
        for _ in range(20):
            scene.follower.jog(self.SIDE, scene.now, LEFT)
            scene.go(0.05)
        start = judges().poses(START)
        assert pose_errors(start[RIGHT], scene.tips[RIGHT]) < CLOSE
        moved = scene.tips[LEFT][:3, 3] - start[LEFT][:3, 3]
        assert 0.05 < moved[1] < 0.1
        assert np.abs(moved[[0, 2]]).max() < 1e-5

    @pytest.mark.parametrize('idle_tips', ['keep', 'free'])
    def test_each_tip_has_a_dead_mans_switch_of_its_own(self, idle_tips):
        scene = Scene(idle_tips=idle_tips)
        start = judges().poses(START)
        for i in range(30):
            if i < 10:
                scene.follower.jog(self.SIDE, scene.now, LEFT)
            scene.follower.jog(-self.SIDE, scene.now, RIGHT)
            scene.go(0.05)
        left, right = (scene.tips - start)[:, 1, 3]
        assert 0.04 < left < 0.09, 'for half a second and a little'
        assert -0.15 < right < -0.12, 'for one and a half'
        scene.until(State.HOLDING)
        check_joints(np.array(scene.commands), scene.tree.lower, scene.tree.upper)

    @pytest.mark.parametrize('idle_tips', ['keep', 'free'])
    def test_stick_at_rest_of_one_tip_does_not_disturb_the_other(self, idle_tips):
        scene = Scene(idle_tips=idle_tips)
        start = judges().poses(START)
        for _ in range(20):
            scene.follower.jog(self.SIDE, scene.now, LEFT)
            assert not scene.follower.jog(np.zeros(6), scene.now, RIGHT)
            scene.go(0.05)
        left, right = (scene.tips - start)[:, 1, 3]
        assert 0.08 < left < 0.1
        assert abs(right) < 1e-5

    def test_tip_that_brakes_gently_stops_all_when_its_jog_is_lost_and_the_other_goes_on(self):
        scene = Scene()
        gently = replace(scene.motion.limits, tip_acceleration=0.05)
        scene.motion.change(gently, SolverOptions(), scene.motion.pursuit.options)
        for i in range(60):
            if i < 20:
                scene.follower.jog(self.SIDE, scene.now, LEFT)
            scene.follower.jog(-self.SIDE, scene.now, RIGHT)
            scene.go(0.05)
            if i == 33:
                at_rest = scene.tips[LEFT][1, 3]
        left, right = np.diff([judges().poses(q)[:, 1, 3] for q in scene.commands], axis=0).T
        assert abs(scene.tips[LEFT][1, 3] - at_rest) < 1e-5, 'within 0.25 + 0.5 s'
        assert left.max() > 0.04 * DT
        assert right[-1] < -0.02 * DT
        check_joints(np.array(scene.commands), scene.tree.lower, scene.tree.upper)
