"""
Ease a solved arm towards a posture it likes, without moving the tip.

What the difference to the posture moves the tip by is taken out of it, so that the rest is motion
in the null space; the polish takes back what curvature leaves.

Source: Liegeois, "Automatic supervisory control of the configuration and behavior of multibody
mechanisms", IEEE Trans. SMC 7 (1977), for the projection.

"""

import math

from ..transforms import Array
from ._jit import kernel
from .buffers import cut, Workspace
from .frames import copy, TURN
from .limits import UNITS
from .polish import fill_normal, pushes_out, run_polish, solve_symmetric
from .search import (
    confine,
    FINISHED_BY,
    MERIT,
    NEIGHBOURHOOD,
    note,
    POLISH,
    POLISH_STEPS,
    WHOLE,
)
from .task import is_reached, product
from .tips import fill_columns, stand

EASING_STEPS = 30
CORRECTING_STEPS = 8
LONGEST_STEP = 0.2
SMALLEST_STEP = 1e-5
DAMPING = 1e-10


@kernel
def ease(
    model: Array,
    limits: Array,
    tasks: Array,
    rows: Array,
    vectors: Array,
    target: Array,
    seed: Array,
    posture: Array,
    weight: float,
    q: Array,
    report: Array,
) -> None:
    """
    Move `q`, which reaches the target, towards `posture`, by `weight` of the way in each step.

    Ends where no step comes nearer. An answer near the seed stays near it.
    """
    work = cut(rows, vectors, model.shape[0] - 1)
    stays = True
    for j in range(q.shape[0]):
        stays = stays and abs(q[j] - seed[j]) <= NEIGHBOURHOOD * limits[UNITS, j]
    confine(limits, seed, NEIGHBOURHOOD if stays else math.inf, work)
    task, units, nearer = tasks[WHOLE], limits[UNITS], work.nearer
    distance = distance_to(posture, work, units, q)
    for _ in range(EASING_STEPS):
        stand(model, q, target, task, work)
        if step_in_null_space(model, target, task, units, posture, weight, q, nearer, work) < (
            SMALLEST_STEP
        ):
            break
        stand(model, nearer, target, task, work)
        report[POLISH_STEPS] += run_polish(
            model, work.lower, work.upper, units, target, task, CORRECTING_STEPS, False, nearer,
            work,
        )  # fmt: skip
        stand(model, nearer, target, task, work)
        now = distance_to(posture, work, units, nearer)
        if not is_reached(work.error, task) or now >= distance:
            break
        distance = now
        copy(nearer, q)
        report[FINISHED_BY] = POLISH
    stand(model, q, target, task, work)
    report[MERIT] = math.inf
    copy(q, nearer)
    note(nearer, tasks, work, q, report, None)


@kernel
def difference(posture: Array, work: Workspace, q: Array, j: int) -> float:
    """How far a joint is from the posture; by the shorter way round if it has no limits."""
    value = posture[j] - q[j]
    if math.isinf(work.lower[j]) and math.isinf(work.upper[j]):
        value -= TURN * round(value / TURN)
    return float(value)


@kernel
def distance_to(posture: Array, work: Workspace, units: Array, q: Array) -> float:
    """Sum of squares of what separates `q` from the posture, free of units."""
    total = 0.0
    for j in range(q.shape[0]):
        value = difference(posture, work, q, j) / units[j]
        total += value * value
    return total


@kernel
def step_in_null_space(
    model: Array,
    target: Array,
    task: Array,
    units: Array,
    posture: Array,
    weight: float,
    q: Array,
    nearer: Array,
    work: Workspace,
) -> float:
    """Write `q` plus a step towards the posture that leaves the tip; return the step's size."""
    n = q.shape[0]
    columns, step, normal, tip_step = work.columns, work.gradient, work.normal, work.weighted
    fill_columns(model, units, target, task, work)
    for j in range(n):
        step[j] = weight * difference(posture, work, q, j) / units[j]
    fill_normal(columns, step, work.lower, work.upper, q, DAMPING, 6, normal)
    for k in range(6):
        tip_step[k] = 0.0
    for j in range(n):
        if pushes_out(q[j], step[j], work.lower[j], work.upper[j]):
            step[j] = 0.0
            for k in range(6):
                columns[j, k] = 0.0
        for k in range(6):
            tip_step[k] += columns[j, k] * step[j]
    solve_symmetric(normal, tip_step, 6)
    largest = 0.0
    for j in range(n):
        step[j] -= product(columns[j], tip_step)
        largest = max(largest, abs(step[j]))
    scale = min(1.0, LONGEST_STEP / max(largest, SMALLEST_STEP))
    for j in range(n):
        value = q[j] + scale * units[j] * step[j]
        nearer[j] = min(max(value, work.lower[j]), work.upper[j])
    return largest
