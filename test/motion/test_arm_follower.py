"""An arm that follows targets in a program without ROS: as the node does, within its limits."""

import functools
import math
import sys

from collision_models import planar_arm, planar_distance, PLANAR_LINK, PLANAR_RADIUS
from command_judge import Bounds, CommandJudge
from fabrik_ros import (
    ArmFollower,
    example_arm,
    FollowerOptions,
    JointValueError,
    load_urdf,
    pose_from_xyz_rpy,
    ReasonKind,
    RefusedError,
    State,
    TargetError,
)
from fabrik_ros.collision import Obstacle, Scene
from fabrik_ros.errors import CollisionError, CollisionUnavailableError
from fabrik_ros.model.geometry import Sphere
from fabrik_ros.motion.choosing.motion import Motion
from fabrik_ros.motion.following.follower import Follower
from fabrik_ros.motion.following.measured_joints import MeasuredJoints
from fabrik_ros.ros.parameters.node_parameters import NodeParameters
from helpers import mostly_long, SIX_AXIS
import numpy as np
import pytest
from two_arms import START as TWO_START, two_arms

pytest.importorskip('pinocchio', reason='pinocchio is the judge')

from judging import Judge, pose_errors

DT = 0.01
START = np.array([0.2, 0.4, 0.6, 0.1, 0.6, 0.0])
NEAR = START + 0.3
FAR_AWAY = pose_from_xyz_rpy([50.0, 0.0, 0.0])
TOO_FAR = pose_from_xyz_rpy([3.0, 0.0, 0.5])
"""Out of reach, but near enough to be meant."""


@functools.cache
def judge():
    return Judge(SIX_AXIS, 'l0', 'l7')


@functools.cache
def robot():
    return load_urdf(SIX_AXIS)


class Arm:
    """A follower, and an arm that is where it is told to be, unless it is to be elsewhere."""

    def __init__(self, start=START, looking_time=math.inf, arm=None, **options):
        self.follower = ArmFollower(
            arm or robot().chain(), FollowerOptions(**options), looking_time=looking_time
        )
        self.q = np.array(start)
        self.time, self.times, self.sent, self.states = 0.0, [], [], []

    def step(self, target=None, dt=DT, measured=True):
        sent = self.follower.step(target, dt, self.q if measured is True else measured)
        self.time += dt
        self.times.append(self.time)
        self.sent.append(sent)
        self.states.append(self.follower.state)
        self.q = sent
        return sent

    def go(self, seconds, **step):
        for _ in range(round(seconds / DT)):
            self.step(**step)

    def until(self, state, longest=30.0, **step):
        for _ in range(round(longest / DT)):
            if self.follower.state is state:
                return
            self.step(**step)
        pytest.fail(f'{state} never comes: {self.follower.state} {self.follower.reason}')

    def assert_within_limits(self):
        options = self.follower.options
        limits = options.limits_for(self.follower.arm)
        bounds = Bounds(
            judge().lower, judge().upper, limits.joint_velocity, limits.joint_acceleration,
            limits.tip_speed, limits.tip_rotation,
        )  # fmt: skip

        def frames(q):
            return judge().points(q), judge().pose(q)[None, :3, :3]

        commands = CommandJudge(judge().joint_names, bounds, DT, frames, knows_states=False)
        for time, q in zip(self.times, self.sent, strict=True):
            commands.check(judge().joint_names, round(1e9 * time), q.tolist())
        assert commands.violation_count == 0, commands.violations


def random_target(rng):
    return judge().pose(judge().random_configuration(rng, margin=0.2))


# -- what the node does


class Reference:
    """The follower as the node has it, made of the node's parameters, with a clock like ours."""

    def __init__(self, **options):
        parameters = NodeParameters(**options)
        chain = robot().chain()
        self.measured, self.now = MeasuredJoints(), 0.0
        self.motion = Motion(
            chain, parameters.limits_for(chain), parameters.solver, parameters.motion
        )
        self.follower = Follower(chain, self.motion, parameters.rules, self.measured)
        self.names = chain.joint_names

    def step(self, target, dt, measured):
        self.now += dt
        if measured is not None:
            self.measured.update(self.names, measured, self.now)
        try:
            if isinstance(target, dict):
                self.follower.go_to_joints(target, self.now)
            elif target is not None:
                self.follower.accept(target, self.now)
        except RefusedError:
            pass
        command = self.follower.tick(self.now, dt)
        return None if command is None else command.q


@pytest.mark.parametrize('seed', mostly_long(range(3), 2))
@pytest.mark.parametrize('options', [{}, {'path': 'line', 'on_unreachable': 'hold'}])
def test_values_are_those_of_the_nodes_follower_bit_for_bit(seed, options):
    """Targets at random times, some soon after each other, some out of reach, some repeated."""
    options = options | {'solve_budget': 10.0, 'posture': ()}
    rng, reference = np.random.default_rng(seed), Reference(**options)
    arm, target, compared = Arm(**options), None, 0
    assert reference.step(None, DT, arm.q) is None
    arm.step()
    for _ in range(1500):
        new = None
        if rng.random() < 0.01:
            target = random_target(rng)
            target[:3, 3] *= rng.choice([1.0, 1.0, 3.0, 9.0])
            new = target
        elif rng.random() < 0.02:
            new = target
        elif rng.random() < 0.002:
            new = {'j0': float(rng.uniform(-0.5, 0.5))}
        expected = reference.step(new, DT, arm.q)
        sent = arm.step(new)
        if expected is not None:
            compared += 1
            assert np.array_equal(sent, expected)
        state, reason = reference.follower.state(reference.now)
        assert arm.follower.state is state
        assert str(arm.follower.reason) == str(reason)
    assert compared > 500


def test_defaults_are_those_of_the_node():
    follower, parameters = ArmFollower(robot().chain()), NodeParameters()
    assert follower.options.solver == parameters.solver
    assert follower.options.motion == parameters.motion
    assert follower.options.rules == parameters.rules


# -- limits


@pytest.mark.parametrize('seed', mostly_long(range(3), 0))
def test_what_is_sent_keeps_all_limits_whatever_comes(seed):
    rng = np.random.default_rng(seed)
    arm = Arm(looking_time=None if seed == 0 else math.inf, max_tip_speed=0.5)
    arm.step()
    for _ in range(2000):
        event = rng.random()
        if event < 0.01:
            arm.step(random_target(rng))
        elif event < 0.012:
            arm.follower.hold()
        elif event < 0.02:
            arm.follower.scale_speed(float(rng.uniform(0.2, 1.0)))
        elif event < 0.025 and arm.follower.is_at_rest:
            arm.follower.resume()
        else:
            arm.step(dt=float(rng.choice([DT, DT, DT, 0.012, 0.03])))
    assert State.MOVING in arm.states
    arm.assert_within_limits()


def test_arm_arrives_where_pinocchio_says_the_target_is():
    arm, target = Arm(), judge().pose(NEAR)
    arm.step(target)
    arm.until(State.REACHED)
    assert arm.follower.at_target
    assert judge().errors(target, arm.q) < (1e-5, 1e-4)
    assert np.all(np.diff(arm.sent[-2:], axis=0) == 0.0)
    assert np.all(arm.follower.velocity == 0.0)
    arm.assert_within_limits()


def test_jerk_is_limited_where_that_is_asked_for():
    pytest.importorskip('ruckig', reason='needs: pip install ruckig')
    arm = Arm(max_joint_jerk=50.0)
    arm.step(judge().pose(NEAR))
    arm.until(State.REACHED)
    jerk = np.diff(arm.sent, n=3, axis=0) / DT**3
    assert np.abs(jerk).max() <= 50.0 * 1.01


def test_after_a_pause_the_arm_starts_from_rest():
    arm = Arm()
    arm.step(judge().pose(START + 0.5))
    arm.go(0.8)
    assert np.abs(arm.follower.velocity).max() > 0.1
    before = arm.q
    arm.step(dt=2.0)
    assert np.abs(arm.q - before).max() <= 5.0 * DT**2 + 1e-12
    arm.until(State.REACHED)
    arm.assert_within_limits()


# -- looking for paths


def test_arm_rests_while_steps_look_for_a_path_piece_by_piece():
    """Steps that have no time take one piece each, and find the same path in the end."""
    target = judge().pose(START * [-1.0, 1.0, 1.0, -1.0, 1.0, 1.0])
    patient, hasty = Arm(solve_budget=10.0), Arm(looking_time=1e-9, solve_budget=10.0)
    for arm in (patient, hasty):
        arm.step(target)
        arm.until(State.REACHED)
    looking = [arm.states.count(State.LOOKING) for arm in (patient, hasty)]
    assert looking[1] > looking[0] + 3
    rests = [
        q for q, state in zip(hasty.sent, hasty.states, strict=True) if state is State.LOOKING
    ]
    assert np.all(rests == START)
    np.testing.assert_allclose(hasty.q, patient.q, atol=1e-9)


# -- what is refused


def test_target_is_refused_while_the_arm_is_told_to_hold_and_the_step_goes_on():
    arm = Arm()
    arm.step(judge().pose(NEAR))
    arm.go(0.5)
    arm.follower.hold()
    assert not arm.follower.is_at_rest
    arm.step(judge().pose(START))
    assert arm.follower.refusal.kind is ReasonKind.HELD
    arm.until(State.HOLDING)
    arm.go(1.0)
    assert arm.follower.reason.kind is ReasonKind.HELD
    assert arm.follower.refusal is None
    arm.assert_within_limits()
    arm.follower.resume()
    arm.go(1.1)
    arm.step(judge().pose(NEAR))
    assert arm.follower.refusal is None
    arm.until(State.REACHED)
    arm.assert_within_limits()


def test_target_too_far_to_be_meant_is_refused_and_the_arm_goes_on():
    arm = Arm()
    arm.step(judge().pose(NEAR))
    arm.go(0.5)
    arm.step(FAR_AWAY)
    assert arm.follower.refusal.kind is ReasonKind.BAD_REQUEST
    assert 'is 50 m from the arm' in arm.follower.refusal.text
    arm.until(State.REACHED)
    assert judge().errors(judge().pose(NEAR), arm.q) < (1e-5, 1e-4)


def test_target_at_every_step_has_to_pause_after_resume():
    arm, target = Arm(), judge().pose(NEAR)
    arm.step(target)
    arm.follower.hold()
    arm.go(0.5, target=target)
    arm.follower.resume()
    arm.go(1.5, target=target)
    assert arm.follower.refusal.kind is ReasonKind.WAITS_FOR_PAUSE
    assert arm.follower.is_at_rest


def bad_targets():
    mirrored = np.diag([1.0, 1.0, -1.0, 1.0])
    return [
        (np.eye(3), r'the target has shape \(3, 3\), expected \(4, 4\)'),
        (np.full((4, 4), np.nan), "the target of 'l7' is no pose"),
        (mirrored, 'is no pose: expected finite numbers, a rotation'),
        ([['a']], 'the target is no array of numbers'),
        ('ready', "no configuration named 'ready'; there are: home, redy; did you mean 'redy'"),
        ({'j9': 0.0}, "no joint 'j9' is moved; the joints are: j0"),
        ({'j0': 9.0}, "joint 'j0' cannot go to 9: its limits are"),
        ({'j0': math.nan}, "joint 'j0' cannot go to nan"),
        ({}, 'names no joint'),
    ]


@pytest.mark.parametrize(('target', 'text'), bad_targets())
def test_target_that_cannot_be_meant_raises_and_changes_nothing(target, text):
    """The arm goes on as if it had never come: bit for bit."""
    runs = []
    for bad in (None, target):
        arm = Arm(home_configuration=tuple(START))
        arm.follower = ArmFollower(
            robot().chain(),
            arm.follower.options,
            configurations={'redy': NEAR},
            looking_time=math.inf,
        )
        arm.step(judge().pose(NEAR))
        arm.go(0.5)
        if bad is not None:
            with pytest.raises(TargetError, match=text):
                arm.follower.step(bad, DT, arm.q)
        arm.go(0.5)
        runs.append(np.array(arm.sent))
    assert np.abs(runs[0][-1] - START).max() > 0.1
    assert np.array_equal(*runs)


@pytest.mark.parametrize('dt', [0.0, -0.01, math.nan, math.inf])
def test_step_without_length_is_refused(dt):
    with pytest.raises(ValueError, match='dt must be positive and finite'):
        Arm().follower.step(None, dt, START)


def test_measured_values_of_another_number_are_refused():
    with pytest.raises(JointValueError, match=r'measured has shape \(2,\), expected \(6,\)'):
        Arm().follower.step(None, DT, [0.0, 1.0])


@pytest.mark.parametrize(
    ('arguments', 'kind', 'text'),
    [
        ({'looking_time': 0.0}, ValueError, 'looking_time must be positive'),
        ({'options': FollowerOptions(path='way')}, ValueError, 'path must be one of'),
        (
            {'options': FollowerOptions(home_configuration=(9.0,) * 6)},
            JointValueError,
            "configuration 'home' has joint 'j1' at 9.0000, outside its limits",
        ),
        ({'options': FollowerOptions(posture=(0.0,))}, JointValueError, 'posture has shape'),
        (
            {'options': FollowerOptions(self_collision='require')},
            CollisionError,
            'collisions need the robot, not its chain alone',
        ),
    ],
)
def test_follower_that_makes_no_sense_is_not_made(arguments, kind, text):
    with pytest.raises(kind, match=text):
        ArmFollower(robot().chain(), **arguments)


def test_jog_of_another_shape_or_tip_is_refused():
    arm = Arm()
    arm.step()
    with pytest.raises(ValueError, match='a jog must be six numbers'):
        arm.follower.jog([0.1, 0.0, 0.0])
    with pytest.raises(ValueError, match='there are 1 tips, from 0 on; got tip 1'):
        arm.follower.jog(np.ones(6), tip=1)


# -- what is measured


def test_without_anything_measured_it_is_not_known_what_to_send():
    follower = ArmFollower(robot().chain())
    for target in (None, judge().pose(NEAR)):
        with pytest.raises(RefusedError, match='nothing was measured yet') as refused:
            follower.step(target, DT, None)
        assert refused.value.reason.kind is ReasonKind.STATE_MISSING
    assert np.array_equal(follower.step(None, DT, START), START)


def test_joints_that_were_measured_at_different_times_are_no_state():
    """Those read first are too old once the others come."""
    follower = ArmFollower(robot().chain())
    for measured in ([math.nan, *START[1:]], *[None] * 60, [START[0], *[math.nan] * 5]):
        with pytest.raises(RefusedError, match='nothing was measured yet'):
            follower.step(None, DT, measured)


def test_values_that_were_returned_may_be_changed():
    """The arm goes on as if nobody had: bit for bit."""
    runs = []
    for changes in (False, True):
        follower, target = ArmFollower(robot().chain(), looking_time=math.inf), judge().pose(NEAR)
        q, sent = START, []
        for step in range(400):
            returned = follower.step(target if step == 3 else None, DT, q)
            q = returned.copy()
            sent.append(q)
            returned += 5.0 * changes
        runs.append(np.array(sent))
    assert np.array_equal(*runs)


def test_arm_that_need_not_be_measured_starts_where_it_is_said_to_be():
    options = FollowerOptions(wait_for_state=False, start_configuration=tuple(START))
    follower = ArmFollower(robot().chain(), options)
    assert np.array_equal(follower.step(None, DT), START)
    q = follower.step(judge().pose(NEAR), DT)
    for _ in range(1000):
        q = follower.step(None, DT)
    assert follower.at_target
    assert judge().errors(judge().pose(NEAR), q) < (1e-5, 1e-4)


@pytest.mark.parametrize('waits', [True, False])
def test_arm_that_is_measured_and_stands_still_stops_whether_or_not_it_is_waited_for(waits):
    arm = Arm(wait_for_state=waits)
    arm.step(measured=START)
    arm.step({'j0': START[0] + 1.0}, measured=START)
    arm.go(3.0, measured=START)
    assert arm.follower.reason.kind is ReasonKind.DOES_NOT_FOLLOW
    assert np.abs(np.array(arm.sent) - START).max() < 0.3
    arm.assert_within_limits()


@pytest.mark.parametrize('waits', [True, False])
def test_arm_outside_its_limits_says_so_before_it_is_asked_for_anything(waits):
    outside = [START[0], 4.0, *START[2:]]
    arm = Arm(start=outside, wait_for_state=waits)
    arm.go(0.1)
    assert arm.follower.state is State.HOLDING
    assert arm.follower.reason.kind is ReasonKind.OUTSIDE_LIMITS
    arm.step({'j0': 0.0}, measured=outside)
    assert arm.follower.refusal.kind is ReasonKind.OUTSIDE_LIMITS
    arm.go(0.5, measured=START)  # somebody puts it back
    assert arm.follower.state is State.IDLE
    assert arm.follower.reason is None


def test_step_whose_length_is_no_number_takes_no_target():
    arm = Arm()
    arm.step()
    with pytest.raises(ValueError, match='dt must be positive and finite'):
        arm.step({'j0': 1.0}, dt=np.array([DT]))
    arm.go(0.3)
    assert arm.follower.state is State.IDLE


def test_a_read_that_fails_now_and_then_changes_nothing():
    runs = []
    for fails in (False, True):
        arm = Arm()
        arm.step(judge().pose(NEAR))
        for i in range(300):
            arm.step(measured=None if fails and i % 3 else True)
        runs.append(np.array(arm.sent))
    assert np.array_equal(*runs)


@pytest.mark.parametrize('missing', [None, [math.nan, *START[1:]]])
def test_arm_whose_state_is_lost_stops_with_the_names_of_the_joints(missing):
    arm = Arm()
    arm.step(judge().pose(START + 0.5))
    arm.go(0.5)
    arm.go(1.5, measured=None if missing is None else [math.nan, *arm.q[1:]])
    assert arm.follower.state is State.HOLDING
    assert arm.follower.reason.kind is ReasonKind.STATE_MISSING
    assert 'j0' in arm.follower.reason.joints
    assert np.all(arm.follower.velocity == 0.0)
    arm.assert_within_limits()


def test_arm_that_does_not_follow_is_stopped_and_the_values_come_back_to_it():
    arm = Arm()
    arm.step()
    arm.step(judge().pose(START + 0.5))
    arm.go(6.0, measured=START)
    assert arm.follower.state is State.HOLDING
    assert arm.follower.reason.kind is ReasonKind.DOES_NOT_FOLLOW
    sent = np.array(arm.sent)
    assert np.abs(sent - START).max() > 0.1
    np.testing.assert_allclose(sent[-1], START, atol=1e-9)
    arm.assert_within_limits()


def test_values_are_held_while_the_arm_sags_a_little_and_start_from_there():
    arm, sagged = Arm(), START + 0.05
    arm.step()
    arm.go(1.0, measured=sagged)
    assert np.all(np.array(arm.sent) == START)
    arm.step(judge().pose(NEAR), measured=sagged)
    arm.step(measured=sagged)
    assert np.abs(arm.sent[-1] - START).max() < 1e-2
    arm.assert_within_limits()


def test_one_wrong_read_at_rest_moves_nothing():
    arm = Arm()
    arm.step(judge().pose(NEAR))
    arm.until(State.REACHED)
    arm.go(1.0)
    before = arm.q
    arm.go(0.05, measured=START - 0.5)
    arm.go(0.2)
    assert np.all(np.array(arm.sent[-20:]) == before)


def test_arm_that_is_moved_away_at_rest_is_let_go_and_starts_from_there():
    arm = Arm()
    arm.step(judge().pose(NEAR))
    arm.until(State.REACHED)
    arm.go(1.0)
    pushed = NEAR + 0.2
    arm.go(0.5, measured=pushed)
    assert np.array_equal(arm.sent[-1], pushed)
    assert arm.follower.reason.kind is ReasonKind.MOVED_AWAY
    arm.times, arm.sent = [], []
    arm.step(judge().pose(NEAR), measured=pushed)
    arm.until(State.REACHED)
    assert np.abs(arm.sent[0] - pushed).max() < 1e-3
    arm.assert_within_limits()


def test_arm_that_sags_at_rest_is_held_where_it_was_let_go():
    arm = Arm()
    arm.step(judge().pose(NEAR))
    arm.until(State.REACHED)
    arm.go(1.0)
    sinking = NEAR + 0.15
    arm.go(0.3, measured=sinking)
    for _ in range(50):
        sinking = sinking + 0.001
        arm.step(measured=sinking)
    assert np.array_equal(arm.sent[-1], NEAR + 0.15)


# -- goals


def test_target_out_of_reach_is_approached_and_the_reason_is_told():
    arm = Arm()
    arm.step(TOO_FAR)
    arm.until(State.HOLDING)
    assert arm.follower.reason.kind is ReasonKind.TOO_FAR
    assert not arm.follower.at_target
    before = pose_errors(TOO_FAR, judge().pose(START)).distance
    assert judge().errors(TOO_FAR, arm.q).distance < before - 0.1
    arm.assert_within_limits()


def test_target_out_of_reach_moves_nothing_where_it_is_not_to_be_approached():
    arm = Arm(on_unreachable='hold')
    arm.step(TOO_FAR)
    arm.until(State.HOLDING)
    assert arm.follower.reason.kind is ReasonKind.TOO_FAR
    assert np.all(np.array(arm.sent) == START)


def test_joint_values_configurations_and_home_are_gone_to():
    arm = Arm(home_configuration=tuple(START))
    arm.step({'j0': 0.7})
    arm.until(State.REACHED)
    np.testing.assert_allclose(arm.q, [0.7, *START[1:]], atol=1e-9)
    arm.follower.home()
    arm.step()
    arm.until(State.REACHED)
    np.testing.assert_allclose(arm.q, START, atol=1e-9)
    arm.go(2.0)
    arm.step('home')
    assert arm.follower.refusal is None
    arm.assert_within_limits()


def test_without_a_home_going_there_is_refused():
    arm = Arm()
    arm.step()
    with pytest.raises(RefusedError, match='there is no home'):
        arm.follower.home()


def test_jog_moves_the_tip_as_told_and_ends_where_it_is_not_repeated():
    arm = Arm()
    arm.step()
    for _ in range(100):
        arm.follower.jog([0.0, 0.05, 0.0, 0.0, 0.0, 0.0])
        arm.step()
    assert arm.follower.state is State.JOGGING
    moved = judge().pose(arm.sent[-1])[:3, 3] - judge().pose(arm.sent[-11])[:3, 3]
    np.testing.assert_allclose(moved, [0.0, 0.005, 0.0], atol=1e-4)
    arm.go(1.0)
    assert np.all(arm.follower.velocity == 0.0)
    arm.assert_within_limits()


def test_path_that_has_to_be_confirmed_waits_for_execute():
    arm = Arm(confirm='always')
    arm.step(judge().pose(NEAR))
    arm.go(1.0)
    assert arm.follower.reason.kind is ReasonKind.AWAITS_EXECUTE
    assert np.all(np.array(arm.sent) == START)
    arm.follower.execute()
    arm.until(State.REACHED)
    assert judge().errors(judge().pose(NEAR), arm.q) < (1e-5, 1e-4)


def test_speed_is_scaled_and_paused_on_the_way():
    arm = Arm()
    arm.step(judge().pose(START + 0.5))
    arm.go(0.5)
    arm.follower.scale_speed(0.0)
    arm.go(1.0)
    assert arm.follower.reason.kind is ReasonKind.PAUSED
    assert np.all(arm.follower.velocity == 0.0)
    arm.follower.scale_speed(1.0)
    arm.until(State.REACHED)
    arm.assert_within_limits()
    with pytest.raises(ValueError, match=r'share must be in \[0, 1\], got 1.1'):
        arm.follower.scale_speed(1.1)


def test_only_tips_with_a_target_of_their_own_get_one():
    arms = two_arms()
    follower = ArmFollower(arms, looking_time=math.inf)
    before, targets = arms.tip_poses(TWO_START), arms.tip_poses(TWO_START)
    targets[0], targets[1, 2, 3] = np.nan, targets[1, 2, 3] + 0.05
    q = follower.step(targets, DT, TWO_START)
    while not follower.at_target:
        q = follower.step(None, DT, q)
    after = arms.tip_poses(q)
    np.testing.assert_allclose(after[0], before[0], atol=1e-4)
    np.testing.assert_allclose(after[1], targets[1], atol=1e-4)
    with pytest.raises(TargetError, match=r'shape \(4, 4\), expected \(2, 4, 4\)'):
        follower.step(targets[1], DT, q)


def test_where_one_of_several_targets_is_refused_none_is_taken():
    arms = two_arms()
    follower = ArmFollower(arms, looking_time=math.inf)
    targets = arms.tip_poses(TWO_START)
    targets[0, 2, 3] += 0.05
    targets[1, 2, 3] += 1000.0
    q = follower.step(targets, DT, TWO_START)
    assert follower.refusal.kind is ReasonKind.BAD_REQUEST
    for _ in range(100):
        q = follower.step(None, DT, q)
    assert np.array_equal(q, TWO_START)
    assert follower.state is State.IDLE


# -- what stands around


COAL = 'needs coal: pip install coal'
POST = np.array([0.9, 0.75])
"""Centre of a post in the plane of the planar arm [m]."""
POST_RADIUS = 0.1


def post(radius=POST_RADIUS):
    pose = pose_from_xyz_rpy([*POST, 0.0])
    return Scene([Obstacle('post', Sphere(radius), pose)])


def distance_to_post(q):
    """From the capsules of the planar arm to the post [m], by trigonometry."""
    angles = np.cumsum(q)
    steps = PLANAR_LINK * np.column_stack([np.cos(angles), np.sin(angles)])
    points = np.vstack([np.zeros(2), np.cumsum(steps, axis=0)])
    share = np.sum((POST - points[:-1]) * steps, axis=1) / PLANAR_LINK**2
    feet = points[:-1] + np.clip(share, 0.2, 0.8)[:, None] * steps
    return np.linalg.norm(POST - feet, axis=1).min() - PLANAR_RADIUS - POST_RADIUS


def planar_follower(scene, **options):
    return ArmFollower(
        load_urdf(planar_arm(3)),
        FollowerOptions(path='joint', mode='position', **options),
        scene=scene,
        looking_time=math.inf,
    )


def swept(follower, target, steps=2000, q=(0.0, 0.0, 0.0)):
    """Values that are sent to the planar arm until it rests."""
    sent = [follower.step(target, DT, q)]
    for _ in range(steps):
        sent.append(follower.step(None, DT, sent[-1]))
    assert follower.is_at_rest
    return sent


def test_arm_keeps_clear_of_what_stands_around():
    """Straight in joint space it would sweep through the post."""
    pytest.importorskip('coal', reason=COAL)
    goal = {'j0': 1.4}
    free = swept(planar_follower(None), goal)
    assert min(map(distance_to_post, free)) < 0.0
    follower = planar_follower(post(), obstacle_clearance=0.03)
    assert follower.collision_checking.startswith('on: ')
    sent = swept(follower, goal)
    assert min(map(distance_to_post, sent)) >= 0.03 - 1e-4
    assert follower.at_target or follower.reason is not None


def test_arm_that_waits_for_its_way_and_is_no_longer_known_says_what_is_missing():
    """As after a jump of the clock, when all that was measured before is forgotten."""
    pytest.importorskip('coal', reason=COAL)
    follower = planar_follower(Scene(), on_blocked='replan')
    q = follower.step({'j0': 1.4}, DT, [0.0, 0.0, 0.0])
    for k in range(300):
        if k == 40:
            follower.set_scene(post(0.3))
        q = follower.step(None, DT, q)
    assert follower.state is State.HOLDING
    follower._measured.forget()
    follower.set_scene(Scene())
    for _ in range(300):
        assert np.array_equal(follower.step(None, DT), q)
    assert follower.reason.kind is ReasonKind.STATE_MISSING


def test_obstacle_that_comes_into_the_way_stops_the_arm():
    pytest.importorskip('coal', reason=COAL)
    follower = planar_follower(Scene(), self_collision='never')
    sent = [follower.step({'j0': 1.4}, DT, np.zeros(3))]
    for _ in range(20):
        sent.append(follower.step(None, DT, sent[-1]))
    follower.set_scene(post())
    for _ in range(60):
        sent.append(follower.step(None, DT, sent[-1]))
    assert follower.is_at_rest  # at once, and not just in front of it
    assert distance_to_post(sent[-1]) > 0.1
    assert follower.state is State.HOLDING
    assert 'post' in str(follower.reason)
    assert min(map(distance_to_post, sent)) >= 0.02 - 1e-4
    velocity = np.diff(sent, axis=0) / DT
    assert np.abs(np.diff(velocity, axis=0)).max() / DT <= 5.0 + 1e-6


def test_arm_stops_in_front_of_itself():
    pytest.importorskip('coal', reason=COAL)
    follower = planar_follower(None)
    sent = swept(follower, {'j1': 2.9, 'j2': 2.9})
    assert min(float(planar_distance(q)) for q in sent) >= 0.002 - 1e-4
    assert follower.reason is not None


@pytest.mark.parametrize('path', ['auto', 'joint'])
def test_arm_that_starts_at_its_clearance_finds_a_path_on_which_it_loses_none(path):
    """The pair starts at 2.03 mm. The first path lets it lose 0.15 mm, and the arm has to stop."""
    pytest.importorskip('coal', reason='coal measures distances')
    pytest.importorskip('xacro', reason='the bundled arms are xacro files')
    bundled = load_urdf(example_arm('six_axis'))
    start = [-2.62590441, -3.12296543, 0.15140531, -5.59745684, -2.6065123, 2.02887072]
    goal = [1.21467282, -2.59812184, 1.27141839, -3.69812717, 0.89720685, -0.17558818]
    judge = Judge(bundled.source, 'base_link', 'tool0')
    follower = ArmFollower(bundled, FollowerOptions(path=path))
    q = follower.step(None, DT, measured=start)
    target = judge.pose(goal)
    for number in range(2000):
        q = follower.step(target if number == 0 else None, DT, measured=q)
        if follower.state is State.REACHED:
            break
    assert follower.state is State.REACHED, follower.reason
    assert judge.errors(target, q) < (1e-5, 1e-4)


@pytest.mark.parametrize('options', [{}, {'self_collision': 'never'}])
def test_obstacles_cannot_come_later_where_nothing_is_looked_at(options):
    follower = ArmFollower(robot(), FollowerOptions(**options))
    assert follower.collision_checking.startswith('off: ')
    with pytest.raises(CollisionError, match='need a scene from the beginning'):
        follower.set_scene(post())


def test_scene_needs_the_robot_and_its_geometry():
    with pytest.raises(CollisionError, match='give `robot`'):
        ArmFollower(robot().chain(), scene=post())
    with pytest.raises(CollisionUnavailableError):
        ArmFollower(robot(), scene=post())


def test_without_coal_the_arm_moves_and_says_that_it_looks_at_nothing(monkeypatch):
    monkeypatch.setitem(sys.modules, 'coal', None)
    arm = load_urdf(planar_arm(3))
    follower = ArmFollower(arm)
    assert follower.collision_checking.startswith('off: coal is not installed')
    swept(follower, {'j0': 0.2}, steps=400)
    assert follower.at_target
    with pytest.raises(CollisionUnavailableError, match='coal is not installed'):
        ArmFollower(arm, FollowerOptions(self_collision='require'))
