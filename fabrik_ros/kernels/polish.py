"""
The polish: projected Levenberg-Marquardt in joint space, for the last digits.

Source: Sugihara, "Solvability-unconcerned inverse kinematics by the Levenberg-Marquardt
method", IEEE T-RO 27 (2011), for damping in proportion to the squared error.

"""

from ..transforms import Array
from ._jit import kernel
from .buffers import Buffers
from .frames import copy
from .task import inner
from .tips import (
    are_reached,
    copy_errors,
    cost_of,
    error_count,
    fill_columns,
    find_errors,
    inner_of_errors,
    move_links,
    weigh,
)
from .tree_buffers import TreeBuffers

FIRST_DAMPING = 5e-2
"""Damping of the first step, as a share of the cost [1]."""
LESS_DAMPING = 0.3
"""Factor on the damping after a step that helped [1]."""
MORE_DAMPING = 8.0
"""Factor on the damping after a step that did not help [1]."""
LEAST_DAMPING = 1e-8
"""Damping never falls below this share of the cost [1]."""
WORST_DAMPING = 1e11
"""No step helps if this share of the cost is not enough damping [1]."""
LONGEST_STEP = 1.0
"""Longest step, in units of the joint values [1]."""
POOR_STEP_SHARE = 0.98
"""A step is poor if it leaves more than this share of the error [1]."""
FAR_ERROR = 1e-3
"""Above this error, which has no unit, a poor step ends the polish [1]."""
SMALLEST_STEP = 1e-9
"""A shorter step ends the polish, in units of the joint values [1]."""


@kernel
def run_polish(
    model: Array,
    lower: Array,
    upper: Array,
    units: Array,
    targets: Array,
    tasks: Array,
    most: int,
    to_the_end: bool,
    q: Array,
    buffers: Buffers | TreeBuffers,
) -> int:
    """
    Take steps from `q`, at most `most`, each of which lowers the errors; return their number.

    Frames and errors are those at `q`.
    Stops when the task is reached or no step helps; unless `to_the_end` also when a step gains
    under two per cent while still far away.
    """
    error, weighted, trial_error = buffers.error, buffers.weighted, buffers.trial_error
    columns, gradient, trial, size = (
        buffers.columns,
        buffers.gradient,
        buffers.trial,
        error_count(error),
    )
    damping = FIRST_DAMPING
    now = cost_of(error, tasks, buffers)
    stale = True
    for done in range(most):
        if not to_the_end and are_reached(error, tasks):
            return done
        if stale:
            weigh(error, tasks, buffers, weighted)
            fill_columns(model, units, targets, tasks, buffers)
            for j in range(q.shape[0]):
                gradient[j] = inner_of_errors(error, columns[j], weighted)
            stale = False
        fill_normal(
            columns, gradient, lower, upper, q, damping * now + 1e-15, size, buffers.normal
        )
        copy(weighted, buffers.multipliers)
        solve_symmetric(buffers.normal, buffers.multipliers, size)
        moved = take_step(
            columns, gradient, units, lower, upper, buffers.multipliers, size, q, trial
        )
        move_links(model, trial, targets, buffers)
        find_errors(targets, tasks, buffers, trial_error)
        after = cost_of(trial_error, tasks, buffers)
        if after < now:
            poor = is_poor(now, after)
            now = after
            copy(trial, q)
            copy_errors(trial_error, error)
            stale = True
            if (poor and not to_the_end) or moved < SMALLEST_STEP:
                return done + 1
        elif moved < SMALLEST_STEP or damping > WORST_DAMPING:
            return done + 1
        damping = damping_after(stale, damping)
    return most


@kernel
def is_poor(before: float, after: float) -> bool:
    """Whether a step gained under two per cent while still far away."""
    return after > POOR_STEP_SHARE * POOR_STEP_SHARE * before and before > FAR_ERROR * FAR_ERROR


@kernel
def damping_after(helped: bool, damping: float) -> float:
    """Damping of the next step."""
    return max(damping * LESS_DAMPING, LEAST_DAMPING) if helped else damping * MORE_DAMPING


@kernel
def pushes_out(value: float, slope: float, lower: float, upper: float) -> bool:
    """Whether a joint sits on a limit and the error would fall beyond it."""
    return (value <= lower and slope < 0.0) or (value >= upper and slope > 0.0)


@kernel
def fill_normal(
    columns: Array,
    gradient: Array,
    lower: Array,
    upper: Array,
    q: Array,
    damping: float,
    size: int,
    normal: Array,
) -> None:
    """Write J J^T of the joints that no limit blocks, plus damping; lower triangle."""
    for r in range(size):
        for c in range(r + 1):
            normal[r, c] = 0.0
        normal[r, r] = damping
    for j in range(q.shape[0]):
        if pushes_out(q[j], gradient[j], lower[j], upper[j]):
            continue
        column = columns[j]
        for r in range(size):
            for c in range(r + 1):
                normal[r, c] += column[r] * column[c]


@kernel
def solve_symmetric(a: Array, b: Array, size: int) -> None:
    """Solve a x = b for a positive definite a, lower triangle; both in place."""
    for j in range(size):
        pivot = a[j, j]
        for k in range(j):
            pivot -= a[j, k] * a[j, k] * a[k, k]
        a[j, j] = max(pivot, 1e-30)
        inverse = 1.0 / a[j, j]
        for i in range(j + 1, size):
            value = a[i, j]
            for k in range(j):
                value -= a[i, k] * a[j, k] * a[k, k]
            a[i, j] = value * inverse
    for i in range(size):
        for k in range(i):
            b[i] -= a[i, k] * b[k]
    for i in range(size - 1, -1, -1):
        b[i] /= a[i, i]
        for k in range(i + 1, size):
            b[i] -= a[k, i] * b[k]


@kernel
def take_step(
    columns: Array,
    gradient: Array,
    units: Array,
    lower: Array,
    upper: Array,
    multipliers: Array,
    size: int,
    q: Array,
    trial: Array,
) -> float:
    """Write `q` plus the step J^T multipliers, capped and within the limits; return its size."""
    n = q.shape[0]
    longest = 0.0
    for j in range(n):
        step = 0.0
        if not pushes_out(q[j], gradient[j], lower[j], upper[j]):
            step = inner(columns[j], multipliers, size)
        trial[j] = step
        longest = max(longest, abs(step))
    scale = LONGEST_STEP / longest if longest > LONGEST_STEP else 1.0
    for j in range(n):
        value = q[j] + scale * units[j] * trial[j]
        trial[j] = min(max(value, lower[j]), upper[j])
    return scale * longest
