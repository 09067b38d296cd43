"""A redundant arm that tends to a posture as far as its target leaves it free."""

import math

from fabrik_ros import Chain, FabrikSolver, load_urdf
from fabrik_ros.errors import JointValueError
from fabrik_ros.kernels._jit import COMPILED
from fabrik_ros.transforms import Array, rotation_from_vector, transform
from helpers import assert_close, PLANAR, Segment, serial_xml
from hypothesis import given, settings, strategies as st
import numpy as np
import pytest
from solving import is_inside, is_met, judged, same_answer, solver_for

REDUNDANT = ['panda', 'xarm7', 'baxter', 'pr2', 'tiago', 'seven_axis']
READY = np.array([0.0, -0.3, 0.0, -2.0, 0.0, 1.9, 0.7])
"""Where the panda works, elbow up."""
APART = np.array([0.3, -0.3, 0.3, 0.3, -0.3, 0.3, 0.3])

# Interpreted kernels are a hundred times slower: fewer examples, the same laws.
COUNT, LAPS, PLACES = (60, 10, 60) if COMPILED else (8, 3, 24)
laws = settings() if COMPILED else settings(max_examples=5)


def three_links() -> Chain:
    """Make three links of 1 m in a plane, and with them one way to move on the spot."""
    links = [Segment(), *2 * [Segment(xyz=(1.0, 0.0, 0.0))]]
    return load_urdf(serial_xml([*links, Segment('fixed', xyz=(1.0, 0.0, 0.0))])).chain()


def by_trigonometry(x: float, y: float) -> Array:
    """Step the shoulder of three links, lay the others on a point, the elbow both ways."""
    q0 = np.linspace(-math.pi, math.pi, 20001)
    u, v = x - np.cos(q0), y - np.sin(q0)
    cosine = 0.5 * (u * u + v * v) - 1.0
    found = []
    for side in (1.0, -1.0):
        with np.errstate(invalid='ignore'):
            q2 = side * np.arccos(cosine)
        q1 = np.arctan2(v, u) - np.arctan2(np.sin(q2), 1.0 + np.cos(q2)) - q0
        found.append(np.column_stack([q0, q1 - 2.0 * math.pi * np.round(q1 / 2.0 / math.pi), q2]))
    together = np.vstack(found)
    return together[np.isfinite(together).all(axis=1) & (np.abs(together) <= 3.0).all(axis=1)]


@laws
@given(
    st.tuples(st.floats(-1.0, 1.0), st.floats(0.5, 1.5), st.floats(0.5, 1.5)),
    st.tuples(st.floats(-0.1, 0.1), st.floats(-0.1, 0.1), st.floats(-0.1, 0.1)),
    st.sampled_from([1.0, 0.5]),
)
def test_of_all_configurations_near_by_the_answer_is_the_nearest_to_the_posture(q, apart, weight):
    chain = three_links()
    T, posture = chain.forward_kinematics(q), np.array(q) + apart
    solver = solver_for(chain, mode='position', posture=tuple(posture), posture_weight=weight)
    solution = solver.solve(T, q)
    distance = np.linalg.norm(solution.q - posture)
    brute = np.linalg.norm(by_trigonometry(T[0, 3], T[1, 3]) - posture, axis=1).min()
    assert solution.converged
    # The grid is 3e-4 wide; its nearest point is farther by the square of that over the distance.
    assert distance <= brute + 1e-4


class TestDrivenRound:
    """A circle of 0.36 m, a third of the panda's reach, at a constant orientation."""

    def laps(self, solver: FabrikSolver, judge) -> Array:
        """Follow the circle; return the configurations at the end of each lap."""
        T, q, ends = judge.pose(READY), READY, []
        for _ in range(LAPS):
            for angle in np.linspace(0.0, 2.0 * math.pi, PLACES + 1)[1:]:
                shift = 0.18 * np.array([0.0, math.sin(angle), math.cos(angle) - 1.0])
                target = transform(T[:3, :3], T[:3, 3] + shift)
                solution = solver.solve(target, q)
                assert np.abs(solution.q - q).max() < 0.5
                q = solution.q
                assert solution.converged
                assert max(judge.errors(target, q)) < 1.001e-6
                assert is_inside(judge, q)
            ends.append(q)
        return np.array(ends)

    @pytest.mark.parametrize('posture', ['where it starts', 'the middle of the limits'])
    @pytest.mark.parametrize('weight', [1.0, 0.3])
    def test_each_lap_ends_where_the_one_before_did(self, posture, weight):
        chain, judge = judged('panda')
        values = tuple(READY if posture == 'where it starts' else chain.mid_configuration())
        solver = solver_for(chain, mode='pose', posture=values, posture_weight=weight)
        ends = self.laps(solver, judge)
        assert np.ptp(ends, axis=0).max() < 0.02

    def test_without_a_posture_the_arm_drifts(self):
        """Else the test above would show nothing."""
        chain, judge = judged('panda')
        ends = self.laps(solver_for(chain, mode='pose'), judge)
        assert np.ptp(ends, axis=0).max() > 0.2


@pytest.mark.parametrize('name', REDUNDANT)
class TestRedundantArms:
    def test_the_tip_stays_on_the_target_and_the_posture_comes_nearer(self, name):
        (chain, judge), rng = judged(name), np.random.default_rng(1)
        posture, gains = tuple(chain.mid_configuration()), []
        plain, eased = solver_for(chain), solver_for(chain, posture=posture)
        for _ in range(COUNT):
            T, seed = judge.pose(chain.random_configuration(rng)), chain.random_configuration(rng)
            before, after = plain.solve(T, seed), eased.solve(T, seed)
            assert after.status is before.status
            assert is_met(judge, T, after.q) == before.converged
            assert is_inside(judge, after.q)
            apart = judge.errors(T, after.q)
            assert_close([after.position_error, after.orientation_error], apart, 1e-9)
            gains.append(distance(chain, before.q, posture) - distance(chain, after.q, posture))
        assert min(gains) >= -1e-9
        assert np.mean(gains) > 0.05

    def test_limits_are_kept_also_where_the_posture_is_beyond_them(self, name):
        (chain, judge), rng = judged(name), np.random.default_rng(2)
        _, upper = chain.finite_limits()
        solver = solver_for(chain, posture=tuple(upper + 1.0))
        for _ in range(COUNT):
            T = judge.pose(chain.random_configuration(rng))
            solution = solver.solve(T, chain.random_configuration(rng))
            assert is_inside(judge, solution.q)
            assert is_met(judge, T, solution.q) == solution.converged

    def test_an_answer_near_the_seed_stays_near_it(self, name):
        (chain, judge), rng = judged(name), np.random.default_rng(3)
        solver = solver_for(chain, posture=tuple(chain.mid_configuration()))
        for _ in range(COUNT):
            q = chain.random_configuration(rng)
            seed = np.clip(q + rng.uniform(-0.05, 0.05, 7), chain.lower, chain.upper)
            solution = solver.solve(judge.pose(q), seed)
            assert solution.converged
            assert np.abs(solution.q - seed).max() <= 0.5 + 1e-12

    def test_all_configurations_are_eased_until_they_rest(self, name):
        (chain, judge), rng, moves = judged(name), np.random.default_rng(4), []
        posture = tuple(chain.mid_configuration())
        solver = solver_for(chain, max_restarts=30 if COMPILED else 5, posture=posture)
        for _ in range(COUNT // 4):
            T = judge.pose(chain.random_configuration(rng))
            for solution in solver.solve_all(T):
                assert is_met(judge, T, solution.q)
                again = solver.solve(T, solution.q)
                moves.append(np.abs(again.q - solution.q).max())
        assert np.mean(np.array(moves) < 0.01) > 0.9


def distance(chain: Chain, q: Array, posture) -> float:
    """How far joint values are from a posture, of joints without limits by the shorter way."""
    apart = q - np.array(posture)
    turns = 2.0 * math.pi * np.round(apart / (2.0 * math.pi))
    return float(np.linalg.norm(np.where(np.isinf(chain.upper), apart - turns, apart)))


class TestPosture:
    @pytest.mark.parametrize('name', ['ur5', 'jaco', 'z1'])
    def test_an_arm_that_its_target_holds_fast_stays_as_it_is(self, name):
        (chain, judge), rng = judged(name), np.random.default_rng(5)
        plain = solver_for(chain)
        eased = solver_for(chain, posture=tuple(chain.mid_configuration()))
        for _ in range(COUNT):
            T, seed = judge.pose(chain.random_configuration(rng)), chain.random_configuration(rng)
            before, after = plain.solve(T, seed), eased.solve(T, seed)
            assert before.converged == after.converged
            assert_close(after.q, before.q, 1e-3)

    def test_a_point_leaves_six_axes_free_that_a_pose_holds(self):
        (chain, judge), rng = judged('ur5'), np.random.default_rng(6)
        posture = tuple(chain.mid_configuration() + 0.1)
        plain, eased = (solver_for(chain, mode='position', posture=p) for p in (None, posture))
        for _ in range(COUNT):
            T, seed = judge.pose(chain.random_configuration(rng)), chain.random_configuration(rng)
            before, after = plain.solve(T, seed), eased.solve(T, seed)
            assert is_met(judge, T, after.q, 'position')
            assert distance(chain, after.q, posture) < distance(chain, before.q, posture)

    def test_a_target_that_is_not_reached_is_answered_as_without(self):
        (chain, _), far = judged('panda'), transform(np.eye(3), [2.0, 0.0, 0.5])
        backwards = rotation_from_vector([0.0, -0.5 * math.pi, 0.0])
        blocked = transform(backwards, [0.75, 0.0, 0.4])  # the flange looks back at the base
        for T in (far, blocked):
            before, after = (
                solver_for(chain, max_restarts=5, posture=p).solve(T) for p in (None, tuple(READY))
            )
            assert not before.converged
            assert same_answer(before, after)

    def test_a_smaller_weight_takes_smaller_steps_to_the_same_place(self):
        chain, judge = judged('panda')
        T, posture = judge.pose(READY), tuple(READY + APART)
        steps, ends = [], []
        for weight in (1.0, 0.5, 0.2):
            solver = solver_for(chain, posture=posture, posture_weight=weight)
            solution = solver.solve(T, READY)
            steps.append(solution.polish_steps)
            ends.append(solution.q)
        assert steps[0] < steps[1] < steps[2]
        assert np.abs(ends[0] - READY).max() > 0.1
        assert np.ptp(ends, axis=0).max() < 1e-3

    def test_a_limit_ends_a_motion_that_needs_no_correction(self):
        """Two slides in line, which lengthen and shorten alike, as far as one of them goes."""
        slides = [
            Segment('prismatic', axis=(1.0, 0.0, 0.0), lower=-limit, upper=limit)
            for limit in (1.0, 2.0)
        ]
        chain = load_urdf(serial_xml([*slides, Segment('fixed')])).chain()
        solver = solver_for(chain, mode='position', posture=(9.0, -9.0))
        solution = solver.solve([0.3, 0.0, 0.0], [0.6, -0.3])
        assert solution.converged
        assert is_inside(chain, solution.q)
        assert_close(solution.q.sum(), 0.3, 1e-6)
        assert solution.q[0] > 0.7

    @pytest.mark.parametrize(
        ('posture', 'message'),
        [
            ((0.1,), r'posture has shape \(1,\), expected \(2,\): one value for each of j0, j1'),
            ((0.1, 0.2, 0.3), r'posture has shape \(3,\)'),
            ((0.1, math.nan), "posture has a value that is not finite for joint 'j1'"),
        ],
    )
    def test_a_posture_that_is_no_configuration_is_refused(self, posture, message):
        with pytest.raises(JointValueError, match=message):
            solver_for(load_urdf(PLANAR).chain(), posture=posture)
