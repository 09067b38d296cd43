"""Trees of points and their limits, by examples whose answers are known by geometry."""

import doctest
import math

from fabrik_ros.errors import TargetError
from fabrik_ros.textbook.points import point_tree as point_tree_module
from fabrik_ros.textbook.points.point_chain import PointChain, PointStatus
from fabrik_ros.textbook.points.point_limits import BallJoint, Hinge
from fabrik_ros.textbook.points.point_tree import PointTree
from fabrik_ros.transforms import quaternion_xyzw_from_rotation
from helpers import assert_close
import numpy as np
import pytest

UP = np.array([0.0, 0.0, 1.0])


def straight(bones, direction=(0.0, 0.0, 1.0)):
    """Lay bones of length 1 end to end from the origin."""
    return np.outer(np.arange(bones + 1.0), direction)


def turn_about_y(angle):
    """Turn z towards x."""
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])


def stiff(degrees):
    """Make a ball joint that turns alike to all sides."""
    return BallJoint(*[math.radians(degrees)] * 4)


# --- one chain ------------------------------------------------------------------------------


def test_chain_without_limits_makes_the_passes_of_a_point_chain():
    points = np.array([[0.1, 0.2, 0.0], [0.7, 0.3, 0.4], [0.4, 0.9, 0.8], [1.0, 1.0, 1.0]])
    target, base = [0.3, 0.8, 0.2], [0.1, 0.1, 0.1]
    tree = PointTree.chain(points).tip_to_base({3: target})
    chain = PointChain(points).tip_to_base(target)
    assert_close(tree.points, chain.points)
    assert_close(tree.base_to_tip(base).points, chain.base_to_tip(base).points)


@pytest.mark.parametrize('target', [[9.0, 1.0], [0.3, 0.4]])
def test_chain_without_limits_is_straightened_or_folded_as_a_point_chain(target):
    points = [[0.0, 0.0], [3.0, 0.0], [3.0, 1.0]]
    solution = PointTree.chain(points).solve({2: target})
    plain = PointChain(points).solve(target)
    assert_close(solution.points, plain.points)
    assert (solution.status, solution.iterations) == (plain.status, 0)
    assert solution.residuals[2] == pytest.approx(plain.residual)


def test_bone_stops_at_the_edge_of_its_cone():
    solution = PointTree.chain(straight(1), limits={1: stiff(30.0)}).solve({1: [1.0, 0.0, 0.0]})
    assert_close(solution.points[1], [0.5, 0.0, math.sqrt(0.75)])
    assert solution.status is PointStatus.STALLED
    assert solution.residuals[1] == pytest.approx(2.0 * math.sin(math.radians(30.0)))


def test_one_sided_hinge_in_the_plane_lets_the_elbow_bend_one_way_only():
    points = straight(2, (1.0, 0.0))
    for lower, upper, side in [(0.0, 3.0, -1.0), (-3.0, 0.0, 1.0)]:
        tree = PointTree.chain(points, limits={2: Hinge(lower=lower, upper=upper)})
        solution = tree.solve({2: [1.0, 0.0]})
        assert solution.converged
        assert_close(solution.points[1], [0.5, side * math.sqrt(0.75)], 1e-5)


def test_illegal_start_is_legal_in_the_answer_even_without_iterations():
    limits = {1: stiff(180.0), 2: stiff(20.0)}
    tree = PointTree.chain([[0.0, 0.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 1.0]], limits=limits)
    solution = tree.solve({2: [1.0, 0.0, 1.0]}, max_iterations=0)
    assert solution.status is PointStatus.ITERATION_LIMIT
    angle = math.radians(20.0)
    assert_close(solution.points[2], [math.sin(angle), 0.0, 1.0 + math.cos(angle)])


def test_base_given_anew_is_where_the_chain_begins():
    solution = PointTree.chain(straight(3), limits={3: stiff(60.0)}).solve(
        {3: [1.0, 1.0, 2.0]}, base=[0.5, 0.5, 0.0]
    )
    assert solution.converged
    assert solution.points[0].tolist() == [0.5, 0.5, 0.0]


def test_free_base_goes_where_the_tip_pulls_it():
    solution = PointTree.chain(straight(2), limits={2: stiff(10.0)}).solve(
        {2: [50.0, 0.0, 0.0]}, free_base=True
    )
    assert solution.converged
    assert_close(np.linalg.norm(np.diff(solution.points, axis=0), axis=1), [1.0, 1.0])


def test_pose_turns_the_last_bone_and_its_frame():
    pose = np.eye(4)
    pose[:3, :3] = [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    pose[:3, 3] = [1.5, 0.5, 1.0]
    solution = PointTree.chain(straight(4)).solve({4: pose})
    assert solution.converged
    assert_close(solution.points[4] - solution.points[3], [1.0, 0.0, 0.0], 1e-5)
    assert_close(solution.tree.frames[4], pose[:3, :3], 1e-5)
    assert solution.orientation_residuals[4] <= 1e-6


def test_frames_follow_their_bones_without_twist():
    across = [[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]]  # z turned to x, about y
    tree = PointTree.chain([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 0.0, 1.0]])
    assert_close(tree.frames, [np.eye(3), across, np.eye(3)])
    moved = PointTree.chain(straight(1)).tip_to_base({1: [9.0, 0.0, 0.0]})
    assert_close(moved.frames[1] @ [0.0, 1.0, 0.0], [0.0, 1.0, 0.0])


def test_root_orientation_says_what_is_straight_on():
    tilted = PointTree.chain(
        straight(1), limits={1: stiff(0.0)}, root_orientation=turn_about_y(0.4)
    )
    assert_close(tilted.base_to_tip([0, 0, 0]).points[1], [math.sin(0.4), 0.0, math.cos(0.4)])
    plane = PointTree.chain(
        straight(1, (1.0, 0.0)), limits={1: Hinge(lower=0.1, upper=0.1)}, root_orientation=0.4
    )
    assert_close(plane.base_to_tip([0, 0]).points[1], [math.cos(0.5), math.sin(0.5)])


def test_limits_tighter_than_the_way_to_the_target_leave_the_nearest_state():
    # Of two bones that may bend by 90 degrees the tip cannot come nearer than sqrt(2).
    limits = {1: stiff(180.0), 2: stiff(90.0)}
    solution = PointTree.chain(straight(2), limits=limits).solve({2: [0.2, 0.1, 0.3]})
    nearest = math.sqrt(2.0) - math.hypot(0.2, 0.1, 0.3)
    assert not solution.converged
    assert solution.residuals[2] == pytest.approx(nearest, abs=1e-3)


def test_stiff_chain_finds_targets_at_which_the_passes_alone_come_to_rest():
    limits = dict.fromkeys(range(2, 5), Hinge(lower=-math.radians(10), upper=math.radians(10)))
    tree = PointTree.chain(straight(4, (1.0, 0.0)), limits=limits)
    rng = np.random.default_rng(0)
    alone = solved = 0
    for _ in range(10):
        heading = rng.uniform(-math.pi, math.pi) + np.cumsum(
            [0.0, *rng.uniform(-math.radians(10), math.radians(10), 3)]
        )
        target = [np.cos(heading).sum(), np.sin(heading).sum()]
        solved += tree.solve({4: target}, position_tolerance=1e-4).converged
        passed = tree
        for _ in range(100):
            passed = passed.tip_to_base({4: target}).base_to_tip([0.0, 0.0])
        alone += math.dist(passed.points[4], target) <= 1e-4
    assert solved >= 9
    assert alone <= 3


def test_poses_that_a_legal_chain_takes_are_reached_in_point_and_turn():
    joint = BallJoint(0.7, 1.2, 0.9, 1.0, twist=(-0.4, 0.3))
    limits = dict.fromkeys(range(1, 7), joint)
    rng, converged = np.random.default_rng(8), 0
    for _ in range(12):
        bent = UP + 0.5 * rng.normal(size=(7, 3))
        points = np.cumsum(bent / np.linalg.norm(bent, axis=1)[:, None], axis=0)
        legal = PointTree.chain(points, limits=limits).base_to_tip(np.zeros(3))
        pose = np.eye(4)
        pose[:3, :3], pose[:3, 3] = legal.frames[6], legal.points[6]
        solution = PointTree.chain(straight(6), limits=limits).solve(
            {6: pose}, position_tolerance=1e-4, orientation_tolerance=1e-3
        )
        converged += solution.converged
        assert_lengths_and_limits_hold(solution.tree, joint)
    assert converged >= 11


# --- branches -------------------------------------------------------------------------------


def test_sub_base_goes_to_the_weighted_centroid_of_what_its_branches_ask_for():
    tree = PointTree(
        [[0.0, 0.0], [0.0, 1.0], [-1.0, 1.0], [1.0, 1.0]],
        [-1, 0, 1, 1],
        weights={2: 1.0, 3: 3.0},
    )
    moved = tree.tip_to_base({2: [-3.0, 1.0], 3: [3.0, 1.0]})
    assert_close(moved.points[1], [(-2.0 + 3.0 * 2.0) / 4.0, 1.0])


def test_weight_of_a_sub_base_under_a_sub_base_is_the_sum_below_it():
    points = [[0.0, 0.0], [0.0, 1.0], [0.0, 2.0], [-1.0, 2.0], [1.0, 2.0], [1.0, 1.0]]
    tree = PointTree(points, [-1, 0, 1, 2, 2, 1])
    moved = tree.tip_to_base({3: [-1.0, 5.0], 4: [1.0, 5.0], 5: [1.0, 1.0]})
    across = math.hypot(1.0, 3.0)
    ask_high = 5.0 - 3.0 / across
    assert_close(moved.points[2], [0.0, ask_high])
    assert_close(moved.points[1], [0.0, (2.0 * (ask_high - 1.0) + 1.0) / 3.0])


# Three branches of two bones: one leaves at point 2, two at point 4, a sub-base under a sub-base.
BRANCHES = [-1, 0, 1, 2, 3, 4, 5, 4, 7, 2, 9]
TIPS = 6, 8, 10
QUADRANTS = BallJoint(*np.radians([10.0, 120.0, 40.0, 5.0]), twist=(-0.3, 0.6))
WEIGHTS = {6: 1.0, 8: 2.5, 10: 4.0}


def branched(limit=QUADRANTS):
    """Grow the tree from random bones of lengths 0.4 to 1, a legal one but for rounding."""
    rng = np.random.default_rng(11)
    points = np.zeros((len(BRANCHES), 3))
    for i, parent in enumerate(BRANCHES[1:], start=1):
        points[i] = points[parent] + rng.uniform(0.4, 1.0) * (UP + 0.5 * rng.normal(size=3))
    limits = dict.fromkeys(range(1, len(BRANCHES)), limit) if limit else {}
    return PointTree(points, BRANCHES, limits=limits, weights=WEIGHTS).base_to_tip(np.zeros(3))


def angles_from_scratch(parent, direction):
    """Measure a direction in the plane of angles of the bone before it, by trigonometry."""
    x, y, z = parent.T @ direction
    phi, alpha = math.atan2(math.hypot(x, y), z), math.atan2(y, x)
    return np.array([phi * math.cos(alpha), phi * math.sin(alpha)])


def twist_from_scratch(relative):
    """Measure the twist by the quaternion's parts along z and 1."""
    _, _, z, w = quaternion_xyzw_from_rotation(relative)
    return math.remainder(2.0 * math.atan2(z, w), 2.0 * math.pi)


def assert_lengths_and_limits_hold(tree, joint):
    """Check every bone to 1e-9 with the public points and frames alone."""
    for i in range(1, len(tree.points)):
        parent = tree.parents[i]
        bone = tree.points[i] - tree.points[parent]
        length = np.linalg.norm(bone)
        assert length == pytest.approx(tree.bone_lengths[i], abs=1e-9)
        assert_close(tree.frames[i, :, 2], bone / length, 1e-9)
        x, y = angles_from_scratch(tree.frames[parent], bone)
        a = joint.right if x >= 0.0 else joint.left
        b = joint.up if y >= 0.0 else joint.down
        assert (x / (a + 1e-9)) ** 2 + (y / (b + 1e-9)) ** 2 <= 1.0
        twist = twist_from_scratch(tree.frames[parent].T @ tree.frames[i])
        assert joint.twist[0] - 1e-9 <= twist <= joint.twist[1] + 1e-9


def scattered_targets():
    """Pick targets about the tips, the last one far out of reach."""
    tree, rng = branched(), np.random.default_rng(5)
    targets = {tip: tree.points[tip] + rng.normal(size=3) for tip in TIPS}
    targets[8] = 30.0 * targets[8]
    return targets


def test_branched_tree_keeps_lengths_and_limits_with_a_tip_out_of_reach():
    solution = branched().solve(scattered_targets(), max_iterations=100)
    assert solution.status is PointStatus.TOO_FAR
    assert_lengths_and_limits_hold(solution.tree, QUADRANTS)
    for tip, target in scattered_targets().items():
        distance = np.linalg.norm(solution.points[tip] - target)
        assert solution.residuals[tip] == pytest.approx(distance)
    mean = sum(WEIGHTS[tip] * solution.residuals[tip] for tip in TIPS) / sum(WEIGHTS.values())
    assert solution.residual == pytest.approx(mean)


def test_every_joint_held_by_its_limit_is_at_the_nearest_point_of_its_ellipse():
    tree, held = branched(), 0
    turn = np.linspace(0.0, 2.0 * math.pi, 200001)
    curve = np.stack(
        [
            np.where(np.cos(turn) > 0.0, QUADRANTS.right, QUADRANTS.left) * np.cos(turn),
            np.where(np.sin(turn) > 0.0, QUADRANTS.up, QUADRANTS.down) * np.sin(turn),
        ],
        axis=-1,
    )
    for _ in range(5):
        pulled = tree.tip_to_base(scattered_targets())
        tree = pulled.base_to_tip(np.zeros(3))
        for i in range(1, len(BRANCHES)):
            parent = BRANCHES[i]
            before = pulled.points[i] - tree.points[parent]
            after = tree.points[i] - tree.points[parent]
            wanted = angles_from_scratch(tree.frames[parent], before)
            reached = angles_from_scratch(tree.frames[parent], after)
            nearest = curve[np.argmin(np.linalg.norm(curve - wanted, axis=1))]
            a = QUADRANTS.right if wanted[0] >= 0.0 else QUADRANTS.left
            b = QUADRANTS.up if wanted[1] >= 0.0 else QUADRANTS.down
            if (wanted[0] / a) ** 2 + (wanted[1] / b) ** 2 > 1.0:
                assert_close(reached, nearest, 1e-4)  # the samples are that far apart
                held += 1
            else:
                assert_close(reached, wanted, 1e-9)
    assert held >= 20


def test_heavier_tip_comes_nearer_to_its_target():
    points, parents = [[0.0, 0.0], [0.0, 1.0], [-1.0, 1.0], [1.0, 1.0]], [-1, 0, 1, 1]
    targets = {2: [-1.0, 0.0], 3: [1.0, 0.0]}  # a stem of length 1 cannot be at both
    light = PointTree(points, parents, weights={2: 1.0, 3: 1.0}).solve(targets)
    heavy = PointTree(points, parents, weights={2: 1.0, 3: 9.0}).solve(targets)
    assert heavy.residuals[3] < light.residuals[3] < light.residuals[2] + 1e-9
    assert heavy.residuals[2] > light.residuals[2]


def test_arms_on_a_stem_reach_targets_their_joints_can_meet():
    points = [[0, 0], [0, 1], [-1, 1], [-2, 1], [1, 1], [2, 1]]
    solution = PointTree(points, [-1, 0, 1, 2, 1, 4]).solve({3: [-1.5, 1.5], 5: [1.2, 2.0]})
    assert solution.converged
    assert_close(solution.points[3], [-1.5, 1.5], 1e-6)
    assert_close(solution.points[5], [1.2, 2.0], 1e-6)


def test_tip_without_target_is_carried_along_by_its_bone():
    points = [[0, 0], [0, 1], [-1, 1], [0, 2]]
    tree = PointTree(points, [-1, 0, 1, 1], limits={2: Hinge(lower=1.0, upper=2.0)})
    moved = tree.tip_to_base({3: [5.0, 2.0]})
    before = tree.relative_rotation(2)
    assert_close(moved.relative_rotation(2), before)
    assert np.linalg.norm(moved.points[2] - moved.points[1]) == pytest.approx(1.0)
    solution = tree.solve({3: [1.0, 1.0]})
    assert solution.converged
    assert list(solution.residuals) == [3]


def test_targets_between_branches_are_out_of_reach_when_any_is():
    tree = branched(limit=None)
    near = {tip: tree.points[tip] for tip in TIPS}
    assert tree.solve(near).iterations == 0
    assert tree.solve({**near, 10: [99.0, 0.0, 0.0]}, max_iterations=5).status is (
        PointStatus.TOO_FAR
    )
    long_stem = PointTree([[0, 0], [3, 0], [4, 0], [3, 1]], [-1, 0, 1, 1])
    assert long_stem.solve({2: [0, 1]}, max_iterations=5).status is PointStatus.TOO_NEAR


def test_three_branches_reach_the_tips_of_another_legal_state_together():
    rng = np.random.default_rng(9)
    wide = BallJoint(1.0, 1.5, 1.2, 0.8)
    start = branched(wide)
    for _ in range(5):
        scattered = {tip: start.points[tip] + rng.normal(size=3) for tip in TIPS}
        other = start.tip_to_base(scattered).base_to_tip(np.zeros(3))
        targets = {tip: other.points[tip] for tip in TIPS}
        assert start.solve(targets, position_tolerance=1e-3).converged


# --- awkward places -------------------------------------------------------------------------


@pytest.mark.parametrize('limit', [None, stiff(115.0), Hinge([1.0, 0.0, 0.0], -2.0, 2.0)])
@pytest.mark.parametrize('share', [-0.5, 0.2, 0.5])
def test_straight_chain_with_its_target_on_its_line_bends(limit, share):
    limits = dict.fromkeys(range(1, 4), limit) if limit else {}
    tree = PointTree.chain(straight(3), limits={**limits, 1: stiff(180.0)})
    solution = tree.solve({3: 3.0 * share * UP})
    assert solution.converged
    assert (tree.solve({3: 3.0 * share * UP}).points == solution.points).all()


@pytest.mark.parametrize(
    'points',
    [
        [[0, 0, 0], [0, 0, 0], [0, 0, 0]],
        [[0, 0, 0], [0, 0, 1], [0, 0, 1]],
        [[0, 0, 0], [0, 0, 1], [0, 0, 0]],
        [[0, 0, 0], [0, 0, -1], [0, 0, -2]],
    ],
)
@pytest.mark.parametrize('target', [[0, 0, 0], [0, 0, -1], [0, 0, 1], [1, 0, 0]])
@pytest.mark.parametrize('limit', [stiff(0.0), stiff(50.0), stiff(180.0), Hinge([0, 1, 0], 0, 3)])
def test_points_that_coincide_and_bones_that_turn_back_give_no_nan(points, target, limit):
    tree = PointTree.chain(points, limits={1: limit, 2: limit})
    solution = tree.solve({2: target}, max_iterations=30)
    for each in (tree, tree.tip_to_base({2: target}), solution.tree):
        assert np.isfinite(each.points).all()
        assert np.isfinite(each.frames).all()
    lengths = np.linalg.norm(np.diff(solution.points, axis=0), axis=1)
    assert_close(lengths, tree.bone_lengths[1:])


def test_bone_without_length_works_as_the_middle_of_a_cross_of_hinges():
    # Two hinges in one place, about x and about y, are a universal joint.
    limits = {1: Hinge([1, 0, 0], -1.5, 1.5), 2: Hinge([0, 1, 0], -1.5, 1.5)}
    tree = PointTree.chain([[0, 0, 0], [0, 0, 0], [0, 0, 1]], limits=limits)
    target = np.array([0.5, 0.5, math.sqrt(0.5)])
    solution = tree.solve({2: target}, position_tolerance=1e-4)
    assert solution.residuals[2] < 0.9 * np.linalg.norm(target - UP)


# --- values ---------------------------------------------------------------------------------


def test_tree_copies_what_it_is_given():
    points, parents, limits = straight(2), [-1, 0, 1], {2: stiff(10.0)}
    tree = PointTree(points, parents, limits=limits)
    points[1], parents[2] = 5.0, 0
    limits.clear()
    assert tree.points[1].tolist() == [0.0, 0.0, 1.0]
    assert tree.parents == (-1, 0, 1)
    assert list(tree.limits) == [2]


def test_nothing_of_tree_or_solution_can_be_written():
    tree = PointTree.chain(straight(2), limits={2: stiff(10.0)})
    solution = tree.solve({2: [1.0, 0.0, 1.0]}, max_iterations=3)
    moved = tree.tip_to_base({2: [1.0, 0.0, 1.0]})
    for each in (tree, moved, solution.tree):
        for array in (each.points, each.frames, each.bone_lengths):
            with pytest.raises(ValueError, match='read-only'):
                array[0] = 1.0
    for mapping in (tree.limits, tree.weights, solution.residuals):
        with pytest.raises(TypeError):
            mapping[2] = 1.0


def test_passes_leave_tree_and_arguments_alone():
    tree = branched()
    before = tree.points.copy(), tree.frames.copy()
    targets = scattered_targets()
    given = {tip: target.copy() for tip, target in targets.items()}
    tree.tip_to_base(targets).base_to_tip(np.zeros(3))
    tree.solve(targets, max_iterations=2)
    assert (tree.points == before[0]).all()
    assert (tree.frames == before[1]).all()
    assert all((targets[tip] == given[tip]).all() for tip in TIPS)


# --- misuse ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ('arguments', 'options', 'message'),
    [
        (([[0, 0], [1, 0]], [-1]), {}, r'parents must be 2 indices, the first -1, got \[-1\]'),
        (([[0, 0], [1, 0]], [0, 0]), {}, r'parents must be 2 indices, the first -1, got \[0, 0\]'),
        (([[0, 0], [1, 0]], [-1, 1]), {}, 'parent of point 1 must be 0 to 0, got 1'),
        (([[0, 0], [1, 0]], [-1, 0]), {'weights': {0: 1}}, r'weights must be for tips \(1,\)'),
        (
            ([[0, 0], [1, 0]], [-1, 0]),
            {'weights': {1: 0}},
            'weight of tip 1 must be positive .* 0',
        ),
        (([[0, 0], [1, 0]], [-1, 0]), {'limits': {2: Hinge()}}, 'points 1 to 1, got 2'),
        (
            ([[0, 0], [1, 0]], [-1, 0]),
            {'limits': {1: Hinge([1, 0, 0])}},
            r'in 2-D use Hinge\(lower=..., upper=...\)',
        ),
        (([[0, 0, 0], [1, 0, 0]], [-1, 0]), {'limits': {1: Hinge()}}, 'a Hinge needs an axis'),
        (
            ([[0, 0], [1, 0]], [-1, 0]),
            {'root_orientation': np.eye(3)},
            'root_orientation must be an angle in 2-D',
        ),
        (
            ([[0, 0, 0], [1, 0, 0]], [-1, 0]),
            {'root_orientation': 0.5},
            'root_orientation must be a rotation matrix',
        ),
    ],
)
def test_tree_that_is_none_is_refused_with_the_reason(arguments, options, message):
    with pytest.raises(ValueError, match=message):
        PointTree(*arguments, **options)


@pytest.mark.parametrize(
    ('targets', 'message'),
    [
        ({}, 'targets must map tips to points or poses'),
        ([[0.0, 0.0, 1.0]], 'targets must map tips to points or poses'),
        ({1: [0, 0, 1]}, r'targets must be for tips \(2,\), got 1'),
        ({2: [0, 1]}, r'target of tip 2 must have shape \(3,\), got shape \(2,\)'),
        ({2: [0, 1, math.nan]}, 'target of tip 2 must be finite'),
        ({2: np.zeros((4, 4))}, 'target of tip 2 must be a pose'),
    ],
)
def test_targets_that_are_none_are_refused_with_the_reason(targets, message):
    tree = PointTree.chain(straight(2))
    with pytest.raises(TargetError, match=message):
        tree.solve(targets)
    with pytest.raises(TargetError, match=message):
        tree.tip_to_base(targets)


@pytest.mark.parametrize(
    ('options', 'message'),
    [
        ({'position_tolerance': 0.0}, 'position_tolerance must be positive and finite, got 0.0'),
        ({'orientation_tolerance': math.inf}, 'orientation_tolerance must be .* got inf'),
        ({'max_iterations': -1}, 'max_iterations must be at least 0, got -1'),
        ({'base': [0.0, 0.0]}, r'base must have shape \(3,\), got shape \(2,\)'),
        ({'base': [0.0] * 3, 'free_base': True}, 'base cannot be given and free at once'),
    ],
)
def test_options_out_of_range_are_refused_with_the_reason(options, message):
    with pytest.raises(ValueError, match=message):
        PointTree.chain(straight(2)).solve({2: [0.0, 0.0, 1.0]}, **options)


def test_reach_is_asked_for_tips_only():
    tree = PointTree.chain([[0, 0], [3, 0], [4, 0]])
    assert (tree.reach(2), tree.inner_reach(2)) == (4.0, 2.0)
    with pytest.raises(ValueError, match=r'1 is not a tip; the tips are \(2,\)'):
        tree.reach(1)


def test_ball_joint_in_the_plane_is_refused_with_what_to_use():
    with pytest.raises(ValueError, match=r'limit of point 1: in 2-D use Hinge\(lower=.*BallJoint'):
        PointTree.chain(straight(1, (1.0, 0.0)), limits={1: stiff(10.0)})


def test_examples_in_the_docstrings_hold():
    results = doctest.testmod(point_tree_module)
    assert results.attempted >= 4
    assert results.failed == 0
