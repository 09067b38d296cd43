"""Ways of an arm between configurations, and configurations at poses, for programs."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..planning.pieces import Pieces
from ..planning.plan_request import PlanRequest
from ..planning.waypoint_finder import WaypointFinder
from ..reasons import Reason, ReasonKind
from ..solver.solution import Solution
from ..transforms import Array

NO_WAY = Reason(ReasonKind.NO_PATH, 'no free way there was found')
NOT_FREE = Reason(ReasonKind.GOAL_IN_COLLISION, 'the arm would collide in every configuration')

Ask = Callable[[PlanRequest], Pieces['Array | Reason']]
"""Lets a planner look for knots, shape (m, n), or say why there are none."""


@dataclass(frozen=True)
class FreeWays:
    """
    Finds ways: straight in joint space where that is free, else as a planner does.

    Parameters
    ----------
    waypoints : WaypointFinder
        Finds configurations, and straight ways.
    solve : callable
        Finds joint values for poses of shape (1, 4, 4) from a seed of shape (n,).
    ask : callable or None
        Asks a planner; without one a way over one configuration between is looked for.
    fastest : array, shape (n,)
        Greatest speeds of the joints [rad/s or m/s].
    planning_time : float
        Longest search for a way [s].

    """

    waypoints: WaypointFinder
    solve: Callable[[Array, Array], Solution]
    ask: Ask | None
    fastest: Array
    planning_time: float

    def goals(self, T: Array, q: Array) -> Pieces[list[Array] | Reason]:
        """Find free configurations at a pose, shape (4, 4), the soonest reached first."""
        first = self.solve(T[None], q)
        yield
        if not first.converged:
            kind = ReasonKind[first.status.name]
            return Reason(kind, first.status.value, first.limited_joints, T[None, :3, 3])
        goals = yield from self.waypoints.goals(first, T[None], q)
        return goals or NOT_FREE

    def way(self, q: Array, q_goal: Array) -> Pieces[Array | Reason]:
        """Find knots, shape (m, n), on a free way between configurations."""
        for straight in self.waypoints.direct((q_goal,), q):
            if straight is not None:
                return np.array([q, q_goal])
            yield
        if self.ask is not None:
            request = PlanRequest(q, None, (q_goal,), None, self.fastest, self.planning_time)
            return (yield from self.ask(request))
        for between in self.waypoints.candidates((q_goal,), q):
            if between is not None:
                return np.array([q, *between])
            yield
        return NO_WAY
