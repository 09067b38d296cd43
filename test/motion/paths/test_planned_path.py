"""
Laws of paths through knots: on the curve, within all limits, at rest exactly at the end.

The judge of commands counts what is faster or harder than allowed; pinocchio tells where tip and
joint centres are.

"""

import math

from command_judge import Bounds, CommandJudge
from drawing import random_numbers
from fabrik_ros import example_arm, load_urdf, SolverOptions
from fabrik_ros.kernels import curve
from fabrik_ros.kernels._jit import COMPILED
from fabrik_ros.motion.choosing.goal import Goal, MotionOptions
from fabrik_ros.motion.choosing.motion import Motion
from fabrik_ros.motion.limits.limits import MotionLimits
from fabrik_ros.motion.paths.planned_path import PlannedPath
from fabrik_ros.motion.paths.preview import PathChecker
from fabrik_ros.planning.pieces import finish
from helpers import assert_close, examples, PLANAR, stopped
from hypothesis import example, given, settings, strategies as st
import numpy as np
import pytest

pytest.importorskip('pinocchio', reason='pinocchio is the judge')

from knotted_paths import (
    DT,
    farthest_off,
    judge,
    limits_of,
    MAKERS,
    motion_along,
    OFF_CURVE,
    smooth_knots,
)  # fmt: skip

EXAMPLES = examples(9, 15) if COMPILED else 3
LONGEST = 6000 if COMPILED else 1500
"""Steps in which any of these paths is over."""
OFF_UNEVEN = 3e-3
"""... where steps are of very different lengths, and the last stage allows short ones less [m]."""
OFF_AVERAGED = 1e-3
"""... where the jerk is limited [m]."""


def drive(motion, steps=None, happens=None):
    """Step until the arm rests; return times and commands."""
    times, commands = [0.0], [motion.command[0]]
    for number in range(LONGEST):
        if happens is not None:
            happens(number)
        dt = DT if steps is None else steps[number % len(steps)]
        motion.step(dt)
        times.append(times[-1] + dt)
        commands.append(motion.command[0])
        if motion.is_at_rest:
            return np.array(times), np.array(commands)
    return pytest.fail(stopped(f'the arm never rests: {motion.path.share}'))


def assert_kept(motion, times, commands, limits=None):
    chain = motion.robot
    limits = limits or limits_of(len(chain))
    bounds = Bounds(
        chain.lower, chain.upper, limits.joint_velocity, limits.joint_acceleration,
        limits.tip_speed, limits.tip_rotation,
    )  # fmt: skip

    def frames(q):
        return judge().points(q), judge().pose(q)[None, :3, :3]

    commands_judge = CommandJudge(chain.joint_names, bounds, DT, frames, knows_states=False)
    for time, q in zip(times, commands, strict=True):
        commands_judge.check(chain.joint_names, round(1e9 * time), q.tolist())
    assert commands_judge.violation_count == 0, commands_judge.violations


made = st.sampled_from(sorted(MAKERS))


@settings(max_examples=EXAMPLES, deadline=None)
@given(seed=random_numbers(), kind=made)
def test_path_keeps_limits_and_curve_and_rests_at_its_end(seed, kind):
    knots = MAKERS[kind](np.random.default_rng(seed))
    motion = motion_along(knots)
    times, commands = drive(motion)
    np.testing.assert_allclose(commands[-1], knots[-1], atol=1e-9)
    assert motion.reason is None
    assert_kept(motion, times, commands)
    assert farthest_off(knots, commands) < OFF_CURVE


@pytest.mark.long
@settings(max_examples=EXAMPLES, deadline=None)
@given(
    seed=random_numbers(),
    kind=made,
    steps=st.lists(st.floats(0.005, 0.02), min_size=3, max_size=40),
)
def test_steps_of_any_length_keep_limits_and_curve(seed, kind, steps):
    knots = MAKERS[kind](np.random.default_rng(seed))
    motion = motion_along(knots)
    times, commands = drive(motion, steps)
    np.testing.assert_allclose(commands[-1], knots[-1], atol=1e-9)
    assert_kept(motion, times, commands)
    assert farthest_off(knots, commands) < OFF_UNEVEN


@settings(max_examples=EXAMPLES, deadline=None)
@given(
    seed=random_numbers(),
    kind=made,
    scalings=st.lists(
        st.tuples(st.integers(1, 60), st.sampled_from([0.0, 0.1, 0.5, 1.0])), max_size=6
    ),
)
@example(seed=0, kind='smooth', scalings=[(30, 0.0), (60, 1.0)])
def test_speed_scaling_holds_live_and_pauses(seed, kind, scalings):
    knots = MAKERS[kind](np.random.default_rng(seed))
    motion = motion_along(knots)
    due, at = {}, 0
    for wait, share in scalings:
        at += wait
        due[at] = share
    due[at + 60] = 1.0
    times, commands = drive(
        motion, None, lambda number: number in due and motion.scale_speed(due[number])
    )
    np.testing.assert_allclose(commands[-1], knots[-1], atol=1e-9)
    assert_kept(motion, times, commands)
    assert farthest_off(knots, commands) < OFF_CURVE


def test_pause_holds_the_arm_and_the_scale_its_speed():
    knots = smooth_knots(np.random.default_rng(3))
    motion = motion_along(knots)
    for _ in range(20):
        motion.step(DT)
    motion.scale_speed(0.0)
    for _ in range(100):
        motion.step(DT)
    assert np.abs(motion.velocity).max() < 1e-9
    assert not motion.is_at_rest
    motion.scale_speed(1.0)
    full = drive(motion)[0][-1]
    slow = motion_along(knots)
    slow.scale_speed(0.2)
    whole = drive(motion_along(knots))[0][-1]
    assert drive(slow)[0][-1] > 2.0 * whole
    assert full < whole


@settings(max_examples=EXAMPLES // 3, deadline=None)
@given(seed=random_numbers(), kind=made, stops=st.lists(st.integers(1, 100), max_size=4))
def test_limited_jerk_keeps_limits_and_goes_on_after_braking(seed, kind, stops):
    knots = MAKERS[kind](np.random.default_rng(seed))
    motion = motion_along(knots, jerk=50.0)

    def happens(number):
        if number in stops:
            motion.limiter.begin_to_brake()
            motion.path.lose_speed()

    times, commands = drive(motion, None, happens)
    np.testing.assert_allclose(commands[-1], knots[-1], atol=1e-9)
    assert_kept(motion, times, commands)
    if not stops:
        assert farthest_off(knots, commands) < OFF_AVERAGED


@settings(max_examples=EXAMPLES // 2, deadline=None)
@given(seed=random_numbers(), halts=st.lists(st.integers(1, 100), min_size=1, max_size=4))
def test_path_goes_on_from_where_steps_were_taken_back(seed, halts):
    knots = smooth_knots(np.random.default_rng(seed))
    motion = motion_along(knots)
    before = [motion.checkpoint()]
    for number in range(LONGEST):
        if motion.is_at_rest:
            break
        before.append(motion.checkpoint())
        motion.step(DT)
        if number in halts:
            motion.restore(before[max(0, len(before) - 3)])
            motion.halt()
            before = [motion.checkpoint()]
    assert motion.is_at_rest
    np.testing.assert_allclose(motion.q, knots[-1], atol=1e-9)


def test_joint_at_its_limit_leaves_it_and_comes_back():
    upper = judge().upper[4]
    t = np.linspace(0.0, math.pi, 80)[:, None]
    knots = np.repeat([[0.2, -0.5, 1.2, 0.3, 0.0, -0.4]], len(t), axis=0)
    knots[:, 0] += 0.5 * t[:, 0]
    knots[:, 4] = np.minimum(upper, upper - 0.3 * np.sin(2.0 * t[:, 0]))
    motion = motion_along(knots)
    times, commands = drive(motion)
    np.testing.assert_allclose(commands[-1], knots[-1], atol=1e-9)
    assert_kept(motion, times, commands)


def test_other_limits_are_kept_from_when_they_are_set():
    knots = smooth_knots(np.random.default_rng(5), 200)
    slower = limits_of(6, 0.05, 0.2)
    motion = motion_along(knots)
    for _ in range(20):
        motion.step(DT)
    motion.change(slower, SolverOptions(), MotionOptions())
    for _ in range(40):
        motion.step(DT)
    times, commands = drive(motion)
    assert_kept(motion, times, commands, slower)


def test_straight_polyline_takes_little_longer_than_a_joint_path():
    q, end = np.array([0.2, -0.5, 1.2, 0.3, 0.7, -0.4]), np.array([0.8, -0.3, 1.0, 0.1, 0.2, 0.3])
    knots = q + np.linspace(0.0, 1.0, 60)[:, None] * (end - q)
    along = drive(motion_along(knots))[0][-1]
    motion = motion_along(knots)
    motion.go_to(end)
    assert along < 1.1 * drive(motion)[0][-1]


def test_preview_tells_the_way_to_the_end():
    knots = smooth_knots(np.random.default_rng(7))
    motion = motion_along(knots)
    last = finish(PathChecker(motion.robot, motion.limiter.joints, None).look(motion.path.ahead()))
    assert last.share == 1.0
    assert last.reason is None
    np.testing.assert_allclose(last.q, knots[-1])
    assert last.duration <= drive(motion)[0][-1]


def test_path_of_no_length_has_arrived():
    q = np.array([0.2, -0.5, 1.2, 0.3, 0.7, -0.4])
    motion = motion_along([q, q])
    drive(motion)
    np.testing.assert_array_equal(motion.q, q)


def test_two_links_stretched_out_and_back():
    t = np.linspace(-0.4, 0.4, 81)
    knots = np.column_stack([0.3 - 0.4 * t, t])
    motion = motion_along(knots, urdf=PLANAR)
    drive(motion)
    np.testing.assert_allclose(motion.q, knots[-1], atol=1e-9)


def test_what_changes_while_the_path_is_looked_for_holds_on_it():
    """Through the aligned wrist; the arm is paused just before the path is known."""
    chain = load_urdf(example_arm('six_axis')).chain()
    start = np.array([0.3, -1.0, 1.4, -0.6, 0.7, 0.2])
    beyond = start * [1.0, 1.0, 1.0, 1.0, -1.0, 1.0]
    limits = MotionLimits(0.25, 1.0, 1.0, np.full(6, 1.5), np.full(6, 5.0))

    def look(pieces):
        motion = Motion(chain, limits, SolverOptions(), MotionOptions())
        motion.reset(start)
        motion.pursue(Goal.of(chain.tip_poses(beyond)))
        for number in range(pieces):
            motion.look(0.0, 0.0)
            if not motion.is_looking:
                return motion, number
        return motion, pieces

    motion, pieces = look(100_000)
    assert isinstance(motion.path, PlannedPath)
    motion, _ = look(pieces - 1)
    assert motion.path is None
    motion.scale_speed(0.0)
    motion.look(0.0)
    assert isinstance(motion.path, PlannedPath)
    for _ in range(50):
        motion.step(0.01)
    assert_close(motion.q, start, 1e-12)
    motion.scale_speed(1.0)
    while not motion.is_at_rest:
        motion.step(0.01)
    assert motion.reason is None


@pytest.mark.parametrize('count', [1, 2, 3])
def test_knots_that_are_all_the_same_are_a_path_that_has_arrived(count):
    q = np.array([0.1, 0.5, 0.6, 0.0, 0.6, 0.0])
    motion = motion_along([q] * count)
    _, commands = drive(motion)
    assert np.abs(np.array(commands) - q).max() == 0.0


@pytest.mark.parametrize('guess', [-3, 0, 1, 2, 9])
def test_place_and_speed_on_a_curve_are_the_same_wherever_the_search_begins(guess):
    places, knots = np.array([0.0, 1.0, 2.5, 4.0]), np.array([[0.0], [1.0], [2.5], [4.0]])
    grid = np.column_stack([np.linspace(0.0, 4.0, 9), np.linspace(2.0, 0.0, 9), np.ones(9)])
    limits, rows = np.array([[-9.0], [9.0], [2.0], [1.0]]), np.empty((6, 1))
    for at in (0.0, 0.3, 1.0, 1.7, 3.9):
        segment = curve.segment_at(places, at, guess)
        assert places[segment] <= at <= places[segment + 1]
        speeds = [
            curve.next_speed(
                limits, knots, np.ones((4, 1)), places, grid, at, 0.5, 0.1, 0.01, start, rows
            )
            for start in (guess, 0)
        ]
        assert speeds[0] == speeds[1]
