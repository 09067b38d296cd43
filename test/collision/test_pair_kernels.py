"""Paths that kernels look at: free is what measuring finds free, and what is known is true."""

import math

from collision_models import planar_arm
from fabrik_ros import load_urdf
from fabrik_ros.collision import (
    CollisionGuard,
    Obstacle,
    PointCells,
    Scene,
    SelfCollision,
    WorldCollision,
)
from fabrik_ros.collision.distances import MANY_PAIRS, PairDistances
from fabrik_ros.collision.outlines import box_outline, capsule_outline
from fabrik_ros.collision.point_cells import CellMeter
from fabrik_ros.collision.straight_paths import find_blocking, SHORTEST_PART, StraightPath
from fabrik_ros.kernels._jit import COMPILED
from fabrik_ros.kernels.cell_tree import distance_to_cells, SCRATCH, STACK
from fabrik_ros.model.geometry import Box, Capsule, HalfSpace, Sphere
from fabrik_ros.transforms import rotation_from_rpy, transform
from helpers import examples
from hypothesis import given, settings, strategies as st
import numpy as np
import pytest

coal = pytest.importorskip('coal', reason='coal measures the distances')

EXAMPLES = examples(40, 100) if COMPILED else 5
JOINTS = 3
SAMPLES = 25
CLEARANCE = 0.02
"""Distance that links keep from obstacles [m]."""
ERROR = 2e-5
"""Of distances [m]."""

seeds = st.integers(0, 2**32 - 1)
ROBOT = load_urdf(planar_arm(JOINTS))
CHAIN = ROBOT.chain('l0', ROBOT.links[-1])
SHAPES = Box((0.1, 0.2, 0.3)), Capsule(0.05, 0.2), Sphere(0.1)


def world_of(rng, other_cells=False):
    """Put some solids, a floor and cells around the arm."""
    places = rng.uniform(-1.5, 1.5, (4, 3)) * (1.0, 1.0, 0.2)
    obstacles = [
        Obstacle(f'o{k}', SHAPES[k % 3], transform(rotation_from_rpy(*rng.normal(size=3)), place))
        for k, place in enumerate(places)
    ]
    floor = Obstacle('floor', HalfSpace(), transform(np.eye(3), np.array([0.0, 0.0, -0.3])))
    world = WorldCollision(
        SelfCollision(ROBOT, CHAIN), Scene([*obstacles, floor]), clearance=CLEARANCE
    )
    for frame in ('one', 'two')[: 1 + other_cells]:
        world.set_points(frame, cells_of(rng))
    return world


def cells_of(rng):
    points = rng.normal(0.0, 0.1, (40, 3)) + rng.uniform(-1.5, 1.5, 3) * (1.0, 1.0, 0.1)
    return PointCells.around(points, 0.03)


def path_of(rng):
    q = CHAIN.random_configuration(rng)
    step = rng.uniform(0.0, 1.5) * rng.normal(size=JOINTS)
    return StraightPath(q, np.clip(q + step, CHAIN.lower, CHAIN.upper), rng.random(JOINTS) < 0.2)


def sampled(rng, path):
    """Draw configurations on the path; joints that stray are behind the others by chance."""
    shares = np.linspace(0.0, 1.0, SAMPLES)[:, None] * np.ones(JOINTS)
    late = np.where(path.strays, rng.random(shares.shape), 1.0)
    return path.start + shares * late * (path.end - path.start)


def gaps_at(world, q, pairs):
    """Distances less what they have to be, measured one by one, shape (p,) [m]."""
    found = [world.distances.measure(int(p), q) for p in pairs]
    return np.array(found) - world.clearances[pairs]


@settings(max_examples=EXAMPLES)
@given(seeds, st.booleans())
def test_path_that_is_called_free_is_free_and_one_with_room_is_called_so(seed, other_cells):
    rng = np.random.default_rng(seed)
    world, path = world_of(rng, other_cells), path_of(rng)
    pairs = np.arange(len(world.distances))
    assert not COMPILED or world.distances.kernels.covers.all()
    blocking = find_blocking(world.distances, path, pairs, world.clearances)
    samples = sampled(rng, path)
    if blocking < 0:
        assert min(gaps_at(world, q, pairs).min() for q in samples) > -ERROR
        return
    share = np.where(path.strays, 1.0, SHORTEST_PART + 1.0 / SAMPLES)
    most = world.distances.motion_bounds[blocking, :JOINTS] * np.abs(path.end - path.start)
    nearest = min(gaps_at(world, q, [blocking])[0] for q in samples)
    assert nearest <= share @ most + ERROR


@settings(max_examples=EXAMPLES)
@given(seeds)
def test_what_paths_leave_behind_promises_nothing_that_is_not_so(seed):
    rng = np.random.default_rng(seed)
    world = world_of(rng)
    pairs = np.arange(len(world.distances))
    for _ in range(3):
        find_blocking(world.distances, path_of(rng), pairs, world.clearances)
        world.set_points('one', cells_of(rng))
        path = path_of(rng)
        find_blocking(world.distances, path, pairs, world.clearances)
        for q in (path.start, path.end, CHAIN.random_configuration(rng)):
            bounds = world.distances.bounds(q)
            assert np.all(bounds <= gaps_at(world, q, pairs) + world.clearances + ERROR)


@pytest.mark.skipif(not COMPILED, reason='interpreted, every pair is measured outside kernels')
def test_steps_leave_many_pairs_to_kernels_which_look_at_their_balls(monkeypatch):
    places = [(1.2 * math.cos(turn), 1.2 * math.sin(turn), 0.6) for turn in range(2 * MANY_PAIRS)]
    boxes = [
        Obstacle(f'o{k}', SHAPES[0], transform(np.eye(3), np.array(place)))
        for k, place in enumerate(places)
    ]
    world = WorldCollision(SelfCollision(ROBOT, CHAIN), Scene(boxes), clearance=CLEARANCE)
    q, ones = np.full(JOINTS, 0.1), np.ones(JOINTS)
    guard = CollisionGuard(world)
    least = guard.least_from(q)
    monkeypatch.delattr(PairDistances, 'learn_from_balls')
    for is_free in (
        lambda: guard.allows(q, q + 0.01, ones, 5.0 * ones, ones),
        lambda: guard.collision_between(q, q + 0.01, least) == '',
    ):
        world.distances.forget()
        assert len(world.distances.unknown()) > MANY_PAIRS
        assert is_free()


def test_pairs_that_may_penetrate_are_measured_as_kernels_know_no_depth():
    world = world_of(np.random.default_rng(0))
    pair, least = np.array([0]), np.full(len(world.distances), -1.0)
    path = StraightPath(np.zeros(JOINTS), np.zeros(JOINTS), np.zeros(JOINTS, dtype=bool))
    touching = Obstacle('it', Sphere(0.1), transform(np.eye(3), np.array([0.25, 0.0, 0.0])))
    world.set_scene(Scene([touching]))
    number = next(p for p in range(len(world.distances)) if world.links(p) == ('l1', 'it'))
    pair = np.array([number])
    assert world.distances.measure(number, path.start) < -0.05
    assert find_blocking(world.distances, path, pair, least[: len(world.distances)]) == -1


@settings(max_examples=EXAMPLES)
@given(seeds, st.floats(0.0, 0.5), st.floats(0.0, 0.5))
def test_distances_are_looked_for_as_far_as_is_asked_for(seed, least, more):
    rng, enough = np.random.default_rng(seed), least + more
    outline = rng.choice([box_outline(np.array([0.1, 0.2, 0.3])), capsule_outline(0.1, 0.2)])
    cells = cells_of(rng)
    pose = np.append(rotation_from_rpy(*rng.normal(size=3)), rng.uniform(-1.0, 1.0, 3))

    def distance(enough, least):
        return distance_to_cells(
            outline.vertices, outline.bins, outline.candidates, outline.faces, outline.margin,
            pose, cells.boxes, enough, least, np.zeros(STACK, dtype=np.int64), np.zeros(SCRATCH),
        )  # fmt: skip

    # Every cell by itself: nothing is missing beyond 50 mm, as nothing else can be nearer.
    true = min(
        CellMeter(outline).distance(pose, PointCells(cells.keys[k : k + 1], cells.size))
        for k in range(len(cells))
    )
    found = distance(enough, least)
    assert found <= max(least, true + ERROR) or enough <= min(found, true) + ERROR
    if true > least + 0.1 * true + ERROR:
        assert found > least
    elif true <= least - ERROR:
        assert found <= least
