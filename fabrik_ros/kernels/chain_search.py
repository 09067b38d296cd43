"""The search for one tip, as Python calls it."""

import math

from ..transforms import Array
from ._jit import kernel
from .buffers import cut
from .frames import copy
from .limits import read_seed
from .search import (
    FINISHED_BY,
    make_attempts,
    MERIT,
    NOT_YET,
    ORIENTATION_ERROR,
    PASSES,
    POLISH_STEPS,
    POSITION_ERROR,
    REACHED,
    REPORT_SIZE,
    RESTARTS,
    SEED_NOT_FINITE,
    settle_from,
    STANDS_AT_LIMIT,
    weigh_errors_at,
    WHOLE,
)
from .target import read_target
from .task import POSITION_TOLERANCE


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
    """Make attempts as `make_attempts` does."""
    work = cut(rows, vectors, model.shape[0] - 1)
    return make_attempts(
        model, limits, tasks, target, seed, polish, first, count, q, report, None, work
    )


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
    """Bring the tip as near as it gets, as `settle_from` does."""
    work = cut(rows, vectors, model.shape[0] - 1)
    settle_from(model, limits, tasks, target, seed, polish, begin, q, report, None, work)


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
    return weigh_errors_at(model, limits, task, target, q, report, None, work)
