"""
The task of the tip: which errors count, how much, and when they are small enough.

A task is a row of numbers, made by `pack_task`. Lengths are measured in units of a share of the
reach, so that nothing depends on the size of the arm.

A shaped task weighs the axes of the target differently or gives some of them a tolerance. Its
errors are written in the frame of the target; only what exceeds the tolerances counts.

"""

import math

import numpy as np
import numpy.typing as npt

from ..transforms import Array
from ._jit import kernel
from .frames import rotate_frame, rotation_between, rotation_onto

POSITION_MODE, AXIS_MODE, POSE_MODE = 0, 1, 2

POSITION_TOLERANCE = 0
ORIENTATION_TOLERANCE = 1
MODE = 2
AXIS = 3
PER_LENGTH = 6
ORIENTATION_RADIUS = 7
ORIENTATION_WEIGHT = 8
SHAPED = 9
AXIS_TOLERANCES = 10
AXIS_WEIGHTS = 16
TASK_SIZE = 22

LENGTH_PER_REACH = 0.3
"""Length that counts as much as one radian, as a share of the reach [1/rad]."""
ORIENTATION_RADIUS_PER_REACH = 0.15
"""An orientation counts as points this far from the tip, as a share of the reach [1]."""


def pack_task(
    position_tolerance: float,
    orientation_tolerance: float,
    mode: int,
    axis: Array,
    reach: float,
    orientation_weight: float = 1.0,
    axis_tolerances: npt.ArrayLike = (0.0,) * 6,
    axis_weights: npt.ArrayLike = (1.0,) * 6,
) -> Array:
    """
    Write a task.

    Parameters
    ----------
    position_tolerance, orientation_tolerance : float
        Errors that are small enough [m], [rad].
    mode : int
        POSITION_MODE, AXIS_MODE or POSE_MODE: which part of the orientation counts.
    axis : array, shape (3,)
        Unit vector in the tip frame, for AXIS_MODE.
    reach : float
        Size of the arm [m].
    orientation_weight : float
        How much a radian counts against `LENGTH_PER_REACH` of the reach.
    axis_tolerances : array-like, shape (6,)
        Errors along and about the axes of the target that do not count [m], [rad].
    axis_weights : array-like, shape (6,)
        How much each axis counts; an axis of no weight is unconstrained.

    """
    task = np.empty(TASK_SIZE)
    task[POSITION_TOLERANCE] = position_tolerance
    task[ORIENTATION_TOLERANCE] = orientation_tolerance
    task[MODE] = mode
    task[AXIS : AXIS + 3] = axis
    task[PER_LENGTH] = 1.0 / (LENGTH_PER_REACH * reach)
    task[ORIENTATION_RADIUS] = ORIENTATION_RADIUS_PER_REACH * reach
    task[ORIENTATION_WEIGHT] = orientation_weight
    task[AXIS_TOLERANCES:AXIS_WEIGHTS] = np.where(
        np.asarray(axis_weights) == 0.0, math.inf, axis_tolerances
    )
    task[AXIS_WEIGHTS:] = axis_weights
    if mode == POSITION_MODE:
        task[AXIS_TOLERANCES + 3 : AXIS_WEIGHTS] = math.inf
    task[SHAPED] = (
        np.any(task[AXIS_TOLERANCES : AXIS_WEIGHTS - 3]) or np.ptp(task[AXIS_WEIGHTS:]) > 0.0
    )
    if mode != POSITION_MODE and np.any(task[AXIS_TOLERANCES:AXIS_WEIGHTS]):
        task[SHAPED] = True
    return task


@kernel
def axis_in_base(frame: Array, task: Array) -> tuple[float, float, float]:
    """Direction of the task's axis when the tip is at `frame`."""
    x, y, z = task[AXIS], task[AXIS + 1], task[AXIS + 2]
    return (
        frame[0] * x + frame[1] * y + frame[2] * z,
        frame[3] * x + frame[4] * y + frame[5] * z,
        frame[6] * x + frame[7] * y + frame[8] * z,
    )


@kernel
def turn_to_target(tip: Array, target: Array, task: Array) -> tuple[float, float, float]:
    """Rotation vector [rad] that takes the tip's orientation to one that the task asks for."""
    if task[MODE] == POSE_MODE:
        return rotation_between(tip, target)
    if task[MODE] == AXIS_MODE:
        ax, ay, az = axis_in_base(tip, task)
        bx, by, bz = axis_in_base(target, task)
        return rotation_onto(ax, ay, az, bx, by, bz)
    return 0.0, 0.0, 0.0


@kernel
def tip_error(tip: Array, target: Array, task: Array, error: Array) -> None:
    """Write the error of the tip: position [m] and rotation vector [rad], shape (6,)."""
    x, y, z = target[9] - tip[9], target[10] - tip[10], target[11] - tip[11]
    rx, ry, rz = turn_to_target(tip, target, task)
    if task[SHAPED] != 0.0:
        x, y, z = in_frame(target, x, y, z)
        rx, ry, rz = in_frame(target, rx, ry, rz)
    error[0], error[1], error[2], error[3], error[4], error[5] = x, y, z, rx, ry, rz
    if task[SHAPED] != 0.0:
        for k in range(6):
            error[k] -= min(max(error[k], -task[AXIS_TOLERANCES + k]), task[AXIS_TOLERANCES + k])


@kernel
def in_frame(frame: Array, x: float, y: float, z: float) -> tuple[float, float, float]:
    """Components of a vector along the axes of `frame`."""
    return (
        frame[0] * x + frame[3] * y + frame[6] * z,
        frame[1] * x + frame[4] * y + frame[7] * z,
        frame[2] * x + frame[5] * y + frame[8] * z,
    )


@kernel
def out_of_frame(frame: Array, x: float, y: float, z: float) -> tuple[float, float, float]:
    """Undo `in_frame`."""
    return (
        frame[0] * x + frame[1] * y + frame[2] * z,
        frame[3] * x + frame[4] * y + frame[5] * z,
        frame[6] * x + frame[7] * y + frame[8] * z,
    )


@kernel
def nearest_accepted(tip: Array, target: Array, task: Array, wanted: Array) -> None:
    """Write the frame nearest to the tip that the task accepts."""
    for k in range(9):
        wanted[k] = tip[k]
    for k in range(9, 12):
        wanted[k] = target[k]
    if task[SHAPED] != 0.0:
        nearest_accepted_shaped(tip, target, task, wanted)
    elif task[MODE] == POSE_MODE:
        for k in range(9):
            wanted[k] = target[k]
    elif task[MODE] == AXIS_MODE:
        x, y, z = turn_to_target(tip, target, task)
        rotate_frame(wanted, x, y, z)


@kernel
def nearest_accepted_shaped(tip: Array, target: Array, task: Array, wanted: Array) -> None:
    """Write the target, moved and turned towards the tip as far as the tolerances go."""
    x, y, z = in_frame(target, tip[9] - target[9], tip[10] - target[10], tip[11] - target[11])
    x = min(max(x, -task[AXIS_TOLERANCES]), task[AXIS_TOLERANCES])
    y = min(max(y, -task[AXIS_TOLERANCES + 1]), task[AXIS_TOLERANCES + 1])
    z = min(max(z, -task[AXIS_TOLERANCES + 2]), task[AXIS_TOLERANCES + 2])
    x, y, z = out_of_frame(target, x, y, z)
    wanted[9], wanted[10], wanted[11] = target[9] + x, target[10] + y, target[11] + z
    if task[MODE] == POSITION_MODE:
        return
    x, y, z = rotation_between(target, tip)
    x, y, z = in_frame(target, x, y, z)
    x = min(max(x, -task[AXIS_TOLERANCES + 3]), task[AXIS_TOLERANCES + 3])
    y = min(max(y, -task[AXIS_TOLERANCES + 4]), task[AXIS_TOLERANCES + 4])
    z = min(max(z, -task[AXIS_TOLERANCES + 5]), task[AXIS_TOLERANCES + 5])
    x, y, z = out_of_frame(target, x, y, z)
    for k in range(9):
        wanted[k] = target[k]
    rotate_frame(wanted, x, y, z)


@kernel
def norm3(v: Array, start: int) -> float:
    """Length of three consecutive entries."""
    return math.sqrt(
        v[start] * v[start] + v[start + 1] * v[start + 1] + v[start + 2] * v[start + 2]
    )


@kernel
def product(a: Array, b: Array) -> float:
    """Inner product of the first six entries."""
    return float(a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] + a[4] * b[4] + a[5] * b[5])


@kernel
def inner(a: Array, b: Array, size: int) -> float:
    """Inner product of the first `size` entries."""
    total = 0.0
    for k in range(size):
        total += a[k] * b[k]
    return total


@kernel
def weigh_error(error: Array, task: Array, weighted: Array) -> None:
    """Write the error without units, shape (6,)."""
    per_length, weight = task[PER_LENGTH], task[ORIENTATION_WEIGHT]
    for k in range(3):
        weighted[k] = error[k] * per_length
        weighted[3 + k] = error[3 + k] * weight
    if task[SHAPED] != 0.0:
        for k in range(6):
            weighted[k] *= task[AXIS_WEIGHTS + k]


@kernel
def cost(error: Array, task: Array) -> float:
    """One number for an error: squared, weighted, without units."""
    place, turn = 0.0, 0.0
    for k in range(3):
        a, b = error[k], error[3 + k]
        if task[SHAPED] != 0.0:
            a *= task[AXIS_WEIGHTS + k]
            b *= task[AXIS_WEIGHTS + 3 + k]
        place += a * a
        turn += b * b
    per_length, weight = task[PER_LENGTH], task[ORIENTATION_WEIGHT]
    return float(per_length * per_length * place + weight * weight * turn)


@kernel
def is_reached(error: Array, task: Array) -> bool:
    """Whether both errors are within their tolerances."""
    return bool(
        norm3(error, 0) <= task[POSITION_TOLERANCE]
        and norm3(error, 3) <= task[ORIENTATION_TOLERANCE]
    )
