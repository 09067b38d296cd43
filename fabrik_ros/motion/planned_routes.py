"""Ways that a planner finds for an arm that rests; it works beside the motion, in its own time."""

from typing import Protocol

from ..planning.pieces import Pieces
from ..planning.plan_request import PlanRequest
from ..planning.plan_result import Plan
from ..planning.planner_process import PlannerFailure


class RoutePlanner(Protocol):
    """Looks for ways elsewhere, without being waited for."""

    planning_time: float
    """How long it looks for one [s]."""

    @property
    def is_busy(self) -> bool:
        """Whether it looks for a way."""

    @property
    def time_passed(self) -> float:
        """For how long it has been looking [s]."""

    def request(self, request: PlanRequest) -> None:
        """Begin to look for a way in the world as it is now."""

    def poll(self) -> Plan | PlannerFailure | None:
        """Return what came of it; None as long as it is looking."""

    def cancel(self) -> None:
        """Look no longer."""


def plan_with(planner: RoutePlanner, request: PlanRequest) -> Pieces[Plan | PlannerFailure]:
    """Let a planner look for a way; it is told to stop where nobody goes on with this."""
    try:
        answer = yield from _answer_of(planner, request)
        if isinstance(answer, PlannerFailure) and answer.is_restarting:
            answer = yield from _answer_of(planner, request)
        return answer
    finally:
        planner.cancel()


def _answer_of(planner: RoutePlanner, request: PlanRequest) -> Pieces[Plan | PlannerFailure]:
    planner.request(request)
    while (answer := planner.poll()) is None:
        yield
    return answer
