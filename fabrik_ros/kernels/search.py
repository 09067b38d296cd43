"""
The solve loop: tries from the seed, then from elsewhere, and the closest there is.

A try is a few reaching iterations and, where allowed, the polish. The first ones stay near
the seed, so that an arm that follows a target keeps its configuration. Chains and trees share
it all; `tips.py` holds what differs.

"""

import math

from ..transforms import Array
from ._jit import kernel
from .arm_table import IS_MIMIC, IS_PRISMATIC, SOURCE
from .buffers import Buffers
from .frames import copy, TURN
from .iterations import run_iterations
from .limits import LOWER, stands_at_limit, START_LOWER, START_UPPER, UNITS, UPPER
from .polish import pushes_out, run_polish
from .reaching import fill_arcs
from .task import inner, norm3
from .tips import (
    are_reached,
    cost_of,
    error_count,
    evaluate,
    fill_columns,
    hold_unconstrained,
    largest_error,
    weigh,
)
from .tree_buffers import TreeBuffers

SEED_NOT_FINITE, REACHED, NOT_YET = -3, 3, 4

NOBODY, SEED, FABRIK, POLISH = 0, 1, 2, 3
"""Values of FINISHED_BY: what took the last step."""

(
    POSITION_ERROR,
    ORIENTATION_ERROR,
    PASSES,
    POLISH_STEPS,
    RESTARTS,
    FINISHED_BY,
    STANDS_AT_LIMIT,
    COST,
) = range(8)
STATISTICS_SIZE = 8
"""What was done and what came of it, in one row."""

WHOLE, POSITION_ONLY, FIRST_YIELDING = range(3)
"""Rows of tasks."""

NEAR_ERROR = 0.6
"""A seed is near its target below this error, which has no unit (`task.cost`) [1]."""
NEIGHBOURHOOD = 0.5
"""Half width of the neighbourhood of a seed, in units of the joint values [1]."""
SEED_TRIES = 2
"""Number of tries that start at the seed and stay near it."""
NEAR_TRIES = 8
"""Number of tries that stay near the seed."""
FIRST_ITERATIONS = 1
"""Iterations before the polish; more of them cost more than they gain."""
ACCELERATED_ITERATIONS = 60
"""Most iterations of a try without the polish."""
POLISHING_STEPS = 40
"""Most polish steps of a try."""
YIELDING_STEPS = 20
"""Most polish steps with each of the yielding weights."""
YIELDING_WEIGHTS = (0.1, 0.01, 1e-3)
"""Weights of an orientation that yields more and more to the position [1]."""
YIELDING = FIRST_YIELDING + len(YIELDING_WEIGHTS) - 1
"""Row of the task whose orientation yields most; it ranks configurations."""
AT_LIMIT = 1e-6
"""A joint this near to a limit is at the limit [rad or m]."""
LEAST_SLOPE = 1e-9
"""A joint with a smaller slope of the error does not count as blocked [1]."""


@kernel
def make_tries(
    model: Array,
    limits: Array,
    tasks: Array,
    targets: Array,
    seed: Array,
    polish: bool,
    first: int,
    count: int,
    q: Array,
    statistics: Array,
    apart: Array | None,
    buffers: Buffers | TreeBuffers,
) -> bool:
    """
    Make tries number `first` to `first + count - 1`; tell whether the task is reached.

    The first `NEAR_TRIES` stay near the seed: one starts there, or where it may polish two, the
    first without iterations, and the others around it, which helps an arm that is stretched or
    at a limit. The next one starts at the seed again and may go anywhere, later ones start
    anywhere.

    Rows of `limits`: lower, upper, the range that other starts are drawn from, and the unit of
    each value. Rows of `tasks`: the whole task, the position alone, and the whole task with an
    orientation that yields more and more to the position. Leaves the best configuration in `q`,
    what was done in `statistics`, and the errors of several tips in `apart`.
    """
    error, trial, whole = buffers.error, buffers.present, tasks[WHOLE]
    near = evaluate(model, seed, targets, whole, buffers) <= NEAR_ERROR * NEAR_ERROR
    is_at_seed = True
    if first == 0:
        statistics[:] = 0.0
        statistics[COST] = math.inf
        keep_if_better(seed, tasks, buffers, q, statistics, apart)
        if are_reached(error, whole):
            statistics[FINISHED_BY] = SEED
            statistics[STANDS_AT_LIMIT] = stands_at_limit(q, limits, AT_LIMIT)
            return True
    for number in range(first, first + count):
        if number < NEAR_TRIES and (not near or (number == 1 and not polish)):
            continue
        statistics[RESTARTS] = max(0, number - NEAR_TRIES)
        from_seed = write_start(number, limits, seed, trial, buffers)
        hold_unconstrained(model, seed, targets, trial, buffers)
        if not (from_seed and is_at_seed):
            evaluate(model, trial, targets, whole, buffers)
        is_at_seed = False
        first_iterations = 0 if number == 0 else FIRST_ITERATIONS
        finisher = run_try(
            model, limits, targets, whole, polish, first_iterations, trial, statistics, buffers
        )
        if bring_towards(seed, model, limits, trial):
            evaluate(model, trial, targets, whole, buffers)
        reached = are_reached(error, whole)
        if reached:
            statistics[COST] = math.inf
        if keep_if_better(trial, tasks, buffers, q, statistics, apart):
            statistics[FINISHED_BY] = finisher
        if reached:
            statistics[STANDS_AT_LIMIT] = stands_at_limit(q, limits, AT_LIMIT)
            return True
    return False


@kernel
def write_start(
    number: int, limits: Array, seed: Array, trial: Array, buffers: Buffers | TreeBuffers
) -> bool:
    """Write the limits of a try and the configuration it starts from; tell if that is the seed."""
    is_near = number < NEAR_TRIES
    confine(limits, seed, NEIGHBOURHOOD if is_near else math.inf, buffers)
    if number < SEED_TRIES or number == NEAR_TRIES:
        copy(seed, trial)
        return True
    if is_near:
        scatter(number, buffers.lower, buffers.upper, trial)
    else:
        scatter(number, limits[START_LOWER], limits[START_UPPER], trial)
    return False


@kernel
def confine(limits: Array, seed: Array, width: float, buffers: Buffers | TreeBuffers) -> None:
    """Write the limits in force: those of the arm, at most `width` units from the seed."""
    for j in range(seed.shape[0]):
        buffers.lower[j] = max(limits[LOWER, j], seed[j] - width * limits[UNITS, j])
        buffers.upper[j] = min(limits[UPPER, j], seed[j] + width * limits[UNITS, j])


@kernel
def run_try(
    model: Array,
    limits: Array,
    targets: Array,
    tasks: Array,
    polish: bool,
    first_iterations: int,
    q: Array,
    statistics: Array,
    buffers: Buffers | TreeBuffers,
) -> int:
    """
    Go from `q` towards the targets as far as possible; return what took the last step.

    With the polish after the first iterations, else in accelerated iterations to the end.
    """
    lower, upper, units = buffers.lower, buffers.upper, limits[UNITS]
    most = first_iterations if polish else ACCELERATED_ITERATIONS
    if most > 0:
        fill_arcs(lower, upper, buffers.arcs)
        iterations = run_iterations(
            model, lower, upper, units, targets, tasks, most, not polish, q, buffers
        )
        statistics[PASSES] += 2 * iterations
    if not polish:
        return FABRIK
    steps = run_polish(
        model, lower, upper, units, targets, tasks, POLISHING_STEPS, False, q, buffers
    )
    statistics[POLISH_STEPS] += steps
    return POLISH if steps > 0 else FABRIK


@kernel
def find_nearest_from(
    model: Array,
    limits: Array,
    tasks: Array,
    targets: Array,
    seed: Array,
    polish: bool,
    begin: Array,
    q: Array,
    statistics: Array,
    apart: Array | None,
    buffers: Buffers | TreeBuffers,
) -> None:
    """
    From `begin`, bring the tips as near as they get: positions first, then orientations.

    The polish lowers the weight of the orientation in steps: with a low weight from the start it
    would creep along the curved set of configurations that hold the position. Replaces `q` and the
    statistics where the result is better.
    """
    lower, upper, units, trial = limits[LOWER], limits[UPPER], limits[UNITS], buffers.present
    copy(begin, trial)
    hold_unconstrained(model, seed, targets, trial, buffers)
    if polish:
        for row in range(FIRST_YIELDING, YIELDING + 2):
            last = row > YIELDING  # in one loop, as each call would be compiled into this anew
            task = tasks[POSITION_ONLY if last else row]
            evaluate(model, trial, targets, task, buffers)
            statistics[POLISH_STEPS] += run_polish(
                model, lower, upper, units, targets, task,
                POLISHING_STEPS if last else YIELDING_STEPS, not last, trial, buffers,
            )  # fmt: skip
    else:
        fill_arcs(lower, upper, buffers.arcs)
        for row in (WHOLE, POSITION_ONLY):
            evaluate(model, trial, targets, tasks[row], buffers)
            for accelerate in (True, False):  # only plain iterations come to rest at an error
                statistics[PASSES] += 2 * run_iterations(
                    model, lower, upper, units, targets, tasks[row], ACCELERATED_ITERATIONS,
                    accelerate, trial, buffers,
                )  # fmt: skip
    bring_towards(seed, model, limits, trial)
    evaluate(model, trial, targets, tasks[WHOLE], buffers)
    if keep_if_better(trial, tasks, buffers, q, statistics, apart):
        statistics[FINISHED_BY] = POLISH if polish else FABRIK


@kernel
def keep_if_better(
    trial: Array,
    tasks: Array,
    buffers: Buffers | TreeBuffers,
    q: Array,
    statistics: Array,
    apart: Array | None,
) -> bool:
    """Keep `trial` in `q` if it is the best so far, positions counting first."""
    value = cost_of(buffers.error, tasks[YIELDING], buffers)
    if not value < statistics[COST]:
        return False
    copy(trial, q)
    statistics[COST] = value
    write_errors(buffers.error, statistics, apart)
    return True


@kernel
def write_errors(error: Array, statistics: Array, apart: Array | None) -> None:
    """Write the errors of the tips, and the largest of them."""
    statistics[POSITION_ERROR] = largest_error(error, 0)
    statistics[ORIENTATION_ERROR] = largest_error(error, 3)
    if apart is not None:
        for t in range(apart.shape[0]):
            apart[t, 0] = norm3(error[t], 0)
            apart[t, 1] = norm3(error[t], 3)


@kernel
def scatter(number: int, lower: Array, upper: Array, q: Array) -> None:
    """Write one of the points that are spread over a box, the same for each number."""
    for j in range(q.shape[0]):
        scattered = math.sin(12.9898 * (number + 1) + 78.233 * (j + 1)) * 43758.5453
        q[j] = lower[j] + (scattered - math.floor(scattered)) * (upper[j] - lower[j])


@kernel
def bring_towards(seed: Array, model: Array, limits: Array, q: Array) -> bool:
    """
    Turn revolute joints by whole turns to where they are nearest to the seed inside the limits.

    Returns whether any joint was turned.
    """
    turned = False
    for i in range(model.shape[0]):
        if model[i, SOURCE] < 0.0:
            continue
        j = int(model[i, SOURCE])
        turns = round((seed[j] - q[j]) / TURN)
        if turns == 0 or model[i, IS_PRISMATIC] != 0.0 or has_mimic_joint(model, j):
            continue
        value = q[j] + TURN * turns
        if value > limits[UPPER, j]:
            value -= TURN * math.ceil((value - limits[UPPER, j]) / TURN)
        elif value < limits[LOWER, j]:
            value += TURN * math.ceil((limits[LOWER, j] - value) / TURN)
        if limits[LOWER, j] <= value <= limits[UPPER, j]:
            q[j] = value
            turned = True
    return turned


@kernel
def has_mimic_joint(model: Array, j: int) -> bool:
    """Whether a joint mimics the one with value number `j`."""
    for i in range(model.shape[0]):
        if model[i, IS_MIMIC] != 0.0 and int(model[i, SOURCE]) == j:
            return True
    return False


@kernel
def assess_at(
    model: Array,
    limits: Array,
    tasks: Array,
    targets: Array,
    q: Array,
    statistics: Array,
    apart: Array | None,
    buffers: Buffers | TreeBuffers,
) -> bool:
    """Write the errors at `q`; tell whether a limit keeps them from falling."""
    evaluate(model, q, targets, tasks, buffers)
    write_errors(buffers.error, statistics, apart)
    statistics[STANDS_AT_LIMIT] = stands_at_limit(q, limits, AT_LIMIT)
    fill_columns(model, limits[UNITS], targets, tasks, buffers)
    weigh(buffers.error, tasks, buffers, buffers.weighted)
    for j in range(q.shape[0]):
        slope = inner(buffers.columns[j], buffers.weighted, error_count(buffers.error))
        if abs(slope) > LEAST_SLOPE and pushes_out(
            q[j], slope, limits[LOWER, j], limits[UPPER, j]
        ):
            return True
    return False
