"""The way from one pose to another: straight, with the shortest rotation."""

import math

from ..transforms import Array
from ._jit import kernel
from .arm_table import POSITION
from .frames import rotate_frame, rotation_between


@kernel
def read_frame(T: Array, frame: Array) -> None:
    """Write a pose (4, 4) as a frame, shape (12,)."""
    for r in range(3):
        for c in range(3):
            frame[3 * r + c] = T[r, c]
        frame[POSITION + r] = T[r, 3]


@kernel
def way_between(
    T: Array, T_to: Array, speed: float, turning: float, frames: Array, way: Array
) -> None:
    """
    Write how long each part of a way takes [s], along x, y, z and as a rotation vector.

    Parameters
    ----------
    T, T_to : array, shape (4, 4)
        Poses.
    speed, turning : float
        How fast it is gone [m/s, rad/s].
    frames : array, shape (2, 12)
        Written over.
    way : array, shape (6,)
        Written to.

    """
    read_frame(T, frames[0])
    read_frame(T_to, frames[1])
    x, y, z = rotation_between(frames[0], frames[1])
    way[3], way[4], way[5] = x / turning, y / turning, z / turning
    for k in range(3):
        way[k] = (T_to[k, 3] - T[k, 3]) / speed


@kernel
def pose_along(
    T: Array, way: Array, speed: float, turning: float, frames: Array, T_to: Array
) -> None:
    """Write the pose (4, 4) at the end of a way from `T`; the parameters are as above."""
    frame = frames[0]
    read_frame(T, frame)
    rotate_frame(frame, way[3] * turning, way[4] * turning, way[5] * turning)
    for r in range(3):
        for c in range(3):
            T_to[r, c] = frame[3 * r + c]
        T_to[r, 3] = T[r, 3] + way[r] * speed
        T_to[3, r] = 0.0
    T_to[3, 3] = 1.0


@kernel
def size_of(way: Array) -> float:
    """Size of a way or a speed, shape (3 b,): the largest of its straight parts and rotations."""
    longest = 0.0
    for b in range(0, way.shape[0], 3):
        longest = max(longest, way[b] ** 2 + way[b + 1] ** 2 + way[b + 2] ** 2)
    return math.sqrt(longest)


@kernel
def way_to_newest(ages: Array, ways: Array, window: float, dt: float, left: Array) -> None:
    """
    Write the way from the mean of where a goal has been, within a window of time, to where it is.

    Parameters
    ----------
    ages : array, shape (m,)
        How long ago the goal went each of its ways [s].
    ways : array, shape (m, c)
        Those ways.
    window, dt : float
        Length of the window, and how much later that is to be [s].
    left : array, shape (c,)
        Written to.

    """
    left[:] = 0.0
    for i in range(ages.shape[0]):
        weight = 1.0 - (ages[i] + dt) / window
        if weight > 0.0:
            for c in range(left.shape[0]):
                left[c] += weight * ways[i, c]


@kernel
def longest_way(ways: Array) -> float:
    """Sum up ways, shape (m, 3 b), and return the length of the longest of the b parts."""
    longest = 0.0
    for b in range(0, ways.shape[1], 3):
        length = 0.0
        for i in range(ways.shape[0]):
            x, y, z = ways[i, b], ways[i, b + 1], ways[i, b + 2]
            length += math.sqrt(x * x + y * y + z * z)
        longest = max(longest, length)
    return longest
