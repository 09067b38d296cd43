"""The polish of `polish.py` for several tips: their errors are stacked."""

import math

from ..transforms import Array
from ._jit import kernel
from .arm_table import IS_SLIDE, MULTIPLIER, SOURCE
from .frames import copy
from .polish import (
    add_column,
    damping_after,
    fill_normal,
    FIRST_DAMPING,
    is_poor,
    shape_columns,
    SMALLEST_STEP,
    solve_symmetric,
    take_step,
    WORST_DAMPING,
)
from .task import axis_in_base, inner, SHAPED
from .tree_buffers import PER_TIP, TreeWorkspace
from .tree_kinematics import link_frames
from .tree_model import PARENT
from .tree_task import all_reached, tip_errors, total_merit, weigh_errors


@kernel
def run_tree_polish(
    model: Array,
    lower: Array,
    upper: Array,
    units: Array,
    targets: Array,
    tasks: Array,
    most: int,
    to_the_end: bool,
    q: Array,
    work: TreeWorkspace,
) -> int:
    """
    Take steps from `q`, at most `most`, each of which lowers the errors; return their number.

    The arms stand at `q` and `work.frames`, and `work.error` is what the tips lack. Stops as
    `run_polish` does.
    """
    frames, error, weighted, trial_error = work.frames, work.error, work.weighted, work.trial_error
    columns, gradient, trial, weights = work.columns, work.gradient, work.trial, work.weights
    size = weighted.shape[0] - 1
    damping = FIRST_DAMPING
    now = total_merit(error, tasks, weights)
    stale = True
    for done in range(most):
        if not to_the_end and all_reached(error, tasks):
            return done
        if stale:
            weigh_errors(error, tasks, weights, weighted)
            tree_jacobian(model, units, targets, tasks, work)
            for j in range(q.shape[0]):
                gradient[j] = inner(columns[j], weighted, size)
            stale = False
        fill_normal(columns, gradient, lower, upper, q, damping * now + 1e-15, size, work.normal)
        copy(weighted, work.multipliers)
        solve_symmetric(work.normal, work.multipliers, size)
        moved = take_step(
            columns, gradient, units, lower, upper, work.multipliers, size, q, trial
        )  # fmt: skip
        link_frames(model, trial, frames)
        tip_errors(frames, targets, tasks, weights, trial_error)
        after = total_merit(trial_error, tasks, weights)
        if after < now:
            poor = is_poor(now, after)
            now = after
            copy(trial, q)
            for t in range(weights.shape[0]):
                copy(trial_error[t], error[t])
            stale = True
            if (poor and not to_the_end) or moved < SMALLEST_STEP:
                return done + 1
        elif moved < SMALLEST_STEP or damping > WORST_DAMPING:
            return done + 1
        damping = damping_after(stale, damping)
    return most


@kernel
def tree_jacobian(
    model: Array, units: Array, targets: Array, tasks: Array, work: TreeWorkspace
) -> None:
    """Write to `work.columns` how each joint value lowers the weighted errors of all tips."""
    columns, frames, weights = work.columns, work.frames, work.weights
    m = model.shape[0] - weights.shape[0]
    columns[:] = 0.0
    for t in range(weights.shape[0]):
        if weights[t] == 0.0:
            continue
        tip, task = frames[m + t], tasks[t]
        part = columns[:, PER_TIP * t : PER_TIP * t + PER_TIP]
        ax, ay, az = axis_in_base(tip, task)
        i = int(model[m + t, PARENT])
        while i >= 0:
            j = int(model[i, SOURCE])
            share = model[i, MULTIPLIER] * units[j]
            add_column(model[i, IS_SLIDE] != 0.0, frames[i], tip, share, task, ax, ay, az, part[j])
            i = int(model[i, PARENT])
        if task[SHAPED] != 0.0:
            shape_columns(tip, targets[t], work.error[t], task, part)
        if weights[t] != 1.0:
            root = math.sqrt(weights[t])
            for j in range(part.shape[0]):
                for k in range(PER_TIP):
                    part[j, k] *= root
