"""
How far a sensor has looked, by direction.

The directions are those through the squares of a cube around the sensor, at several levels: level
l has FINEST / 2^l squares each way on each of the six faces. Each square has the least range of
the points that were measured in it, inf where there are none.

"""

import math

import numpy as np
import numpy.typing as npt

from ..transforms import Array
from ._jit import nogil_kernel
from .cell_tree import box_of_cell, Keys
from .point_binning import Flags, Points

Ranges = npt.NDArray[np.float32]

FINEST = 256
"""Squares each way on a face, at the finest level: 6 to 8 mrad each [1]."""
LEVELS = 6
"""The coarsest level has 8 squares each way [1]."""
SQUARES = 6 * sum((FINEST >> level) ** 2 for level in range(LEVELS))
"""Number of squares of all levels [1]."""
ENOUGH = 0.75
"""Share of the squares of a cell that something has to be measured in [1]."""
LEAST_DEPTH = 1e-6
"""What is nearer to the sensor has no direction [m]."""


@nogil_kernel
def draw_ranges(points: Points, ranges: Ranges) -> None:
    """Write the least ranges [m] of points in the frame of the sensor, shape (SQUARES,)."""
    for square in range(SQUARES):
        ranges[square] = math.inf
    for k in range(points.shape[0]):
        x, y, z = float(points[k, 0]), float(points[k, 1]), float(points[k, 2])
        length = math.sqrt(x * x + y * y + z * z)
        if not LEAST_DEPTH < length < math.inf:
            continue
        face, u, v, _ = on_cube(x, y, z)
        row = min(int(0.5 * (u + 1.0) * FINEST), FINEST - 1)
        column = min(int(0.5 * (v + 1.0) * FINEST), FINEST - 1)
        square = (face * FINEST + row) * FINEST + column
        if length < ranges[square]:
            ranges[square] = length
    finer, count = 0, FINEST
    while count > FINEST >> (LEVELS - 1):
        half, coarser = count // 2, finer + 6 * count * count
        for face in range(6):
            for row in range(half):
                for column in range(half):
                    a = finer + (face * count + 2 * row) * count + 2 * column
                    ranges[coarser + (face * half + row) * half + column] = min(
                        ranges[a], ranges[a + 1], ranges[a + count], ranges[a + count + 1]
                    )
        finer, count = coarser, half


@nogil_kernel
def on_cube(x: float, y: float, z: float) -> tuple[int, float, float, float]:
    """Return the face of the cube that a direction goes through, where, and how deep it goes."""
    along_x, along_y, along_z = abs(x), abs(y), abs(z)
    if along_x >= along_y and along_x >= along_z:
        return 0 if x > 0.0 else 1, y / along_x, z / along_x, along_x
    if along_y >= along_z:
        return 2 if y > 0.0 else 3, z / along_y, x / along_y, along_y
    return 4 if z > 0.0 else 5, x / along_z, y / along_z, along_z


@nogil_kernel
def note_looked_through(
    keys: Keys, size: float, pose: Array, ranges: Ranges, box: Array, looked_through: Flags
) -> None:
    """
    Write which cells the sensor has looked through.

    It has measured something beyond the cell in most of the squares that the cell covers, and
    nothing nearer in the others. Where there are fewer points than squares, it has in all of the
    larger ones.

    Parameters
    ----------
    keys : array of int, shape (m,)
        Numbers of the cells, none of which has points in it.
    size : float
        Edge of a cell [m].
    pose : array, shape (12,)
        Of the sensor in the root link: rotation by rows, and origin [m].
    ranges : array, shape (SQUARES,)
        What `draw_ranges` wrote.
    box : array, shape (6,)
        Scratch.
    looked_through : array of bool, shape (m,)
        Written to.

    """
    for c in range(keys.shape[0]):
        box_of_cell(keys[c], size, box)
        looked_through[c] = False
        a = 0.5 * (box[0] + box[3]) - pose[9]
        b = 0.5 * (box[1] + box[4]) - pose[10]
        d = 0.5 * (box[2] + box[5]) - pose[11]
        length = math.sqrt(a * a + b * b + d * d)
        if length < size:
            continue
        face, u, v, depth = on_cube(
            pose[0] * a + pose[3] * b + pose[6] * d,
            pose[1] * a + pose[4] * b + pose[7] * d,
            pose[2] * a + pose[5] * b + pose[8] * d,
        )
        half = 0.5 * size / depth
        first, count = 0, FINEST
        while count > FINEST >> (LEVELS - 1) and 2.0 / count < half:
            first, count = first + 6 * count * count, count // 2
        beyond = length + 0.5 * size
        share = _share_beyond(ranges, first, count, face, u, v, half, beyond)
        if 0.0 < share < ENOUGH and count > FINEST >> (LEVELS - 1):
            first, count = first + 6 * count * count, count // 2
            share = (
                0.0 if _share_beyond(ranges, first, count, face, u, v, half, beyond) < 1.0 else 1.0
            )
        looked_through[c] = share >= ENOUGH


@nogil_kernel
def _share_beyond(
    ranges: Ranges,
    first: int,
    count: int,
    face: int,
    u: float,
    v: float,
    half: float,
    beyond: float,
) -> float:
    """Return the share of the squares around a place on a face with something `beyond` [1]."""
    low_row = max(int(0.5 * (u - half + 1.0) * count), 0)
    high_row = min(int(0.5 * (u + half + 1.0) * count), count - 1)
    low_column = max(int(0.5 * (v - half + 1.0) * count), 0)
    high_column = min(int(0.5 * (v + half + 1.0) * count), count - 1)
    measured = squares = 0
    for row in range(low_row, high_row + 1):
        for column in range(low_column, high_column + 1):
            range_there = ranges[first + (face * count + row) * count + column]
            squares += 1
            if range_there < beyond:
                return 0.0
            if range_there < math.inf:
                measured += 1
    return measured / squares
