"""
Laws of goals that are joint values: what is sent arrives, what is not sent stays.

One arm has a joint that turns without end, one that may turn three times, and one that slides.
"""

from dataclasses import dataclass
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
from fabrik_ros.motion.following.start_gate import QUIET
from fabrik_ros.motion.limits.limits import MotionLimits
from helpers import assert_close, joint_xml, robot_xml, said, stopped
from hypothesis import given, settings, strategies as st
import numpy as np
import pytest

DT, FASTEST, HARDEST = 0.01, 1.5, 5.0
TURN = 2.0 * math.pi
WIDEST, SHORTEST, LONGEST = 1.5 * TURN, 0.1, 0.9
NAMES = ('endless', 'wide', 'slide')
START = (0.4, -0.3, 0.5)
HOME = (-0.2, 0.3, 0.6)
EXAMPLES = 12 if COMPILED else 3
ARM = robot_xml(
    'base upper lower tip',
    joint_xml(
        'endless',
        'base',
        'upper',
        'continuous',
        '<axis xyz="0 0 1"/><limit velocity="3" effort="1"/>',
    ),
    joint_xml(
        'wide',
        'upper',
        'lower',
        body='<origin xyz="0.2 0 0"/><axis xyz="0 0 1"/>'
        f'<limit lower="{-WIDEST}" upper="{WIDEST}" velocity="3" effort="1"/>',
    ),
    joint_xml(
        'slide',
        'lower',
        'tip',
        'prismatic',
        '<axis xyz="1 0 0"/>'
        f'<limit lower="{SHORTEST}" upper="{LONGEST}" velocity="2" effort="1"/>',
    ),
)
LIMITS = MotionLimits(2.0, 6.0, 4.0, np.full(3, FASTEST), np.full(3, HARDEST))

at = st.tuples(
    st.floats(-20.0, 20.0), st.floats(-WIDEST, WIDEST), st.floats(SHORTEST, LONGEST)
).map(np.array)
sent = at.flatmap(
    lambda q: st.sets(st.sampled_from(NAMES), min_size=1).map(
        lambda names: {name: float(q[NAMES.index(name)]) for name in sorted(names)}
    )
)


@dataclass(frozen=True)
class Sent:
    """Joint values, and for how many commands they are all that is sent."""

    values: dict[str, float]
    steps: int


several = st.lists(st.builds(Sent, values=sent, steps=st.integers(1, 200)), min_size=1, max_size=5)


class Scene:
    """An arm that does what it is told at once, and a clock."""

    def __init__(self, start=START, **rules):
        chain = load_urdf(ARM).chain()
        solver = SolverOptions(mode='position', budget=math.inf, max_restarts=5)
        self.now, self.measured = 1000.0, MeasuredJoints()
        self.motion = Motion(chain, LIMITS, solver, MotionOptions())
        self.follower = Follower(chain, self.motion, FollowingRules(**rules), self.measured)
        self.at = np.array(start, dtype=float)
        self.follows, self.q = True, []
        self.report()
        self.report()  # one value alone is no start

    def report(self):
        self.measured.update(NAMES, self.at.tolist(), self.now)

    def tick(self):
        self.now += DT
        command = self.follower.tick(self.now, DT)
        if command is not None:
            self.q.append(command.q)
            self.at = command.q if self.follows else self.at
        self.report()

    def go(self, seconds):
        for _ in range(round(seconds / DT)):
            self.tick()

    def send(self, **values):
        self.follower.go_to_joints(values, self.now)

    def refusal(self, **values):
        """Reason for which joint values are refused; nothing may change by it."""
        before = said(self.follower, self.now), self.follower.goal
        with pytest.raises(RefusedError) as refused:
            self.send(**values)
        assert (said(self.follower, self.now), self.follower.goal) == before
        return str(refused.value)

    @property
    def state(self):
        return said(self.follower, self.now)[0]

    def until(self, state, longest=120.0):
        end = self.now + longest
        while self.state is not state:
            assert self.now < end, f'{state} never comes: {said(self.follower, self.now)}'
            self.tick()

    def pose(self, q):
        return self.follower.robot.tip_poses(q)[0]

    def check_smooth(self, start):
        q = np.array([start, start, *self.q])
        v = np.diff(q, axis=0) / DT
        assert np.abs(v).max() <= FASTEST + 1e-9
        assert np.abs(np.diff(v, axis=0)).max() / DT <= HARDEST + 1e-6
        inside = (q[:, 1:] >= [-WIDEST, SHORTEST]) & (q[:, 1:] <= [WIDEST, LONGEST])
        assert inside.all()


@settings(max_examples=EXAMPLES)
@given(at, sent)
def test_joints_that_are_sent_arrive_in_a_straight_path_and_the_others_stay(start, values):
    scene = Scene(start)
    scene.send(**values)
    scene.until(State.REACHED)
    q = np.array([start, *scene.q])
    for j, name in enumerate(NAMES):
        if name not in values:
            assert np.all(q[:, j] == start[j])
        elif name == 'endless':
            assert abs(math.remainder(q[-1, j] - values[name], TURN)) < 1e-6
            assert abs(q[-1, j] - start[j]) <= math.pi + 1e-6, 'the shorter way round'
        else:
            assert abs(q[-1, j] - values[name]) < 1e-6, 'the very value, not modulo a turn'
    length = np.linalg.norm(q[-1] - start)
    if length > 1e-6:
        along = np.clip((q - start) @ (q[-1] - start) / length**2, 0.0, 1.0)
        assert_close(q, start + np.outer(along, q[-1] - start), 1e-6)
    scene.check_smooth(start)


def expected_end(start, sequence):
    """Where each joint was sent last, or else began."""
    last = dict(zip(NAMES, start, strict=True))
    for event in sequence:
        last |= event.values
    return last


@settings(max_examples=EXAMPLES)
@given(at, several)
def test_each_joint_goes_where_it_was_sent_last_however_early_the_next_target_comes(
    start, sequence
):
    scene = Scene(start)
    for event in sequence:
        scene.send(**event.values)
        scene.go(event.steps * DT)
    scene.until(State.REACHED)
    end = expected_end(start, sequence)
    assert abs(math.remainder(scene.q[-1][0] - end['endless'], TURN)) < 1e-6
    assert_close(scene.q[-1][1:], [end['wide'], end['slide']], 1e-6)
    scene.check_smooth(start)


@settings(max_examples=EXAMPLES)
@given(at, several, st.integers(1, 20))
def test_repeats_change_no_command(start, sequence, every):
    """Not even those of a part, and not after the arrival."""
    commands = []
    for is_repeated in (False, True):
        scene = Scene(start)
        for event in sequence:
            scene.send(**event.values)
            for i in range(event.steps):
                scene.tick()
                if is_repeated and i % every == 0:
                    scene.send(**event.values)
        for i in range(1500):
            scene.tick()
            if is_repeated and i % every == 0:
                name, value = next(iter(sequence[-1].values.items()))
                scene.send(**{name: value})
        commands.append(np.array(scene.q))
    assert np.array_equal(*commands)


@settings(max_examples=EXAMPLES)
@given(
    several,
    st.sampled_from(
        [
            ({}, 'names no joint'),
            ({'wrist': 0.0}, "no joint 'wrist' is moved; the joints are: endless, wide, slide"),
            ({'widE': 0.0}, "did you mean 'wide'?"),
            ({'wide': 9.5}, r"joint 'wide' cannot go to 9.5: its limits are [-9.42478, 9.42478]"),
            ({'slide': 0.05}, "joint 'slide' cannot go to 0.05: its limits are [0.1, 0.9]"),
            ({'endless': 0.1, 'slide': math.nan}, "joint 'slide' cannot go to nan"),
            ({'endless': math.inf}, "joint 'endless' cannot go to inf"),
            ({'endless': 1e9}, "joint 'endless' cannot go to 1e+09: its limits are [-6283.19,"),
        ]
    ),
)
def test_values_that_cannot_be_meant_are_refused_and_change_no_command(sequence, odd):
    (values, reason), commands = odd, []
    for is_disturbed in (False, True):
        scene = Scene()
        for event in sequence:
            scene.send(**event.values)
            scene.go(event.steps * DT)
            if is_disturbed:
                assert reason in scene.refusal(**values)
        scene.go(5.0)
        commands.append(np.array(scene.q))
    assert np.array_equal(*commands)


def test_joints_of_a_goal_under_way_go_on_and_those_at_rest_stay_where_they_are():
    scene = Scene()
    scene.send(wide=1.5)
    scene.go(0.5)
    scene.send(slide=0.7)
    scene.until(State.REACHED)
    assert_close(scene.at, [START[0], 1.5, 0.7], 1e-6)
    scene.follower.hold(stopped('a reason'))
    scene.send(endless=0.9)
    scene.until(State.REACHED)
    assert_close(scene.at, [0.9, 1.5, 0.7], 1e-6)


def test_joints_stopped_on_the_way_do_not_go_on_with_the_next_target():
    scene = Scene()
    scene.send(wide=6.0)
    scene.go(1.0)
    scene.follower.hold(stopped('a reason'))
    scene.go(1.0)
    stood = scene.at[1]
    assert stood < 3.0
    scene.send(slide=0.7)
    scene.until(State.REACHED)
    assert scene.at[1] == stood


def test_joints_go_on_home_where_they_are_not_sent_elsewhere():
    scene = Scene(home_configuration=HOME)
    scene.follower.go_home(scene.now)
    scene.go(0.2)
    scene.send(wide=-1.0)
    scene.until(State.REACHED)
    assert_close(scene.at, [HOME[0], -1.0, HOME[2]], 1e-6)


def test_they_end_a_pose_and_a_jog_without_a_jump_and_a_pose_ends_them():
    scene = Scene()
    goal = scene.pose([1.0, 0.4, 0.6])
    scene.follower.accept(goal, scene.now)
    scene.go(0.4)
    scene.send(wide=0.5, endless=0.3, slide=0.4)
    scene.go(0.3)
    scene.follower.jog(np.array([0.0, 0.1, 0.0, 0.0, 0.0, 0.0]), scene.now)
    scene.go(0.1)
    scene.send(wide=0.5, endless=0.3, slide=0.4)
    scene.until(State.REACHED)
    assert_close(scene.at, [0.3, 0.5, 0.4], 1e-6)
    scene.send(wide=-0.5)
    scene.go(0.2)
    scene.follower.accept(goal, scene.now)
    scene.until(State.REACHED)
    assert_close(scene.pose(scene.at)[:3, 3], goal[:3, 3], 1e-4)
    scene.check_smooth(START)


def test_start_a_little_outside_a_limit_comes_inside_though_another_joint_is_sent():
    scene = Scene((0.0, 0.0, SHORTEST - 0.05))
    scene.send(wide=0.3)
    scene.until(State.REACHED)
    assert_close(scene.at, [0.0, 0.3, SHORTEST], 1e-6)


def test_arm_that_was_moved_away_at_rest_goes_back_when_it_is_sent_there_again():
    scene = Scene()
    scene.send(wide=0.3)
    scene.until(State.REACHED)
    scene.go(1.0)
    scene.at = scene.at + np.array([0.0, 0.3, 0.0])
    scene.go(0.03)
    assert scene.state is State.HOLDING
    count = len(scene.q)
    scene.send(wide=0.3)
    scene.until(State.REACHED)
    assert abs(scene.q[count][1] - 0.6) < HARDEST * DT * DT + 1e-12, 'from where it is'
    assert_close(scene.at, [START[0], 0.3, START[2]], 1e-6)


def test_dead_mans_switch_of_targets_holds_for_them_and_repeats_feed_it():
    scene = Scene(target_timeout=0.2)
    scene.send(wide=3.0)
    for _ in range(50):
        scene.go(0.1)
        scene.send(wide=3.0)
    assert scene.state is State.REACHED
    scene.send(wide=-3.0)
    scene.until(State.HOLDING)
    assert 'no target for' in said(scene.follower, scene.now)[1]


class TestGate:
    def test_they_are_refused_while_the_arm_is_held(self):
        scene = Scene()
        scene.follower.hold_when_told()
        assert 'told to hold' in scene.refusal(wide=0.5)
        scene.go(0.5)
        assert not scene.q

    def test_those_that_were_interrupted_by_a_fault_wait_for_resume_and_others_for_a_pause(self):
        scene = Scene()
        scene.send(wide=3.0, slide=0.8)
        scene.go(0.5)
        scene.send(endless=1.0)
        scene.go(0.1)
        scene.follower.observer.not_ready = stopped('not ready')
        scene.until(State.HOLDING)
        scene.go(1.0)
        assert scene.refusal(wide=3.0) == 'not ready'
        scene.follower.observer.not_ready = None
        assert 'after 1 s without any' in scene.refusal(wide=1.0)
        for values in ({'wide': 3.0, 'slide': 0.8}, {'endless': 1.0}, {'slide': 0.8 + 1e-9}):
            scene.go(QUIET + DT)
            assert '~/resume' in scene.refusal(**values)
        scene.go(QUIET + DT)
        scene.follower.resume(scene.now)
        scene.go(QUIET + DT)
        scene.send(wide=3.0, slide=0.8)
        scene.until(State.REACHED)
        scene.check_smooth(START)

    def test_others_than_those_interrupted_open_it_after_a_pause(self):
        scene = Scene()
        scene.send(wide=3.0)
        scene.go(0.5)
        scene.follower.fail(stopped('a fault'), scene.now)
        scene.go(QUIET + 1.0)
        scene.send(wide=1.0)
        scene.until(State.REACHED)
        scene.send(wide=3.0)
        scene.until(State.REACHED)

    def test_missing_states_are_said(self):
        scene = Scene()
        scene.measured.forget()
        assert scene.refusal(wide=0.5) == 'no fresh joint state of: endless, wide, slide'
