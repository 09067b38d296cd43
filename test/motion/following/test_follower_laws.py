"""
Laws of following: whatever is asked of an arm and whenever, it can follow what it is told.

Targets, joint values, jogs, stops, holds, home, other speeds and silence come in any order; limits
are those of the document, speeds are differences over the times of the commands.

"""

from dataclasses import dataclass, replace
import itertools
import math

from fabrik_ros import load_urdf, SolverOptions
from fabrik_ros.errors import RefusedError
from fabrik_ros.kernels._jit import COMPILED
from fabrik_ros.motion.choosing.goal import MotionOptions
from fabrik_ros.motion.choosing.motion import Motion
from fabrik_ros.motion.following.arm_state import State
from fabrik_ros.motion.following.follower import Follower
from fabrik_ros.motion.following.following_rules import FollowingRules
from fabrik_ros.motion.following.measured_joints import MeasuredJoints
from fabrik_ros.motion.limits.limits import MotionLimits
from helpers import examples, mostly_long, said, SIX_AXIS
from hypothesis import event, given, settings, strategies as st
import numpy as np
import pytest

pytest.importorskip('pinocchio', reason='pinocchio is the judge')

from command_judge import accelerations, velocities
from judging import Judge

EXAMPLES, LONGEST = (examples(20, 60), 60) if COMPILED else (2, 10)
DT, FASTEST, HARDEST = 0.01, 1.5, 5.0
HOME = (0.3, 0.4, -0.5, 0.2, 0.6, 0.1)
SOLVER = SolverOptions(budget=math.inf, max_restarts=6)
LIMITS = MotionLimits(0.25, 1.0, 1.0, np.full(6, FASTEST), np.full(6, HARDEST))
WHAT = ['target', 'joints', 'jog', 'jog', 'jog on', 'stop', 'hold', 'home', 'scale', 'nothing']
AT_REST = 1e-6
PAUSE = 1.2
"""After which a stream of targets is over [s]."""


@dataclass(frozen=True)
class Event:
    """Something that is asked for, and a number of commands after it."""

    what: str
    seed: int
    share: float
    steps: int


events = st.lists(
    st.builds(
        Event,
        what=st.sampled_from(WHAT),
        seed=st.integers(0, 2**32 - 1),
        share=st.floats(0.0, 1.0),
        steps=st.integers(1, LONGEST),
    ),
    min_size=1,
    max_size=10,
)


PATHS = ['auto', 'line', 'joint']
paths = st.sampled_from(PATHS)


class Arm:
    """Does what it is told at once, and says so; remembers all of it."""

    def __init__(self, path, seed):
        self.judge = Judge(SIX_AXIS, 'l0', 'l7')
        self._chain = load_urdf(SIX_AXIS).chain()
        self.names = self._chain.joint_names
        self.motion = Motion(self._chain, LIMITS, SOLVER, MotionOptions(path))
        self._measured = MeasuredJoints()
        rules = FollowingRules(home_configuration=HOME)
        self.follower = Follower(self._chain, self.motion, rules, self._measured)
        self.now, self.times, self.q = 0.0, [], []
        self._jogs = None
        self._say(self.judge.random_configuration(np.random.default_rng(seed)))

    def _say(self, q):
        self._at = q
        self._measured.update(self._chain.joint_names, q, self.now)

    def step(self, dt):
        if self._jogs is not None:
            self.follower.jog(self._jogs, self.now)
        self.now += dt
        command = self.follower.tick(self.now, dt)
        if command is not None:
            if not self.times or self.now - self.times[-1] > 2.5 * dt:
                # It rested until then: that is where the differences begin.
                self.times.append(self.now - dt)
                self.q.append(self._at)
            self.times.append(self.now)
            self.q.append(command.q)
        self._say(self._at if command is None else command.q)

    def ask(self, wanted):
        rng = np.random.default_rng(wanted.seed)
        follower, self._jogs = self.follower, None
        if wanted.what == 'target':
            target = self.judge.pose(self.judge.random_configuration(rng))
            follower.accept(target, self.now)
        elif wanted.what == 'joints':
            q = self.judge.random_configuration(rng)
            some = rng.random(6) < max(wanted.share, 0.2)
            follower.go_to_joints({n: q[j] for j, n in enumerate(self.names) if some[j]}, self.now)
        elif wanted.what.startswith('jog'):
            twist = wanted.share * rng.normal(size=6) * [0.3, 0.3, 0.3, 1.0, 1.0, 1.0]
            follower.jog(twist, self.now, in_tip=bool(rng.random() < 0.5))
            self._jogs = twist if wanted.what == 'jog on' else None
        elif wanted.what == 'stop':
            follower.cancel()
        elif wanted.what == 'hold':
            follower.hold_when_told()
        elif wanted.what == 'home':
            follower.go_home(self.now)
        elif wanted.what == 'scale':
            self.scale(wanted.share if wanted.share > 0.2 else 0.0)

    def scale(self, share):
        limits = replace(LIMITS, speed_scaling=share)
        self.motion.change(limits, SOLVER, self.motion.pursuit.options)


def steps_like(even, seed):
    rng = np.random.default_rng(seed)
    while True:
        yield DT if even else DT * rng.choice([1.0, 1.0, rng.uniform(0.5, 1.5)])


def play(events, path, even, seed):
    arm, steps = Arm(path, seed), steps_like(even, seed)
    for wanted in events:
        try:
            arm.ask(wanted)
        except RefusedError as error:
            event(str(error))
        for _ in range(wanted.steps):
            try:
                arm.step(next(steps))
            except RefusedError:
                arm._jogs = None
    arm._jogs = None
    arm.scale(1.0)
    for _ in range(6000):
        if arm.follower.is_at_rest and not arm.follower.is_looking:
            break
        arm.step(next(steps))
    return arm


@settings(max_examples=EXAMPLES)
@given(events, paths, st.booleans(), st.integers(0, 2**32 - 1))
def test_commands_stay_within_limits_speeds_and_accelerations_and_come_to_rest(
    events, path, even, seed
):
    arm = play(events, path, even, seed)
    assert arm.follower.is_at_rest
    state, _ = said(arm.follower, arm.now)
    assert state in (State.IDLE, State.REACHED, State.HOLDING)
    if len(arm.times) < 4:
        return
    times, q = np.array(arm.times), np.array(arm.q)
    assert np.isfinite(q).all()
    assert np.all((arm.judge.lower <= q) & (q <= arm.judge.upper))
    assert np.abs(velocities(times, q)).max() <= FASTEST + 1e-6
    assert np.abs(accelerations(times, q)).max() <= HARDEST * (1.0 + 1e-6)


@settings(max_examples=EXAMPLES)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(2, LONGEST),
    st.lists(st.sampled_from([0.5, 1.0, 2.5, 4.0]), min_size=1, max_size=8),
)
def test_the_last_command_of_a_hold_has_no_velocity_however_late_ticks_are(seed, steps, lengths):
    arm = Arm('auto', seed)
    arm.ask(Event('target', seed + 1, 0.0, steps))
    for _ in range(steps):
        arm.step(DT)
    arm.ask(Event('hold', seed, 0.0, 0))
    last = None
    for length in itertools.islice(itertools.cycle(lengths), 300):
        arm.now += length * DT
        command = arm.follower.tick(arm.now, length * DT)
        last = command or last
    assert command is None
    assert last is None or not last.velocity.any()


@pytest.mark.parametrize('path', mostly_long(PATHS, 'auto'))
@settings(max_examples=EXAMPLES // 3 + 1)
@given(events, st.integers(0, 2**32 - 1))
def test_what_was_asked_for_last_is_what_happens(path, events, seed):
    """A stop and a hold end what was; home is reached, and a jog ends when it is let go."""
    for last in ('stop', 'hold', 'home', 'jog'):
        arm = play(events, path, True, seed)
        if arm.follower.gate.is_held:
            for _ in range(round(PAUSE / DT)):  # longer than any stop
                arm.step(DT)
            arm.follower.resume(arm.now)
        arm.ask(Event(last, seed, 0.5, 1))
        for _ in range(6000):
            arm.step(DT)
            if arm.follower.is_at_rest and not arm.follower.is_looking:
                break
        state, reason = said(arm.follower, arm.now)
        if last == 'stop':
            at = arm.motion.q
            assert state in (State.IDLE, State.REACHED, State.HOLDING)
            assert not arm.motion.waits_for_execute
            for _ in range(round(PAUSE / DT)):
                arm.step(DT)
            assert np.array_equal(arm.motion.q, at)
        elif last == 'hold':
            assert (state, reason) == (State.HOLDING, 'told to hold, until ~/resume')
        elif last == 'home':
            assert state is State.REACHED
            q = arm.motion.q
            assert np.abs(q[:5] - HOME[:5]).max() < AT_REST
            assert math.isclose(math.remainder(q[5] - HOME[5], math.tau), 0.0, abs_tol=AT_REST)
        else:
            assert state is State.HOLDING
            assert reason.startswith('jog')
