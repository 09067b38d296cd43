"""Ways that a planner finds for an arm that rests; it works beside the motion, in its own time."""

from typing import Protocol

from ...planning.pieces import Pieces
from ...planning.plan_request import PlanRequest
from ...planning.plan_result import Plan
from ...planning.planner_process import PlannerFailure


class RoutePlanner(Protocol):
    """Looks for ways in the background; no call waits for it."""

    planning_time: float
    """Longest search for one way [s]."""

    @property
    def is_busy(self) -> bool:
        """Whether it looks for a way."""

    @property
    def time_passed(self) -> float:
        """Time since the search began [s]."""

    def request(self, request: PlanRequest) -> None:
        """Begin to look for a way in the world as it is now."""

    def poll(self) -> Plan | PlannerFailure | None:
        """Return the result; None as long as the search goes on."""

    def cancel(self) -> None:
        """Cancel the search."""


def plan_with(planner: RoutePlanner, request: PlanRequest) -> Pieces[Plan | PlannerFailure]:
    """Let a planner look for a way; its search is cancelled if the caller drops these pieces."""
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
