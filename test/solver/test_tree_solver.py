"""Several tips at once: answers known by trigonometry, and what is said where there is none."""

from concurrent.futures import ThreadPoolExecutor
import math

from fabrik_ros import (
    FabrikSolver,
    JointValueError,
    LinkNotFoundError,
    load_urdf,
    Solution,
    SolverOptions,
    Status,
    TargetError,
    TipOptions,
    TreeSolver,
)
from fabrik_ros.kernels import tree_search
from fabrik_ros.kernels._jit import COMPILED
from fabrik_ros.transforms import (
    Array,
    rotation_from_rpy,
    rotation_from_vector,
    rotation_vector,
    transform,
)
from helpers import assert_close, example_robot, PLANAR, REAL_TREES, Segment, SIX_AXIS
import numpy as np
import pytest
from solving import (
    Branching,
    compilations,
    is_inside,
    judged_tree,
    ROUNDING,
    same_answer,
    TOLERANCE,
    tree_solver_for,
)

POLISH = ['auto', 'never']
COUNT = 100 if COMPILED else 5

SLED = Branching(
    (
        Segment('prismatic', (1, 0, 0), lower=-1.0, upper=1.0),
        Segment('fixed', xyz=(0.0, 0.1, 0.0)),
        Segment('fixed', xyz=(0.0, 0.8, 0.0)),
    ),
    (0, 1, 1),
    (2, 3),
)
"""A slide along x that carries two tips, one far out."""


def torso(travel: float = 2.0, turn: float = math.pi / 2) -> Branching:
    r"""
    Build two planar arms on a slide along x, all hinges about z.

             0.3 +--1.0--o--0.8-- l4
        --slide--|                         elbows bend to the left alone
            -0.3 +--1.0--o--0.8-- l7
    """
    arm = (Segment(xyz=(1.0, 0.0, 0.0), lower=0.0), Segment('fixed', xyz=(0.8, 0.0, 0.0)))
    return Branching(
        (
            Segment('prismatic', (1, 0, 0), lower=-travel, upper=travel),
            Segment(xyz=(0.0, 0.3, 0.0), lower=-turn, upper=turn),
            *arm,
            Segment(xyz=(0.0, -0.3, 0.0), lower=-turn, upper=turn),
            *arm,
        ),
        (0, 1, 2, 3, 1, 5, 6),
        (4, 7),
    )


FREE = 10.0 - math.sqrt(1.8**2 - 1.0) - 1.8


def at(x: float, y: float, angle: float = 0.0) -> Array:
    """Pose (4, 4) in the plane."""
    return transform(rotation_from_rpy(0.0, 0.0, angle), [x, y, 0.0])


def tip_of_two_links(shoulder: Array, q1: float, q2: float) -> Array:
    """Pose of the tip of a planar arm, by trigonometry."""
    x = shoulder[0] + math.cos(q1) + 0.8 * math.cos(q1 + q2)
    y = shoulder[1] + math.sin(q1) + 0.8 * math.sin(q1 + q2)
    return at(x, y, q1 + q2)


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(31)


@pytest.mark.parametrize('polish', POLISH)
class TestByTrigonometry:
    @pytest.mark.parametrize('weights', [(1.0, 1.0), (1.0, 3.0), (0.2, 0.01), (1e3, 1e3)])
    def test_targets_that_contradict_each_other_are_met_at_their_weighted_mean(
        self, polish, weights
    ):
        tips = {f'l{2 + t}': TipOptions(weight=weight) for t, weight in enumerate(weights)}
        solver = tree_solver_for(SLED.tree(), tips, polish=polish, max_restarts=3)
        left, right = 0.3, -0.4
        solution = solver.solve({'l2': at(left, 0.1), 'l3': at(right, 0.8)})
        mean = (weights[0] * left + weights[1] * right) / sum(weights)
        assert_close(solution.q, [mean], 1e-6)
        assert solution.status is Status.STALLED
        assert_close(
            [tip.position_error for tip in solution.tips], [left - mean, mean - right], 1e-6
        )
        assert not any(tip.converged for tip in solution.tips)
        assert solution.position_error == max(tip.position_error for tip in solution.tips)

    def test_two_arms_on_a_slide_stand_as_by_trigonometry(self, polish, rng):
        solver = tree_solver_for(torso().tree(), polish=polish)
        for _ in range(COUNT):
            targets = {'l4': at(*rng.uniform([0.2, 0.3], [1.0, 1.0])), 'l7': at(0.9, -0.5)}
            solution = solver.solve(targets)
            assert solution.status is Status.CONVERGED
            x, *elbows = solution.q
            for side, (tip, target) in zip((0.3, -0.3), targets.items(), strict=True):
                across = target[:2, 3] - [x, side]
                cosine = (across @ across - 1.0 - 0.64) / 1.6
                first, second = elbows[:2] if tip == 'l4' else elbows[2:]
                bent = math.acos(np.clip(cosine, -1.0, 1.0))
                aside = math.atan2(0.8 * math.sin(bent), 1.0 + 0.8 * math.cos(bent))
                assert_close(second, bent, 1e-3)
                assert_close(first, math.atan2(across[1], across[0]) - aside, 1e-3)

    def test_the_pose_of_one_arm_places_the_torso_and_the_other_follows(self, polish, rng):
        solver = tree_solver_for(torso().tree(), {'l4': TipOptions(mode='pose')}, polish=polish)
        for _ in range(COUNT):
            truth = rng.uniform([-0.5, -1.2, 0.4, -1.2, 0.4], [0.5, 1.2, 2.0, 1.2, 2.0])
            x, *arms = truth
            left = tip_of_two_links([x, 0.3], *arms[:2])
            right = tip_of_two_links([x, -0.3], *arms[2:])
            # Only one shoulder within a quarter turn puts the wrist at the height of the pose,
            # and only one elbow that bends to the left reaches from the torso then given.
            solution = solver.solve({'l4': left, 'l7': right})
            assert solution.converged
            assert_close(solution.q, truth, 1e-4)
            assert solution.tips[1].orientation_error == 0.0

    def test_a_tip_on_the_way_to_another_one_has_its_own_target(self, polish, rng):
        robot = torso()
        tree = Branching(robot.segments, robot.parents, (3, 4)).tree()
        solver = tree_solver_for(tree, polish=polish)
        for _ in range(COUNT):
            truth = rng.uniform([-1.0, -1.2, 0.4], [1.0, 1.2, 2.0])
            solution = solver.solve(tree.forward_kinematics(truth))
            assert solution.converged
            assert_close(solution.q, truth, 1e-4)

    @pytest.mark.parametrize(('travel', 'nearest', 'atol'), [(0.5, 7.7, 1e-4), (2.0, FREE, 1e-2)])
    def test_a_tip_out_of_reach_leans_as_far_as_the_other_one_on_its_target_lets_it(
        self, polish, travel, nearest, atol
    ):
        solver = tree_solver_for(torso(travel, 3.0).tree(), polish=polish)
        # The torso is stopped by its own limit, or by the other arm, which is stretched then.
        solution = solver.solve({'l4': at(0.0, 1.3), 'l7': at(10.0, -0.3)}, [0, 1, 1, 1, 1])
        assert solution.status is Status.TOO_FAR
        assert solution.tips[0].converged
        assert not solution.tips[1].converged
        if polish == 'auto':
            assert_close(solution.tips[1].position_error, nearest, atol)
        assert nearest - 1e-4 < solution.tips[1].position_error < nearest + 0.1


@pytest.mark.parametrize('polish', POLISH)
class TestFreeTips:
    def test_left_out_and_not_a_number_are_the_same(self, polish, rng):
        tree = torso().tree()
        solver = tree_solver_for(tree, polish=polish)
        for _ in range(COUNT):
            T = tree.forward_kinematics(tree.random_configuration(rng))
            by_name = solver.solve({'l7': T[1]})
            T[0] = math.nan
            assert same_answer(by_name, solver.solve(T))

    def test_joints_that_only_free_tips_hang_on_stand_as_in_the_seed(self, polish, rng):
        tree = torso().tree()
        solver = tree_solver_for(tree, {'l7': TipOptions(mode='pose')}, polish=polish)
        statuses, restarted = set(), False
        for k in range(COUNT):
            T = tree.forward_kinematics(tree.random_configuration(rng))[1]
            if k % 4 == 1:
                T[0, 3] += 20.0
            if k % 4 == 2:
                T = T @ at(0.0, 0.0, 2.0)
            seed = tree.random_configuration(rng)
            solution = solver.solve({'l7': T}, seed)
            statuses.add(solution.status)
            restarted = restarted or solution.restarts > 0
            assert np.array_equal(solution.q[1:3], seed[1:3])
            assert solution.tips[0] == (0.0, 0.0, True)
        assert restarted or not COMPILED
        assert {Status.CONVERGED, Status.TOO_FAR} < statuses

    def test_all_tips_free_stay_at_the_seed_inside_the_limits(self, polish):
        solution = tree_solver_for(torso().tree(), polish=polish).solve({}, [9.0, 0, 1, 0, 1])
        assert solution.converged
        assert solution.finished_by == 'seed'
        assert_close(solution.q, [2.0, 0, 1, 0, 1], 0.0)

    def test_a_free_finger_that_is_followed_moves_with_its_follower(self, polish):
        tree = gripper().tree()
        solution = tree_solver_for(tree, {'l3': TipOptions(weight=2.0)}, polish=polish).solve(
            {'l3': tree.forward_kinematics([0.3, 0.03])[1]}
        )
        assert solution.converged
        assert_close(solution.q, [0.3, 0.03], 1e-4)


def gripper() -> Branching:
    """Two fingers on a wrist, the right one opens as far as the left."""
    opening = {'xyz': (0.3, 0.0, 0.0), 'lower': 0.0, 'upper': 0.05}
    return Branching(
        (
            Segment(lower=-2.0, upper=2.0),
            Segment('prismatic', (0, 1, 0), **opening),
            Segment('prismatic', (0, -1, 0), **opening, mimic=(1, 1.0, 0.0)),
        ),
        (0, 1, 1),
        (2, 3),
    )


@pytest.mark.parametrize('polish', POLISH)
class TestStatus:
    def test_already_there_nothing_is_done(self, polish, rng):
        tree = torso().tree()
        solver = tree_solver_for(tree, polish=polish)
        for _ in range(COUNT):
            q = tree.random_configuration(rng)
            solution = solver.solve(tree.forward_kinematics(q), q)
            assert solution.finished_by == 'seed'
            assert (solution.passes, solution.polish_steps, solution.restarts) == (0, 0, 0)
            assert np.array_equal(solution.q, q)

    def test_a_hinge_at_its_limit_is_named_and_the_other_tip_is_on_its_target(self, polish):
        stick = Segment('fixed', xyz=(1.0, 0.0, 0.0))
        two = Branching(
            (Segment(lower=-1.0, upper=1.0), stick, Segment(xyz=(3.0, 0.0, 0.0)), stick),
            (0, 1, 0, 3),
            (2, 4),
        )
        solution = tree_solver_for(two.tree(), polish=polish, max_restarts=3).solve(
            {'l2': at(math.cos(2.0), math.sin(2.0)), 'l4': at(3.0, 1.0)}
        )
        assert solution.status is Status.BLOCKED_BY_LIMITS
        assert solution.limited_joints == ('j0',)
        assert_close(solution.q, [1.0, math.pi / 2], 1e-5)
        assert_close(solution.tips[0].position_error, 2.0 * math.sin(0.5), 1e-5)
        assert solution.tips[1].converged

    @pytest.mark.parametrize('seed', [None, [0.0, 0.0, 0.5, 0.0, 0.5]])
    def test_all_tips_out_of_reach_stretch_towards_their_targets(self, polish, seed):
        targets = {'l4': at(50.0, 0.3), 'l7': at(40.0, -0.3)}
        solution = tree_solver_for(torso(1.0).tree(), polish=polish).solve(targets, seed)
        assert solution.status is Status.TOO_FAR
        errors = [tip.position_error for tip in solution.tips]
        # Rounds alone go for a point on the sphere of the reach, not quite in the direction of x.
        assert_close(errors, [50.0 - 2.8, 40.0 - 2.8], 1e-3 if polish == 'auto' else 0.05)
        assert solution.position_error == max(errors)

    def test_too_far_comes_before_too_near_whatever_the_order_of_tips(self, polish):
        arm = (
            Segment('continuous'),
            Segment(xyz=(1.0, 0.0, 0.0)),
            Segment('fixed', xyz=(0.5, 0.0, 0.0)),
        )
        aside = Segment('continuous', xyz=(5.0, 0.0, 0.0))
        for tips in ((3, 6), (6, 3)):
            two = Branching((*arm, aside, *arm[1:]), (0, 1, 2, 0, 4, 5), tips)
            solver = tree_solver_for(two.tree(), polish=polish)
            targets = {'l3': at(3.0, 0.0), 'l6': at(5.1, 0.0)}
            assert solver.solve(targets).status is Status.TOO_FAR
            solution = solver.solve({'l6': targets['l6']})
            assert solution.status is Status.TOO_NEAR
            folded = math.sqrt(1.25 - math.cos(math.pi - 3.0)) - 0.1
            assert_close(solution.position_error, folded, 1e-4)

    def test_an_arm_that_stands_straight_folds_all_the_same_beside_one_on_its_target(self, polish):
        two = torso()
        tree = Branching(two.segments, two.parents, (4, 7)).tree()
        solver = tree_solver_for(tree, polish=polish)
        far = {'l4': at(0.9, 0.5), 'l7': at(-9.0, -0.3)}
        solution = solver.solve(far, np.zeros(5))
        assert solution.status is Status.TOO_FAR
        assert solution.tips[0].converged
        assert solution.tips[1].position_error < 9.0 + 1.8 - 1.0  # it points away, if it stays

    def test_an_empty_budget_is_said_to_be_exhausted(self, polish):
        solver = TreeSolver(SLED.tree(), SolverOptions(polish=polish, budget=1e-9))
        solution = solver.solve({'l2': at(0.3, 0.1), 'l3': at(-0.4, 0.8)})
        assert solution.status is Status.BUDGET_EXHAUSTED

    def test_passes_steps_and_finisher_tell_one_story(self, polish, rng):
        tree = torso().tree()
        solver = tree_solver_for(tree, polish=polish, max_restarts=10)
        for k in range(COUNT):
            T = tree.forward_kinematics(tree.random_configuration(rng))
            T[0, 0, 3] += (0.0, 0.0, 20.0, 0.0)[k % 4]
            T[1, 0, 3] += (0.0, 0.5, 0.0, 30.0)[k % 4]
            solution = solver.solve(T, tree.random_configuration(rng))
            assert_one_story(solution, polish)


def assert_one_story(solution: Solution, polish: str) -> None:
    """Status, errors, counters and who finished tell the same story."""
    assert solution.converged == all(tip.converged for tip in solution.tips)
    for tip in solution.tips:
        inside = tip.position_error <= TOLERANCE and tip.orientation_error <= TOLERANCE
        assert tip.converged == inside
    assert solution.passes % 2 == 0
    assert polish == 'auto' or solution.polish_steps == 0
    if solution.finished_by == 'polish':
        assert solution.polish_steps > 0
    elif solution.finished_by == 'fabrik':
        assert solution.passes > 0
    elif solution.finished_by == 'seed':
        assert solution.converged
    else:
        assert not solution.converged


@pytest.mark.parametrize('polish', POLISH)
class TestBounds:
    def test_no_joint_moves_farther_than_allowed(self, polish, rng):
        tree = torso().tree()
        solver = tree_solver_for(tree, polish=polish, max_joint_move=0.3, max_restarts=5)
        for k in range(COUNT):
            T = tree.forward_kinematics(tree.random_configuration(rng))
            T[0, 0, 3] += 20.0 * (k % 3 == 2)
            seed = tree.random_configuration(rng)
            q = solver.solve(T, seed).q
            assert np.abs(q - seed).max() <= 0.3 + 1e-12
            assert is_inside(tree, q)

    def test_bounds_hold_beside_the_limits_and_what_is_inside_is_reached(self, polish, rng):
        tree = torso().tree()
        solver, reached = tree_solver_for(tree, polish=polish), []
        for _ in range(COUNT):
            q = tree.random_configuration(rng)
            lower, upper = q - rng.uniform(0.05, 0.5, 5), q + rng.uniform(0.05, 0.5, 5)
            seed = rng.uniform(lower, upper)
            solution = solver.solve_within(tree.forward_kinematics(q), seed, lower, upper)
            assert np.all(np.maximum(lower, tree.lower) <= solution.q)
            assert np.all(np.minimum(upper, tree.upper) >= solution.q)
            reached.append(solution.converged)
        assert np.mean(reached) >= (1.0 if polish == 'auto' else 0.95)

    def test_bounds_beyond_the_limits_lie_on_them(self, polish):
        tree = SLED.tree()
        solver = tree_solver_for(tree, polish=polish, max_restarts=1)
        solution = solver.solve_within({'l2': at(0.3, 0.1)}, [0.0], [5.0], [6.0])
        assert_close(solution.q, [1.0], 0.0)

    def test_without_restarts_there_are_none(self, polish, rng):
        tree = torso().tree()
        solver = tree_solver_for(
            tree, {'l4': TipOptions(mode='pose')}, polish=polish, max_restarts=0
        )
        for _ in range(COUNT):
            T = tree.forward_kinematics(tree.random_configuration(rng))
            assert solver.solve(T, tree.random_configuration(rng)).restarts == 0

    def test_restarts_are_no_more_than_allowed(self, polish):
        solver = tree_solver_for(SLED.tree(), polish=polish, max_restarts=7)
        assert solver.solve({'l2': at(0.3, 0.1), 'l3': at(-0.4, 0.8)}).restarts <= 7


class TestInputs:
    def scenes(self, tree, rng):
        """Draw targets in reach and out of it, and seeds."""
        for k in range(COUNT):
            T = tree.forward_kinematics(tree.random_configuration(rng))
            T[k % len(T), 0, 3] += (0.0, 0.0, 0.2, 20.0)[k % 4]
            yield T, tree.random_configuration(rng)

    @pytest.mark.parametrize('polish', POLISH)
    def test_same_input_same_output_bit_for_bit(self, rng, polish):
        tree = torso().tree()
        one, two = (tree_solver_for(tree, polish=polish, max_restarts=10) for _ in range(2))
        for T, seed in self.scenes(tree, rng):
            first = one.solve(T, seed)
            assert same_answer(first, two.solve(T, seed))
            assert same_answer(first, one.solve(T, seed))

    def test_two_threads_with_one_solver_get_what_one_gets(self, rng):
        tree, _ = judged_tree('talos')
        scenes = list(self.scenes(tree, rng))
        solver = tree_solver_for(tree, max_restarts=5)
        alone = [solver.solve(*scene) for scene in scenes]
        with ThreadPoolExecutor(2) as threads:
            together = list(threads.map(lambda scene: solver.solve(*scene), scenes))
        assert all(map(same_answer, alone, together))

    def test_arrays_that_may_not_be_written_are_accepted_and_others_stay_untouched(self, rng):
        tree = torso().tree()
        solver = tree_solver_for(tree, max_restarts=5)
        for T, seed in self.scenes(tree, rng):
            T_before, seed_before = T.copy(), seed.copy()
            first = solver.solve(T, seed)
            bounded = solver.solve_within(T, seed, seed - 0.1, seed + 0.1)
            assert np.array_equal(T, T_before)
            assert np.array_equal(seed, seed_before)
            T.flags.writeable = seed.flags.writeable = False
            assert same_answer(first, solver.solve(T, seed))
            assert same_answer(bounded, solver.solve_within(T, seed, seed - 0.1, seed + 0.1))

    def test_the_answer_belongs_to_the_caller(self):
        solver = tree_solver_for(SLED.tree())
        first = solver.solve({'l2': at(0.3, 0.1)})
        solver.solve({'l2': at(-0.3, 0.1)})
        assert_close(first.q, [0.3], 1e-6)
        first.q[:] = 9.0
        assert_close(solver.solve({'l2': at(0.3, 0.1)}).q, [0.3], 1e-6)

    def test_lists_and_other_memory_layouts_give_the_same_answer(self):
        tree = torso().tree()
        T = tree.forward_kinematics([0.1, 0.2, 0.3, 0.4, 0.5])
        solver = tree_solver_for(tree)
        expected = solver.solve(T)
        for same in (T.tolist(), np.asfortranarray(T), np.tile(T, 2)[:, :, :4], list(T)):
            assert same_answer(solver.solve(same), expected)
        by_name = dict(zip(tree.tip_links, T.tolist(), strict=True))
        assert same_answer(solver.solve(by_name), expected)

    def test_a_seed_outside_the_limits_is_brought_inside(self):
        solution = tree_solver_for(SLED.tree()).solve({'l2': at(0.3, 0.1)}, [40.0])
        assert_close(solution.q, [0.3], 1e-6)

    def test_the_seed_left_out_is_the_middle_of_the_limits(self):
        tree = torso().tree()
        solver, T = tree_solver_for(tree), tree.forward_kinematics([0.1, 0.2, 0.3, 0.4, 0.5])
        assert same_answer(solver.solve(T), solver.solve(T, tree.mid_configuration()))

    @pytest.mark.skipif(not COMPILED, reason='nothing is compiled')
    def test_no_input_makes_a_kernel_compile_twice_nor_anything_after_warming_up(self, rng):
        one, two = SLED.tree(), torso().tree()
        tree_solver_for(two).warm_up()
        called = (
            tree_search.solve, tree_search.search, tree_search.find_nearest, tree_search.assess,
        )  # fmt: skip
        once = dict.fromkeys(called, 1)
        assert {kernel: compilations(kernel) for kernel in called} == once
        for polish in POLISH:
            tree_solver_for(one, polish=polish, max_restarts=2).solve({'l2': at(0.3, 0.1)}, [0])
            solver = tree_solver_for(two, polish=polish, max_joint_move=0.5, max_restarts=2)
            for T, seed in self.scenes(two, rng):
                T.flags.writeable = False
                solver.solve(T, list(seed))
                solver.solve(np.asfortranarray(T), seed)
                solver.solve_within(T, seed, list(seed - 1.0), seed + 1.0)
        assert {kernel: compilations(kernel) for kernel in called} == once

    def test_warm_up_says_how_long_it_took_with_any_number_of_tips(self):
        one = load_urdf(PLANAR).tree('l0', ['l3'])
        for tree in (one, SLED.tree(), torso().tree()):
            assert 0.0 < tree_solver_for(tree).warm_up() < 600.0


@pytest.mark.parametrize('polish', POLISH)
@pytest.mark.parametrize('urdf', [PLANAR, SIX_AXIS], ids=['planar', 'six_axis'])
class TestOneTip:
    def test_a_tree_with_one_tip_solves_what_the_serial_solver_solves(self, urdf, polish, rng):
        robot = load_urdf(urdf)
        chain = robot.chain()
        tree, mode = robot.tree(chain.base_link, [chain.tip_link]), 'pose'
        options = SolverOptions(mode=mode, polish=polish, budget=math.inf, max_restarts=30)
        several, one = TreeSolver(tree, options), FabrikSolver(chain, options)
        for k in range(COUNT):
            T = chain.forward_kinematics(chain.random_configuration(rng))
            if k % 4 == 1:
                T[:3, 3] *= 3.0
            if k % 4 == 2:
                T = T @ transform(rotation_from_vector(rng.normal(size=3)), np.zeros(3))
            seed = chain.random_configuration(rng)
            found, expected = several.solve([T], seed), one.solve(T, seed)
            assert found.converged == expected.converged
            assert (found.status is Status.TOO_FAR) == (expected.status is Status.TOO_FAR)
            assert_close(found.position_error, expected.position_error, 2e-3 * chain.reach)


def bad_pose(row: int, column: int, value: float) -> Array:
    """Spoil one entry of a pose."""
    T = at(0.3, 0.1)
    T[row, column] = value
    return T


class TestMisuse:
    @pytest.mark.parametrize(
        ('target', 'message'),
        [
            (np.eye(3), r"the target of 'l3' has shape \(3, 3\), not \(4, 4\)"),
            ([1.0, 0.5, 0.0], r"the target of 'l3' has shape \(3,\), not \(4, 4\)"),
            (bad_pose(0, 3, math.nan), "the target of 'l3' has entries that are not finite"),
            (bad_pose(1, 1, math.inf), "the target of 'l3' has entries that are not finite"),
            (np.full((4, 4), math.nan), "the target of 'l3' has entries that are not finite"),
            (np.full((4, 4), math.inf), "the target of 'l3' has entries that are not finite"),
            (
                bad_pose(0, 0, 1.1),
                "the target of 'l3' is not a pose: its upper left 3x3 block must",
            ),
            (bad_pose(2, 2, -1.0), "the target of 'l3' is not a pose"),
            (bad_pose(3, 3, 2.0), r"the target of 'l3' is not a pose.*last row 0 0 0 1"),
        ],
    )
    def test_a_target_that_is_no_pose_is_refused_with_its_tip(self, target, message):
        solver = tree_solver_for(SLED.tree())
        for others in ({}, {'l2': at(0.3, 0.1)}, {'l2': at(90.0, 0.1)}):
            with pytest.raises(TargetError, match=message):
                solver.solve({**others, 'l3': target})

    def test_a_row_that_is_only_partly_free_is_refused(self):
        T = np.array([at(0.3, 0.1), bad_pose(2, 2, math.nan)])
        with pytest.raises(
            TargetError, match="the target of 'l3' has entries that are not finite"
        ):
            tree_solver_for(SLED.tree()).solve(T)

    @pytest.mark.parametrize('shape', [(4, 4), (1, 4, 4), (3, 4, 4), (2, 3)])
    def test_targets_of_another_shape_are_refused(self, shape):
        with pytest.raises(TargetError, match=r'targets have shape .*, expected .* \(2, 4, 4\)'):
            tree_solver_for(SLED.tree()).solve(np.zeros(shape))

    def test_a_target_for_a_link_that_is_no_tip_is_refused_with_the_tips(self):
        with pytest.raises(LinkNotFoundError, match='l1') as caught:
            tree_solver_for(SLED.tree()).solve({'l1': at(0.3, 0.1)})
        assert caught.value.available == ('l2', 'l3')

    @pytest.mark.parametrize(
        ('seed', 'message'),
        [
            ([0.1, 0.2], r'seed has shape \(2,\), expected \(1,\): one value for each of j0'),
            ([[0.1]], r'seed has shape \(1, 1\)'),
            ([math.nan], "seed has a value that is not finite for joint 'j0'"),
            ([math.inf], "seed has a value that is not finite for joint 'j0'"),
        ],
    )
    @pytest.mark.parametrize('move', [math.inf, 0.1])
    def test_a_seed_that_is_no_configuration_is_refused(self, seed, message, move):
        solver = tree_solver_for(SLED.tree(), max_joint_move=move)
        with pytest.raises(JointValueError, match=message):
            solver.solve({'l2': at(0.3, 0.1)}, seed)
        with pytest.raises(JointValueError, match=message):
            solver.solve_within({'l2': at(0.3, 0.1)}, seed, [-1.0], [1.0])

    @pytest.mark.parametrize(
        ('lower', 'upper', 'message'),
        [
            ([0.2], [0.1], "the lower bound of joint 'j0' is above its upper bound"),
            ([math.nan], [0.1], "lower has a value that is not finite for joint 'j0'"),
            ([-math.inf], [0.1], "lower has a value that is not finite for joint 'j0'"),
            ([0.1], [math.nan], "upper has a value that is not finite for joint 'j0'"),
            ([0.1, 0.2], [0.3], r'lower has shape \(2,\)'),
            ([0.1], 0.3, r'upper has shape \(\)'),
        ],
    )
    def test_bounds_that_make_no_sense_are_refused(self, lower, upper, message):
        solver = tree_solver_for(SLED.tree())
        for kind in (list, np.array):
            with pytest.raises(JointValueError, match=message):
                solver.solve_within(
                    {'l2': at(0.3, 0.1)}, [0.0], kind(lower), np.array(upper, dtype=float)
                )

    @pytest.mark.parametrize(
        ('options', 'message'),
        [
            ({'posture': (0.1,)}, 'a posture is for single arms; leave it out with several tips'),
            ({'prefer': 'near'}, "prefer must be 'first' with several tips; got 'near'"),
            ({'prefer': 'central'}, "prefer must be 'first' with several tips; got 'central'"),
        ],
    )
    def test_options_for_single_arms_are_refused(self, options, message):
        with pytest.raises(ValueError, match=message):
            TreeSolver(SLED.tree(), SolverOptions(**options))

    @pytest.mark.parametrize(
        ('options', 'message'),
        [
            ({'mode': 'fast'}, "mode must be one of auto, pose, axis, position; got 'fast'"),
            ({'weight': 0.0}, 'weight must be positive and finite, got 0.0'),
            ({'weight': -1.0}, 'weight must be positive and finite, got -1.0'),
            ({'weight': math.inf}, 'weight must be positive and finite, got inf'),
            ({'weight': math.nan}, 'weight must be positive and finite, got nan'),
            ({'axis': (0, 0, 0)}, r'axis must be three finite numbers, not all zero, got \(0, 0'),
            ({'axis': (1, 0)}, 'axis must be three finite numbers'),
            ({'axis': ()}, 'axis must be three finite numbers'),
            ({'axis': (0, 1, math.nan)}, 'axis must be three finite numbers'),
        ],
    )
    def test_an_option_of_a_tip_that_makes_no_sense_is_refused(self, options, message):
        with pytest.raises(ValueError, match=message):
            TipOptions(**options)

    def test_options_for_a_link_that_is_no_tip_are_refused_with_the_tips(self):
        with pytest.raises(LinkNotFoundError, match='hand') as caught:
            TreeSolver(SLED.tree(), tips={'hand': TipOptions()})
        assert caught.value.available == ('l2', 'l3')

    def test_an_axis_may_be_an_array(self):
        tips = {'l3': TipOptions(mode='axis', axis=np.array([0.0, 0.0, 2.0]))}
        assert tree_solver_for(SLED.tree(), tips).solve({'l3': at(0.3, 0.8)}).converged

    def test_the_options_given_may_change_afterwards(self):
        tips = {'l2': TipOptions(mode='pose')}
        solver = tree_solver_for(SLED.tree(), tips, max_restarts=1)
        tips['l2'] = TipOptions(mode='position')
        assert not solver.solve({'l2': at(0.3, 0.1, 1.0)}).converged


SOLVED = (
    {'talos': 2000, 'tiago_pro': 2000, 'allegro': 500}
    if COMPILED
    else dict.fromkeys(REAL_TREES, 5)
)


def errors_in_mode(judge, T: Array, q: Array, modes: list[str], axis=(0.0, 0.0, 1.0)) -> Array:
    """Errors of position and of what the modes ask of the orientation, shape (k, 2)."""
    found = judge.errors(T, q)
    for t, (mode, pose) in enumerate(zip(modes, judge.poses(q), strict=True)):
        if mode == 'position':
            found[t, 1] = 0.0
        elif mode == 'axis':
            a, b = pose[:3, :3] @ axis, T[t, :3, :3] @ axis
            found[t, 1] = math.atan2(np.linalg.norm(np.cross(a, b)), a @ b)
    return found


def mode_of(name: str) -> str:
    return 'position' if name == 'allegro' else 'pose'


class TestRealRobots:
    @pytest.mark.parametrize('name', REAL_TREES)
    def test_of_a_thousand_reachable_targets_995_are_solved_from_the_middle(self, name):
        tree, judge = judged_tree(name)
        options = {'position_tolerance': 1e-5, 'orientation_tolerance': 1e-5}
        solver = TreeSolver(tree, SolverOptions(budget=0.02 if COMPILED else 2.0, **options))
        modes, rng, solved = [mode_of(name)] * len(tree.tip_links), np.random.default_rng(2), []
        for _ in range(SOLVED[name]):
            T = judge.poses(tree.random_configuration(rng))
            solution = solver.solve(T)
            errors = errors_in_mode(judge, T, solution.q, modes)
            assert is_inside(judge, solution.q)
            solved.append(bool(np.all(errors <= 1e-5 + ROUNDING)))
            assert solved[-1] == solution.converged
        assert np.mean(solved) >= 0.995

    @pytest.mark.parametrize('polish', POLISH)
    @pytest.mark.parametrize('name', REAL_TREES)
    def test_residuals_are_what_pinocchio_finds_whatever_the_status(self, name, polish, rng):
        tree, judge = judged_tree(name)
        solver = tree_solver_for(tree, polish=polish, max_restarts=3)
        modes, statuses = [mode_of(name)] * len(tree.tip_links), set()
        for k in range(COUNT):
            T = judge.poses(tree.random_configuration(rng))
            T[k % len(T), 2, 3] += (0.0, 0.0, 0.3 * tree.reach, 5.0)[k % 4]
            T[-1] = T[-1] @ transform(
                rotation_from_vector((k % 3) * rng.normal(size=3)), np.zeros(3)
            )
            solution = solver.solve(T, tree.random_configuration(rng))
            statuses.add(solution.status)
            assert is_inside(judge, solution.q)
            reported = [tip[:2] for tip in solution.tips]
            assert_close(reported, errors_in_mode(judge, T, solution.q, modes), 3e-8)
            assert_one_story(solution, polish)
        assert {Status.CONVERGED, Status.TOO_FAR} < statuses or not COMPILED

    @pytest.mark.parametrize('polish', POLISH)
    def test_every_tip_has_its_own_mode(self, polish, rng):
        pytest.importorskip('pinocchio')
        from judging import TreeJudge

        urdf = example_robot('talos').read_text()
        tips = (*REAL_TREES['talos'].tip_links, 'head_2_link')
        tree = load_urdf(urdf).tree('base_link', tips)
        judge = TreeJudge(urdf, 'base_link', tips, tree.joint_names)
        modes = ['pose', 'position', 'axis']
        axis = np.array([0.6, 0.0, 0.8])
        wanted = {
            tip: TipOptions(mode=mode, axis=axis) for tip, mode in zip(tips, modes, strict=True)
        }
        solver, turned, solved = tree_solver_for(tree, wanted, polish=polish), [], []
        for _ in range(COUNT):
            T = judge.poses(tree.random_configuration(rng))
            about = transform(rotation_from_vector(rng.normal() * axis), np.zeros(3))
            T[1] = T[1] @ transform(rotation_from_vector(rng.normal(size=3)), np.zeros(3))
            T[2] = T[2] @ about
            solution = solver.solve(T)
            found = errors_in_mode(judge, T, solution.q, modes, axis)
            assert_close([tip[:2] for tip in solution.tips], found, 3e-8)
            solved.append(bool(np.all(found <= TOLERANCE + ROUNDING)))
            assert solved[-1] == solution.converged
            turned.append(judge.errors(T, solution.q)[1:, 1].min())
        assert np.mean(solved) >= (0.99 if polish == 'auto' else 0.9)
        assert np.median(turned) > 0.1  # what is not asked for is not done

    @pytest.mark.parametrize('polish', POLISH)
    def test_axes_of_no_weight_are_free_at_every_tip(self, polish, rng):
        tree, judge = judged_tree('talos')
        weights = (1.0, 1.0, 1.0, 1.0, 1.0, 0.0)  # a turn about z of the target is free
        solver, solved = tree_solver_for(tree, axis_weights=weights, polish=polish), []
        for _ in range(COUNT):
            T = judge.poses(tree.random_configuration(rng))
            T = T @ transform(rotation_from_rpy(0.0, 0.0, rng.uniform(-0.5, 0.5)), np.zeros(3))
            solution = solver.solve(T)
            for target, pose in zip(T, judge.poses(solution.q), strict=True):
                lack = rotation_vector(target[:3, :3].T @ pose[:3, :3])[:2]
                apart = np.linalg.norm(pose[:3, 3] - target[:3, 3])
                met = max(apart, np.linalg.norm(lack)) <= TOLERANCE + ROUNDING
                solved.append(met)
                assert met or not solution.converged
        assert np.mean(solved) >= (1.0 if polish == 'auto' else 0.95)

    @pytest.mark.parametrize('polish', POLISH)
    def test_one_arm_out_of_reach_does_not_pull_the_other_off_its_target(self, polish, rng):
        tree, judge = judged_tree('talos')
        solver, kept, left = tree_solver_for(tree, polish=polish), [], []
        for k in range(COUNT):
            T = judge.poses(tree.random_configuration(rng))
            away = T[0, :3, 3] - tree.root_points[0]
            T[0, :3, 3] += (1.2 * tree.reach * 10.0 ** (k % 3)) * away / np.linalg.norm(away)
            solution = solver.solve(T)
            assert solution.status is Status.TOO_FAR
            kept.append(solution.tips[1].converged)
            alone = solver.solve({tree.tip_links[1]: T[1]})
            before = np.linalg.norm(judge.poses(alone.q)[0, :3, 3] - T[0, :3, 3])
            assert solution.tips[0].position_error <= before + 1e-9
            left.append(np.sum(judge.errors(T, solution.q)[1] > TOLERANCE + ROUNDING))
        assert np.mean(kept) >= 0.99
        assert np.mean(np.array(left) == 0) >= 0.99

    def test_weights_far_apart_change_nothing_where_all_can_be_met(self, rng):
        tree, judge = judged_tree('talos')
        for weight in (1e-3, 1e3):
            tips = {tree.tip_links[0]: TipOptions(weight=weight)}
            solver = tree_solver_for(tree, tips)
            for _ in range(COUNT):
                T = judge.poses(tree.random_configuration(rng))
                assert np.all(judge.errors(T, solver.solve(T).q) <= TOLERANCE + ROUNDING)

    def test_a_close_seed_keeps_its_configuration(self, rng):
        for name in REAL_TREES:
            tree, judge = judged_tree(name)
            solver = tree_solver_for(tree)
            for _ in range(COUNT):
                q = tree.random_configuration(rng)
                seed = np.clip(q + rng.uniform(-0.1, 0.1, len(q)), tree.lower, tree.upper)
                solution = solver.solve(judge.poses(q), seed)
                assert solution.converged
                assert solution.restarts == 0
                assert np.abs(solution.q - seed).max() <= 0.5 + 1e-12


def test_targets_turned_in_place_keep_their_places(rng):
    # Places come before turns: where a pose cannot be, its place still is.
    tree = torso().tree()
    tips = {tip: TipOptions(mode='pose') for tip in tree.tip_links}
    solver = tree_solver_for(tree, tips, max_restarts=20)
    for _ in range(COUNT):
        T = tree.forward_kinematics(rng.uniform([-0.3, -1, 0.5, -1, 0.5], [0.3, 1, 1.5, 1, 1.5]))
        T[1] = T[1] @ at(0.0, 0.0, 0.2)
        solution = solver.solve(T)
        assert not solution.converged
        assert solution.position_error < 1e-3
        turned = [
            rotation_vector(a[:3, :3].T @ b[:3, :3])
            for a, b in zip(tree.forward_kinematics(solution.q), T, strict=True)
        ]
        assert_close(
            [tip.orientation_error for tip in solution.tips], np.linalg.norm(turned, axis=1), 1e-7
        )
