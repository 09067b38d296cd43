"""
The two reaching passes of articulated FABRIK.

FABRIK moves points; an arm has hinges and slides. Here both passes choose joint values, so
that every state is a pose the arm can take. The paper calls the pass from the tip to the base
"forward reaching", others call it backward: in this package it is `tip_to_base`, and the other
one `base_to_tip`.

Both passes have one move. A rigid set of points hangs on one side of a joint and should come
to lie where it is on the other side: the value of the joint that does this best has a closed
form, which needs the set only through its count, sum and second moment. Those are summed once
along the arm, so a pass is linear in the number of joints.

Source: Aristidou & Lasenby, "FABRIK: a fast, iterative solver for the inverse kinematics
problem", Graphical Models 73 (2011), for the scheme; the best rotation about an axis is
Procrustes' problem with one degree of freedom.

"""

import math

from ..transforms import Array
from ._jit import kernel
from .frames import compose, compose_inverse, rotate_frame, slide_along_z, TURN, turn_about_z
from .kinematics import joint_value
from .model import FOLLOWS, FRAME, IS_SLIDE, POSITION, SOURCE
from .task import (
    axis_in_base,
    AXIS_MODE,
    LEVER,
    MODE,
    ORIENTATION_WEIGHT,
    POSE_MODE,
    turn_to_target,
)

MOMENTS = 9
VANISHING = 1e-12


@kernel
def add_point(moments: Array, x: float, y: float, z: float) -> None:
    """Add a point to the sum (3 entries) and the second moment (6 entries), in place."""
    moments[0] += x
    moments[1] += y
    moments[2] += z
    moments[3] += x * x
    moments[4] += x * y
    moments[5] += x * z
    moments[6] += y * y
    moments[7] += y * z
    moments[8] += z * z


@kernel
def add_direction(moments: Array, x: float, y: float, z: float) -> None:
    """Add a direction, which counts for rotation alone, in place."""
    moments[3] += x * x
    moments[4] += x * y
    moments[5] += x * z
    moments[6] += y * y
    moments[7] += y * z
    moments[8] += z * z


@kernel
def add_frame(moments: Array, lever: float) -> None:
    """Add three directions at right angles, of length `lever`, in place."""
    moments[3] += lever * lever
    moments[6] += lever * lever
    moments[8] += lever * lever


@kernel
def sum_upstream(model: Array, frames: Array, task: Array, sums: Array) -> None:
    """Moments of the base frame and the joint centres before each joint, rows of `sums`."""
    for k in range(MOMENTS):
        sums[0, k] = 0.0
    add_point(sums[0], model[0, POSITION], model[0, POSITION + 1], model[0, POSITION + 2])
    add_frame(sums[0], task[LEVER])
    for i in range(1, model.shape[0] - 1):
        for k in range(MOMENTS):
            sums[i, k] = sums[i - 1, k]
        p = frames[i - 1]
        add_point(sums[i], p[POSITION], p[POSITION + 1], p[POSITION + 2])


@kernel
def sum_downstream(model: Array, wanted: Array, task: Array, sums: Array) -> None:
    """Moments of the target and the joint centres behind each joint, rows of `sums`."""
    last = model.shape[0] - 2
    target = wanted[last + 1]
    for k in range(MOMENTS):
        sums[last, k] = 0.0
    add_point(sums[last], target[POSITION], target[POSITION + 1], target[POSITION + 2])
    lever = task[LEVER] * task[ORIENTATION_WEIGHT]
    if task[MODE] == POSE_MODE:
        add_frame(sums[last], lever)
    elif task[MODE] == AXIS_MODE:
        x, y, z = axis_in_base(target, task)
        add_direction(sums[last], lever * x, lever * y, lever * z)
    for i in range(last - 1, -1, -1):
        for k in range(MOMENTS):
            sums[i, k] = sums[i + 1, k]
        p = wanted[i + 1]
        add_point(sums[i], p[POSITION], p[POSITION + 1], p[POSITION + 2])


@kernel
def moment_along(
    moments: Array, count: float, a: Array, b: Array, column: int
) -> tuple[float, float]:
    """
    Products of the x and the y axis of `a` with W times an axis of `b`.

    W is the sum over the points of (point - p_a) (point - p_b)^T, from the moments.
    """
    bx, by, bz = b[column], b[3 + column], b[6 + column]
    sum_b = moments[0] * bx + moments[1] * by + moments[2] * bz
    p_b = b[9] * bx + b[10] * by + b[11] * bz
    about = count * p_b - sum_b
    x = moments[3] * bx + moments[4] * by + moments[5] * bz - moments[0] * p_b + a[9] * about
    y = moments[4] * bx + moments[6] * by + moments[7] * bz - moments[1] * p_b + a[10] * about
    z = moments[5] * bx + moments[7] * by + moments[8] * bz - moments[2] * p_b + a[11] * about
    return a[0] * x + a[3] * y + a[6] * z, a[1] * x + a[4] * y + a[7] * z


@kernel
def best_turn(moments: Array, count: float, a: Array, b: Array) -> tuple[bool, float]:
    """
    Angle about z from b to a that lays the point set, seen from both, best on itself.

    Returns False where every angle is as good as another: all points on the axis.
    """
    g00, g10 = moment_along(moments, count, a, b, 0)
    g01, g11 = moment_along(moments, count, a, b, 1)
    sine, cosine = g10 - g01, g00 + g11
    size = moments[3] + moments[6] + moments[8] + count * (a[9] ** 2 + a[10] ** 2 + a[11] ** 2)
    if abs(sine) + abs(cosine) <= VANISHING * size:
        return False, 0.0
    return True, math.atan2(sine, cosine)


@kernel
def best_shift(moments: Array, count: float, a: Array, b: Array) -> float:
    """Distance along z from b to a that lays the point set, seen from both, best on itself."""
    shift = 0.0
    for k in range(3):
        za, zb = a[3 * k + 2], b[3 * k + 2]
        shift += za * (moments[k] / count - a[9 + k]) - zb * (moments[k] / count - b[9 + k])
    return shift


@kernel
def clamp_turn(value: float, present: float, lower: float, upper: float) -> float:
    """
    Bring an angle into the limits, on the circle.

    Of the angles inside that differ from `value` by whole turns the one nearest to `present`;
    where there is none, the limit that is nearer.
    """
    value += TURN * round((present - value) / TURN)
    if value < lower:
        turned = value + TURN * math.ceil((lower - value) / TURN)
        if turned <= upper:
            return turned
        return lower if lower - value <= turned - upper else upper
    if value > upper:
        turned = value - TURN * math.ceil((value - upper) / TURN)
        if turned >= lower:
            return turned
        return upper if value - upper <= lower - turned else lower
    return value


@kernel
def tip_to_base(
    model: Array,
    lower: Array,
    upper: Array,
    target: Array,
    task: Array,
    frames: Array,
    wanted: Array,
    sums: Array,
    q: Array,
) -> None:
    """
    Put the tip on the target and choose joint values from the tip down to the base.

    `frames` are the link frames of the arm as it stands, at `q`. Writes `q`, and to `wanted`
    the link frames of the arm that hangs on the target; its base is not yet where it belongs.
    """
    last = model.shape[0] - 2
    sum_upstream(model, frames, task, sums)
    place_tip(frames[last + 1], target, task, wanted[last + 1])
    compose_inverse(wanted[last + 1], model[last + 1], wanted[last])
    for i in range(last, -1, -1):
        row = model[i]
        s = int(row[SOURCE])
        is_slide = row[IS_SLIDE] != 0.0
        if row[FOLLOWS] == 0.0:
            if is_slide:
                shift = best_shift(sums[i], i + 1.0, frames[i], wanted[i])
                q[s] = min(max(q[s] + shift, lower[s]), upper[s])
            else:
                found, turn = best_turn(sums[i], i + 1.0, frames[i], wanted[i])
                if found:
                    q[s] = clamp_turn(q[s] + turn, q[s], lower[s], upper[s])
        if i == 0:
            return
        before = wanted[i - 1]
        for k in range(FRAME):
            before[k] = wanted[i, k]
        if is_slide:
            slide_along_z(before, -joint_value(row, q))
        else:
            turn_about_z(before, -joint_value(row, q))
        compose_inverse(before, row, before)


@kernel
def place_tip(tip: Array, target: Array, task: Array, wanted: Array) -> None:
    """Write the tip frame the task asks for: the target's, turned no more than it asks for."""
    for k in range(POSITION):
        wanted[k] = tip[k]
    for k in range(POSITION, FRAME):
        wanted[k] = target[k]
    if task[MODE] == POSE_MODE:
        for k in range(POSITION):
            wanted[k] = target[k]
    elif task[MODE] == AXIS_MODE:
        x, y, z = turn_to_target(tip, target, task)
        rotate_frame(wanted, x, y, z)


@kernel
def base_to_tip(
    model: Array,
    lower: Array,
    upper: Array,
    task: Array,
    wanted: Array,
    frames: Array,
    sums: Array,
    q: Array,
) -> None:
    """
    Start at the real base and choose joint values from the base up to the tip.

    `wanted` are link frames from `tip_to_base`. Writes `q`, and to `frames` where the links
    come to stand.
    """
    last = model.shape[0] - 2
    sum_downstream(model, wanted, task, sums)
    for i in range(last + 1):
        row = model[i]
        frame = frames[i]
        if i == 0:
            for k in range(FRAME):
                frame[k] = row[k]
        else:
            compose(frames[i - 1], row, frame)
        s = int(row[SOURCE])
        is_slide = row[IS_SLIDE] != 0.0
        if row[FOLLOWS] == 0.0:
            count = last - i + 1.0
            if is_slide:
                shift = best_shift(sums[i], count, frame, wanted[i])
                q[s] = min(max(shift, lower[s]), upper[s])
            else:
                found, turn = best_turn(sums[i], count, frame, wanted[i])
                if found:
                    q[s] = clamp_turn(turn, q[s], lower[s], upper[s])
        if is_slide:
            slide_along_z(frame, joint_value(row, q))
        else:
            turn_about_z(frame, joint_value(row, q))
    compose(frames[last], model[last + 1], frames[last + 1])
