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
from .kinematics import joint_and_link_frames
from .reaching import base_to_tip, tip_to_base
from .task import inner, is_reached, merit, tip_error, weigh_error
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
    target: Array,
    task: Array,
    most: int,
    accelerate: bool,
    q: Array,
    work: Workspace,
) -> int:
    """
    Run rounds from `q`, at most `most`, and leave the best configuration in `q`.

    The arm stands at `q` before and after, as `stand` writes it; limits are in `work.arcs` too.
    Stops when the task is reached, or when the error has not fallen by a tenth in `PATIENCE`
    rounds. Returns the number of rounds.
    """
    m = model.shape[0] - 1
    frames, error, best = work.frames, work.error, work.best
    now = merit(error, task)
    best_merit, mark, since_mark, kept, done = now, now, 0, 0, 0
    copy(q, best)
    while done < most and since_mark < PATIENCE and not is_reached(error, task):
        done += 1
        if accelerate:
            make_room(work)
            remember(q, error, task, 1, work)
            kept = min(kept + 2, DEPTH + 1)
        tip_to_base(model, lower, upper, target, task, q, work)
        base_to_tip(model, lower, upper, task, q, work)
        tip_error(frames[m], target, task, error)
        now = merit(error, task)
        if accelerate and not is_reached(error, task):
            best_merit = keep(q, now, best, best_merit)
            remember(q, error, task, 0, work)
            combine(lower, upper, units, kept, 6, q, work)
            now = stand(model, q, target, task, work)
        best_merit = keep(q, now, best, best_merit)
        since_mark += 1
        if best_merit < WORTHWHILE * WORTHWHILE * mark:
            mark, since_mark = best_merit, 0
    if now > best_merit:
        copy(best, q)
        stand(model, q, target, task, work)
    return done


@kernel
def stand(model: Array, q: Array, target: Array, task: Array, work: Workspace) -> float:
    """Write how the arm stands at `q` and what it lacks, and return the merit of that."""
    joint_and_link_frames(model, q, work.joints, work.frames)
    tip_error(work.frames[model.shape[0] - 1], target, task, work.error)
    return merit(work.error, task)


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
def remember(q: Array, error: Array, task: Array, k: int, work: Workspace) -> None:
    """Write a place and its error to row `k` of the memory."""
    copy(q, work.places[k])
    weigh_error(error, task, work.errors[k])


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
