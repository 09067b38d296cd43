"""A planner for those who wait for it, with the interface of one that works in the background."""

from collections.abc import Callable

from .plan_request import PlanRequest
from .plan_result import Plan
from .planner import Planner


class DirectPlanner:
    """
    A planner that is done at once, where somebody waits for it.

    Parameters
    ----------
    planner : Planner
        Finds ways.
    planning_time : float
        Longest search for one way [s].
    should_stop : callable
        True ends a search.

    Attributes
    ----------
    should_stop : callable
        As above.

    """

    time_passed = 0.0
    is_busy = False

    def __init__(
        self, planner: Planner, planning_time: float, should_stop: Callable[[], bool]
    ) -> None:
        self._planner, self.should_stop = planner, should_stop
        self.planning_time = planning_time
        self._plan: Plan | None = None

    def request(self, request: PlanRequest) -> None:
        """Look for a path."""
        self._plan = self._planner.plan(request, self.should_stop)

    def poll(self) -> Plan | None:
        """Return the result."""
        return self._plan

    def cancel(self) -> None:
        """Do nothing: no search goes on."""
