"""The rules of following, by a clock of our own: when the arm starts, stops and what is said."""

from collections import deque
import contextlib
from dataclasses import replace
from itertools import pairwise
import math

from fabrik_ros import JointValueError, load_urdf, SolverOptions
from fabrik_ros.errors import RefusedError
from fabrik_ros.motion.choosing.goal import MotionOptions
from fabrik_ros.motion.choosing.motion import Motion
from fabrik_ros.motion.following.arm_state import State
from fabrik_ros.motion.following.follower import Follower
from fabrik_ros.motion.following.following_rules import FollowingRules
from fabrik_ros.motion.following.measured_joints import MeasuredJoints
from fabrik_ros.motion.limits.limits import MotionLimits
from helpers import assert_close, joint_xml, robot_xml, said, stopped
from hypothesis import given, settings, strategies as st
import numpy as np
import pytest

DT = 0.01
START = {'shoulder': 0.4, 'elbow': 1.0}
ARM = robot_xml(
    'base upper lower tip',
    joint_xml(
        'shoulder',
        'base',
        'upper',
        'continuous',
        '<axis xyz="0 0 1"/><limit velocity="3" effort="1"/>',
    ),
    joint_xml(
        'elbow',
        'upper',
        'lower',
        body='<origin xyz="1 0 0"/><axis xyz="0 0 1"/>'
        '<limit lower="-2.8" upper="2.8" velocity="3" effort="1"/>',
    ),
    joint_xml('end', 'lower', 'tip', 'fixed', '<origin xyz="0.8 0 0"/>'),
)


def pose(shoulder, elbow):
    """T_base_tip, by trigonometry."""
    angle = shoulder + elbow
    T = np.eye(4)
    T[:2, 3] = math.cos(shoulder), math.sin(shoulder)
    T[:2, 3] += 0.8 * math.cos(angle), 0.8 * math.sin(angle)
    T[:2, :2] = [[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]]
    return T


HELD = 'told to hold, until ~/resume'
GOAL = pose(1.2, 1.3)
FAR_GOAL = pose(2.4, 1.3)


class Scene:
    """
    An arm, what follows goals with it, and a clock.

    The arm does what it was told `lag` seconds ago, plus `offset`.
    """

    def __init__(self, start=START, path='line', tip_acceleration=1.0, tip=(0.25, 1.0), **rules):
        chain = load_urdf(ARM).chain()
        limits = MotionLimits(*tip, tip_acceleration, np.full(2, 1.5), np.full(2, 5.0))
        solver = SolverOptions(mode='position', budget=math.inf, max_restarts=20)
        self.now = 1000.0
        self.measured = MeasuredJoints()
        self.motion = Motion(chain, limits, solver, MotionOptions(path=path))
        self.follower = Follower(chain, self.motion, FollowingRules(**rules), self.measured)
        self.values = dict(start)
        self.offset = np.zeros(2)
        self.lag = 0.0
        self.reports = True
        self.follows = True
        self.commands = []
        self._told = deque()
        self.report()
        self.report()  # one value alone is no start

    def report(self):
        if self.reports:
            self.measured.update(self.values.keys(), self.values.values(), self.now)

    def tick(self, dt=DT):
        self.now += dt
        command = self.follower.tick(self.now, dt)
        if command is not None:
            self.commands.append((self.now, command))
            self._told.append((self.now, command.q))
        while self._told and self._told[0][0] <= self.now - self.lag + 1e-9:
            _, q = self._told.popleft()
            if self.follows:
                self.values |= dict(zip(START, map(float, q + self.offset), strict=True))
        self.report()
        return command

    def go(self, seconds):
        for _ in range(round(seconds / DT)):
            self.tick()

    def until(self, state, longest=30.0):
        end = self.now + longest
        while self.state is not state:
            assert self.now < end, f'{state} never comes: {said(self.follower, self.now)}'
            self.tick()

    def accept(self, T=GOAL):
        self.follower.accept(T, self.now)

    def refusal(self, T=GOAL):
        """Reason for which a target is refused; nothing may change by it."""
        before = said(self.follower, self.now), self.motion.q.copy(), self.follower.goal
        with pytest.raises(RefusedError) as refused:
            self.accept(T)
        assert said(self.follower, self.now) == before[0]
        assert np.array_equal(self.motion.q, before[1])
        assert self.follower.goal is before[2]
        return str(refused.value)

    @property
    def state(self):
        return said(self.follower, self.now)[0]

    @property
    def reason(self):
        return said(self.follower, self.now)[1]

    @property
    def q(self):
        return np.array([command.q for _, command in self.commands])

    def check_smooth(self):
        """No command jumps: neither the joints nor their speeds, from rest on."""
        v = np.diff(self.q, axis=0) / DT
        assert np.abs(v).max() <= 1.5 + 1e-9
        assert np.abs(np.diff(v, axis=0)).max() / DT <= 5.0 + 1e-6


class TestGoal:
    @pytest.mark.parametrize('path', ['line', 'joint'])
    def test_arm_goes_to_the_goal_and_is_silent_half_a_second_later(self, path):
        scene = Scene(path=path)
        assert scene.state is State.IDLE
        scene.accept()
        assert scene.state is State.MOVING
        scene.until(State.REACHED)
        arrived = scene.now
        scene.go(2.0)
        assert scene.state is State.REACHED
        assert scene.commands[-1][0] - arrived == pytest.approx(0.5, abs=2 * DT)
        tip = pose(*scene.q[-1])
        assert_close(tip[:3, 3], GOAL[:3, 3], 1e-5)
        assert not np.any(scene.commands[-1][1].velocity)
        scene.check_smooth()

    def test_nothing_is_said_before_the_first_target(self):
        scene = Scene()
        scene.go(1.0)
        assert not scene.commands

    def test_first_command_is_a_step_from_the_measured_state(self):
        scene = Scene()
        scene.accept()
        scene.tick()
        assert np.abs(scene.q[0] - list(START.values())).max() <= 5.0 * DT * DT + 1e-12

    def test_command_is_one_of_position_and_velocity(self):
        scene = Scene()
        scene.accept()
        scene.until(State.REACHED)
        for (_, a), (_, b) in pairwise(scene.commands[:-1]):
            assert_close((b.q - a.q) / DT, b.velocity, 1e-9)

    def test_newest_goal_wins(self):
        scene = Scene()
        scene.accept(FAR_GOAL)
        scene.go(0.5)
        scene.accept(GOAL)
        scene.until(State.REACHED)
        assert_close(pose(*scene.q[-1])[:3, 3], GOAL[:3, 3], 1e-5)
        scene.check_smooth()

    def test_goal_out_of_reach_is_held_short_of_with_the_reason(self):
        scene = Scene()
        T = pose(1.2, 0.0)
        T[:3, 3] *= 1.5
        scene.accept(T)
        scene.until(State.HOLDING)
        assert 'farther away than the arm is long' in scene.reason
        scene.go(2.0)
        assert scene.follower.tick(scene.now, DT) is None

    def test_silence_lasts_though_the_clock_is_set_back(self):
        """Else an old command would come again, hours after another took over."""
        scene = Scene()
        scene.accept()
        scene.until(State.REACHED)
        scene.go(1.0)
        count = len(scene.commands)
        scene.now -= 1.2
        scene.go(3.0)
        assert len(scene.commands) == count


class TestRefusals:
    @pytest.mark.parametrize('factor', [3.01, 1000.0])
    def test_target_too_far_to_be_meant(self, factor):
        T = np.eye(4)
        T[0, 3] = factor * 1.8
        assert 'millimetres?' in Scene().refusal(T)

    def test_target_not_quite_that_far_is_taken(self):
        T = np.eye(4)
        T[0, 3] = 2.99 * 1.8
        Scene().accept(T)

    def test_joint_that_was_never_reported(self):
        scene = Scene(start={'shoulder': 0.4})
        assert scene.state is State.WAITING_FOR_STATE
        assert 'elbow' in scene.reason
        reason = scene.refusal()
        assert 'elbow' in reason
        assert 'shoulder' not in reason

    def test_joint_whose_report_is_old(self):
        scene = Scene()
        scene.now += 0.6
        scene.measured.update(['shoulder'], [0.4], scene.now)
        assert scene.state is State.WAITING_FOR_STATE
        assert scene.refusal().endswith('elbow')

    def test_joint_outside_its_limits_by_more_than_the_margin(self):
        scene = Scene(start=START | {'elbow': 2.95})
        reason = scene.refusal()
        assert "'elbow' stands at 2.9500" in reason
        assert '[-2.8000, 2.8000]' in reason
        assert 'limit_margin 0.1' in reason
        scene.go(0.5)
        assert not scene.commands

    def test_joint_a_little_outside_its_limits_comes_in(self):
        scene = Scene(start=START | {'elbow': 2.89})
        scene.accept()
        scene.until(State.REACHED)
        elbow = np.concatenate([[2.89], scene.q[:, 1]])
        assert np.all(np.diff(elbow)[elbow[1:] > 2.8] <= 0.0)
        assert elbow[-1] <= 2.8

    def test_margin_can_be_nothing(self):
        assert 'elbow' in Scene(start=START | {'elbow': 2.801}, limit_margin=0.0).refusal()

    def test_target_while_the_arm_is_still_stopping(self):
        scene = Scene()
        scene.accept(FAR_GOAL)
        scene.go(1.0)
        scene.follower.hold(stopped('a reason to stop'))
        assert 'still stopping: a reason to stop' in scene.refusal()
        scene.go(1.0)
        scene.accept()
        assert scene.state is State.MOVING

    def test_refusal_on_the_way_does_not_disturb_the_arm(self):
        scene = Scene()
        scene.accept()
        scene.go(0.5)
        T = np.eye(4)
        T[0, 3] = 100.0
        scene.refusal(T)
        scene.until(State.REACHED)
        assert_close(pose(*scene.q[-1])[:3, 3], GOAL[:3, 3], 1e-5)
        scene.check_smooth()


class TestLostState:
    @pytest.mark.parametrize('timeout', [0.2, 0.5])
    def test_arm_slows_down_and_holds_naming_the_joints(self, timeout):
        scene = Scene(state_timeout=timeout)
        scene.accept(FAR_GOAL)
        scene.go(0.8)
        scene.reports, lost = False, scene.now
        scene.until(State.HOLDING)
        assert scene.now - lost == pytest.approx(timeout, abs=2 * DT)
        assert 'lost: shoulder, elbow' in scene.reason
        scene.go(1.0)
        assert scene.commands[-1][0] - lost <= timeout + 0.5
        assert not np.any(scene.commands[-1][1].velocity)
        scene.check_smooth()
        assert scene.state is State.HOLDING

    def test_one_lost_joint_is_enough(self):
        scene = Scene()
        scene.accept(FAR_GOAL)
        scene.go(0.3)
        del scene.values['elbow']
        scene.follows = False
        scene.until(State.HOLDING, longest=1.0)
        assert scene.reason.endswith('lost: elbow')

    def test_state_that_comes_back_moves_nothing_by_itself(self):
        scene = Scene()
        scene.accept(FAR_GOAL)
        scene.go(0.8)
        scene.reports = False
        scene.go(2.0)
        count = len(scene.commands)
        scene.reports = True
        scene.go(2.0)
        assert len(scene.commands) == count
        assert scene.state is State.HOLDING
        scene.accept()
        scene.until(State.REACHED)

    def test_nothing_is_repeated_after_the_stop(self):
        scene = Scene()
        scene.accept(FAR_GOAL)
        scene.go(0.8)
        scene.reports = False
        scene.go(2.0)
        (before, a), (last, b) = scene.commands[-2:]
        assert np.any(a.velocity)
        assert not np.any(b.velocity)
        assert last - before == pytest.approx(DT)

    def test_lost_state_at_rest_is_told_and_moves_nothing(self):
        scene = Scene()
        scene.accept()
        scene.until(State.REACHED)
        scene.go(1.0)
        count = len(scene.commands)
        scene.reports = False
        scene.go(2.0)
        assert scene.state is State.WAITING_FOR_STATE
        scene.reports = True
        scene.go(0.1)
        assert scene.state is State.REACHED
        assert len(scene.commands) == count


class TestDeadMan:
    def test_arm_stops_when_no_target_comes(self):
        scene = Scene(target_timeout=0.3)
        scene.accept(FAR_GOAL)
        scene.go(0.25)
        assert scene.state is State.MOVING
        scene.until(State.HOLDING, longest=0.2)
        assert 'target_timeout 0.3 s' in scene.reason
        scene.go(1.0)
        scene.check_smooth()

    def test_arm_goes_on_while_targets_come(self):
        scene = Scene(target_timeout=0.3)
        while scene.state in (State.IDLE, State.MOVING):
            scene.accept(FAR_GOAL)
            scene.go(0.2)
        assert scene.state is State.REACHED

    def test_by_default_one_target_is_enough(self):
        scene = Scene()
        scene.accept(FAR_GOAL)
        scene.until(State.REACHED)


class TestGap:
    def test_arm_that_does_not_follow_is_held_naming_the_joint(self):
        scene = Scene()
        scene.follows = False
        scene.accept(FAR_GOAL)
        scene.until(State.HOLDING)
        assert "'elbow'" in scene.reason
        assert 'resync_tolerance 0.1' in scene.reason
        gap = np.abs(scene.motion.q - list(START.values())).max()
        assert gap < 0.1 + 0.3 * 1.5, 'not much farther than the tolerance'
        scene.go(1.0)
        scene.check_smooth()

    def test_next_target_starts_from_the_measured_state(self):
        scene = Scene()
        scene.follows = False
        scene.accept(FAR_GOAL)
        scene.until(State.HOLDING)
        scene.go(2.5)
        count = len(scene.commands)
        scene.follows = True
        scene.accept()
        scene.until(State.REACHED)
        assert np.abs(scene.q[count] - list(START.values())).max() <= 5.0 * DT * DT + 1e-12
        assert_close(pose(*scene.q[-1])[:3, 3], GOAL[:3, 3], 1e-5)

    def test_stop_of_an_arm_that_does_not_follow_ends_where_it_is_measured(self):
        scene = Scene()
        scene.follows = False
        scene.accept(FAR_GOAL)
        scene.until(State.HOLDING)
        scene.go(3.0)
        assert scene.state is State.HOLDING
        assert "'elbow'" in scene.reason
        assert_close(scene.q[-1], list(START.values()), 1e-9)
        assert not np.any(scene.commands[-1][1].velocity)
        assert scene.tick() is None
        gaps = np.diff([time for time, _ in scene.commands])
        assert gaps.max() <= DT + 1e-9, 'one run of commands'
        scene.check_smooth()

    @pytest.mark.parametrize('stream', [0.01, 0.3, 0.99])
    def test_frozen_arm_under_a_stream_is_sent_one_stop(self, stream):
        """A protective stop: nothing moves for five seconds, while targets keep coming."""
        scene = Scene()
        scene.accept(FAR_GOAL)
        scene.go(0.5)
        scene.follows = False
        for i in range(round(5.0 / stream)):
            with contextlib.suppress(RefusedError):
                scene.accept(pose(2.4, 1.3 - 1e-3 * i * stream))
            scene.go(max(stream, DT))
        frozen = list(scene.values.values())
        assert_close(scene.q[-1], frozen, 1e-9)
        gaps = np.diff([time for time, _ in scene.commands])
        assert gaps.max() <= DT + 1e-9, 'one run of commands'
        assert scene.now - scene.commands[-1][0] > 2.0
        assert 'accepted again after 1 s without any' in scene.refusal(GOAL)
        scene.check_smooth()

    def test_arm_may_set_out_again_when_the_stream_has_paused(self):
        scene = Scene()
        scene.follows = False
        scene.accept(FAR_GOAL)
        scene.until(State.HOLDING)
        scene.go(2.0)
        scene.refusal(FAR_GOAL)
        scene.go(0.99)
        scene.refusal(GOAL)
        scene.go(1.01)
        scene.follows = True
        scene.accept(GOAL)
        scene.until(State.REACHED)

    def test_interrupted_target_waits_until_the_arm_is_told_to_go_on(self):
        scene = Scene()
        scene.follows = False
        scene.accept(FAR_GOAL)
        scene.until(State.HOLDING)
        with pytest.raises(RefusedError, match='still stopping'):
            scene.follower.resume(scene.now)
        scene.go(3.0)
        nearly_the_same = FAR_GOAL.copy()
        nearly_the_same[0, 3] += 1e-6
        assert '~/resume allows it again' in scene.refusal(nearly_the_same)
        scene.go(1.01)
        assert '~/resume allows it again' in scene.refusal(FAR_GOAL)
        scene.follows = True
        scene.go(1.01)
        scene.follower.resume(scene.now)
        assert scene.state is State.IDLE
        scene.accept(FAR_GOAL)
        scene.until(State.REACHED)
        scene.check_smooth()

    def test_stream_that_runs_when_the_arm_is_told_to_go_on_has_to_pause(self):
        scene = Scene()
        scene.follows = False
        scene.accept(FAR_GOAL)
        scene.until(State.HOLDING)
        scene.go(3.0)
        scene.refusal(FAR_GOAL)
        scene.go(0.1)
        scene.refusal(FAR_GOAL)
        scene.follower.resume(scene.now)
        for _ in range(20):
            scene.go(0.1)
            assert 'told to go on' in scene.refusal(GOAL)
        scene.go(1.01)
        scene.accept(GOAL)

    @pytest.mark.parametrize('before', [None, 0.1, 0.9])
    def test_one_target_is_accepted_at_once_when_the_arm_was_told_to_go_on(self, before):
        """Also where one came in the second before: that was no stream."""
        scene = Scene()
        scene.follows = False
        scene.accept(FAR_GOAL)
        scene.until(State.HOLDING)
        scene.go(3.0)
        if before is not None:
            scene.refusal(FAR_GOAL)
            scene.go(before)
        scene.follower.resume(scene.now)
        scene.follows = True
        scene.accept(FAR_GOAL)
        scene.until(State.REACHED)

    def test_hold_while_the_commands_go_back_lets_them_go_back(self):
        scene = Scene()
        scene.follows = False
        scene.accept(FAR_GOAL)
        while not scene.follower.is_going_back:
            scene.tick()
        scene.follower.hold_when_told()
        scene.go(2.0)
        assert_close(scene.q[-1], list(START.values()), 1e-9)
        assert (scene.state, scene.reason) == (State.HOLDING, HELD)

    def test_stream_of_targets_right_after_a_stop_makes_no_jump(self):
        scene = Scene(target_timeout=0.1)
        scene.lag = 0.03
        scene.accept(FAR_GOAL)
        scene.until(State.HOLDING)
        for i in range(500):
            if scene.state is State.MOVING:
                break
            with contextlib.suppress(RefusedError):
                scene.accept(pose(2.4, 1.3 - 1e-3 * i))
            scene.tick()
        assert scene.state is State.MOVING
        scene.go(0.05)
        scene.check_smooth()

    @pytest.mark.parametrize('lag', [0.05, 0.1])
    @pytest.mark.parametrize('path', ['line', 'joint'])
    def test_arm_that_lags_at_full_speed_follows(self, lag, path):
        scene = Scene(path=path, tip=(100.0, 100.0) if path == 'joint' else (0.25, 1.0))
        scene.lag = lag
        scene.accept(pose(-2.0, 1.3) if path == 'joint' else FAR_GOAL)
        scene.until(State.REACHED)
        fastest = np.abs(np.diff(scene.q, axis=0)).max() / DT
        if path == 'joint':
            assert fastest * lag > 0.07
            assert fastest > 1.49

    def test_arm_that_is_pushed_away_is_held(self):
        scene = Scene()
        scene.accept(FAR_GOAL)
        scene.go(0.8)
        scene.offset = np.array([0.0, 0.2])
        scene.until(State.HOLDING, longest=0.5)
        assert "'elbow'" in scene.reason
        scene.go(1.0)
        scene.check_smooth()

    def test_arm_that_sags_a_little_does_not_dip_at_every_target(self):
        scene = Scene(arrival_tolerance_position=0.05)
        scene.offset = np.array([0.0, -0.05])
        for goal in (GOAL, pose(1.0, 1.0), GOAL):
            scene.accept(goal)
            scene.until(State.REACHED)
            scene.go(1.0)
        assert_close(pose(*scene.q[-1])[:3, 3], GOAL[:3, 3], 1e-5)
        scene.check_smooth()

    def test_arm_that_was_moved_by_another_starts_where_it_stands(self):
        scene = Scene()
        scene.accept()
        scene.until(State.REACHED)
        scene.go(1.0)
        count = len(scene.commands)
        scene.values |= {'shoulder': 0.2}
        scene.go(5 * DT)
        scene.accept(FAR_GOAL)
        scene.until(State.MOVING, longest=0.5)  # a second source might deny where it leapt to
        assert abs(scene.q[count][0] - 0.2) <= 5.0 * DT * DT + 1e-12

    @pytest.mark.parametrize('turns', [-2, 1, 3])
    def test_continuous_joint_may_be_reported_in_another_turn(self, turns):
        scene = Scene()
        scene.offset = np.array([turns * 2.0 * math.pi, 0.0])
        scene.accept(GOAL)
        scene.until(State.REACHED)
        scene.accept(FAR_GOAL)
        scene.until(State.REACHED)
        scene.check_smooth()

    def test_continuous_joint_starts_in_the_turn_that_is_reported(self):
        """The first command must not unwind it."""
        scene = Scene(start=START | {'shoulder': 0.4 + 4.0 * math.pi})
        scene.accept(GOAL)
        scene.tick()
        turns = (scene.q[0][0] - 0.4) / (2.0 * math.pi)
        assert turns == pytest.approx(round(turns), abs=1e-3)
        scene.until(State.REACHED)


class TestMeasuredJoints:
    def test_foreign_joints_are_ignored(self):
        scene = Scene(start={'finger': 9.9, **START, 'camera': math.nan})
        scene.accept()
        scene.until(State.REACHED)

    def test_arm_and_gripper_come_from_two_publishers(self):
        """Each message names its own joints: neither makes the other old."""
        scene = Scene()
        scene.reports = False
        scene.accept()
        while scene.state is State.MOVING:
            scene.tick()
            arm = {name: scene.values[name] for name in reversed(START)}
            scene.measured.update(['finger'], [0.02], scene.now)
            scene.measured.update(arm.keys(), arm.values(), scene.now)
            scene.measured.update(['finger'], [0.03], scene.now)
        assert scene.state is State.REACHED

    @pytest.mark.parametrize('value', [math.nan, math.inf, -math.inf])
    def test_value_that_is_not_finite_is_left_out(self, value):
        measured = MeasuredJoints()
        measured.update(['a', 'b'], [value, 2.0], 0.0)
        assert measured.fresh(0.0, 1.0) == {'b': 2.0}
        assert measured.missing(['a', 'b'], 0.0, 1.0) == ['a']

    def test_value_that_is_not_finite_does_not_wipe_out_a_good_one(self):
        measured = MeasuredJoints()
        measured.update(['a'], [1.0], 0.0)
        measured.update(['a'], [math.nan], 0.3)
        assert measured.fresh(0.4, 1.0) == {'a': 1.0}
        assert measured.missing(['a'], 1.2, 1.0) == ['a']

    def test_message_with_fewer_values_than_names_is_read_as_far_as_it_goes(self):
        measured = MeasuredJoints()
        measured.update(['a', 'b'], [1.0], 0.0)
        measured.update(['c'], [], 0.0)
        assert measured.fresh(0.0, 1.0) == {'a': 1.0}

    def test_every_joint_has_an_age_of_its_own(self):
        measured = MeasuredJoints()
        measured.update(['a'], [1.0], 0.0)
        measured.update(['b'], [2.0], 0.4)
        assert measured.missing(['a', 'b', 'c'], 0.6, 0.5) == ['a', 'c']
        assert measured.fresh(0.6, 0.5) == {'b': 2.0}

    def test_value_from_the_future_is_as_bad_as_an_old_one(self):
        """The clock was set back: nobody knows how old it is."""
        measured = MeasuredJoints()
        measured.update(['a'], [1.0], 1000.0)
        assert measured.missing(['a'], 0.0, 0.5) == ['a']
        assert measured.fresh(0.0, 0.5) == {}

    def test_everything_can_be_forgotten(self):
        measured = MeasuredJoints()
        measured.update(['a'], [1.0], 0.0)
        measured.forget()
        assert measured.missing(['a'], 0.0, 0.5) == ['a']


class TestWithoutState:
    @pytest.fixture
    def scene(self):
        scene = Scene(start={}, wait_for_state=False, start_configuration=(0.4, 1.0))
        scene.reports = False
        return scene

    def test_arm_starts_where_it_is_said_to_stand(self, scene):
        assert scene.state is State.IDLE
        scene.accept()
        scene.tick()
        assert np.abs(scene.q[0] - [0.4, 1.0]).max() <= 5.0 * DT * DT + 1e-12
        scene.until(State.REACHED)
        scene.check_smooth()

    def test_second_goal_starts_where_the_first_one_ended(self, scene):
        scene.accept()
        scene.until(State.REACHED)
        scene.go(1.0)
        scene.accept(FAR_GOAL)
        scene.until(State.REACHED)
        scene.check_smooth()

    def test_arm_starts_in_the_middle_of_its_limits_otherwise(self):
        scene = Scene(start={}, wait_for_state=False)
        assert_close(scene.motion.q, [0.0, 0.0])

    @pytest.mark.parametrize('start', [(0.0,), (0.0, 1.0, 2.0), (0.0, math.nan)])
    def test_start_that_is_none_of_this_arm_is_refused(self, start):
        with pytest.raises(JointValueError, match='start_configuration'):
            Scene(start={}, wait_for_state=False, start_configuration=start)

    def test_start_outside_the_limits_is_refused_naming_the_joint(self):
        with pytest.raises(RefusedError, match="'elbow' stands at 3"):
            Scene(start={}, wait_for_state=False, start_configuration=(0.0, 3.0))


class TestFollowerAfterAnother:
    """As when a node is deactivated and activated again: whoever is told sees one stream."""

    def after(self, scene, pause):
        """Hold, and follow with another follower `pause` seconds after the last command."""
        scene.accept(FAR_GOAL)
        scene.go(0.8)
        scene.follower.hold(stopped('the node is being deactivated'))
        while not scene.follower.is_at_rest:
            scene.tick()
        motion, rules = scene.motion, scene.follower.rules
        motion.reset(motion.robot.mid_configuration())
        scene.follower = Follower(motion.robot, motion, rules, scene.measured, scene.commands[-1])
        scene.go(pause)

    def test_it_goes_on_at_the_last_command_where_the_arm_all_but_stands_there(self):
        scene = Scene()
        scene.offset = np.array([0.03, -0.03])
        self.after(scene, 0.0)
        scene.accept()
        scene.go(0.5)
        scene.check_smooth()

    def test_it_does_not_start_elsewhere_at_once(self):
        scene = Scene()
        scene.offset = np.array([0.3, -0.3])
        scene.follower.rules = replace(scene.follower.rules, resync_tolerance=1.0)
        self.after(scene, 0.0)
        scene.follower.rules = replace(scene.follower.rules, resync_tolerance=0.1)
        assert 'the arm is not at its last command' in scene.refusal()

    def test_it_starts_where_the_arm_stands_after_a_pause(self):
        scene = Scene()
        scene.offset = np.array([0.03, -0.03])
        self.after(scene, 0.3)
        told = len(scene.commands)
        stands = [scene.values[name] for name in START]
        scene.accept()
        scene.tick()
        assert_close(scene.commands[told][1].q, stands, 5.0 * DT * DT + 1e-9)

    def test_without_measurements_it_goes_on_at_the_last_command(self):
        scene = Scene(start={}, wait_for_state=False, start_configuration=(0.4, 1.0))
        self.after(scene, 10.0)
        told = scene.commands[-1][1].q
        scene.accept()
        scene.tick()
        assert_close(scene.commands[-1][1].q, told, 5.0 * DT * DT + 1e-9)


class TestHold:
    def test_hold_on_the_way_slows_down_says_why_and_ends(self):
        scene = Scene()
        scene.accept(FAR_GOAL)
        scene.go(0.8)
        scene.follower.hold(stopped('the clock jumped back'))
        assert scene.state is State.HOLDING
        assert scene.reason == 'the clock jumped back'
        scene.go(2.0)
        assert scene.state is State.HOLDING
        assert not np.any(scene.commands[-1][1].velocity)
        assert scene.follower.is_at_rest
        scene.check_smooth()

    def test_hold_at_the_goal_ends_the_repetition(self):
        scene = Scene()
        scene.accept()
        scene.until(State.REACHED)
        scene.follower.hold(stopped('the clock jumped back'))
        assert scene.tick() is None

    def test_goal_after_a_hold_is_pursued(self):
        scene = Scene()
        scene.accept(FAR_GOAL)
        scene.go(0.8)
        scene.follower.hold(stopped('wait'))
        scene.go(1.0)
        scene.accept()
        assert (scene.state, scene.reason) == (State.MOVING, '')
        scene.until(State.REACHED)

    def test_goal_just_after_a_hold_does_not_start_elsewhere_though_its_stamp_is_ahead(self):
        """Stamps are on a grid: the last one may be a little later than the time."""
        scene = Scene()
        scene.accept(FAR_GOAL)
        scene.go(0.8)
        scene.follower.hold(stopped('wait'))
        scene.until(State.HOLDING)
        while not scene.follower.is_at_rest:
            scene.tick()
        scene.values['elbow'] += 0.2
        scene.now -= 0.4 * DT
        scene.report()
        scene.report()
        assert 'the arm is not at its last command' in scene.refusal()

    def test_clock_that_went_ahead_and_comes_back_is_no_pause(self):
        """What was to begin elsewhere by then must not, so near to the last command."""
        scene = Scene()
        scene.accept()
        scene.until(State.REACHED)
        scene.go(1.0)
        last, now = scene.commands[-1][0], scene.now
        scene.values['elbow'] += 0.3
        scene.now = now + 900.0
        scene.report()
        scene.accept(FAR_GOAL)
        scene.now = last + 0.03
        scene.report()
        scene.follower.hold(stopped('the clock jumped back'))
        assert 'the arm is not at its last command' in scene.refusal()
        scene.now = last + 0.25
        scene.report()
        scene.accept()
        scene.until(State.REACHED)

    def test_hold_before_any_target_says_nothing(self):
        scene = Scene()
        scene.follower.hold(stopped('the clock jumped back'))
        scene.go(0.5)
        assert not scene.commands
        assert scene.state is State.IDLE


def test_rules_can_change_on_the_way():
    scene = Scene()
    scene.accept(FAR_GOAL)
    scene.go(0.3)
    scene.follower.rules = replace(scene.follower.rules, target_timeout=0.4)
    scene.until(State.HOLDING, longest=0.3)


class TestToldToHold:
    def test_arm_slows_down_and_stays_until_it_is_told_to_go_on(self):
        scene = Scene()
        scene.accept(FAR_GOAL)
        scene.go(0.8)
        scene.follower.hold_when_told()
        assert scene.refusal(GOAL) == HELD
        scene.go(2.0)
        assert (scene.state, scene.reason) == (State.HOLDING, HELD)
        assert not np.any(scene.commands[-1][1].velocity)
        for _ in range(30):
            assert scene.refusal(GOAL) == HELD
            assert scene.tick() is None
        scene.go(2.0)
        assert scene.refusal(GOAL) == HELD
        scene.go(1.01)
        scene.follower.resume(scene.now)
        assert scene.state is State.IDLE
        scene.accept()
        scene.until(State.REACHED)
        scene.check_smooth()

    def test_it_is_said_before_the_first_target_too(self):
        scene = Scene()
        scene.follower.hold_when_told()
        scene.go(0.5)
        assert (scene.state, scene.reason) == (State.HOLDING, HELD)
        assert not scene.commands
        scene.follower.resume(scene.now)
        scene.accept()
        scene.until(State.REACHED)

    def test_home_and_jogs_are_refused(self):
        scene = Scene(home_configuration=HOME)
        scene.follower.hold_when_told()
        with pytest.raises(RefusedError, match=HELD):
            scene.follower.go_home(scene.now)
        with pytest.raises(RefusedError, match=HELD):
            scene.follower.jog(np.array([0.0, 0.1, 0.0, 0.0, 0.0, 0.0]), scene.now)
        scene.go(0.5)
        assert not scene.commands

    def test_arm_that_is_not_held_goes_on_when_it_is_told_to(self):
        scene = Scene()
        scene.accept(FAR_GOAL)
        scene.go(0.3)
        scene.follower.resume(scene.now)
        scene.accept(GOAL)
        scene.until(State.REACHED)
        scene.check_smooth()

    def test_it_outlives_the_follower(self):
        scene = Scene()
        scene.follower.hold_when_told()
        gate = scene.follower.gate
        again = Follower(
            scene.follower.robot, scene.motion, scene.follower.rules, scene.measured, gate=gate
        )
        with pytest.raises(RefusedError, match=HELD):
            again.accept(GOAL, scene.now)
        assert said(again, scene.now)[0] is State.HOLDING


class TestReference:
    """What a controller of trajectories says of its own reference."""

    def hear(self, scene, shoulder, elbow, age=0.0):
        reference = MeasuredJoints()
        reference.update(START, (shoulder, elbow), scene.now - age)
        scene.follower.observer.reference = reference

    @pytest.mark.parametrize(
        ('offset', 'age', 'is_taken'), [(0.02, 0.0, True), (0.2, 0.0, False), (0.02, 0.3, False)]
    )
    def test_arm_starts_there_where_it_is_near_and_new(self, offset, age, is_taken):
        scene = Scene()
        self.hear(scene, START['shoulder'] + offset, START['elbow'], age)
        scene.accept()
        scene.tick()
        begin = START['shoulder'] + offset * is_taken
        assert abs(scene.q[0][0] - begin) <= 5.0 * DT * DT + 1e-12

    def test_reference_outside_the_limits_is_no_start(self):
        scene = Scene(start=START | {'elbow': 2.79})
        self.hear(scene, START['shoulder'], 2.81)
        scene.accept()
        scene.tick()
        assert abs(scene.q[0][1] - 2.79) <= 5.0 * DT * DT + 1e-12

    def test_controller_that_plays_something_else_stops_the_arm(self):
        scene = Scene()
        scene.accept(FAR_GOAL)
        scene.go(0.5)
        meant = scene.motion.q
        scene.follower.watch_reference(meant + 0.09, meant, scene.now)
        assert scene.state is State.MOVING
        scene.follower.watch_reference(meant + np.array([0.0, 0.2]), meant, scene.now)
        scene.until(State.HOLDING, longest=0.1)
        assert "the reference of 'elbow' is off by 0.200" in scene.reason
        scene.go(2.0)
        assert scene.tick() is None
        scene.check_smooth()


class TestReady:
    def test_robot_that_is_not_ready_is_stopped_and_waits_for_another_target(self):
        scene = Scene()
        scene.accept(FAR_GOAL)
        scene.go(0.8)
        scene.follower.observer.not_ready = stopped('not ready: somebody says false')
        scene.until(State.HOLDING, longest=0.1)
        assert scene.reason == 'not ready: somebody says false'
        scene.go(1.0)
        assert scene.tick() is None
        assert scene.refusal(GOAL) == 'not ready: somebody says false'
        with pytest.raises(RefusedError, match='somebody says false'):
            scene.follower.resume(scene.now)
        scene.follower.observer.not_ready = None
        scene.go(0.5)
        assert 'after 1 s without any' in scene.refusal(GOAL)
        scene.go(1.01)
        assert '~/resume' in scene.refusal(FAR_GOAL)
        scene.go(1.01)
        scene.accept(GOAL)
        scene.until(State.REACHED)
        scene.check_smooth()

    def test_robot_that_was_never_ready_says_so_and_accepts_nothing(self):
        scene = Scene()
        scene.follower.observer.not_ready = stopped('not ready: no message yet')
        assert (scene.state, scene.reason) == (State.HOLDING, 'not ready: no message yet')
        assert scene.refusal(GOAL) == 'not ready: no message yet'
        scene.follower.observer.not_ready = None
        assert scene.state is State.IDLE

    def test_pause_of_the_robot_is_no_fault(self):
        scene = Scene()
        scene.accept(FAR_GOAL)
        scene.go(0.5)
        scene.motion.scale_speed(0.0)
        scene.follower.observer.paused_by = stopped('paused by the robot')
        scene.go(2.0)
        assert (scene.state, scene.reason) == (State.MOVING, 'paused by the robot')
        rested = scene.q[-1]
        scene.go(5.0)
        assert_close(scene.q[-1], rested, 0.0)
        scene.motion.scale_speed(0.1)
        scene.follower.observer.paused_by = None
        count = len(scene.commands)
        scene.go(2.0)
        tip = np.array([pose(*q)[:2, 3] for q in scene.q[count:]])
        speeds = np.linalg.norm(np.diff(tip, axis=0), axis=1) / DT
        assert 0.02 < speeds.max() <= 0.025 * 1.001
        scene.motion.scale_speed(1.0)
        scene.until(State.REACHED)
        scene.check_smooth()


HOME = (-0.7, 0.5)


class TestHome:
    def test_arm_goes_there_straight_in_joint_space(self):
        scene = Scene(home_configuration=HOME)
        scene.follower.go_home(scene.now)
        assert scene.state is State.MOVING
        scene.until(State.REACHED)
        assert_close(scene.motion.q, HOME, 1e-6)
        start = np.array(list(START.values()))
        way = np.array(HOME) - start
        share = (scene.q - start) @ way / (way @ way)
        assert_close(scene.q, start + np.outer(share, way), 1e-6)
        scene.check_smooth()

    def test_it_ends_a_target_under_way_without_a_jump_and_a_target_ends_it(self):
        scene = Scene(home_configuration=HOME)
        scene.accept(FAR_GOAL)
        scene.go(0.8)
        scene.follower.go_home(scene.now)
        scene.go(0.5)
        scene.accept()
        scene.until(State.REACHED)
        assert_close(pose(*scene.motion.q)[:2, 3], GOAL[:2, 3], 1e-4)
        scene.check_smooth()

    def test_dead_mans_switch_of_targets_does_not_stop_it(self):
        scene = Scene(home_configuration=HOME, target_timeout=0.2)
        scene.follower.go_home(scene.now)
        scene.until(State.REACHED)
        assert_close(scene.motion.q, HOME, 1e-6)

    def test_joint_that_turns_without_end_goes_the_short_way(self):
        scene = Scene({'shoulder': 0.4 + 6.0 * math.pi, 'elbow': 1.0}, home_configuration=HOME)
        scene.follower.go_home(scene.now)
        scene.until(State.REACHED)
        assert_close(scene.motion.q, [HOME[0] + 6.0 * math.pi, HOME[1]], 1e-6)

    def test_lost_state_stops_it(self):
        scene = Scene(home_configuration=HOME, resync_tolerance=2.0)
        scene.follower.go_home(scene.now)
        scene.go(0.3)
        scene.reports = False
        scene.until(State.HOLDING)
        assert 'lost' in scene.reason

    @pytest.mark.parametrize(
        ('start', 'rules', 'reason'),
        [
            (START, {}, 'home_configuration is empty'),
            ({'elbow': 1.0}, {'home_configuration': HOME}, 'no fresh joint state of: shoulder'),
            (START | {'elbow': 3.0}, {'home_configuration': HOME}, "'elbow' stands at 3"),
        ],
    )
    def test_it_is_refused_with_the_reason(self, start, rules, reason):
        scene = Scene(start, **rules)
        with pytest.raises(RefusedError, match=reason):
            scene.follower.go_home(scene.now)
        scene.go(0.1)
        assert not scene.commands

    @pytest.mark.parametrize(
        ('home', 'reason'),
        [((0.0,), r'home_configuration has shape \(1,\)'), ((0.0, 2.9), "'elbow' at 2.9")],
    )
    def test_home_that_is_none_of_this_arm_is_refused_at_the_start(self, home, reason):
        with pytest.raises(JointValueError, match=reason):
            Scene(home_configuration=home)


def test_pause_is_said_and_the_arm_stays_under_command():
    scene = Scene()
    scene.accept(FAR_GOAL)
    scene.go(0.8)
    motion = scene.motion
    full = motion.limits
    solver = SolverOptions(mode='position', budget=math.inf, max_restarts=20)
    motion.change(replace(full, speed_scaling=0.0), solver, motion.pursuit.options)
    scene.go(2.0)
    assert (scene.state, scene.reason) == (State.MOVING, 'paused: speed_scaling is 0')
    assert scene.tick() is not None
    assert not np.any(scene.commands[-1][1].velocity)
    motion.change(full, solver, motion.pursuit.options)
    scene.until(State.REACHED)
    scene.check_smooth()


class TestJog:
    """The tip of the planar arm, at velocities given again and again."""

    SIDE = np.array([0.0, 0.1, 0.0, 0.0, 0.0, 0.0])
    REST = np.zeros(6)

    def jog(self, scene, seconds, twist=SIDE, every=0.05, **options):
        for _ in range(round(seconds / every)):
            scene.follower.jog(twist, scene.now, **options)
            scene.go(every)

    def test_arm_moves_while_it_comes_and_holds_soon_after_the_last(self):
        scene = Scene()
        self.jog(scene, 1.0)
        assert scene.state is State.JOGGING
        assert np.any(scene.commands[-1][1].velocity)
        scene.go(0.19)
        before = scene.q[-1]
        scene.until(State.HOLDING, longest=0.25 + 0.3)
        assert scene.reason == 'jogging has ended'
        assert np.any(scene.q[-1] != before)
        scene.go(1.0)
        assert scene.tick() is None, 'it falls silent'
        tip = [pose(*q)[:2, 3] for q in scene.q]
        assert np.ptp(np.array(tip)[:, 0]) < 1e-5
        assert 0.1 < tip[-1][1] - tip[0][1] < 0.15
        scene.check_smooth()

    def test_pauses_shorter_than_the_timeout_do_not_show(self):
        scene = Scene(jog_timeout=0.25)
        self.jog(scene, 2.0, every=0.2)
        tip = np.array([pose(*q)[1, 3] for q in scene.q])
        assert np.diff(tip)[50:].min() == pytest.approx(0.1 * DT, rel=1e-3)

    def test_jog_ends_a_target_and_a_target_a_jog(self):
        scene = Scene()
        scene.accept(FAR_GOAL)
        scene.go(0.8)
        self.jog(scene, 0.5)
        assert scene.follower.goal is None
        scene.accept()
        assert scene.state is State.MOVING
        scene.until(State.REACHED)
        assert_close(pose(*scene.motion.q)[:2, 3], GOAL[:2, 3], 1e-4)
        scene.check_smooth()

    def test_dead_mans_switch_of_targets_does_not_count(self):
        scene = Scene(target_timeout=0.1)
        self.jog(scene, 1.0)
        assert scene.state is State.JOGGING

    def test_end_of_reach_is_held_with_the_reason_and_left_again(self):
        scene = Scene({'shoulder': 0.0, 'elbow': 0.6})
        out = np.array([0.2, 0.0, 0.0, 0.0, 0.0, 0.0])
        self.jog(scene, 2.0, out)
        assert scene.state is State.HOLDING
        assert scene.reason.startswith('jogged as far as it goes')
        scene.go(1.0)
        assert scene.reason.startswith('jogged as far as it goes'), 'also when let go'
        self.jog(scene, 0.5, -out)
        assert scene.state is State.JOGGING
        scene.check_smooth()

    def test_hold_stops_it_and_it_is_refused_until_the_arm_rests(self):
        scene = Scene()
        self.jog(scene, 1.0)
        scene.follower.hold_when_told()
        with pytest.raises(RefusedError, match=HELD):
            scene.follower.jog(self.SIDE, scene.now)
        scene.go(1.1)
        assert (scene.state, scene.reason) == (State.HOLDING, HELD)
        scene.follower.resume(scene.now)
        self.jog(scene, 0.2)
        assert scene.state is State.JOGGING

    def test_it_begins_where_the_arm_was_moved_by_somebody_else(self):
        scene = Scene()
        scene.accept()
        scene.until(State.REACHED)
        scene.go(1.0)
        scene.values['elbow'] -= 0.5
        scene.report()
        scene.follower.jog(self.SIDE, scene.now)
        command = scene.tick()
        assert np.abs(command.q - list(scene.values.values())).max() < 1e-3

    @given(
        events=st.lists(
            st.tuples(
                st.sampled_from(['target', 'jog', 'hold', 'nothing']),
                st.integers(1, 60),
                st.integers(1, 20),
            ),
            max_size=6,
        )
    )
    def test_stick_at_rest_changes_nothing_of_what_others_ask_for(self, events):
        """With and without zeros in between the commands are the same."""
        alone, beside = Scene(), Scene()
        for what, ticks, every in events:
            for scene in (alone, beside):
                with contextlib.suppress(RefusedError):
                    if what == 'target':
                        scene.accept(FAR_GOAL if ticks % 2 else GOAL)
                    elif what == 'hold':
                        scene.follower.hold_when_told()
                    elif what == 'jog':
                        self.jog(scene, 0.2)
                        scene.follower.jog(self.REST, scene.now)
            for tick in range(ticks):
                alone.tick()
                beside.tick()
                if tick % every == 0:
                    beside.follower.jog(self.REST, beside.now)
        assert len(alone.commands) == len(beside.commands)
        assert np.array_equal(alone.q, beside.q)
        assert said(alone.follower, alone.now) == said(beside.follower, beside.now)

    def test_stick_at_rest_does_not_engage_the_arm_even_without_its_state(self):
        for scene in (Scene(), Scene(start={})):
            before = said(scene.follower, scene.now)
            self.jog(scene, 1.0, self.REST)
            assert not scene.follower.jog(self.REST, scene.now)
            assert not scene.commands
            assert said(scene.follower, scene.now)[0] is before[0]

    def test_zeros_brake_the_tip_at_once_and_the_node_falls_silent_though_they_go_on(self):
        scene = Scene()
        self.jog(scene, 1.0)
        let_go = scene.now
        assert scene.follower.jog(self.REST, scene.now)
        self.jog(scene, 2.0, self.REST)
        assert (scene.state, scene.reason) == (State.HOLDING, 'jogging has ended')
        moving = [time for time, command in scene.commands if np.any(command.velocity)]
        # 0.1 m/s takes 0.1 s at 1 m/s^2; joints take up their lag for as long again.
        assert moving[-1] - let_go < 0.2 + 2 * DT, 'no dead man is waited for'
        assert scene.commands[-1][0] - moving[-1] == pytest.approx(0.5, abs=3 * DT)
        scene.check_smooth()

    def test_pendant_takes_over_while_the_stick_is_at_rest_and_the_stick_from_there(self):
        scene = Scene()
        self.jog(scene, 1.0)
        self.jog(scene, 2.0, self.REST)
        said = len(scene.commands)
        scene.values['elbow'] -= 0.5
        self.jog(scene, 1.0, self.REST)
        assert len(scene.commands) == said
        moved = list(scene.values.values())
        scene.follower.jog(self.SIDE, scene.now)
        assert np.abs(scene.tick().q - moved).max() < 1e-3

    @pytest.mark.parametrize('tip_acceleration', [0.4, 0.1, 0.01])
    def test_lost_jog_ends_soon_however_gently_the_tip_brakes(self, tip_acceleration):
        scene = Scene({'shoulder': 0.5, 'elbow': 2.0}, tip_acceleration=tip_acceleration)
        self.jog(scene, 1.5, 10.0 * self.SIDE)
        assert np.any(scene.commands[-1][1].velocity)
        let_go = scene.now - 0.05
        scene.go(2.0)
        moving = [time for time, command in scene.commands if np.any(command.velocity)]
        assert moving[-1] - let_go <= 0.25 + 0.5 + DT, 'the timeout and the ramp'
        assert (scene.state, scene.reason) == (State.HOLDING, 'jogging has ended')
        assert scene.tick() is None
        self.jog(scene, 0.2)
        assert scene.state is State.JOGGING
        scene.check_smooth()

    def test_zeros_brake_as_gently_as_the_tip_is_to(self):
        scene = Scene(tip_acceleration=0.1)
        self.jog(scene, 2.0)
        self.jog(scene, 0.5, self.REST)
        assert scene.state is State.JOGGING
        scene.until(State.HOLDING)
        speed = np.linalg.norm(np.diff([pose(*q)[:2, 3] for q in scene.q], axis=0), axis=1) / DT
        assert np.abs(np.diff(speed)).max() / DT < 0.1 * 1.1

    @pytest.mark.parametrize('wrong', [math.nan, math.inf, -math.inf])
    def test_what_is_not_finite_is_refused(self, wrong):
        scene = Scene()
        with pytest.raises(RefusedError, match='six finite numbers'):
            scene.follower.jog(np.array([0.0, 0.0, wrong, 0.0, 0.0, 0.0]), scene.now)
        assert scene.state is State.IDLE

    def test_without_a_measured_state_it_is_refused(self):
        scene = Scene(start={})
        with pytest.raises(RefusedError, match='no fresh joint state'):
            scene.follower.jog(self.SIDE, scene.now)


def test_target_right_after_a_short_tick_at_rest_is_not_begun_too_hard():
    """The mean of the two steps counts, and one of them was short."""
    scene = Scene()
    scene.accept()
    scene.until(State.REACHED)
    scene.tick(DT)
    scene.tick(0.4 * DT)
    scene.accept(FAR_GOAL)
    begin = scene.motion.q
    scene.tick(DT)
    velocity = np.abs(scene.q[-1] - begin).max() / DT
    assert 0.0 < velocity / (0.5 * (0.4 + 1.0) * DT) <= 5.0 + 1e-9


def test_joints_that_nobody_asked_for_are_not_kept():
    measured = MeasuredJoints(['a'])
    measured.update(['a', 'b'], [1.0, 2.0], 0.0)
    assert measured.fresh(0.0, 1.0) == {'a': 1.0}


def say_again(scene, before, T=GOAL):
    return scene.follower.repeat(T, scene.now, before)


def jogged(scene):
    scene.follower.jog(np.array([0.0, 0.05, 0.0, 0.0, 0.0, 0.0]), scene.now)


def sent_elsewhere(scene):
    scene.accept(FAR_GOAL)


def sent_to_joints(scene):
    scene.follower.go_to_joints({'elbow': 0.8}, scene.now)


class TestSaidAgain:
    """A target whose words come again and may mean another place by now: see `repeat`."""

    @settings(max_examples=20)
    @given(pauses=st.lists(st.floats(0.05, 1.1), min_size=1, max_size=6))
    def test_words_that_come_soon_again_are_a_repeat_however_often(self, pauses):
        scene = Scene(target_timeout=1.2)
        scene.accept()
        before = scene.now
        for pause in pauses:
            scene.go(pause)
            assert say_again(scene, before)
            before = scene.now
        scene.go(1.0)
        once = Scene()
        once.accept()
        once.go(round((scene.now - once.now) / DT) * DT)
        np.testing.assert_array_equal(scene.q, once.q[: len(scene.q)])

    @pytest.mark.parametrize('pause', [1.3, 5.0, 100.0])
    def test_later_they_are_a_new_step(self, pause):
        scene = Scene()
        scene.accept()
        before = scene.now
        scene.go(min(pause, 5.0))
        scene.now = before + pause
        scene.report()
        assert not say_again(scene, before)

    def test_a_clock_that_went_back_makes_no_new_step(self):
        scene = Scene()
        scene.accept()
        assert say_again(scene, scene.now + 50.0)

    @pytest.mark.parametrize('meanwhile', [jogged, sent_elsewhere, sent_to_joints])
    def test_after_another_request_they_are_no_repeat(self, meanwhile):
        scene = Scene()
        scene.accept()
        before = scene.now
        scene.go(0.3)
        meanwhile(scene)
        assert not say_again(scene, before)

    @pytest.mark.parametrize('pause', [0.1, 1.1, 3.0, 60.0])
    def test_after_a_fault_they_are_refused_until_resume(self, pause):
        scene = Scene()
        scene.accept()
        scene.go(0.5)
        scene.follower.fail(stopped('trouble'), scene.now)
        before = scene.now
        scene.go(min(pause, 5.0))
        scene.now = before + pause
        scene.report()
        words = 'trouble'
        with pytest.raises(RefusedError, match=words):
            say_again(scene, before)
        scene.go(3.0)
        count = len(scene.commands)
        scene.follower.resume(scene.now)
        scene.go(1.1)
        assert not say_again(scene, before)
        assert len(scene.commands) == count

    def test_while_held_they_are_refused(self):
        scene = Scene()
        scene.accept()
        scene.go(0.5)
        scene.follower.hold_when_told()
        with pytest.raises(RefusedError, match=HELD):
            say_again(scene, scene.now - 0.1)

    def test_after_a_timeout_of_targets_a_repeat_sets_nothing_in_motion(self):
        scene = Scene(target_timeout=0.2)
        scene.accept(FAR_GOAL)
        before = scene.now
        scene.go(1.0)
        assert scene.state is State.HOLDING
        count = len(scene.commands)
        assert say_again(scene, before, FAR_GOAL)
        scene.go(1.0)
        assert len(scene.commands) == count
