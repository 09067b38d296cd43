"""
Displacements between poses, measured by the time they take.

A displacement has the shape (k, 6): for each of k tips the translation and the rotation vector,
divided by the greatest speed of the tip and of its rotation. So it is in seconds, and a speed,
which is a displacement per second, is a share of the greatest speeds.

"""

import numpy as np

from ...kernels.arm_table import FRAME
from ...kernels.displacement import displacements_between, moved_poses, size_of
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
        displacements = np.empty((len(T), 6))
        displacements_between(T, T_to, *self._speeds, self._frames, displacements)
        return displacements

    def moved(self, T: Array, displacement: Array) -> Array:
        """Poses, shape (k, 4, 4), some way from others; unconstrained ones stay so."""
        T_to = np.empty(T.shape)
        moved_poses(T, displacement, *self._speeds, self._frames, T_to)
        return T_to
