"""
FABRIK rounds, one pass each way, and their acceleration.

A round is a fixed-point map q -> g(q) that converges linearly. The acceleration looks back at the
last places, where rounds began and where they ended, and combines the steps between them so that
what these did to the error cancels, in the least-squares sense, what the tip still lacks. It uses
nothing but those places and their errors: no Jacobian, no matrix of the arm.

Source: Washio & Oosterlee, "Krylov subspace acceleration for nonlinear multigrid schemes", ETNA 6
(1997), also known as nonlinear GMRES; a relative of Anderson's method, which cancels g(q) - q.

"""

from ..transforms import Array
from ._jit import kernel
from .buffers import DEPTH, Workspace
from .frames import copy
from .task import inner
from .tips import are_reached, error_count, find_errors, make_passes, merit_of, stand, weigh
from .tree_buffers import TreeWorkspace

LONGEST_STEP = 4.0
SAME_DIRECTION = 1e-10
PATIENCE = 7
WORTHWHILE = 0.9


@kernel
def run_rounds(
    model: Array,
    lower: Array,
    upper: Array,
    units: Array,
    targets: Array,
    tasks: Array,
    most: int,
    accelerate: bool,
    q: Array,
    work: Workspace | TreeWorkspace,
) -> int:
    """
    Run rounds from `q`, at most `most`, and leave the best configuration in `q`.

    The arm stands at `q` before and after, as `stand` writes it; limits are in `work.arcs` too.
    Stops when the task is reached, or when the error has not fallen by a tenth in `PATIENCE`
    rounds. Returns the number of rounds.
    """
    error, best, size = work.error, work.best, error_count(work.error)
    now = merit_of(error, tasks, work)
    best_merit, mark, since_mark, kept, done = now, now, 0, 0, 0
    copy(q, best)
    while done < most and since_mark < PATIENCE and not are_reached(error, tasks):
        done += 1
        if accelerate:
            make_room(work)
            remember(q, error, tasks, 1, work)
            kept = min(kept + 2, DEPTH + 1)
        make_passes(model, lower, upper, targets, tasks, q, work)
        find_errors(targets, tasks, work, error)
        now = merit_of(error, tasks, work)
        if accelerate and not are_reached(error, tasks):
            best_merit = keep(q, now, best, best_merit)
            remember(q, error, tasks, 0, work)
            combine(lower, upper, units, kept, size, q, work)
            now = stand(model, q, targets, tasks, work)
        best_merit = keep(q, now, best, best_merit)
        since_mark += 1
        if best_merit < WORTHWHILE * WORTHWHILE * mark:
            mark, since_mark = best_merit, 0
    if now > best_merit:
        copy(best, q)
        stand(model, q, targets, tasks, work)
    return done


@kernel
def keep(q: Array, now: float, best: Array, best_merit: float) -> float:
    """Keep `q` in `best` if its merit `now` is the least so far; return the least."""
    if now < best_merit:
        copy(q, best)
        return now
    return best_merit


@kernel
def make_room(work: Workspace | TreeWorkspace) -> None:
    """Make room in the memory for the two places of a round, where it ends and where it begins."""
    for k in range(DEPTH, 1, -1):
        copy(work.places[k - 2], work.places[k])
        copy(work.errors[k - 2], work.errors[k])


@kernel
def remember(
    q: Array, error: Array, tasks: Array, k: int, work: Workspace | TreeWorkspace
) -> None:
    """Write a place and its errors to row `k` of the memory."""
    copy(q, work.places[k])
    weigh(error, tasks, work, work.errors[k])


@kernel
def combine(
    lower: Array,
    upper: Array,
    units: Array,
    kept: int,
    size: int,
    q: Array,
    work: Workspace | TreeWorkspace,
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
        work.places, work.errors, work.moves, work.gains, work.weighted,
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
    """Take a share of a move off `q`, and what it did off the error."""
    for j in range(q.shape[0]):
        q[j] -= share * move[j]
    for r in range(size):
        error[r] -= share * gain[r]
