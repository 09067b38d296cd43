"""The nearest velocity within bounds: it meets the conditions of Karush, Kuhn and Tucker."""

from fabrik_ros.kernels.nearest_velocity import nearest_velocity
from helpers import examples
from hypothesis import given, settings, strategies as st
import numpy as np

DAMPING = 0.08


def solved(H, wanted, normals, least):
    n, m = len(wanted), len(least)
    velocity, multipliers = np.empty(n), np.empty(m)
    memory = np.empty(n, dtype=np.int64), np.empty((n + 3, n)), np.empty((n, n))
    inverse = np.linalg.inv(H)
    is_kept = nearest_velocity(inverse, wanted, normals, least, multipliers, *memory, velocity)
    return is_kept, velocity, multipliers


@settings(max_examples=examples(200, 3000), deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 9), st.integers(0, 5), st.booleans())
def test_no_velocity_within_the_bounds_is_nearer(seed, n, pairs, is_nearly_singular):
    rng = np.random.default_rng(seed)
    J = rng.normal(size=(6, n)) * rng.uniform(0.1, 4.0)
    J[:3] *= 0.01 if is_nearly_singular else 1.0
    H = J.T @ J + DAMPING**2 * np.eye(n)
    least, most = np.sort(rng.uniform(-1.5, 1.5, (2, n)), axis=0)
    inside, slopes = rng.uniform(least, most), 0.4 * rng.normal(size=(pairs, n))
    normals = np.vstack([np.eye(n), -np.eye(n), slopes])
    bounds = np.concatenate([least, -most, slopes @ inside - rng.uniform(0.0, 0.1, pairs)])
    wanted = 2.0 * rng.normal(size=n)
    is_kept, velocity, multipliers = solved(H, wanted, normals, bounds)
    spare = normals @ velocity - bounds
    gradient = H @ (velocity - wanted)
    assert is_kept
    assert spare.min() > -1e-7
    assert multipliers.min() > -1e-9
    scale = max(1.0, np.abs(gradient).max())
    assert np.abs(multipliers * spare).max() < 1e-6 * scale
    assert np.abs(gradient - normals.T @ multipliers).max() < 1e-6 * scale


def test_bounds_that_exclude_each_other_are_told():
    normals, least = np.array([[1.0, 0.0], [-1.0, 0.0]]), np.array([1.0, 1.0])
    assert not solved(np.eye(2), np.zeros(2), normals, least)[0]


def test_wanted_velocity_within_the_bounds_is_taken():
    normals, least = np.vstack([np.eye(3), -np.eye(3)]), np.full(6, -1.0)
    wanted = np.array([0.5, -0.9, 0.0])
    is_kept, velocity, multipliers = solved(np.eye(3), wanted, normals, least)
    assert is_kept
    assert np.array_equal(velocity, wanted)
    assert not multipliers.any()
