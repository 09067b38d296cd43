"""
Which path an arm takes by the rules: single targets, repeats, streams, and what is confirmed.

Two links of 1.0 m and 0.8 m in a plane, judged by trigonometry. Their joints turn by 3 rad either
way, so that no line leads from one side behind the base to the other.

"""

import contextlib
from dataclasses import replace
import math

from fabrik_ros import load_urdf, SolverOptions
from fabrik_ros.errors import RefusedError
from fabrik_ros.kernels._jit import COMPILED
from fabrik_ros.motion.choosing.goal import MotionOptions
from fabrik_ros.motion.choosing.motion import Motion
from fabrik_ros.motion.following.arm_state import State
from fabrik_ros.motion.following.follower import Follower, SECOND_TARGET_TIME
from fabrik_ros.motion.following.following_rules import FollowingRules
from fabrik_ros.motion.following.measured_joints import MeasuredJoints
from fabrik_ros.motion.limits.limits import MotionLimits
from fabrik_ros.motion.paths.joint_path import JointPath
from fabrik_ros.reasons import ReasonKind
from helpers import assert_close, examples, PLANAR, said
from hypothesis import example, given, settings, strategies as st
import numpy as np
import pytest

DT, FASTEST, HARDEST = 0.01, 1.5, 5.0
EXAMPLES = examples(10, 20) if COMPILED else 2
TOLERANCE = 1e-4
CHAIN = load_urdf(PLANAR).chain('l0', 'l3')
START, BEHIND = (2.7, 0.6), (-2.7, -0.6)
NEAR, FOLDED = (2.4, 0.9), (0.2, 0.6)
LONGEST_STOP = FASTEST / HARDEST + 0.1
"""In which any braking is over [s]."""
paths = st.sampled_from(['auto', 'line', 'joint'])
configurations = st.tuples(st.floats(-2.9, 2.9), st.floats(-2.9, 2.9))


def tip(q):
    """Where the tip is, by trigonometry, shape (2,)."""
    a, b = q[0], q[0] + q[1]
    return np.array([math.cos(a) + 0.8 * math.cos(b), math.sin(a) + 0.8 * math.sin(b)])


def at(point):
    """Make a target, shape (4, 4), of a place."""
    T = np.eye(4)
    T[:2, 3] = point
    return T


class Scene:
    """An arm that does at once what it is told, and what follows goals with it."""

    def __init__(self, start=START, path='auto', in_pieces=False, rules=None, **options):
        limits = MotionLimits(0.5, 2.0, 2.0, np.full(2, FASTEST), np.full(2, HARDEST))
        self.solver = SolverOptions(
            mode='position', position_tolerance=TOLERANCE, budget=math.inf, max_restarts=20
        )
        self.motion = Motion(CHAIN, limits, self.solver, MotionOptions(path=path, **options))
        self.measured = MeasuredJoints()
        self.follower = Follower(CHAIN, self.motion, rules or FollowingRules(), self.measured)
        self.follower.looks_in_ticks = not in_pieces
        self.start = np.array(start)
        self.now, self.at, self.commands, self.times = 0.0, np.array(start), [], []
        self.report()
        self.report()  # one value alone is no start

    def report(self):
        self.measured.update(CHAIN.joint_names, self.at, self.now)

    def accept(self, q):
        self.follower.accept(at(tip(q)), self.now)

    def execute(self):
        self.follower.execute(self.now)

    def tick(self):
        self.now += DT
        if not self.follower.looks_in_ticks:
            self.follower.look(self.now, DT, 0.0)
        command = self.follower.tick(self.now, DT)
        if command is not None:
            self.commands.append(command.q)
            self.times.append(self.now)
            self.at = command.q
        self.report()

    def go(self, seconds):
        for _ in range(round(seconds / DT)):
            self.tick()

    def rest(self, longest=40.0):
        """Go on until the arm rests and looks for nothing."""
        end = self.now + longest
        self.tick()
        while not self.follower.is_at_rest or self.follower.is_looking:
            assert self.now < end, f'it never rests: {self.said}'
            self.tick()

    @property
    def said(self):
        return said(self.follower, self.now)

    @property
    def state(self):
        return self.said[0]

    @property
    def kind(self):
        return self.follower.state(self.now)[1].kind

    def check(self):
        q = np.array([self.start, self.start, *self.commands])
        velocity = np.diff(q, axis=0) / DT
        assert np.all(np.abs(q) <= 3.0)
        assert np.abs(velocity).max() <= FASTEST * (1.0 + 1e-6)
        assert np.abs(np.diff(velocity, axis=0)).max() / DT <= HARDEST * (1.0 + 1e-4)

    def check_arrival(self, q):
        assert self.said == (State.REACHED, '')
        assert_close(tip(self.at), tip(q), TOLERANCE * 1.01)
        self.check()

    def refusal(self):
        with pytest.raises(RefusedError) as refused:
            self.execute()
        return refused.value.reason.kind


class TestSingleTarget:
    @given(configurations, configurations, paths)
    @example(START, BEHIND, 'line')
    @settings(max_examples=EXAMPLES, deadline=None)
    def test_it_is_reached_or_no_command_is_ever_sent_and_the_reason_is_said(
        self, start, goal, path
    ):
        scene = Scene(start, path)
        scene.accept(goal)
        scene.rest()
        scene.go(1.0)
        if scene.state is State.REACHED:
            scene.check_arrival(goal)
        else:
            assert scene.state is State.HOLDING
            assert scene.commands == []
            assert path == 'line', 'these joints get anywhere'
            assert scene.kind in (ReasonKind.PATH_BLOCKED, ReasonKind.AWAITS_EXECUTE)

    def test_after_a_target_to_which_there_is_no_line_the_next_one_is_reached(self):
        scene = Scene(START, 'line')
        scene.accept(BEHIND)
        scene.go(2.0)
        assert scene.commands == []
        scene.accept(NEAR)
        scene.rest()
        scene.check_arrival(NEAR)

    def test_line_is_set_out_on_at_once_and_left_only_when_no_second_target_came(self):
        scene = Scene()
        scene.accept(NEAR)
        scene.tick()
        assert len(scene.commands) == 1
        scene = Scene()
        scene.accept(BEHIND)
        assert scene.state is State.LOOKING
        scene.go(SECOND_TARGET_TIME - 2 * DT)
        assert scene.commands == []
        assert scene.state is State.LOOKING
        scene.go(4 * DT)
        assert scene.commands
        scene.rest()
        scene.check_arrival(BEHIND)

    @given(configurations, configurations, paths)
    @settings(max_examples=EXAMPLES // 2, deadline=None)
    def test_look_in_pieces_makes_the_same_commands_a_little_later(self, start, goal, path):
        scenes = [Scene(start, path, in_pieces) for in_pieces in (False, True)]
        for scene in scenes:
            scene.accept(goal)
            while scene.follower.is_looking:
                assert scene.state is State.LOOKING
                assert scene.commands == []
                scene.tick()
            scene.rest()
            scene.go(1.0)
        at_once, in_pieces = (np.array(scene.commands) for scene in scenes)
        assert np.array_equal(at_once, in_pieces)

    def test_arm_that_is_moved_while_it_looks_does_not_set_out(self):
        scene = Scene(in_pieces=True)
        scene.accept(BEHIND)
        scene.tick()
        scene.at = scene.at - 0.3
        scene.report()
        scene.go(3.0)
        assert scene.commands == []
        assert scene.state is State.HOLDING
        assert scene.kind is ReasonKind.MOVED_AWAY

    def test_hold_while_it_looks_ends_the_look(self):
        scene = Scene(in_pieces=True)
        scene.accept(BEHIND)
        scene.tick()
        scene.follower.hold_when_told()
        scene.go(3.0)
        assert scene.commands == []
        assert scene.kind is ReasonKind.HELD


class TestRepeats:
    @pytest.mark.parametrize('every', [0.05, 0.1, 0.5, 1.0, 3.0])
    @pytest.mark.parametrize(
        ('path', 'goal'),
        [('line', NEAR), ('line', BEHIND), ('auto', NEAR), ('auto', BEHIND), ('joint', BEHIND)],
    )
    def test_target_that_is_repeated_is_followed_exactly_as_one_that_is_sent_once(
        self, path, goal, every
    ):
        once, again, rng = Scene(path=path), Scene(path=path), np.random.default_rng(0)
        for i in range(round(12.0 / DT)):
            if i == 0:
                once.accept(goal)
            if i % round(every / DT) == 0:
                T = at(tip(goal))
                if i:
                    T[:2, 3] += 0.7 * TOLERANCE * rng.uniform(-1.0, 1.0, 2)
                again.follower.accept(T, again.now)
            once.tick()
            again.tick()
        assert len(once.commands) > 100 or (path, goal) == ('line', BEHIND)
        assert np.array_equal(once.commands, again.commands)
        assert once.said == again.said

    def test_repeat_keeps_the_dead_mans_switch_of_targets_away(self):
        scene = Scene(rules=FollowingRules(target_timeout=0.3))
        scene.accept(NEAR)
        while scene.state is State.MOVING:
            scene.accept(NEAR)
            scene.go(0.2)
        assert scene.state is State.REACHED

    def test_repeat_after_a_stop_sets_nothing_in_motion(self):
        scene = Scene(rules=FollowingRules(target_timeout=0.3))
        scene.accept(FOLDED)
        scene.rest()
        assert scene.kind is ReasonKind.TARGET_TIMEOUT
        count = len(scene.commands)
        for _ in range(50):
            scene.accept(FOLDED)
            scene.go(0.1)
        assert len(scene.commands) == count


class Stream:
    """Targets on the straight line between two places, back and forth."""

    def __init__(self, scene, rate, step=0.06, gap_after=0):
        self.scene, self.rate, self.gap_after = scene, rate, gap_after
        begin, end = tip(START), tip(BEHIND)
        count = math.ceil(np.linalg.norm(end - begin) / step)
        shares = np.concatenate([np.arange(1, count + 1), np.arange(count - 1, 0, -1)]) / count
        self.points = [begin + share * (end - begin) for share in shares]

    def run(self):
        """Send all of them; yield after each command whether the second was sent already."""
        number = 0
        for point in self.points:
            self.scene.follower.accept(at(point), self.scene.now)
            number += 1
            pause = 1.0 / self.rate
            if self.gap_after and number == self.gap_after:
                pause, number = 3.0, 0
            sent = self.scene.now
            for _ in range(round(pause / DT)):
                self.scene.tick()
                yield number, self.scene.now - sent


def off_line(q):
    """How far the tip is from the line of the stream [m]."""
    begin, end = tip(START), tip(BEHIND)
    along = (end - begin) / np.linalg.norm(end - begin)
    away = tip(q) - begin
    return abs(away[0] * along[1] - away[1] * along[0])


class TestStreams:
    """Across a limit: the targets come back, and the arm must be as it was before."""

    @pytest.mark.parametrize('rate', [10.0, 2.0, 1.0])
    @pytest.mark.parametrize('gap_after', [0, 4])
    def test_under_path_line_the_arm_never_leaves_it(self, rate, gap_after):
        scene = Scene(path='line')
        for _ in Stream(scene, rate, gap_after=gap_after).run():
            assert off_line(scene.at) < 2e-3
            assert scene.at[0] > 0.0
            assert scene.at[1] > 0.0
        assert max(np.array(scene.commands)[:, 0]) > 2.9, 'it came to the limit'
        scene.check()

    @pytest.mark.parametrize(
        ('rate', 'gap_after'), [(10.0, 0), (2.0, 0), (1.0, 0), (10.0, 4), (10.0, 7)]
    )
    def test_under_path_auto_it_slides_at_the_limit_and_goes_no_other_way(self, rate, gap_after):
        """The first targets are reached by the line; after gaps the second one comes in time."""
        scene = Scene(path='auto')
        for number, _ in Stream(scene, rate, gap_after=gap_after).run():
            if number != 0:
                assert off_line(scene.at) < (2e-3 if scene.at[0] < 2.9 else 0.1)
                assert scene.at[0] > 0.0
        scene.check()

    @pytest.mark.parametrize('rate', [10.0, 2.0, 1.0])
    def test_first_target_beyond_the_limit_is_not_gone_to_once_a_second_one_came(self, rate):
        """It may have set out by another path: that comes to rest; then it is led by the hand."""
        scene = Scene(path='auto')
        scene.accept(BEHIND)
        scene.go(1.0 / rate)
        for i in range(1, 30):
            scene.follower.accept(at(tip(BEHIND) - [0.0, 2e-3 * i]), scene.now)
            before = scene.at
            scene.go(1.0 / rate)
            if i > 2:
                assert np.abs(scene.at - before).max() <= 0.3, 'lines of millimetres at most'
        assert scene.state in (State.HOLDING, State.MOVING, State.REACHED)
        if rate == 10.0:
            assert scene.at[0] > 2.0, 'the second target came in time'
        if scene.commands:
            scene.check()

    def test_blocked_stream_says_how_to_get_there_and_execute_gets_there(self):
        scene = Scene(path='auto')
        for i in range(3):
            scene.follower.accept(at(tip(BEHIND) - [0.0, 1e-2 * i]), scene.now)
            scene.go(0.1)
        scene.rest()
        assert scene.state is State.HOLDING
        assert scene.kind is ReasonKind.PATH_BLOCKED
        assert '~/execute' in scene.said[1]
        scene.execute()
        scene.rest()
        assert scene.state is State.REACHED
        assert_close(tip(scene.at), tip(BEHIND) - [0.0, 2e-2], TOLERANCE * 1.01)
        scene.check()


class CreepingBase:
    """The arm of a scene on a base that creeps, with targets that stay in the world."""

    def __init__(self, **options):
        self.scene, self.x = Scene(**options), 0.0

    @property
    def world_in_base(self):
        T = np.eye(4)
        T[0, 3] = -self.x
        return T

    def accept(self, q):
        T_world_target = np.linalg.inv(self.world_in_base) @ at(tip(q))
        self.scene.follower.accept(T_world_target, self.scene.now, 0, self.world_in_base)

    def go(self, seconds):
        for _ in range(round(seconds / DT)):
            self.x += 0.005 * DT
            if self.scene.follower.is_held_in_world:
                self.scene.motion.carry(self.world_in_base, DT)
            self.scene.tick()


class TestStreamInTheWorld:
    def test_it_never_leaves_the_line_by_itself_while_the_base_creeps(self):
        creeping = CreepingBase()
        creeping.accept(NEAR)
        creeping.go(0.3)
        creeping.accept(BEHIND)
        for _ in range(40):
            creeping.go(0.1)
            assert not isinstance(creeping.scene.motion.path, JointPath)

    def test_proposal_stays_as_it_is_while_the_base_creeps(self):
        creeping = CreepingBase(confirm='always')
        creeping.accept(NEAR)
        creeping.go(0.3)
        proposal = creeping.scene.motion.found
        assert proposal is not None
        creeping.go(2.0)
        assert creeping.scene.motion.waits_for_execute
        assert creeping.scene.motion.found is proposal


class TestExecute:
    """Nothing is taken unasked that was to be confirmed, and only what was proposed."""

    def proposing(self, **options):
        scene = Scene(**{'confirm': 'always', **options})
        scene.accept(NEAR)
        scene.rest()
        assert scene.state is State.HOLDING
        assert scene.kind is ReasonKind.AWAITS_EXECUTE
        return scene

    @pytest.mark.parametrize('path', ['auto', 'line', 'joint'])
    def test_path_that_waits_is_taken_when_it_is_told(self, path):
        scene = self.proposing(path=path)
        scene.go(3.0)
        assert scene.commands == []
        scene.execute()
        scene.rest()
        scene.check_arrival(NEAR)
        assert scene.refusal() is ReasonKind.NOTHING_PROPOSED

    def test_repeats_leave_the_proposal_as_it_is(self):
        scene = self.proposing()
        proposal = scene.motion.found
        for _ in range(30):
            scene.accept(NEAR)
            scene.go(0.1)
        assert scene.motion.found is proposal
        assert scene.motion.waits_for_execute
        assert scene.commands == []

    def test_line_on_which_a_joint_turns_there_and_back_is_a_detour(self):
        """From one side to the other, past the base: the elbow folds and unfolds."""
        start, goal = (0.5, 1.0), (1.6, 1.0)
        beyond = elbow_at_nearest(start, goal) - 1.0
        for max_detour, waits in ((1.9 * beyond, True), (2.1 * beyond, False)):
            scene = Scene(start, 'line', max_detour=max_detour)
            scene.accept(goal)
            scene.rest()
            assert (scene.state is State.HOLDING) == waits
            if waits:
                assert scene.commands == []
                assert 'j1 would turn' in scene.said[1]
                scene.execute()
                scene.rest()
            scene.check_arrival(goal)

    def test_there_is_nothing_to_execute_before_a_target_and_on_the_way(self):
        scene = Scene()
        assert scene.refusal() is ReasonKind.NOTHING_PROPOSED
        scene.accept(NEAR)
        scene.go(0.2)
        assert scene.refusal() is ReasonKind.NOTHING_PROPOSED
        scene.rest()
        scene.check_arrival(NEAR)

    def test_another_target_takes_the_place_of_the_proposal(self):
        scene = self.proposing()
        scene.go(2.0)
        scene.accept((2.2, 1.2))
        scene.rest()
        scene.execute()
        scene.rest()
        scene.check_arrival((2.2, 1.2))

    @pytest.mark.parametrize('path', ['auto', 'line', 'joint'])
    def test_arm_that_braked_for_a_path_that_waits_is_silent(self, path):
        scene = self.proposing(path=path)
        scene.execute()
        scene.go(0.3)
        scene.accept((2.2, 1.2))
        scene.rest()
        assert scene.kind is ReasonKind.AWAITS_EXECUTE
        before = len(scene.commands)
        assert before > 0
        scene.go(1.0)
        assert len(scene.commands) == before

    def test_held_arm_executes_nothing(self):
        scene = self.proposing()
        scene.follower.hold_when_told()
        assert scene.refusal() is ReasonKind.HELD
        scene.go(2.0)
        scene.follower.resume(scene.now)
        assert scene.refusal() is ReasonKind.NOTHING_PROPOSED
        scene.go(1.0)
        assert scene.commands == []

    def test_arm_that_was_moved_meanwhile_executes_nothing(self):
        scene = self.proposing()
        scene.at = scene.at - 0.3
        scene.go(1.0)
        assert scene.refusal() is ReasonKind.MOVED_AWAY
        scene.go(1.0)
        assert scene.commands == []

    def test_that_the_arm_was_moved_or_is_not_heard_is_said_while_a_path_waits(self):
        scene = self.proposing()
        scene.at = scene.at - 0.3
        scene.go(0.1)
        assert scene.kind is ReasonKind.MOVED_AWAY
        assert scene.refusal() is ReasonKind.MOVED_AWAY
        assert scene.kind is ReasonKind.MOVED_AWAY, 'nobody jogged it'
        scene = self.proposing()
        scene.now += 5.0
        assert scene.kind is ReasonKind.STATE_MISSING

    def test_path_is_taken_however_long_it_waited_for_the_word(self):
        scene = self.proposing(rules=FollowingRules(target_timeout=0.5))
        scene.go(2.0)
        scene.execute()
        scene.go(0.4)
        assert scene.state is State.MOVING

    def test_second_target_of_a_stream_in_joint_space_waits_as_the_first_one_does(self):
        scene = self.proposing(path='joint', confirm='leaving_line')
        scene.accept((1.0, 1.5))
        scene.rest()
        assert scene.kind is ReasonKind.AWAITS_EXECUTE
        assert scene.commands == []

    def test_joint_values_that_follow_others_soon_wait_too(self):
        scene = Scene(confirm='always')
        for number, value in enumerate((2.0, -2.0)):
            scene.follower.go_to_joints({CHAIN.joint_names[0]: value}, scene.now)
            scene.rest()
            assert scene.kind is ReasonKind.AWAITS_EXECUTE
            if number == 0:
                scene.execute()
                scene.go(0.3)
                assert scene.state is State.MOVING

    def test_path_that_waits_is_looked_for_anew_when_the_rules_change(self):
        scene = self.proposing(path='joint')
        motion = scene.motion
        before = motion.found
        options = replace(motion.pursuit.options, path='line')
        motion.change(motion.limits, SolverOptions(mode='position'), options)
        assert motion.found is not before
        scene.rest()
        assert motion.found.kind == 'line'
        assert scene.commands == []

    def test_arm_whose_state_is_lost_executes_nothing(self):
        scene = self.proposing()
        scene.now += 5.0
        assert scene.refusal() is ReasonKind.STATE_MISSING
        scene.report()
        scene.go(1.0)
        assert scene.commands == []


def elbow_at_nearest(start, goal):
    """Angle of the elbow where the line between two places is nearest to the base [rad]."""
    nearest = np.linalg.norm(0.5 * (tip(start) + tip(goal)))
    return math.acos((nearest**2 - 1.64) / 1.6)


REQUESTS = 'target', 'near', 'joints', 'jog', 'execute', 'hold', 'resume', 'confirm', 'speed'
EVENTS = 'lie', 'silence', 'hand', 'late', 'nothing'
CONFIRMATIONS = 'always', 'leaving_line', 'never'
LONGEST_PAUSE = 0.1
"""A node counts its arm as at rest after a longer one [s]."""


class HostileScene(Scene):
    """A scene whose arm may lie, be silent or be moved, and whose steps may be late."""

    def __init__(self, rng, **options):
        self.rng, self.lie, self.silent_until = rng, np.zeros(2), 0.0
        super().__init__(in_pieces=True, **options)

    def report(self):
        if self.now >= self.silent_until:
            self.measured.update(CHAIN.joint_names, self.at + self.lie, self.now)

    def step(self, dt=DT):
        """Take a step as a node does; while a path waits it may say no more than that it rests."""
        follower, waited = self.follower, self.motion.waits_for_execute
        self.now += dt
        if dt > LONGEST_PAUSE:
            self.motion.halt()
        look_time = self.rng.choice([0.0, 1.0])
        if follower.is_at_rest:
            follower.look(self.now, dt, look_time)
        command = follower.tick(self.now, dt)
        if not follower.is_at_rest:
            follower.look(self.now, 0.0, look_time)
        if command is not None:
            assert not waited
            assert not (self.motion.waits_for_execute and command.velocity.any())
            self.at = command.q
        self.report()

    def ask(self, what):
        follower, motion, rng = self.follower, self.motion, self.rng
        q = rng.uniform(-2.9, 2.9, 2)
        near = np.clip(motion.q + 0.1 * q, -2.9, 2.9)
        twist = 0.1 * np.array([*q, 0.0, 0.0, 0.0, 0.0])
        options = replace(motion.pursuit.options, confirm=rng.choice(CONFIRMATIONS))
        asking = {
            'target': lambda: self.accept(q),
            'near': lambda: self.accept(near),
            'joints': lambda: follower.go_to_joints({CHAIN.joint_names[0]: q[0]}, self.now),
            'jog': lambda: follower.jog(twist, self.now),
            'execute': lambda: follower.execute(self.now),
            'hold': follower.hold_when_told,
            'resume': lambda: follower.resume(self.now),
            'confirm': lambda: motion.change(motion.limits, self.solver, options),
            'speed': lambda: motion.scale_speed(rng.choice([0.0, 1.0])),
        }
        with contextlib.suppress(RefusedError):
            asking[what]()

    def happen(self, what):
        rng = self.rng
        q = rng.uniform(-3.0, 3.0, 2)
        if what == 'lie':
            self.lie = q * rng.choice([0.0, 0.0, 0.003, 0.3])
        elif what == 'silence':
            self.silent_until = self.now + rng.choice([0.1, 0.7])
        elif what == 'hand':
            self.at = np.clip(self.at + 0.1 * q, -3.0, 3.0)
        elif what == 'late':
            self.step(rng.choice([0.03, 0.09, 0.4]))


@settings(max_examples=5 * EXAMPLES)
@given(
    st.lists(
        st.tuples(st.sampled_from(REQUESTS + EVENTS), st.sampled_from([1, 5, 20, 130])),
        min_size=10,
        max_size=30,
    ),
    st.integers(0, 2**32 - 1),
    paths,
    st.sampled_from(CONFIRMATIONS),
    st.sampled_from([0.2, 1.0, math.pi]),
)
def test_nothing_is_sent_while_a_path_waits(happenings, seed, path, confirm, max_detour):
    scene = HostileScene(
        np.random.default_rng(seed), path=path, confirm=confirm, max_detour=max_detour
    )
    for what, steps in happenings:
        if what in REQUESTS:
            scene.ask(what)
        else:
            scene.happen(what)
        for _ in range(steps):
            scene.step()
