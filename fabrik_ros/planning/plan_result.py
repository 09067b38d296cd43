"""Result of planning: a path that can be played and plotted, or the reason why there is none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from typing import Protocol

import numpy as np
import numpy.typing as npt

from ..transforms import Array
from .timed_way import TimedWay


class PlanOutcome(Enum):
    """
    Outcome of planning; the value is a stable code.

    Attributes
    ----------
    FOUND
        There is a way.
    START_IN_COLLISION
        Something is too near where the arm is, and no way leads apart from it.
    GOAL_NOT_REACHABLE
        The solver finds no configuration at the goal.
    GOAL_IN_COLLISION
        It finds some, but something is too near in each of them.
    NOT_FOUND
        Planning time ended.
    CANCELLED
        The caller ended the search.

    """

    FOUND = 'found'
    START_IN_COLLISION = 'start_in_collision'
    GOAL_NOT_REACHABLE = 'goal_not_reachable'
    GOAL_IN_COLLISION = 'goal_in_collision'
    NOT_FOUND = 'not_found'
    CANCELLED = 'cancelled'


class Timed(Protocol):
    """A way with a time for each place."""

    @property
    def duration(self) -> float:
        """Its duration [s]."""

    def at(self, time: npt.ArrayLike) -> Array:
        """Joint values at times [s], shape (n,) or (k, n); before and after, at the ends."""


@dataclass(frozen=True, eq=False)
class Plan:
    """
    A way from a configuration to a goal, or why none was found; true if there is one.

    Joints go straight from knot to knot. Knots are dense where the way bends, so that an arm need
    not stop at any of them.

    Attributes
    ----------
    outcome : PlanOutcome
        What came of it.
    reason : str
        Why there is no way, for people; '' where there is one.
    knots : array, shape (m, n)
        Joint values on the way, from start to goal [rad or m]; m = 0 without one.
    straight_room : array, shape (m,)
        Free distance straight ahead of each knot [rad, or m where prismatic]. It bounds the speed
        of an arm whose jerk is limited, as that brakes straight ahead; infinite where it was not
        asked for.
    joint_names : tuple of str
        Names of the n joints.
    fastest : array, shape (n,)
        Greatest speeds of the joints [rad/s or m/s].
    planning_time : float
        Duration of the search [s].
    collision_checking : str
        What was kept apart, with the values assumed for joints outside the arm; or why nothing
        was.
    orientation_error : float
        How far the tool is turned off the target at the goal [rad], by the mode: more than the
        tolerance only in mode 'auto' with too few joints, where it is the best there is.
    drive : callable, optional
        Drives the way as an arm does. None: joints go as fast as they may, with some of their
        acceleration to spare, and tips at any speed.

    """

    outcome: PlanOutcome
    reason: str
    knots: Array
    straight_room: Array
    joint_names: tuple[str, ...]
    fastest: Array
    planning_time: float
    collision_checking: str = ''
    orientation_error: float = 0.0
    drive: Callable[[Plan], Timed] | None = field(default=None, repr=False)

    def __bool__(self) -> bool:
        return self.found

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
        return float(np.sum(np.linalg.norm(np.diff(self._way, axis=0), axis=1)))

    @property
    def duration(self) -> float:
        """
        Duration of the way, from rest to rest [s]; it is driven once for that.

        Raises
        ------
        MotionError
            If it is more than an hour.

        """
        return self._timed.duration

    def at(self, time: npt.ArrayLike) -> Array:
        """
        Joint values on the way at times after its beginning.

        Parameters
        ----------
        time : float or array, shape (k,)
            From 0 at the start to `duration` at the goal; the arm rests before and after [s].

        Returns
        -------
        array, shape (n,) or (k, n)
            [rad or m].

        """
        return self._timed.at(time)

    @cached_property
    def _timed(self) -> Timed:
        way = self._way
        return TimedWay(way, self.fastest) if self.drive is None else self.drive(self)

    @property
    def _way(self) -> Array:
        if not self.found:
            raise ValueError(f'no way was found: {self.reason}')
        return self.knots
