"""Which cells are occupied: what a depth camera above an arm sees, has seen, and cannot see."""

import math

from collision_models import planar_arm
from depth_camera import arm, DepthCamera, floor, sphere
from fabrik_ros import load_urdf
from fabrik_ros.collision import PointMap, Scene, SelfCollision, WorldCollision
from fabrik_ros.errors import SceneError
from fabrik_ros.kernels._jit import COMPILED
from fabrik_ros.transforms import inverse, rotation_from_rpy, transform
from hypothesis import given, settings, strategies as st
import numpy as np
import pytest

pytest.importorskip('coal', reason='coal knows the shapes of the links')

JOINTS = 3
SIZE, PADDING = 0.03, 0.015
FLOOR = floor(-0.5)
CAMERA = DepthCamera(pixels=140)

robot = load_urdf(planar_arm(JOINTS).replace('revolute', 'continuous'))
chain = robot.chain('l0', robot.links[-1])
world = WorldCollision(SelfCollision(robot, chain), Scene())
shape = world.robot_shape()
seeds = st.integers(0, 2**32 - 1)
angles = st.lists(st.floats(-2.5, 2.5), min_size=JOINTS, max_size=JOINTS)
straight = np.zeros(JOINTS)
aside = np.array([1.5, 0.0, 0.0])


def placed(q):
    return shape.at(dict(zip(chain.joint_names, q, strict=True)))


def seen(point_map, q, *things):
    return point_map.take('camera', CAMERA.measure(*arm(q), *things), CAMERA.T, placed(q))


def near(cells, point, within):
    """Count the cells around a point."""
    return int((np.linalg.norm(cells.centres - point, axis=1) < within).sum())


def new_map():
    return PointMap(SIZE, PADDING)


@settings(max_examples=20 if COMPILED else 2)
@given(angles, seeds)
def test_an_arm_does_not_see_itself(q, seed):
    q, noise = np.array(q), np.random.default_rng(seed).uniform(-0.008, 0.008, (1, 3))
    points = CAMERA.measure(*arm(q)) + noise.astype(np.float32)
    assert len(new_map().take('camera', points, CAMERA.T, placed(q))) == 0


@given(st.floats(-0.1, 0.1), st.floats(-0.6, 0.6))
def test_a_point_is_an_obstacle_beyond_the_padding(gap, angle):
    if abs(gap - PADDING) < 1e-4 or gap < -0.05:
        return
    point = np.array([0.75, *(0.05 + gap) * np.array([math.sin(angle), math.cos(angle)])])
    in_camera = (inverse(CAMERA.T) @ np.append(point, 1.0))[:3].astype(np.float32)
    cells = new_map().take('camera', in_camera[None], CAMERA.T, placed(straight))
    assert len(cells) == (gap > PADDING)


@given(seeds)
def test_cells_do_not_depend_on_the_frame_of_the_points(seed):
    rng = np.random.default_rng(seed)
    points = rng.uniform(-2.0, 2.0, (200, 3)).astype(np.float32)
    keep = np.abs(points / SIZE - np.round(points / SIZE)).min(axis=1) > 1e-3
    points, T = (
        points[keep],
        transform(rotation_from_rpy(*rng.uniform(-3, 3, 3)), rng.uniform(-1, 1, 3)),
    )
    moved = (points - T[:3, 3]) @ T[:3, :3]
    here = new_map().take('camera', points, np.eye(4), placed(straight))
    there = new_map().take('camera', moved.astype(np.float32), T, placed(straight))
    assert here.keys.tolist() == there.keys.tolist()


def test_the_floor_is_seen_beside_the_arm_but_not_below_it():
    cells = seen(new_map(), straight, FLOOR)
    assert near(cells, [0.75, 0.4, -0.5], 0.1) > 20
    assert near(cells, [0.75, 0.0, -0.5], 0.03) == 0


def test_a_cloud_replaces_what_is_in_the_open_and_only_that_of_its_frame():
    points = new_map()
    for x in (0.3, 0.6, 0.9):
        cells = seen(points, aside, FLOOR, sphere([x, -0.3, 0.0], 0.05))
        assert near(cells, [x, -0.3, 0.0], 0.09) > 5
        assert near(cells, [x - 0.3, -0.3, 0.0], 0.09) == 0
    kept = points.cells('camera')
    points.take('other', np.ones((1, 3), dtype=np.float32), np.eye(4), placed(aside))
    assert points.cells('camera') is kept
    assert len(points.cells('other')) == 1


def test_a_hand_that_is_moved_up_to_a_link_stays_an_obstacle():
    points = new_map()
    for y in (0.5, 0.4, 0.3, 0.2, 0.15, 0.12, 0.1):
        cells = seen(points, straight, FLOOR, sphere([0.75, y, 0.0], 0.05))
        world.set_points('camera', cells)
        distance = world.distance(straight).distance
        assert distance < max(y - 0.1, 0.0) + SIZE
    assert distance < PADDING


def test_what_the_arm_hides_stays_until_the_camera_has_looked_through_it():
    points, behind = new_map(), np.array([0.75, 0.0, -0.2])
    ball = sphere(behind, 0.04)
    assert near(seen(points, aside, FLOOR, ball), behind, 0.08) > 5
    before = near(seen(points, straight, FLOOR, ball), behind, 0.08)
    assert before > 5
    assert near(seen(points, straight, FLOOR), behind, 0.08) == before  # taken away, unseen
    assert near(seen(points, aside), behind, 0.08) == before  # measured nothing there
    assert near(seen(points, aside, FLOOR), behind, 0.08) == 0


def test_what_the_arm_passes_over_stays():
    points = new_map()
    whole = seen(points, aside, FLOOR)
    for angle in np.linspace(1.5, -1.5, 7):
        cells = seen(points, np.array([angle, 0.0, 0.0]), FLOOR)
    assert set(whole.keys) <= set(cells.keys) | set(seen(points, aside, FLOOR).keys)
    assert near(cells, [0.75, 0.0, -0.5], 0.1) == near(whole, [0.75, 0.0, -0.5], 0.1)


def test_a_camera_inside_a_link_is_not_blind():
    points, q = new_map(), straight
    eye = transform(np.eye(3), np.array([0.25, 0.0, 0.0]))
    wall = np.array([[0.5, y, 1.0] for y in np.arange(-0.1, 0.1, 0.01)], dtype=np.float32)
    assert len(points.take('camera', wall, eye, placed(q))) > 0
    farther = wall + np.float32([0.0, 0.0, 0.5])
    assert near(points.take('camera', farther, eye, placed(q)), [0.75, 0.0, 1.0], 0.3) == 0


def test_too_many_cells_are_refused_with_the_size_that_fits():
    rng = np.random.default_rng(0)
    cloud = rng.uniform(-1.0, 1.0, (40_000, 3)).astype(np.float32)
    points = PointMap(0.02, PADDING)
    good = points.take('camera', cloud[:100], np.eye(4), placed(straight))
    with pytest.raises(
        SceneError, match=r'more than 20000 cells of 0.02 m; a point_size of'
    ) as told:
        points.take('camera', cloud, np.eye(4), placed(straight))
    assert points.cells('camera') is good
    size = float(str(told.value).split('point_size of ')[1].split()[0])
    assert (
        len(PointMap(size, PADDING).take('camera', cloud, np.eye(4), placed(straight))) <= 20_000
    )
    assert size < 0.1


@pytest.mark.parametrize(
    ('cloud', 'message'),
    [
        (np.full((5, 3), np.nan), 'none of its 5 points is finite'),
        (np.zeros((0, 3)), 'none of its 0 points is finite'),
        (np.zeros((3_000_001, 3)), '3000001 points; at most 3000000 are taken'),
    ],
)
def test_clouds_of_no_use_are_refused_and_the_last_one_stays(cloud, message):
    points = new_map()
    good = seen(points, straight, FLOOR)
    with pytest.raises(SceneError, match=message):
        points.take('camera', cloud.astype(np.float32), CAMERA.T, placed(straight))
    assert points.cells('camera') is good
    points.forget('camera')
    assert points.cells('camera') is None


@pytest.mark.parametrize('size', [0.0, -0.1, 1.1, math.nan])
def test_sizes_of_cells_that_are_none_are_refused(size):
    with pytest.raises(SceneError, match='the size of cells is'):
        PointMap(size)


@pytest.mark.parametrize('padding', [-0.1, math.inf, math.nan])
def test_paddings_that_are_none_are_refused(padding):
    with pytest.raises(SceneError, match='the padding is'):
        PointMap(0.02, padding)
