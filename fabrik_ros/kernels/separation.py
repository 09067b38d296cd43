"""
How far a convex polytope is from a box, by GJK (Gilbert, Johnson and Keerthi 1988).

The polytope, the core of a link, is given by its vertices in the frame of the link. The box is
parallel to the axes of the root link, or the convex hull of such a box and a point, the apex: all
lines of sight from a sensor to what is in the box.

Every direction that is tried gives a lower bound of the distance, the gap along it, whatever
rounding did before: what is returned is the greatest of them, so that it is never too large.

"""

import math

import numpy as np
import numpy.typing as npt

from ..transforms import Array
from ._jit import kernel

Indices = npt.NDArray[np.int64]

BINS = 8
"""Directions are sorted by the faces of a cube, each divided into so many squares each way [1]."""

MOST_ITERATIONS = 40
"""GJK takes five to ten [1]."""
ACCURACY = 1e-7
"""Error of a distance, where it is wanted exactly [m]."""
SMALLEST = 1e-12
"""Square of a distance that counts as none [m^2]."""


@kernel
def separation(
    vertices: Array,
    bins: Indices,
    candidates: Indices,
    frame: Array,
    box: Array,
    apex: Array,
    has_apex: bool,
    enough: float,
    near: float,
    direction: Array,
    simplex: Array,
) -> float:
    """
    Return a lower bound of the distance between a polytope and a box; -inf where they overlap.

    It is exact up to `ACCURACY`, unless it is known earlier to be at least `enough`, or the
    distance not to be above `near`.

    Parameters
    ----------
    vertices : array, shape (., 3)
        Vertices of polytopes [m].
    bins : array of int, shape (6 * BINS**2 + 1,)
        Where the candidates of each bin of directions begin, and those of the last one end.
    candidates : array of int
        Numbers of the vertices, one of which is the outermost in any direction of the bin.
    frame : array, shape (12,)
        Where the polytope is: rotation by rows, and origin [m].
    box : array, shape (6,)
        Least and greatest coordinates of the box in the root link [m].
    apex : array, shape (3,)
        The apex in the root link [m].
    has_apex : bool
        Whether it belongs to the box.
    enough, near : float
        See above [m].
    direction : array, shape (3,)
        From box to polytope: the first one to be tried on entry; the best one on return.
    simplex : array, shape (5, 4) or more
        Scratch: four points and, in the last row, their weights.

    """
    x, y, z = direction[0], direction[1], direction[2]
    if x * x + y * y + z * z <= SMALLEST:
        x = 1.0
    count, lower = 0, -math.inf
    for _ in range(MOST_ITERATIONS):
        square = x * x + y * y + z * z
        if square <= SMALLEST:
            return -math.inf
        length = math.sqrt(square)
        if count > 0 and length <= near:
            return max(lower, 0.0)
        wx, wy, wz = _support(vertices, bins, candidates, frame, box, apex, has_apex, x, y, z)
        gap = (x * wx + y * wy + z * wz) / length
        if gap > lower:
            lower = gap
            direction[0], direction[1], direction[2] = x, y, z
        if lower >= enough or (count > 0 and length - lower <= ACCURACY):
            return max(lower, 0.0)
        simplex[count, 0], simplex[count, 1], simplex[count, 2] = wx, wy, wz
        count = _reduce(simplex, count + 1)
        if count == 0:
            return -math.inf
        x = y = z = 0.0
        for k in range(count):
            x += simplex[4, k] * simplex[k, 0]
            y += simplex[4, k] * simplex[k, 1]
            z += simplex[4, k] * simplex[k, 2]
    return max(lower, 0.0)


@kernel
def overlap(vertices: Array, faces: Array, frame: Array, box: Array) -> float:
    """
    Return how far a polytope and a box that overlap must be moved to be apart.

    They are moved along the normal of a face of one of them, so that it may be more than the
    least that would do.

    Parameters
    ----------
    vertices : array, shape (., 3)
        Vertices of the polytope [m].
    faces : array, shape (., 4)
        Normals of its faces, and how far out they are [m].
    frame, box
        As for `separation`.

    """
    least = math.inf
    for i in range(3):
        low, high = math.inf, -math.inf
        for k in range(vertices.shape[0]):
            at = frame[9 + i]
            for j in range(3):
                at += frame[3 * i + j] * vertices[k, j]
            low, high = min(low, at), max(high, at)
        least = min(least, high - box[i], box[3 + i] - low)
    for f in range(faces.shape[0]):
        n0, n1, n2 = faces[f, 0], faces[f, 1], faces[f, 2]
        offset = faces[f, 3]
        for i in range(3):
            n = frame[3 * i] * n0 + frame[3 * i + 1] * n1 + frame[3 * i + 2] * n2
            offset -= n * ((box[i] if n > 0.0 else box[3 + i]) - frame[9 + i])
        least = min(least, offset)
    return least


@kernel
def lowest_vertex(
    vertices: Array,
    bins: Indices,
    candidates: Indices,
    frame: Array,
    x: float,
    y: float,
    z: float,
) -> tuple[float, float, float]:
    """Return the vertex of a polytope that is least along (x, y, z), both in the root link."""
    u = frame[0] * x + frame[3] * y + frame[6] * z
    v = frame[1] * x + frame[4] * y + frame[7] * z
    w = frame[2] * x + frame[5] * y + frame[8] * z
    square = bin_of(-u, -v, -w)
    best, least = 0, math.inf
    for c in range(bins[square], bins[square + 1]):
        k = candidates[c]
        along = u * vertices[k, 0] + v * vertices[k, 1] + w * vertices[k, 2]
        if along < least:
            best, least = k, along
    a, b, c = vertices[best, 0], vertices[best, 1], vertices[best, 2]
    return (
        frame[0] * a + frame[1] * b + frame[2] * c + frame[9],
        frame[3] * a + frame[4] * b + frame[5] * c + frame[10],
        frame[6] * a + frame[7] * b + frame[8] * c + frame[11],
    )


@kernel
def bin_of(x: float, y: float, z: float) -> int:
    """Return the number of the square of the cube that a direction, not zero, goes through."""
    along_x, along_y, along_z = abs(x), abs(y), abs(z)
    if along_x >= along_y and along_x >= along_z:
        face, depth, u, v = 0 if x > 0.0 else 1, along_x, y, z
    elif along_y >= along_z:
        face, depth, u, v = 2 if y > 0.0 else 3, along_y, z, x
    else:
        face, depth, u, v = 4 if z > 0.0 else 5, along_z, x, y
    row = min(int(0.5 * (u / depth + 1.0) * BINS), BINS - 1)
    column = min(int(0.5 * (v / depth + 1.0) * BINS), BINS - 1)
    return (face * BINS + row) * BINS + column


@kernel
def _support(
    vertices: Array,
    bins: Indices,
    candidates: Indices,
    frame: Array,
    box: Array,
    apex: Array,
    has_apex: bool,
    x: float,
    y: float,
    z: float,
) -> tuple[float, float, float]:
    """Return the least point along (x, y, z) of all differences of polytope and box."""
    a, b, c = lowest_vertex(vertices, bins, candidates, frame, x, y, z)
    px = box[3] if x > 0.0 else box[0]
    py = box[4] if y > 0.0 else box[1]
    pz = box[5] if z > 0.0 else box[2]
    if has_apex and x * apex[0] + y * apex[1] + z * apex[2] > x * px + y * py + z * pz:
        px, py, pz = apex[0], apex[1], apex[2]
    return a - px, b - py, c - pz


@kernel
def _reduce(simplex: Array, count: int) -> int:
    """
    Keep of a simplex what its point nearest to the origin lies on, with the weights of that.

    Returns how many points are left: 0 if the origin is inside.
    """
    if count == 1:
        simplex[4, 0] = 1.0
    elif count == 2:
        _nearest_on_segment(simplex, 0, 1)
    elif count == 3:
        _nearest_on_triangle(simplex, 0, 1, 2)
    elif not _nearest_on_tetrahedron(simplex):
        return 0
    kept = 0
    for k in range(count):
        if simplex[4, k] > 0.0:
            for i in range(3):
                simplex[kept, i] = simplex[k, i]
            simplex[4, kept] = simplex[4, k]
            kept += 1
    return kept


@kernel
def _nearest_on_segment(simplex: Array, a: int, b: int) -> None:
    """Write the weights of the point of a segment that is nearest to the origin."""
    along = square = 0.0
    for i in range(3):
        edge = simplex[b, i] - simplex[a, i]
        along -= edge * simplex[a, i]
        square += edge * edge
    share = 0.0 if along <= 0.0 else 1.0 if along >= square else along / square
    simplex[4, a], simplex[4, b] = 1.0 - share, share


@kernel
def _nearest_on_triangle(simplex: Array, a: int, b: int, c: int) -> None:
    """Write the weights of the point of a triangle nearest to the origin (Ericson 2005, 5.1.5)."""
    d1 = d2 = d3 = d4 = d5 = d6 = 0.0
    for i in range(3):
        ab, ac = simplex[b, i] - simplex[a, i], simplex[c, i] - simplex[a, i]
        d1, d2 = d1 - ab * simplex[a, i], d2 - ac * simplex[a, i]
        d3, d4 = d3 - ab * simplex[b, i], d4 - ac * simplex[b, i]
        d5, d6 = d5 - ab * simplex[c, i], d6 - ac * simplex[c, i]
    simplex[4, a] = simplex[4, b] = simplex[4, c] = 0.0
    of_c, of_b, of_a = d1 * d4 - d3 * d2, d5 * d2 - d1 * d6, d3 * d6 - d5 * d4
    if d1 <= 0.0 and d2 <= 0.0:
        simplex[4, a] = 1.0
    elif d3 >= 0.0 and d4 <= d3:
        simplex[4, b] = 1.0
    elif d6 >= 0.0 and d5 <= d6:
        simplex[4, c] = 1.0
    elif of_c <= 0.0 and d1 >= 0.0 and d3 <= 0.0:
        _nearest_on_segment(simplex, a, b)
    elif of_b <= 0.0 and d2 >= 0.0 and d6 <= 0.0:
        _nearest_on_segment(simplex, a, c)
    elif of_a <= 0.0 and d4 >= d3 and d5 >= d6:
        _nearest_on_segment(simplex, b, c)
    else:
        total = of_a + of_b + of_c
        simplex[4, a], simplex[4, b], simplex[4, c] = of_a / total, of_b / total, of_c / total


@kernel
def _nearest_on_tetrahedron(simplex: Array) -> bool:
    """Write the weights of the point nearest to the origin; False if the origin is inside."""
    least, wa, wb, wc, wd = math.inf, 0.0, 0.0, 0.0, 0.0
    for d in range(3, -1, -1):  # the vertex opposite to a face
        a, b, c = int(d < 1), 1 + int(d < 2), 2 + int(d < 3)
        if not _is_beyond(simplex, a, b, c, d):
            continue
        _nearest_on_triangle(simplex, a, b, c)
        simplex[4, d] = 0.0
        square = 0.0
        for i in range(3):
            p = 0.0
            for k in range(4):
                p += simplex[4, k] * simplex[k, i]
            square += p * p
        if square < least:
            least = square
            wa, wb, wc, wd = simplex[4, 0], simplex[4, 1], simplex[4, 2], simplex[4, 3]
    simplex[4, 0], simplex[4, 1], simplex[4, 2], simplex[4, 3] = wa, wb, wc, wd
    return least < math.inf


@kernel
def _is_beyond(simplex: Array, a: int, b: int, c: int, d: int) -> bool:
    """Whether the origin is not on the side of a face on which its opposite vertex is."""
    u0, u1, u2 = (
        simplex[b, 0] - simplex[a, 0],
        simplex[b, 1] - simplex[a, 1],
        simplex[b, 2] - simplex[a, 2],
    )
    v0, v1, v2 = (
        simplex[c, 0] - simplex[a, 0],
        simplex[c, 1] - simplex[a, 1],
        simplex[c, 2] - simplex[a, 2],
    )
    n0, n1, n2 = u1 * v2 - u2 * v1, u2 * v0 - u0 * v2, u0 * v1 - u1 * v0
    origin = -(n0 * simplex[a, 0] + n1 * simplex[a, 1] + n2 * simplex[a, 2])
    opposite = origin
    opposite += n0 * simplex[d, 0] + n1 * simplex[d, 1] + n2 * simplex[d, 2]
    return bool(origin * opposite <= 0.0)
