"""
Arms that nobody would build: axes, offsets and limits at random, slides among hinges.

A textbook judges: one transform after the other, in numpy.

"""

import math

from fabrik_ros import Chain, Solution
from fabrik_ros.kernels._jit import COMPILED
from fabrik_ros.transforms import Array, rotation_vector
from helpers import assert_close, Segment
import numpy as np
import pytest
from solving import chain_of, is_inside, pose_by_textbook, ROUNDING, solver_for, TOLERANCE

ARMS, TARGETS = (500, 4) if COMPILED else (20, 2)


def errors(arm: list[Segment], T: Array, q: Array) -> tuple[float, float]:
    """Distance [m] and angle [rad] from the tip to the target."""
    tip = pose_by_textbook(arm, q)
    turned = rotation_vector(tip[:3, :3].T @ T[:3, :3])
    return float(np.linalg.norm(tip[:3, 3] - T[:3, 3])), float(np.linalg.norm(turned))


def is_met(arm: list[Segment], mode: str, T: Array, q: Array) -> bool:
    apart, turned = errors(arm, T, q)
    return apart <= TOLERANCE + ROUNDING and (mode == 'position' or turned <= TOLERANCE + ROUNDING)


def random_arm(rng: np.random.Generator, joints: int, slides: float) -> list[Segment]:
    """Draw an arm; `slides` is the share of prismatic joints."""
    arm = []
    for _ in range(joints):
        kind = 'prismatic' if rng.random() < slides else 'revolute'
        width = rng.uniform(0.2, 0.6) if kind == 'prismatic' else rng.uniform(1.5, 6.0)
        middle = rng.uniform(-0.5, 0.5) * width
        arm.append(
            Segment(
                kind,
                rng.normal(size=3),
                rng.uniform(-0.3, 0.3, 3),
                rng.uniform(-math.pi, math.pi, 3),
                middle - 0.5 * width,
                middle + 0.5 * width,
            )
        )
    return [*arm, Segment('fixed', xyz=rng.uniform(-0.2, 0.2, 3))]


def check(arm: list[Segment], chain: Chain, mode: str, T: Array, solution: Solution) -> bool:
    """Assert that an answer is honest and legal; tell whether it is a solution."""
    apart, turned = errors(arm, T, solution.q)
    assert is_inside(chain, solution.q)
    assert_close(solution.position_error, apart, 1e-8)
    if mode == 'pose':
        assert_close(solution.orientation_error, turned, 1e-7)
    met = is_met(arm, mode, T, solution.q)
    assert met == solution.converged
    return met


@pytest.mark.parametrize(
    ('mode', 'joints', 'slides'),
    [
        pytest.param('pose', (6, 7), 0.0, marks=pytest.mark.long),
        ('pose', (7, 9), 0.2),
        pytest.param('position', (3, 9), 0.2, marks=pytest.mark.long),
    ],
)
def test_not_one_reachable_target_of_a_thousand_is_missed(mode, joints, slides):
    # The aim is 5 in 10 000; a sample of this size allows none.
    rng, missed = np.random.default_rng(12), 0
    for _ in range(ARMS):
        arm = random_arm(rng, rng.integers(*joints), slides)
        chain = chain_of(arm)
        solver = solver_for(chain, mode=mode, max_restarts=2000)
        for _ in range(TARGETS):
            T = pose_by_textbook(arm, chain.random_configuration(rng))
            missed += not check(arm, chain, mode, T, solver.solve(T))
    assert missed == 0


def long_arm(joints: int) -> list[Segment]:
    """Make links of 0.1 m whose hinges turn about z, y and x in turn."""
    axes = np.eye(3)[::-1]
    hinges = [
        Segment(axis=axes[i % 3], xyz=(0.1 if i else 0.0, 0.0, 0.02), lower=-1.5, upper=1.5)
        for i in range(joints)
    ]
    return [*hinges, Segment('fixed', xyz=(0.1, 0.0, 0.05))]


@pytest.mark.parametrize('polish', ['auto', 'never'])
class TestFromOneJointToAThousand:
    @pytest.mark.parametrize(
        'joints',
        [1, 2, 3, 50] + [200, pytest.param(1000, marks=pytest.mark.long)] * COMPILED,
    )
    def test_every_point_that_the_arm_can_touch_is_touched(self, joints, polish):
        arm, rng = long_arm(joints), np.random.default_rng(5)
        chain = chain_of(arm)
        solver = solver_for(chain, mode='position', polish=polish)
        for _ in range(20 if COMPILED else 2):
            T = pose_by_textbook(arm, chain.random_configuration(rng))
            seed = chain.random_configuration(rng)
            assert check(arm, chain, 'position', T, solver.solve(T))
            assert check(arm, chain, 'position', T, solver.solve(T, seed))

    @pytest.mark.parametrize('joints', [50, 200, 1000] if COMPILED else [50])
    def test_a_long_one_stretches_to_half_its_length_in_all_directions(self, joints, polish):
        arm, rng = long_arm(joints), np.random.default_rng(6)
        chain = chain_of(arm)
        solver = solver_for(chain, mode='position', polish=polish)
        for _ in range(20 if COMPILED else 2):
            T, direction = np.eye(4), rng.normal(size=3)
            T[:3, 3] = 0.05 * joints * direction / np.linalg.norm(direction)
            assert check(arm, chain, 'position', T, solver.solve(T))
