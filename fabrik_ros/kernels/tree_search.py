"""
The solve loop of `search.py` for several tips.

The account of a search is that of one tip: errors are the largest of any tip.

"""

import math

from ..transforms import Array
from ._jit import kernel
from .arm_table import SOURCE
from .frames import copy
from .limits import LOWER, read_seed, stands_at_limit, START_LOWER, START_UPPER, UNITS, UPPER
from .polish import pushes_out
from .reaching import fill_arcs
from .search import (
    ACCELERATED_ROUNDS,
    AT_LIMIT,
    bring_towards,
    confine,
    FABRIK,
    FINISHED_BY,
    FIRST_YIELDING,
    MERIT,
    NEAR,
    NEAR_ATTEMPTS,
    NEIGHBOURHOOD,
    NOT_YET,
    OPENING_ROUNDS,
    ORIENTATION_ERROR,
    PASSES,
    POLISH,
    POLISH_STEPS,
    POLISHING_STEPS,
    POSITION_ERROR,
    POSITION_ONLY,
    REACHED,
    RESTARTS,
    scatter,
    SEED,
    SEED_ATTEMPTS,
    SEED_NOT_FINITE,
    SETTLING_STEPS,
    STANDS_AT_LIMIT,
    WHOLE,
    YIELDING,
)
from .target import NOT_FINITE, read_target
from .task import inner, norm3, POSITION_TOLERANCE
from .tree_buffers import cut_tree, TreeWorkspace
from .tree_iterations import run_tree_rounds, stand_tree
from .tree_polish import run_tree_polish, tree_jacobian
from .tree_reaching import weigh_joints
from .tree_task import all_reached, largest, total_merit, weigh_errors


@kernel
def solve(
    model: Array,
    limits: Array,
    tasks: Array,
    spheres: Array,
    weights: Array,
    rows: Array,
    lists: Array,
    vectors: Array,
    polish: bool,
    count: int,
    T: Array,
    seed: Array,
    q: Array,
    report: Array,
    apart: Array,
) -> int:
    """
    Read targets and a seed and make the first `count` attempts, unless a tip is out of reach.

    A target of NaN alone leaves its tip free. Leaves the best configuration in `q`, an account in
    `report`, and errors of position and orientation of each tip in `apart`, shape (k, 2). Returns
    what stands in the way (codes of `target.py`), REACHED or NOT_YET.
    """
    work = cut_tree(rows, lists, vectors, model.shape[0] - T.shape[0], T.shape[0])
    report[:] = 0.0
    report[MERIT] = math.inf
    code = read(model, T, seed, limits, tasks, spheres, weights, work)
    copy(work.begin, q)
    if code == 0:
        first = min(0, count)  # numba would compile `search` once more for the constant 0
        reached = search(
            model, limits, tasks, rows, lists, vectors, polish, first, count, q, report, apart
        )
        code = REACHED if reached else NOT_YET
    return code


@kernel
def read(
    model: Array,
    T: Array,
    seed: Array,
    limits: Array,
    tasks: Array,
    spheres: Array,
    weights: Array,
    work: TreeWorkspace,
) -> int:
    """
    Write targets and seed as the search takes them; returns what is wrong (`target.py`).

    Of tips that are out of reach those that are too far away come first. What a tip of weight 0
    cannot reach does not count.
    """
    if not read_seed(seed, limits, work.begin):
        return SEED_NOT_FINITE
    worst = 0
    for t in range(T.shape[0]):
        work.weights[t] = weights[t]
        code = read_target(
            T[t], spheres[t], tasks[WHOLE, t, POSITION_TOLERANCE], work.asked[t], work.pulled[t]
        )
        if code == NOT_FINITE and is_left_free(T[t]):
            work.weights[t] = 0.0
        elif code < 0:
            return code
        elif code > 0 and weights[t] > 0.0:
            worst = code if worst == 0 else min(worst, code)
    weigh_joints(model, work)
    return worst


@kernel
def is_left_free(T: Array) -> bool:
    """Whether a target is NaN all over."""
    free = True
    for r in range(4):
        for c in range(4):
            free = free and math.isnan(T[r, c])
    return free


@kernel
def search(
    model: Array,
    limits: Array,
    tasks: Array,
    rows: Array,
    lists: Array,
    vectors: Array,
    polish: bool,
    first: int,
    count: int,
    q: Array,
    report: Array,
    apart: Array,
) -> bool:
    """
    Make attempts number `first` to `first + count - 1`; tell whether the task is reached.

    Attempts are those of `search.search`; targets and seed are in the memory, as `read` left them.
    """
    tips = apart.shape[0]
    m = model.shape[0] - tips
    work = cut_tree(rows, lists, vectors, m, tips)
    seed, targets, trial, whole = work.begin, work.pulled, work.present, tasks[WHOLE]
    near = stand_tree(model, seed, targets, whole, work) <= NEAR * NEAR
    stands_at_seed = True
    if first == 0:
        note(seed, tasks, work, q, report, apart)
        if all_reached(work.error, whole):
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
        hold_free(model, seed, trial, work)
        if not (from_seed and stands_at_seed):
            stand_tree(model, trial, targets, whole, work)
        stands_at_seed = False
        opening = 0 if number == 0 else OPENING_ROUNDS
        who = attempt(model, limits, whole, polish, opening, trial, report, work)
        if bring_towards(seed, model[: m + 1], limits, trial):
            stand_tree(model, trial, targets, whole, work)
        reached = all_reached(work.error, whole)
        if reached:
            report[MERIT] = math.inf
        if note(trial, tasks, work, q, report, apart):
            report[FINISHED_BY] = who
        if reached:
            report[STANDS_AT_LIMIT] = stands_at_limit(q, limits, AT_LIMIT)
            return True
    return False


@kernel
def hold_free(model: Array, seed: Array, q: Array, work: TreeWorkspace) -> None:
    """Let joints that move none of the tips that count stand as in the seed."""
    moves = work.gradient
    moves[:] = 0.0
    for i in range(work.below.shape[0]):
        if work.below[i] > 0.0:
            moves[int(model[i, SOURCE])] = 1.0
    for j in range(q.shape[0]):
        if moves[j] == 0.0:
            q[j] = seed[j]


@kernel
def attempt(
    model: Array,
    limits: Array,
    tasks: Array,
    polish: bool,
    opening: int,
    q: Array,
    report: Array,
    work: TreeWorkspace,
) -> int:
    """
    Go from `q` towards the targets as far as it leads; return who took the last step.

    With the polish after `opening` rounds, else in accelerated rounds to the end.
    """
    lower, upper, units, targets = work.lower, work.upper, limits[UNITS], work.pulled
    most = opening if polish else ACCELERATED_ROUNDS
    if most > 0:
        fill_arcs(lower, upper, work.arcs)
        rounds = run_tree_rounds(
            model, lower, upper, units, targets, tasks, most, not polish, q, work
        )
        report[PASSES] += 2 * rounds
    if not polish:
        return FABRIK
    steps = run_tree_polish(
        model, lower, upper, units, targets, tasks, POLISHING_STEPS, False, q, work
    )
    report[POLISH_STEPS] += steps
    return POLISH if steps > 0 else FABRIK


@kernel
def settle(
    model: Array,
    limits: Array,
    tasks: Array,
    rows: Array,
    lists: Array,
    vectors: Array,
    polish: bool,
    begin: Array,
    q: Array,
    report: Array,
    apart: Array,
) -> None:
    """
    From `begin`, bring the tips as near as they get: positions first, then orientations.

    As `search.settle`. Replaces `q` and the accounts where the result is better.
    """
    tips = apart.shape[0]
    m = model.shape[0] - tips
    work = cut_tree(rows, lists, vectors, m, tips)
    lower, upper, units = limits[LOWER], limits[UPPER], limits[UNITS]
    targets, trial = work.pulled, work.present
    copy(begin, trial)
    hold_free(model, work.begin, trial, work)
    if polish:
        for row in range(FIRST_YIELDING, YIELDING + 2):
            last = row > YIELDING  # in one loop, as each call would be compiled into this anew
            task = tasks[POSITION_ONLY if last else row]
            stand_tree(model, trial, targets, task, work)
            report[POLISH_STEPS] += run_tree_polish(
                model, lower, upper, units, targets, task,
                POLISHING_STEPS if last else SETTLING_STEPS, not last, trial, work,
            )  # fmt: skip
    else:
        fill_arcs(lower, upper, work.arcs)
        for row in (WHOLE, POSITION_ONLY):
            stand_tree(model, trial, targets, tasks[row], work)
            for accelerate in (True, False):
                report[PASSES] += 2 * run_tree_rounds(
                    model, lower, upper, units, targets, tasks[row], ACCELERATED_ROUNDS,
                    accelerate, trial, work,
                )  # fmt: skip
    bring_towards(work.begin, model[: m + 1], limits, trial)
    stand_tree(model, trial, targets, tasks[WHOLE], work)
    if note(trial, tasks, work, q, report, apart):
        report[FINISHED_BY] = POLISH if polish else FABRIK


@kernel
def note(
    trial: Array, tasks: Array, work: TreeWorkspace, q: Array, report: Array, apart: Array
) -> bool:
    """Keep `trial` in `q` if it is the best so far, positions counting first."""
    value = total_merit(work.error, tasks[YIELDING], work.weights)
    if not value < report[MERIT]:
        return False
    copy(trial, q)
    report[MERIT] = value
    account_for(work, report, apart)
    return True


@kernel
def account_for(work: TreeWorkspace, report: Array, apart: Array) -> None:
    """Write the errors of the tips, and the largest of them."""
    report[POSITION_ERROR] = largest(work.error, apart.shape[0], 0)
    report[ORIENTATION_ERROR] = largest(work.error, apart.shape[0], 3)
    for t in range(apart.shape[0]):
        apart[t, 0] = norm3(work.error[t], 0)
        apart[t, 1] = norm3(work.error[t], 3)


@kernel
def weigh_up(
    model: Array,
    limits: Array,
    tasks: Array,
    rows: Array,
    lists: Array,
    vectors: Array,
    q: Array,
    report: Array,
    apart: Array,
) -> bool:
    """Account for the targets as asked for; tell whether a limit stands in the way of less."""
    tips = apart.shape[0]
    work = cut_tree(rows, lists, vectors, model.shape[0] - tips, tips)
    stand_tree(model, q, work.asked, tasks, work)
    account_for(work, report, apart)
    report[STANDS_AT_LIMIT] = stands_at_limit(q, limits, AT_LIMIT)
    tree_jacobian(model, limits[UNITS], work.asked, tasks, work)
    weigh_errors(work.error, tasks, work.weights, work.weighted)
    size = work.weighted.shape[0] - 1
    for j in range(q.shape[0]):
        slope = inner(work.columns[j], work.weighted, size)
        if abs(slope) > 1e-9 and pushes_out(q[j], slope, limits[LOWER, j], limits[UPPER, j]):
            return True
    return False
