"""Limits between two bones, by angles known without the code and by brute force."""

import doctest
import math

from fabrik_ros import point_limits as point_limits_module
from fabrik_ros.point_limits import BallJoint, Hinge
from helpers import assert_close
import numpy as np
import pytest


def tilted(angle, azimuth):
    """Turn z by an angle towards an azimuth, by Rodrigues' formula."""
    return about([-math.sin(azimuth), math.cos(azimuth), 0.0], angle)


def about(axis, angle):
    """Turn about a unit vector, by Rodrigues' formula."""
    x, y, z = axis
    K = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + math.sin(angle) * K + (1.0 - math.cos(angle)) * K @ K


@pytest.mark.parametrize(
    ('azimuth', 'half_angle'), [(0.0, 0.2), (90.0, 2.0), (180.0, 0.7), (270.0, 0.1)]
)
def test_ball_joint_stops_at_the_half_angle_of_its_side(azimuth, half_angle):
    joint = BallJoint(right=0.2, up=2.0, left=0.7, down=0.1)
    azimuth = math.radians(azimuth)
    assert_close(joint.nearest(tilted(2.5, azimuth)), tilted(half_angle, azimuth))


def test_hinge_stops_at_the_nearer_end_of_its_interval():
    axis = [0.6, 0.8, 0.0]
    hinge = Hinge(axis=axis, lower=-0.5, upper=2.0)
    for angle, legal in [(1.0, 1.0), (2.5, 2.0), (-1.0, -0.5), (3.5, 2.0), (4.5, -0.5)]:
        assert_close(hinge.nearest(about(axis, angle)), about(axis, legal))


def test_examples_in_the_docstrings_hold():
    results = doctest.testmod(point_limits_module)
    assert results.attempted >= 4
    assert results.failed == 0
