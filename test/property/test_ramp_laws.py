"""Laws of the way to rest, and of what a trajectory controller makes of a stream of such ways."""

import itertools

from fabrik_ros import load_urdf, SolverOptions
from fabrik_ros.governor import CommandGovernor
from fabrik_ros.jerk import JerkLimiter
from fabrik_ros.kernels._jit import COMPILED
from fabrik_ros.motion import Motion, MotionOptions, Phase
from fabrik_ros.ramp import ramp_to_rest
from fabrik_ros.reference import MotionLimits
from fabrik_ros.ros.timing import CommandClock
from helpers import SIX_AXIS
from hypothesis import example, given, settings, strategies as st
from judging import accelerations, runs
import numpy as np
import pytest
from trajectories import SplineController

DT, LAG = 0.01, 2.5
FASTEST, HARDEST = 1.5, 5.0
JOINTS = 3
speeds = st.lists(st.floats(-2.0, 2.0), min_size=JOINTS, max_size=JOINTS).map(np.array)
shares = st.lists(st.floats(0.0, 1.0), min_size=JOINTS, max_size=JOINTS).map(np.array)
strengths = st.lists(st.floats(0.5, 20.0), min_size=JOINTS, max_size=JOINTS).map(np.array)


def ramp_before_limits(velocity, share, strength):
    """Begin a ramp from 0 where each joint may be as near to a limit as it can still stop."""
    nearest = velocity**2 / (2.0 * strength)
    limit = nearest + 3.0 * share * share
    return ramp_to_rest(np.zeros(JOINTS), velocity, strength, -limit, limit), limit


@given(speeds, shares, strengths)
def test_ramp_ends_at_rest_in_time_and_inside_the_limits(velocity, share, strength):
    ramp, limit = ramp_before_limits(velocity, share, strength)
    assert ramp.times[0] == 0.0
    assert np.all(np.diff(ramp.times) >= 0.9e-6)
    assert not np.any(ramp.velocity[-1])
    assert ramp.times[-1] <= np.max(np.abs(velocity) / strength) + 1.1e-6
    assert np.all(np.abs(ramp.q) <= limit + 1e-12)
    assert np.array_equal(ramp.q[0], np.zeros(JOINTS))


@given(speeds, shares, strengths)
def test_ramp_brakes_evenly_and_no_harder_than_allowed(velocity, share, strength):
    """Between two points the mean of the velocities covers the way: an even change."""
    ramp, _ = ramp_before_limits(velocity, share, strength)
    assert np.abs(ramp.velocity[0] - velocity).max() <= 2.5e-6 * strength.max()
    for i, j in itertools.pairwise(range(len(ramp.times))):
        dt = ramp.times[j] - ramp.times[i]
        change = np.abs(ramp.velocity[j] - ramp.velocity[i])
        assert np.all(change <= strength * (dt + 2.5e-6))
        covered = 0.5 * (ramp.velocity[i] + ramp.velocity[j]) * dt
        assert np.allclose(ramp.q[j] - ramp.q[i], covered, rtol=0.0, atol=1e-11)
        assert np.all(ramp.velocity[i] * ramp.velocity[j] >= 0.0), 'no joint turns back'


def test_ramp_of_rest_is_one_point():
    ramp = ramp_to_rest(np.ones(2), np.zeros(2), np.ones(2), -np.ones(2), np.ones(2))
    assert ramp.times.tolist() == [0.0]
    assert ramp.q.tolist() == [[1.0, 1.0]]
    assert ramp.velocity.tolist() == [[0.0, 0.0]]


def test_joint_outside_its_limits_comes_in():
    ramp = ramp_to_rest(
        np.array([1.05]), np.array([-0.5]), np.array([5.0]), -np.ones(1), np.ones(1)
    )
    assert ramp.q[-1, 0] == pytest.approx(1.05 - 0.5 * 0.5 / (2.0 * 5.0), abs=1e-6)


def points_of(ramp, late=0.0):
    times = LAG * DT - late + ramp.times
    assert np.all(np.diff(times) >= 0.9e-6), 'else a controller refuses it'
    rows = [row for row in zip(times, ramp.q, ramp.velocity, strict=True) if row[0] > 0.0]
    return rows or [(1e-6, ramp.q[-1], ramp.velocity[-1])]


def make_limits():
    return MotionLimits(0.25, 1.0, 1.0, np.full(6, FASTEST), np.full(6, HARDEST))


def make_motion(path, seed, jerk=0.0):
    chain = load_urdf(SIX_AXIS).chain()
    motion = Motion(
        chain,
        make_limits(),
        SolverOptions(budget=float('inf'), max_restarts=6),
        MotionOptions(path=path, allow_reconfiguration=True),
        limiter=JerkLimiter(jerk, DT, chain.lower, chain.upper) if jerk else None,
    )
    motion.reset(chain.random_configuration(np.random.default_rng(seed)))
    return chain, motion


@settings(max_examples=30 if COMPILED else 2)
@given(
    st.lists(st.tuples(st.integers(0, 2**32 - 1), st.integers(1, 60)), min_size=1, max_size=5),
    st.sampled_from(['line', 'joint']),
)
def test_controller_that_takes_a_trajectory_each_period_moves_within_the_limits(parts, path):
    """Sampled ten times a period, by differences; and it arrives where the commands do."""
    chain, motion = make_motion(path, parts[0][0])
    controller, wanted, now = SplineController(motion.q), [], 0.0

    def step():
        nonlocal now
        motion.step(DT)
        controller.take(now, points_of(motion.ramp()))
        wanted.extend(controller.state(now + 0.1 * i * DT)[0] for i in range(10))
        now += DT

    for seed, steps in parts:
        elsewhere = chain.random_configuration(np.random.default_rng(seed))
        motion.aim(chain.forward_kinematics(elsewhere))
        for _ in range(steps):
            step()
    # All that was said last is where it stops.
    now += 1.0
    assert not np.any(controller.state(now)[1])
    end = controller.state(now)[0]
    assert np.all((chain.lower - 1e-12 <= end) & (end <= chain.upper + 1e-12))
    now -= 1.0
    while motion.phase is not Phase.RESTING:
        step()
    for _ in range(3):
        step()
    assert np.abs(wanted[-1] - motion.q).max() < 1e-9
    wanted = np.array(wanted)
    speed = np.diff(wanted, axis=0) / (0.1 * DT)
    assert np.abs(speed).max() <= FASTEST * (1.0 + 1e-6)
    harder = np.abs(np.diff(speed, axis=0)).max() / (0.1 * DT)
    assert harder <= HARDEST * (1.0 + 1e-3)


LATENESS = st.one_of(st.floats(0.0, 0.5), st.floats(0.5, 3.0), st.floats(3.0, 60.0))
LATE_RUNS = (
    st.integers(0, 2**32 - 1),
    st.lists(LATENESS, min_size=3, max_size=12),
    st.integers(2, 30),
    st.sampled_from(['line', 'joint']),
)
"""Seed, by how many periods ticks are late, how many in time come after each, and the path."""


@settings(max_examples=150 if COMPILED else 3)
@given(*LATE_RUNS)
def test_controller_moves_within_the_limits_however_late_the_ticks_are(seed, lateness, even, path):
    """Ticks come late by some periods, again and again, and then in time; as the node has it."""
    wanted, commands = play_late(*make_motion(path, seed), seed, lateness, even)
    speed = np.diff(wanted, axis=0) / 1e-3
    assert np.abs(speed).max() <= FASTEST * (1.0 + 1e-6)
    assert np.abs(np.diff(speed, axis=0)).max() / 1e-3 <= HARDEST * (1.0 + 1e-3)
    check_commands(commands)


@settings(max_examples=50 if COMPILED else 2)
@given(*LATE_RUNS, st.sampled_from([20.0, 50.0, 500.0]))
def test_controller_keeps_the_jerk_too_however_late_the_ticks_are(
    seed, lateness, even, path, jerk
):
    pytest.importorskip('ruckig', reason='ruckig plans the steps')
    wanted, commands = play_late(*make_motion(path, seed, jerk), seed, lateness, even)
    speed = np.diff(wanted, axis=0) / 1e-3
    acceleration = np.diff(speed, axis=0) / 1e-3
    assert np.abs(speed).max() <= FASTEST * (1.0 + 1e-6)
    assert np.abs(acceleration).max() <= HARDEST * (1.0 + 1e-3)
    # Times are told to a microsecond, over which an acceleration may change.
    assert np.abs(np.diff(acceleration, axis=0)).max() / 1e-3 <= jerk * (1.0 + 1e-2)
    check_commands(commands)


def check_commands(commands):
    times, q = (np.array(column) for column in zip(*commands, strict=True))
    for run in runs(times, q, 10.0 * DT):
        assert np.abs(accelerations(*run)).max(initial=0.0) <= HARDEST * (1.0 + 1e-4)


def play_late(chain, motion, seed, lateness, even):
    """Return what a controller wants each millisecond, shape (m, n), and commands with stamps."""
    controller, clock = SplineController(motion.command[0]), CommandClock(DT)
    rng, now, wanted, commands = np.random.default_rng(seed), 0, [], []

    def step():
        passed = clock.since_last(now)
        stamp, dt = clock.next(now)
        move = motion.rest if motion.phase is Phase.RESTING else motion.step
        move(motion.rejoin(passed, LAG * DT, DT, dt))
        controller.take(1e-9 * now, points_of(motion.ramp(), 1e-9 * (now - stamp)))
        commands.append((1e-9 * stamp, motion.command[0]))

    for late in (part for part in lateness for part in [part, *even * [0.0]]):
        if motion.phase is Phase.RESTING:
            motion.aim(chain.forward_kinematics(chain.random_configuration(rng)))
        elif rng.random() < 0.05:
            motion.stop('a test')
        step()
        end = (clock.last if clock.last else now) + round((1.0 + late) * DT * 1e9)
        wanted += [controller.state(1e-9 * t)[0] for t in np.arange(now, end, 1_000_000)]
        now += len(np.arange(now, end, 1_000_000)) * 1_000_000
    return np.array(wanted), commands


@settings(max_examples=300 if COMPILED else 20)
@given(
    st.lists(st.floats(-1.0, 1.0), min_size=1, max_size=3),
    st.floats(1.51, 5.0),
    st.sampled_from([1.0, -1.0]),
)
@example([0.5], 2.0, 1.0)
def test_joint_sets_out_again_no_harder_than_it_may_after_a_late_tick(changes, passed, way):
    """It moves a little, perhaps comes to rest while the tick is late, and is wanted far away."""
    chain = load_urdf(SIX_AXIS).chain()
    governor = CommandGovernor(chain, make_limits())
    governor.reset(chain.mid_configuration())
    now, wanted, commands = 0.0, np.zeros(6), [(-DT, governor.q), (0.0, governor.q)]
    for change in changes:
        now, wanted = now + DT, wanted + change * HARDEST * DT
        governor.begin_step(DT)
        assert governor.go(wanted, DT)
        commands.append((now, governor.q))
    now += passed * DT
    assert governor.rejoin(passed * DT, LAG * DT, DT, passed * DT) == DT
    for _ in range(3):
        governor.begin_step(DT)
        assert governor.go(np.full(6, way * FASTEST), DT)
        commands.append((now, governor.q))
        now += DT
    times, q = (np.array(column) for column in zip(*commands, strict=True))
    assert np.abs(accelerations(times, q)).max() <= HARDEST * (1.0 + 1e-6)
