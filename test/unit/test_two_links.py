"""Two links in closed form, by triangles known without the code."""

import doctest
import math

from fabrik_ros import two_links as two_links_module
from fabrik_ros.points import PointStatus
from fabrik_ros.two_links import nearest_elbow, two_link_angles
from helpers import assert_close


def test_elbow_of_a_triangle_with_sides_3_4_5():
    assert_close(nearest_elbow([0.0, 0.0], [5.0, 0.0], 3.0, 4.0, [1.0, 1.0]), [1.8, 2.4])
    assert_close(nearest_elbow([0.0, 0.0], [5.0, 0.0], 3.0, 4.0, [1.0, -9.0]), [1.8, -2.4])


def test_target_on_the_diagonal_of_a_square_has_one_elbow_at_each_corner():
    solution = two_link_angles([1.0, 1.0], [1.0, 1.0], seed=[1.5, -1.0])
    right_angle = math.pi / 2.0
    assert_close(solution.solutions, [[0.0, right_angle], [right_angle, -right_angle]])
    assert solution.chosen == 1
    assert solution.status is PointStatus.CONVERGED


def test_examples_in_the_docstrings_hold():
    results = doctest.testmod(two_links_module)
    assert results.attempted >= 2
    assert results.failed == 0
