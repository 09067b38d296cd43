"""Trees of points and their limits, by examples whose answers are known by geometry."""

import doctest
import math

from fabrik_ros import point_tree as point_tree_module
from fabrik_ros.errors import TargetError
from fabrik_ros.point_limits import BallJoint, Hinge
from fabrik_ros.point_tree import PointTree
from fabrik_ros.points import PointChain, PointStatus
from helpers import assert_close
import numpy as np
import pytest

UP = np.array([0.0, 0.0, 1.0])


def straight(bones, direction=(0.0, 0.0, 1.0)):
    """Lay bones of length 1 end to end from the origin."""
    return np.outer(np.arange(bones + 1.0), direction)


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


# --- misuse ---------------------------------------------------------------------------------


def test_target_for_a_point_that_is_no_tip_is_refused():
    with pytest.raises(TargetError, match=r'targets must be for tips \(2,\), got 1'):
        PointTree.chain(straight(2)).solve({1: [0.0, 0.0, 1.0]})


def test_ball_joint_in_the_plane_is_refused_with_what_to_use():
    with pytest.raises(ValueError, match=r'limit of point 1: in 2-D use Hinge\(lower=.*BallJoint'):
        PointTree.chain(straight(1, (1.0, 0.0)), limits={1: stiff(10.0)})


def test_examples_in_the_docstrings_hold():
    results = doctest.testmod(point_tree_module)
    assert results.attempted >= 4
    assert results.failed == 0
