"""
Displacements between poses, measured by the time they take.

A displacement has the shape (k, 6): for each of k tips the translation and the rotation vector,
divided by the greatest speed of the tip and of its rotation. So it is in seconds, and a speed,
which is a displacement per second, is a share of the greatest speeds.

"""

import math

import numpy as np

from ...kernels.arm_table import FRAME
from ...kernels.displacement import displacement_between, moved_pose, size_of
from ...transforms import Array


def length_of(displacement: Array) -> float:
    """Size of a displacement or a speed: the largest of its translations and its rotations."""
    return size_of(displacement.reshape(-1))


class TipSpace:
    """
    Measures displacements of tips.

    Parameters
    ----------
    tip_speed : float
        Greatest speed of a tip [m/s].
    tip_rotation : float
        Greatest angular speed of a tip [rad/s].

    """

    def __init__(self, tip_speed: float, tip_rotation: float) -> None:
        self._speeds = tip_speed, tip_rotation
        self._frames = np.empty((2, FRAME))

    def between(self, T: Array, T_to: Array) -> Array:
        """Displacement from poses to others, both (k, 4, 4); 0 for unconstrained tips."""
        displacement = np.zeros((len(T), 6))
        for t in range(len(T)):
            if not math.isnan(T_to[t, 0, 0]):
                displacement_between(T[t], T_to[t], *self._speeds, self._frames, displacement[t])
        return displacement

    def moved(self, T: Array, displacement: Array) -> Array:
        """Poses, shape (k, 4, 4), some way from others; unconstrained ones stay so."""
        T_to = np.empty_like(T)
        for t in range(len(T)):
            if math.isnan(T[t, 0, 0]):
                T_to[t] = T[t]
            else:
                moved_pose(T[t], displacement[t], *self._speeds, self._frames, T_to[t])
        return T_to
