"""
Occupied cells in a tree of boxes, and how near a link is to them.

Cells are numbered along a Morton curve: the bits of their three coordinates take turns, so that
neighbours have numbers that are near. The tree is a heap: the boxes of node k have the rows 2 k
and 2 k + 1 inside them, row 1 is the root, and the last `leaves` rows are the cells.

"""

import math

import numpy as np
import numpy.typing as npt

from ..transforms import Array
from ._jit import nogil_kernel
from .separation import Indices, lowest_vertex, overlap, separation

Keys = npt.NDArray[np.int64]

BITS = 20
"""Of each coordinate of a cell."""
MIDDLE = 1 << (BITS - 1)
"""The coordinate of the cell whose least corner is the origin."""
EXACT = 1e-6
"""Cells that are nearer than another by less are not looked for [m]."""
STACK = 64
"""More than the nodes that wait in a tree of that many bits [1]."""
NEAR, COARSE = 0.05, 0.1
"""Up to this distance [m] it is measured exactly; beyond, this share of the rest may be lost."""
FIRST_PLANES, PLANES = 6, 14
"""Planes between solid and cells that are kept, to see at once what is behind one [1]."""
SCRATCH = (STACK + PLANES + 7, 6)
"""Shape of the memory that `distance_to_cells` needs."""


@nogil_kernel
def spread(x: int) -> int:
    """Put two zeros between the bits of a coordinate."""
    x &= 0x1FFFFF
    x = (x | x << 32) & 0x1F00000000FFFF
    x = (x | x << 16) & 0x1F0000FF0000FF
    x = (x | x << 8) & 0x100F00F00F00F00F
    x = (x | x << 4) & 0x10C30C30C30C30C3
    return (x | x << 2) & 0x1249249249249249


@nogil_kernel
def gathered(x: int) -> int:
    """Take every third bit of a number: undo `spread`."""
    x &= 0x1249249249249249
    x = (x | x >> 2) & 0x10C30C30C30C30C3
    x = (x | x >> 4) & 0x100F00F00F00F00F
    x = (x | x >> 8) & 0x1F0000FF0000FF
    x = (x | x >> 16) & 0x1F00000000FFFF
    return (x | x >> 32) & 0x1FFFFF


@nogil_kernel
def key_of(x: int, y: int, z: int) -> int:
    """Return the number of a cell by its coordinates, which are 0 to 2^BITS - 1."""
    return spread(x) | spread(y) << 1 | spread(z) << 2


@nogil_kernel
def keys_of_points(points: Array, size: float, keys: Keys) -> None:
    """Write the numbers of the cells, with edges of `size` [m], of points of shape (n, 3) [m]."""
    for k in range(points.shape[0]):
        keys[k] = key_of(
            math.floor(points[k, 0] / size) + MIDDLE,
            math.floor(points[k, 1] / size) + MIDDLE,
            math.floor(points[k, 2] / size) + MIDDLE,
        )


@nogil_kernel
def box_of_cell(key: int, size: float, box: Array) -> None:
    """Write least and greatest coordinates of a cell with edges of `size`, shape (6,) [m]."""
    for i in range(3):
        cell = gathered(key >> i) - MIDDLE
        box[i], box[3 + i] = cell * size, (cell + 1) * size


@nogil_kernel
def build_tree(keys: Keys, size: float, boxes: Array) -> None:
    """
    Write the boxes of a tree.

    Parameters
    ----------
    keys : array of int, shape (m,)
        Numbers of the cells, ascending.
    size : float
        Edge of a cell [m].
    boxes : array, shape (2 * leaves, 6)
        Written to: least and greatest coordinates of each node [m]; leaves is a power of two, at
        least m. Boxes with nothing inside them are from inf to -inf.

    """
    leaves = boxes.shape[0] // 2
    for k in range(leaves):
        if k < keys.shape[0]:
            box_of_cell(keys[k], size, boxes[leaves + k])
        else:
            for i in range(3):
                boxes[leaves + k, i], boxes[leaves + k, 3 + i] = math.inf, -math.inf
    for k in range(leaves - 1, 0, -1):
        for i in range(3):
            boxes[k, i] = min(boxes[2 * k, i], boxes[2 * k + 1, i])
            boxes[k, 3 + i] = max(boxes[2 * k, 3 + i], boxes[2 * k + 1, 3 + i])


@nogil_kernel
def distance_to_cells(
    vertices: Array,
    bins: Indices,
    candidates: Indices,
    faces: Array,
    margin: float,
    frame: Array,
    boxes: Array,
    enough: float,
    least: float,
    nodes: Indices,
    scratch: Array,
) -> float:
    """
    Return how far a solid is from the nearest of the cells; negative where it overlaps some [m].

    It is exact up to `NEAR`, and beyond that less than the true distance by no more than a share
    `COARSE` of the rest. A depth is the one along the best of the faces of the solid: never less
    than the true one. At least `enough`: all cells are as far away as that. At most `least`: some
    cell is as near as what is returned, but others may be nearer.

    Parameters
    ----------
    vertices, bins, candidates, faces : array
        The core of the solid: see `separation` and `overlap`.
    margin : float
        How far the solid reaches beyond its core [m].
    frame : array, shape (12,)
        Where it is: rotation by rows, and origin in the root link [m].
    boxes : array, shape (2 * leaves, 6)
        The tree.
    enough, least : float
        See above; inf and -inf where the distance itself is asked for [m].
    nodes : array of int, shape (STACK,)
        Scratch.
    scratch : array, shape SCRATCH
        Scratch.

    """
    leaves = boxes.shape[0] // 2
    gaps, planes = scratch[:STACK, 0], scratch[STACK : STACK + PLANES]
    simplex, direction, around = scratch[-7:-2], scratch[-2], scratch[-1]
    _place_first_planes(planes, around, vertices, bins, candidates, frame)
    best, lowest, waiting, known = enough, math.inf, 1, FIRST_PLANES
    nodes[0], gaps[0] = 1, _gap_between(boxes[1], around)
    while waiting > 0 and lowest > least:
        waiting -= 1
        node, gap = nodes[waiting], gaps[waiting]
        box, far = boxes[node], best + margin - (_slack(best) if best < enough else 0.0)
        if gap < far and (best < math.inf or node >= leaves):
            ahead = _best_plane_gap(planes, min(known, PLANES), box, direction)
            gap = max(gap, ahead) if ahead > 0.0 else gap
        if gap < far and (best < math.inf or node >= leaves):
            gap = separation(
                vertices,
                bins,
                candidates,
                frame,
                box,
                around,
                False,
                far,
                -1.0 if node >= leaves else far,
                direction,
                simplex,
            )
            if gap >= 0.0 and (node >= leaves or gap >= far):
                plane = FIRST_PLANES + (known - FIRST_PLANES) % (PLANES - FIRST_PLANES)
                _place_plane(direction, planes[plane], vertices, bins, candidates, frame)
                known += 1
            if gap < 0.0 and (node >= leaves or best < 0.0):
                gap = -overlap(vertices, faces, frame, box)
        if gap >= far or node >= leaves:
            lowest = min(lowest, gap - margin)
            best = min(best, gap - margin) if node >= leaves and gap < far else best
            continue
        left, right = (
            _gap_between(boxes[2 * node], around),
            _gap_between(boxes[2 * node + 1], around),
        )
        swap = 1 if left < right else 0
        nodes[waiting + swap], gaps[waiting + swap] = 2 * node, left
        nodes[waiting + 1 - swap], gaps[waiting + 1 - swap] = 2 * node + 1, right
        waiting += 2
    return lowest


@nogil_kernel
def gap_to_cells(
    vertices: Array,
    starts: Indices,
    bins: Indices,
    candidates: Indices,
    faces: Array,
    margins: Array,
    frame: Array,
    boxes: Array,
    a: int,
    enough: float,
    least: float,
    nodes: Indices,
    scratch: Array,
) -> float:
    """
    Return how far one of many solids is from the nearest of the cells [m].

    Parameters
    ----------
    vertices, candidates, faces : array
        Those of all solids, one after the other: see `distance_to_cells`.
    starts : array of int, shape (g + 1, 3)
        Where vertices, candidates and faces of each solid begin.
    bins : array of int, shape (g, .)
        Where candidates of each bin begin, counted from the first of the solid.
    margins : array, shape (g,)
        How far each solid reaches beyond its core [m].
    frame : array, shape (12,)
        Where the solid is.
    a : int
        Number of the solid.
    boxes, enough, least, nodes, scratch
        See `distance_to_cells`.

    """
    return distance_to_cells(
        vertices[starts[a, 0] : starts[a + 1, 0]],
        bins[a],
        candidates[starts[a, 1] : starts[a + 1, 1]],
        faces[starts[a, 2] : starts[a + 1, 2]],
        margins[a],
        frame,
        boxes,
        enough,
        least,
        nodes,
        scratch,
    )


@nogil_kernel
def _slack(best: float) -> float:
    """Return how much nearer a cell that is not looked for may be than the best so far [m]."""
    return max(COARSE * (best - NEAR), EXACT)


@nogil_kernel
def _place_first_planes(
    planes: Array,
    around: Array,
    vertices: Array,
    bins: Indices,
    candidates: Indices,
    frame: Array,
) -> None:
    """Write planes across the axes of a polytope, and the box around it in the root link."""
    for i in range(3):
        for side in range(2):
            sign = 1.0 - 2.0 * side
            x, y, z = sign * (i == 0), sign * (i == 1), sign * (i == 2)
            a, b, c = lowest_vertex(vertices, bins, candidates, frame, x, y, z)
            around[i + 3 * side] = a if i == 0 else b if i == 1 else c
            plane = planes[2 * i + side]
            plane[0], plane[1], plane[2] = (
                sign * frame[i],
                sign * frame[3 + i],
                sign * frame[6 + i],
            )
            _place_plane(plane, plane, vertices, bins, candidates, frame)


@nogil_kernel
def _place_plane(
    direction: Array,
    plane: Array,
    vertices: Array,
    bins: Indices,
    candidates: Indices,
    frame: Array,
) -> None:
    """Write the plane across a direction that a polytope lies beyond: unit normal, and place."""
    x, y, z = direction[0], direction[1], direction[2]
    length = math.sqrt(x * x + y * y + z * z)
    x, y, z = x / length, y / length, z / length
    a, b, c = lowest_vertex(vertices, bins, candidates, frame, x, y, z)
    plane[0], plane[1], plane[2], plane[3] = x, y, z, a * x + b * y + c * z


@nogil_kernel
def _best_plane_gap(planes: Array, count: int, box: Array, direction: Array) -> float:
    """Return how far behind one of some planes a box is, and write the normal of the best one."""
    best, which = -math.inf, 0
    for number in range(count):
        x, y, z = planes[number, 0], planes[number, 1], planes[number, 2]
        gap = planes[number, 3] - max(x * box[0], x * box[3])
        gap -= max(y * box[1], y * box[4]) + max(z * box[2], z * box[5])
        if gap > best:
            best, which = gap, number
    for i in range(3):
        direction[i] = planes[which, i]
    return best


@nogil_kernel
def _gap_between(box: Array, other: Array) -> float:
    """Return a lower bound of the distance of two boxes: inf for one with nothing inside [m]."""
    square, most = 0.0, -math.inf
    for i in range(3):
        beyond = max(box[i] - other[3 + i], other[i] - box[3 + i])
        most = max(most, beyond)
        square += max(beyond, 0.0) ** 2
    return math.sqrt(square) if most > 0.0 else most
