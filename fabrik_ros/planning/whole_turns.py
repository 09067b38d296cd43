"""Configurations that differ by whole turns of joints, and put the tips in the same poses."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from ..model.mechanism import Mechanism
from ..transforms import Array

SAME_POSE = 1e-6
"""Poses are the same if no entry differs by more [1 or m]."""
TURN = 2.0 * np.pi


class WholeTurns:
    """
    Turns joints by whole turns, inside their limits.

    Parameters
    ----------
    robot : Chain or Tree
        The joints.

    """

    def __init__(self, robot: Mechanism) -> None:
        self._robot, self._turns_whole = robot, _turns_whole(robot)

    def of(self, q_goal: Array, q: Array) -> Iterator[Array]:
        """
        Yield a configuration with joints turned by whole turns to be near `q`.

        The first is the nearest inside the limits; in each other one more joint is turned the
        other way round.
        """
        robot, turns_whole = self._robot, self._turns_whole
        fewest = np.where(turns_whole, np.ceil((robot.lower - q_goal) / TURN), 0.0)
        most = np.where(turns_whole, np.floor((robot.upper - q_goal) / TURN), 0.0)
        exact = (q - q_goal) / TURN
        nearest = np.clip(np.round(exact), np.minimum(fewest, 0.0), np.maximum(most, 0.0))
        yield q_goal + TURN * nearest
        other_way = nearest + np.where(exact > nearest, 1.0, -1.0)
        for j in np.flatnonzero(turns_whole & (fewest <= other_way) & (other_way <= most)):
            turns = nearest.copy()
            turns[j] = other_way[j]
            yield q_goal + TURN * turns


def _turns_whole(robot: Mechanism) -> npt.NDArray[np.bool_]:
    """
    Mask of the joints that stand as before after a whole turn, shape (n,).

    A revolute joint does, unless another one follows it at a ratio.
    """
    q = robot.mid_configuration()
    T = robot.tip_poses(q)
    turned = (robot.tip_poses(q + turn) for turn in TURN * np.eye(len(q)))
    same = [np.allclose(T, T_turned, atol=SAME_POSE) for T_turned in turned]
    whole: npt.NDArray[np.bool_] = robot.is_revolute & np.array(same)
    return whole
