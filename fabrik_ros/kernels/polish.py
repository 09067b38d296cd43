"""
The polish: projected Levenberg-Marquardt in joint space, for the last digits.

Source: Sugihara, "Solvability-unconcerned inverse kinematics by the Levenberg-Marquardt
method", IEEE T-RO 27 (2011), for damping in proportion to the squared error.

"""

import math

import numpy as np

from ..transforms import Array
from ._jit import kernel
from .kinematics import link_frames
from .model import IS_SLIDE, MULTIPLIER, SOURCE
from .task import (
    axis_in_base,
    AXIS_MODE,
    is_reached,
    LENGTH,
    merit,
    MODE,
    ORIENTATION_WEIGHT,
    POSITION_MODE,
    tip_error,
)

FIRST_DAMPING = 1e-2
LESS_DAMPING = 0.3
MORE_DAMPING = 8.0
LEAST_DAMPING = 1e-8
LONGEST_STEP = 1.0
WORTHWHILE = 0.98
FAR = 1e-3
SMALLEST_STEP = 1e-9


@kernel
def run_polish(
    model: Array,
    lower: Array,
    upper: Array,
    units: Array,
    target: Array,
    task: Array,
    most: int,
    to_the_end: bool,
    q: Array,
) -> int:
    """
    Take steps from `q`, at most `most`, each of which lowers the error; return their number.

    Stops when the task is reached or no step helps; unless `to_the_end` also when a step gains
    under two per cent while still far away.
    """
    n, m = q.shape[0], model.shape[0] - 1
    frames = np.empty((m + 1, 12))
    error, weighted, trial_error = np.empty(6), np.empty(6), np.empty(6)
    columns, normal = np.empty((n, 6)), np.empty((6, 6))
    gradient, trial = np.empty(n), np.empty(n)
    damping = FIRST_DAMPING
    link_frames(model, q, frames)
    tip_error(frames[m], target, task, error)
    now = merit(error, task)
    stale = True
    for done in range(most):
        if not to_the_end and is_reached(error, task):
            return done
        if stale:
            weigh_error(error, task, weighted)
            jacobian(model, frames, units, task, columns)
            for j in range(n):
                gradient[j] = product(columns[j], weighted)
            stale = False
        fill_normal(columns, gradient, lower, upper, q, damping * now + 1e-15, normal)
        trial_error[:] = weighted
        cholesky_solve(normal, trial_error)
        moved = take_step(columns, gradient, units, lower, upper, trial_error, q, trial)
        link_frames(model, trial, frames)
        tip_error(frames[m], target, task, trial_error)
        after = merit(trial_error, task)
        if after < now:
            poor = after > WORTHWHILE * WORTHWHILE * now and now > FAR * FAR
            now = after
            q[:] = trial
            error[:] = trial_error
            damping = max(damping * LESS_DAMPING, LEAST_DAMPING)
            stale = True
            if (poor and not to_the_end) or moved < SMALLEST_STEP:
                return done + 1
        else:
            damping *= MORE_DAMPING
            if moved < SMALLEST_STEP or damping > 1e12:
                return done + 1
    return most


@kernel
def product(a: Array, b: Array) -> float:
    """Inner product of two rows of six."""
    total = 0.0
    for k in range(6):
        total += a[k] * b[k]
    return total


@kernel
def weigh_error(error: Array, task: Array, weighted: Array) -> None:
    """Write the error without units, shape (6,)."""
    for k in range(3):
        weighted[k] = error[k] / task[LENGTH]
        weighted[3 + k] = error[3 + k] * task[ORIENTATION_WEIGHT]


@kernel
def jacobian(model: Array, frames: Array, units: Array, task: Array, columns: Array) -> None:
    """Write how each joint value moves the tip, weighted as the error is; (n, 6)."""
    m = model.shape[0] - 1
    columns[:] = 0.0
    tip = frames[m]
    length, weight = task[LENGTH], task[ORIENTATION_WEIGHT]
    ax, ay, az = axis_in_base(tip, task)
    for i in range(m):
        s = int(model[i, SOURCE])
        share = model[i, MULTIPLIER] * units[s]
        frame = frames[i]
        zx, zy, zz = frame[2] * share, frame[5] * share, frame[8] * share
        column = columns[s]
        if model[i, IS_SLIDE] != 0.0:
            column[0] += zx / length
            column[1] += zy / length
            column[2] += zz / length
            continue
        x, y, z = tip[9] - frame[9], tip[10] - frame[10], tip[11] - frame[11]
        column[0] += (zy * z - zz * y) / length
        column[1] += (zz * x - zx * z) / length
        column[2] += (zx * y - zy * x) / length
        if task[MODE] == POSITION_MODE:
            continue
        if task[MODE] == AXIS_MODE:
            along = zx * ax + zy * ay + zz * az
            zx, zy, zz = zx - along * ax, zy - along * ay, zz - along * az
        column[3] += weight * zx
        column[4] += weight * zy
        column[5] += weight * zz


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
    normal: Array,
) -> None:
    """Write J J^T of the joints that are free to move, plus damping; lower triangle."""
    for r in range(6):
        for c in range(r + 1):
            normal[r, c] = 0.0
        normal[r, r] = damping
    for j in range(q.shape[0]):
        if pushes_out(q[j], gradient[j], lower[j], upper[j]):
            continue
        column = columns[j]
        for r in range(6):
            for c in range(r + 1):
                normal[r, c] += column[r] * column[c]


@kernel
def cholesky_solve(a: Array, b: Array) -> None:
    """Solve a x = b for a positive definite a, shape (6, 6), lower triangle; both in place."""
    for j in range(6):
        pivot = a[j, j]
        for k in range(j):
            pivot -= a[j, k] * a[j, k]
        pivot = math.sqrt(max(pivot, 1e-30))
        a[j, j] = pivot
        for i in range(j + 1, 6):
            value = a[i, j]
            for k in range(j):
                value -= a[i, k] * a[j, k]
            a[i, j] = value / pivot
    for i in range(6):
        value = b[i]
        for k in range(i):
            value -= a[i, k] * b[k]
        b[i] = value / a[i, i]
    for i in range(5, -1, -1):
        value = b[i]
        for k in range(i + 1, 6):
            value -= a[k, i] * b[k]
        b[i] = value / a[i, i]


@kernel
def take_step(
    columns: Array,
    gradient: Array,
    units: Array,
    lower: Array,
    upper: Array,
    multipliers: Array,
    q: Array,
    trial: Array,
) -> float:
    """Write `q` plus the step J^T multipliers, capped and within the limits; return its size."""
    n = q.shape[0]
    longest = 0.0
    for j in range(n):
        step = 0.0
        if not pushes_out(q[j], gradient[j], lower[j], upper[j]):
            step = product(columns[j], multipliers)
        trial[j] = step
        longest = max(longest, abs(step))
    scale = LONGEST_STEP / longest if longest > LONGEST_STEP else 1.0
    for j in range(n):
        value = q[j] + scale * units[j] * trial[j]
        trial[j] = min(max(value, lower[j]), upper[j])
    return scale * longest
