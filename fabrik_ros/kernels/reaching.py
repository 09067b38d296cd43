"""
The two reaching passes of articulated FABRIK.

FABRIK moves points; an arm has revolute and prismatic joints. Here both passes choose joint
values, so that every state is a pose the arm can take. The paper calls the pass from the tip to
the base "forward reaching", others call it backward: in this package it is `tip_to_base`, and the
other one `base_to_tip`.

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
from .arm_table import FRAME, IS_MIMIC, IS_PRISMATIC, POSITION, SOURCE
from .buffers import Buffers
from .frames import compose, compose_inverse, copy, rotate_about_z, translate_along_z, TURN
from .kinematics import joint_value, move_joint
from .task import (
    axis_in_base,
    AXIS_MODE,
    AXIS_TOLERANCES,
    MODE,
    nearest_accepted,
    ORIENTATION_RADIUS,
    ORIENTATION_WEIGHT,
    POSE_MODE,
    SHAPED,
)

MOMENTS = 9
"""Entries of the sum (3) and the second moment (6) of a point set."""
VANISHING = 1e-12
"""A turn with a smaller share of the point set behind it is undefined [1]."""


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
def add_frame(moments: Array, radius: float) -> None:
    """Add three directions at right angles, of length `radius`, in place."""
    moments[3] += radius * radius
    moments[6] += radius * radius
    moments[8] += radius * radius


@kernel
def add_turn(moments: Array, radius: float, x: float, y: float, z: float) -> None:
    """Add half of two directions at right angles to the unit vector (x, y, z), in place."""
    half = 0.5 * radius * radius
    moments[3] += half * (1.0 - x * x)
    moments[4] -= half * x * y
    moments[5] -= half * x * z
    moments[6] += half * (1.0 - y * y)
    moments[7] -= half * y * z
    moments[8] += half * (1.0 - z * z)


@kernel
def add_target(moments: Array, target: Array, task: Array) -> None:
    """Add a target, in place: its position, and the part of its orientation that counts."""
    add_point(moments, target[POSITION], target[POSITION + 1], target[POSITION + 2])
    radius = task[ORIENTATION_RADIUS] * task[ORIENTATION_WEIGHT]
    if task[MODE] == POSE_MODE and task[SHAPED] != 0.0:
        for axis in range(3):
            if task[AXIS_TOLERANCES + 3 + axis] < math.inf:
                add_turn(moments, radius, target[axis], target[3 + axis], target[6 + axis])
    elif task[MODE] == POSE_MODE:
        add_frame(moments, radius)
    elif task[MODE] == AXIS_MODE:
        x, y, z = axis_in_base(target, task)
        add_direction(moments, radius * x, radius * y, radius * z)


@kernel
def sum_upstream(model: Array, frames: Array, task: Array, sums: Array) -> None:
    """Moments of the base frame and the joint centres before each joint, rows of `sums`."""
    for k in range(MOMENTS):
        sums[0, k] = 0.0
    add_point(sums[0], model[0, POSITION], model[0, POSITION + 1], model[0, POSITION + 2])
    add_frame(sums[0], task[ORIENTATION_RADIUS])
    for i in range(1, model.shape[0] - 1):
        for k in range(MOMENTS):
            sums[i, k] = sums[i - 1, k]
        p = frames[i - 1]
        add_point(sums[i], p[POSITION], p[POSITION + 1], p[POSITION + 2])


@kernel
def sum_downstream(model: Array, wanted: Array, task: Array, sums: Array) -> None:
    """Moments of the target and the joint centres behind each joint, rows of `sums`."""
    last = model.shape[0] - 2
    for k in range(MOMENTS):
        sums[last, k] = 0.0
    add_target(sums[last], wanted[last + 1], task)
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
def best_turn(moments: Array, count: float, a: Array, b: Array) -> tuple[float, float]:
    """
    Angle about z from b to a that lays the point set, seen from both, best on itself.

    Returns its cosine and sine; 0, 0 where every angle is as good as another: all points on the
    axis.
    """
    g00, g10 = moment_along(moments, count, a, b, 0)
    g01, g11 = moment_along(moments, count, a, b, 1)
    sine, cosine = g10 - g01, g00 + g11
    size = (
        moments[3]
        + moments[6]
        + moments[8]
        + count * (a[9] * a[9] + a[10] * a[10] + a[11] * a[11])
    )
    length = math.sqrt(sine * sine + cosine * cosine)
    if length <= VANISHING * size:
        return 0.0, 0.0
    return cosine / length, sine / length


@kernel
def best_shift(moments: Array, count: float, a: Array, b: Array) -> float:
    """Distance along z from b to a that lays the point set, seen from both, best on itself."""
    shift = 0.0
    for k in range(3):
        za, zb = a[3 * k + 2], b[3 * k + 2]
        shift += za * (moments[k] / count - a[9 + k]) - zb * (moments[k] / count - b[9 + k])
    return shift


@kernel
def fill_arcs(lower: Array, upper: Array, arcs: Array) -> None:
    """Write limits of angles as arcs: cosine and sine of their middle and half their width."""
    for j in range(lower.shape[0]):
        half = 0.5 * (upper[j] - lower[j])
        if half < math.pi:
            mid = 0.5 * (upper[j] + lower[j])
            arcs[j, 0], arcs[j, 1] = math.cos(mid), math.sin(mid)
            arcs[j, 2], arcs[j, 3] = math.cos(half), math.sin(half)
        else:
            arcs[j, 0], arcs[j, 1], arcs[j, 2], arcs[j, 3] = 1.0, 0.0, -2.0, 0.0


@kernel
def clamp_direction(c: float, s: float, arc: Array) -> tuple[float, float]:
    """Bring an angle, given by cosine and sine, into an arc: at its nearer end if outside."""
    along, across = c * arc[0] + s * arc[1], s * arc[0] - c * arc[1]
    if along >= arc[2]:
        return c, s
    end = arc[3] if across >= 0.0 else -arc[3]
    return arc[2] * arc[0] - end * arc[1], arc[2] * arc[1] + end * arc[0]


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
    q: Array,
    buffers: Buffers,
) -> None:
    """
    Put the tip on the target and choose joint values from the tip down to the base.

    The arm is at `q`, `buffers.joints` and `buffers.frames`; its limits are in `buffers.arcs` too.
    Writes to `buffers.wanted` the link frames of the arm that hangs on the target; its base is not
    yet where it belongs. Mimic joints stay as they are.
    """
    last = model.shape[0] - 2
    frames, joints, wanted, sums = buffers.frames, buffers.joints, buffers.wanted, buffers.sums
    sum_upstream(model, frames, task, sums)
    nearest_accepted(frames[last + 1], target, task, wanted[last + 1])
    compose_inverse(wanted[last + 1], model[last + 1], wanted[last])
    for i in range(last, 0, -1):
        before = wanted[i - 1]
        copy(wanted[i], before)
        unmove(
            model[i], joints[i], wanted[i], sums[i], i + 1.0, lower, upper, q, buffers.arcs, before
        )


@kernel
def unmove(
    row: Array,
    joint: Array,
    wanted: Array,
    moments: Array,
    count: float,
    lower: Array,
    upper: Array,
    q: Array,
    arcs: Array,
    frame: Array,
) -> None:
    """
    Carry `frame` from a link to the one before it, by the value that suits the joints before it.

    The joint frame before its motion is `joint`; its motion should lead to `wanted`. A mimic joint
    keeps its value.
    """
    j = int(row[SOURCE])
    if row[IS_PRISMATIC] != 0.0:
        value = joint_value(row, q)
        if row[IS_MIMIC] == 0.0:
            value = min(max(best_shift(moments, count, joint, wanted), lower[j]), upper[j])
        translate_along_z(frame, -value)
    else:
        c, s = 0.0, 0.0
        if row[IS_MIMIC] == 0.0:
            c, s = best_turn(moments, count, joint, wanted)
        if c == 0.0 and s == 0.0:
            value = joint_value(row, q)
            c, s = math.cos(value), math.sin(value)
        else:
            c, s = clamp_direction(c, s, arcs[j])
        rotate_about_z(frame, c, -s)
    compose_inverse(frame, row, frame)


@kernel
def base_to_tip(
    model: Array, lower: Array, upper: Array, task: Array, q: Array, buffers: Buffers
) -> None:
    """
    Start at the real base and choose joint values from the base up to the tip.

    `buffers.wanted` are link frames from `tip_to_base`. Writes `q`, and to `buffers.joints` and
    `buffers.frames` where the arm comes to stand.
    """
    last = model.shape[0] - 2
    frames, joints, wanted, sums = buffers.frames, buffers.joints, buffers.wanted, buffers.sums
    sum_downstream(model, wanted, task, sums)
    for i in range(last + 1):
        row, joint, frame = model[i], joints[i], frames[i]
        if i == 0:
            copy(row[:FRAME], joint)
        else:
            compose(frames[i - 1], row, joint)
        copy(joint, frame)
        j, count = int(row[SOURCE]), last - i + 1.0
        if row[IS_MIMIC] != 0.0:
            move_joint(row, joint_value(row, q), frame)
        elif row[IS_PRISMATIC] != 0.0:
            q[j] = min(max(best_shift(sums[i], count, joint, wanted[i]), lower[j]), upper[j])
            translate_along_z(frame, q[j])
        else:
            c, s = best_turn(sums[i], count, joint, wanted[i])
            if c != 0.0 or s != 0.0:
                q[j] = clamp_turn(math.atan2(s, c), q[j], lower[j], upper[j])
            if (c == 0.0 and s == 0.0) or q[j] == lower[j] or q[j] == upper[j]:
                c, s = math.cos(q[j]), math.sin(q[j])
            rotate_about_z(frame, c, s)
    compose(frames[last], model[last + 1], frames[last + 1])
