"""Goals at which the same solids collide in any configuration."""

import numpy as np

from ..collision.distances import PairDistances
from ..model.mechanism import Mechanism
from ..solver.tree_solver import is_unconstrained
from ..transforms import Array
from .moving_joints import joints_with_goal
from .whole_turns import TURN

ENOUGH = 20
"""Configurations with the solids in the same places that leave no doubt [1]."""
OTHER = 0.1
"""Configurations are different if a joint differs by more, whole turns aside [rad or m]."""
SAME_PLACE = 1e-4
"""Largest difference of equal places, origins [m] and rotation matrices [1]."""


class BlockedGoal:
    """
    Finds out that what collides at a goal would collide in any other configuration, too.

    What a tip carries is in one place wherever the tip has to be in a pose: if it collides there
    with what does not move, no other configuration helps, of which a redundant arm has no end.
    Goals that leave a tip some freedom put it elsewhere in each configuration.

    Parameters
    ----------
    distances : PairDistances
        Knows where the solids are, and which joints move them.
    robot : Mechanism
        The joints.
    T : array, shape (k, 4, 4), or None
        Poses of the tips, NaN for those without a goal; None: no goal is ever called blocked.

    """

    def __init__(self, distances: PairDistances, robot: Mechanism, T: Array | None) -> None:
        self._distances, self._is_revolute = distances, robot.is_revolute
        tips = [] if T is None else np.flatnonzero(~is_unconstrained(T)).tolist()
        self._joints_of_tips = [robot.moves(t) for t in tips]
        self._moves = joints_with_goal(robot, T)
        self._pair, self._places = -1, np.empty((2, 12))
        self._configurations: list[Array] = []

    def pair_in_any(self, p: int, q: Array) -> int:
        """
        Take note that pair number `p` collides at joint values `q`, shape (n,), at the goal.

        Returns
        -------
        int
            Number of the pair that collides in any configuration; -1 while that is not certain.

        """
        if self._configurations and np.allclose(
            self._distances.places(self._pair, q), self._places, rtol=0.0, atol=SAME_PLACE
        ):
            if all(self._differ(q, other) for other in self._configurations):
                self._configurations.append(q)
        elif self._goes_with_tips(p):
            self._pair, self._places = p, self._distances.places(p, q)
            self._configurations = [q]
        else:
            self._configurations = []
        return self._pair if len(self._configurations) >= ENOUGH else -1

    def _goes_with_tips(self, p: int) -> bool:
        """Whether each of its solids is fixed to a tip with a goal, or stands still."""
        moved = self._moves & (self._distances.motion_bounds[p, : len(self._moves)] > 0.0)
        with_tips = np.zeros_like(moved)
        for joints in self._joints_of_tips:
            with_tips |= joints & bool(moved[joints].all())
        return bool(np.array_equal(moved, with_tips))

    def _differ(self, q: Array, other: Array) -> bool:
        """Whether two configurations differ, whole turns aside."""
        away = q - other
        turns = np.where(self._is_revolute, np.round(away / TURN), 0.0)
        return bool(np.any(np.abs(away - TURN * turns) > OTHER))
