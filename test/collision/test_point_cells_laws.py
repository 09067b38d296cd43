"""
Laws of cells: solids are as near to them as coal finds, one cell after the other.

Where they overlap, the depth is never less than coal's.
"""

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
from fabrik_ros.collision.point_cells import CellMeter, MOST_CELLS
from fabrik_ros.collision.solids import Solid
from fabrik_ros.errors import SceneError
from fabrik_ros.kernels._jit import COMPILED
from fabrik_ros.model.geometry import Sphere
from fabrik_ros.planning.pieces import finish
from fabrik_ros.transforms import rotation_from_rpy, transform
from helpers import assert_close
from hypothesis import given, settings, strategies as st
import numpy as np
import pytest

coal = pytest.importorskip('coal', reason='coal measures the distances')

EXAMPLES = 100 if COMPILED else 5
MOST = 300 if COMPILED else 20
"""Number of points [1]."""
NEAR, COARSE = 0.05, 0.1
"""Beyond this distance [m] so great a share of the rest may be missing."""
PRISM = 3e-4
"""A cylinder may be taken to be this much larger [m]."""

seeds = st.integers(0, 2**32 - 1)
lengths = st.floats(0.02, 0.5)
sizes = st.floats(0.005, 0.1)
turns = st.tuples(*[st.floats(-3.0, 3.0)] * 3)


def hull(seed):
    points = coal.StdVec_Vec3s()
    points.extend(list(np.random.default_rng(seed).normal(0.0, 0.15, (40, 3))))
    return coal.Convex.convexHull(points, True, 'Qt')


geometries = st.one_of(
    st.builds(coal.Box, lengths, lengths, lengths),
    st.builds(coal.Cylinder, lengths, lengths),
    st.builds(coal.Capsule, lengths, lengths),
    st.builds(coal.Sphere, lengths),
    st.builds(hull, seeds),
)


def measured(geometry, R, p, cells):
    geometry.computeLocalAABB()
    centre, radius = np.array(geometry.aabb_center), geometry.aabb_radius
    solid = Solid('link', np.eye(4), geometry, centre, radius)
    meter = CellMeter(solid.outline)
    return meter.distance(np.concatenate([R.ravel(), p]), cells)


def by_coal(geometry, R, p, cells):
    request, result = coal.DistanceRequest(), coal.DistanceResult()
    request.enable_signed_distance = True
    box, at = coal.Box(*[cells.size] * 3), coal.Transform3s(R, p)
    distances = []
    for centre in cells.centres:
        result.clear()
        there = coal.Transform3s(np.eye(3), centre)
        distances.append(coal.distance(geometry, at, box, there, request, result))
    return min(distances)


@settings(max_examples=EXAMPLES)
@given(geometries, turns, sizes, seeds)
def test_solids_are_as_near_to_cells_as_coal_finds(geometry, turn, size, seed):
    rng = np.random.default_rng(seed)
    points = rng.normal(0.0, rng.uniform(0.05, 0.5), (rng.integers(1, MOST), 3))
    cells = PointCells.around(points, size)
    R, p = rotation_from_rpy(*turn), rng.normal(0.0, 0.5, 3)
    distance, expected = measured(geometry, R, p, cells), by_coal(geometry, R, p, cells)
    assert distance <= expected + 1e-5
    if distance > 0.0:
        error = PRISM if isinstance(geometry, coal.Cylinder) else 1e-5
        assert distance >= expected - error - COARSE * max(expected - NEAR, 0.0)
    else:
        assert expected <= PRISM


@given(st.lists(st.tuples(*[st.floats(-9.0, 9.0)] * 3), max_size=30), sizes)
def test_each_point_is_in_a_cell_and_each_cell_has_a_point(points, size):
    points = np.reshape(points, (-1, 3))
    cells = PointCells.around(points, size)
    gaps = np.abs(points[:, None] - cells.centres[None]).max(axis=2, initial=0.0)
    inside = gaps <= 0.5 * size + 1e-9
    assert inside.any(axis=1).all()
    assert inside.any(axis=0).all()


def test_nothing_is_infinitely_near_to_no_cells():
    cells = PointCells.around(np.zeros((0, 3)), 0.02)
    assert measured(coal.Sphere(0.1), np.eye(3), np.zeros(3), cells) == math.inf


@pytest.mark.parametrize('depth', [0.001, 0.02, 0.04])
def test_the_depth_of_a_box_in_a_wall_of_cells_is_how_far_it_must_go_back(depth):
    side = np.arange(-0.2, 0.2, 0.01)
    cells = PointCells.around([[0.005, y + 0.005, z + 0.005] for y in side for z in side], 0.01)
    box = coal.Box(0.2, 0.1, 0.1)
    distance = measured(box, np.eye(3), np.array([-0.1 + depth, 0.003, 0.002]), cells)
    assert_close(distance, -depth, 1e-9)


def test_too_many_cells_are_refused():
    line = (np.arange(MOST_CELLS + 1)[:, None] + 0.5) * [0.02, 0.0, 0.0]
    with pytest.raises(SceneError, match=r'20001 occupied cells; at most 20000 are checked'):
        PointCells.around(line, 0.02)


@pytest.mark.parametrize('bad', [math.nan, math.inf, 2e3])
def test_points_that_are_nowhere_are_refused(bad):
    with pytest.raises(SceneError, match='a point is not finite, or farther away than 1000 m'):
        PointCells.around([[0.0, bad, 0.0]], 0.02)


# -- in the world of an arm

JOINTS = 3
ARM = planar_arm(JOINTS).replace('revolute', 'continuous')


def world_of(*obstacles):
    robot = load_urdf(ARM)
    own = SelfCollision(robot, robot.chain('l0', robot.links[-1]))
    return WorldCollision(own, Scene(obstacles))


def test_nothing_is_nearest_where_clouds_have_no_cells():
    robot = load_urdf(ARM)
    own = SelfCollision(robot, robot.chain('l0', robot.links[-1]))
    world = WorldCollision(own, Scene(), checks_links=False)
    world.set_points('camera', PointCells.around(np.zeros((0, 3)), 0.02))
    for _ in range(2):
        nearest = world.distance(np.zeros(JOINTS))
        assert (nearest.distance, nearest.link_a) == (math.inf, '')


def brute_distance(world, q, cells):
    """Distance of the links from cells, by coal and the kinematics of the library."""
    robot = world.robot_shape().at(dict(zip(world.mechanism.joint_names, q, strict=True)))
    frames = robot.frames[1:] if len(robot.frames) > JOINTS else robot.frames
    capsule = coal.Capsule(0.05, 0.3)
    return min(by_coal(capsule, f[:9].reshape(3, 3), f[9:], cells) for f in frames)


@settings(max_examples=EXAMPLES // 4)
@given(seeds)
def test_what_is_known_of_points_holds_as_the_arm_moves_and_they_are_renewed(seed):
    rng = np.random.default_rng(seed)
    world, q = world_of(), rng.uniform(-3.0, 3.0, JOINTS)
    for _ in range(4):
        cells = PointCells.around(rng.uniform(-1.5, 1.5, (20, 3)), 0.05)
        if rng.random() < 0.5:
            world.set_points('camera', cells)
        else:
            list(world.renew_points('camera', cells, q))
        for _ in range(3):
            q = q + rng.uniform(-0.2, 0.2, JOINTS)
            expected = brute_distance(world, q, cells)
            nearest = world.distance(q)
            assert world.is_collision_free(q) == (nearest.distance > nearest.clearance)
            if 0.0 < expected < NEAR and nearest.link_b == "points of 'camera'":
                assert_close(nearest.distance, expected, 1e-5)
            assert np.all(world.distances.bounds(q) <= expected + 3.0)


def straight(world):
    return np.zeros(len(world.mechanism))


def test_points_are_named_and_replaced_frame_by_frame():
    world = world_of()
    world.set_points('left', PointCells.around([[1.0, 0.2, 0.0]], 0.02))
    world.set_points('right', PointCells.around([[1.0, -0.1, 0.0]], 0.02))
    nearest = world.distance(straight(world))
    assert nearest.link_b == "points of 'right'"
    assert_close(nearest.distance, 0.1 - 0.05, 0.02)
    world.set_points('right', PointCells.around([[1.0, -0.5, 0.0]], 0.02))
    assert world.distance(straight(world)).link_b == "points of 'left'"
    world.set_points('left', None)
    assert world.distance(straight(world)).link_b == "points of 'right'"
    world.set_points('right', PointCells.around(np.zeros((0, 3)), 0.02))
    assert not world.distance(straight(world)).link_b.startswith('points')


def test_what_links_carry_keeps_clear_of_points():
    at_tip = transform(np.eye(3), np.array([0.5, 0.0, 0.0]))
    world = world_of(Obstacle('tool', Sphere(0.02), at_tip, f'l{JOINTS}'))
    world.set_points('camera', PointCells.around([[1.61, 0.01, 0.01]], 0.02))
    nearest = world.distance(straight(world))
    assert (nearest.link_a, nearest.link_b) == ('tool', "points of 'camera'")
    assert 0.077 - 1e-5 <= nearest.distance <= 0.08 + 1e-5


def test_a_scene_that_changes_leaves_points_and_points_leave_the_scene():
    world = world_of()
    world.set_points('camera', PointCells.around([[1.0, 0.2, 0.0]], 0.02))
    ball = Obstacle('ball', Sphere(0.01), transform(np.eye(3), np.array([1.0, -0.08, 0.0])))
    world.set_scene(Scene([ball]))
    names = {world.links(p)[1] for p in range(len(world.distances))}
    assert {'ball', "points of 'camera'"} <= names
    world.keep_distances_at(straight(world))
    kept = world.distance(straight(world))
    world.set_points('other', PointCells.around([[1.0, 0.5, 0.0]], 0.02))
    assert world.distance(straight(world)) == kept
    assert kept.clearance == 0.02


def test_after_a_refresh_nothing_has_to_be_measured():
    world, q = world_of(), np.zeros(JOINTS)
    far = PointCells.around([[1.0, 0.5, 0.0]], 0.02)
    world.set_points('camera', far)
    assert len(world.distances.due(q, world.clearances)) > 0
    list(world.refresh(q))
    assert len(world.distances.due(q, world.clearances)) == 0
    list(world.renew_points('camera', far, q))
    assert len(world.distances.due(q, world.clearances)) == 0


def test_cells_are_in_force_only_when_all_distances_are_measured():
    world, q = world_of(), np.zeros(JOINTS)
    world.set_points('camera', PointCells.around([[1.0, 0.5, 0.0]], 0.02))
    pieces = world.renew_points('camera', PointCells.around([[1.0, 0.1, 0.0]], 0.02), q)
    next(pieces)
    assert world.distance(q).distance > 0.2
    world.set_scene(Scene())
    list(pieces)
    assert world.distance(q).distance < 0.1


@pytest.mark.parametrize('count', [0, 2])
def test_obstacles_that_change_while_the_first_cells_of_a_frame_are_measured_are_minded(count):
    balls = [
        Obstacle(f'ball{i}', Sphere(0.01), transform(np.eye(3), np.array([1.0, 0.5 + i, 0.0])))
        for i in range(3)
    ]
    world, q = world_of(balls[0]), np.zeros(JOINTS)
    pieces = world.renew_points('camera', PointCells.around([[1.0, 0.1, 0.0]], 0.02), q)
    next(pieces)
    world.set_scene(Scene(balls[1 : 1 + count]))
    numbers = finish(pieces)
    assert numbers == {p: p for p in range(len(world.distances))}
    assert len(world.distances.unknown()) == 0
    assert world.distance(q).distance < 0.1


def test_an_arm_stops_in_front_of_points():
    world = world_of()
    guard = CollisionGuard(world)
    world.set_points('camera', PointCells.around([[1.0, 0.3, 0.0]], 0.02))
    q, up = np.zeros(JOINTS), np.array([0.5, 0.0, 0.0])
    assert not guard.is_path_free(q, up)
    assert guard.is_path_free(q, -up)
