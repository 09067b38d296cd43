"""
How far convex parts reach beyond a mesh, and how far they fall short of it.

The distance from a convex part grows convexly: over a triangle it is greatest at a corner. So what
a part falls short of on a triangle is known from the corners, and what several do, once the
triangle is divided so finely that one of them covers each piece.

"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..transforms import Array

ROUGH = 0.25
"""Error of the reach of hulls that is of no matter, as a share of it [1]."""
NO_MATTER = 5e-3
"""A reach that is of no matter [m]."""
FINEST = 0.5e-3
"""Pieces of triangles with shorter edges are not divided [m]."""
RESOLUTION = 0.25e-3
"""Error of what is measured that is of no matter [m]."""
COVERED = 3e-3
"""What is so near to another part counts as in it where the reach of parts is measured [m]."""
CHUNK = 512
"""So many points are compared with planes at a time, for the cache of the processor [1]."""
MOST_PIECES = 200_000
"""So many pieces of triangles are looked at before what is known must do [1]."""


class PointMeter:
    """
    Measures how far points are from a solid of coal.

    Parameters
    ----------
    coal : module
        The library.
    geometry
        The solid, or the triangles.

    """

    def __init__(self, coal: Any, geometry: Any) -> None:
        self._request, self._result = coal.DistanceRequest(), coal.DistanceResult()
        self._point = coal.Sphere(0.0)
        self._measure = coal.ComputeDistance(self._point, geometry)
        self._at, self._there = coal.Transform3s(), coal.Transform3s()

    def distances(self, points: Array) -> Array:
        """Distances of points, shape (m, 3), not negative, shape (m,) [m]."""
        return np.array([self._distance(point) for point in points], dtype=np.float64)

    def _distance(self, point: Array) -> float:
        self._at.setTranslation(point)
        self._result.clear()
        return max(0.0, float(self._measure(self._at, self._there, self._request, self._result)))


def beyond(hulls: Sequence[Any], points: Array) -> Array:
    """How far points, shape (m, 3), are beyond the planes of k hulls of coal, (m, k) [m]."""
    found = np.full((len(points), max(len(hulls), 1)), np.inf)
    for k, hull in enumerate(hulls):
        normals, offsets = np.array(hull.normals()), np.array(hull.offsets()).ravel()
        for first in range(0, len(points), CHUNK):
            x, y, z = points[first : first + CHUNK].T[:, :, None]
            along = x * normals[:, 0] + y * normals[:, 1] + z * normals[:, 2] + offsets
            found[first : first + CHUNK, k] = along.max(axis=1)
    return found


def triangles_of(geometry: Any) -> npt.NDArray[np.intp]:
    """Numbers of the corners of the triangles of a hull of coal, shape (f, 3)."""
    faces = (geometry.polygons(i) for i in range(geometry.num_polygons))
    return np.array([[face[0], face[1], face[2]] for face in faces], dtype=np.intp)


def reach_beyond(coal: Any, hulls: Sequence[Any], surface: Any) -> float:
    """
    Measure how far hulls, which together cover all that is inside a surface, reach beyond it [m].

    What of a hull is in another one does not count.
    """
    meter, reached = PointMeter(coal, surface), 0.0
    for number, hull in enumerate(hulls):
        others = [*hulls[:number], *hulls[number + 1 :]]
        pieces = np.array(hull.points())[triangles_of(hull)]
        while len(pieces) > 0:
            outside = beyond(others, pieces.reshape(-1, 3)).reshape(len(pieces), 3, -1)
            pieces = pieces[(outside.max(axis=1) > COVERED).all(axis=1)]
            middles = pieces.mean(axis=1)
            radii = np.linalg.norm(pieces - middles[:, None], axis=2).max(axis=1, initial=0.0)
            distances = meter.distances(middles)
            is_open = (beyond(others, middles) > COVERED).all(axis=1)
            reached = max(reached, float(distances[is_open].max(initial=0.0)))
            matters = (1.0 + ROUGH) * max(reached, NO_MATTER)
            pieces = _halved(pieces[distances + radii > matters])
    return reached


def reaches_farther(hull: Any, hulls: Sequence[Any], limit: float) -> bool:
    """Whether a hull reaches farther beyond the planes of others than a limit [m]."""
    pieces = np.array(hull.points())[triangles_of(hull)]
    while len(pieces) > 0:
        outside = beyond(hulls, pieces.reshape(-1, 3)).reshape(len(pieces), 3, -1)
        if outside.min(axis=2).max() > limit:
            return True
        is_rough = (outside.max(axis=1) > limit).all(axis=1)
        pieces = _halved(pieces[is_rough & (_edges(pieces).max(axis=1) > FINEST)])
    return False


def shortfalls(coal: Any, hulls: Sequence[Any], triangles: Array) -> Array:
    """
    Measure by how much to pad each of k hulls so that they cover triangles, shape (k,) [m].

    Parameters
    ----------
    coal : module
        The library.
    hulls : sequence
        The hulls.
    triangles : array, shape (f, 3, 3)
        Their corners [m].

    """
    outside = points_outside(hulls, triangles)
    greatest = [
        PointMeter(coal, hull).distances(points).max(initial=0.0)
        for hull, points in zip(hulls, outside, strict=True)
    ]
    return np.array(greatest)


def points_outside(hulls: Sequence[Any], triangles: Array) -> list[Array]:
    """
    Find points of triangles, shape (f, 3, 3), for each of k hulls, shape (m, 3) each.

    Hulls that reach to their points cover the triangles together.
    """
    found: list[list[Array]] = [[] for _ in hulls]
    pieces, looked_at = triangles, 0
    while len(pieces) > 0:
        outside = beyond(hulls, pieces.reshape(-1, 3)).reshape(len(pieces), 3, -1)
        nearest = outside.max(axis=1).argmin(axis=1)
        by_one, by_any = outside.max(axis=1).min(axis=1), outside.min(axis=2).max(axis=1)
        looked_at += len(pieces)
        is_rough = (
            (by_one > by_any + RESOLUTION)
            & (_edges(pieces).max(axis=1) > FINEST)
            & (looked_at <= MOST_PIECES)
        )
        for k, points in enumerate(found):
            is_done = ~is_rough & (nearest == k) & (by_one > 0.0)
            points.append(pieces[is_done].reshape(-1, 3))
        pieces = _halved(pieces[is_rough])
    return [np.unique(np.concatenate(points), axis=0) for points in found]


def _edges(pieces: Array) -> Array:
    """Lengths of the edges of triangles that begin at each corner, shape (f, 3) [m]."""
    lengths: Array = np.linalg.norm(np.roll(pieces, -1, axis=1) - pieces, axis=2)
    return lengths


def _halved(pieces: Array) -> Array:
    """Divide triangles, shape (f, 3, 3), at the middles of their longest edges."""
    first = _edges(pieces).argmax(axis=1)[:, None]
    a, b, c = (pieces[np.arange(len(pieces)), (first[:, 0] + i) % 3] for i in range(3))
    middle = 0.5 * (a + b)
    halves = (a, middle, c), (middle, b, c)
    return np.concatenate([np.stack(corners, axis=1) for corners in halves])
