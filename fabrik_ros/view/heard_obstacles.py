"""Obstacles in markers, where they stand for a robot."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from ..collision import Obstacle
from ..errors import FabrikError
from ..model.robot import Robot
from ..ros.marker_obstacles import after, Groups, in_time, MarkedObstacle, on_link


class HeardObstacles:
    """
    Keeps the obstacles that messages with markers told of.

    Those in frames that are no links of the robot are left out: only tf knows where they are.
    """

    def __init__(self) -> None:
        self._groups: Groups = {}
        self._robot: Robot | None = None
        self._placed: dict[MarkedObstacle, Obstacle] = {}
        """Obstacles that stay where their link was when they were placed."""

    def take(self, message: Any, now: float) -> None:
        """Take a MarkerArray at a time [s]; one that the node refuses changes nothing."""
        with suppress(FabrikError):
            self._groups = after(self._groups, message, now)

    def place(self, robot: Robot, values: Mapping[str, float], now: float) -> tuple[Obstacle, ...]:
        """
        Say what stands there at a time [s].

        Parameters
        ----------
        robot : Robot
            Its links are the frames.
        values : mapping
            Where its joints are now, by name [rad or m].
        now : float
            The time [s].

        """
        before = self._placed if robot is self._robot else {}
        self._robot, self._placed = robot, {}
        self._groups = in_time(self._groups, now)
        for group in self._groups.values():
            for marked in group.obstacles:
                with suppress(FabrikError):
                    self._placed[marked] = before.get(marked) or on_link(marked, robot, values)
        return tuple(self._placed.values())
