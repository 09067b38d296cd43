"""
FABRIK iterations, one pass each way, and their acceleration.

An iteration is a fixed-point map q -> g(q) that converges linearly. The acceleration remembers the
last configurations, where iterations began and where they ended, and combines the steps between
them so that their effect on the error cancels the present error in the least-squares sense. It
needs only these configurations and their errors: no Jacobian, no matrix of the arm.

Source: Washio & Oosterlee, "Krylov subspace acceleration for nonlinear multigrid schemes", ETNA 6
(1997), also known as nonlinear GMRES; a relative of Anderson's method, which cancels g(q) - q.

"""

from ..transforms import Array
from ._jit import kernel
from .buffers import Buffers, DEPTH
from .frames import copy
from .task import inner
from .tips import are_reached, cost_of, error_count, evaluate, find_errors, make_passes, weigh
from .tree_buffers import TreeBuffers

LONGEST_STEP = 4.0
"""Longest step of the acceleration, in units of the joint values [1]."""
SAME_DIRECTION = 1e-10
"""A step is not independent if less than this share of its squared effect remains [1]."""
IDLE_ITERATIONS = 7
"""Iterations without a worthwhile decrease after which a run ends."""
DECREASED_SHARE = 0.9
"""An error below this share of the last mark is a worthwhile decrease [1]."""


@kernel
def run_iterations(
    model: Array,
    lower: Array,
    upper: Array,
    units: Array,
    targets: Array,
    tasks: Array,
    most: int,
    accelerate: bool,
    q: Array,
    buffers: Buffers | TreeBuffers,
) -> int:
    """
    Run iterations from `q`, at most `most`, and leave the best configuration in `q`.

    Frames and errors are those at `q` before and after, as `evaluate` writes them; limits are in
    `buffers.arcs` too. Stops when the task is reached, or when the error has not fallen by a tenth
    in `IDLE_ITERATIONS` iterations. Returns the number of iterations.
    """
    error, best, size = buffers.error, buffers.best, error_count(buffers.error)
    now = cost_of(error, tasks, buffers)
    best_cost, mark, since_mark, kept, done = now, now, 0, 0, 0
    copy(q, best)
    while done < most and since_mark < IDLE_ITERATIONS and not are_reached(error, tasks):
        done += 1
        if accelerate:
            shift_memory(buffers)
            remember(q, error, tasks, 1, buffers)
            kept = min(kept + 2, DEPTH + 1)
        make_passes(model, lower, upper, targets, tasks, q, buffers)
        find_errors(targets, tasks, buffers, error)
        now = cost_of(error, tasks, buffers)
        if accelerate and not are_reached(error, tasks):
            best_cost = keep(q, now, best, best_cost)
            remember(q, error, tasks, 0, buffers)
            combine(lower, upper, units, kept, size, q, buffers)
            now = evaluate(model, q, targets, tasks, buffers)
        best_cost = keep(q, now, best, best_cost)
        since_mark += 1
        if best_cost < DECREASED_SHARE * DECREASED_SHARE * mark:
            mark, since_mark = best_cost, 0
    if now > best_cost:
        copy(best, q)
        evaluate(model, q, targets, tasks, buffers)
    return done


@kernel
def keep(q: Array, now: float, best: Array, best_cost: float) -> float:
    """Keep `q` in `best` if its cost `now` is the least so far; return the least."""
    if now < best_cost:
        copy(q, best)
        return now
    return best_cost


@kernel
def shift_memory(buffers: Buffers | TreeBuffers) -> None:
    """Shift the remembered configurations by two: an iteration adds its beginning and its end."""
    for k in range(DEPTH, 1, -1):
        copy(buffers.places[k - 2], buffers.places[k])
        copy(buffers.errors[k - 2], buffers.errors[k])


@kernel
def remember(q: Array, error: Array, tasks: Array, k: int, buffers: Buffers | TreeBuffers) -> None:
    """Write a place and its errors to row `k` of the memory."""
    copy(q, buffers.places[k])
    weigh(error, tasks, buffers, buffers.errors[k])


@kernel
def combine(
    lower: Array,
    upper: Array,
    units: Array,
    kept: int,
    size: int,
    q: Array,
    buffers: Buffers | TreeBuffers,
) -> None:
    """
    Write to `q` the combination of the remembered places whose error is least, were it linear.

    The steps from place to place, newest first, are made independent of each other (modified
    Gram-Schmidt on what they did to the error), and each is undone as far as that takes the error
    down. A step that does nothing new is left out. The newest place alone where the combination
    lies too far from it. An error has `size` entries; what a step did has its square behind them.
    """
    n, used, longest = q.shape[0], 0, 0.0
    places, errors, moves, gains, left = (
        buffers.places, buffers.errors, buffers.moves, buffers.gains, buffers.weighted,
    )  # fmt: skip
    copy(places[0], q)
    for r in range(size):
        left[r] = errors[0, r]
    for k in range(kept - 1):
        move, gain = moves[used], gains[used]
        for j in range(n):
            move[j] = places[k, j] - places[k + 1, j]
        for r in range(size):
            gain[r] = errors[k, r] - errors[k + 1, r]
        before = inner(gain, gain, size)
        for i in range(used):
            share = inner(gain, gains[i], size) / gains[i, size]
            take(share, moves[i], gains[i], size, move, gain)
        square = inner(gain, gain, size)
        if square > SAME_DIRECTION * before:
            take(inner(left, gain, size) / square, move, gain, size, q, left)
            gain[size] = square
            used += 1
    for j in range(n):
        q[j] = min(max(q[j], lower[j]), upper[j])
        longest = max(longest, abs(q[j] - places[0, j]) / units[j])
    if longest > LONGEST_STEP:
        copy(places[0], q)


@kernel
def take(share: float, move: Array, gain: Array, size: int, q: Array, error: Array) -> None:
    """Subtract a share of a step from `q`, and its effect from the error, in place."""
    for j in range(q.shape[0]):
        q[j] -= share * move[j]
    for r in range(size):
        error[r] -= share * gain[r]
