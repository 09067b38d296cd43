"""How the error of a tip changes with each joint value."""

import math

from ..transforms import Array
from ._jit import kernel
from .arm_table import IS_PRISMATIC, MULTIPLIER, SOURCE
from .task import (
    axis_in_base,
    AXIS_MODE,
    AXIS_TOLERANCES,
    AXIS_WEIGHTS,
    in_frame,
    MODE,
    ORIENTATION_WEIGHT,
    PER_LENGTH,
    POSITION_MODE,
    SHAPED,
    turn_to_target,
)


@kernel
def jacobian(
    model: Array,
    frames: Array,
    target: Array,
    error: Array,
    units: Array,
    task: Array,
    columns: Array,
) -> None:
    """Write how each joint value lowers the error, weighted as that is; rows of six."""
    m = model.shape[0] - 1
    columns[:, :6] = 0.0
    ax, ay, az = axis_in_base(frames[m], task)
    for i in range(m):
        j = int(model[i, SOURCE])
        share = model[i, MULTIPLIER] * units[j]
        add_column(
            model[i, IS_PRISMATIC] != 0.0,
            frames[i],
            frames[m],
            share,
            task,
            ax,
            ay,
            az,
            columns[j],
        )
    if task[SHAPED] != 0.0:
        shape_columns(frames[m], target, error, task, columns)


@kernel
def add_column(
    is_prismatic: bool,
    frame: Array,
    tip: Array,
    share: float,
    task: Array,
    ax: float,
    ay: float,
    az: float,
    column: Array,
) -> None:
    """
    Add how a joint whose link is at `frame` lowers the error, in place.

    The joint moves by `share` for each unit of its value; (ax, ay, az) is the axis of the task.
    """
    per_length, weight = task[PER_LENGTH], task[ORIENTATION_WEIGHT]
    zx, zy, zz = frame[2] * share, frame[5] * share, frame[8] * share
    if is_prismatic:
        column[0] += zx * per_length
        column[1] += zy * per_length
        column[2] += zz * per_length
        return
    x, y, z = tip[9] - frame[9], tip[10] - frame[10], tip[11] - frame[11]
    column[0] += (zy * z - zz * y) * per_length
    column[1] += (zz * x - zx * z) * per_length
    column[2] += (zx * y - zy * x) * per_length
    if task[MODE] == POSITION_MODE:
        return
    if task[MODE] == AXIS_MODE:
        along = zx * ax + zy * ay + zz * az
        zx, zy, zz = zx - along * ax, zy - along * ay, zz - along * az
    column[3] += weight * zx
    column[4] += weight * zy
    column[5] += weight * zz


@kernel
def shape_columns(tip: Array, target: Array, error: Array, task: Array, columns: Array) -> None:
    """
    Turn columns into the frame of the target and weigh them; rows inside their tolerance vanish.

    A turn w of the tip changes a rotation vector u that is not small by the inverse right
    Jacobian of SO(3): u' = -(w + u x w / 2 + k u x (u x w)). Source: Chirikjian, "Stochastic
    Models, Information Theory, and Lie Groups" 2 (2012).
    """
    x, y, z = turn_to_target(tip, target, task)
    ux, uy, uz = in_frame(target, x, y, z)
    square = ux * ux + uy * uy + uz * uz
    angle = math.sqrt(square)
    k = 1.0 / 12.0
    if angle > 1e-3:
        k = 1.0 / square - (1.0 + math.cos(angle)) / (2.0 * angle * math.sin(angle) + 1e-300)
    for j in range(columns.shape[0]):
        column = columns[j]
        column[0], column[1], column[2] = in_frame(target, column[0], column[1], column[2])
        x, y, z = in_frame(target, column[3], column[4], column[5])
        cx, cy, cz = uy * z - uz * y, uz * x - ux * z, ux * y - uy * x
        column[3] = x + 0.5 * cx + k * (uy * cz - uz * cy)
        column[4] = y + 0.5 * cy + k * (uz * cx - ux * cz)
        column[5] = z + 0.5 * cz + k * (ux * cy - uy * cx)
        for r in range(6):
            inside = task[AXIS_TOLERANCES + r] > 0.0 and error[r] == 0.0
            column[r] *= 0.0 if inside else task[AXIS_WEIGHTS + r]
