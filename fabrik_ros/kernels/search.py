"""
The solve loop: attempts from the seed, then from elsewhere, and the closest there is.

An attempt is a few reaching rounds and, where allowed, the polish. The first ones stay near
the seed, so that an arm that follows a target keeps its configuration. Chains and trees share
it all; `tips.py` holds what differs.

"""

import math

from ..transforms import Array
from ._jit import kernel
from .arm_table import FOLLOWS, IS_PRISMATIC, SOURCE
from .buffers import Workspace
from .frames import copy, TURN
from .iterations import run_rounds
from .limits import LOWER, stands_at_limit, START_LOWER, START_UPPER, UNITS, UPPER
from .polish import pushes_out, run_polish
from .reaching import fill_arcs
from .task import inner, norm3
from .tips import (
    are_reached,
    error_count,
    fill_columns,
    hold_free,
    largest_error,
    merit_of,
    stand,
    weigh,
)
from .tree_buffers import TreeWorkspace

SEED_NOT_FINITE, REACHED, NOT_YET = -3, 3, 4

NOBODY, SEED, FABRIK, POLISH = 0, 1, 2, 3

(
    POSITION_ERROR,
    ORIENTATION_ERROR,
    PASSES,
    POLISH_STEPS,
    RESTARTS,
    FINISHED_BY,
    STANDS_AT_LIMIT,
    MERIT,
) = range(8)
REPORT_SIZE = 8

WHOLE, POSITION_ONLY, FIRST_YIELDING = range(3)

NEAR = 0.6
NEIGHBOURHOOD = 0.5
SEED_ATTEMPTS = 2
NEAR_ATTEMPTS = 8
OPENING_ROUNDS = 1
ACCELERATED_ROUNDS = 60
POLISHING_STEPS = 40
SETTLING_STEPS = 20
YIELDING_WEIGHTS = (0.1, 0.01, 1e-3)
YIELDING = FIRST_YIELDING + len(YIELDING_WEIGHTS) - 1
AT_LIMIT = 1e-6


@kernel
def make_attempts(
    model: Array,
    limits: Array,
    tasks: Array,
    targets: Array,
    seed: Array,
    polish: bool,
    first: int,
    count: int,
    q: Array,
    report: Array,
    apart: Array | None,
    work: Workspace | TreeWorkspace,
) -> bool:
    """
    Make attempts number `first` to `first + count - 1`; tell whether the task is reached.

    The first `NEAR_ATTEMPTS` stay near the seed: one starts there, or where it may polish two, the
    first without rounds, and the others around it, which frees an arm that is stretched or at a
    limit. The next one starts at the seed again and may go anywhere, later ones start anywhere.
    Rows of `limits`: lower, upper, the range that other starts are drawn from, and the unit of
    each value. Rows of `tasks`: the whole task, the position alone, and the whole task with an
    orientation that yields more and more to the position. Leaves the best configuration in `q`, an
    account in `report`, and the errors of several tips in `apart`.
    """
    error, trial, whole = work.error, work.present, tasks[WHOLE]
    near = stand(model, seed, targets, whole, work) <= NEAR * NEAR
    stands_at_seed = True
    if first == 0:
        report[:] = 0.0
        report[MERIT] = math.inf
        note(seed, tasks, work, q, report, apart)
        if are_reached(error, whole):
            report[FINISHED_BY] = SEED
            report[STANDS_AT_LIMIT] = stands_at_limit(q, limits, AT_LIMIT)
            return True
    for number in range(first, first + count):
        stays = number < NEAR_ATTEMPTS
        if stays and (not near or (number == 1 and not polish)):
            continue
        confine(limits, seed, NEIGHBOURHOOD if stays else math.inf, work)
        report[RESTARTS] = max(0, number - NEAR_ATTEMPTS)
        from_seed = number < SEED_ATTEMPTS or number == NEAR_ATTEMPTS
        if from_seed:
            copy(seed, trial)
        elif stays:
            scatter(number, work.lower, work.upper, trial)
        else:
            scatter(number, limits[START_LOWER], limits[START_UPPER], trial)
        hold_free(model, seed, targets, trial, work)
        if not (from_seed and stands_at_seed):
            stand(model, trial, targets, whole, work)
        stands_at_seed = False
        opening = 0 if number == 0 else OPENING_ROUNDS
        who = attempt(model, limits, targets, whole, polish, opening, trial, report, work)
        if bring_towards(seed, model, limits, trial):
            stand(model, trial, targets, whole, work)
        reached = are_reached(error, whole)
        if reached:
            report[MERIT] = math.inf
        if note(trial, tasks, work, q, report, apart):
            report[FINISHED_BY] = who
        if reached:
            report[STANDS_AT_LIMIT] = stands_at_limit(q, limits, AT_LIMIT)
            return True
    return False


@kernel
def confine(limits: Array, seed: Array, room: float, work: Workspace | TreeWorkspace) -> None:
    """Write the limits in force: those of the arm, and `room` units on either side of the seed."""
    for j in range(seed.shape[0]):
        work.lower[j] = max(limits[LOWER, j], seed[j] - room * limits[UNITS, j])
        work.upper[j] = min(limits[UPPER, j], seed[j] + room * limits[UNITS, j])


@kernel
def attempt(
    model: Array,
    limits: Array,
    targets: Array,
    tasks: Array,
    polish: bool,
    opening: int,
    q: Array,
    report: Array,
    work: Workspace | TreeWorkspace,
) -> int:
    """
    Go from `q` towards the targets as far as it leads; return who took the last step.

    With the polish after `opening` rounds, else in accelerated rounds to the end.
    """
    lower, upper, units = work.lower, work.upper, limits[UNITS]
    most = opening if polish else ACCELERATED_ROUNDS
    if most > 0:
        fill_arcs(lower, upper, work.arcs)
        rounds = run_rounds(model, lower, upper, units, targets, tasks, most, not polish, q, work)
        report[PASSES] += 2 * rounds
    if not polish:
        return FABRIK
    steps = run_polish(model, lower, upper, units, targets, tasks, POLISHING_STEPS, False, q, work)
    report[POLISH_STEPS] += steps
    return POLISH if steps > 0 else FABRIK


@kernel
def settle_from(
    model: Array,
    limits: Array,
    tasks: Array,
    targets: Array,
    seed: Array,
    polish: bool,
    begin: Array,
    q: Array,
    report: Array,
    apart: Array | None,
    work: Workspace | TreeWorkspace,
) -> None:
    """
    From `begin`, bring the tips as near as they get: positions first, then orientations.

    The polish lets the orientation yield by and by: with little weight from the start it would
    creep along the curved set of configurations that hold the position. Replaces `q` and the
    accounts where the result is better.
    """
    lower, upper, units, trial = limits[LOWER], limits[UPPER], limits[UNITS], work.present
    copy(begin, trial)
    hold_free(model, seed, targets, trial, work)
    if polish:
        for row in range(FIRST_YIELDING, YIELDING + 2):
            last = row > YIELDING  # in one loop, as each call would be compiled into this anew
            task = tasks[POSITION_ONLY if last else row]
            stand(model, trial, targets, task, work)
            report[POLISH_STEPS] += run_polish(
                model, lower, upper, units, targets, task,
                POLISHING_STEPS if last else SETTLING_STEPS, not last, trial, work,
            )  # fmt: skip
    else:
        fill_arcs(lower, upper, work.arcs)
        for row in (WHOLE, POSITION_ONLY):
            stand(model, trial, targets, tasks[row], work)
            for accelerate in (True, False):  # plain rounds settle where an error remains
                report[PASSES] += 2 * run_rounds(
                    model, lower, upper, units, targets, tasks[row], ACCELERATED_ROUNDS,
                    accelerate, trial, work,
                )  # fmt: skip
    bring_towards(seed, model, limits, trial)
    stand(model, trial, targets, tasks[WHOLE], work)
    if note(trial, tasks, work, q, report, apart):
        report[FINISHED_BY] = POLISH if polish else FABRIK


@kernel
def note(
    trial: Array,
    tasks: Array,
    work: Workspace | TreeWorkspace,
    q: Array,
    report: Array,
    apart: Array | None,
) -> bool:
    """Keep `trial` in `q` if it is the best so far, positions counting first."""
    value = merit_of(work.error, tasks[YIELDING], work)
    if not value < report[MERIT]:
        return False
    copy(trial, q)
    report[MERIT] = value
    account_for(work.error, report, apart)
    return True


@kernel
def account_for(error: Array, report: Array, apart: Array | None) -> None:
    """Write the errors of the tips, and the largest of them."""
    report[POSITION_ERROR] = largest_error(error, 0)
    report[ORIENTATION_ERROR] = largest_error(error, 3)
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
        if turns == 0 or model[i, IS_PRISMATIC] != 0.0 or has_follower(model, j):
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
def has_follower(model: Array, j: int) -> bool:
    """Whether a joint mimics the one with value number `j`."""
    for i in range(model.shape[0]):
        if model[i, FOLLOWS] != 0.0 and int(model[i, SOURCE]) == j:
            return True
    return False


@kernel
def weigh_errors_at(
    model: Array,
    limits: Array,
    tasks: Array,
    targets: Array,
    q: Array,
    report: Array,
    apart: Array | None,
    work: Workspace | TreeWorkspace,
) -> bool:
    """Write the errors at `q`; tell whether a limit stands in the way of less."""
    stand(model, q, targets, tasks, work)
    account_for(work.error, report, apart)
    report[STANDS_AT_LIMIT] = stands_at_limit(q, limits, AT_LIMIT)
    fill_columns(model, limits[UNITS], targets, tasks, work)
    weigh(work.error, tasks, work, work.weighted)
    for j in range(q.shape[0]):
        slope = inner(work.columns[j], work.weighted, error_count(work.error))
        if abs(slope) > 1e-9 and pushes_out(q[j], slope, limits[LOWER, j], limits[UPPER, j]):
            return True
    return False
