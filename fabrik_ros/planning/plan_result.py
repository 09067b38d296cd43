"""What came of planning: a way that can be played and plotted, or why there is none."""

from dataclasses import dataclass
from enum import Enum

import numpy as np
import numpy.typing as npt

from ..transforms import Array


class PlanOutcome(Enum):
    """What came of planning; the value is a stable code."""

    FOUND = 'found'
    START_IN_COLLISION = 'start_in_collision'
    """Something is too near where the arm is, and no way leads apart from it."""
    GOAL_NOT_REACHABLE = 'goal_not_reachable'
    """The solver finds no configuration at the goal."""
    GOAL_IN_COLLISION = 'goal_in_collision'
    """It finds some, but something is too near in each of them."""
    NOT_FOUND = 'not_found'
    """Planning time ended."""
    CANCELLED = 'cancelled'
    """The caller did not want to wait any longer."""


@dataclass(frozen=True, eq=False)
class Plan:
    """
    A way from a configuration to a goal, or why none was found.

    Joints go straight from knot to knot. Knots are dense where the way bends, so that an arm need
    not stop at any of them.
    """

    outcome: PlanOutcome
    reason: str
    """Why there is no way, for people; '' where there is one."""
    knots: Array
    """Joint values on the way, from start to goal, shape (m, n) [rad or m]; m = 0 without one."""
    straight_room: Array
    """
    How far the arm could go straight on from each knot, shape (m,) [rad, or m where prismatic].

    By that it knows how fast it may be there: it brakes straight on.
    """
    joint_names: tuple[str, ...]
    """Names of the n joints."""
    planning_time: float
    """How long it took [s]."""

    @property
    def found(self) -> bool:
        """Whether there is a way."""
        return self.outcome is PlanOutcome.FOUND

    @property
    def q(self) -> Array:
        """Joint values at the goal, shape (n,) [rad or m]."""
        end: Array = self._way[-1]
        return end

    @property
    def length(self) -> float:
        """Length of the way in joint space [rad, and m of prismatic joints]."""
        return float(self._places[-1])

    def at(self, share: npt.ArrayLike) -> Array:
        """
        Joint values at shares of the length of the way.

        Parameters
        ----------
        share : float or array, shape (k,)
            0 at the start, 1 at the goal; beyond, those.

        Returns
        -------
        array, shape (n,) or (k, n)
            [rad or m].

        """
        places = self._places
        at = np.asarray(share, dtype=np.float64) * places[-1]
        columns = [np.interp(at, places, column) for column in self._way.T]
        values: Array = np.stack(columns, axis=-1)
        return values

    @property
    def _way(self) -> Array:
        if not self.found:
            raise ValueError(f'no way was found: {self.reason}')
        return self.knots

    @property
    def _places(self) -> Array:
        """Lengths of the way up to each knot, shape (m,)."""
        lengths = np.linalg.norm(np.diff(self._way, axis=0), axis=1)
        return np.concatenate([[0.0], np.cumsum(lengths)])
