"""
Compiled parts of the ablation: attempts that lack something, and passes that match less.

Passes by centres match one point: the next joint centre that lies off the joint's axis, as FABRIK
does whose joints are balls; and the tip frame where there is no centre any more. The package's
own passes match all that hangs on the other side of a joint.

"""

import math

from fabrik_ros.kernels._jit import kernel
from fabrik_ros.kernels.arm_table import FRAME, IS_PRISMATIC, POSITION, SOURCE
from fabrik_ros.kernels.buffers import Buffers, cut
from fabrik_ros.kernels.frames import (
    compose,
    compose_inverse,
    copy,
    rotate_about_z,
    translate_along_z,
)
from fabrik_ros.kernels.iterations import DECREASED_SHARE, run_iterations
from fabrik_ros.kernels.limits import LOWER, START_LOWER, START_UPPER, UNITS, UPPER
from fabrik_ros.kernels.polish import run_polish
from fabrik_ros.kernels.reaching import (
    add_frame,
    add_point,
    base_to_tip,
    best_shift,
    best_turn,
    clamp_direction,
    clamp_turn,
    fill_arcs,
    MOMENTS,
    tip_to_base,
)
from fabrik_ros.kernels.search import scatter
from fabrik_ros.kernels.task import (
    cost,
    is_reached,
    MODE,
    nearest_accepted,
    ORIENTATION_RADIUS,
    ORIENTATION_WEIGHT,
    POSE_MODE,
    tip_error,
)
from fabrik_ros.kernels.tips import evaluate
from fabrik_ros.transforms import Array

ON_AXIS = 1e-6
"""A point this near to an axis tells nothing about a turn about it [m]."""


@kernel
def search(
    model: Array,
    limits: Array,
    task: Array,
    rows: Array,
    vectors: Array,
    target: Array,
    seed: Array,
    rounds: int,
    accelerate: bool,
    steps: int,
    first: int,
    count: int,
    q: Array,
    counts: Array,
) -> bool:
    """
    Make attempts number `first` to `first + count - 1`, number 0 from the seed, into `q`.

    An attempt is up to `rounds` rounds and up to `steps` polish steps of the package. Adds to
    `counts` how many were made; tells whether the task is reached.
    """
    work = cut(rows, vectors, model.shape[0] - 1)
    lower, upper, units = limits[LOWER], limits[UPPER], limits[UNITS]
    fill_arcs(lower, upper, work.arcs)
    for number in range(first, first + count):
        begin(number, seed, limits, q)
        evaluate(model, q, target, task, work)
        if rounds > 0:
            counts[0] += run_iterations(
                model, lower, upper, units, target, task, rounds, accelerate, q, work
            )
        if steps > 0:
            counts[1] += run_polish(
                model, lower, upper, units, target, task, steps, False, q, work
            )
        if is_reached(work.error, task):
            return True
    return False


@kernel
def search_plain(
    model: Array,
    limits: Array,
    task: Array,
    rows: Array,
    vectors: Array,
    target: Array,
    seed: Array,
    rounds: int,
    patience: int,
    whole: bool,
    first: int,
    count: int,
    q: Array,
    counts: Array,
) -> bool:
    """Make attempts as `search` does, each of up to `rounds` rounds of `run_plain`."""
    work = cut(rows, vectors, model.shape[0] - 1)
    lower, upper = limits[LOWER], limits[UPPER]
    fill_arcs(lower, upper, work.arcs)
    for number in range(first, first + count):
        begin(number, seed, limits, q)
        evaluate(model, q, target, task, work)
        counts[0] += run_plain(model, lower, upper, target, task, rounds, patience, whole, q, work)
        if is_reached(work.error, task):
            return True
    return False


@kernel
def begin(number: int, seed: Array, limits: Array, q: Array) -> None:
    """Write where an attempt starts."""
    if number == 0:
        copy(seed, q)
    else:
        scatter(number, limits[START_LOWER], limits[START_UPPER], q)


@kernel
def run_plain(
    model: Array,
    lower: Array,
    upper: Array,
    target: Array,
    task: Array,
    most: int,
    patience: int,
    whole: bool,
    q: Array,
    work: Buffers,
) -> int:
    """
    Run plain rounds as `run_iterations` does, with a patience of one's own.

    They match the whole sub-chain or, unless `whole`, the next joint centre. Returns their number.
    """
    error, best = work.error, work.best
    now = cost(error, task)
    best_merit, mark, since_mark, done = now, now, 0, 0
    copy(q, best)
    while done < most and since_mark < patience and not is_reached(error, task):
        done += 1
        if whole:
            tip_to_base(model, lower, upper, target, task, q, work)
            base_to_tip(model, lower, upper, task, q, work)
        else:
            tip_to_base_by_centres(model, lower, upper, target, task, q, work)
            base_to_tip_by_centres(model, lower, upper, task, q, work)
        tip_error(work.frames[model.shape[0] - 1], target, task, error)
        now = cost(error, task)
        if now < best_merit:
            best_merit = now
            copy(q, best)
        since_mark += 1
        if best_merit < DECREASED_SHARE * DECREASED_SHARE * mark:
            mark, since_mark = best_merit, 0
    if now > best_merit:
        copy(best, q)
        evaluate(model, q, target, task, work)
    return done


@kernel
def tip_to_base_by_centres(
    model: Array,
    lower: Array,
    upper: Array,
    target: Array,
    task: Array,
    q: Array,
    work: Buffers,
) -> None:
    """Do as `tip_to_base` does, matching the next centre; for arms without followers."""
    last = model.shape[0] - 2
    frames, joints, wanted = work.frames, work.joints, work.wanted
    nearest_accepted(frames[last + 1], target, task, wanted[last + 1])
    compose_inverse(wanted[last + 1], model[last + 1], wanted[last])
    for i in range(last, 0, -1):
        row, before, moments = model[i], wanted[i - 1], work.sums[i]
        j = int(row[SOURCE])
        k = i - 1
        while k > 0 and row[IS_PRISMATIC] == 0.0 and is_on_axis(joints[i], frames[k]):
            k -= 1
        set_point(moments, frames[k])
        copy(wanted[i], before)
        if row[IS_PRISMATIC] != 0.0:
            value = best_shift(moments, 1.0, joints[i], wanted[i])
            translate_along_z(before, -min(max(value, lower[j]), upper[j]))
        else:
            c, s = best_turn(moments, 1.0, joints[i], wanted[i])
            if c == 0.0 and s == 0.0:
                c, s = math.cos(q[j]), math.sin(q[j])
            else:
                c, s = clamp_direction(c, s, work.arcs[j])
            rotate_about_z(before, c, -s)
        compose_inverse(before, row, before)


@kernel
def base_to_tip_by_centres(
    model: Array, lower: Array, upper: Array, task: Array, q: Array, work: Buffers
) -> None:
    """Do as `base_to_tip` does, matching the next centre; for arms without followers."""
    last = model.shape[0] - 2
    frames, joints, wanted = work.frames, work.joints, work.wanted
    for i in range(last + 1):
        row, joint, frame, moments = model[i], joints[i], frames[i], work.sums[i]
        j = int(row[SOURCE])
        if i == 0:
            copy(row[:FRAME], joint)
        else:
            compose(frames[i - 1], row, joint)
        copy(joint, frame)
        k = i + 1
        while k <= last and row[IS_PRISMATIC] == 0.0 and is_on_axis(wanted[i], wanted[k]):
            k += 1
        set_point(moments, wanted[k])
        if k == last + 1 and task[MODE] == POSE_MODE:
            add_frame(moments, task[ORIENTATION_RADIUS] * task[ORIENTATION_WEIGHT])
        if row[IS_PRISMATIC] != 0.0:
            q[j] = min(max(best_shift(moments, 1.0, joint, wanted[i]), lower[j]), upper[j])
            translate_along_z(frame, q[j])
        else:
            c, s = best_turn(moments, 1.0, joint, wanted[i])
            if c != 0.0 or s != 0.0:
                q[j] = clamp_turn(math.atan2(s, c), q[j], lower[j], upper[j])
            rotate_about_z(frame, math.cos(q[j]), math.sin(q[j]))
    compose(frames[last], model[last + 1], frames[last + 1])


@kernel
def set_point(moments: Array, frame: Array) -> None:
    """Write the moments of one point, where a frame is."""
    for k in range(MOMENTS):
        moments[k] = 0.0
    add_point(moments, frame[POSITION], frame[POSITION + 1], frame[POSITION + 2])


@kernel
def is_on_axis(joint: Array, frame: Array) -> bool:
    """Whether a frame stands on the z axis of a joint."""
    x, y, z = frame[9] - joint[9], frame[10] - joint[10], frame[11] - joint[11]
    ax, ay, az = joint[2], joint[5], joint[8]
    cx, cy, cz = ay * z - az * y, az * x - ax * z, ax * y - ay * x
    return bool(cx * cx + cy * cy + cz * cz <= ON_AXIS * ON_AXIS)
