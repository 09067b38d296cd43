"""How long motions take, beside the shortest time by TOPP-RA along the same joint values."""

from fabrik_ros import load_urdf, SolverOptions
from fabrik_ros.kernels._jit import COMPILED
from fabrik_ros.motion.choosing.goal import MotionOptions
from fabrik_ros.motion.choosing.motion import Motion
from fabrik_ros.motion.limits.limits import MotionLimits
from helpers import examples, SIX_AXIS
from knotted_paths import DT, MAKERS, motion_along
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
