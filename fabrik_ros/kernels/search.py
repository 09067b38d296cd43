"""
The solve loop: attempts from the seed, then from elsewhere, and the closest there is.

An attempt is a few reaching rounds and, where allowed, the polish. The first ones stay near
the seed, so that an arm that follows a target keeps its configuration.

"""

import math

from ..transforms import Array
from ._jit import kernel
from .arm_table import FOLLOWS, IS_SLIDE, SOURCE
from .buffers import cut, Workspace
from .frames import copy, TURN
from .iterations import run_rounds, stand
from .limits import (
    LOWER,
    read_seed,
    stands_at_limit,
    START_LOWER,
    START_UPPER,
    UNITS,
    UPPER,
)
from .polish import jacobian, pushes_out, run_polish
from .reaching import fill_arcs
from .target import read_target
from .task import (
    is_reached,
    merit,
    norm3,
    POSITION_TOLERANCE,
    product,
    weigh_error,
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
def solve(
    model: Array,
    limits: Array,
    tasks: Array,
    sphere: Array,
    rows: Array,
    vectors: Array,
    polish: bool,
    count: int,
    T: Array,
    seed: Array,
    q: Array,
) -> tuple[int, float, float, int, int, int, int, bool, float]:
    """
    Read a target and a seed and make the first `count` attempts, unless it is out of reach.

    Leaves the best configuration in `q`. Returns what stands in the way (codes of `target.py`),
    REACHED or NOT_YET, and the account that `search` gives.
    """
    work = cut(rows, vectors, model.shape[0] - 1)
    report = work.account[:REPORT_SIZE]
    code = read(T, seed, limits, tasks, sphere, work.asked, work.pulled, work.begin)
    if code == 0:
        first = min(0, count)  # numba would compile `search` once more for the constant 0
        reached = search(
            model, limits, tasks, rows, vectors, polish, work.pulled, work.begin, first, count, q,
            report,
        )  # fmt: skip
        code = REACHED if reached else NOT_YET
    else:
        copy(work.begin, q)
        report[:] = 0.0
        report[MERIT] = math.inf
    return (
        code,
        report[POSITION_ERROR],
        report[ORIENTATION_ERROR],
        int(report[PASSES]),
        int(report[POLISH_STEPS]),
        int(report[RESTARTS]),
        int(report[FINISHED_BY]),
        report[STANDS_AT_LIMIT] != 0.0,
        report[MERIT],
    )


@kernel
def read(
    T: Array,
    seed: Array,
    limits: Array,
    tasks: Array,
    sphere: Array,
    asked: Array,
    pulled: Array,
    begin: Array,
) -> int:
    """Write target and seed as the search takes them; returns what is wrong (`target.py`)."""
    if not read_seed(seed, limits, begin):
        return SEED_NOT_FINITE
    return read_target(T, sphere, tasks[WHOLE, POSITION_TOLERANCE], asked, pulled)


@kernel
def search(
    model: Array,
    limits: Array,
    tasks: Array,
    rows: Array,
    vectors: Array,
    polish: bool,
    target: Array,
    seed: Array,
    first: int,
    count: int,
    q: Array,
    report: Array,
) -> bool:
    """
    Make attempts number `first` to `first + count - 1`; tell whether the task is reached.

    The first `NEAR_ATTEMPTS` stay near the seed: one starts there, or where it may polish two, the
    first without rounds, and the others around it, which frees an arm that is stretched or at a
    limit. The next one starts at the seed again and may go anywhere, later ones start anywhere.
    Rows of `limits`: lower, upper, the range that other starts are drawn from, and the unit of
    each value. Rows of `tasks`: the whole task, the position alone, and the whole task with an
    orientation that yields more and more to the position. Leaves the best configuration in `q` and
    an account in `report`.
    """
    work = cut(rows, vectors, model.shape[0] - 1)
    error, trial, whole = work.error, work.present, tasks[WHOLE]
    near = stand(model, seed, target, whole, work) <= NEAR * NEAR
    stands_at_seed = True
    if first == 0:
        report[:] = 0.0
        report[MERIT] = math.inf
        note(seed, error, tasks, q, report)
        if is_reached(error, whole):
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
        if not (from_seed and stands_at_seed):
            stand(model, trial, target, whole, work)
        stands_at_seed = False
        opening = 0 if number == 0 else OPENING_ROUNDS
        who = attempt(model, limits, target, whole, polish, opening, trial, report, work)
        if bring_towards(seed, model, limits, trial):
            stand(model, trial, target, whole, work)
        if is_reached(error, whole):
            report[MERIT] = math.inf
            note(trial, error, tasks, q, report)
            report[FINISHED_BY] = who
            report[STANDS_AT_LIMIT] = stands_at_limit(q, limits, AT_LIMIT)
            return True
        if note(trial, error, tasks, q, report):
            report[FINISHED_BY] = who
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
    target: Array,
    task: Array,
    polish: bool,
    opening: int,
    q: Array,
    report: Array,
    work: Workspace,
) -> int:
    """
    Go from `q` towards the target as far as it leads; return who took the last step.

    With the polish after `opening` rounds, else in accelerated rounds to the end.
    """
    lower, upper, units = work.lower, work.upper, limits[UNITS]
    most = opening if polish else ACCELERATED_ROUNDS
    if most > 0:
        fill_arcs(lower, upper, work.arcs)
        rounds = run_rounds(model, lower, upper, units, target, task, most, not polish, q, work)
        report[PASSES] += 2 * rounds
    if not polish:
        return FABRIK
    steps = run_polish(model, lower, upper, units, target, task, POLISHING_STEPS, False, q, work)
    report[POLISH_STEPS] += steps
    return POLISH if steps > 0 else FABRIK


@kernel
def settle(
    model: Array,
    limits: Array,
    tasks: Array,
    rows: Array,
    vectors: Array,
    polish: bool,
    target: Array,
    seed: Array,
    begin: Array,
    q: Array,
    report: Array,
) -> None:
    """
    From `begin`, bring the tip as near as it gets: the position first, then the orientation.

    The polish lets the orientation yield by and by: with little weight from the start it would
    creep along the curved set of configurations that hold the position. Replaces `q` and the
    account in `report` where the result is better.
    """
    lower, upper, units = limits[LOWER], limits[UPPER], limits[UNITS]
    work = cut(rows, vectors, model.shape[0] - 1)
    trial = work.present
    copy(begin, trial)
    if polish:
        for row in range(FIRST_YIELDING, YIELDING + 1):
            stand(model, trial, target, tasks[row], work)
            report[POLISH_STEPS] += run_polish(
                model, lower, upper, units, target, tasks[row], SETTLING_STEPS, True, trial, work
            )
        stand(model, trial, target, tasks[POSITION_ONLY], work)
        report[POLISH_STEPS] += run_polish(
            model, lower, upper, units, target, tasks[POSITION_ONLY], POLISHING_STEPS, False,
            trial, work,
        )  # fmt: skip
    else:
        fill_arcs(lower, upper, work.arcs)
        for row in (WHOLE, POSITION_ONLY):
            stand(model, trial, target, tasks[row], work)
            for accelerate in (True, False):  # plain rounds settle where an error remains
                report[PASSES] += 2 * run_rounds(
                    model, lower, upper, units, target, tasks[row], ACCELERATED_ROUNDS, accelerate,
                    trial, work,
                )  # fmt: skip
    bring_towards(seed, model, limits, trial)
    stand(model, trial, target, tasks[WHOLE], work)
    if note(trial, work.error, tasks, q, report):
        report[FINISHED_BY] = POLISH if polish else FABRIK


@kernel
def note(trial: Array, error: Array, tasks: Array, q: Array, report: Array) -> bool:
    """Keep `trial` in `q` if it is the best so far, the position counting first."""
    value = merit(error, tasks[YIELDING])
    if not value < report[MERIT]:
        return False
    copy(trial, q)
    report[MERIT] = value
    report[POSITION_ERROR] = norm3(error, 0)
    report[ORIENTATION_ERROR] = norm3(error, 3)
    return True


@kernel
def scatter(number: int, lower: Array, upper: Array, q: Array) -> None:
    """Write one of the points that are spread over a box, the same for each number."""
    for j in range(q.shape[0]):
        scattered = math.sin(12.9898 * (number + 1) + 78.233 * (j + 1)) * 43758.5453
        q[j] = lower[j] + (scattered - math.floor(scattered)) * (upper[j] - lower[j])


@kernel
def bring_towards(seed: Array, model: Array, limits: Array, q: Array) -> bool:
    """Turn hinges by whole turns to nearest to the seed within the limits; tell whether any."""
    turned = False
    for i in range(model.shape[0] - 1):
        j = int(model[i, SOURCE])
        turns = round((seed[j] - q[j]) / TURN)
        if turns == 0 or model[i, IS_SLIDE] != 0.0 or has_follower(model, j):
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
    for i in range(model.shape[0] - 1):
        if model[i, FOLLOWS] != 0.0 and int(model[i, SOURCE]) == j:
            return True
    return False


@kernel
def weigh_up(
    model: Array,
    limits: Array,
    task: Array,
    rows: Array,
    vectors: Array,
    target: Array,
    q: Array,
    report: Array,
) -> bool:
    """Write the errors at `q` to `report`; tell whether a limit stands in the way of less."""
    work = cut(rows, vectors, model.shape[0] - 1)
    error, columns = work.error, work.columns
    stand(model, q, target, task, work)
    report[POSITION_ERROR] = norm3(error, 0)
    report[ORIENTATION_ERROR] = norm3(error, 3)
    report[STANDS_AT_LIMIT] = stands_at_limit(q, limits, AT_LIMIT)
    jacobian(model, work.frames, target, error, limits[UNITS], task, columns)
    weigh_error(error, task, error)
    for j in range(q.shape[0]):
        slope = product(columns[j], error)
        if abs(slope) > 1e-9 and pushes_out(q[j], slope, limits[LOWER, j], limits[UPPER, j]):
            return True
    return False
