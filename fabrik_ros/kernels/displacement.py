"""Displacements from one pose to another: straight, with the shortest rotation."""

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
def displacement_between(
    T: Array, T_to: Array, speed: float, turning: float, frames: Array, displacement: Array
) -> None:
    """
    Write a displacement as times [s]: along x, y, z and as a rotation vector, at given speeds.

    Parameters
    ----------
    T, T_to : array, shape (4, 4)
        Poses.
    speed, turning : float
        Speeds that turn lengths and angles into times [m/s, rad/s].
    frames : array, shape (2, 12)
        Written over.
    displacement : array, shape (6,)
        Written to.

    """
    read_frame(T, frames[0])
    read_frame(T_to, frames[1])
    x, y, z = rotation_between(frames[0], frames[1])
    displacement[3], displacement[4], displacement[5] = x / turning, y / turning, z / turning
    for k in range(3):
        displacement[k] = (T_to[k, 3] - T[k, 3]) / speed


@kernel
def moved_pose(
    T: Array, displacement: Array, speed: float, turning: float, frames: Array, T_to: Array
) -> None:
    """Write the pose (4, 4) at the end of a displacement from `T`; parameters as above."""
    frame = frames[0]
    read_frame(T, frame)
    rotate_frame(
        frame, displacement[3] * turning, displacement[4] * turning, displacement[5] * turning
    )
    for r in range(3):
        for c in range(3):
            T_to[r, c] = frame[3 * r + c]
        T_to[r, 3] = T[r, 3] + displacement[r] * speed
        T_to[3, r] = 0.0
    T_to[3, 3] = 1.0


@kernel
def displacements_between(
    T: Array, T_to: Array, speed: float, turning: float, frames: Array, displacements: Array
) -> None:
    """
    Write the displacements (k, 6) between poses (k, 4, 4): 0 where `T_to` is not a number.

    The other parameters as above.
    """
    displacements[:] = 0.0
    for t in range(T.shape[0]):
        if not math.isnan(T_to[t, 0, 0]):
            displacement_between(T[t], T_to[t], speed, turning, frames, displacements[t])


@kernel
def moved_poses(
    T: Array, displacements: Array, speed: float, turning: float, frames: Array, T_to: Array
) -> None:
    """
    Write the poses (k, 4, 4) at the ends of displacements (k, 6): those that are no numbers stay.

    The other parameters as above.
    """
    for t in range(T.shape[0]):
        if math.isnan(T[t, 0, 0]):
            for r in range(4):
                for c in range(4):
                    T_to[t, r, c] = T[t, r, c]
        else:
            moved_pose(T[t], displacements[t], speed, turning, frames, T_to[t])


@kernel
def size_of(displacement: Array) -> float:
    """Length of the longest of the b parts of a displacement or a speed, shape (3 b,)."""
    longest = 0.0
    for b in range(0, displacement.shape[0], 3):
        x, y, z = displacement[b], displacement[b + 1], displacement[b + 2]
        longest = max(longest, x**2 + y**2 + z**2)
    return math.sqrt(longest)


@kernel
def share_left(age: float, window: float, duration: float) -> float:
    """
    Return the share of a displacement that the mean over a window of time has not gone yet.

    The goal goes evenly, for a `duration` that begins `age` ago, or later if that is negative.
    """
    short, long = min(window, duration), max(window, duration)
    if age <= 0.0:
        return 1.0
    if age < short:
        return 1.0 - age * age / (2.0 * short * long)
    if age < long:
        return 1.0 - (age - 0.5 * short) / long
    rest = max(0.0, short + long - age)
    return rest * rest / (2.0 * short * long)


@kernel
def path_to_newest(
    ages: Array, durations: Array, displacements: Array, windows: Array, dt: float, left: Array
) -> None:
    """
    Write the displacements from the means of goals over windows of time to the goals now.

    Parameters
    ----------
    ages, durations : array, shape (m,)
        When the goal begins each displacement, as time since then, and how long it takes [s].
    displacements : array, shape (m, 6 k)
        Those displacements of k goals.
    windows : array, shape (k,)
        Length of the window of each [s].
    dt : float
        Time from now at which the means are taken [s].
    left : array, shape (6 k,)
        Written to.

    """
    left[:] = 0.0
    for i in range(ages.shape[0]):
        for b in range(windows.shape[0]):
            weight = share_left(ages[i] + dt, windows[b], durations[i])
            if weight > 0.0:
                for c in range(6 * b, 6 * b + 6):
                    left[c] += weight * displacements[i, c]


@kernel
def mean_velocity(
    ages: Array, displacements: Array, interval: float, since: float, until: float, velocity: Array
) -> None:
    """
    Write the mean velocity with which a sender made displacements, over a part of the past.

    Parameters
    ----------
    ages, displacements : array
        As above.
    interval : float
        Time before the begin of each displacement in which the sender made it [s].
    since, until : float
        The part, from the older to the newer age [s].
    velocity : array, shape (c,)
        Written to.

    """
    velocity[:] = 0.0
    for i in range(ages.shape[0]):
        time = min(since, ages[i] + interval) - max(until, ages[i])
        if time > 0.0:
            share = time / (interval * (since - until))
            for c in range(velocity.shape[0]):
                velocity[c] += share * displacements[i, c]
