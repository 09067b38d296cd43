"""Frames of bones: rotation matrices (3, 3) whose z axis lies along the bone."""

from __future__ import annotations

import math

import numpy as np

from .point_chain import Array, unit


def turned_to(frame: Array, along: Array) -> Array:
    """
    Turn a frame by the least turn that brings its z axis to the unit vector `along`.

    For vectors square to z that turn is the mirror image in the plane square to z + along. If
    they are opposite, so that every turn is as short as any, it is about the frame's own x.
    """
    x, _, z = frame.T
    middle = unit(z + along)
    return framed(x - 2.0 * (x @ middle) * middle, along)


def orthonormal(frame: Array) -> Array:
    """Take rounding out of a frame: thousands of turns add up."""
    return framed(frame[:, 0], frame[:, 2])


def framed(x: Array, z: Array) -> Array:
    """Make the frame with this z axis and an x axis as near as can be to the one given."""
    z = z / math.sqrt(z @ z)
    x = x - (x @ z) * z
    x = x / math.sqrt(x @ x)
    frame = np.empty((3, 3))
    frame[:, 0], frame[:, 2] = x, z
    frame[:, 1] = (
        z[1] * x[2] - z[2] * x[1],
        z[2] * x[0] - z[0] * x[2],
        z[0] * x[1] - z[1] * x[0],
    )
    return frame


def angle_between(one: Array, other: Array) -> float:
    """Measure the angle of the turn from one frame to the other, precise also near 0 [rad]."""
    return 2.0 * math.asin(min(1.0, float(np.linalg.norm(one - other)) / math.sqrt(8.0)))
