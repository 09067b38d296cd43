"""Limits are blamed for a target only where no longer search reaches it."""

import math

from fabrik_ros import FabrikSolver, load_urdf, make_solver, SolverOptions, Status, TreeSolver
from helpers import mostly_long, Segment, serial_xml
import numpy as np
import pytest

ARMS, TARGETS = 40, 6
LONG = SolverOptions(mode='pose', max_restarts=2000, budget=math.inf)


def random_arm(rng, joints, widest):
    """Write an arm whose limits leave it ranges of up to twice the widest [rad]."""
    segments = []
    for _ in range(joints):
        middle, half = rng.uniform(-1.0, 1.0), rng.uniform(0.2, 1.0) * widest
        is_slide = rng.random() < 0.1
        segments.append(
            Segment(
                'prismatic' if is_slide else 'revolute',
                xyz=tuple(rng.uniform(-0.4, 0.4, 3)),
                rpy=tuple(rng.uniform(-3.0, 3.0, 3) * (rng.random() < 0.5)),
                axis=tuple(np.eye(3)[rng.integers(3)]),
                lower=middle - half * (0.2 if is_slide else 1.0),
                upper=middle + half * (0.2 if is_slide else 1.0),
            )
        )
    segments.append(Segment('fixed', xyz=(0.1, 0.0, 0.15)))
    return load_urdf(serial_xml(segments))


def targets_of(rng, chain):
    """Draw poses, of which every second one can be reached."""
    for number in range(TARGETS):
        T = chain.forward_kinematics(chain.random_configuration(rng))
        if number % 2:
            T[:3, 3] += 0.1 * rng.normal(size=3)
        yield T, number % 2 == 0


@pytest.mark.parametrize('restarts', [0, 3, 30, 300])
@pytest.mark.parametrize('joints', mostly_long(range(1, 8), 1, 2, 3, 6))
def test_no_longer_search_reaches_what_limits_are_blamed_for(joints, restarts):
    rng = np.random.default_rng(100 * joints + restarts)
    for _ in range(ARMS):
        robot = random_arm(rng, joints, rng.choice([0.5, 1.5, 3.1]))
        chain = robot.chain('l0', robot.links[-1])
        tree = robot.tree('l0', [robot.links[-1]])
        options = SolverOptions(mode='pose', max_restarts=restarts, budget=math.inf)
        one, several = FabrikSolver(chain, options), TreeSolver(tree, options)
        longer = FabrikSolver(chain, LONG)
        for T, is_reachable in targets_of(rng, chain):
            statuses = one.solve(T).status, several.solve(T[None]).status
            if Status.BLOCKED_BY_LIMITS not in statuses:
                continue
            assert not is_reachable
            for _ in range(2):
                assert not longer.solve(T, chain.random_configuration(rng))


@pytest.mark.parametrize('method', ['articulated', 'points'])
def test_a_search_that_was_cut_short_blames_no_limits(method):
    rng = np.random.default_rng(1)
    for _ in range(ARMS):
        robot = random_arm(rng, 6, 2.0)
        chain = robot.chain('l0', robot.links[-1])
        solver = make_solver(chain, SolverOptions(mode='pose', method=method, budget=1e-9))
        for T, is_reachable in targets_of(rng, chain):
            solution = solver.solve(T)
            assert not (is_reachable and solution.status is Status.BLOCKED_BY_LIMITS)
