"""
What holds for FABRIK on points whatever the chain and the target.

The strategies prefer the awkward: points on a lattice (coincident, collinear, folded back), links
of very different length, scales from 1e-6 to 1e6, targets on the base, on joints, on the chain's
line and on the boundary of the reach.

"""

from itertools import pairwise

from fabrik_ros.textbook.points.point_chain import PointChain, PointStatus
from helpers import examples
from hypothesis import assume, given, settings, strategies as st
import numpy as np
import pytest

laws = settings(deadline=None, max_examples=examples(70, 200))

OUT_OF_REACH = (PointStatus.TOO_FAR, PointStatus.TOO_NEAR)

coordinates = st.one_of(
    st.integers(-2, 2).map(float),
    st.floats(-1.0, 1.0),
    st.floats(-1.0, 1.0).map(lambda x: 1e-9 * x),
)


@st.composite
def scenes(draw):
    """Draw the points of a chain, a target and a tolerance of a millionth of the scale."""
    d = draw(st.sampled_from([2, 3]))
    n = draw(st.integers(1, 7))
    point = st.lists(coordinates, min_size=d, max_size=d).map(np.array)
    points = np.array([draw(point) for _ in range(n + 1)])
    if draw(st.booleans()):
        points = np.outer(points[:, 0], draw(point))
    base, tip = points[0], points[-1]
    chain = PointChain(points)
    axis = draw(st.sampled_from(list(np.vstack([np.eye(d), -np.eye(d)]))))
    target = draw(
        st.one_of(
            point,
            st.sampled_from(list(points)),
            st.floats(-3.0, 3.0).map(lambda share: base + share * (tip - base)),
            st.just(base + chain.reach * axis),
            st.just(base + chain.inner_reach * axis),
        )
    )
    scale = 10.0 ** draw(st.integers(-6, 6))
    shift = draw(st.sampled_from([0.0, 0.0, 1.0, 1000.0]))
    return scale * (points + shift), scale * (target + shift), 1e-6 * scale


def solve(scene):
    points, target, tolerance = scene
    chain = PointChain(points)
    return chain, chain.solve(target, position_tolerance=tolerance, max_iterations=100)


def size(scene):
    """Size of the largest number that takes part: rounding is relative to it."""
    points, target, tolerance = scene
    return max(np.abs(points).max(), np.abs(target).max(), PointChain(points).reach, tolerance)


def lengths_of(points):
    return np.linalg.norm(np.diff(points, axis=0), axis=1)


def rotation(d, rng):
    """Pick a random rotation matrix (d, d)."""
    q, r = np.linalg.qr(rng.normal(size=(d, d)))
    q *= np.sign(np.diag(r))
    if np.linalg.det(q) < 0.0:
        q[:, 0] *= -1.0
    return q


def random_scene(rng, n, d):
    """Pick a chain in general position and a target that another pose of it reaches."""
    lengths = rng.uniform(0.2, 1.0, n)

    def pose():
        directions = rng.normal(size=(n, d))
        directions /= np.linalg.norm(directions, axis=1)[:, None]
        return np.vstack([np.zeros(d), np.cumsum(lengths[:, None] * directions, axis=0)])

    return pose(), pose()[-1]


# Laws of one solution: a scene is drawn and solved once for all of them.


def link_lengths_are_kept_whatever_the_outcome(scene, chain, solution):
    error = np.abs(lengths_of(solution.points) - chain.link_lengths).max()
    assert error <= 1e-12 * size(scene)


def base_stays_bit_for_bit_where_it_was(scene, chain, solution):
    assert solution.points[0].tobytes() == scene[0][0].tobytes()


def no_result_is_ever_nan(scene, chain, solution):
    assert np.isfinite(solution.points).all()
    assert np.isfinite(solution.residual)
    points, target, _ = scene
    for moved in (chain.tip_to_base(target), chain.base_to_tip(points[0])):
        assert np.isfinite(moved.points).all()


def residual_is_the_distance_anyone_would_measure(scene, chain, solution):
    measured = np.sqrt(np.sum((solution.points[-1] - scene[1]) ** 2))
    assert solution.residual == pytest.approx(measured, rel=1e-12, abs=1e-150)


def converged_means_within_the_tolerance_and_nothing_else_does(scene, chain, solution):
    assert solution.converged == (solution.residual <= scene[2])


def out_of_reach_is_said_only_where_true_and_the_tip_is_as_near_as_can_be(scene, chain, solution):
    points, target, tolerance = scene
    lengths = lengths_of(points)
    distance = np.linalg.norm(target - points[0])
    short = max(distance - lengths.sum(), 2.0 * lengths.max() - lengths.sum() - distance)
    rounding = 1e-12 * size(scene)
    assert (solution.status in OUT_OF_REACH) <= (short > tolerance - rounding)
    assert (short > tolerance + rounding) <= (solution.status in OUT_OF_REACH)
    assert solution.residual >= short - rounding
    if solution.status in OUT_OF_REACH:
        assert solution.residual == pytest.approx(short, rel=1e-12, abs=rounding)
        assert solution.iterations == 0


def solution_is_never_worse_than_the_start(scene, chain, solution):
    points, target, tolerance = scene
    start = np.linalg.norm(target - points[-1])
    assert solution.residual <= max(start, tolerance) + 1e-12 * size(scene)


def same_input_gives_the_same_output_bit_for_bit(scene, chain, solution):
    other = solve(scene)[1]
    assert solution.points.tobytes() == other.points.tobytes()
    assert (solution.status, solution.residual, solution.iterations) == (
        other.status,
        other.residual,
        other.iterations,
    )


LAWS = (
    link_lengths_are_kept_whatever_the_outcome,
    base_stays_bit_for_bit_where_it_was,
    no_result_is_ever_nan,
    residual_is_the_distance_anyone_would_measure,
    converged_means_within_the_tolerance_and_nothing_else_does,
    out_of_reach_is_said_only_where_true_and_the_tip_is_as_near_as_can_be,
    solution_is_never_worse_than_the_start,
    same_input_gives_the_same_output_bit_for_bit,
)


@settings(laws, max_examples=examples(140, 400))
@given(scenes())
def test_every_solution_keeps_all_laws(scene):
    chain, solution = solve(scene)
    for law in LAWS:
        law(scene, chain, solution)


# Laws of several.


@laws
@given(scenes())
def test_no_iteration_takes_the_tip_away_from_the_target(scene):
    points, target, _ = scene
    chain = PointChain(points)
    chains = [chain]
    for _ in range(10):
        chains.append(chains[-1].tip_to_base(target).base_to_tip(points[0]))
    misses = [np.linalg.norm(each.points[-1] - target) for each in chains]
    assert all(after <= before + 1e-12 * size(scene) for before, after in pairwise(misses))


@laws
@given(scenes())
def test_inputs_are_not_modified(scene):
    points, target, _ = scene
    before = points.tobytes(), target.tobytes()
    chain, _ = solve(scene)
    chain.tip_to_base(target).base_to_tip(target)
    assert (points.tobytes(), target.tobytes()) == before
    assert points.flags.writeable
    assert target.flags.writeable


@pytest.mark.long
@laws
@given(scenes())
def test_solving_again_from_the_answer_changes_nothing(scene):
    _, target, tolerance = scene
    _, solution = solve(scene)
    assume(solution.converged)
    again = PointChain(solution.points).solve(target, position_tolerance=tolerance)
    assert (again.iterations, again.status) == (0, PointStatus.CONVERGED)
    assert again.points.tobytes() == solution.points.tobytes()


@pytest.mark.long
@laws
@given(scenes(), st.integers(-20, 20))
def test_scaling_by_a_power_of_two_scales_the_answer_bit_for_bit(scene, exponent):
    points, target, _ = scene
    numbers = np.abs(np.append(points, target))
    assume(not ((numbers > 0.0) & (numbers < 1e-100)).any())  # subnormals round differently
    scale = 2.0**exponent
    scaled = tuple(scale * part for part in scene)
    one, other = solve(scene)[1], solve(scaled)[1]
    assert (other.status, other.iterations) == (one.status, one.iterations)
    assert (other.points == scale * one.points).all()


@laws
@given(st.integers(0, 2**32 - 1), st.integers(2, 8), st.sampled_from([2, 3]))
def test_turning_and_shifting_the_scene_turns_and_shifts_the_answer(seed, n, d):
    rng = np.random.default_rng(seed)
    points, target = random_scene(rng, n, d)
    R, shift = rotation(d, rng), rng.normal(size=d)
    one = PointChain(points).solve(target, position_tolerance=1e-9)
    assume(one.iterations <= 100)
    other = PointChain(points @ R.T + shift).solve(R @ target + shift, position_tolerance=1e-9)
    np.testing.assert_allclose(other.points, one.points @ R.T + shift, rtol=0.0, atol=1e-6)
    assert other.status is one.status


@pytest.mark.parametrize(
    ('n', 'd', 'rate'),
    [(2, 2, 0.95), (2, 3, 0.99), (4, 2, 0.99), (4, 3, 1.0), (10, 2, 1.0), (10, 3, 1.0)],
)
def test_reachable_targets_are_reached(n, d, rate):
    rng = np.random.default_rng(2011)
    solutions = []
    for _ in range(200):
        points, target = random_scene(rng, n, d)
        solution = PointChain(points).solve(target)
        assert solution.residual == pytest.approx(np.linalg.norm(solution.points[-1] - target))
        assert solution.converged == (solution.residual <= 1e-6)
        assert solution.status not in OUT_OF_REACH
        solutions.append(solution)
    assert np.mean([solution.converged for solution in solutions]) >= rate
