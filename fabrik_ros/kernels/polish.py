"""
The polish: projected Levenberg-Marquardt in joint space, for the last digits.

Source: Sugihara, "Solvability-unconcerned inverse kinematics by the Levenberg-Marquardt
method", IEEE T-RO 27 (2011), for damping in proportion to the squared error.

"""

import math

from ..transforms import Array
from ._jit import kernel
from .arm_table import IS_SLIDE, MULTIPLIER, SOURCE
from .buffers import Workspace
from .frames import copy
from .kinematics import link_frames
from .task import (
    axis_in_base,
    AXIS_MODE,
    in_frame,
    inner,
    is_reached,
    merit,
    MODE,
    ORIENTATION_WEIGHT,
    PER_LENGTH,
    POSITION_MODE,
    product,
    ROOM,
    SHAPED,
    tip_error,
    turn_to_target,
    weigh_error,
    WEIGHTS,
)

FIRST_DAMPING = 5e-2
LESS_DAMPING = 0.3
MORE_DAMPING = 8.0
LEAST_DAMPING = 1e-8
WORST_DAMPING = 1e11
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
    work: Workspace,
) -> int:
    """
    Take steps from `q`, at most `most`, each of which lowers the error; return their number.

    The arm stands at `q` and `work.frames`, and `work.error` is what it lacks.
    Stops when the task is reached or no step helps; unless `to_the_end` also when a step gains
    under two per cent while still far away.
    """
    m = model.shape[0] - 1
    frames, error, weighted, trial_error = work.frames, work.error, work.weighted, work.trial_error
    columns, gradient, trial = work.columns, work.gradient, work.trial
    damping = FIRST_DAMPING
    now = merit(error, task)
    stale = True
    for done in range(most):
        if not to_the_end and is_reached(error, task):
            return done
        if stale:
            weigh_error(error, task, weighted)
            jacobian(model, frames, target, error, units, task, columns)
            for j in range(q.shape[0]):
                gradient[j] = product(columns[j], weighted)
            stale = False
        fill_normal(columns, gradient, lower, upper, q, damping * now + 1e-15, 6, work.normal)
        copy(weighted, trial_error)
        solve_symmetric(work.normal, trial_error, 6)
        moved = take_step(columns, gradient, units, lower, upper, trial_error, 6, q, trial)
        link_frames(model, trial, frames)
        tip_error(frames[m], target, task, trial_error)
        after = merit(trial_error, task)
        if after < now:
            poor = is_poor(now, after)
            now = after
            copy(trial, q)
            copy(trial_error, error)
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
    return after > WORTHWHILE * WORTHWHILE * before and before > FAR * FAR


@kernel
def damping_after(helped: bool, damping: float) -> float:
    """Damping of the next step."""
    return max(damping * LESS_DAMPING, LEAST_DAMPING) if helped else damping * MORE_DAMPING


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
            model[i, IS_SLIDE] != 0.0, frames[i], frames[m], share, task, ax, ay, az, columns[j]
        )
    if task[SHAPED] != 0.0:
        shape_columns(frames[m], target, error, task, columns)


@kernel
def add_column(
    is_slide: bool,
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
    Add how a joint that stands at `frame` lowers the error, in place.

    The joint moves by `share` for each unit of its value; (ax, ay, az) is the axis of the task.
    """
    per_length, weight = task[PER_LENGTH], task[ORIENTATION_WEIGHT]
    zx, zy, zz = frame[2] * share, frame[5] * share, frame[8] * share
    if is_slide:
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
    Turn columns into the frame of the target and weigh them; rows inside their room vanish.

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
            inside = task[ROOM + r] > 0.0 and error[r] == 0.0
            column[r] *= 0.0 if inside else task[WEIGHTS + r]


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
    """Write J J^T of the joints that are free to move, plus damping; lower triangle."""
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
