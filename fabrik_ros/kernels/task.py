"""
What is asked of the tip: which errors count, how much, and when they are small enough.

A task is a row of numbers, made by `pack_task`. Lengths are measured in units of `LENGTH`, a
share of the reach, so that nothing depends on the size of the arm.

"""

import math

import numpy as np

from ..transforms import Array
from ._jit import kernel
from .frames import rotation_between, rotation_onto

POSITION_MODE, AXIS_MODE, POSE_MODE = 0, 1, 2

POSITION_TOLERANCE = 0
ORIENTATION_TOLERANCE = 1
MODE = 2
AXIS = 3
LENGTH = 6
LEVER = 7
ORIENTATION_WEIGHT = 8
TASK_SIZE = 9

LENGTH_PER_REACH = 0.3
LEVER_PER_REACH = 0.15


def pack_task(
    position_tolerance: float,
    orientation_tolerance: float,
    mode: int,
    axis: Array,
    reach: float,
    orientation_weight: float = 1.0,
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

    """
    task = np.empty(TASK_SIZE)
    task[POSITION_TOLERANCE] = position_tolerance
    task[ORIENTATION_TOLERANCE] = orientation_tolerance
    task[MODE] = mode
    task[AXIS : AXIS + 3] = axis
    task[LENGTH] = LENGTH_PER_REACH * reach
    task[LEVER] = LEVER_PER_REACH * reach
    task[ORIENTATION_WEIGHT] = orientation_weight
    return task


@kernel
def axis_in_base(frame: Array, task: Array) -> tuple[float, float, float]:
    """Direction of the task's axis when the tip stands at `frame`."""
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
    """Write what the tip lacks: position [m] and rotation vector [rad], shape (6,)."""
    for k in range(3):
        error[k] = target[9 + k] - tip[9 + k]
    error[3], error[4], error[5] = turn_to_target(tip, target, task)


@kernel
def norm3(v: Array, start: int) -> float:
    """Length of three consecutive entries."""
    return math.sqrt(v[start] ** 2 + v[start + 1] ** 2 + v[start + 2] ** 2)


@kernel
def merit(error: Array, task: Array) -> float:
    """One number for an error: squared, weighted, free of units."""
    length, weight = task[LENGTH], task[ORIENTATION_WEIGHT]
    return float((norm3(error, 0) / length) ** 2 + (weight * norm3(error, 3)) ** 2)


@kernel
def is_reached(error: Array, task: Array) -> bool:
    """Whether both errors are within their tolerances."""
    return bool(
        norm3(error, 0) <= task[POSITION_TOLERANCE]
        and norm3(error, 3) <= task[ORIENTATION_TOLERANCE]
    )
