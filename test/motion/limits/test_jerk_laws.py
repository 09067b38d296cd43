"""
Laws of limited jerk: whatever is asked for and whenever, no joint is moved beyond its limits.

Nothing of the package is used to judge: velocity, acceleration and jerk are divided differences
over the steps, limits and poses are pinocchio's, distances are worked out by brute force.

"""

from dataclasses import replace
import math

from collision_models import planar_arm, planar_distance
from drawing import random_numbers
from fabrik_ros import load_urdf, SolverOptions
from fabrik_ros.collision import CollisionGuard, SelfCollision
from fabrik_ros.kernels._jit import COMPILED
from fabrik_ros.motion.choosing.goal import MotionOptions
from fabrik_ros.motion.choosing.motion import Motion
from fabrik_ros.motion.limits.limits import MotionLimits
from helpers import examples, mostly_long, SIX_AXIS, stopped, why
from hypothesis import given, settings, strategies as st
import numpy as np
import pytest

pytest.importorskip('ruckig', reason='ruckig plans the steps')
pytest.importorskip('pinocchio', reason='pinocchio is the judge')

from fabrik_ros.motion.limits.jerk_filter import JerkFilter
from judging import Judge
from trajectories import SplineController

EXAMPLES, LONGEST = (examples(12, 30), 60) if COMPILED else (2, 10)
DT, FASTEST, HARDEST = 0.01, 1.5, 5.0
SOLVER = SolverOptions(budget=math.inf, max_restarts=6)
ROUNDING = 1e-6


def limits_of(joints):
    return MotionLimits(0.25, 1.0, 1.0, np.full(joints, FASTEST), np.full(joints, HARDEST))


LIMITS = limits_of(6)

seeds = random_numbers()
jerks = st.sampled_from([20.0, 50.0, 500.0, 5000.0])
WAYS = ['auto', 'line', 'joint']
ways = st.sampled_from(WAYS)
WHAT = ['pose', 'pose', 'joint values', 'jog', 'stop', 'halt', 'pace', 'other limits']
parts = st.lists(
    st.tuples(st.sampled_from(WHAT), seeds, st.integers(1, LONGEST)), min_size=1, max_size=6
)


def even_steps(rng):
    return DT


def late_steps(rng):
    return DT * rng.choice([1.0, 1.0, rng.uniform(0.5, 1.5)])


def wild_steps(rng):
    """From a tenth of a millisecond to several periods."""
    return DT * rng.choice([1.0, 0.01, rng.uniform(0.01, 1.5), rng.uniform(1.5, 5.0)])


timings = st.sampled_from([even_steps, late_steps, wild_steps])


def limited_motion(jerk, path='line', **options):
    chain = load_urdf(SIX_AXIS).chain()
    limiter = jerk and JerkFilter(jerk, DT, chain.lower, chain.upper)
    return Motion(chain, LIMITS, SOLVER, MotionOptions(path), jerk_filter=limiter)


class Record:
    """All commands of a motion, in unbroken runs; it rests before each of them."""

    def __init__(self, motion, next_dt, seed):
        self.motion, self.judge = motion, Judge(SIX_AXIS, 'l0', 'l7')
        self._next_dt, self._rng = next_dt, np.random.default_rng((seed, 1))
        motion.reset(self.judge.random_configuration(self._rng))
        self.start_anew()

    def start_anew(self):
        if not hasattr(self, 'runs'):
            self.runs = []
        self.dt, self.q = [DT, DT, DT], [self.motion.command[0]] * 4
        self.runs.append((self.dt, self.q))

    def step(self):
        dt = self._next_dt(self._rng)
        self.motion.step(dt)
        self.dt.append(dt)
        self.q.append(self.motion.command[0])

    def ask(self, what, seed):
        motion, rng = self.motion, np.random.default_rng(seed)
        elsewhere = self.judge.random_configuration(rng)
        if what == 'pose':
            motion.aim(self.judge.pose(elsewhere))
        elif what == 'joint values':
            motion.go_to(elsewhere)
        elif what == 'jog':
            motion.jog(rng.normal(size=6) * 0.3, in_tip=bool(rng.random() < 0.5))
        elif what == 'stop':
            motion.stop(stopped('a test'))
        elif what == 'halt':
            motion.halt()
            self.start_anew()
        else:
            share = rng.uniform(0.2, 1.0)
            changes = {'speed_scaling': share if share > 0.4 else 0.0}
            if what == 'other limits':
                changes = {'joint_velocity': LIMITS.joint_velocity * share}
            motion.change(replace(LIMITS, **changes), SOLVER, motion.pursuit.options)

    def rest(self, steps=6000):
        motion = self.motion
        motion.change(LIMITS, SOLVER, motion.pursuit.options)
        motion.end_jog(0)
        for _ in range(steps):
            if motion.is_at_rest and not motion.is_looking:
                return
            self.step()
        pytest.fail(stopped(f'the arm never rests: {motion.path}, {motion.command}'))

    def rates(self):
        """Velocities, accelerations and jerks of all runs, each of shape (m, n)."""
        rates = [divided_differences(np.array(dt), np.array(q)) for dt, q in self.runs]
        return [np.vstack(column) for column in zip(*rates, strict=True)]

    def check(self, jerk):
        q = np.vstack([q for _, q in self.runs])
        assert np.all((self.judge.lower - 1e-9 <= q) & (q <= self.judge.upper + 1e-9))
        velocity, acceleration, jerks = (np.abs(rate).max() for rate in self.rates())
        assert velocity <= FASTEST + ROUNDING
        assert acceleration <= HARDEST * (1.0 + ROUNDING)
        # In a step of a tenth of a millisecond the last digit of a joint value is 1e-3 rad/s^3.
        assert jerks <= jerk * (1.0 + ROUNDING) + 0.02


def divided_differences(dt, q):
    """Thrice differences over the times of their middles: mean velocity, acceleration, jerk."""
    velocity = np.diff(q, axis=0) / dt[:, None]
    acceleration = np.diff(velocity, axis=0) / (0.5 * (dt[1:] + dt[:-1]))[:, None]
    spans = (dt[2:] + dt[1:-1] + dt[:-2]) / 3.0
    return velocity, acceleration, np.diff(acceleration, axis=0) / spans[:, None]


def play(motion, parts, next_dt, seed):
    record = Record(motion, next_dt, seed)
    for what, part_seed, steps in parts:
        record.ask(what, part_seed)
        for _ in range(steps):
            record.step()
    return record


@pytest.mark.parametrize('path', mostly_long(WAYS, 'auto'))
@settings(max_examples=EXAMPLES)
@given(parts, jerks, timings, seeds)
def test_limits_hold_whatever_is_asked_for_however_uneven_the_steps_are(
    path, parts, jerk, next_dt, seed
):
    record = play(limited_motion(jerk, path), parts, next_dt, seed)
    record.rest()
    record.check(jerk)


@settings(max_examples=EXAMPLES)
@given(parts, jerks, ways, timings, seeds)
def test_stop_takes_no_longer_than_the_limits_ask_for_and_goes_where_the_ramp_said(
    parts, jerk, path, next_dt, seed
):
    """From full speed and full acceleration that away: a / j, v / a and once more a / j."""
    record = play(limited_motion(jerk, path), parts, next_dt, seed)
    motion = record.motion
    motion.stop(stopped('enough'))
    steps, ramp = len(record.dt), motion.limiter.stop_trajectory()
    # The points before the last command, at the time 0, are those of earlier steps.
    times = ramp.times + 1e-9
    points = [row for row in zip(times, ramp.q, ramp.velocity, strict=True) if row[0] > 0.0]
    promised = SplineController(points[0][1])
    promised.take(0.0, points)
    while not motion.is_at_rest:
        record.step()
        now = sum(record.dt[steps:])
        assert np.abs(record.q[-1] - promised.state(now)[0]).max() < 1e-6
        begun = now - record.dt[-1]
        assert begun <= FASTEST / HARDEST + 2.0 * HARDEST / jerk
    assert np.abs(motion.command[0] - ramp.q[-1]).max() < 1e-9
    record.check(jerk)


@pytest.mark.long
@settings(max_examples=EXAMPLES)
@given(jerks, ways, st.sampled_from([even_steps, late_steps]), seeds)
def test_arm_comes_to_rest_where_the_motion_does_and_is_still(jerk, path, next_dt, seed):
    record = Record(limited_motion(jerk, path), next_dt, seed)
    record.ask('joint values', seed)
    goal = record.judge.random_configuration(np.random.default_rng(seed))
    for _ in range(6000):
        record.step()
        if record.motion.is_at_rest:
            break
    q, velocity = record.motion.command
    assert np.abs(q - goal).max() <= 2e-9
    assert not np.any(velocity)
    way = np.array(record.q)
    past = (way - goal) * np.sign(goal - way[0])
    assert past.max() <= 5e-4
    for _ in range(50):
        record.motion.rest(DT)
        record.step()
    assert np.std(record.q[-50:], axis=0).max() <= 1e-12
    record.check(jerk)


@pytest.mark.long
@settings(max_examples=EXAMPLES)
@given(ways, seeds)
def test_huge_jerk_changes_next_to_nothing(path, seed):
    """The commands are those of the motion alone, one step later."""
    limited, free = limited_motion(1e6, path), limited_motion(None, path)
    records = [Record(motion, even_steps, seed) for motion in (limited, free)]
    free.change(limited.limits, SOLVER, free.pursuit.options)
    for record in records:
        record.ask('pose', seed)
        for _ in range(60):
            record.step()
    gaps = np.abs(np.array(records[0].q[1:]) - np.array(records[1].q[:-1]))
    assert gaps.max() <= HARDEST * DT * DT


class Ghost:
    """A motion that goes anywhere at once."""

    def __init__(self, jerk, seed):
        self.lower, self.upper = np.array([-1.0, -0.1]), np.array([1.0, 2.0])
        self.limiter = JerkFilter(jerk, DT, self.lower, self.upper)
        self.limiter.change_limits(limits_of(2))
        self.rng = np.random.default_rng(seed)
        self.limiter.reset(self.rng.uniform(self.lower, self.upper))

    def haunt(self, next_dt, steps):
        """Go about; the steps and the commands."""
        limiter, dts, commands = self.limiter, [DT, DT, DT], [self.limiter.q] * 4
        wanted = limiter.q
        for _ in range(steps):
            if self.rng.random() < 0.05:
                within = self.rng.uniform(self.lower, self.upper, (1, 2))
                wanted = self.rng.choice(np.vstack([self.lower, self.upper, within]))
            dts.append(next_dt(self.rng))
            step = None if limiter.is_braking else limiter.plan(wanted, dts[-1])
            if step is not None:
                limiter.take(step)
            else:
                limiter.begin_to_brake()
                limiter.brake(dts[-1])
            commands.append(limiter.q)
        return np.array(dts), np.array(commands)


@settings(max_examples=EXAMPLES)
@given(jerks, timings, seeds)
def test_limits_hold_even_if_the_motion_keeps_to_none(jerk, next_dt, seed):
    ghost = Ghost(jerk, seed)
    dt, q = ghost.haunt(next_dt, 200)
    velocity, acceleration, jerks = (np.abs(r).max() for r in divided_differences(dt, q))
    assert np.all((ghost.lower - 1e-9 <= q) & (q <= ghost.upper + 1e-9))
    assert velocity <= FASTEST + ROUNDING
    assert acceleration <= HARDEST * (1.0 + ROUNDING)
    assert jerks <= jerk * (1.0 + ROUNDING) + 0.02


@pytest.mark.long
@settings(max_examples=EXAMPLES)
@given(jerks, timings, seeds)
def test_joint_that_starts_outside_its_limits_comes_in_and_never_goes_farther_out(
    jerk, next_dt, seed
):
    record = Record(limited_motion(jerk), next_dt, seed)
    motion, judge, rng = record.motion, record.judge, np.random.default_rng(seed)
    start = judge.upper + rng.uniform(0.0, 0.1, 6)
    start[5] = 0.0
    motion.reset(start)
    record.runs.clear()
    record.start_anew()
    record.ask('joint values', seed)
    record.rest()
    q = np.array(record.q)
    outside = np.maximum(q - judge.upper, 0.0)
    assert np.diff(outside, axis=0).max() <= 1e-9
    assert not np.any(outside[-1])
    velocity, acceleration, jerks = (np.abs(rate).max() for rate in record.rates())
    assert velocity <= FASTEST + ROUNDING
    assert acceleration <= HARDEST * (1.0 + ROUNDING)
    assert jerks <= jerk * (1.0 + ROUNDING) + 0.02


class Planar:
    """Four links that swing freely in a plane and would hit each other all the time."""

    def __init__(self, jerk, seed):
        pytest.importorskip('coal', reason='coal measures the distances')
        robot = load_urdf(planar_arm(4).replace('revolute', 'continuous'))
        arm = robot.chain('l0', robot.links[-1])
        collision = SelfCollision(robot, arm)
        self.clearance = collision.clearance
        self.motion = Motion(
            arm,
            replace(limits_of(4), tip_speed=100.0, tip_rotation=100.0),
            replace(SOLVER, mode='position'),
            MotionOptions('joint'),
            guard=CollisionGuard(collision),
            jerk_filter=JerkFilter(jerk, DT, arm.lower, arm.upper),
        )
        self.rng, self.stops = np.random.default_rng(seed), 0
        self.motion.reset(self.configuration(free=True))

    def configuration(self, free):
        while True:
            q = self.rng.uniform(-2.9, 2.9, 4)
            if (planar_distance(q) > 0.004) == free:
                return q

    def swing(self, next_dt, steps):
        """Yield the distance of the nearest links at each command."""
        for _ in range(steps):
            resting = self.motion.is_at_rest
            if resting or self.rng.random() < 0.003:
                self.stops += resting and why(self.motion).startswith('collision ahead')
                self.motion.go_to(self.configuration(free=self.rng.random() < 0.3))
            self.motion.step(next_dt(self.rng))
            yield planar_distance(self.motion.command[0])


@pytest.mark.long
@settings(max_examples=EXAMPLES)
@given(jerks, timings, seeds)
def test_arm_whose_jerk_is_limited_never_comes_near_itself(jerk, next_dt, seed):
    arm = Planar(jerk, seed)
    assert min(arm.swing(next_dt, 300)) > arm.clearance - 1e-5


@pytest.mark.parametrize('jerk', [50.0, pytest.param(500.0, marks=pytest.mark.long)])
def test_such_an_arm_does_get_stopped_near_itself_and_goes_on(jerk):
    arms = [Planar(jerk, seed) for seed in (1, 2, 3)]
    for arm in arms:
        assert arm.clearance < min(arm.swing(even_steps, 2000)) < 0.05
    assert all(arm.stops for arm in arms)
    assert sum(arm.stops for arm in arms) >= 3 * len(arms)
