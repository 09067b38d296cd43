"""The solver on arms whose answers are known by trigonometry, and what it says when it fails."""

import doctest
import math

from fabrik_ros import Chain, FabrikSolver, load_urdf, SolverOptions, Status
from fabrik_ros.errors import JointValueError, TargetError
from fabrik_ros.kernels import chain_search, search
from fabrik_ros.kernels._jit import COMPILED
from fabrik_ros.solver import chain_solver as solver_module
from fabrik_ros.solver.tries import FIRST_TRIES
from fabrik_ros.transforms import Array, rotation_from_rpy, transform
from helpers import assert_close, PLANAR, Segment, serial_xml, SIX_AXIS
import numpy as np
import pytest
from solving import compilations

UPPER, LOWER = 1.0, 0.8
MODES = ['pose', 'axis', 'position', 'auto']
POLISH = ['auto', 'never']


@pytest.fixture
def planar() -> Chain:
    r"""
    Two links in a plane, hinges about z.

              elbow
              /   \
         1.0 /  q1 \ 0.8
            /       \
        base --D---- tip          q1 = +- acos((D^2 - 1.0^2 - 0.8^2) / (2 * 1.0 * 0.8))
    """
    return load_urdf(PLANAR).chain()


@pytest.fixture
def six_axis() -> Chain:
    return load_urdf(SIX_AXIS).chain()


def solver_for(chain: Chain, **options) -> FabrikSolver:
    """Make a solver that stops after a number of starts, not after a time."""
    return FabrikSolver(
        chain, SolverOptions(**{'budget': math.inf, 'max_restarts': 100, **options})
    )


def by_trigonometry(x: float, y: float, elbow: int) -> Array:
    """Joint values of the planar arm, elbow +1 or -1."""
    cosine = (x * x + y * y - UPPER**2 - LOWER**2) / (2.0 * UPPER * LOWER)
    q1 = elbow * math.acos(cosine)
    q0 = math.atan2(y, x) - math.atan2(LOWER * math.sin(q1), UPPER + LOWER * math.cos(q1))
    return np.array([q0, q1])


def in_plane(x: float, y: float, angle: float = 0.0) -> Array:
    """Pose (4, 4) in the plane of the arm."""
    return transform(rotation_from_rpy(0.0, 0.0, angle), [x, y, 0.0])


class TestPlanarArm:
    @pytest.mark.parametrize('polish', POLISH)
    @pytest.mark.parametrize('elbow', [1, -1])
    @pytest.mark.parametrize(('x', 'y'), [(1.2, 0.5), (0.3, -0.9), (-0.1, 1.0), (0.5, 0.1)])
    def test_position_is_solved_as_by_trigonometry_on_the_side_of_the_seed(
        self, planar, x, y, elbow, polish
    ):
        expected = by_trigonometry(x, y, elbow)
        solution = solver_for(planar, mode='position', polish=polish).solve(
            [x, y, 0.0], seed=expected + np.array([0.2, -0.1])
        )
        assert solution.status is Status.CONVERGED
        assert_close(solution.q, expected, 1e-5)
        assert solution.orientation_error == 0.0

    @pytest.mark.parametrize('mode', ['pose', 'axis', 'auto'])
    @pytest.mark.parametrize('polish', POLISH)
    def test_every_mode_of_orientation_finds_a_possible_pose(self, planar, mode, polish):
        expected = np.array([0.4, 1.1])
        target = planar.forward_kinematics(expected)
        solution = solver_for(planar, mode=mode, polish=polish, axis=(1, 0, 0)).solve(target)
        assert solution.converged
        assert_close(planar.forward_kinematics(solution.q), target, 1e-5)

    def test_pose_cannot_be_reached_by_two_joints_that_position_can(self, planar):
        target = in_plane(1.2, 0.5, angle=3.0)
        assert solver_for(planar, mode='position').solve(target).converged
        assert solver_for(planar, mode='pose', max_restarts=5).solve(target).status in (
            Status.STALLED,
            Status.BLOCKED_BY_LIMITS,
        )

    def test_auto_holds_the_position_and_picks_the_elbow_with_the_better_orientation(self, planar):
        poses = {s: by_trigonometry(1.2, 0.5, s) for s in (1, -1)}
        for elbow, q in poses.items():
            target = in_plane(1.2, 0.5, angle=q.sum() + 0.2)
            solution = solver_for(planar).solve(target)
            assert solution.converged
            assert_close(solution.q, poses[elbow], 1e-5)
            assert_close(solution.orientation_error, 0.2, 1e-5)

    def test_axis_counts_the_direction_of_the_tool_and_not_the_turn_about_it(self, six_axis):
        target = six_axis.forward_kinematics([0.3, 0.4, -0.9, 0.2, 0.8, 0.1])
        rolled = target @ transform(rotation_from_rpy(0.0, 0.0, 2.0), np.zeros(3))
        solution = solver_for(six_axis, mode='axis', axis=(0, 0, 5)).solve(rolled)
        reached = six_axis.forward_kinematics(solution.q)
        assert solution.converged
        assert_close(reached[:3, 3], target[:3, 3], 1.1e-6)
        assert_close(reached[:3, 2], target[:3, 2], 1.1e-6)

    def test_a_point_is_a_target_in_mode_position(self, planar):
        by_point = solver_for(planar, mode='position').solve([1.2, 0.5, 0.0])
        by_pose = solver_for(planar, mode='position').solve(in_plane(1.2, 0.5))
        assert_close(by_point.q, by_pose.q)


class TestStatus:
    @pytest.mark.parametrize('polish', POLISH)
    @pytest.mark.parametrize('mode', MODES)
    def test_already_there_nothing_is_done(self, six_axis, mode, polish):
        q = np.array([0.3, 0.4, -0.9, 0.2, 0.8, 0.1])
        target = six_axis.forward_kinematics(q)
        solution = solver_for(six_axis, mode=mode, polish=polish).solve(target, seed=q)
        assert solution.status is Status.CONVERGED
        assert (solution.passes, solution.polish_steps, solution.restarts) == (0, 0, 0)
        assert solution.finished_by == 'seed'
        assert np.array_equal(solution.q, q)

    @pytest.mark.parametrize('polish', POLISH)
    @pytest.mark.parametrize('mode', ['position', 'auto'])
    @pytest.mark.parametrize('direction', [0.0, 1.0, -2.5])
    def test_too_far_stretches_towards_the_target(self, planar, mode, polish, direction):
        """o----o---->        x target."""
        x, y = 3.0 * math.cos(direction), 3.0 * math.sin(direction)
        solution = solver_for(planar, mode=mode, polish=polish).solve(in_plane(x, y))
        assert solution.status is Status.TOO_FAR
        assert_close(planar.points(solution.q)[-1], [0.6 * x, 0.6 * y, 0.0], 1e-3)
        assert_close(solution.position_error, 3.0 - 1.8, 1e-6)

    @pytest.mark.parametrize('polish', POLISH)
    def test_too_near_folds_towards_the_target(self, polish):
        """The tip comes no nearer than 1.0 - 0.8 to the base; the target is at 0.1."""
        chain = load_urdf(PLANAR.replace('3.0', '3.5')).chain()
        solution = solver_for(chain, mode='position', polish=polish).solve([0.0, 0.1, 0.0])
        assert solution.status is Status.TOO_NEAR
        assert_close(chain.points(solution.q)[-1], [0.0, 0.2, 0.0], 2e-3)
        assert_close(solution.position_error, 0.1, 1e-4)

    @pytest.mark.parametrize('polish', POLISH)
    def test_limits_in_the_way_are_named(self, polish):
        r"""
        The shoulder turns no farther than 0.5; the target is beyond.

             x
             |  /
             | / 0.5
             o----
        """
        stick = [Segment(lower=-0.5, upper=0.5), Segment('fixed', xyz=(1.0, 0.0, 0.0))]
        chain = load_urdf(serial_xml(stick)).chain()
        solution = solver_for(chain, mode='position', polish=polish, max_restarts=3).solve(
            [0.0, 1.0, 0.0]
        )
        assert solution.status is Status.BLOCKED_BY_LIMITS
        assert solution.limited_joints == ('j0',)
        assert_close(solution.q, [0.5], 1e-9)
        assert_close(solution.position_error, 2.0 * math.sin((math.pi / 2 - 0.5) / 2), 1e-9)

    @pytest.mark.parametrize('polish', POLISH)
    def test_a_search_that_rests_short_of_the_target_has_stalled(self, planar, polish):
        target = in_plane(1.2, 0.5, angle=3.0)
        target[2, 3] = 0.1  # out of the plane, and no limit to blame
        solution = solver_for(planar, mode='position', polish=polish, max_restarts=3).solve(target)
        assert solution.status is Status.STALLED
        assert solution.restarts <= 3
        assert_close(solution.position_error, 0.1, 1e-5)

    def test_an_empty_budget_is_said_to_be_exhausted(self, planar):
        solver = solver_for(planar, mode='position', budget=1e-9, max_restarts=None)
        solution = solver.solve([1.2, 0.5, 0.1])
        assert solution.status is Status.BUDGET_EXHAUSTED
        assert solution.restarts <= FIRST_TRIES - search.NEAR_TRIES

    def test_a_position_above_the_plane_and_an_auto_arm_get_as_near_as_they_can(self, planar):
        target = in_plane(1.2, 0.5, angle=1.0)
        target[2, 3] = 0.1
        solution = solver_for(planar, max_restarts=20).solve(target)
        assert solution.status is Status.STALLED
        assert_close(solution.position_error, 0.1, 1e-4)

    def test_a_target_on_the_base_is_reached_where_the_links_are_equal(self):
        links = [Segment(), Segment(xyz=(1.0, 0.0, 0.0), lower=-3.5, upper=3.5)]
        chain = load_urdf(serial_xml([*links, Segment('fixed', xyz=(1.0, 0.0, 0.0))])).chain()
        for polish in POLISH:
            solution = solver_for(chain, mode='position', polish=polish).solve([0.0, 0.0, 0.0])
            assert np.isfinite(solution.q).all()
            assert solution.position_error < 1e-3

    @pytest.mark.parametrize('mode', MODES)
    @pytest.mark.parametrize('polish', POLISH)
    @pytest.mark.parametrize('distance', [0.0, 1e-12, 2.0, 1e3, 1e9, 1e100])
    def test_errors_are_numbers_however_far_the_target(self, six_axis, mode, polish, distance):
        point = six_axis.root_point + distance * np.array([0.6, 0.0, 0.8])
        solver = solver_for(six_axis, mode=mode, polish=polish, max_restarts=3)
        solution = solver.solve(transform(np.eye(3), point))
        assert np.isfinite(solution.q).all()
        assert math.isfinite(solution.orientation_error)
        if distance > six_axis.reach:
            assert solution.status is Status.TOO_FAR
            assert solution.position_error >= 0.999 * (distance - six_axis.reach)
            assert solution.position_error <= 1.001 * (distance + six_axis.reach)

    def test_every_status_is_a_sentence_for_people(self):
        assert all(len(status.value.split()) > 5 for status in Status)


class TestOptions:
    def test_without_polish_no_step_of_it_is_made(self, six_axis):
        rng = np.random.default_rng(0)
        for mode in MODES:
            solver = solver_for(six_axis, mode=mode, polish='never', max_restarts=20)
            for _ in range(5):
                target = six_axis.forward_kinematics(six_axis.random_configuration(rng))
                solution = solver.solve(target)
                assert solution.polish_steps == 0
                assert solution.passes > 0
                assert solution.finished_by == 'fabrik'

    @pytest.mark.parametrize('mode', MODES)
    @pytest.mark.parametrize('polish', POLISH)
    def test_no_joint_moves_farther_than_allowed(self, six_axis, mode, polish):
        rng, move = np.random.default_rng(0), 0.1
        solver = solver_for(
            six_axis, mode=mode, polish=polish, max_joint_move=move, max_restarts=5
        )
        lower, upper = six_axis.lower, six_axis.upper
        for _ in range(10):
            seed = six_axis.random_configuration(rng)
            near = np.clip(seed + rng.uniform(-0.09, 0.09, 6), lower, upper)
            elsewhere = six_axis.random_configuration(rng)
            for q in (near, elsewhere):
                solution = solver.solve(six_axis.forward_kinematics(q), seed)
                assert np.abs(solution.q - seed).max() <= move + 1e-12
                assert np.all((lower <= solution.q) & (solution.q <= upper))

    @pytest.mark.parametrize('polish', POLISH)
    def test_target_beyond_what_joints_may_move_is_not_blamed_on_limits(self, polish):
        stick = [Segment(lower=-1.0, upper=1.0), Segment('fixed', xyz=(1.0, 0.0, 0.0))]
        chain = load_urdf(serial_xml(stick)).chain()
        target = [math.cos(0.5), math.sin(0.5), 0.0]
        for seed, status in ((0.0, Status.BLOCKED_BY_JOINT_MOVE), (0.4, Status.CONVERGED)):
            solver = solver_for(
                chain, mode='position', polish=polish, max_joint_move=0.2, max_restarts=3
            )
            assert solver.solve(target, [seed]).status is status
        beyond = [math.cos(1.5), math.sin(1.5), 0.0]
        assert solver.solve(beyond, [0.9]).status is Status.BLOCKED_BY_LIMITS

    def test_restarts_are_no_more_than_allowed(self, planar):
        for most in (0, 1, 7):
            solution = solver_for(planar, mode='position', max_restarts=most).solve([1, 0.5, 0.1])
            assert solution.restarts <= most

    def test_a_coarse_tolerance_ends_earlier(self, six_axis):
        target = six_axis.forward_kinematics([0.3, 0.4, -0.9, 0.2, 0.8, 0.1])
        fine, coarse = (
            solver_for(six_axis, position_tolerance=t, orientation_tolerance=t).solve(target)
            for t in (1e-9, 1e-2)
        )
        assert coarse.converged
        assert fine.converged
        assert fine.position_error <= 1e-9
        assert coarse.polish_steps < fine.polish_steps

    @pytest.mark.parametrize(
        ('option', 'value', 'message'),
        [
            ('mode', 'fast', "mode must be one of auto, pose, axis, position; got 'fast'"),
            ('polish', 'yes', "polish must be one of auto, never; got 'yes'"),
            ('position_tolerance', -1e-3, 'position_tolerance must be positive, got -0.001'),
            ('orientation_tolerance', 0.0, 'orientation_tolerance must be positive, got 0.0'),
            ('position_tolerance', math.nan, 'position_tolerance must be positive, got nan'),
            ('budget', 0.0, 'budget must be positive, got 0.0'),
            ('max_joint_move', -1.0, 'max_joint_move must be positive, got -1.0'),
            ('max_restarts', -1, 'max_restarts must not be negative, got -1'),
            ('axis', (0, 0, 0), r'axis must be three finite numbers, not all zero, got \(0, 0, 0'),
            ('axis', (0, 1), 'axis must be three finite numbers'),
            ('axis', (0, 1, math.inf), 'axis must be three finite numbers'),
        ],
    )
    def test_an_option_out_of_range_is_refused_with_what_is_allowed(self, option, value, message):
        with pytest.raises(ValueError, match=message):
            SolverOptions(**{option: value})


def bad_pose(row: int, column: int, value: float) -> Array:
    """Spoil one entry of a pose."""
    T = in_plane(1.0, 0.5)
    T[row, column] = value
    return T


class TestMisuse:
    @pytest.mark.parametrize(
        ('target', 'message'),
        [
            (np.eye(3), r'target has shape \(3, 3\), expected a pose of shape \(4, 4\)'),
            ([1.0, 0.5, 0.0], r'target has shape \(3,\), expected a pose'),
            (bad_pose(0, 3, math.nan), 'target has entries that are not finite'),
            (bad_pose(1, 1, math.inf), 'target has entries that are not finite'),
            (bad_pose(0, 0, 1.1), r'not a pose: its upper left 3x3 block must be a rotation'),
            (bad_pose(2, 2, -1.0), 'must be a rotation'),
            (bad_pose(3, 3, 2.0), 'last row 0 0 0 1'),
            (bad_pose(3, 0, 0.1), 'last row 0 0 0 1'),
        ],
    )
    def test_a_target_that_is_no_pose_is_refused(self, planar, target, message):
        with pytest.raises(TargetError, match=message):
            solver_for(planar).solve(target)

    @pytest.mark.parametrize(
        ('seed', 'message'),
        [
            ([0.1], r'seed has shape \(1,\), expected \(2,\): one value for each of j0, j1'),
            ([[0.1, 0.2]], r'seed has shape \(1, 2\)'),
            ([0.1, math.nan], "seed has a value that is not finite for joint 'j1'"),
        ],
    )
    def test_a_seed_that_is_no_configuration_is_refused(self, planar, seed, message):
        with pytest.raises(JointValueError, match=message):
            solver_for(planar).solve(in_plane(1.0, 0.5), seed)

    def test_a_seed_outside_the_limits_is_brought_inside(self, planar):
        solution = solver_for(planar, mode='position').solve([1.2, 0.5, 0.0], [-40.0, 9.0])
        assert solution.converged
        assert np.all((planar.lower <= solution.q) & (solution.q <= planar.upper))


class TestInputs:
    @pytest.mark.parametrize('mode', MODES)
    def test_arrays_that_may_not_be_written_are_accepted_and_others_stay_untouched(
        self, six_axis, mode
    ):
        seed = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
        target = six_axis.forward_kinematics([0.3, 0.4, -0.9, 0.2, 0.8, 0.1])
        first = solver_for(six_axis, mode=mode).solve(target, seed)
        assert_close(seed, [0.1, 0.2, 0.3, 0.4, 0.5, 0.6], 0.0)
        assert_close(target, six_axis.forward_kinematics([0.3, 0.4, -0.9, 0.2, 0.8, 0.1]), 0.0)
        seed.flags.writeable = target.flags.writeable = False
        again = solver_for(six_axis, mode=mode).solve(target, seed)
        assert np.array_equal(first.q, again.q)

    def test_the_answer_belongs_to_the_caller(self, planar):
        solver = solver_for(planar, mode='position')
        first = solver.solve([1.2, 0.5, 0.0])
        kept = first.q.copy()
        solver.solve([0.5, 1.2, 0.0])
        assert np.array_equal(first.q, kept)
        first.q[:] = 9.0
        assert np.array_equal(solver.solve([1.2, 0.5, 0.0]).q, kept)

    def test_lists_and_other_memory_layouts_give_the_same_answer(self, six_axis):
        target = six_axis.forward_kinematics([0.3, 0.4, -0.9, 0.2, 0.8, 0.1])
        solver = solver_for(six_axis)
        expected = solver.solve(target).q
        for same in (target.tolist(), np.asfortranarray(target), np.tile(target, 2)[:, :4]):
            assert np.array_equal(solver.solve(same).q, expected)

    @pytest.mark.skipif(not COMPILED, reason='nothing is compiled')
    def test_no_input_makes_a_kernel_compile_twice(self, six_axis, planar):
        target = six_axis.forward_kinematics([0.3, 0.4, -0.9, 0.2, 0.8, 0.1])
        frozen = target.copy()
        frozen.flags.writeable = False
        for mode in MODES:
            for polish in POLISH:
                solver = solver_for(six_axis, mode=mode, polish=polish)
                seed = solver.solve(frozen).q
                solver.solve(np.asfortranarray(target), seed)
                solver.solve(transform(np.eye(3), [9.0, 0.0, 0.0]), list(seed))
                limited = solver_for(planar, mode=mode, polish=polish, max_joint_move=0.1)
                limited.solve(in_plane(1.0, 0.5), [0, 1])
        called = (
            chain_search.solve, chain_search.search, chain_search.find_nearest, search.scatter,
            chain_search.assess,
        )  # fmt: skip
        assert {kernel.__name__: compilations(kernel) for kernel in called} == {
            kernel.__name__: 1 for kernel in called
        }


def test_warm_up_says_how_long_it_took(planar):
    assert 0.0 < solver_for(planar).warm_up() < 600.0


def test_examples_in_the_docstrings_hold():
    assert doctest.testmod(solver_module).failed == 0


class TestSolveWithin:
    def test_bounds_hold_beside_the_limits_and_what_is_inside_is_reached(self):
        chain, rng = load_urdf(SIX_AXIS).chain(), np.random.default_rng(8)
        solver = solver_for(chain)
        for _ in range(50):
            q = chain.random_configuration(rng)
            lower, upper = q - rng.uniform(0.0, 0.3, 6), q + rng.uniform(0.0, 0.3, 6)
            solution = solver.solve_within(chain.forward_kinematics(q), q, lower, upper)
            assert solution.converged
            assert np.all(np.maximum(lower, chain.lower) <= solution.q)
            assert np.all(np.minimum(upper, chain.upper) >= solution.q)

    @pytest.mark.parametrize('kind', [list, np.array])
    @pytest.mark.parametrize(
        ('lower', 'upper', 'message'),
        [
            ([0.0, 0.1], [1.0, 0.0], "lower bound of joint 'j1' is above its upper bound"),
            ([0.0, math.nan], [1.0, 1.0], "lower has a value that is not finite for joint 'j1'"),
            ([0.0, 0.0], [math.inf, 1.0], "upper has a value that is not finite for joint 'j0'"),
            ([0.0], [1.0, 1.0], r'lower has shape \(1,\)'),
        ],
    )
    def test_bounds_that_make_no_sense_are_refused(self, kind, lower, upper, message):
        chain = load_urdf(PLANAR).chain()
        T = chain.forward_kinematics([0.2, 0.4])
        with pytest.raises(JointValueError, match=message):
            solver_for(chain).solve_within(T, [0.2, 0.4], kind(lower), kind(upper))
