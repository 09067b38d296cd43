"""
What holds for trees of points with limits, whatever the tree and the targets.

The strategies prefer the awkward: points on a lattice (coincident, collinear, folded back),
limits of nothing and of everything, targets on the base, on joints and far away.

"""

from itertools import pairwise
import math

from fabrik_ros.textbook.points.point_chain import PointChain, PointStatus
from fabrik_ros.textbook.points.point_limits import BallJoint, Hinge
from fabrik_ros.textbook.points.point_tree import PointTree
from helpers import examples, mostly_long
from hypothesis import given, settings, strategies as st
import numpy as np
import pytest

laws = settings(deadline=None, max_examples=examples(40, 100))

PI = math.pi
HOLDS = 1e-9
"""How well lengths [share of the size] and limits [rad] hold."""

coordinates = st.one_of(st.integers(-2, 2).map(float), st.floats(-1.0, 1.0))
half_angles = st.one_of(st.sampled_from([0.0, PI / 2.0, PI]), st.floats(0.0, PI))


@st.composite
def intervals(draw):
    """Draw lower and upper, at most a turn apart; often an end at 0."""
    lower = draw(st.one_of(st.just(0.0), st.floats(-PI, PI)))
    return lower, lower + draw(
        st.one_of(st.sampled_from([0.0, PI, 2.0 * PI]), st.floats(0.0, 6.0))
    )


@st.composite
def limits_in(draw, dimension):
    """Draw a limit that fits, rest and axis in general position."""
    lower, upper = draw(intervals())
    if dimension == 2:
        return Hinge(lower=lower, upper=upper)
    rest = rotation(3, np.random.default_rng(draw(st.integers(0, 9))))
    if draw(st.booleans()):
        return BallJoint(*(draw(half_angles) for _ in range(4)), twist=(lower, upper), rest=rest)
    return Hinge(rest[:, draw(st.integers(0, 1))], lower, upper, rest)


@st.composite
def scenes(draw):
    """Draw a tree, a target for some of its tips, and a tolerance of a millionth of the scale."""
    d = draw(st.sampled_from([2, 3]))
    n = draw(st.integers(2, 7))
    point = st.lists(coordinates, min_size=d, max_size=d).map(np.array)
    scale = 10.0 ** draw(st.integers(-6, 6))
    points = np.array([draw(point) for _ in range(n)])
    parents = [-1, *(draw(st.integers(max(0, i - 2), i - 1)) for i in range(1, n))]
    limits = {i: draw(limits_in(d)) for i in range(1, n) if draw(st.booleans())}
    tips = PointTree(points, parents).tips
    weights = {tip: draw(st.floats(0.1, 10.0)) for tip in tips}
    wanted = st.one_of(point, st.sampled_from(list(points)), point.map(lambda x: 100.0 * x))
    chosen = draw(st.sets(st.sampled_from(tips), min_size=1))
    targets = {tip: scale * draw(wanted) for tip in sorted(chosen)}
    return PointTree(scale * points, parents, limits=limits, weights=weights), targets, scale


def solve(scene, **options):
    tree, targets, scale = scene
    return tree.solve(targets, position_tolerance=1e-6 * scale, max_iterations=25, **options)


def rotation(d, rng):
    """Pick a random rotation matrix (d, d)."""
    q, r = np.linalg.qr(rng.normal(size=(d, d)))
    q *= np.sign(np.diag(r))
    if np.linalg.det(q) < 0.0:
        q[:, 0] *= -1.0
    return q


def bone_errors(tree):
    """Measure by how much bones are too long or short."""
    bones = np.array([tree.points[i] - tree.points[p] for i, p in enumerate(tree.parents) if i])
    return np.abs(np.linalg.norm(bones, axis=1) - tree.bone_lengths[1:])


def turn_between(one, other):
    """Measure the angle from one frame to the other."""
    return 2.0 * math.asin(min(1.0, np.linalg.norm(one - other) / math.sqrt(8.0)))


def assert_legal(tree, size):
    """Check lengths, limits and that frames lie along their bones."""
    assert bone_errors(tree).max() <= HOLDS * size
    for i, limit in tree.limits.items():
        relative = tree.relative_rotation(i)
        assert turn_between(limit.nearest(relative), relative) <= HOLDS
    for i in range(1, len(tree.points)):
        bone = tree.points[i] - tree.points[tree.parents[i]]
        along = tree.frames[i, :, 2][: len(bone)]
        assert np.abs(bone - tree.bone_lengths[i] * along).max() <= HOLDS * size
    off = np.swapaxes(tree.frames, -1, -2) @ tree.frames - np.eye(3)
    assert np.abs(off).max() < 1e-12


def size_of(scene):
    """Size of the largest number that takes part: rounding is relative to it."""
    tree, targets, scale = scene
    return max(np.abs(tree.points).max(), *(np.abs(t).max() for t in targets.values()), scale)


# Laws of one solution: a scene is drawn and solved once for all of them.


def lengths_and_limits_hold(scene, solution):
    assert_legal(solution.tree, size_of(scene))


def base_stays_bit_for_bit_where_it_was(scene, solution):
    assert (solution.points[0] == scene[0].points[0]).all()


def residuals_are_the_distances_anyone_would_measure(scene, solution):
    tree, targets, scale = scene
    for tip, target in targets.items():
        measured = math.sqrt(np.sum((solution.points[tip] - target) ** 2))
        assert solution.residuals[tip] == pytest.approx(measured, rel=1e-12)
    total = sum(tree.weights[tip] * solution.residuals[tip] for tip in targets)
    mean = total / sum(tree.weights[tip] for tip in targets)
    assert solution.residual == pytest.approx(mean, rel=1e-12)
    within = all(residual <= 1e-6 * scale for residual in solution.residuals.values())
    assert solution.converged == within


def same_input_gives_the_same_output_bit_for_bit(scene, solution):
    other = solve(scene)
    assert (solution.points == other.points).all()
    assert (solution.tree.frames == other.tree.frames).all()
    assert (solution.status, solution.iterations) == (other.status, other.iterations)


LAWS = (
    lengths_and_limits_hold,
    base_stays_bit_for_bit_where_it_was,
    residuals_are_the_distances_anyone_would_measure,
    same_input_gives_the_same_output_bit_for_bit,
)


@laws
@given(scenes())
def test_every_solution_keeps_all_laws(scene):
    tree = scene[0]
    before = tree.points.copy(), tree.frames.copy()
    solution = solve(scene)
    for law in LAWS:
        law(scene, solution)
    assert (tree.points == before[0]).all()
    assert (tree.frames == before[1]).all()


# Laws of several.


@laws
@given(scenes())
def test_base_goes_where_it_is_put(scene):
    tree, targets, scale = scene
    base = tree.points[0] + scale
    assert (tree.solve(targets, base=base, max_iterations=2).points[0] == base).all()


@pytest.mark.long
@laws
@given(scenes())
def test_lengths_and_limits_hold_without_any_iteration(scene):
    tree, targets, _ = scene
    solution = tree.solve(targets, max_iterations=0)
    assert solution.iterations == 0
    assert_legal(solution.tree, size_of(scene))


@laws
@given(scenes())
def test_lengths_and_limits_hold_with_a_free_base(scene):
    solution = solve(scene, free_base=True)
    assert_legal(solution.tree, size_of(scene))


@laws
@given(scenes())
def test_second_pass_sets_right_what_the_first_leaves(scene):
    tree, targets, _ = scene
    first = tree.tip_to_base(targets)
    assert np.isfinite(first.points).all()
    for tip, target in targets.items():
        assert (first.points[tip] == target).all()
    assert_legal(first.base_to_tip(tree.points[0]), size_of(scene))


@pytest.mark.long
@laws
@given(scenes())
def test_first_pass_of_a_chain_holds_all_but_the_limit_at_the_root(scene):
    tree, targets, _ = scene
    n = len(tree.points)
    limits = {i: limit for i, limit in tree.limits.items() if i > 1}
    chain = PointTree.chain(tree.points, limits=limits)
    legal = chain.base_to_tip(chain.points[0])
    assert_legal(legal.tip_to_base({n - 1: next(iter(targets.values()))}), size_of(scene))


@pytest.mark.long
@laws
@given(scenes())
def test_more_iterations_are_never_worse(scene):
    tree, targets, scale = scene
    options = {'position_tolerance': 1e-6 * scale}
    residuals = [tree.solve(targets, max_iterations=m, **options).residual for m in (0, 1, 3, 12)]
    for before, after in pairwise(residuals):
        assert after <= max(before, 1e-6 * scale)


@pytest.mark.long
@laws
@given(scenes(), st.integers(-20, 20))
def test_scaling_everything_scales_the_answer(scene, power):
    tree, targets, scale = scene
    factor = 2.0**power
    scaled = PointTree(
        factor * tree.points, tree.parents, limits=tree.limits, weights=tree.weights
    )
    larger = {tip: factor * target for tip, target in targets.items()}
    one, other = solve(scene), solve((scaled, larger, factor * scale))
    assert other.points == pytest.approx(factor * one.points, abs=1e-9 * factor * size_of(scene))
    assert other.status is one.status


@pytest.mark.long
@laws
@given(st.integers(0, 10**6), st.sampled_from([2, 3]))
def test_moving_everything_rigidly_moves_the_answer(number, d):
    rng = np.random.default_rng(number)
    points = np.cumsum(rng.normal(size=(6, d)), axis=0)
    parents = [-1, 0, 1, 2, 1, 4]
    limit = Hinge(lower=-0.7, upper=0.4) if d == 2 else BallJoint(0.3, 0.9, 2.0, 0.1, (-0.5, 0.3))
    limits = dict.fromkeys((1, 2, 3, 5), limit)
    targets = {3: points[3] + rng.normal(size=d), 5: points[5] + rng.normal(size=d)}
    R, shift = rotation(d, rng), rng.normal(size=d)
    turned = math.atan2(R[1, 0], R[0, 0]) if d == 2 else R
    moved = PointTree(points @ R.T + shift, parents, limits=limits, root_orientation=turned)
    moved_targets = {tip: R @ target + shift for tip, target in targets.items()}
    here = PointTree(points, parents, limits=limits).solve(targets, max_iterations=15)
    there = moved.solve(moved_targets, max_iterations=15)
    assert there.points == pytest.approx(here.points @ R.T + shift, abs=1e-6)


@laws
@given(scenes())
def test_serial_chain_without_limits_is_out_of_reach_when_a_point_chain_is(scene):
    tree, targets, scale = scene
    target = next(iter(targets.values()))
    options = {'position_tolerance': 1e-6 * scale, 'max_iterations': 12}
    plain = PointChain(tree.points).solve(target, **options)
    chain = PointTree.chain(tree.points).solve({len(tree.points) - 1: target}, **options)
    outside = (PointStatus.TOO_FAR, PointStatus.TOO_NEAR)
    assert (plain.status in outside) == (chain.status in outside)
    if plain.status in outside:
        assert chain.points == pytest.approx(plain.points, abs=1e-9 * size_of(scene))


@pytest.mark.parametrize('kind', mostly_long(['ball', 'hinge', 'plane'], 'ball'))
def test_many_random_chains_never_break_a_limit(kind):
    rng = np.random.default_rng(7)
    for _ in range(60):
        d = 2 if kind == 'plane' else 3
        n = int(rng.integers(2, 9))
        limits = {i: random_limit(kind, rng) for i in range(1, n)}
        points = np.cumsum(rng.normal(size=(n, d)), axis=0)
        tree = PointTree.chain(points, limits=limits)
        solution = tree.solve({n - 1: 3.0 * rng.normal(size=d)}, max_iterations=15)
        assert_legal(solution.tree, 10.0)


def random_limit(kind, rng):
    """Pick a limit with half angles from 0 to 180 degrees, both ends often."""
    lower = rng.uniform(-PI, 1.0)
    upper = lower + rng.choice([0.0, *rng.uniform(0.0, 4.0, 5)])
    rest = rotation(3, rng)
    if kind == 'plane':
        return Hinge(lower=lower, upper=upper)
    if kind == 'hinge':
        return Hinge(rest[:, 0], lower, upper, rest)
    return BallJoint(*rng.choice([0.0, PI, *rng.uniform(0.0, PI, 6)], 4), (lower, upper), rest)
