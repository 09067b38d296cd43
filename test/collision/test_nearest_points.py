"""Where links are nearest to each other, by trigonometry."""

import math

import numpy as np
import pytest

pytest.importorskip('coal', reason='coal measures distances')

from collision_models import body, planar_arm, with_bodies
from fabrik_ros import parse_urdf
from fabrik_ros.collision import Obstacle, PointCells, Scene, SelfCollision, WorldCollision
from fabrik_ros.model.geometry import Sphere
from fabrik_ros.transforms import transform
from helpers import Segment, serial_xml

BALL = 0.1
"""Radius of the ball at the tip, and of the obstacle [m]."""
ARM = with_bodies(
    serial_xml([Segment(), Segment(xyz=(0.5, 0.0, 0.0))]),
    {'l2': body(f'<sphere radius="{BALL}"/>', '0.5 0 0')},
)
"""Two links in a plane, half a metre each, with a ball at the end."""


def world_with(*obstacles):
    robot = parse_urdf(ARM)
    own = SelfCollision(robot, robot.chain())
    return WorldCollision(own, Scene(obstacles), clearance=0.02)


def obstacle_at(place):
    return Obstacle('ball', Sphere(BALL), transform(np.eye(3), np.array(place)))


@pytest.mark.parametrize('place', [(0.2, 0.9, 0.3), (1.4, 0.0, 0.0), (-0.5, -0.8, 0.1)])
def test_points_of_balls_lie_on_the_line_between_their_centres(place):
    q = np.array([0.4, -0.9])
    tip = 0.5 * np.array([np.cos(q[0]) + np.cos(q.sum()), np.sin(q[0]) + np.sin(q.sum()), 0.0])
    nearest = world_with(obstacle_at(place)).nearest_points(q)
    between = np.array(place) - tip
    along = between / np.linalg.norm(between)
    expected = [tip + BALL * along, np.array(place) - BALL * along]
    assert nearest.points == pytest.approx(np.array(expected), abs=1e-5)
    assert nearest.distance == pytest.approx(np.linalg.norm(between) - 2 * BALL, abs=1e-5)
    assert nearest.clearance == 0.02


def test_points_of_links_are_as_far_apart_as_the_links():
    robot = parse_urdf(planar_arm(4))
    pairs = SelfCollision(robot, robot.chain())
    for q in ([0.3, 1.2, 1.4, 0.9], [0.0, 0.4, -1.0, 2.0]):
        nearest, points = pairs.distance(q), pairs.nearest_points(q)
        assert math.dist(*points.points) == pytest.approx(abs(nearest.distance), abs=1e-5)
        assert points.distance == nearest.distance


def test_there_are_none_of_cells_and_without_pairs():
    world = world_with()
    assert world.nearest_points([0.0, 0.0]) is None
    world.set_points('camera', PointCells.around([[0.9, 0.5, 0.0]], 0.02))
    assert world.distance([0.0, 0.0]).distance < 1.0
    assert world.nearest_points([0.0, 0.0]) is None
