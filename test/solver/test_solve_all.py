"""All configurations that reach a target, and which of them is preferred."""

import math

from fabrik_ros import Chain, load_urdf, Status
from fabrik_ros.errors import JointValueError, TargetError
from fabrik_ros.kernels._jit import COMPILED
from fabrik_ros.transforms import Array, transform
from helpers import assert_close, mostly_long, PLANAR, Segment, serial_xml, SIX_AXIS
from hypothesis import assume, given, settings, strategies as st
import numpy as np
import pytest
from solving import (
    is_inside,
    is_met,
    judged,
    mode_for,
    same_answer,
    solver_for,
    TURN,
    without_turns,
)

UPPER, LOWER, LIMIT = 1.0, 0.8, 3.0
ALIKE = 1e-3
"""By so much joint values of one configuration may differ where tolerances leave them room."""

# Interpreted kernels are a hundred times slower: fewer examples, the same laws.
STARTS, TARGETS = (1000, 5) if COMPILED else (60, 1)
laws = settings() if COMPILED else settings(max_examples=5)


@pytest.fixture
def planar() -> Chain:
    return load_urdf(PLANAR).chain()


@pytest.fixture
def six_axis() -> Chain:
    return load_urdf(SIX_AXIS).chain()


def elbows(x: float, y: float, limit: float = LIMIT) -> list[Array]:
    r"""
    Both configurations of the planar arm by the law of cosines, those inside the limits.

             elbow
             /   \
        1.0 /  q1 \ 0.8
           /       \
        base --D---- tip
    """
    cosine = (x * x + y * y - UPPER**2 - LOWER**2) / (2.0 * UPPER * LOWER)
    found = []
    for q1 in (math.acos(cosine), -math.acos(cosine)):
        q0 = math.atan2(y, x) - math.atan2(LOWER * math.sin(q1), UPPER + LOWER * math.cos(q1))
        q0 -= TURN * round(q0 / TURN)
        if abs(q0) <= limit and abs(q1) <= limit:
            found.append(np.array([q0, q1]))
    return found


def assert_same_set(found, expected, tolerance: float) -> None:
    """Compare joint values in any order."""
    assert len(found) == len(expected)
    for q in expected:
        assert min(np.abs(q - other).max() for other in found) <= tolerance


def are_sorted(numbers) -> bool:
    return bool(np.all(np.diff(numbers) >= 0.0))


class TestTwoElbows:
    @laws
    @given(st.floats(-3.0, 3.0), st.floats(0.1, 2.9), st.sampled_from([-1, 1]))
    def test_there_are_the_two_of_the_law_of_cosines(self, q0, q1, side):
        x = UPPER * math.cos(q0) + LOWER * math.cos(q0 + side * q1)
        y = UPPER * math.sin(q0) + LOWER * math.sin(q0 + side * q1)
        expected = elbows(x, y)
        borderline = [np.abs(np.abs(q) - LIMIT).min() < 1e-3 for q in elbows(x, y, math.inf)]
        assume(not any(borderline))
        solver = solver_for(load_urdf(PLANAR).chain(), mode='position')
        found = [solution.q for solution in solver.solve_all([x, y, 0.0])]
        assert_same_set(found, expected, 1e-4)

    def test_the_elbow_of_the_seed_comes_first(self, planar):
        solver = solver_for(planar, mode='position')
        for q in elbows(1.2, 0.5):
            seed = q + np.array([0.1, -0.2])
            assert_close(solver.solve_all([1.2, 0.5, 0.0], seed)[0].q, q, 1e-4)

    def test_a_limit_takes_one_away(self):
        """The elbow bends one way only."""
        bent = [Segment(), Segment(xyz=(1.0, 0.0, 0.0), lower=0.0)]
        chain = load_urdf(serial_xml([*bent, Segment('fixed', xyz=(0.8, 0.0, 0.0))])).chain()
        found = solver_for(chain, mode='position').solve_all([1.2, 0.5, 0.0])
        expected = [q for q in elbows(1.2, 0.5) if q[1] >= 0.0]
        assert_same_set([solution.q for solution in found], expected, 1e-4)

    def test_of_a_pose_that_one_elbow_reaches_there_is_one(self, planar):
        q = elbows(1.2, 0.5)[0]
        found = solver_for(planar, mode='auto').solve_all(planar.forward_kinematics(q))
        assert_same_set([solution.q for solution in found], [q], 1e-4)

    def test_whole_turns_make_no_new_configuration(self):
        """A stick points away from its target: half a turn either way is one configuration."""
        stick = [Segment('continuous'), Segment('fixed', xyz=(1.0, 0.0, 0.0))]
        chain = load_urdf(serial_xml(stick)).chain()
        for seed in (0.0, 20.0, -0.7):
            target = [-math.cos(seed), -math.sin(seed), 0.0]
            found = solver_for(chain, mode='position').solve_all(target, [seed])
            assert len(found) == 1
            assert_close(np.abs(found[0].q - seed), [math.pi], 1e-5)

    def test_six_metres_are_not_taken_for_a_turn(self):
        """Two slides in line: 18 m have room for more than the three that a turn has."""
        slide = Segment('prismatic', axis=(1.0, 0.0, 0.0), lower=-9.0, upper=9.0)
        chain = load_urdf(serial_xml([slide, slide, Segment('fixed')])).chain()
        found = solver_for(chain, mode='position').solve_all([0.0, 0.0, 0.0], spacing=2.0)
        assert 4 <= len(found) <= 9


@pytest.mark.parametrize('name', mostly_long(['ur5', 'jaco', 'z1', 'six_axis'], 'ur5'))
def test_six_axes_have_every_configuration_that_brute_force_finds(name):
    optimize = pytest.importorskip('scipy.optimize')
    chain, judge = judged(name)
    import pinocchio

    rng, (lower, upper) = np.random.default_rng(3), chain.finite_limits()
    solver = solver_for(chain, mode='pose', max_restarts=STARTS)

    def residuals(q, T):
        tip = judge.pose(q)
        turn = pinocchio.log3(tip[:3, :3].T @ T[:3, :3])
        return np.concatenate([T[:3, 3] - tip[:3, 3], 0.3 * turn])

    for _ in range(min(TARGETS, 2)):
        T, brute = judge.pose(chain.random_configuration(rng)), []
        for _ in range(100):
            q = optimize.least_squares(
                residuals, rng.uniform(lower, upper), args=(T,), max_nfev=60,
                bounds=(chain.lower, chain.upper), xtol=1e-14, ftol=1e-14, gtol=1e-14,
            ).x  # fmt: skip
            if is_met(judge, T, q):
                brute.append(q)
        found = np.array([solution.q for solution in solver.solve_all(T)])
        assert brute
        for q in brute:
            apart = np.abs(without_turns(found - q, chain)).max(axis=1)
            assert apart.min() < 1e-3


@pytest.mark.parametrize('name', ['ur5', 'panda', 'pr2', 'so101', 'z1'])
def test_all_reach_the_target_inside_the_limits_are_distinct_and_the_nearest_is_first(name):
    (chain, judge), rng = judged(name), np.random.default_rng(5)
    mode = mode_for(chain)
    solver = solver_for(chain, mode=mode, max_restarts=STARTS)
    for spacing in (0.01, 0.5, 2.0)[: None if COMPILED else 1]:
        for _ in range(TARGETS):
            T = judge.pose(chain.random_configuration(rng))
            seed = chain.random_configuration(rng)
            found = solver.solve_all(T, seed, spacing)
            assert found
            for solution in found:
                assert solution.status is Status.CONVERGED
                assert is_met(judge, T, solution.q, mode)
                assert_close(solution.position_error, judge.errors(T, solution.q)[0], 1e-9)
                assert is_inside(judge, solution.q)
            values = np.array([solution.q for solution in found])
            apart = np.abs(without_turns(values[:, None] - values, chain)).max(axis=2)
            assert np.all(apart[np.triu_indices(len(found), 1)] > spacing)
            assert are_sorted([np.abs(solution.q - seed).max() for solution in found])


@pytest.mark.parametrize('name', ['ur5', 'panda', 'so101'])
def test_all_reach_the_target_also_where_the_arm_stands_there_already(name):
    (chain, judge), rng = judged(name), np.random.default_rng(6)
    mode = mode_for(chain)
    for _ in range(TARGETS):
        q = chain.random_configuration(rng)
        T = judge.pose(q)
        found = solver_for(chain, mode=mode, max_restarts=STARTS // 20).solve_all(T, q)
        assert np.array_equal(found[0].q, q)
        assert all(is_met(judge, T, solution.q, mode) for solution in found)
        for prefer in ('near', 'central'):
            solver = solver_for(chain, mode=mode, prefer=prefer, max_restarts=STARTS // 20)
            assert is_met(judge, T, solver.solve(T, q).q, mode)


class TestSolveAll:
    def test_a_target_out_of_reach_has_none(self, planar):
        solver = solver_for(planar, mode='position')
        assert solver.solve_all([3.0, 0.0, 0.0]) == ()
        assert solver.solve_all([1.2, 0.5, 0.1]) == ()

    def test_a_target_nearer_than_the_arm_folds_has_none(self):
        chain = load_urdf(PLANAR.replace('3.0', '3.5')).chain()
        assert solver_for(chain, mode='position').solve_all([0.0, 0.1, 0.0]) == ()

    def test_two_solvers_find_the_same_bit_for_bit(self, six_axis):
        rng = np.random.default_rng(1)
        for _ in range(TARGETS):
            T = six_axis.forward_kinematics(six_axis.random_configuration(rng))
            first, second = (solver_for(six_axis, max_restarts=60).solve_all(T) for _ in range(2))
            assert len(first) == len(second) >= 1
            assert all(map(same_answer, first, second))

    def test_the_answer_of_solve_is_among_them(self, six_axis):
        rng = np.random.default_rng(2)
        solver = solver_for(six_axis)
        for _ in range(TARGETS):
            T = six_axis.forward_kinematics(six_axis.random_configuration(rng))
            seed = six_axis.random_configuration(rng)
            one, found = solver.solve(T, seed), solver.solve_all(T, seed)
            assert min(np.abs(one.q - solution.q).max() for solution in found) < ALIKE

    def test_restarts_are_no_more_than_allowed(self, six_axis):
        T = six_axis.forward_kinematics([0.3, 0.4, -0.9, 0.2, 0.8, 0.1])
        for most in (0, 1, 20):
            found = solver_for(six_axis, max_restarts=most).solve_all(T)
            assert max(solution.restarts for solution in found) <= most

    def test_no_joint_moves_farther_than_allowed(self, planar):
        (here, there), target = elbows(1.2, 0.5), [1.2, 0.5, 0.0]
        far = np.abs(here - there).max()
        for move, expected in ((0.9 * far, [here]), (1.1 * far, [here, there])):
            solver = solver_for(planar, mode='position', max_joint_move=move)
            found = [solution.q for solution in solver.solve_all(target, here)]
            assert_same_set(found, expected, 1e-4)

    def test_a_redundant_arm_gives_a_sample_that_the_spacing_thins_out(self, six_axis):
        target = six_axis.forward_kinematics([0.3, 0.4, -0.9, 0.2, 0.8, 0.1])
        solver = solver_for(six_axis, mode='position', max_restarts=100 if COMPILED else 30)
        counts = [len(solver.solve_all(target, spacing=s)) for s in (0.01, 0.5, 2.0)]
        assert counts[0] > counts[1] > counts[2] >= 2
        assert counts[1] == len(solver.solve_all(target))
        rigid = solver_for(six_axis, mode='pose', max_restarts=100 if COMPILED else 30)
        expected, found = rigid.solve_all(target, spacing=0.01), rigid.solve_all(target)
        assert all(map(same_answer, expected, found))

    @pytest.mark.parametrize('spacing', [0.0, -0.1, math.nan])
    def test_a_spacing_that_is_not_positive_is_refused(self, planar, spacing):
        with pytest.raises(ValueError, match=f'spacing must be positive, got {spacing}'):
            solver_for(planar).solve_all(np.eye(4), spacing=spacing)

    def test_what_is_no_pose_or_no_configuration_is_refused(self, planar):
        solver = solver_for(planar)
        with pytest.raises(TargetError, match=r'target has shape \(3,\), expected a pose'):
            solver.solve_all([1.2, 0.5, 0.0])
        with pytest.raises(TargetError, match='target has entries that are not finite'):
            solver.solve_all(transform(np.eye(3), [math.nan, 0.0, 0.0]))
        with pytest.raises(JointValueError, match=r'seed has shape \(1,\), expected \(2,\)'):
            solver.solve_all(np.eye(4), [0.1])
        with pytest.raises(JointValueError, match="not finite for joint 'j1'"):
            solver.solve_all(np.eye(4), [0.1, math.nan])

    def test_arguments_stay_as_they_are(self, planar):
        target, seed = transform(np.eye(3), [1.2, 0.5, 0.0]), np.array([9.0, 0.2])
        before = target.copy(), seed.copy()
        solver_for(planar, mode='position').solve_all(target, seed)
        assert np.array_equal(target, before[0])
        assert np.array_equal(seed, before[1])


def eccentricity(chain: Chain, q: Array) -> float:
    """How near a configuration is to a limit: 0 in the middle of all joints, 1 at a limit."""
    bounded = np.isfinite(chain.upper)
    lower, upper = chain.lower[bounded], chain.upper[bounded]
    return float(np.abs((q[bounded] - 0.5 * (lower + upper)) / (0.5 * (upper - lower))).max())


class TestPreference:
    @pytest.mark.parametrize('name', ['ur5', 'jaco', 'pr2', 'so101', 'six_axis'])
    def test_near_moves_no_more_than_first_and_central_stays_as_far_from_the_limits(self, name):
        (chain, judge), rng = judged(name), np.random.default_rng(7)
        mode, nearer, more_central = mode_for(chain), 0, 0
        solvers = [
            solver_for(chain, mode=mode, prefer=prefer, max_restarts=STARTS // 5)
            for prefer in ('first', 'near', 'central')
        ]
        for _ in range(20 if COMPILED else 10):
            T = judge.pose(chain.random_configuration(rng))
            seed = chain.random_configuration(rng)
            first, near, central = (solver.solve(T, seed) for solver in solvers)
            if not first.converged:
                continue
            assert is_met(judge, T, near.q, mode)
            assert is_met(judge, T, central.q, mode)
            moves = [np.abs(solution.q - seed).max() for solution in (near, first, central)]
            assert moves[0] <= min(moves) + ALIKE
            shares = [eccentricity(chain, solution.q) for solution in (central, near, first)]
            assert shares[0] <= min(shares) + ALIKE
            nearer += moves[0] < moves[1] - ALIKE
            more_central += shares[0] < shares[1] - ALIKE
        assert nearer >= 1
        assert more_central >= 1

    def test_of_two_elbows_the_one_that_is_asked_for_is_chosen(self):
        r"""
        The elbow bends by 1 either way, but its limits lie at -1.1 and 2.5.

        By shares of the range -1 is at 0.94 of the way from the middle to a limit, +1 at 0.17.
        """
        links = [
            Segment(lower=-3.0, upper=3.0),
            Segment(xyz=(1.0, 0.0, 0.0), lower=-1.1, upper=2.5),
        ]
        chain = load_urdf(serial_xml([*links, Segment('fixed', xyz=(0.8, 0.0, 0.0))])).chain()
        x, y = 1.0 + 0.8 * math.cos(1.0), 0.8 * math.sin(1.0)
        left, right = sorted(elbows(x, y), key=lambda q: q[1])
        assert_close([left[1], right[1]], [-1.0, 1.0])
        for prefer, expected in (('first', left), ('near', left), ('central', right)):
            solver = solver_for(chain, mode='position', prefer=prefer)
            assert_close(solver.solve([x, y, 0.0], left + 0.05).q, expected, 1e-4)

    @pytest.mark.parametrize('prefer', ['near', 'central'])
    def test_where_none_reaches_the_answer_is_that_of_first(self, planar, prefer):
        for target in ([3.0, 0.0, 0.0], [1.2, 0.5, 0.1]):
            plain, preferring = (
                solver_for(planar, mode='position', prefer=p).solve(target)
                for p in ('first', prefer)
            )
            assert same_answer(plain, preferring)
            assert not plain.converged

    def test_the_seed_itself_is_the_nearest(self, six_axis):
        q = np.array([0.3, 0.4, -0.9, 0.2, 0.8, 0.1])
        solution = solver_for(six_axis, prefer='near').solve(six_axis.forward_kinematics(q), q)
        assert np.array_equal(solution.q, q)
