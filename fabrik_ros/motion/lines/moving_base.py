"""
A base that moves: where the world is, seen from it, and whether it moves at all.

No clock in here: each pose is for the end of a step of a length given by the caller.

"""

import numpy as np

from ...transforms import Array, inverse, rotation_vector

STILL_DISTANCE, STILL_ANGLE = 1e-4, 1e-4
"""Largest motion of a base that counts as standing [m], [rad]: sensors are never still."""
STILL_TIME = 0.2
"""Time without a larger motion after which it counts as standing [s]."""
LEAP_SPEED, LEAP_TURN = 5.0, 10.0
"""Fastest believed motion of a base [m/s], [rad/s]; a faster one is a corrected pose."""


class MovingBase:
    """
    The pose of the base, followed step by step.

    Attributes
    ----------
    T_base_world : array, shape (4, 4)
        Where the world is. While the base stands it does not change at all.
    T_base_world_before : array, shape (4, 4)
        Where it was a step ago.
    moves : bool
        Whether the base moves.
    has_leapt : bool
        Whether the newest pose is one that no base could have got to from the one before.

    """

    def __init__(self) -> None:
        self.begin(np.eye(4))

    def begin(self, T_base_world: Array) -> None:
        """Take the base to stand still where the world is at `T_base_world` (4, 4)."""
        self.T_base_world = self.T_base_world_before = self._anchor = T_base_world
        self.moves = self.has_leapt = False
        self._still_time = STILL_TIME

    def follow(self, T_base_world: Array, dt: float) -> None:
        """Go on to the pose `T_base_world` (4, 4), `dt` seconds later."""
        if _is_close(self._anchor, T_base_world, STILL_DISTANCE, STILL_ANGLE):
            self._still_time += dt
        else:
            self._still_time = 0.0
            self._anchor = T_base_world
        self.moves = self._still_time < STILL_TIME
        self.T_base_world_before = self.T_base_world
        self.has_leapt = self.moves and not _is_close(
            self.T_base_world, T_base_world, LEAP_SPEED * dt, LEAP_TURN * dt
        )
        if self.moves:
            self.T_base_world = T_base_world


def _is_close(T_before_world: Array, T_now_world: Array, distance: float, angle: float) -> bool:
    """Whether the base, not the world, has moved by no more than that."""
    T_before_now = T_before_world @ inverse(T_now_world)
    return bool(
        np.linalg.norm(T_before_now[:3, 3]) <= distance
        and np.linalg.norm(rotation_vector(T_before_now[:3, :3])) <= angle
    )
