"""
The search for several tips, as Python calls it.

Errors in the statistics are the largest of any tip.

"""

import math

from ..transforms import Array
from ._jit import kernel
from .frames import copy
from .limits import read_seed
from .search import (
    assess_at,
    COST,
    find_nearest_from,
    make_tries,
    NOT_YET,
    REACHED,
    SEED_NOT_FINITE,
    WHOLE,
)
from .target import NOT_FINITE, read_target
from .task import POSITION_TOLERANCE
from .tree_buffers import cut_tree, TreeBuffers
from .tree_reaching import weigh_joints


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
    statistics: Array,
    apart: Array,
) -> int:
    """
    Read targets and a seed and make the first `count` tries, unless a tip is out of reach.

    A target of NaN alone leaves its tip unconstrained. Leaves the best configuration in `q`, what
    was done in `statistics`, and errors of position and orientation of each tip in `apart`, shape
    (k, 2). Returns what is wrong with the input (codes of `target.py`), REACHED or NOT_YET.
    """
    buffers = cut_tree(rows, lists, vectors, model.shape[0] - T.shape[0], T.shape[0])
    statistics[:] = 0.0
    statistics[COST] = math.inf
    code = read(model, T, seed, limits, tasks, spheres, weights, buffers)
    copy(buffers.begin, q)
    if code == 0:
        first = min(0, count)  # numba would compile `search` once more for the constant 0
        reached = search(
            model, limits, tasks, rows, lists, vectors, polish, first, count, q, statistics, apart
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
    buffers: TreeBuffers,
) -> int:
    """
    Write targets and seed as the search takes them; returns what is wrong (`target.py`).

    Of tips that are out of reach those that are too far away come first. What a tip of weight 0
    cannot reach does not count.
    """
    if not read_seed(seed, limits, buffers.begin):
        return SEED_NOT_FINITE
    worst = 0
    for t in range(T.shape[0]):
        buffers.weights[t] = weights[t]
        code = read_target(
            T[t],
            spheres[t],
            tasks[WHOLE, t, POSITION_TOLERANCE],
            buffers.asked[t],
            buffers.pulled[t],
        )
        if code == NOT_FINITE and is_unconstrained(T[t]):
            buffers.weights[t] = 0.0
        elif code < 0:
            return code
        elif code > 0 and weights[t] > 0.0:
            worst = code if worst == 0 else min(worst, code)
    weigh_joints(model, buffers)
    return worst


@kernel
def is_unconstrained(T: Array) -> bool:
    """Whether a target is NaN all over."""
    unconstrained = True
    for r in range(4):
        for c in range(4):
            unconstrained = unconstrained and math.isnan(T[r, c])
    return unconstrained


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
    statistics: Array,
    apart: Array,
) -> bool:
    """
    Make tries as `make_tries` does.

    Targets and seed are in the memory, as `read` left them.
    """
    tips = apart.shape[0]
    buffers = cut_tree(rows, lists, vectors, model.shape[0] - tips, tips)
    return make_tries(
        model,
        limits,
        tasks,
        buffers.pulled,
        buffers.begin,
        polish,
        first,
        count,
        q,
        statistics,
        apart,
        buffers,
    )


@kernel
def find_nearest(
    model: Array,
    limits: Array,
    tasks: Array,
    rows: Array,
    lists: Array,
    vectors: Array,
    polish: bool,
    begin: Array,
    q: Array,
    statistics: Array,
    apart: Array,
) -> None:
    """Bring the tips as near as they get, as `find_nearest_from` does."""
    tips = apart.shape[0]
    buffers = cut_tree(rows, lists, vectors, model.shape[0] - tips, tips)
    find_nearest_from(
        model,
        limits,
        tasks,
        buffers.pulled,
        buffers.begin,
        polish,
        begin,
        q,
        statistics,
        apart,
        buffers,
    )


@kernel
def assess(
    model: Array,
    limits: Array,
    tasks: Array,
    rows: Array,
    lists: Array,
    vectors: Array,
    q: Array,
    statistics: Array,
    apart: Array,
) -> bool:
    """Write the errors to the targets as asked for; tell whether a limit keeps them high."""
    tips = apart.shape[0]
    buffers = cut_tree(rows, lists, vectors, model.shape[0] - tips, tips)
    return assess_at(model, limits, tasks, buffers.asked, q, statistics, apart, buffers)
