"""Examples for FABRIK on points whose answers are known by geometry."""

import doctest
import math

from fabrik_ros.errors import TargetError
from fabrik_ros.textbook.points import point_chain as points_module
from fabrik_ros.textbook.points.point_chain import PointChain, PointStatus
import numpy as np
import pytest

UPPER, LOWER = 2.0, 1.5


def assert_close(actual, expected, tolerance=1e-12):
    """Compare arrays, refusing NaN."""
    actual = np.asarray(actual)
    assert np.isfinite(actual).all()
    np.testing.assert_allclose(actual, expected, rtol=0.0, atol=tolerance)


def straight_chain(lengths, direction=(1.0, 0.0)):
    """Lay links end to end from the origin."""
    along = np.array(direction) / np.linalg.norm(direction)
    return PointChain(np.outer(np.concatenate([[0.0], np.cumsum(lengths)]), along))


def elbow_by_trigonometry(target, side):
    r"""
    Solve the planar two-link arm on paper, the elbow left (+1) or right (-1) of the target line.

              elbow
              /   \
       UPPER /     \ LOWER
            / a     \
        base ------- target        cos a = (UPPER^2 + D^2 - LOWER^2) / (2 UPPER D)
                D
    """
    distance = math.hypot(*target)
    cosine = (UPPER**2 + distance**2 - LOWER**2) / (2.0 * UPPER * distance)
    angle = math.atan2(target[1], target[0]) + side * math.acos(cosine)
    return [UPPER * math.cos(angle), UPPER * math.sin(angle)]


# --- the two passes -------------------------------------------------------------------------


def test_tip_to_base_pulls_every_point_along_its_old_line():
    s = math.sqrt(0.5)
    chain = PointChain([[1.0, 0.0], [1.0, 1.0]]).tip_to_base([2.0, 1.0])
    assert_close(chain.points, [[2.0 - s, 1.0 - s], [2.0, 1.0]])


def test_base_to_tip_pulls_every_point_along_its_old_line():
    chain = PointChain([[0.0, 0.0], [4.0, 0.0], [4.0, 2.0]]).base_to_tip([1.0, 4.0])
    assert_close(chain.points[1], [1.0 + 4.0 * 0.6, 4.0 - 4.0 * 0.8])
    away = np.array([4.0 - 3.4, 2.0 - 0.8])
    assert_close(chain.points[2], chain.points[1] + 2.0 * away / np.linalg.norm(away))


def test_tip_to_base_puts_the_tip_exactly_on_the_target():
    chain = straight_chain([0.1, 0.7]).tip_to_base([0.3, 0.1])
    assert chain.points[-1].tolist() == [0.3, 0.1]


def test_base_to_tip_puts_the_base_exactly_in_its_place():
    chain = straight_chain([0.1, 0.7]).base_to_tip([0.3, 0.1])
    assert chain.points[0].tolist() == [0.3, 0.1]


def test_passes_return_new_chains_and_leave_the_old_one_alone():
    chain = straight_chain([1.0, 1.0])
    before = chain.points.copy()
    chain.tip_to_base([1.0, 1.0]).base_to_tip([0.0, 0.0])
    assert (chain.points == before).all()


def test_passes_hand_on_the_link_lengths_bit_for_bit():
    chain = PointChain([[0.1, 0.2], [0.7, 0.3], [0.4, 0.9]])
    moved = chain
    for _ in range(100):
        moved = moved.tip_to_base([0.5, 0.5]).base_to_tip([0.1, 0.2])
    assert moved.link_lengths.tolist() == chain.link_lengths.tolist()


def test_link_keeps_its_old_direction_when_its_ends_fall_together():
    chain = straight_chain([1.0, 1.0]).tip_to_base([1.0, 0.0])
    assert_close(chain.points, [[-1.0, 0.0], [0.0, 0.0], [1.0, 0.0]])


def test_link_of_length_zero_stays_at_length_zero():
    chain = PointChain([[0.0, 0.0], [1.0, 0.0], [1.0, 0.0]]).tip_to_base([3.0, 0.0])
    assert_close(chain.points, [[2.0, 0.0], [3.0, 0.0], [3.0, 0.0]])


def test_two_passes_are_one_iteration_of_solve():
    chain = PointChain([[0.0, 0.0], [1.0, 0.0], [1.5, 0.8]])
    by_hand = chain.tip_to_base([0.4, 1.1]).base_to_tip([0.0, 0.0])
    solution = chain.solve([0.4, 1.1], max_iterations=1)
    assert (solution.points == by_hand.points).all()


# --- reach ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ('lengths', 'reach', 'inner_reach'),
    [
        ([1.0, 1.0], 2.0, 0.0),
        ([3.0, 1.0, 1.0], 5.0, 1.0),
        ([1.0, 1.0, 3.0], 5.0, 1.0),
        ([1.0, 2.0, 3.0], 6.0, 0.0),
        ([1.0, 1.0, 1.0], 3.0, 0.0),
        ([2.0], 2.0, 2.0),
        ([0.0, 0.0], 0.0, 0.0),
    ],
)
def test_reach_and_inner_reach_follow_from_the_link_lengths(lengths, reach, inner_reach):
    chain = straight_chain(lengths)
    assert chain.link_lengths.tolist() == lengths
    assert (chain.reach, chain.inner_reach) == (reach, inner_reach)


# --- the two-link arm -----------------------------------------------------------------------


@pytest.mark.parametrize('side', [1.0, -1.0])
@pytest.mark.parametrize('target', [(2.2, 1.1), (-1.0, 2.0), (-0.4, -1.2), (0.0, -3.0)])
def test_two_link_elbow_agrees_with_the_law_of_cosines(target, side):
    square_to_target = side * np.array([-target[1], target[0]]) / math.hypot(*target)
    start = [[0.0, 0.0], UPPER * square_to_target, (UPPER + LOWER) * square_to_target]
    solution = PointChain(start).solve(target, position_tolerance=1e-10)
    assert solution.status is PointStatus.CONVERGED
    assert_close(solution.points[1], elbow_by_trigonometry(target, side), 1e-8)


def test_mirrored_starts_give_mirrored_answers_bit_for_bit():
    mirror = np.array([1.0, -1.0])
    start = np.array([[0.0, 0.0], [1.0, 1.5], [2.0, 1.0], [3.0, 2.0]])
    one = PointChain(start).solve([1.7, 0.0])
    other = PointChain(start * mirror).solve([1.7, 0.0])
    assert (other.points == one.points * mirror).all()
    assert other.iterations == one.iterations


def test_chain_in_space_stays_in_the_plane_it_shares_with_its_target():
    start = [[0.0, 0.0, 0.0], [0.0, 0.0, UPPER], [LOWER, 0.0, UPPER]]
    solution = PointChain(start).solve([2.2, 0.0, 1.1], position_tolerance=1e-10)
    across, up = elbow_by_trigonometry((2.2, 1.1), 1.0)
    assert_close(solution.points[1], [across, 0.0, up], 1e-8)


# --- targets that are reached ---------------------------------------------------------------


def test_target_under_the_tip_takes_no_iteration_and_moves_nothing():
    start = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]]
    solution = PointChain(start).solve([1.0, 1.0])
    assert solution.points.tolist() == start
    assert (solution.status, solution.residual, solution.iterations) == (
        PointStatus.CONVERGED,
        0.0,
        0,
    )


def test_classic_chain_of_ten_joints_needs_few_iterations():
    solution = straight_chain([1.0] * 10).solve([4.0, 5.0], position_tolerance=1e-2)
    assert solution.converged
    assert solution.iterations <= 15
    assert_close(np.linalg.norm(np.diff(solution.points, axis=0), axis=1), 1.0)


def test_chain_with_its_target_on_the_base_closes_to_a_triangle():
    solution = PointChain([[0.0, 0.0], [1.0, 0.0], [2.0, 0.3], [2.9, 0.0]]).solve([0.0, 0.0])
    assert solution.converged
    assert_close(solution.points[-1], [0.0, 0.0], 1e-6)


def test_base_away_from_the_origin_is_where_reach_is_measured_from():
    chain = PointChain([[10.0, 10.0], [11.0, 10.0], [12.0, 10.0]])
    assert chain.solve([10.0, 11.0]).converged
    assert chain.solve([1.0, 0.0]).status is PointStatus.TOO_FAR


def test_base_given_anew_is_put_there_by_a_pass_before_the_first_iteration():
    chain = PointChain([[0.0, 0.0], [1.0, 0.0], [2.0, 0.5]])
    anew = chain.solve([1.5, 1.5], base=[0.5, 0.5])
    by_hand = chain.base_to_tip([0.5, 0.5]).solve([1.5, 1.5])
    assert anew.converged
    assert anew.points[0].tolist() == [0.5, 0.5]
    assert (anew.points == by_hand.points).all()
    with pytest.raises(ValueError, match=r'base must have shape \(2,\), got shape \(3,\)'):
        chain.solve([1.5, 1.5], base=[0.0, 0.0, 0.0])


# --- straight chains with the target on their line ------------------------------------------


@pytest.mark.parametrize('direction', [(1, 0), (0, 1), (-1, 1), (1, 0, 0), (0, 0, -1), (1, 2, 3)])
@pytest.mark.parametrize('lengths', [[1.0, 1.0], [0.3, 0.4, 0.5], [1.0] * 10, [2.0, 0.0, 1.7]])
@pytest.mark.parametrize('share', [-0.61, 0.23, 0.5, 0.97])
def test_straight_chain_reaches_a_target_on_its_own_line(direction, lengths, share):
    chain = straight_chain(lengths, direction)
    target = share * chain.points[-1]
    solution = chain.solve(target)
    assert solution.converged
    assert (chain.solve(target).points == solution.points).all()


def test_straight_chain_bends_where_no_straight_answer_exists():
    solution = straight_chain([1.0, 1.0]).solve([1.0, 0.0], position_tolerance=1e-10)
    assert_close(solution.points, [[0.0, 0.0], [0.5, math.sqrt(0.75)], [1.0, 0.0]], 1e-8)


@pytest.mark.parametrize('dust', [1e-4, 1e-6, 1e-8, 1e-10, 1e-12, 1e-15])
def test_chain_that_is_straight_but_for_dust_bends_too(dust):
    start = [[0.0, 0.0], [1.0, dust], [2.0, 0.0]]
    assert PointChain(start).solve([0.4, 0.0]).converged


def test_chain_that_falls_onto_a_line_on_its_way_gets_off_it_again():
    start = [[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [2.0, -1.0]]
    first = PointChain(start).solve([0.0, 0.0], max_iterations=1)
    assert_close(first.points[:, 1], 0.0)
    assert PointChain(start).solve([0.0, 0.0]).converged


# --- targets out of reach -------------------------------------------------------------------


def test_chain_is_stretched_towards_a_target_too_far():
    start = [[1.0, 1.0], [1.0, 3.0], [2.0, 3.0]]
    solution = PointChain(start).solve([7.0, 9.0])
    assert solution.status is PointStatus.TOO_FAR
    assert_close(solution.points, [[1.0, 1.0], [2.2, 2.6], [2.8, 3.4]])
    assert solution.residual == pytest.approx(7.0, abs=1e-12)
    assert solution.iterations == 0
    assert not solution.converged


@pytest.mark.parametrize(
    ('lengths', 'distances'),
    [
        ([3.0, 1.0, 1.0], [0.0, 3.0, 2.0, 1.0]),
        ([1.0, 3.0, 1.0], [0.0, -1.0, 2.0, 1.0]),
        ([1.0, 1.0, 3.0], [0.0, -1.0, -2.0, 1.0]),
    ],
)
def test_chain_is_folded_towards_a_target_too_near(lengths, distances):
    start = np.vstack([[0.0, 0.0], np.cumsum([[0.0, length] for length in lengths], axis=0)])
    solution = PointChain(start).solve([0.3, 0.4])
    assert solution.status is PointStatus.TOO_NEAR
    assert_close(solution.points, np.outer(distances, [0.6, 0.8]))
    assert solution.residual == pytest.approx(0.5, abs=1e-12)


def test_chain_folds_towards_its_tip_when_a_target_too_near_is_the_base():
    solution = straight_chain([3.0, 1.0], (0.0, -1.0)).solve([0.0, 0.0])
    assert solution.status is PointStatus.TOO_NEAR
    assert_close(solution.points, [[0.0, 0.0], [0.0, -3.0], [0.0, -2.0]])
    assert solution.residual == 2.0


def test_single_link_points_at_its_target_from_either_side():
    chain = PointChain([[0.0, 0.0], [0.0, 2.0]])
    assert chain.solve([5.0, 0.0]).status is PointStatus.TOO_FAR
    assert chain.solve([1.0, 0.0]).status is PointStatus.TOO_NEAR
    for distance in (5.0, 1.0, 2.0):
        assert_close(chain.solve([distance, 0.0]).points, [[0.0, 0.0], [2.0, 0.0]])


@pytest.mark.parametrize('distance', [5.0, 5.0 + 5e-7, 5.0 - 5e-7, 1.0, 1.0 + 5e-7, 1.0 - 5e-7])
def test_target_on_the_boundary_within_the_tolerance_is_reached(distance):
    start = [[0.0, 0.0], [3.0, 0.0], [3.0, 1.0], [4.0, 1.0]]
    target = [0.6 * distance, 0.8 * distance]
    solution = PointChain(start).solve(target, position_tolerance=1e-6)
    assert solution.converged
    assert solution.residual <= 1e-6


@pytest.mark.parametrize(
    ('distance', 'status'),
    [(5.0 + 2e-6, PointStatus.TOO_FAR), (1.0 - 2e-6, PointStatus.TOO_NEAR)],
)
def test_target_past_the_boundary_by_more_than_the_tolerance_is_not(distance, status):
    start = [[0.0, 0.0], [3.0, 0.0], [3.0, 1.0], [4.0, 1.0]]
    solution = PointChain(start).solve([distance, 0.0], position_tolerance=1e-6)
    assert solution.status is status
    assert solution.residual == pytest.approx(2e-6, rel=1e-6)


def test_points_that_all_coincide_stay_where_they_are():
    start = [[1.0, 2.0], [1.0, 2.0], [1.0, 2.0]]
    solution = PointChain(start).solve([1.0, 5.0])
    assert solution.points.tolist() == start
    assert (solution.status, solution.residual) == (PointStatus.TOO_FAR, 3.0)
    assert PointChain(start).solve([1.0, 2.0]).converged


# --- the other ends -------------------------------------------------------------------------


def test_iterations_that_run_out_are_reported_with_the_distance_left():
    chain = PointChain([[0.0, 0.0], [1.0, 0.0], [2.0, 0.1]])
    solution = chain.solve([0.1, 0.0], max_iterations=2)
    assert (solution.status, solution.iterations) == (PointStatus.ITERATION_LIMIT, 2)
    assert solution.residual == pytest.approx(np.linalg.norm(solution.points[-1] - [0.1, 0.0]))


def test_tolerance_finer_than_the_rounding_ends_in_a_stall():
    chain = PointChain([[-0.6, 0.5], [0.2, 0.7], [0.0, 0.1]])
    solution = chain.solve([-0.2, 0.7], position_tolerance=1e-30)
    assert solution.status is PointStatus.STALLED
    assert 0.0 < solution.residual < 1e-15


def test_push_that_makes_things_worse_for_a_while_does_not_show():
    chain = straight_chain([1.0, 1.0])
    residuals = [chain.solve([1.999, 0.0], max_iterations=m).residual for m in range(1, 12)]
    assert residuals == sorted(residuals, reverse=True)
    assert residuals[0] == pytest.approx(0.001, abs=1e-12)


# --- values and misuse ----------------------------------------------------------------------


def test_chain_copies_the_points_it_is_given():
    given = np.array([[0.0, 0.0], [1.0, 0.0]])
    chain = PointChain(given)
    given[1] = 5.0
    assert chain.points.tolist() == [[0.0, 0.0], [1.0, 0.0]]
    assert given.flags.writeable


def test_arrays_of_chain_and_solution_are_read_only():
    chain = straight_chain([1.0, 1.0])
    moved = chain.tip_to_base([0.0, 1.0])
    far, near = chain.solve([9.0, 0.0]), chain.solve([0.5, 0.5])
    for array in (chain.points, chain.link_lengths, moved.points, far.points, near.points):
        with pytest.raises(ValueError, match='read-only'):
            array[0] = 0.0


@pytest.mark.parametrize(
    ('points', 'message'),
    [
        ([[0.0, 0.0]], r'points must have .* at least two points, got shape \(1, 2\)'),
        ([0.0, 1.0], r'points must have shape .* got shape \(2,\)'),
        ([[0.0], [1.0]], r'points must have shape .* got shape \(2, 1\)'),
        ([[0.0] * 4, [1.0] * 4], r'shape \(n \+ 1, 2\) or \(n \+ 1, 3\) .* got shape \(2, 4\)'),
        ([[0.0, 0.0], [1.0]], 'points must be an array of numbers, got'),
        ([['a', 'b'], ['c', 'd']], 'points must be an array of numbers, got'),
        ([[0.0, 0.0], [math.nan, 1.0]], r'points must be finite and at most 1e\+150 .*nan'),
        ([[0.0, 0.0], [math.inf, 1.0]], r'points must be finite and at most 1e\+150 .*inf'),
        (
            [[0.0, 0.0], [1e151, 1.0]],
            r'points must be finite and at most 1e\+150 .*1e\+151',
        ),
    ],
)
def test_points_that_make_no_chain_are_refused_with_the_reason(points, message):
    with pytest.raises(ValueError, match=message):
        PointChain(points)


@pytest.mark.parametrize(
    ('target', 'message'),
    [
        ([1.0, 2.0, 3.0], r'target must have shape \(2,\), got shape \(3,\)'),
        (1.0, r'target must have shape \(2,\), got shape \(\)'),
        ([math.nan, 0.0], r'target must be finite and at most 1e\+150 in size, got .*nan'),
        ([0.0, -math.inf], r'target must be finite and at most 1e\+150 in size, got .*-inf'),
        ([0.0, 1e200], r'target must be finite and at most 1e\+150 in size, got .*1e\+200'),
        (None, 'target must be finite .* got None'),
        ('north', "target must be an array of numbers, got 'north'"),
    ],
)
def test_target_that_is_no_point_is_refused_with_the_reason(target, message):
    chain = straight_chain([1.0, 1.0])
    with pytest.raises(TargetError, match=message):
        chain.solve(target)
    with pytest.raises(TargetError, match=message):
        chain.tip_to_base(target)


@pytest.mark.parametrize(
    ('base', 'message'),
    [
        ([1.0, 2.0], r'base must have shape \(3,\), got shape \(2,\)'),
        ([0.0, 0.0, math.nan], r'base must be finite and at most 1e\+150 in size, got .*nan'),
    ],
)
def test_base_that_is_no_point_is_refused_with_the_reason(base, message):
    with pytest.raises(ValueError, match=message):
        straight_chain([1.0, 1.0], (1.0, 0.0, 0.0)).base_to_tip(base)


@pytest.mark.parametrize('tolerance', [0.0, -0.001, math.nan, math.inf])
def test_tolerance_that_is_not_positive_and_finite_is_refused(tolerance):
    message = f'position_tolerance must be positive and finite, got {tolerance}'
    with pytest.raises(ValueError, match=message):
        straight_chain([1.0]).solve([1.0, 0.0], position_tolerance=tolerance)


def test_fewer_than_one_iteration_is_refused():
    with pytest.raises(ValueError, match='max_iterations must be at least 1, got 0'):
        straight_chain([1.0]).solve([1.0, 0.0], max_iterations=0)


def test_examples_in_the_docstrings_hold():
    results = doctest.testmod(points_module)
    assert results.attempted >= 3
    assert results.failed == 0
