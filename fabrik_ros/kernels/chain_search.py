"""The search for one tip, as Python calls it."""

import math

from ..transforms import Array
from ._jit import kernel
from .buffers import cut
from .frames import copy
from .limits import read_seed
from .search import (
    assess_at,
    COST,
    find_nearest_from,
    FINISHED_BY,
    make_tries,
    NOT_YET,
    ORIENTATION_ERROR,
    PASSES,
    POLISH_STEPS,
    POSITION_ERROR,
    REACHED,
    RESTARTS,
    SEED_NOT_FINITE,
    STANDS_AT_LIMIT,
    STATISTICS_SIZE,
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
    Read a target and a seed and make the first `count` tries, unless it is out of reach.

    Leaves the best configuration in `q`. Returns what is wrong with the input (codes of
    `target.py`), REACHED or NOT_YET, and the statistics of the search.
    """
    buffers = cut(rows, vectors, model.shape[0] - 1)
    statistics = buffers.statistics[:STATISTICS_SIZE]
    code = read(T, seed, limits, tasks, sphere, buffers.asked, buffers.pulled, buffers.begin)
    if code == 0:
        first = min(0, count)  # numba would compile `search` once more for the constant 0
        reached = search(
            model, limits, tasks, rows, vectors, polish, buffers.pulled, buffers.begin, first,
            count, q, statistics,
        )  # fmt: skip
        code = REACHED if reached else NOT_YET
    else:
        copy(buffers.begin, q)
        statistics[:] = 0.0
        statistics[COST] = math.inf
    return (
        code,
        statistics[POSITION_ERROR],
        statistics[ORIENTATION_ERROR],
        int(statistics[PASSES]),
        int(statistics[POLISH_STEPS]),
        int(statistics[RESTARTS]),
        int(statistics[FINISHED_BY]),
        statistics[STANDS_AT_LIMIT] != 0.0,
        statistics[COST],
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
    statistics: Array,
) -> bool:
    """Make tries as `make_tries` does."""
    buffers = cut(rows, vectors, model.shape[0] - 1)
    return make_tries(
        model, limits, tasks, target, seed, polish, first, count, q, statistics, None, buffers
    )


@kernel
def find_nearest(
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
    statistics: Array,
) -> None:
    """Bring the tip as near as it gets, as `find_nearest_from` does."""
    buffers = cut(rows, vectors, model.shape[0] - 1)
    find_nearest_from(
        model, limits, tasks, target, seed, polish, begin, q, statistics, None, buffers
    )


@kernel
def assess(
    model: Array,
    limits: Array,
    task: Array,
    rows: Array,
    vectors: Array,
    target: Array,
    q: Array,
    statistics: Array,
) -> bool:
    """Write the errors at `q` to `statistics`; tell whether a limit keeps them from falling."""
    buffers = cut(rows, vectors, model.shape[0] - 1)
    return assess_at(model, limits, task, target, q, statistics, None, buffers)
