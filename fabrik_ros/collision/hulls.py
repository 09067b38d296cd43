"""Convex hulls of points, as solids of coal."""

from typing import Any

import numpy as np

from ..transforms import Array

SMALLEST = 1e-9
"""Smallest size of a part of a robot [m]."""
FLAT = 1e-4
"""Thickness of a mesh, as a share of its length, below which it is flat [1]."""
TRIANGLES, JOGGLED = 'Qt', 'QJ'
"""Options of qhull: divide faces of more than three vertices; or move vertices by some 1e-8 of
the size, so that there are none."""


def convex_hull(coal: Any, points: Array) -> Any:
    """Make the hull of points, shape (m, 3); one that is flat is thickened."""
    memory = coal.StdVec_Vec3s()
    memory.extend(list(thickened(points)))
    try:
        return coal.Convex.convexHull(memory, True, TRIANGLES)
    except RuntimeError:  # a vertex has more neighbours than coal can count
        return coal.Convex.convexHull(memory, True, JOGGLED)


def thickened(points: Array) -> Array:
    """
    Give points, shape (m, 3), that lie in a plane or line an extent in all directions.

    Flat hulls are not only no solids: asked for one, coal ends the process.

    Raises
    ------
    ValueError
        If all points are the same.

    """
    _, axes = np.linalg.eigh(np.cov(points.T, bias=True))
    extents = np.ptp(points @ axes, axis=0)
    size = float(extents.max())
    if size < SMALLEST:
        raise ValueError('the mesh has no extent')
    for axis, extent in zip(axes.T, extents, strict=True):
        if extent < FLAT * size:
            points = np.concatenate([points + FLAT * size * axis, points - FLAT * size * axis])
    return points
