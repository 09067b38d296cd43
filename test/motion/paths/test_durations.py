"""How long motions take, beside the shortest time by TOPP-RA along the same joint values."""

import math

from fabrik_ros import load_urdf, SolverOptions
from fabrik_ros.kernels._jit import COMPILED
from fabrik_ros.motion.choosing.goal import Goal, MotionOptions
from fabrik_ros.motion.choosing.motion import Motion
from fabrik_ros.motion.limits.limits import MotionLimits
from fabrik_ros.motion.paths.reference_path import LinePath
from fabrik_ros.planning.rounding import rounded
from fabrik_ros.transforms import rotation_from_vector
from helpers import examples, SIX_AXIS
from knotted_paths import DT, judge, MAKERS, motion_along
import numpy as np
import pytest

toppra = pytest.importorskip('toppra', reason='toppra is the judge')

COUNT = examples(12, 40) if COMPILED else 3
MEDIAN, WORST = 1.1, 1.25
"""Greatest durations, in shortest ones [1]."""
LONGEST = 3000
FASTEST, HARDEST = np.full(6, 1.5), np.full(6, 5.0)
WIDE = MotionLimits(9.0, 30.0, 90.0, FASTEST, HARDEST)
"""Tips may do what joints can."""
TIP_SPEED, TIP_ROTATION, TIP_ACCELERATION = 0.25, 1.0, 1.0
APART = 0.01
"""Joint values on a line that are nearer to each other count once [rad]."""
LEAST_GAIN = 0.1
"""Smallest singular value of the Jacobian on lines that no singularity is near [m or 1]."""
LONGEST_LINE, MOST_TURNED = 0.3, math.radians(45.0)
LINES_MEDIAN, LINES_WORST = 1.16, 1.25
"""Greatest durations of lines, which keep a reserve to brake with, in shortest ones [1]."""
WITH_TIP_LIMITS = 1.15
"""Greatest median of durations of lines, in shortest ones with the limits of the tip [1]."""


def driven(motion):
    """Go on until the arm rests; return the joint values that it was told."""
    told = [motion.command[0]]
    while not motion.is_at_rest:
        motion.step(DT)
        told.append(motion.command[0])
        assert len(told) < LONGEST
    return np.array(told)


def shortest(q):
    """Find the shortest time along a curve through joint values, shape (m, n)."""
    lengths = np.linalg.norm(np.diff(q, axis=0), axis=1)
    q = q[np.append(True, lengths > 1e-6)]
    places = np.append(0.0, np.cumsum(np.linalg.norm(np.diff(q, axis=0), axis=1)))
    limits = toppra.constraint
    constraints = [
        limits.JointVelocityConstraint(np.column_stack([-FASTEST, FASTEST])),
        limits.JointAccelerationConstraint(
            np.column_stack([-HARDEST, HARDEST]),
            discretization_scheme=limits.DiscretizationType.Interpolation,
        ),
    ]
    path = toppra.SplineInterpolator(places, q)
    grid = np.linspace(0.0, places[-1], 1000)
    found = toppra.algorithm.TOPPRA(constraints, path, grid, solver_wrapper='seidel')
    return found.compute_trajectory().duration


def assert_short(ratios):
    assert np.median(ratios) <= MEDIAN, ratios
    assert np.max(ratios) <= WORST, ratios


def test_planned_paths_take_little_longer_than_they_need():
    ratios = []
    for seed in range(COUNT):
        knots = MAKERS['smooth'](np.random.default_rng(seed))
        told = driven(motion_along(knots, WIDE))
        ratios.append(DT * (len(told) - 1) / shortest(knots))
    assert_short(ratios)


def test_paths_with_rounded_corners_take_little_longer_than_they_need():
    """Gentle ones: a curve through knots that are far apart and then close together is slow."""
    chain, ratios = load_urdf(SIX_AXIS).chain(), []
    for seed in range(COUNT):
        rng = np.random.default_rng(seed)
        steps = 0.3 * rng.uniform(-1.0, 1.0, (3, len(chain)))
        corners = 0.3 * chain.random_configuration(rng) + np.cumsum(
            [0.0 * steps[0], *steps], axis=0
        )
        knots = rounded(list(corners), lambda knots: True, chain.size)
        told = driven(motion_along(knots, WIDE))
        ratios.append(DT * (len(told) - 1) / shortest(knots))
    assert_short(ratios)


def test_joint_moves_take_little_longer_than_they_need():
    chain, rng, ratios = load_urdf(SIX_AXIS).chain(), np.random.default_rng(1), []
    for _ in range(COUNT):
        start, end = chain.random_configuration(rng), chain.random_configuration(rng)
        end = start + rng.uniform(0.1, 1.0) * (end - start)
        motion = Motion(chain, WIDE, SolverOptions(), MotionOptions())
        motion.reset(start)
        motion.go_to(end)
        told = driven(motion)
        straight = start + np.linspace(0.0, 1.0, 30)[:, None] * (end - start)
        ratios.append(DT * (len(told) - 1) / shortest(straight))
    assert_short(ratios)


def lines(limits):
    """Drive random lines that no singularity is near; yield length, angle and what was told."""
    chain, rng, count = load_urdf(SIX_AXIS).chain(), np.random.default_rng(5), 0
    while count < COUNT:
        motion = Motion(chain, limits, SolverOptions(), MotionOptions(path='line'))
        q = chain.random_configuration(rng)
        length, angle = rng.uniform(0.0, LONGEST_LINE), rng.uniform(0.0, MOST_TURNED)
        way, axis = (vector / np.linalg.norm(vector) for vector in rng.normal(size=(2, 3)))
        T = chain.tip_poses(q)
        T[0, :3, 3] += length * way
        T[0, :3, :3] = rotation_from_vector(angle * axis) @ T[0, :3, :3]
        motion.reset(q)
        motion.pursue(Goal.of(T))
        motion.look(DT)
        is_line = motion.found is not None and isinstance(motion.found.path, LinePath)
        told = driven(motion)
        gain = min(judge().least_gain(q) for q in told)
        if is_line and motion.is_at_goal and gain > LEAST_GAIN:
            count += 1
            yield length, angle, told


def sparse(q):
    """Leave out joint values that are nearly the last ones; the end stays."""
    kept = [0]
    for i in range(1, len(q) - 1):
        if np.linalg.norm(q[i] - q[kept[-1]]) > APART < np.linalg.norm(q[i] - q[-1]):
            kept.append(i)
    return q[[*kept, -1]]


def test_lines_take_little_longer_than_joints_need():
    ratios = [DT * (len(told) - 1) / shortest(sparse(told)) for *_, told in lines(WIDE)]
    assert np.median(ratios) <= LINES_MEDIAN, ratios
    assert np.max(ratios) <= LINES_WORST, ratios


def test_lines_take_little_longer_than_joints_and_tips_need():
    limits = MotionLimits(TIP_SPEED, TIP_ROTATION, TIP_ACCELERATION, FASTEST, HARDEST)
    ratios, gain = [], TIP_ACCELERATION / TIP_SPEED
    for length, angle, told in lines(limits):
        way = max(length / TIP_SPEED, angle / TIP_ROTATION)
        by_tip = way + 1.0 / gain if way * gain > 1.0 else 2.0 * math.sqrt(way / gain)
        ratios.append(DT * (len(told) - 1) / max(by_tip, shortest(sparse(told))))
    assert np.median(ratios) <= WITH_TIP_LIMITS, ratios
