"""
Solids as polytopes with a margin, for the kernels that measure how near points are to them.

A sphere is a point with a margin, a capsule a segment with one. A cylinder becomes a prism around
it, at most `PRISM_ERROR` larger.

"""

from dataclasses import dataclass
from functools import lru_cache
import math

import numpy as np

from ..kernels.separation import BINS, Indices
from ..transforms import Array

PRISM_ERROR = 2e-4
"""A prism reaches beyond its cylinder by no more than this [m]."""
FEWEST_SIDES = 16
"""Of a prism [1]."""
WIDER = 1e-9
"""Bins of directions are taken to be this much wider, for rounding [1]."""
MOST_SIDES = 256
"""Of a prism [1]: enough for a radius of 2.6 m."""


@dataclass(frozen=True, eq=False)
class Outline:
    """A convex polytope, its core, and how far the solid reaches beyond that."""

    vertices: Array
    """In the frame of the solid, shape (k, 3) [m]."""
    bins: Indices
    candidates: Indices
    """Which of them may be outermost, by direction: see `kernels/separation.py`."""
    faces: Array
    """Normals of its faces, and how far out they are, shape (f, 4) [m]."""
    margin: float
    """[m]."""


def outline_of(vertices: Array, normals: Array, margin: float) -> Outline:
    """
    Make an outline.

    Parameters
    ----------
    vertices : array, shape (k, 3)
        Vertices of the core [m].
    normals : array, shape (f, 3)
        Outward normals of its faces, or any other unit vectors.
    margin : float
        How far the solid reaches beyond its core [m].

    """
    vertices = np.ascontiguousarray(vertices, dtype=np.float64)
    faces = np.column_stack([normals, (normals @ vertices.T).max(axis=1)])
    return Outline(vertices, *_outermost(vertices), faces, margin)


def _outermost(vertices: Array) -> tuple[Indices, Indices]:
    """
    Find the vertices that may be outermost, for each bin of directions.

    Let u be the outermost in the middle c of the bin. Where v is farther out in a direction c + e
    than u, c (u - v) is less than e (v - u), and so than |e| |u - v|: all others are left out.
    """
    middles, widths = _bin_middles()
    heights = middles @ vertices.T
    highest = np.argmax(heights, axis=1)
    behind = vertices[highest][:, None] - vertices[None]
    reach = widths[:, None] * np.sqrt((behind * behind).sum(axis=2))
    is_candidate = heights.max(axis=1)[:, None] - heights <= reach
    bins, candidates = np.nonzero(is_candidate)
    starts = np.searchsorted(bins, np.arange(len(middles) + 1))
    return starts.astype(np.int64), candidates.astype(np.int64)


@lru_cache(maxsize=1)
def _bin_middles() -> tuple[Array, Array]:
    """Return unit vectors amid the bins, shape (b, 3), and how far others there are from them."""
    edges = np.linspace(-1.0, 1.0, BINS + 1).tolist()
    middles, widths = [], []
    for face in range(6):
        for row, column in np.ndindex(BINS, BINS):
            places = [(row, column), (row + 1, column), (row, column + 1), (row + 1, column + 1)]
            corners = np.array([_on_cube(face, edges[i], edges[j]) for i, j in places])
            middle = corners.mean(axis=0)
            middle /= np.linalg.norm(middle)
            corners /= np.linalg.norm(corners, axis=1)[:, None]
            middles.append(middle)
            widths.append(np.linalg.norm(corners - middle, axis=1).max() + WIDER)
    return np.array(middles), np.array(widths)


def _on_cube(face: int, u: float, v: float) -> Array:
    """Point of the cube of `bin_of`, shape (3,)."""
    axis, sign = face // 2, 1.0 - 2.0 * (face % 2)
    return np.roll([sign, u, v], axis)


def point_outline(radius: float) -> Outline:
    """Outline of a sphere."""
    return outline_of(np.zeros((1, 3)), _AXES, radius)


def box_outline(half: Array) -> Outline:
    """Outline of a box, given by half of its edges, shape (3,) [m]."""
    corners = np.array([[i, j, k] for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)])
    return outline_of(corners * half, _AXES, 0.0)


def cylinder_outline(radius: float, half_length: float) -> Outline:
    """Outline of a cylinder along z: a prism around it."""
    sides = math.ceil(math.pi * math.sqrt(0.5 * radius / PRISM_ERROR))
    sides = min(max(sides, FEWEST_SIDES), MOST_SIDES)
    corners = _ring(sides, 0.0) * (radius / math.cos(math.pi / sides))
    return outline_of(_extruded(corners, half_length), _closed(_ring(sides, 0.5)), 0.0)


def capsule_outline(radius: float, half_length: float) -> Outline:
    """Outline of a capsule along z: a segment, with directions around it as its faces."""
    around = _closed(_ring(FEWEST_SIDES, 0.0))
    return outline_of(_extruded(np.zeros((1, 3)), half_length), around, radius)


_AXES = np.concatenate([np.eye(3), -np.eye(3)])


def _ring(count: int, begin: float) -> Array:
    """Return unit vectors around z; `begin` is a share of the turn between two."""
    angles = 2.0 * math.pi / count * (begin + np.arange(count))
    return np.column_stack([np.cos(angles), np.sin(angles), np.zeros(count)])


def _extruded(points: Array, half_length: float) -> Array:
    up = np.array([0.0, 0.0, half_length])
    return np.concatenate([points + up, points - up])


def _closed(sides: Array) -> Array:
    """Add the normals of the two ends to those of the sides."""
    return np.concatenate([sides, _AXES[2::3]])
