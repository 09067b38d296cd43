"""How the errors of several tips change with each joint value."""

import math

from ..transforms import Array
from ._jit import kernel
from .arm_table import IS_PRISMATIC, MULTIPLIER, SOURCE
from .jacobian import add_column, shape_columns
from .task import axis_in_base, SHAPED
from .tree_buffers import ERRORS_PER_TIP, TreeBuffers
from .tree_model import PARENT


@kernel
def tree_jacobian(
    model: Array, units: Array, targets: Array, tasks: Array, buffers: TreeBuffers
) -> None:
    """Write to `buffers.columns` how each joint value lowers the weighted errors of all tips."""
    columns, frames, weights = buffers.columns, buffers.frames, buffers.weights
    m = model.shape[0] - weights.shape[0]
    columns[:] = 0.0
    for t in range(weights.shape[0]):
        if weights[t] == 0.0:
            continue
        tip, task = frames[m + t], tasks[t]
        part = columns[:, ERRORS_PER_TIP * t : ERRORS_PER_TIP * t + ERRORS_PER_TIP]
        ax, ay, az = axis_in_base(tip, task)
        i = int(model[m + t, PARENT])
        while i >= 0:
            j = int(model[i, SOURCE])
            share = model[i, MULTIPLIER] * units[j]
            add_column(
                model[i, IS_PRISMATIC] != 0.0, frames[i], tip, share, task, ax, ay, az, part[j]
            )
            i = int(model[i, PARENT])
        if task[SHAPED] != 0.0:
            shape_columns(tip, targets[t], buffers.error[t], task, part)
        if weights[t] != 1.0:
            root = math.sqrt(weights[t])
            for j in range(part.shape[0]):
                for k in range(ERRORS_PER_TIP):
                    part[j, k] *= root
