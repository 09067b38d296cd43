"""
Laws of the motion: whatever goals come and whenever, the arm can follow what it is told.

Nothing of the package is used to judge: limits are those of the URDF, speeds are differences,
poses are pinocchio's.

"""

from dataclasses import dataclass, replace
import functools
import math
from types import SimpleNamespace

from drawing import random_numbers
from fabrik_ros import example_arm, load_urdf, SolverOptions
from fabrik_ros.kernels._jit import COMPILED
from fabrik_ros.motion.choosing.goal import MotionOptions
from fabrik_ros.motion.choosing.motion import Motion
from fabrik_ros.motion.limits.limits import MotionLimits
from fabrik_ros.motion.paths.joint_path import JointPath
from helpers import (
    assert_close,
    example_robot,
    examples,
    mostly_long,
    REAL_ARMS,
    Segment,
    serial_xml,
    stopped,
    why,
)
from hypothesis import event, example, given, settings, strategies as st
import numpy as np
import pytest

pytest.importorskip('pinocchio', reason='pinocchio is the judge')
pytest.importorskip('xacro', reason='the bundled arms are xacro files')

from command_judge import accelerations, velocities
from judging import distances_from_line, Judge

EXAMPLES = examples(15, 40) if COMPILED else 2
LONGEST_PART = 60 if COMPILED else 12
DT = 0.01
LONGEST = 200.0
"""In which any motion at full speed is over [s]: a tip of a long arm goes 0.25 m/s."""

GANTRY = serial_xml(
    [
        Segment('prismatic', axis=(1.0, 0.0, 0.0), lower=-0.5, upper=0.5),
        Segment('prismatic', axis=(0.0, 1.0, 0.0), lower=-0.3, upper=0.3),
        Segment('continuous', xyz=(0.0, 0.0, 0.4)),
        Segment(axis=(0.0, 1.0, 0.0), xyz=(0.1, 0.0, 0.0), lower=-2.0, upper=2.0),
        Segment(axis=(0.0, 1.0, 0.0), xyz=(0.0, 0.0, 0.5), lower=-2.5, upper=2.5),
        Segment('continuous', axis=(1.0, 0.0, 0.0), xyz=(0.4, 0.0, 0.1)),
        Segment('fixed', xyz=(0.05, 0.0, 0.0)),
    ]
)
"""Slides, hinges and joints without limits."""


@functools.cache
def arm(name):
    """Look up the chain, a judge and the speed limits of an arm."""
    if name == 'gantry':
        robot, base_link, tip_link = load_urdf(GANTRY), 'l0', 'l7'
    elif name in REAL_ARMS:
        robot = load_urdf(example_robot(name), use_safety_limits=False)
        base_link, tip_link = REAL_ARMS[name].base_link, REAL_ARMS[name].tip_link
    else:
        robot, base_link, tip_link = load_urdf(example_arm(name)), 'base_link', 'tool0'
    chain = robot.chain(base_link, tip_link)
    limits = MotionLimits(
        tip_speed=0.25,
        tip_rotation=1.0,
        tip_acceleration=1.0,
        joint_velocity=np.minimum(chain.velocity, 1.5),
        joint_acceleration=np.full(len(chain), 5.0),
    )
    judge = Judge(robot.source, base_link, tip_link)
    return SimpleNamespace(chain=chain, limits=limits, judge=judge)


NAMES = ['six_axis', 'panda', 'so101', 'pr2', 'gantry'] if COMPILED else ['six_axis', 'gantry']
ARMS = mostly_long(NAMES, 'six_axis')
SOLVER = SolverOptions(
    position_tolerance=1e-5, orientation_tolerance=1e-4, budget=math.inf, max_restarts=6
)
"""Ends by a count, not by the clock: what a test finds it finds again."""


def motion_of(name, limits=None, solver=SOLVER, **options):
    return Motion(arm(name).chain, limits or arm(name).limits, solver, MotionOptions(**options))


# Arms that can turn a sharp corner in joint space on a straight line: where the orientation yields
# and has to swing round, or a spare joint meets a limit. The tip then leaves the line, as the
# README says [m].
MAY_SWING = ('so101', 'gantry')
SWINGING = 0.05
ROUNDING = 1e-6

# What may happen.

seeds = random_numbers()
counts = st.integers(1, LONGEST_PART)
shares = random_numbers().map(lambda number: 0.05 + 0.95 * number / 65535)


@dataclass(frozen=True)
class Part:
    """Something that happens, and a number of steps after it."""

    what: str
    seed: int = 0
    share: float = 1.0
    steps: int = 1


def parts(*kinds):
    return st.lists(
        st.builds(Part, what=st.sampled_from(kinds), seed=seeds, share=shares, steps=counts),
        min_size=1,
        max_size=8,
    )


def goal(name, part, q):
    """T_base_tip near or far, reachable or not, inside the limits or at one."""
    rng, judge = np.random.default_rng(part.seed), arm(name).judge
    elsewhere = judge.random_configuration(rng)
    if part.what == 'near goal':
        elsewhere = q + 0.3 * part.share * (elsewhere - q)
    elif part.what == 'goal at limits':
        at_limit = rng.random(len(q)) < part.share
        ends = np.where(rng.random(len(q)) < 0.5, judge.lower, judge.upper)
        elsewhere = np.where(at_limit & np.isfinite(ends), ends, elsewhere)
    T = judge.pose(elsewhere)
    if part.what == 'unreachable goal':
        T[:3, 3] *= 1.0 + 2.0 * part.share
    return T


class Record:
    """Everything a motion did, in runs that are unbroken."""

    def __init__(self, motion):
        self.motion = motion
        self.runs = [([0.0], [motion.q])]
        self.said = []
        self.paths = []

    def step(self, dt):
        times, q = self.runs[-1]
        self.motion.step(dt)
        times.append(times[-1] + dt)
        q.append(self.motion.q)
        self.said.append((dt, q[-2], q[-1], self.motion.velocity))
        self.paths.append(self.motion.path)
        if len(self.said) % 3:  # some do, some do not
            self.motion.prepare()

    def break_off(self):
        self.runs.append(([0.0], [self.motion.q]))

    def arrays(self):
        return [(np.array(times), np.array(q)) for times, q in self.runs if len(times) > 3]

    def rest(self, longest=LONGEST, dt=DT):
        """Go on until the arm rests, at full speed if it was slowed down or paused."""
        if self.motion.limits.speed_scaling != 1.0:
            pace(self.motion, 1.0)
        self.motion.end_jog(0)
        for _ in range(int(longest / dt)):
            if self.motion.is_at_rest and not self.motion.is_looking:
                return
            self.step(dt)
        pytest.fail(stopped(f'the arm never rests: {self.motion.path}, {self.motion.velocity}'))


def play(name, motion, parts, steps):
    """Let it all happen."""
    record = Record(motion)
    for part in parts:
        let_happen(name, part, record)
        for _ in range(part.steps):
            record.step(next(steps))
    return record


def let_happen(name, part, record):
    """Let one of these happen: another pace, a jog, a stop, a halt, a new goal."""
    if part.what == 'pace':
        pace(record.motion, part.share if part.share > PAUSED_BELOW else 0.0)
    elif part.what == 'joint values':
        elsewhere = arm(name).judge.random_configuration(np.random.default_rng(part.seed))
        record.motion.go_to(elsewhere)
    elif part.what == 'jog':
        rng = np.random.default_rng(part.seed)
        twist = part.share * rng.normal(size=6) * [0.3, 0.3, 0.3, 1.0, 1.0, 1.0]
        record.motion.jog(twist * (rng.random(6) < 0.5), in_tip=bool(rng.random() < 0.5))
    elif part.what == 'stop':
        record.motion.stop(stopped('a test'))
    elif part.what == 'halt':
        record.motion.halt()
        record.break_off()
    else:
        record.motion.aim(goal(name, part, record.motion.q))


def pace(motion, share):
    """Go on at another share of the speeds."""
    motion.change(replace(motion.limits, speed_scaling=share), SOLVER, motion.pursuit.options)


def start_somewhere(name, motion, seed):
    motion.reset(arm(name).judge.random_configuration(np.random.default_rng(seed)))


def even_steps():
    while True:
        yield DT


def uneven_steps(seed):
    """Late and early steps, as a busy machine makes them."""
    rng = np.random.default_rng(seed)
    while True:
        yield DT * rng.choice([1.0, 1.0, 1.0, rng.uniform(0.05, 1.5), rng.uniform(1.5, 5.0)])


def check_limits(name, record):
    judge = arm(name).judge
    for _, q in record.runs:
        assert np.all(np.array(q) >= judge.lower - 1e-12)
        assert np.all(np.array(q) <= judge.upper + 1e-12)


def check_speeds(limits, record):
    for times, q in record.arrays():
        v, a = velocities(times, q), accelerations(times, q)
        assert np.all(np.abs(v) <= limits.joint_velocity + ROUNDING)
        worst = np.abs(a) / limits.joint_acceleration
        assert worst.max() <= 1.0 + ROUNDING, f'{worst.max()} times the acceleration'


GOALS = ['goal', 'near goal', 'goal at limits', 'unreachable goal']
KINDS = [*GOALS, 'joint values', 'jog', 'jog', 'pace', 'stop', 'halt']
PAUSED_BELOW = 0.3
ways = st.sampled_from(['auto', 'line', 'joint'])


@pytest.mark.parametrize('name', ARMS)
@settings(max_examples=EXAMPLES)
@given(parts(*KINDS), ways, st.booleans(), seeds)
def test_no_command_leaves_a_limit_or_is_too_fast_or_too_hard(
    name, parts, path, approach_unreachable, seed
):
    motion = motion_of(name, path=path, approach_unreachable=approach_unreachable)
    start_somewhere(name, motion, seed)
    record = play(name, motion, parts, even_steps())
    record.rest()
    check_limits(name, record)
    check_speeds(arm(name).limits, record)


@pytest.mark.parametrize('name', ARMS)
@settings(max_examples=EXAMPLES)
@given(parts(*KINDS), ways, seeds)
def test_nor_is_it_with_steps_of_uneven_length(name, parts, path, seed):
    motion = motion_of(name, path=path)
    start_somewhere(name, motion, seed)
    record = play(name, motion, parts, uneven_steps(seed))
    record.rest()
    check_limits(name, record)
    check_speeds(arm(name).limits, record)


@pytest.mark.long
@pytest.mark.parametrize('name', ARMS)
@settings(max_examples=EXAMPLES)
@given(parts(*KINDS, 'slower', 'faster'), ways, seeds)
def test_nor_is_it_when_speed_limits_change_on_the_way(name, parts, path, seed):
    """What is faster than a new limit slows down as hard as it may, and then heeds it."""
    motion = motion_of(name, path=path)
    start_somewhere(name, motion, seed)
    record, full = Record(motion), arm(name).limits
    for part in parts:
        if part.what in ('slower', 'faster'):
            share = part.share if part.what == 'slower' else 1.0
            limits = replace(
                full,
                tip_speed=share * full.tip_speed,
                tip_rotation=share * full.tip_rotation,
                joint_velocity=share * full.joint_velocity,
            )
            motion.change(limits, SOLVER, motion.pursuit.options)
        else:
            let_happen(name, part, record)
        for _ in range(part.steps):
            speed = np.abs(motion.velocity)
            record.step(DT)
            allowed = np.maximum(
                motion.limits.joint_velocity, speed - full.joint_acceleration * DT
            )
            assert np.all(np.abs(motion.velocity) <= allowed + 1e-9)
    motion.change(full, SOLVER, motion.pursuit.options)
    record.rest()
    check_limits(name, record)
    check_speeds(full, record)


@pytest.mark.long
@pytest.mark.parametrize('name', NAMES)
@settings(max_examples=EXAMPLES)
@given(parts(*GOALS, 'joint values', 'jog'), ways, seeds)
@example([Part('goal', 185670, steps=22)], 'line', 20360)
def test_paused_arm_comes_to_rest_on_its_way_and_goes_on_when_told(name, parts, path, seed):
    """The tip needs a quarter of a second, joints that swing with a spare freedom up to two."""
    motion = motion_of(name, path=path)
    start_somewhere(name, motion, seed)
    record = play(name, motion, parts, even_steps())
    pace(motion, 0.0)
    for _ in range(200):
        record.step(DT)
    paused = motion.q.copy()
    for _ in range(3):
        record.step(DT)
    assert np.abs(motion.q - paused).max() <= 1e-9
    assert np.abs(motion.velocity).max() <= 1e-9
    was_under_way = not motion.is_at_rest
    pace(motion, 1.0)
    for _ in range(5):
        record.step(DT)
    record.rest()
    assert np.any(motion.q != paused) or not was_under_way or why(motion)
    check_limits(name, record)
    check_speeds(arm(name).limits, record)


@pytest.mark.parametrize('name', ARMS)
@settings(max_examples=EXAMPLES)
@given(parts(*KINDS), ways, seeds)
def test_velocity_that_is_said_is_the_one_that_is_done(name, parts, path, seed):
    motion = motion_of(name, path=path)
    start_somewhere(name, motion, seed)
    record = play(name, motion, parts, uneven_steps(seed))
    for dt, before, q, velocity in record.said:
        done = (q - before) / dt
        if np.any(velocity):
            assert_close(velocity, done, 1e-9)
        else:  # the last one says rest, and the little that is left is done in it
            assert np.max(np.abs(done)) <= 2e-3


@pytest.mark.parametrize('name', ARMS)
@settings(max_examples=EXAMPLES)
@given(st.lists(st.builds(Part, st.just('goal'), seeds, shares, counts), max_size=3), seeds)
def test_arm_arrives_at_the_last_goal_where_it_may_leave_the_line(name, before, seed):
    motion = motion_of(name)
    start_somewhere(name, motion, seed)
    record = play(name, motion, before, even_steps())
    T = goal(name, Part('goal', seed // 2), motion.q)
    motion.aim(T)
    record.rest()
    if motion.execute():
        event('a detour was confirmed')
        record.rest()
    if motion.pursuit.resolved.solution.converged:
        assert not why(motion)
        check_arrival(name, T, motion)
    else:
        event('the search for the goal ended early')
        assert why(motion)


def check_arrival(name, T, motion):
    position, orientation = arm(name).judge.errors(T, motion.q)
    assert position <= SOLVER.position_tolerance + 1e-9
    if len(motion.q) >= 6:
        assert orientation <= SOLVER.orientation_tolerance + 1e-9
    assert not np.any(motion.velocity)


@pytest.mark.parametrize('name', ARMS)
@settings(max_examples=EXAMPLES)
@given(seeds, ways)
def test_arm_at_rest_stays_where_it_is(name, seed, path):
    motion = motion_of(name, path=path)
    start_somewhere(name, motion, seed)
    motion.aim(goal(name, Part('near goal', seed), motion.q))
    record = Record(motion)
    record.rest()
    q = motion.q.copy()
    for _ in range(10):
        motion.step(DT)
        assert np.array_equal(motion.q, q)
        assert motion.is_at_rest


@pytest.mark.parametrize('name', ARMS)
@settings(max_examples=EXAMPLES)
@given(seeds, st.floats(0.0, 0.1))
@example(7784, 0.0)
def test_start_outside_the_limits_only_moves_inwards(name, seed, margin):
    motion, judge = motion_of(name), arm(name).judge
    rng = np.random.default_rng(seed)
    q = judge.random_configuration(rng)
    high, low = rng.random(len(q)) < 0.3, rng.random(len(q)) < 0.3
    q = np.where(high & np.isfinite(judge.upper), judge.upper + margin, q)
    q = np.where(low & np.isfinite(judge.lower), judge.lower - margin, q)
    motion.reset(q)
    motion.aim(judge.pose(judge.random_configuration(rng)))
    record = Record(motion)
    record.rest()
    ((_, q),) = record.arrays() or [((), np.array([q]))]
    outside = np.maximum(0.0, np.maximum(q - judge.upper, judge.lower - q))
    assert np.all(np.diff(outside, axis=0) <= 0.0)
    check_speeds(arm(name).limits, record)


@pytest.mark.long
@pytest.mark.parametrize('name', ARMS)
@settings(max_examples=EXAMPLES)
@given(parts(*KINDS), ways, seeds)
def test_same_goals_make_the_same_motion_bit_for_bit(name, parts, path, seed):
    def run():
        motion = motion_of(name, path=path)
        start_somewhere(name, motion, seed)
        return play(name, motion, parts, uneven_steps(seed)).runs

    for (_, q), (_, again) in zip(run(), run(), strict=True):
        assert np.array_equal(q, again)


@pytest.mark.parametrize('name', ARMS)
@settings(max_examples=EXAMPLES)
@given(seeds)
def test_path_joint_is_straight_in_joint_space(name, seed):
    motion = motion_of(name, path='joint')
    start_somewhere(name, motion, seed)
    motion.aim(goal(name, Part('goal at limits', seed + 1, 0.3), motion.q))
    record = Record(motion)
    record.rest()
    (_, q) = (np.array(part) for part in record.runs[0])
    way = q[-1] - q[0]
    assert np.abs(np.outer((q - q[0]) @ way, way) / (way @ way) - (q - q[0])).max() < 1e-6
    assert np.all(np.diff(q @ way) >= -1e-12), 'it never turns back'


@pytest.mark.parametrize('name', ARMS)
@settings(max_examples=EXAMPLES)
@given(seeds, shares)
@example(918, 1.0)
def test_from_rest_the_tip_keeps_to_the_line_and_to_its_speed(name, seed, share):
    """As long as the motion is on the line; where it says that it leaves it, that holds."""
    motion, judge, limits = motion_of(name), arm(name).judge, arm(name).limits
    rng = np.random.default_rng(seed)
    motion.reset(judge.random_configuration(rng))
    start = judge.pose(motion.q)
    T = goal(name, Part('near goal', seed + 1, share), motion.q)
    motion.aim(T)
    record = Record(motion)
    record.rest()
    times, q = (np.array(part) for part in record.runs[0])
    if any(isinstance(path, JointPath) for path in record.paths) or len(q) < 4:
        event('the line could not be left at once')
        return
    tips = np.array([judge.pose(row)[:3, 3] for row in q])
    nearest = motion.pursuit.resolved.solution
    end = T if nearest.converged else judge.pose(nearest.q)
    farthest = SWINGING if name in MAY_SWING else 5e-3
    assert distances_from_line(tips, start[:3, 3], end[:3, 3]).max() <= farthest
    speeds = np.linalg.norm(velocities(times, tips), axis=1)
    assert speeds.max() <= limits.tip_speed * 1.01 + 1e-6
