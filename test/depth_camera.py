"""A simulated depth camera: rays walk along until they meet something, by its distance from it."""

import numpy as np

STEPS = 200
NEAR = 1e-4
"""A ray has met something that is nearer than this [m]."""


def sphere(centre, radius):
    return lambda p: np.linalg.norm(p - centre, axis=1) - radius


def floor(z):
    return lambda p: p[:, 2] - z


def box(centre, size):
    def distance(p):
        beyond = np.abs(p - centre) - 0.5 * np.asarray(size)
        outside = np.linalg.norm(np.maximum(beyond, 0.0), axis=1)
        return outside + np.minimum(beyond.max(axis=1), 0.0)

    return distance


def capsule(a, b, radius):
    a, along = np.asarray(a), np.subtract(b, a)

    def distance(p):
        share = np.clip((p - a) @ along / (along @ along), 0.0, 1.0)
        return np.linalg.norm(p - a - share[:, None] * along, axis=1) - radius

    return distance


def arm(q):
    """Capsules of `planar_arm` at joint values `q`."""
    angles, start, links = np.cumsum(q), np.zeros(3), []
    for angle in angles:
        along = np.array([np.cos(angle), np.sin(angle), 0.0])
        links.append(capsule(start + 0.1 * along, start + 0.4 * along, 0.05))
        start = start + 0.5 * along
    return links


class DepthCamera:
    """
    Looks down from `eye`, its x and y along those of the root link, y and z turned round.

    Parameters
    ----------
    eye : array, shape (3,)
        Where it is [m].
    pixels : int
        Rows, and columns.
    width : float
        Tangent of half the angle of view.
    farthest : float
        What is farther away is not measured [m].

    """

    def __init__(self, eye=(0.75, 0.0, 2.0), pixels=140, width=0.6, farthest=4.0):
        self.T = np.diag([1.0, -1.0, -1.0, 1.0])
        self.T[:3, 3] = eye
        places = width * (2.0 * (np.arange(pixels) + 0.5) / pixels - 1.0)
        u, v = np.meshgrid(places, places)
        rays = np.stack([u, v, np.ones_like(u)], axis=-1).reshape(-1, 3)
        self.rays = rays / np.linalg.norm(rays, axis=1)[:, None]
        self.farthest = farthest

    def measure(self, *things):
        """Points in the frame of the camera, shape (n, 3), NaN where nothing is."""
        ranges = np.zeros(len(self.rays))
        walks = np.ones(len(self.rays), dtype=bool)
        for _ in range(STEPS):
            at = (self.rays[walks] * ranges[walks, None]) @ self.T[:3, :3].T + self.T[:3, 3]
            gaps = np.min([thing(at) for thing in things], axis=0)
            ranges[walks] += gaps
            walks[walks] = (gaps > NEAR) & (ranges[walks] < self.farthest)
            if not walks.any():
                break
        points = self.rays * ranges[:, None]
        points[ranges >= self.farthest] = np.nan
        return points.astype(np.float32)
