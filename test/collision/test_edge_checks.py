"""Edges in joint space: gaps are what coal finds, and free is what trigonometry finds free."""

import functools

from collision_models import planar_arm, planar_distances
from fabrik_ros import load_urdf
from fabrik_ros.collision import Obstacle, Scene, SelfCollision, WorldCollision
from fabrik_ros.collision.edge_checks import EdgeChecks
from fabrik_ros.collision.meshes import MeshFinder
from fabrik_ros.collision.outlines import point_outline
from fabrik_ros.collision.solids import Solid, solid_of_obstacle, support_of
from fabrik_ros.kernels import convex_gaps
from fabrik_ros.kernels._jit import COMPILED
from fabrik_ros.model.geometry import Box, Capsule, Cylinder, HalfSpace, Mesh, Sphere
from fabrik_ros.transforms import rotation_from_rpy, transform
from helpers import assert_close
from hypothesis import given, settings, strategies as st
import numpy as np
import pytest

coal = pytest.importorskip('coal', reason='coal measures the distances')

EXAMPLES = 200 if COMPILED else 10
JOINTS = 4
CLEARANCE = 0.002
"""Distance that links keep [m]."""
BETWEEN_SAMPLES = 0.02
"""Links may come so much nearer between two configurations that trigonometry looks at [m]."""

seeds = st.integers(0, 2**32 - 1)
lengths = st.floats(0.02, 1.0)
shapes = st.one_of(
    st.builds(lambda x, y, z: Box((x, y, z)), lengths, lengths, lengths),
    st.builds(Cylinder, lengths, lengths),
    st.builds(Capsule, lengths, lengths),
    st.builds(Sphere, lengths),
    st.just(HalfSpace()),
    st.integers(5, 60),
)
"""A number is that of the points of a hull."""
places = st.tuples(*[st.floats(-1.5, 1.5)] * 3)
turns = st.tuples(*[st.floats(-3.0, 3.0)] * 3)
poses = st.builds(
    lambda xyz, rpy: transform(rotation_from_rpy(*rpy), np.array(xyz)), places, turns
)


def solid_of(shape, T, seed):
    """Make a solid of a shape, or of the hull of random points."""
    if not isinstance(shape, int):
        return solid_of_obstacle(Obstacle('it', shape, T), 'base', MeshFinder())
    points = coal.StdVec_Vec3s()
    points.extend(list(np.random.default_rng(seed).uniform(-0.5, 0.5, (shape, 3))))
    return Solid('base', T, coal.Convex.convexHull(points, True, 'Qt'), np.zeros(3), 1.0)


def gap(solids, enough, least, slack=0.0):
    """Gap of two solids that stand where they are made."""
    outlines = [
        point_outline(0.0) if isinstance(s.geometry, coal.Halfspace) else s.outline for s in solids
    ]
    starts = np.cumsum([[0, 0, 0], *[[0, len(o.candidates), 0] for o in outlines]], axis=0)
    bins = np.array([outline.bins for outline in outlines])
    candidates = np.concatenate([outline.candidates for outline in outlines])
    supports = [support_of(solid) for solid in solids]
    rows = np.zeros((2, convex_gaps.COLUMNS))
    rows[1, convex_gaps.FIRST] = len(supports[0].points)
    for row, support in zip(rows, supports, strict=True):
        row[convex_gaps.COUNT] = len(support.points)
        row[convex_gaps.DISC], row[convex_gaps.BALL] = support.disc, support.ball
    frames = np.array([[*s.T_link_solid[:3, :3].ravel(), *s.T_link_solid[:3, 3]] for s in solids])
    points = np.concatenate([support.points for support in supports])
    direction, memory = np.array([1.0, 0.0, 0.0]), np.empty((convex_gaps.ROWS, 3))
    return convex_gaps.gap(
        points, starts, bins, candidates, rows, frames, 0, 1, enough, least, slack, direction,
        memory,
    )  # fmt: skip


def coal_distance(solids):
    poses_ = [coal.Transform3s(s.T_link_solid[:3, :3], s.T_link_solid[:3, 3]) for s in solids]
    a, b = (solid.geometry for solid in solids)
    result = coal.DistanceResult()
    return coal.distance(a, poses_[0], b, poses_[1], coal.DistanceRequest(), result)


@settings(max_examples=EXAMPLES)
@given(shapes, shapes, poses, poses, seeds)
def test_gap_is_the_distance_that_coal_finds_and_never_more(a, b, T_a, T_b, seed):
    if isinstance(a, HalfSpace) and isinstance(b, HalfSpace):
        return
    solids = solid_of(a, T_a, seed), solid_of(b, T_b, seed + 1)
    expected, found = coal_distance(solids), gap(solids, np.inf, 0.0)
    assert found <= expected + 1e-6 or found <= 0.0
    if expected > 1e-4:
        assert found > expected - 1e-5
        assert gap(solids, 0.9 * expected, 0.5 * expected) > 0.9 * expected
        assert gap(solids, 3.0 * expected, 1.1 * expected) <= 1.1 * expected
        least, slack = 0.2 * expected, 0.4
        rough = gap(solids, 3.0 * expected, least, slack)
        assert (
            (1.0 - slack) * (expected - least) - 1e-5 <= rough - least <= expected - least + 1e-6
        )
    elif expected < -1e-4:
        assert found <= 0.0


@functools.cache
def planar():
    return Arm()


class Arm:
    """A planar arm of capsules, whose distances are worked out on paper."""

    def __init__(self):
        self.robot = load_urdf(planar_arm(JOINTS).replace('revolute', 'continuous'))
        self.chain = self.robot.chain('l0', self.robot.links[-1])
        collision = SelfCollision(self.robot, self.chain, clearance=CLEARANCE)
        self.checks = EdgeChecks(collision, collision.clearances)
        self.pairs = [tuple(int(link[1:]) - 1 for link in pair) for pair in collision.pairs]

    def distance(self, q):
        """Return the least distance [m] at joint values, shape (..., 4)."""
        distances = planar_distances(q)
        return np.min([distances[min(pair), max(pair)] for pair in self.pairs], axis=0)


@settings(max_examples=EXAMPLES)
@given(seeds)
def test_edge_that_is_called_free_is_free_and_one_with_room_is_called_so(seed):
    arm, rng = planar(), np.random.default_rng(seed)
    q = arm.chain.random_configuration(rng)
    q_next = q + rng.uniform(0.0, 2.0) * rng.normal(size=JOINTS)
    shares = np.linspace(0.0, 1.0, 300 if COMPILED else 30)[:, None]
    distances = arm.distance(q + shares * (q_next - q))
    is_free = arm.checks.near_between(q, q_next) < 0
    assert not is_free or min(distances) > CLEARANCE - 1e-6
    assert is_free or min(distances) < CLEARANCE + BETWEEN_SAMPLES
    assert (arm.checks.near_at(q) < 0) == (distances[0] > CLEARANCE)


@settings(max_examples=EXAMPLES)
@given(seeds)
def test_free_share_of_an_edge_is_free_and_what_has_room_is_in_it(seed):
    arm, rng = planar(), np.random.default_rng(seed)
    q = arm.chain.random_configuration(rng)
    q_next = q + rng.uniform(0.0, 2.0) * rng.normal(size=JOINTS)
    shares = np.linspace(0.0, 1.0, 300 if COMPILED else 30)
    distances = arm.distance(q + shares[:, None] * (q_next - q))
    free = arm.checks.free_share(q, q_next)
    assert all(distances[shares < free] > CLEARANCE - 1e-6)
    has_room = np.logical_and.accumulate(distances > CLEARANCE + 2.0 * BETWEEN_SAMPLES)
    assert free >= shares[has_room].max(initial=0.0) - (0.0 if COMPILED else 0.5)


def test_pairs_with_triangles_are_looked_at_one_by_one(tmp_path):
    """A wall of two triangles, which has no inside."""
    corners = ['-5 1 -5', '5 1 -5', '5 1 5', '-5 1 5']
    facets = [f'v {corner}' for corner in corners] + ['f 1 2 3', 'f 1 3 4']
    (tmp_path / 'wall.obj').write_text('\n'.join(facets))
    arm = planar()
    wall = Obstacle('wall', Mesh(str(tmp_path / 'wall.obj')), np.eye(4))
    own = SelfCollision(arm.robot, arm.chain)
    finder = MeshFinder([tmp_path])
    world = WorldCollision(own, Scene([wall]), finder=finder, clearance=CLEARANCE)
    checks = EdgeChecks(world, world.clearances)
    along, across = np.zeros(JOINTS), np.array([np.pi / 2, 0.0, 0.0, 0.0])
    assert checks.near_at(along) < 0
    assert 'wall' in world.links(checks.near_at(across))
    assert 'wall' in world.links(checks.near_between(along, 2.0 * across))
    assert checks.near_between(along, -across) < 0


def slide_beside_a_post(x, z):
    """Make an arm of one link that slides along z, and what checks its edges."""
    robot = load_urdf(planar_arm(1).replace('type="revolute"', 'type="prismatic"'))
    chain = robot.chain('l0', robot.links[-1])
    post = Obstacle('post', Sphere(0.1), transform(np.eye(3), np.array([x, 0.0, z])))
    world = WorldCollision(SelfCollision(robot, chain), Scene([post]), clearance=CLEARANCE)
    return chain, EdgeChecks(world, world.clearances)


def test_prismatic_joint_outside_its_limits_is_not_called_free_unseen():
    """Its motion bounds hold inside the limits alone."""
    chain, checks = slide_beside_a_post(0.25, 8.0)
    assert checks.near_between(chain.upper, np.array([10.0])) >= 0


def test_search_that_is_to_stop_stops_within_an_edge(tmp_path):
    """A link turns beside a plate of two triangles for long: thousands of looks."""
    corners = [f'{x} {y} 0' for x in (-3, 3) for y in (-3, 3)]
    facets = [f'v {corner}' for corner in corners] + ['f 1 2 4', 'f 1 4 3']
    (tmp_path / 'plate.obj').write_text('\n'.join(facets))
    arm = planar()
    plate = Obstacle('plate', Mesh('plate.obj'), transform(np.eye(3), np.array([0, 0, -0.0525])))
    own = SelfCollision(arm.robot, arm.chain)
    world = WorldCollision(own, Scene([plate]), finder=MeshFinder([tmp_path]), clearance=CLEARANCE)
    asked = []

    def near_after(looks):
        asked.clear()
        checks = EdgeChecks(
            world, world.clearances, lambda: asked.append(0) is None and len(asked) > looks
        )
        return checks.near_between(np.zeros(JOINTS), 2.0 * np.eye(JOINTS)[0])

    assert near_after(10_000) < 0
    assert len(asked) > 100
    assert near_after(10) >= 0
    assert len(asked) == 11


def test_free_share_of_an_edge_that_leaves_the_limits_is_the_part_within():
    chain, checks = slide_beside_a_post(5.0, 0.0)
    q = chain.upper - 0.5
    assert_close(checks.free_share(q, q + 2.0), 0.25)
    assert checks.free_share(chain.upper + 0.1, chain.upper + 1.0) == 0.0
