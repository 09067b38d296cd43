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
from .buffers import Buffers, cut
from .frames import copy, TURN
from .limits import UNITS
from .polish import fill_normal, pushes_out, run_polish, solve_symmetric
from .search import (
    confine,
    COST,
    FINISHED_BY,
    keep_if_better,
    NEIGHBOURHOOD,
    POLISH,
    POLISH_STEPS,
    WHOLE,
)
from .task import is_reached, product
from .tips import evaluate, fill_columns

EASING_STEPS = 30
"""Most steps towards the posture."""
CORRECTING_STEPS = 8
"""Most polish steps after each of them."""
LONGEST_STEP = 0.2
"""Longest step towards the posture, in units of the joint values [1]."""
SMALLEST_STEP = 1e-5
"""A shorter step ends the easing, in units of the joint values [1]."""
DAMPING = 1e-10
"""Added to the diagonal of J J^T, so that it can be inverted at a singularity [1]."""


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
    statistics: Array,
) -> None:
    """
    Move `q`, which reaches the target, towards `posture`, by a share of `weight` in each step.

    Ends where no step comes nearer. An answer near the seed stays near it.
    """
    buffers = cut(rows, vectors, model.shape[0] - 1)
    is_near = True
    for j in range(q.shape[0]):
        is_near = is_near and abs(q[j] - seed[j]) <= NEIGHBOURHOOD * limits[UNITS, j]
    confine(limits, seed, NEIGHBOURHOOD if is_near else math.inf, buffers)
    task, units, nearer = tasks[WHOLE], limits[UNITS], buffers.nearer
    distance = distance_to(posture, buffers, units, q)
    for _ in range(EASING_STEPS):
        evaluate(model, q, target, task, buffers)
        if step_in_null_space(model, target, task, units, posture, weight, q, nearer, buffers) < (
            SMALLEST_STEP
        ):
            break
        evaluate(model, nearer, target, task, buffers)
        statistics[POLISH_STEPS] += run_polish(
            model, buffers.lower, buffers.upper, units, target, task, CORRECTING_STEPS, False,
            nearer, buffers,
        )  # fmt: skip
        evaluate(model, nearer, target, task, buffers)
        now = distance_to(posture, buffers, units, nearer)
        if not is_reached(buffers.error, task) or now >= distance:
            break
        distance = now
        copy(nearer, q)
        statistics[FINISHED_BY] = POLISH
    evaluate(model, q, target, task, buffers)
    statistics[COST] = math.inf
    copy(q, nearer)
    keep_if_better(nearer, tasks, buffers, q, statistics, None)


@kernel
def difference(posture: Array, buffers: Buffers, q: Array, j: int) -> float:
    """How far a joint is from the posture; by the shorter way round if it has no limits."""
    value = posture[j] - q[j]
    if math.isinf(buffers.lower[j]) and math.isinf(buffers.upper[j]):
        value -= TURN * round(value / TURN)
    return float(value)


@kernel
def distance_to(posture: Array, buffers: Buffers, units: Array, q: Array) -> float:
    """Sum of squares of what separates `q` from the posture, without units."""
    total = 0.0
    for j in range(q.shape[0]):
        value = difference(posture, buffers, q, j) / units[j]
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
    buffers: Buffers,
) -> float:
    """Write `q` plus a step towards the posture that leaves the tip; return the step's size."""
    n = q.shape[0]
    columns, step, normal, tip_step = (
        buffers.columns,
        buffers.gradient,
        buffers.normal,
        buffers.weighted,
    )
    fill_columns(model, units, target, task, buffers)
    for j in range(n):
        step[j] = weight * difference(posture, buffers, q, j) / units[j]
    fill_normal(columns, step, buffers.lower, buffers.upper, q, DAMPING, 6, normal)
    for k in range(6):
        tip_step[k] = 0.0
    for j in range(n):
        if pushes_out(q[j], step[j], buffers.lower[j], buffers.upper[j]):
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
        nearer[j] = min(max(value, buffers.lower[j]), buffers.upper[j])
    return largest
