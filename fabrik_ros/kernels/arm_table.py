"""
The arm as one table of numbers, which is what the kernels read.

A model has a row for each moving joint, base to tip, and a last row for the tip. A row holds
the fixed pose of the joint frame in the frame of the link before it, `F_i`, turned so that the
joint moves about or along its local z. Frames everywhere in the kernels are rows of twelve
numbers: a rotation, row by row, and a position.

"""

import numpy as np

from ..transforms import Array

POSITION = 9
IS_PRISMATIC = 12
SOURCE = 13
MULTIPLIER = 14
OFFSET = 15
IS_MIMIC = 16
COLUMNS = 17
FRAME = 12


def pack_row(
    F: Array,
    is_prismatic: bool = False,
    source: int = -1,
    multiplier: float = 1.0,
    offset: float = 0.0,
    is_mimic: bool = False,
) -> Array:
    """
    Write one row of a model.

    Parameters
    ----------
    F : array, shape (4, 4)
        Joint frame in the frame of the link before.
    is_prismatic : bool
        Whether the joint moves along its z rather than about it.
    source : int
        Index in `q` of the value that drives the joint; -1 for the tip.
    multiplier, offset : float
        The value of the joint is `multiplier * q[source] + offset`.
    is_mimic : bool
        Whether the joint mimics the one that `source` belongs to.

    """
    row = np.empty(COLUMNS)
    row[:POSITION] = F[:3, :3].ravel()
    row[POSITION:FRAME] = F[:3, 3]
    row[FRAME:] = is_prismatic, source, multiplier, offset, is_mimic
    return row
