"""
The solve loop: attempts from the seed, then from elsewhere, and the closest there is.

An attempt is a few reaching rounds and, where allowed, the polish. The first ones stay near
the seed, so that an arm that follows a target keeps its configuration.

"""

import math

import numpy as np

from ..transforms import Array
from ._jit import kernel
from .frames import TURN
from .kinematics import link_frames
from .limits import LOWER, START_LOWER, START_UPPER, UNITS, UPPER
from .model import FOLLOWS, IS_SLIDE, SOURCE
from .polish import jacobian, product, pushes_out, run_polish, weigh_error
from .rounds import run_rounds
from .task import is_reached, merit, norm3, ORIENTATION_WEIGHT, tip_error

NOBODY, SEED, FABRIK, POLISH = 0, 1, 2, 3

PASSES, POLISH_STEPS, LAST_ATTEMPT, FINISHED_BY, MERIT, POSITION_ERROR, ORIENTATION_ERROR = range(
    7
)
REPORT_SIZE = 7

WHOLE, YIELDING, POSITION_ONLY = range(3)

NEAR = 1.0
NEIGHBOURHOOD = 0.5
NEAR_ATTEMPTS = 2
SEED_ATTEMPTS = 3
OPENING_ROUNDS = 1
ACCELERATED_ROUNDS = 60
POLISHING_STEPS = 40
SETTLING_STEPS = 20
YIELDING_WEIGHTS = (0.1, 0.01, 1e-3)


@kernel
def search(
    model: Array,
    limits: Array,
    target: Array,
    tasks: Array,
    polish: bool,
    seed: Array,
    first: int,
    count: int,
    q: Array,
    report: Array,
) -> bool:
    """
    Make attempts number `first` to `first + count - 1`; tell whether the task is reached.

    Attempts 0 and 1 stay near the seed, the second without rounds, as these may turn an elbow
    over; 2 starts at the seed, later ones elsewhere. Rows of `limits`: lower, upper, the range
    that other starts are drawn from, and the unit of each value. Rows of `tasks`: the whole task,
    the same with an orientation that yields to the position, and the position alone. Leaves the
    best configuration in `q` and an account in `report`.
    """
    n, m = seed.shape[0], model.shape[0] - 1
    frames, error, trial = np.empty((m + 1, 12)), np.empty(6), np.empty(n)
    lower, upper = limits[LOWER].copy(), limits[UPPER].copy()
    whole = tasks[WHOLE]
    link_frames(model, seed, frames)
    tip_error(frames[m], target, whole, error)
    near = merit(error, whole) <= NEAR * NEAR
    if first == 0:
        report[:] = 0.0
        report[MERIT] = math.inf
        note(seed, error, tasks, q, report)
        if is_reached(error, whole):
            report[FINISHED_BY] = SEED
            return True
    for number in range(first, first + count):
        stays = number < NEAR_ATTEMPTS
        if stays and not (near and (polish or number == 0)):
            continue
        for j in range(n):
            room = NEIGHBOURHOOD * limits[UNITS, j] if stays else math.inf
            lower[j] = max(limits[LOWER, j], seed[j] - room)
            upper[j] = min(limits[UPPER, j], seed[j] + room)
        report[LAST_ATTEMPT] = number
        start(number, seed, limits, trial)
        opening = 0 if stays and number > 0 else OPENING_ROUNDS
        who = attempt(
            model, lower, upper, limits[UNITS], target, whole, polish, opening, trial, report
        )
        bring_towards(seed, model, limits, trial)
        link_frames(model, trial, frames)
        tip_error(frames[m], target, whole, error)
        if is_reached(error, whole):
            report[MERIT] = math.inf
            note(trial, error, tasks, q, report)
            report[FINISHED_BY] = who
            return True
        if note(trial, error, tasks, q, report):
            report[FINISHED_BY] = who
    return False


@kernel
def attempt(
    model: Array,
    lower: Array,
    upper: Array,
    units: Array,
    target: Array,
    task: Array,
    polish: bool,
    opening: int,
    q: Array,
    report: Array,
) -> int:
    """
    Go from `q` towards the target as far as it leads; return who took the last step.

    With the polish after `opening` rounds, else in accelerated rounds to the end.
    """
    most = opening if polish else ACCELERATED_ROUNDS
    rounds = run_rounds(model, lower, upper, units, target, task, most, not polish, q)
    report[PASSES] += 2 * rounds
    if not polish:
        return FABRIK
    steps = run_polish(model, lower, upper, units, target, task, POLISHING_STEPS, False, q)
    report[POLISH_STEPS] += steps
    return POLISH if steps > 0 else FABRIK


@kernel
def settle(
    model: Array,
    limits: Array,
    target: Array,
    tasks: Array,
    polish: bool,
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
    n, m = begin.shape[0], model.shape[0] - 1
    lower, upper, units = limits[LOWER], limits[UPPER], limits[UNITS]
    frames, error, trial = np.empty((m + 1, 12)), np.empty(6), np.empty(n)
    trial[:] = begin
    if polish:
        task = tasks[WHOLE].copy()
        for weight in YIELDING_WEIGHTS:
            task[ORIENTATION_WEIGHT] = weight
            report[POLISH_STEPS] += run_polish(
                model, lower, upper, units, target, task, SETTLING_STEPS, True, trial
            )
        report[POLISH_STEPS] += run_polish(
            model, lower, upper, units, target, tasks[POSITION_ONLY], POLISHING_STEPS, False, trial
        )
    else:
        for row in (WHOLE, POSITION_ONLY):
            report[PASSES] += 2 * run_rounds(
                model, lower, upper, units, target, tasks[row], ACCELERATED_ROUNDS, True, trial
            )
    bring_towards(seed, model, limits, trial)
    link_frames(model, trial, frames)
    tip_error(frames[m], target, tasks[WHOLE], error)
    if note(trial, error, tasks, q, report):
        report[FINISHED_BY] = POLISH if polish else FABRIK


@kernel
def note(trial: Array, error: Array, tasks: Array, q: Array, report: Array) -> bool:
    """Keep `trial` in `q` if it is the best so far, the position counting first."""
    value = merit(error, tasks[YIELDING])
    if not value < report[MERIT]:
        return False
    q[:] = trial
    report[MERIT] = value
    report[POSITION_ERROR] = norm3(error, 0)
    report[ORIENTATION_ERROR] = norm3(error, 3)
    return True


@kernel
def start(number: int, seed: Array, limits: Array, q: Array) -> None:
    """Write where attempt `number` starts: the seed, then points spread over the limits."""
    for j in range(seed.shape[0]):
        if number < SEED_ATTEMPTS:
            q[j] = seed[j]
        else:
            scattered = math.sin(12.9898 * (number + 1) + 78.233 * (j + 1)) * 43758.5453
            share = scattered - math.floor(scattered)
            q[j] = limits[START_LOWER, j] + share * (
                limits[START_UPPER, j] - limits[START_LOWER, j]
            )


@kernel
def bring_towards(seed: Array, model: Array, limits: Array, q: Array) -> None:
    """Turn hinges by whole turns to where they are nearest to the seed, within the limits."""
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


@kernel
def has_follower(model: Array, j: int) -> bool:
    """Whether a joint mimics the one with value number `j`."""
    for i in range(model.shape[0] - 1):
        if model[i, FOLLOWS] != 0.0 and int(model[i, SOURCE]) == j:
            return True
    return False


@kernel
def weigh_up(
    model: Array, limits: Array, target: Array, task: Array, q: Array, report: Array
) -> bool:
    """Write the errors at `q` to `report`; tell whether a limit stands in the way of less."""
    n, m = q.shape[0], model.shape[0] - 1
    frames, error, columns = np.empty((m + 1, 12)), np.empty(6), np.empty((n, 6))
    link_frames(model, q, frames)
    tip_error(frames[m], target, task, error)
    report[POSITION_ERROR] = norm3(error, 0)
    report[ORIENTATION_ERROR] = norm3(error, 3)
    jacobian(model, frames, limits[UNITS], task, columns)
    weigh_error(error, task, error)
    for j in range(n):
        slope = product(columns[j], error)
        if abs(slope) > 1e-9 and pushes_out(q[j], slope, limits[LOWER, j], limits[UPPER, j]):
            return True
    return False
