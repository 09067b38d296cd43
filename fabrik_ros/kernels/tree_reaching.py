"""
The two reaching passes for several arms on one base.

They are those of `reaching.py`, with two additions. A link with several branches is asked by each
of them to be somewhere else: in the pass to the base it goes to the weighted mean of these frames,
of the places and of the turns, as FABRIK puts a sub-base on the centroid. And in the pass to the
tips a joint lays all that hangs below it, all branches together, where they should be.

Source: Aristidou & Lasenby, "FABRIK: a fast, iterative solver for the inverse kinematics
problem", Graphical Models 73 (2011), section 4.4, for sub-bases.

"""

import math

from ..transforms import Array
from ._jit import kernel
from .arm_table import IS_MIMIC, IS_PRISMATIC, MULTIPLIER, OFFSET, POSITION, SOURCE
from .frames import (
    compose_inverse,
    copy,
    rotate_frame,
    rotation_between,
)
from .kinematics import joint_value, move_joint
from .reaching import (
    add_frame,
    add_point,
    add_target,
    best_shift,
    best_turn,
    clamp_turn,
    MOMENTS,
    unmove,
)
from .task import nearest_accepted, ORIENTATION_RADIUS
from .tree_buffers import TreeBuffers
from .tree_kinematics import frame_before
from .tree_model import PARENT

COUNT = 9
WEIGHT, SHIFT, TURNED = 0, 1, 4


@kernel
def weigh_joints(model: Array, buffers: TreeBuffers) -> None:
    """Write how much the heaviest tip below each joint counts."""
    tips = buffers.weights.shape[0]
    m = model.shape[0] - tips
    buffers.below[:] = 0.0
    for i in range(model.shape[0] - 1, -1, -1):
        parent = int(model[i, PARENT])
        if parent >= 0:
            weight = buffers.weights[i - m] if i >= m else buffers.below[i]
            buffers.below[parent] = max(buffers.below[parent], weight)


@kernel
def hold_joints_of_unconstrained_tips(
    model: Array, seed: Array, q: Array, buffers: TreeBuffers
) -> None:
    """Keep joints at the seed that move none of the tips that count."""
    moves = buffers.gradient
    moves[:] = 0.0
    for i in range(buffers.below.shape[0]):
        if buffers.below[i] > 0.0:
            moves[int(model[i, SOURCE])] = 1.0
    for j in range(q.shape[0]):
        if moves[j] == 0.0:
            q[j] = seed[j]


@kernel
def sum_above(model: Array, frames: Array, tasks: Array, sums: Array) -> None:
    """Moments and count of the base frame and the joint centres before each joint."""
    for i in range(sums.shape[0]):
        parent = int(model[i, PARENT])
        if parent < 0:
            sums[i, :COUNT] = 0.0
            add_point(sums[i], model[i, POSITION], model[i, POSITION + 1], model[i, POSITION + 2])
            add_frame(sums[i], tasks[0, ORIENTATION_RADIUS])
            sums[i, COUNT] = 1.0
        else:
            copy(sums[parent], sums[i])
            p = frames[parent]
            add_point(sums[i], p[POSITION], p[POSITION + 1], p[POSITION + 2])
            sums[i, COUNT] += 1.0


@kernel
def sum_below(model: Array, tasks: Array, buffers: TreeBuffers) -> None:
    """Weighted moments and count of the targets and the joint centres behind each joint."""
    sums, wanted, tips = buffers.sums, buffers.wanted, buffers.weights.shape[0]
    m = model.shape[0] - tips
    sums[:] = 0.0
    for t in range(tips):
        parent = int(model[m + t, PARENT])
        if buffers.weights[t] > 0.0:
            part = buffers.asks[parent]
            part[:COUNT] = 0.0
            add_target(part, wanted[m + t], tasks[t])
            add_weighted(sums[parent], part, buffers.weights[t], 1.0)
    for i in range(m - 1, 0, -1):
        parent = int(model[i, PARENT])
        if parent >= 0 and buffers.below[i] > 0.0:
            part, p = buffers.asks[parent], wanted[i]
            add_weighted(sums[parent], sums[i], 1.0, sums[i, COUNT])
            part[:COUNT] = 0.0
            add_point(part, p[POSITION], p[POSITION + 1], p[POSITION + 2])
            add_weighted(sums[parent], part, buffers.below[i], 1.0)


@kernel
def add_weighted(sums: Array, moments: Array, weight: float, count: float) -> None:
    """Add weighted moments and a weighted count, in place."""
    for k in range(MOMENTS):
        sums[k] += weight * moments[k]
    sums[COUNT] += weight * count


@kernel
def ask(link: int, frame: Array, weight: float, buffers: TreeBuffers) -> None:
    """Ask a link to come to `frame`: the first asks for all, others add how they differ."""
    wanted, asks = buffers.wanted[link], buffers.asks[link]
    if asks[WEIGHT] == 0.0:
        copy(frame, wanted)
    else:
        x, y, z = rotation_between(wanted, frame)
        asks[TURNED] += weight * x
        asks[TURNED + 1] += weight * y
        asks[TURNED + 2] += weight * z
        for k in range(3):
            asks[SHIFT + k] += weight * (frame[POSITION + k] - wanted[POSITION + k])
    asks[WEIGHT] += weight


@kernel
def agree(link: int, buffers: TreeBuffers) -> None:
    """Put a link at the mean of the frames that its branches ask for."""
    wanted, asks = buffers.wanted[link], buffers.asks[link]
    share = 1.0 / asks[WEIGHT]
    rotate_frame(wanted, share * asks[TURNED], share * asks[TURNED + 1], share * asks[TURNED + 2])
    for k in range(3):
        wanted[POSITION + k] += share * asks[SHIFT + k]


@kernel
def tips_to_base(
    model: Array,
    lower: Array,
    upper: Array,
    targets: Array,
    tasks: Array,
    q: Array,
    buffers: TreeBuffers,
) -> None:
    """
    Put the tips on their targets and choose joint values from the tips down to the base.

    The arms are at `q`, `buffers.joints` and `buffers.frames`, with their limits in `buffers.arcs`
    too. Writes to `buffers.wanted` the link frames of the arms that hang on their targets. Mimic
    joints, and joints with only unconstrained tips below them, stay as they are.
    """
    frames, joints, wanted, sums, tips = (
        buffers.frames, buffers.joints, buffers.wanted, buffers.sums, buffers.weights.shape[0],
    )  # fmt: skip
    m = model.shape[0] - tips
    sum_above(model, frames, tasks, sums)
    buffers.asks[:, : TURNED + 3] = 0.0
    scratch = buffers.trial_error[0]
    for t in range(tips):
        parent = int(model[m + t, PARENT])
        if buffers.weights[t] > 0.0:
            nearest_accepted(frames[m + t], targets[t], tasks[t], wanted[m + t])
            compose_inverse(wanted[m + t], model[m + t], scratch)
            ask(parent, scratch, buffers.weights[t], buffers)
    for i in range(m - 1, -1, -1):
        if buffers.below[i] == 0.0:
            continue
        agree(i, buffers)
        parent = int(model[i, PARENT])
        if parent >= 0:
            copy(wanted[i], scratch)
            unmove(
                model[i], joints[i], wanted[i], sums[i], sums[i, COUNT], lower, upper, q,
                buffers.arcs, scratch,
            )  # fmt: skip
            ask(parent, scratch, buffers.asks[i, WEIGHT], buffers)


@kernel
def base_to_tips(
    model: Array, lower: Array, upper: Array, tasks: Array, q: Array, buffers: TreeBuffers
) -> None:
    """
    Start at the real base and choose joint values from the base up to the tips.

    `buffers.wanted` are link frames from `tips_to_base`. Writes `q`, and to `buffers.joints` and
    `buffers.frames` where the arms come to stand.
    """
    frames, joints, wanted, sums = buffers.frames, buffers.joints, buffers.wanted, buffers.sums
    sum_below(model, tasks, buffers)
    for i in range(model.shape[0]):
        row, frame = model[i], frames[i]
        frame_before(model, i, frames, frame)
        if row[SOURCE] < 0.0:
            continue
        copy(frame, joints[i])
        if leads(model, i, buffers):
            choose_value(row, joints[i], wanted[i], sums[i], lower, upper, q)
        move_joint(row, joint_value(row, q), frame)


@kernel
def leads(model: Array, i: int, buffers: TreeBuffers) -> bool:
    """
    Whether joint `i` chooses its value from where its tips should be.

    A mimic joint does if neither its source nor a mimic joint before it moves a tip that counts.
    """
    row = model[i]
    if buffers.below[i] == 0.0 or row[IS_MIMIC] == 0.0:
        return bool(buffers.below[i] > 0.0)
    for k in range(buffers.below.shape[0]):
        earlier = model[k, IS_MIMIC] == 0.0 or k < i
        if earlier and model[k, SOURCE] == row[SOURCE] and buffers.below[k] > 0.0:
            return False
    return bool(row[MULTIPLIER] != 0.0)


@kernel
def choose_value(
    row: Array, joint: Array, wanted: Array, sums: Array, lower: Array, upper: Array, q: Array
) -> None:
    """Write to `q` the value that lays what hangs below a joint best where it should be."""
    j, times, offset = int(row[SOURCE]), row[MULTIPLIER], row[OFFSET]
    ends = times * lower[j] + offset, times * upper[j] + offset
    least, most = min(ends), max(ends)
    if row[IS_PRISMATIC] != 0.0:
        value = min(max(best_shift(sums, sums[COUNT], joint, wanted), least), most)
    else:
        c, s = best_turn(sums, sums[COUNT], joint, wanted)
        if c == 0.0 and s == 0.0:
            return
        value = clamp_turn(math.atan2(s, c), joint_value(row, q), least, most)
    q[j] = min(max((value - offset) / times, lower[j]), upper[j])
