"""Configurations that reach the same target: which are distinct, and which is to be preferred."""

from collections.abc import Sequence
import math

import numpy as np

from ..model.chain import Chain
from ..transforms import Array
from .solution import Solution


class Distinct:
    """
    Configurations no two of which are the same.

    Parameters
    ----------
    chain : Chain
        The arm.
    spacing : float
        Two are the same if no joint differs by more [rad or m]; whole turns do not count.

    """

    def __init__(self, chain: Chain, spacing: float) -> None:
        self._spacing = spacing
        self._turns = chain.is_revolute
        self._kept = np.empty((0, len(chain)))

    def add(self, q: Array) -> bool:
        """Keep a configuration if it is new, and tell whether it is."""
        apart = self._kept - q
        whole = 2.0 * math.pi * np.round(apart / (2.0 * math.pi))
        apart = np.abs(np.where(self._turns, apart - whole, apart))
        if np.any(np.all(apart <= self._spacing, axis=1)):
            return False
        self._kept = np.vstack([self._kept, q])
        return True


def most_central(solutions: Sequence[Solution], chain: Chain) -> Solution:
    """Choose the solution farthest from the limits, as a share of each joint's range."""
    bounded = np.isfinite(chain.upper - chain.lower) & (chain.upper > chain.lower)
    lower, upper = chain.lower[bounded], chain.upper[bounded]

    def eccentricity(solution: Solution) -> float:
        shares = np.abs(2.0 * solution.q[bounded] - (lower + upper)) / (upper - lower)
        return float(shares.max(initial=0.0))

    return min(solutions, key=eccentricity)
