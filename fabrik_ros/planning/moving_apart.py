"""Configurations to which links that are too near each other where the arm stands come apart."""

import numpy as np

from ..collision.guard import CollisionGuard
from ..model.mechanism import Mechanism
from ..transforms import Array
from .pieces import Pieces

TRIES = 300
"""Number of configurations that are tried [1]."""
NEAREST, FARTHEST = 0.05, 2.5
"""Least and greatest distance of these from the start, tried in that order [rad or m]."""


def configuration_apart(robot: Mechanism, guard: CollisionGuard, q: Array) -> Pieces[Array | None]:
    """
    Find a configuration nearby to which links that are too near at `q` only move apart.

    Parameters
    ----------
    robot : Chain or Tree
        The joints.
    guard : CollisionGuard
        Knows what collides.
    q : array, shape (n,)
        Where the arm is [rad or m].

    """
    rng = np.random.default_rng(0)
    for number in range(TRIES):
        size = NEAREST * (FARTHEST / NEAREST) ** (number / (TRIES - 1))
        away = rng.normal(size=len(q)) * (rng.random(len(q)) < rng.uniform(0.2, 1.0))
        longest = np.max(np.abs(away))
        if longest > 0.0:
            apart: Array = np.clip(q + size * away / longest, robot.lower, robot.upper)
            if guard.leads_apart(q, apart):
                return apart
        yield
    return None
