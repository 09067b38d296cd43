"""
Laws of the table of states, on a real motion: whatever happens to an arm, and in any order.

Goals, streams, goals in the world of a moving base, joint values, jogs, stops, faults, home and
changed limits come at random; paths are looked for in pieces, as the node does. Speeds are
differences of commands.

"""

from contextlib import suppress
from dataclasses import replace
import math

from fabrik_ros import load_urdf, SolverOptions
from fabrik_ros.errors import RefusedError
from fabrik_ros.kernels._jit import COMPILED
from fabrik_ros.motion.choosing.goal import MotionOptions
from fabrik_ros.motion.choosing.motion import Motion
from fabrik_ros.motion.choosing.state_table import LOOKS, Phase, RESTS
from fabrik_ros.motion.following.arm_state import State
from fabrik_ros.motion.following.follower import Follower
from fabrik_ros.motion.following.following_rules import FollowingRules
from fabrik_ros.motion.following.measured_joints import MeasuredJoints
from fabrik_ros.motion.limits.limits import MotionLimits
from fabrik_ros.reasons import Reason, ReasonKind
from helpers import examples, PLANAR
from hypothesis import settings, strategies as st
from hypothesis.stateful import initialize, invariant, rule, RuleBasedStateMachine
import numpy as np
import pytest

DT, FASTEST, HARDEST = 0.01, 1.5, 5.0
LIMITS = MotionLimits(0.25, 1.0, 1.0, np.full(2, FASTEST), np.full(2, HARDEST))
SOLVER = SolverOptions(mode='position', budget=math.inf)
HOME = (0.4, 0.9)
PAUSE = 1.5
"""After which a stop is over, and a stream counts as ended [s]."""
SETTLED = 30
"""Steps after which an arm that stands still has settled, and one that was moved may start [1]."""
ROUNDING = 1e-6
ARRIVED = 1e-3
"""[m]."""
values = st.floats(-2.5, 2.5)
configurations = st.tuples(values, values)
pushes = st.tuples(*[st.sampled_from([-0.3, -0.05, 0.0, 0.01, 0.09])] * 2)
WRONG = Reason(ReasonKind.NOT_READY, 'the robot is not ready')


class Arm(RuleBasedStateMachine):
    """An arm that follows at once whatever it was not told before, and what may happen to it."""

    @initialize(
        path=st.sampled_from(['auto', 'line', 'joint']),
        confirm=st.sampled_from(['never', 'leaving_line', 'always']),
        q=configurations,
    )
    def stand(self, path, confirm, q):
        self.chain = load_urdf(PLANAR).chain()
        options = MotionOptions(path, confirm=confirm)
        self.motion, self.measured = Motion(self.chain, LIMITS, SOLVER, options), MeasuredJoints()
        rules = FollowingRules(home_configuration=HOME)
        self.follower = Follower(self.chain, self.motion, rules, self.measured)
        self.follower.looks_in_ticks = False
        self.now, self.q, self.velocity = 0.0, np.array(q), np.zeros(2)
        self.sent, self.noise, self.rng = None, 0.0, np.random.default_rng(1)
        self.base, self.base_speed = 0.0, 0.0
        self.has_commands = False
        self.step()

    @property
    def world(self):
        """T_base_world: the base has moved along x."""
        T = np.eye(4)
        T[0, 3] = -self.base
        return T

    def step(self):
        """Let one period pass, and look at the command."""
        follower = self.follower
        measured = self.q + self.rng.normal(0.0, self.noise, self.q.shape)
        self.measured.update(self.chain.joint_names, measured, self.now)
        self.now += DT
        self.base += DT * self.base_speed
        if follower.is_looking and follower.is_at_rest:
            follower.look(self.now, DT, 0.0)
        if follower.is_held_in_world:
            follower.carry(self.world, self.now, DT)
        command = follower.tick(self.now, DT)
        is_news = command is not None and not np.array_equal(command.q, self.sent)
        q = command.q if is_news else self.q
        self.sent = command.q if is_news else self.sent
        velocity = (q - self.q) / DT
        assert np.all(np.abs(velocity) <= FASTEST + ROUNDING)
        hardest = (1.0 + ROUNDING) * HARDEST * DT + ROUNDING
        assert np.all(np.abs(velocity - self.velocity) <= hardest), 'it stops or starts at once'
        self.q, self.velocity = q, velocity

    def ask(self, request, *arguments, **named):
        with suppress(RefusedError):
            request(*arguments, **named)
        self.step()

    # -- what happens

    @rule(q=configurations)
    def target(self, q):
        self.ask(self.follower.accept, self.chain.forward_kinematics(q), self.now)

    @rule(q=configurations)
    def target_in_the_world(self, q):
        T_world = np.linalg.inv(self.world) @ self.chain.forward_kinematics(q)
        self.ask(self.follower.accept, T_world, self.now, T_base_world=self.world)

    @rule(q=configurations, steps=st.integers(2, 12))
    def stream(self, q, steps):
        T = self.chain.forward_kinematics(q)
        for _ in range(steps):
            T[:2, 3] += 0.002
            self.ask(self.follower.accept, T.copy(), self.now)

    @rule(q=configurations)
    def joints(self, q):
        names = dict(zip(self.chain.joint_names, q, strict=True))
        self.ask(self.follower.go_to_joints, names, self.now)

    @rule()
    def home(self):
        self.ask(self.follower.go_home, self.now)

    @rule(steps=st.integers(1, 20), turn=st.floats(-3.0, 3.0))
    def jog(self, steps, turn):
        twist = 0.2 * np.array([math.cos(turn), math.sin(turn), 0.0, 0.0, 0.0, 0.0])
        for _ in range(steps):
            self.ask(self.follower.jog, twist, self.now)

    @rule()
    def execute(self):
        self.ask(self.follower.execute, self.now)

    @rule()
    def stop(self):
        self.ask(self.follower.cancel)
        assert self.motion.phase in {Phase.RESTING, Phase.STOPPING, Phase.RETURNING}
        assert not self.follower.goes_on_by_itself

    @rule()
    def hold(self):
        self.ask(self.follower.hold_when_told)

    @rule(goes_back=st.booleans())
    def fault(self, goes_back):
        self.ask(self.follower.fail, WRONG, self.now, goes_back)

    @rule()
    def resume(self):
        self.ask(self.follower.resume, self.now)

    @rule(by=pushes)
    def push(self, by):
        """Whoever moves an arm that has settled moves it once it stands still."""
        self.wait(SETTLED)
        if self.follower.is_at_rest and not self.velocity.any():
            self.q = np.clip(self.q + by, self.chain.lower, self.chain.upper)
            self.wait(SETTLED)

    @rule(speed=st.sampled_from([0.0, 0.05]))
    def drive(self, speed):
        self.base_speed = speed
        self.step()

    @rule(
        share=st.sampled_from([0.0, 0.5, 1.0]),
        path=st.sampled_from(['auto', 'line', 'joint']),
        confirm=st.sampled_from(['never', 'leaving_line', 'always']),
    )
    def change_rules(self, share, path, confirm):
        limits = replace(LIMITS, speed_scaling=share)
        self.motion.change(limits, SOLVER, MotionOptions(path, confirm=confirm))
        self.step()

    @rule(steps=st.integers(1, 40))
    def wait(self, steps):
        for _ in range(steps):
            self.step()

    @rule()
    def wait_long(self):
        self.wait(round(PAUSE / DT))

    # -- laws

    @invariant()
    def phase_is_what_the_arm_does(self):
        if not hasattr(self, 'follower'):
            return
        phase, path = self.motion.phase, self.motion.path
        if phase in RESTS:
            assert path is None
        elif phase is not Phase.CHANGING:
            assert path is not None
        if phase in (Phase.CHANGING, Phase.STOPPING) and path is not None:
            assert path.is_stop
        assert (phase is Phase.JOGGING) == (path is not None and path.is_jog)

    @invariant()
    def status_names_the_phase(self):
        if not hasattr(self, 'follower'):
            return
        state, reason = self.follower.state(self.now)
        phase = self.motion.phase
        if phase in LOOKS and self.follower.is_at_rest and not self.follower.gate.is_held:
            assert state in (State.LOOKING, State.PLANNING)
        if phase is Phase.STOPPING:
            assert state is State.HOLDING
        if phase is Phase.PROPOSED:
            assert state is State.HOLDING
            assert reason.kind in (ReasonKind.AWAITS_EXECUTE, ReasonKind.MOVED_AWAY)
        if state is State.HOLDING:
            assert reason is not None
        if state is State.REACHED:
            assert self.distance_left() < ARRIVED

    def distance_left(self):
        """From the tip to the goal [m]."""
        ahead = self.follower.goal_in_base()[0] - self.chain.forward_kinematics(self.q)
        return float(np.linalg.norm(ahead[:3, 3]))

    @invariant()
    def arm_that_is_held_comes_to_rest(self):
        if hasattr(self, 'follower') and self.follower.gate.is_held:
            assert self.motion.phase in RESTS | {Phase.CHANGING, Phase.STOPPING, Phase.RETURNING}

    def teardown(self):
        """Whatever happened, a stop ends, and nothing sets out again by itself."""
        if not hasattr(self, 'follower'):
            return
        self.hold()
        self.wait(round(2.0 * PAUSE / DT))
        assert not self.velocity.any()
        at = self.q
        self.wait(round(PAUSE / DT))
        assert np.array_equal(self.q, at)


Arm.TestCase.settings = settings(
    max_examples=examples(30, 300) if COMPILED else 2, stateful_step_count=25, deadline=None
)
TestStates = Arm.TestCase


def test_arm_that_leaves_a_goal_in_the_world_for_joint_values_brakes_before_it_looks():
    """It looked at once, and stood still for as long as that took."""
    arm = Arm()
    arm.stand('auto', 'never', (0.5, 1.0))
    arm.target_in_the_world((1.2, 0.6))
    arm.wait(60)
    assert arm.velocity.any()
    arm.joints((-2.4, -2.0))
    assert arm.motion.phase is Phase.CHANGING
    arm.wait(100)
    assert arm.motion.phase is Phase.FOLLOWING


@pytest.mark.parametrize('steps', [0, 2, 4])
def test_fault_that_is_over_leads_no_later_motion_back(steps):
    """The arm went back at its next rest, and said REACHED there."""
    arm = Arm()
    arm.stand('auto', 'never', (0.0, 1.0))
    arm.wait(2)
    arm.fault(goes_back=True)
    arm.resume()
    arm.jog(steps, 0.0)
    arm.home()
    arm.wait(300)
    assert arm.follower.state(arm.now)[0] is State.REACHED
    assert np.allclose(arm.q, HOME)


def test_jog_that_was_blocked_at_once_is_ended_by_a_stop():
    arm = Arm()
    arm.stand('line', 'never', (0.0, 0.0))
    arm.wait(2)
    arm.jog(1, 0.0)
    assert arm.motion.phase is Phase.JOGGING
    arm.stop()
    assert arm.motion.phase is Phase.RESTING


@pytest.mark.parametrize('by', [0.01, 0.09, 0.3])
@pytest.mark.parametrize('speed', [0.01, 0.05])
def test_arm_that_was_moved_stays_there_when_its_base_moves(by, speed):
    """It leapt back to its last command at once, and went on by itself."""
    arm = Arm()
    arm.stand('auto', 'never', (0.5, 1.0))
    arm.target_in_the_world((0.7, 0.8))
    arm.wait_long()
    arm.push((by, 0.0))
    moved = arm.q
    arm.drive(speed)
    arm.wait(50)
    assert np.array_equal(arm.q, moved)
    state, reason = arm.follower.state(arm.now)
    assert (state, reason.kind) == (State.HOLDING, ReasonKind.MOVED_AWAY)
    assert not arm.follower.goes_on_by_itself


def test_arm_whose_measurements_tremble_keeps_its_place_in_the_world():
    """Nobody moved it: it goes on with its target when its base moves."""
    arm = Arm()
    arm.stand('auto', 'never', (0.5, 1.0))
    arm.target_in_the_world((0.7, 0.8))
    arm.wait_long()
    arm.noise = 1.5e-3
    for _ in range(10):
        arm.wait_long()
        arm.drive(0.05)
        arm.wait(15)
        arm.drive(0.0)
    arm.wait_long()
    assert arm.follower.state(arm.now)[0] is State.REACHED
    assert arm.distance_left() < ARRIVED


def test_stop_that_controllers_have_already_has_an_end():
    """A node that was deactivated as its arm went back sent its last command for ever."""
    arm = Arm()
    arm.stand('auto', 'never', (0.0, 1.0))
    arm.joints((1.0, 0.5))
    arm.wait(60)
    arm.hold()
    assert arm.velocity.any()
    for _ in range(100):
        arm.follower.follow_stop(arm.now, DT, DT)
        arm.now += DT
    assert arm.follower.is_at_rest
    assert not arm.follower.should_publish
