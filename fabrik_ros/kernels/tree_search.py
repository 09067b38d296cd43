"""
The search for several tips, as Python calls it.

The account of a search is that of one tip: errors are the largest of any tip.

"""

import math

from ..transforms import Array
from ._jit import kernel
from .frames import copy
from .limits import read_seed
from .search import (
    make_attempts,
    MERIT,
    NOT_YET,
    REACHED,
    SEED_NOT_FINITE,
    settle_from,
    weigh_errors_at,
    WHOLE,
)
from .target import NOT_FINITE, read_target
from .task import POSITION_TOLERANCE
from .tree_buffers import cut_tree, TreeWorkspace
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
    Make attempts as `make_attempts` does.

    Targets and seed are in the memory, as `read` left them.
    """
    tips = apart.shape[0]
    work = cut_tree(rows, lists, vectors, model.shape[0] - tips, tips)
    return make_attempts(
        model, limits, tasks, work.pulled, work.begin, polish, first, count, q, report, apart, work
    )


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
    """Bring the tips as near as they get, as `settle_from` does."""
    tips = apart.shape[0]
    work = cut_tree(rows, lists, vectors, model.shape[0] - tips, tips)
    settle_from(
        model, limits, tasks, work.pulled, work.begin, polish, begin, q, report, apart, work
    )


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
    return weigh_errors_at(model, limits, tasks, work.asked, q, report, apart, work)
