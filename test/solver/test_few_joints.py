"""
Mode 'auto' with fewer than six joints: exact where that can be, else the best orientation.

A textbook and a general optimiser judge, which share nothing with the solver.

"""

import math

from fabrik_ros.kernels._jit import COMPILED
from fabrik_ros.solver.solution import EQUALLY_TURNED
from fabrik_ros.transforms import Array, rotation_from_vector, rotation_vector, transform
import numpy as np
import pytest
from solver.test_random_arms import errors, random_arm
from solving import chain_of, judged, pose_by_textbook, solver_for

ARMS, POSES = (100, 10) if COMPILED else (6, 3)
MEANT = 1e-3
"""Orientations that differ less are equally good to the optimiser [rad]."""


def arms(count: int, seed: int):
    """Draw arms of three to five joints, as lists of segments with their chains."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        arm = random_arm(rng, rng.integers(3, 6), 0.15)
        yield arm, chain_of(arm), rng


def check_that_what_can_be_met_is_met(count: int, seed: int) -> None:
    for arm, chain, rng in arms(count, seed):
        solver = solver_for(chain)
        for k in range(POSES):
            T = chain.forward_kinematics(chain.random_configuration(rng))
            begin = chain.random_configuration(rng) if k % 2 else None
            solution = solver.solve(T, begin)
            apart, turned = errors(arm, T, solution.q)
            assert solution.converged
            assert apart <= 1.001e-6
            assert turned <= 1.001e-6


def test_a_pose_that_can_be_met_is_met():
    check_that_what_can_be_met_is_met(ARMS, 1)


@pytest.mark.long
def test_ten_thousand_poses_that_can_be_met_are_met():
    check_that_what_can_be_met_is_met(10_000 // POSES, 2)


def best_turned(arm, chain, T: Array, rng: np.random.Generator, starts: int) -> float:
    """Search for the least angle at the position of a pose, by a general optimiser."""
    optimize = pytest.importorskip('scipy.optimize')

    def turn(q: Array) -> float:
        R = pose_by_textbook(arm, q)[:3, :3]
        return float(np.sum(rotation_vector(R.T @ T[:3, :3]) ** 2))

    def gap(q: Array) -> Array:
        return 10.0 * (pose_by_textbook(arm, q)[:3, 3] - T[:3, 3])

    best, bounds = math.inf, np.transpose(chain.finite_limits())
    for _ in range(starts):
        found = optimize.minimize(
            turn, chain.random_configuration(rng), method='SLSQP', bounds=bounds,
            constraints=[{'type': 'eq', 'fun': gap}], options={'maxiter': 200, 'ftol': 1e-12},
        )  # fmt: skip
        if np.linalg.norm(gap(found.x)) < 1e-6:
            best = min(best, math.sqrt(max(found.fun, 0.0)))
    return best


def turned_at_random(rng: np.random.Generator, T: Array) -> Array:
    """Turn a pose so that an arm with few joints cannot meet it."""
    return T @ transform(rotation_from_vector(rng.normal(size=3)), np.zeros(3))


def check_that_no_search_turns_better(count: int, starts: int, seed: int) -> None:
    for arm, chain, rng in arms(count, seed):
        T = turned_at_random(rng, chain.forward_kinematics(chain.random_configuration(rng)))
        solution = solver_for(chain).solve(T, chain.random_configuration(rng))
        apart, turned = errors(arm, T, solution.q)
        assert solution.converged
        assert apart <= 1.001e-6
        assert abs(solution.orientation_error - turned) < 1e-7
        assert turned <= best_turned(arm, chain, T, rng, starts) + MEANT


def test_no_search_finds_a_better_orientation():
    check_that_no_search_turns_better(5 if COMPILED else 2, 6, 3)


@pytest.mark.long
def test_no_long_search_finds_a_better_orientation():
    check_that_no_search_turns_better(100, 40, 4)


class TestStreams:
    """Who follows a target stays on the branch of the seed, though another one be better."""

    @pytest.mark.parametrize('asked', [{'max_restarts': 0}, {'max_joint_move': 0.5}])
    def test_a_close_seed_keeps_its_configuration(self, asked):
        (chain, judge), rng, moves = judged('so101'), np.random.default_rng(9), []
        solver = solver_for(chain, **asked)
        for _ in range(60 if COMPILED else 10):
            q = chain.random_configuration(rng)
            seed = np.clip(q + rng.uniform(-0.02, 0.02, 5), chain.lower, chain.upper)
            tilt = transform(rotation_from_vector(0.02 * rng.normal(size=3)), np.zeros(3))
            moves.append(np.abs(solver.solve(judge.pose(q) @ tilt, seed).q - seed).max())
        assert np.mean(np.array(moves) < 0.5) >= 0.97
        assert max(moves) < 1.5


def test_of_two_that_are_as_good_the_one_nearest_to_the_seed_counts():
    """A pose and its mirror image: whoever asks again stays."""
    for _, chain, rng in arms(ARMS // 3, 5):
        solver = solver_for(chain)
        T = turned_at_random(rng, chain.forward_kinematics(chain.random_configuration(rng)))
        first = solver.solve(T, chain.random_configuration(rng))
        again = solver.solve(T, first.q)
        assert abs(again.orientation_error - first.orientation_error) <= EQUALLY_TURNED
        assert np.abs(again.q - first.q).max() < 0.01
