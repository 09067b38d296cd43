"""Sweeps over all joints, which spread evenly what closed forms have left."""

import math

import numpy as np

from ...transforms import Array, rotation_from_axis_angle
from .marked_arm import frames_of, MarkedArm, ON_AXIS

EXACT_DISTANCE = 1e-12
"""Points this far from where they shall be, as a share of the reach, are there."""

LEAST_DECREASE = 1e-3
"""Sweeps end with one that takes off a smaller share of the sum of squares."""


def swept(arm: MarkedArm, q: Array, wanted: Array, most: int) -> Array:
    """
    Turn one joint after the other so that all marks behind it are nearest to their points.

    In the least-squares sense: no move adds to the sum of squares. It is the `base_to_tip` pass of
    `FabrikSolver`, made on the marks.
    """
    q = q.copy()
    frames = frames_of(arm.chain, q)
    axes, marks = frames.before[:, :3, 2].copy(), arm.marks(frames)
    misfit = float(np.sum((marks - wanted) ** 2))
    for _ in range(most):
        if misfit <= (EXACT_DISTANCE * arm.scale) ** 2:
            break
        for j in range(len(q)):
            if arm.prismatic[j]:
                _shift_nearest(arm, q, j, axes, marks, wanted)
            else:
                _turn_nearest(arm, q, j, axes, marks, wanted)
        before, misfit = misfit, float(np.sum((marks - wanted) ** 2))
        if misfit > (1.0 - LEAST_DECREASE) * before:
            break
    return q


def _shift_nearest(
    arm: MarkedArm, q: Array, j: int, axes: Array, marks: Array, wanted: Array
) -> None:
    """Shift a joint, and its own mark and those behind it, to where these are nearest."""
    value = q[j] + float(np.mean((wanted[j:] - marks[j:]) @ axes[j]))
    value = arm.clamped(j, value, q[j])
    marks[j:] += (value - q[j]) * axes[j]
    q[j] = value


def _turn_nearest(
    arm: MarkedArm, q: Array, j: int, axes: Array, marks: Array, wanted: Array
) -> None:
    """Turn a joint, and the axes and marks behind it, to where the marks are nearest."""
    centre, axis = marks[j], axes[j]
    x, y = marks[j + 1 :] - centre, wanted[j + 1 :] - centre
    W = x.T @ y
    sine = float(
        axis[0] * (W[1, 2] - W[2, 1])
        + axis[1] * (W[2, 0] - W[0, 2])
        + axis[2] * (W[0, 1] - W[1, 0])
    )
    cosine = float(W[0, 0] + W[1, 1] + W[2, 2] - axis @ W @ axis)
    if math.hypot(sine, cosine) <= (ON_AXIS * arm.scale) ** 2:
        return
    value = arm.clamped(j, q[j] + math.atan2(sine, cosine), q[j])
    R = rotation_from_axis_angle(axis, value - q[j])
    marks[j + 1 :] = x @ R.T + centre
    axes[j + 1 :] = axes[j + 1 :] @ R.T
    q[j] = value
