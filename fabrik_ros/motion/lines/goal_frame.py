"""
The frames in which goals are held: the base, or the world while the base moves.

References and solvers know the base frame only. This stands between them and goals that stay
where they are in the world.

"""

import numpy as np
import numpy.typing as npt

from ...model.mechanism import Mechanism
from ...transforms import Array, inverse
from .moving_base import MovingBase


class GoalFrame:
    """
    Turns poses from the frames their goals are held in to the base frame, and back.

    Parameters
    ----------
    robot : Chain or Tree
        The joints.

    Attributes
    ----------
    base : MovingBase
        Where the world is.
    in_world : array of bool, shape (k,)
        Which tips have goals that stay where they are in the world.
    is_world : bool
        Whether any of them has.

    """

    def __init__(self, robot: Mechanism) -> None:
        self._robot = robot
        self.reset()

    def reset(self) -> None:
        """Hold no goal in the world, and take the base to stand still."""
        self.base = MovingBase()
        self.hold(np.zeros(len(self._robot.tip_links), dtype=bool))

    def hold(self, in_world: npt.NDArray[np.bool_]) -> None:
        """Hold the goals of some tips, shape (k,), in the world."""
        self.in_world = in_world
        self.is_world = bool(in_world.any())

    def to_base(self, T: Array) -> Array:
        """Poses in the base frame, shape (k, 4, 4), of those in the frames of the goals."""
        return self.seen_from_base(T, self.in_world) if self.is_world else T

    def seen_from_base(self, T: Array, in_world: npt.NDArray[np.bool_]) -> Array:
        """Poses (k, 4, 4) in the base frame; those with `in_world` are given in the world."""
        if not in_world.any():
            return T
        held: Array = np.where(in_world[:, None, None], self.base.T_base_world @ T, T)
        return held

    def tips(self, q: Array) -> Array:
        """Poses of the tips at joint values `q`, each in the frame of its goal, (k, 4, 4)."""
        return self._tips(q, self.base.T_base_world)

    def tips_before(self, q: Array) -> Array:
        """Poses of the tips as in `tips`, with the base where it was a step ago."""
        return self._tips(q, self.base.T_base_world_before)

    @property
    def moves_evenly(self) -> bool:
        """Whether the base moves, and with it what is held in the world, without a leap."""
        return self.is_world and self.base.moves and not self.base.has_leapt

    @property
    def moves(self) -> bool:
        """Whether the base moves, and with it what is held in the world."""
        return self.is_world and self.base.moves

    def _tips(self, q: Array, T_base_world: Array) -> Array:
        T = self._robot.tip_poses(q)
        if not self.is_world:
            return T
        held: Array = np.where(self.in_world[:, None, None], inverse(T_base_world) @ T, T)
        return held
