"""
The tasks of several tips.

Each tip has a task of its own (`task.py`) and a weight. A tip of weight 0 is unconstrained: it
has no error.

"""

import math

from ..transforms import Array
from ._jit import kernel
from .task import cost, is_reached, norm3, tip_error, weigh_error
from .tree_buffers import ERRORS_PER_TIP


@kernel
def tip_errors(frames: Array, targets: Array, tasks: Array, weights: Array, errors: Array) -> None:
    """Write the error of each tip, rows of six; tips are the last of the frames."""
    first = frames.shape[0] - targets.shape[0]
    for t in range(targets.shape[0]):
        if weights[t] > 0.0:
            tip_error(frames[first + t], targets[t], tasks[t], errors[t])
        else:
            errors[t, :ERRORS_PER_TIP] = 0.0


@kernel
def total_cost(errors: Array, tasks: Array, weights: Array) -> float:
    """One number for the errors of all tips: squared, weighted, without units."""
    total = 0.0
    for t in range(weights.shape[0]):
        if weights[t] > 0.0:
            total += weights[t] * cost(errors[t], tasks[t])
    return total


@kernel
def weigh_errors(errors: Array, tasks: Array, weights: Array, weighted: Array) -> None:
    """Write the errors of all tips without units in one list, whose square is the cost."""
    for t in range(weights.shape[0]):
        part = weighted[ERRORS_PER_TIP * t : ERRORS_PER_TIP * t + ERRORS_PER_TIP]
        weigh_error(errors[t], tasks[t], part)
        root = math.sqrt(weights[t])
        for k in range(ERRORS_PER_TIP):
            part[k] *= root


@kernel
def all_reached(errors: Array, tasks: Array) -> bool:
    """Whether the errors of all tips are within their tolerances."""
    reached = True
    for t in range(tasks.shape[0]):
        reached = reached and is_reached(errors[t], tasks[t])
    return reached


@kernel
def largest(errors: Array, tips: int, start: int) -> float:
    """Length of the longest of three consecutive errors, from `start` on, over the tips."""
    most = 0.0
    for t in range(tips):
        most = max(most, norm3(errors[t], start))
    return most
