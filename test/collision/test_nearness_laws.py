"""
How near the answers are: to the seed where the target is reached, to the target where it is not.

pinocchio judges, and scipy's general optimiser says how near is possible.

"""

from fabrik_ros.kernels._jit import COMPILED
from fabrik_ros.transforms import transform
from helpers import mostly_long, REAL_ARMS
import numpy as np
import pytest
from solving import is_inside, is_met, judged, mode_for, solver_for

ARMS = [*REAL_ARMS, 'six_axis', 'seven_axis']
COUNT = 500 if COMPILED else 40


@pytest.fixture(params=ARMS)
def arm(request):
    return judged(request.param)


def near(chain, q, rng, apart: float = 0.1):
    """Draw joint values no farther than `apart` from q, inside the limits."""
    return np.clip(q + rng.uniform(-apart, apart, len(q)), chain.lower, chain.upper)


class TestNearTheSeed:
    @pytest.mark.parametrize('mode', ['as the joints allow', 'position'])
    def test_the_arm_moves_no_farther_than_to_where_the_target_was_taken_from(self, arm, mode):
        (chain, judge), rng, moves, ways = arm, np.random.default_rng(2), [], []
        mode = mode_for(chain) if mode != 'position' else mode
        solver = solver_for(chain, mode=mode)
        for _ in range(COUNT):
            q = chain.random_configuration(rng)
            T, seed = judge.pose(q), near(chain, q, rng)
            solution = solver.solve(T, seed)
            assert is_met(judge, T, solution.q, mode)
            assert is_inside(judge, solution.q)
            moves.append(np.abs(solution.q - seed))
            ways.append(np.abs(q - seed))
        assert np.max(moves) <= 0.5 + 1e-12
        assert np.mean(moves) <= 1.02 * np.mean(ways)

    @pytest.mark.parametrize('move', [0.02, 0.3])
    def test_no_joint_moves_farther_than_allowed_or_the_target_is_not_reached(self, arm, move):
        (chain, judge), rng, met = arm, np.random.default_rng(3), []
        mode = mode_for(chain)
        solver = solver_for(chain, mode=mode, max_joint_move=move, max_restarts=5)
        for k in range(COUNT // 4):
            q = chain.random_configuration(rng)
            # As far as allowed or four times as far: some are within, some are not.
            T, seed = judge.pose(q), near(chain, q, rng, move * (1.0, 4.0)[k % 2])
            solution = solver.solve(T, seed)
            assert np.abs(solution.q - seed).max() <= move * (1.0 + 1e-12)
            assert is_inside(judge, solution.q)
            assert is_met(judge, T, solution.q, mode) == solution.converged
            if np.abs(q - seed).max() <= move:
                assert solution.converged
            met.append(solution.converged)
        assert not all(met)


class TestUnreachable:
    @pytest.mark.parametrize(
        'name', mostly_long(['ur5', 'panda', 'z1', 'so101', 'tiago', 'pr2'], 'ur5')
    )
    def test_the_tip_comes_as_near_to_a_point_as_a_general_optimiser_brings_it(self, name):
        """Beyond the reach, close to the first joint, and where limits are in the way."""
        optimize = pytest.importorskip('scipy.optimize')
        (chain, judge), rng, good = judged(name), np.random.default_rng(3), []
        lower, upper = chain.finite_limits()
        solver = solver_for(chain, mode='position', max_restarts=20)

        def lacks(q, T):
            return T[:3, 3] - judge.pose(q)[:3, 3]

        for k in range(30 if COMPILED else 6):
            direction = rng.normal(size=3)
            shares = [(1.05, 3.0), (0.0, 0.35), (0.3, 1.0)][k % 3]
            distance = chain.reach * rng.uniform(*shares) / np.linalg.norm(direction)
            T = transform(np.eye(3), chain.root_point + distance * direction)
            solution = solver.solve(T)
            apart, _ = judge.errors(T, solution.q)
            assert is_inside(judge, solution.q)
            if solution.converged:
                assert is_met(judge, T, solution.q, 'position')
                continue
            best = min(
                np.linalg.norm(
                    optimize.least_squares(
                        lacks, rng.uniform(lower, upper), args=(T,), max_nfev=60,
                        bounds=(chain.lower, chain.upper),
                    ).fun
                )
                for _ in range(6)
            )  # fmt: skip
            good.append(apart <= 1.01 * best + 1e-6)
        assert len(good) >= 2
        assert np.mean(good) >= 0.95
