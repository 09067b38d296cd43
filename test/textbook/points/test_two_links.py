"""Two links in closed form, by triangles known without the code and by brute force."""

import doctest
import math

from fabrik_ros.textbook.points import two_links as two_links_module
from fabrik_ros.textbook.points.point_chain import PointStatus
from fabrik_ros.textbook.points.two_links import nearest_elbow, two_link_angles
from helpers import assert_close
import numpy as np
import pytest

PI = math.pi


def tip_of(q, lengths):
    """Place the tip of the planar arm: angles of shape (..., 2) give points (..., 2)."""
    q = np.asarray(q)
    first, both = q[..., 0], q[..., 0] + q[..., 1]
    return lengths[0] * np.stack([np.cos(first), np.sin(first)], axis=-1) + lengths[1] * np.stack(
        [np.cos(both), np.sin(both)], axis=-1
    )


# --- the joint between two known neighbours --------------------------------------------------


@pytest.mark.parametrize(('side', 'height'), [(1.0, 2.4), (-9.0, -2.4)])
def test_elbow_of_a_triangle_with_sides_3_4_5(side, height):
    assert_close(nearest_elbow([0.0, 0.0], [5.0, 0.0], 3.0, 4.0, [1.0, side]), [1.8, height])


def test_elbow_in_space_is_the_nearest_point_of_the_circle_in_which_the_spheres_meet():
    rng = np.random.default_rng(0)
    turn = np.linspace(0.0, 2.0 * PI, 100001)[:, None]
    for _ in range(50):
        a, b, elbow = rng.normal(size=(3, 3))
        distance = math.dist(a, b)
        length_a = rng.uniform(0.5, 1.5) * distance
        length_b = rng.uniform(abs(distance - length_a), distance + length_a)
        joint = nearest_elbow(a, b, length_a, length_b, elbow)
        assert math.dist(joint, a) == pytest.approx(length_a, abs=1e-12)
        assert math.dist(joint, b) == pytest.approx(length_b, abs=1e-12)
        along = (b - a) / distance
        foot = (length_a**2 - length_b**2 + distance**2) / (2.0 * distance)
        across = np.cross(along, [1.0, 0.0, 0.0])
        across /= np.linalg.norm(across)
        radius = math.sqrt(length_a**2 - foot**2)
        circle = (
            a
            + foot * along
            + radius * (np.cos(turn) * across + np.sin(turn) * np.cross(along, across))
        )
        best = np.linalg.norm(circle - elbow, axis=1).min()
        assert math.dist(joint, elbow) <= best + 1e-12


@pytest.mark.parametrize(
    ('b', 'length_a', 'length_b', 'expected'),
    [
        ([6.0, 0.0], 2.0, 3.0, [2.0, 0.0]),
        ([1.0, 0.0], 4.0, 1.0, [4.0, 0.0]),
        ([1.0, 0.0], 1.0, 4.0, [-1.0, 0.0]),
        ([5.0, 0.0], 2.0, 3.0, [2.0, 0.0]),
    ],
)
def test_elbow_is_on_the_line_where_the_spheres_do_not_meet_or_touch(
    b, length_a, length_b, expected
):
    assert_close(nearest_elbow([0.0, 0.0], b, length_a, length_b, [0.3, 1.0]), expected)


def test_elbow_between_neighbours_that_coincide_keeps_its_direction():
    assert_close(nearest_elbow([1.0, 1.0], [1.0, 1.0], 2.0, 2.0, [1.0, 4.0]), [1.0, 3.0])
    assert_close(nearest_elbow([1.0, 1.0], [1.0, 1.0], 2.0, 2.0, [1.0, 1.0]), [3.0, 1.0])


@pytest.mark.parametrize('dimension', [2, 3])
def test_elbow_that_was_on_the_line_goes_to_the_same_side_every_time(dimension):
    a, b, before = np.zeros(dimension), np.zeros(dimension), np.zeros(dimension)
    b[0], before[0] = 1.0, 0.7
    joint = nearest_elbow(a, b, 1.0, 1.0, before)
    assert_close(joint, [0.5, math.sqrt(0.75), 0.0][:dimension])
    assert (joint == nearest_elbow(a, b, 1.0, 1.0, before)).all()


# --- the arm as angles ------------------------------------------------------------------------


def test_target_on_the_diagonal_of_a_square_has_one_elbow_at_each_corner():
    solution = two_link_angles([1.0, 1.0], [1.0, 1.0])
    assert_close(solution.solutions, [[0.0, PI / 2.0], [PI / 2.0, -PI / 2.0]])
    assert solution.status is PointStatus.CONVERGED


@pytest.mark.parametrize(('seed', 'chosen'), [([1.5, -1.0], 1), ([0.1, 1.0], 0)])
def test_of_two_elbows_the_one_near_the_seed_is_chosen(seed, chosen):
    solution = two_link_angles([1.0, 1.0], [1.0, 1.0], seed=seed)
    assert solution.chosen == chosen
    assert (solution.q == solution.solutions[chosen]).all()


def test_limits_come_before_the_seed():
    solution = two_link_angles([1.0, 1.0], [1.0, 1.0], [-PI, 0.0], [PI, PI], seed=[1.5, -1.0])
    assert (solution.chosen, solution.within_limits) == (0, (True, False))
    assert solution.converged


def test_seed_is_near_on_the_circle():
    solution = two_link_angles([1.0, 1.0], [1.0, 1.0], seed=[2.0 * PI, PI / 2.0 - 4.0 * PI])
    assert_close(solution.q, [2.0 * PI, PI / 2.0 - 4.0 * PI])


def test_whole_turns_bring_an_angle_into_its_limits():
    solution = two_link_angles([1.0, 1.0], [1.0, 1.0], [5.0, 0.0], [7.0, PI])
    assert_close(solution.q, [2.0 * PI, PI / 2.0])


def test_target_too_far_stretches_the_arm():
    solution = two_link_angles([3.0, 4.0], [2.0, 1.0])
    assert solution.status is PointStatus.TOO_FAR
    assert_close(solution.q, [math.atan2(4.0, 3.0), 0.0])
    assert solution.residual == pytest.approx(2.0)


@pytest.mark.parametrize('lengths', [(3.0, 1.0), (1.0, 3.0)])
def test_target_too_near_folds_the_arm(lengths):
    solution = two_link_angles([0.6, 0.8], lengths)
    assert solution.status is PointStatus.TOO_NEAR
    assert abs(solution.q[1]) == pytest.approx(PI)
    assert_close(tip_of(solution.q, lengths), [1.2, 1.6])
    assert solution.residual == pytest.approx(1.0)


def test_target_on_the_base_keeps_the_first_angle_of_the_seed():
    equal = two_link_angles([0.0, 0.0], [1.0, 1.0], seed=[0.7, 3.0])
    assert equal.converged
    assert_close(equal.q, [0.7, PI])
    unequal = two_link_angles([0.0, 0.0], [1.0, 3.0], seed=[0.7, -3.0])
    assert unequal.status is PointStatus.TOO_NEAR
    assert_close(unequal.q, [0.7, -PI])


@pytest.mark.parametrize('distance', [2.0, 2.0 - 1e-9, 1e-3, 1e-9, 1e-15, 1e-200])
def test_tip_is_on_the_target_near_both_ends_of_the_reach(distance):
    target = [0.6 * distance, -0.8 * distance]
    solution = two_link_angles(target, [1.0, 1.0])
    assert solution.converged
    for q in solution.solutions:
        assert_close(tip_of(q, (1.0, 1.0)), target, 1e-15)


def test_arm_within_limits_is_as_near_as_any_of_a_fine_grid():
    rng = np.random.default_rng(1)
    blocked = 0
    for _ in range(300):
        lengths = rng.choice([0.0, 1.0, *rng.uniform(0.1, 1.0, 4)], 2)
        target = rng.normal(size=2) * rng.choice([1e-6, 0.5, 2.0])
        lower = rng.uniform(-4.0, 3.0, 2)
        upper = lower + rng.uniform(0.0, 4.0, 2)
        solution = two_link_angles(target, lengths, lower, upper, rng.uniform(lower, upper))
        assert ((lower <= solution.q) & (solution.q <= upper)).all()
        sides = [np.linspace(low, high, 201) for low, high in zip(lower, upper, strict=True)]
        tips = tip_of(np.stack(np.meshgrid(*sides), axis=-1), lengths)
        assert solution.residual <= np.linalg.norm(tips - target, axis=-1).min() + 1e-12
        distance = math.dist(tip_of(solution.q, lengths), target)
        assert solution.residual == pytest.approx(distance, abs=1e-14)
        blocked += solution.status is PointStatus.BLOCKED_BY_LIMITS
        assert solution.converged == (solution.residual <= 1e-9)
    assert blocked > 50


def test_limits_in_the_way_leave_the_nearest_pose_and_say_so():
    # The forearm cannot bend back: the tip stays on the outer circle, towards the target.
    solution = two_link_angles([1.0, 1.0], [1.0, 1.0], [-PI, 0.0], [PI, 0.0])
    assert (solution.status, solution.chosen) == (PointStatus.BLOCKED_BY_LIMITS, None)
    assert_close(solution.q, [PI / 4.0, 0.0])
    assert solution.residual == pytest.approx(2.0 - math.sqrt(2.0))


# --- values and misuse ------------------------------------------------------------------------


def test_arrays_of_the_solution_are_read_only():
    solution = two_link_angles([1.0, 1.0], [1.0, 1.0])
    for array in (solution.q, solution.solutions):
        with pytest.raises(ValueError, match='read-only'):
            array[0] = 0.0


@pytest.mark.parametrize(
    ('arguments', 'message'),
    [
        (([1.0], [1.0, 1.0]), r'target must have shape \(2,\), got shape \(1,\)'),
        (([math.nan, 1.0], [1.0, 1.0]), 'target must be finite .*nan'),
        (([1.0, 1.0], [1.0, -1.0]), 'lengths must be finite and not negative, got -1.0'),
        (([1.0, 1.0], [1.0, 1.0], [1.0, 0.0], [0.0, 0.0]), 'limits must be two angles each'),
        (([1.0, 1.0], [1.0, 1.0], [math.nan, 0.0], [0.0, 0.0]), 'limits must be two angles each'),
    ],
)
def test_arm_that_makes_no_sense_is_refused_with_the_reason(arguments, message):
    with pytest.raises(ValueError, match=message):
        two_link_angles(*arguments)


@pytest.mark.parametrize(
    ('arguments', 'message'),
    [
        (([0.0], [1.0], 1.0, 1.0, [0.0]), r'a must have shape \(2,\) or \(3,\), got shape \(1,\)'),
        (([0.0, 0.0], [1.0], 1.0, 1.0, [0.0, 1.0]), r'b must have shape \(2,\), got shape \(1,\)'),
        (([0, 0], [1, 0], -1.0, 1.0, [0, 1]), 'length_a must be finite and not negative, got -1'),
        (([0, 0], [1, 0], 1.0, math.inf, [0, 1]), 'length_b must be finite and not negative'),
        (([0, 0], [1, 0], 1.0, 1.0, [0, math.inf]), 'elbow must be finite .* got .*inf'),
    ],
)
def test_neighbours_that_make_no_sense_are_refused_with_the_reason(arguments, message):
    with pytest.raises(ValueError, match=message):
        nearest_elbow(*arguments)


def test_examples_in_the_docstrings_hold():
    results = doctest.testmod(two_links_module)
    assert results.attempted >= 2
    assert results.failed == 0
