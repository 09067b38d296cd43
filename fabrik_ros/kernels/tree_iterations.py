"""FABRIK rounds for several tips, and their acceleration: as for one, errors stacked."""

from ..transforms import Array
from ._jit import kernel
from .arm_table import SOURCE
from .buffers import DEPTH
from .frames import copy
from .iterations import combine, keep, make_room, PATIENCE, WORTHWHILE
from .kinematics import joint_value, move_joint
from .tree_buffers import TreeWorkspace
from .tree_kinematics import frame_before
from .tree_reaching import base_to_tips, tips_to_base
from .tree_task import all_reached, tip_errors, total_merit, weigh_errors


@kernel
def run_tree_rounds(
    model: Array,
    lower: Array,
    upper: Array,
    units: Array,
    targets: Array,
    tasks: Array,
    most: int,
    accelerate: bool,
    q: Array,
    work: TreeWorkspace,
) -> int:
    """
    Run rounds from `q`, at most `most`, and leave the best configuration in `q`.

    The arms stand at `q` before and after, as `stand_tree` writes it; limits are in `work.arcs`
    too. Stops as `run_rounds` does. Returns the number of rounds.
    """
    error, weights, best, size = work.error, work.weights, work.best, work.weighted.shape[0] - 1
    now = total_merit(error, tasks, weights)
    best_merit, mark, since_mark, kept, done = now, now, 0, 0, 0
    copy(q, best)
    while done < most and since_mark < PATIENCE and not all_reached(error, tasks):
        done += 1
        if accelerate:
            make_room(work)
            remember_tree(q, tasks, 1, work)
            kept = min(kept + 2, DEPTH + 1)
        tips_to_base(model, lower, upper, targets, tasks, q, work)
        base_to_tips(model, lower, upper, tasks, q, work)
        tip_errors(work.frames, targets, tasks, weights, error)
        now = total_merit(error, tasks, weights)
        if accelerate and not all_reached(error, tasks):
            best_merit = keep(q, now, best, best_merit)
            remember_tree(q, tasks, 0, work)
            combine(lower, upper, units, kept, size, q, work)
            now = stand_tree(model, q, targets, tasks, work)
        best_merit = keep(q, now, best, best_merit)
        since_mark += 1
        if best_merit < WORTHWHILE * WORTHWHILE * mark:
            mark, since_mark = best_merit, 0
    if now > best_merit:
        copy(best, q)
        stand_tree(model, q, targets, tasks, work)
    return done


@kernel
def stand_tree(model: Array, q: Array, targets: Array, tasks: Array, work: TreeWorkspace) -> float:
    """Write how the arms stand at `q` and what their tips lack, and return the merit of that."""
    frames, joints = work.frames, work.joints
    for i in range(model.shape[0]):
        frame_before(model, i, frames, frames[i])
        if model[i, SOURCE] >= 0.0:
            copy(frames[i], joints[i])
            move_joint(model[i], joint_value(model[i], q), frames[i])
    tip_errors(frames, targets, tasks, work.weights, work.error)
    return total_merit(work.error, tasks, work.weights)


@kernel
def remember_tree(q: Array, tasks: Array, k: int, work: TreeWorkspace) -> None:
    """Write a place and its errors to row `k` of the memory."""
    copy(q, work.places[k])
    weigh_errors(work.error, tasks, work.weights, work.errors[k])
