"""Whether a mouse finds the ball of a handle; judged by rays through the shapes of the arm."""

import math
from pathlib import Path

import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed')
pytest.importorskip('pinocchio', reason='pinocchio is the judge')
pytest.importorskip('coal', reason='coal is the judge')

from bench import START
import coal
from fabrik_ros import parse_urdf
from fabrik_ros.ros.beside.handle_marker import handle_marker, SIZE_SHARE
from fabrik_ros.ros.launching.rviz_view import fitted_to
import numpy as np
import pinocchio
from test_text_layout import Eye
from visualization_msgs.msg import Marker

CONFIG = Path(__file__).parents[3] / 'config' / 'demo.rviz'
GRID = 14
THIN = 1e-4
"""Radius of a ray [m]."""


def shapes_of(urdf, q):
    """All shapes of an arm at joint values, with their places."""
    model = pinocchio.buildModelFromXML(urdf)
    geometry = pinocchio.buildGeomFromUrdfString(model, urdf, pinocchio.GeometryType.COLLISION)
    data, places = model.createData(), geometry.createData()
    pinocchio.updateGeometryPlacements(model, data, geometry, places, np.array(q))
    pinocchio.updateFramePlacements(model, data)
    solids = [
        (shape.geometry, place)
        for shape, place in zip(geometry.geometryObjects, places.oMg, strict=True)
    ]
    return solids, data.oMf[model.getFrameId('tool0')].homogeneous


def is_hidden(eye, point, solids):
    """Whether a shape is between the eye and a point."""
    away = point - eye
    length = np.linalg.norm(away)
    turn = pinocchio.Quaternion.FromTwoVectors(np.array([0.0, 0.0, 1.0]), away / length)
    ray = coal.Capsule(THIN, length), coal.Transform3s(turn.matrix(), eye + 0.5 * away)
    return any(
        coal.collide(
            *ray,
            solid,
            coal.Transform3s(place.rotation, place.translation),
            coal.CollisionRequest(),
            coal.CollisionResult(),
        )
        for solid, place in solids
    )


def test_the_ball_is_in_front_of_the_arm_nearly_everywhere(six_axis):
    robot = parse_urdf(six_axis).chain('base_link', 'tool0')
    solids, T = shapes_of(six_axis, START)
    handle = handle_marker('tool0', 'base_link', T, SIZE_SHARE * robot.size)
    (ball,) = [
        m for control in handle.controls for m in control.markers if m.type == Marker.SPHERE
    ]
    radius = 0.5 * ball.scale.x
    view = Eye(fitted_to(CONFIG, robot))
    found = []
    for x, y in np.stack(np.meshgrid(*[np.linspace(-1, 1, GRID)] * 2), -1).reshape(-1, 2):
        if math.hypot(x, y) < 0.95:
            outwards = x * view.right + y * view.up - math.sqrt(1 - x * x - y * y) * view.forward
            found.append(not is_hidden(view.place, T[:3, 3] + radius * outwards, solids))
    assert np.mean(found) > 0.8


def test_the_ball_leaves_the_rings_and_arrows_free():
    handle = handle_marker('tool0', 'base_link', np.eye(4), 0.3)
    (ball,) = [m for control in handle.controls for m in control.markers]
    assert ball.scale.x < 0.7 * handle.scale, 'the rings of RViz begin there'
