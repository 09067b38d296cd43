"""The methods FABRIK is compared with are what their literature says, and no straw men."""

import importlib.util
import math
from pathlib import Path

import numpy as np
import pytest

FILE = Path(__file__).resolve().parents[2] / 'benchmark' / 'experiments' / 'point_methods.py'
spec = importlib.util.spec_from_file_location('point_methods', FILE)
methods = importlib.util.module_from_spec(spec)
spec.loader.exec_module(methods)

NAMES = list(methods.METHODS)
EVERYWHERE = {'largest_step': math.inf}


def random_chain(seed, links=5):
    """Draw a chain and a target inside its reach but away from base and boundary."""
    rng = np.random.default_rng(seed)
    lengths = rng.uniform(0.5, 1.5, links)
    directions = rng.normal(size=(links, 3))
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    points = np.vstack([np.zeros(3), np.cumsum(lengths[:, None] * directions, axis=0)])
    target = rng.normal(size=3)
    return points, target * 0.5 * lengths.sum() / np.linalg.norm(target)


def distance(points, target):
    return np.linalg.norm(points[-1] - target)


def bent_by(points, turns):
    """Turn the joints one after the other, the last first, by Rodrigues' formula for each arm."""
    points = points.copy()
    for i in reversed(np.flatnonzero(turns.any(axis=1))):
        angle = np.linalg.norm(turns[i])
        axis = turns[i] / angle
        for k in range(i + 1, len(points)):
            arm = points[k] - points[i]
            points[k] = (
                points[i]
                + arm * math.cos(angle)
                + np.cross(axis, arm) * math.sin(angle)
                + axis * (axis @ arm) * (1.0 - math.cos(angle))
            )
    return points


def jacobian_by_differences(points, step=1e-6):
    """Move the tip by a little turn of each joint about each axis, shape (3, 3 n)."""
    columns = []
    for joint in range(len(points) - 1):
        for axis in range(3):
            turns = np.zeros((len(points) - 1, 3))
            turns[joint, axis] = step
            ahead = bent_by(points, turns)[-1]
            turns[joint, axis] = -step
            columns.append((ahead - bent_by(points, turns)[-1]) / (2.0 * step))
    return np.array(columns).T


@pytest.mark.parametrize('name', NAMES)
@pytest.mark.parametrize('seed', range(5))
def test_method_brings_the_tip_to_the_target(name, seed):
    points, target = random_chain(seed)
    for _ in range(500):
        points = methods.METHODS[name](points, target)
    assert distance(points, target) < 1e-6


@pytest.mark.parametrize('name', NAMES)
@pytest.mark.parametrize('seed', range(20))
def test_method_keeps_lengths_base_and_its_arguments(name, seed):
    points, target = random_chain(seed)
    given = points.copy(), target.copy()
    moved = methods.METHODS[name](points, target)
    lengths = [np.linalg.norm(np.diff(p, axis=0), axis=1) for p in (points, moved)]
    np.testing.assert_allclose(lengths[1], lengths[0], rtol=1e-12)
    assert moved[0].tolist() == points[0].tolist()
    assert (points == given[0]).all()
    assert (target == given[1]).all()


@pytest.mark.parametrize('name', ['FABRIK', 'CCD'])
@pytest.mark.parametrize('seed', range(20))
def test_no_iteration_takes_the_tip_farther_from_the_target(name, seed):
    points, target = random_chain(seed)
    for _ in range(10):
        moved = methods.METHODS[name](points, target)
        assert distance(moved, target) <= distance(points, target) + 1e-12
        points = moved


@pytest.mark.parametrize('name', NAMES[2:])
@pytest.mark.parametrize('seed', range(20))
def test_small_step_on_the_jacobian_comes_nearer(name, seed):
    points, target = random_chain(seed)
    moved = methods.METHODS[name](points, target, largest_step=0.01)
    assert distance(moved, target) < distance(points, target)


@pytest.mark.parametrize('name', ['damped least squares', 'damped pseudoinverse (SVD)'])
def test_two_links_find_the_elbow_of_trigonometry(name):
    upper, lower = 2.0, 1.5
    points = np.array([[0.0, 0.0, 0.0], [0.0, upper, 0.0], [lower, upper, 0.0]])
    target = np.array([2.0, -1.0, 0.0])
    for _ in range(100):
        points = methods.METHODS[name](points, target)
    far = np.hypot(2.0, 1.0)
    at_base = math.acos((upper**2 + far**2 - lower**2) / (2.0 * upper * far))
    elbows = [
        [upper * math.cos(angle), upper * math.sin(angle), 0.0]
        for angle in (math.atan2(-1.0, 2.0) + at_base, math.atan2(-1.0, 2.0) - at_base)
    ]
    assert min(np.abs(points[1] - elbow).max() for elbow in elbows) < 1e-9


def test_jacobian_is_how_the_tip_moves():
    points, _ = random_chain(1)
    np.testing.assert_allclose(
        methods.jacobian(points[-1] - points[:-1]), jacobian_by_differences(points), atol=1e-8
    )


def test_joints_turn_together_as_they_do_one_after_the_other():
    points, _ = random_chain(2)
    turns = np.random.default_rng(3).normal(size=(5, 3))
    np.testing.assert_allclose(methods.turned(points, turns), bent_by(points, turns), atol=1e-12)


def test_transpose_takes_the_best_step_down_the_gradient():
    points, target = random_chain(4)
    jacobian, error = jacobian_by_differences(points), target - points[-1]
    gradient = jacobian.T @ error
    steps = np.linspace(0.0, 1.0, 100_001)
    left = error[:, None] - np.outer(jacobian @ gradient, steps)
    best = steps[np.argmin((left**2).sum(axis=0))]
    moved = methods.transpose(points, target, **EVERYWHERE)
    expected = bent_by(points, (best * gradient).reshape(-1, 3))
    np.testing.assert_allclose(moved, expected, atol=1e-4)


def test_damped_least_squares_minimise_what_they_say():
    points, target = random_chain(5)
    jacobian, error = jacobian_by_differences(points), target - points[-1]
    damping = 0.1 * np.linalg.norm(np.diff(points, axis=0), axis=1).sum()
    stacked = np.vstack([jacobian, damping * np.eye(15)])
    turns = np.linalg.lstsq(stacked, np.concatenate([error, np.zeros(15)]), rcond=None)[0]
    moved = methods.damped_least_squares(points, target, damping=0.1, **EVERYWHERE)
    np.testing.assert_allclose(moved, bent_by(points, turns.reshape(-1, 3)), atol=1e-7)


def test_pseudoinverse_far_from_a_singularity_is_not_damped():
    points, target = random_chain(6)
    turns = np.linalg.pinv(jacobian_by_differences(points)) @ (target - points[-1])
    moved = methods.damped_pseudoinverse(points, target, singular=0.01, **EVERYWHERE)
    np.testing.assert_allclose(moved, bent_by(points, turns.reshape(-1, 3)), atol=1e-6)


@pytest.mark.parametrize('name', NAMES)
def test_straight_chain_with_its_target_on_its_line_gives_numbers(name):
    points = np.outer(np.arange(4.0), [1.0, 0.0, 0.0])
    moved = methods.METHODS[name](points, np.array([1.5, 0.0, 0.0]))
    assert np.isfinite(moved).all()


def test_ccd_points_a_single_link_at_the_target():
    points = np.array([[0.0, 0.0, 0.0], [2.0, 0.0, 0.0]])
    moved = methods.cyclic_coordinate_descent(points, np.array([0.0, 3.0, 4.0]))
    np.testing.assert_allclose(moved[1], [0.0, 1.2, 1.6], atol=1e-12)


@pytest.mark.parametrize('aim', [[-1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
def test_arm_without_a_shortest_turn_stays(aim):
    arms = np.array([[1.0, 1.0, 0.0], [2.0, 0.0, 0.0]])
    assert (methods.aimed(arms, np.array(aim)) == arms).all()
