"""
Laws of the motion of several tips on a base that moves: the joints can always follow.

Limits are those of the document, speeds are differences: nothing of the package judges.

"""

from dataclasses import dataclass
import functools
import math

from fabrik_ros import load_urdf, SolverOptions
from fabrik_ros.kernels._jit import COMPILED
from fabrik_ros.motion.choosing.goal import MotionOptions
from fabrik_ros.motion.choosing.motion import Motion
from fabrik_ros.motion.limits.limits import MotionLimits
from helpers import examples, joint_xml, mostly_long, robot_xml, stopped
from hypothesis import given, settings, strategies as st
import numpy as np
import pytest

pytest.importorskip('pinocchio', reason='pinocchio is the judge')

from command_judge import accelerations, velocities
import pinocchio

EXAMPLES, LONGEST_PART = (examples(20, 60), 60) if COMPILED else (2, 10)
DT = 0.01
FASTEST, HARDEST = 1.5, 5.0
LIMIT = '<limit lower="-2" upper="2" velocity="3" effort="1"/>'
AXES = ('0 0 1', '0 1 0', '1 0 0', '0 1 0', '1 0 0')


def _arm(side, y):
    links = ['body', *(f'{side}_{i}' for i in range(5))]
    return [
        joint_xml(
            f'{side}_j{i}',
            links[i],
            links[i + 1],
            'continuous' if i == 4 else 'revolute',
            f'<origin xyz="{0.2 if i else 0.05} {0.0 if i else y} 0.02"/>'
            f'<axis xyz="{AXES[i]}"/>' + ('' if i == 4 else LIMIT),
        )
        for i in range(5)
    ]


@functools.cache
def torso():
    """Two arms of five joints on a slide and a hinge that they share."""
    links = ' '.join(f'{side}_{i}' for side in ('left', 'right') for i in range(5))
    lift = '<axis xyz="0 0 1"/><limit lower="0" upper="0.3" velocity="1" effort="1"/>'
    document = robot_xml(
        f'base column body {links}',
        joint_xml('lift', 'base', 'column', 'prismatic', lift),
        joint_xml('turn', 'column', 'body', body=f'<axis xyz="0 0 1"/>{LIMIT}'),
        *_arm('left', 0.2),
        *_arm('right', -0.2),
    )
    return load_urdf(document).tree('base', ['left_4', 'right_4'])


def bounds():
    """Limits as the document has them, in the order of the joints."""
    lower = {'lift': 0.0, 'left_j4': -math.inf, 'right_j4': -math.inf}
    upper = {'lift': 0.3, 'left_j4': math.inf, 'right_j4': math.inf}
    names = torso().joint_names
    return (
        np.array([lower.get(name, -2.0) for name in names]),
        np.array([upper.get(name, 2.0) for name in names]),
    )


@dataclass(frozen=True)
class Part:
    """Something that happens, and a number of steps after it."""

    what: str
    seed: int
    steps: int


GOALS = ('goals', 'one goal', 'far goal')
KINDS = (*GOALS, 'jog', 'jog', 'drive', 'stand', 'leap', 'stop', 'joint', 'line', 'auto')
parts = st.lists(
    st.builds(
        Part,
        what=st.sampled_from(KINDS),
        seed=st.integers(0, 2**32 - 1),
        steps=st.integers(1, LONGEST_PART),
    ),
    min_size=1,
    max_size=8,
)


class Play:
    """Arms and their base, and what became of them."""

    def __init__(self, seed, **options):
        tree = torso()
        limits = MotionLimits(
            0.25, 1.0, 1.0, np.minimum(tree.velocity, FASTEST), np.full(len(tree), HARDEST)
        )
        self.limits = limits
        self.solver = SolverOptions(
            position_tolerance=1e-5,
            orientation_tolerance=1e-4,
            budget=math.inf,
            max_restarts=4,
        )
        self.motion = Motion(tree, limits, self.solver, MotionOptions(**options))
        self.motion.reset(self.configuration(np.random.default_rng(seed)))
        self.T_world_base = pinocchio.SE3.Identity()
        self.twist = np.zeros(6)
        self.times, self.q = [0.0], [self.motion.q]

    def configuration(self, rng):
        lower, upper = bounds()
        return rng.uniform(np.maximum(lower, -math.pi), np.minimum(upper, math.pi))

    def happen(self, part):
        rng, motion = np.random.default_rng(part.seed), self.motion
        if part.what in GOALS:
            self.aim(rng, part.what)
        elif part.what == 'jog':
            tip, twist = int(rng.integers(2)), rng.normal(size=6) * [0.3, 0.3, 0.3, 1.0, 1.0, 1.0]
            free = np.arange(2) != tip if rng.random() < 0.5 else np.array(False)
            motion.jog(twist * rng.random(), bool(rng.random() < 0.5), tip, free)
        elif part.what == 'drive':
            self.twist = rng.uniform(-1.0, 1.0, 6) * [0.5, 0.5, 0.1, 0.1, 0.1, 0.8]
        elif part.what == 'stand':
            self.twist = np.zeros(6)
        elif part.what == 'leap':
            size = 10.0 ** rng.uniform(-3.0, 2.0)
            self.T_world_base *= pinocchio.exp6(size * rng.uniform(-1.0, 1.0, 6))
        elif part.what == 'stop':
            motion.stop(stopped('a test'))
        else:
            motion.change(self.limits, self.solver, MotionOptions(path=part.what))

    def aim(self, rng, what):
        elsewhere = self.configuration(rng)
        nearness = 1.0 if what == 'far goal' else 0.3
        T = torso().forward_kinematics(self.motion.q + nearness * (elsewhere - self.motion.q))
        if what == 'one goal':
            T[rng.integers(2)] = np.nan
        in_world = rng.random(2) < 0.5
        T_base_world = self.T_world_base.inverse().homogeneous
        if not self.motion.frame.is_world:
            self.motion.frame.base.begin(T_base_world)
        T[in_world] = self.T_world_base.homogeneous @ T[in_world]
        self.motion.aim(T, in_world)

    def step(self, dt=DT):
        self.T_world_base *= pinocchio.exp6(dt * self.twist)
        if self.motion.frame.is_world:
            self.motion.carry(self.T_world_base.inverse().homogeneous, dt)
        self.motion.step(dt)
        self.times.append(self.times[-1] + dt)
        self.q.append(self.motion.q)

    @property
    def is_at_rest(self):
        """Whether the arms rest and nothing will set them in motion."""
        motion = self.motion
        waits = motion.frame.is_world and motion.frame.base.moves
        return motion.is_at_rest and not (waits or motion.is_looking)

    def check(self):
        times, q = np.array(self.times), np.array(self.q)
        lower, upper = bounds()
        assert np.isfinite(q).all()
        assert np.all((lower - 1e-12 <= q) & (q <= upper + 1e-12))
        if len(q) > 3:
            fastest = np.where(np.arange(q.shape[1]) == 0, 1.0, FASTEST)
            assert np.all(np.abs(velocities(times, q)) <= fastest * (1.0 + 1e-6))
            assert np.abs(accelerations(times, q)).max() <= HARDEST * (1.0 + 1e-3)


@pytest.mark.parametrize('path', mostly_long(['auto', 'line', 'joint'], 'auto'))
@settings(max_examples=EXAMPLES // 3 + 1)
@given(seed=st.integers(0, 2**32 - 1), parts=parts, approaches=st.booleans())
def test_joints_can_always_follow(path, seed, parts, approaches):
    play = Play(seed, path=path, approach_unreachable=approaches)
    for part in parts:
        play.happen(part)
        for _ in range(part.steps):
            play.step()
    play.check()


@pytest.mark.long
@settings(max_examples=EXAMPLES)
@given(seed=st.integers(0, 2**32 - 1), parts=parts)
def test_joints_can_always_follow_when_steps_are_uneven(seed, parts):
    play, rng = Play(seed), np.random.default_rng(seed)
    for part in parts:
        play.happen(part)
        for _ in range(part.steps):
            play.step(DT * rng.choice([1.0, 1.0, rng.uniform(0.3, 1.5), rng.uniform(1.5, 5.0)]))
    play.check()


@pytest.mark.long
@settings(max_examples=EXAMPLES)
@given(seed=st.integers(0, 2**32 - 1), parts=parts)
def test_arms_come_to_rest_once_the_base_stands(seed, parts):
    play = Play(seed)
    for part in parts:
        play.happen(part)
        for _ in range(part.steps):
            play.step()
    play.twist = np.zeros(6)
    for tip in range(2):
        play.motion.end_jog(tip)
    for _ in range(3000 if COMPILED else 0):
        play.step()
        if play.is_at_rest:
            break
    else:
        assert not COMPILED, f'they never rest: {play.motion.path}'
    play.check()
