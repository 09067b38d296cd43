"""Joints that a goal concerns."""

import numpy as np
import numpy.typing as npt

from ..model.mechanism import Mechanism
from ..solver.tree_solver import is_unconstrained
from ..transforms import Array


def joints_with_goal(robot: Mechanism, T: Array | None) -> npt.NDArray[np.bool_]:
    """
    Tell of each joint, shape (n,), whether it moves a tip with a goal; others may stay.

    Parameters
    ----------
    robot : Chain or Tree
        The joints.
    T : array, shape (k, 4, 4), or None
        Poses of the tips, NaN for those without a goal; None: all joints have one.

    """
    if T is None:
        return np.ones(len(robot), dtype=bool)
    moves = np.zeros(len(robot), dtype=bool)
    for t in np.flatnonzero(~is_unconstrained(T)).tolist():
        moves |= robot.moves(t)
    return moves
