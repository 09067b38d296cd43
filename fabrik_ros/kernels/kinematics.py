"""Forward kinematics: joint values to frames."""

import math

from ..transforms import Array
from ._jit import kernel
from .arm_table import FRAME, IS_PRISMATIC, MULTIPLIER, OFFSET, POSITION, SOURCE
from .frames import compose, copy, rotate_about_z, translate_along_z


@kernel
def joint_value(row: Array, q: Array) -> float:
    """Value of the joint of a model row; of a mimic joint multiplier times source plus offset."""
    return float(row[MULTIPLIER] * q[int(row[SOURCE])] + row[OFFSET])


@kernel
def move_joint(row: Array, value: float, frame: Array) -> None:
    """Carry `frame` from before to after the motion of its joint, in place."""
    if row[IS_PRISMATIC] != 0.0:
        translate_along_z(frame, value)
    else:
        rotate_about_z(frame, math.cos(value), math.sin(value))


@kernel
def link_frames(model: Array, q: Array, frames: Array) -> None:
    """Write the frame of every link behind a moving joint, and of the tip, shape (m + 1, 12)."""
    last = model.shape[0] - 1
    copy(model[0, :FRAME], frames[0])
    for i in range(last):
        if i > 0:
            compose(frames[i - 1], model[i], frames[i])
        move_joint(model[i], joint_value(model[i], q), frames[i])
    compose(frames[last - 1], model[last], frames[last])


@kernel
def joint_and_link_frames(model: Array, q: Array, joints: Array, frames: Array) -> None:
    """Write link frames, and to `joints` the frames of joints before their motion, (m, 12)."""
    last = model.shape[0] - 1
    for i in range(last):
        if i > 0:
            compose(frames[i - 1], model[i], joints[i])
        else:
            copy(model[0, :FRAME], joints[0])
        copy(joints[i], frames[i])
        move_joint(model[i], joint_value(model[i], q), frames[i])
    compose(frames[last - 1], model[last], frames[last])


@kernel
def tip_frame(model: Array, q: Array, frame: Array) -> None:
    """Write the frame of the tip, shape (12,)."""
    last = model.shape[0] - 1
    copy(model[0, :FRAME], frame)
    for i in range(last):
        if i > 0:
            compose(frame, model[i], frame)
        move_joint(model[i], joint_value(model[i], q), frame)
    compose(frame, model[last], frame)


@kernel
def tip_pose(model: Array, q: Array, frame: Array, T: Array) -> None:
    """Write the pose of the tip, T_base_tip, shape (4, 4); `frame` is written over."""
    tip_frame(model, q, frame)
    for r in range(3):
        for c in range(3):
            T[r, c] = frame[3 * r + c]
        T[r, 3] = frame[POSITION + r]
        T[3, r] = 0.0
    T[3, 3] = 1.0


@kernel
def joint_centres(model: Array, q: Array, frame: Array, points: Array) -> None:
    """Write joint centres, and the tip last, shape (m + 1, 3); `frame` is written over."""
    copy(model[0, :FRAME], frame)
    for i in range(model.shape[0]):
        if i > 0:
            compose(frame, model[i], frame)
        if i < model.shape[0] - 1:
            move_joint(model[i], joint_value(model[i], q), frame)
        for k in range(3):
            points[i, k] = frame[POSITION + k]
