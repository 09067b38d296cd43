"""Measured points in the cells of a grid, and the one of each cell that says whose it is."""

import math

import numpy as np
import numpy.typing as npt

from ..transforms import Array
from ._jit import nogil_kernel
from .cell_tree import key_of, Keys, MIDDLE

Points = npt.NDArray[np.float32]
Numbers = npt.NDArray[np.int32]
Flags = npt.NDArray[np.bool_]

TABLE_BITS = 17
TABLE = 1 << TABLE_BITS
"""Places in the table of cells [1]."""
HASH = 40503
"""An odd number without pattern [1]."""
FREE = -1
"""What is in a place of the table without cell."""


@nogil_kernel
def in_root(points: Points, pose: Array, k: int) -> tuple[float, float, float]:
    """Return point number `k` in the root link; `pose` is the sensor's, shape (12,)."""
    x, y, z = float(points[k, 0]), float(points[k, 1]), float(points[k, 2])
    return (
        pose[0] * x + pose[1] * y + pose[2] * z + pose[9],
        pose[3] * x + pose[4] * y + pose[5] * z + pose[10],
        pose[6] * x + pose[7] * y + pose[8] * z + pose[11],
    )


@nogil_kernel
def bin_points(
    points: Points,
    pose: Array,
    size: float,
    table: Keys,
    numbers: Numbers,
    keys: Keys,
    cell_of: Numbers,
) -> int:
    """
    Bin points; return how many cells there are, or -1 if there is no room for so many.

    Points that are not finite, or outside the grid, are left out.

    Parameters
    ----------
    points : array, shape (n, 3)
        In the frame of the sensor [m].
    pose : array, shape (12,)
        Of the sensor in the root link: rotation by rows, and origin [m].
    size : float
        Edge of a cell [m].
    table : array of int, shape (TABLE,)
        Scratch, full of FREE.
    numbers : array of int, shape (TABLE,)
        Scratch.
    keys : array of int, shape (m,)
        Written to: numbers of the cells along the Morton curve.
    cell_of : array of int, shape (n,)
        Written to: for each point the place of its cell in `keys`, or -1.

    """
    count, edge = 0, MIDDLE * size
    for k in range(points.shape[0]):
        cell_of[k] = -1
        x, y, z = in_root(points, pose, k)
        if not (abs(x) < edge and abs(y) < edge and abs(z) < edge):
            continue
        key = key_of(
            math.floor(x / size) + MIDDLE,
            math.floor(y / size) + MIDDLE,
            math.floor(z / size) + MIDDLE,
        )
        place = _place_of(table, key)
        if table[place] == FREE:
            if count == keys.shape[0]:
                return -1
            table[place], numbers[place], keys[count] = key, count, key
            count += 1
        cell_of[k] = numbers[place]
    return count


@nogil_kernel
def _place_of(table: Keys, key: int) -> int:
    """Return the place of a cell in the table, or the free one where it belongs."""
    place = (key ^ (key >> TABLE_BITS) * HASH >> 3) & (TABLE - 1)
    while table[place] != FREE and table[place] != key:
        place = (place + 1) & (TABLE - 1)
    return place


@nogil_kernel
def find_outermost(
    points: Points,
    pose: Array,
    cell_of: Numbers,
    outwards: Array,
    heights: Array,
    outermost: Numbers,
) -> None:
    """
    Find the point of each cell that is farthest out in a direction.

    Parameters
    ----------
    points, pose, cell_of
        As for `bin_points`.
    outwards : array, shape (m, 3)
        Unit vectors in the root link; zero where no point is wanted.
    heights : array, shape (m,)
        Scratch.
    outermost : array of int, shape (m,)
        Written to: the numbers of the points.

    """
    for c in range(outwards.shape[0]):
        heights[c], outermost[c] = -math.inf, -1
    for k in range(points.shape[0]):
        c = cell_of[k]
        if c < 0:
            continue
        u, v, w = outwards[c, 0], outwards[c, 1], outwards[c, 2]
        if u == 0.0 and v == 0.0 and w == 0.0:
            continue
        x, y, z = in_root(points, pose, k)
        height = u * x + v * y + w * z
        if height > heights[c]:
            heights[c], outermost[c] = height, k
