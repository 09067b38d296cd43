"""The planner of the node: a thread that looks for ways in the world as it is now."""

import time

from rclpy.node import Node

from ...kernels._jit import IS_BUILT
from ...planning import (
    Plan,
    PlannerFailure,
    PlannerSetup,
    PlannerState,
    PlannerThread,
    PlanRequest,
)
from ..parameters.node_parameters import NodeParameters
from .collision_watch import CollisionWatch

STARTING_CHECK_PERIOD = 0.02
"""Time between two looks whether the planner is ready [s]."""


class NodePlanner:
    """
    Hands requests to the thread of the planner, with the obstacles that are known now.

    Parameters
    ----------
    node : Node
        Logs what goes wrong.
    setup : PlannerSetup
        The arm.
    watch : CollisionWatch
        Knows the obstacles, and where the joints outside the arm are.
    planning_time : float
        How long to look for a way [s].

    Attributes
    ----------
    planning_time : float
        As above.

    """

    def __init__(
        self, node: Node, setup: PlannerSetup, watch: CollisionWatch, planning_time: float
    ) -> None:
        self._log, self._watch, self.planning_time = node.get_logger(), watch, planning_time
        self._setup, self._thread = setup, PlannerThread()

    def start(self) -> None:
        """Start the thread; wait while it compiles, as that would delay commands."""
        self._thread.start(self._setup, self._watch.own)
        while not IS_BUILT and self._thread.state is PlannerState.STARTING:
            self.attend()
            time.sleep(STARTING_CHECK_PERIOD)

    @property
    def is_busy(self) -> bool:
        """Whether it looks for a way."""
        return self._thread.is_busy

    @property
    def time_passed(self) -> float:
        """Time for which it has been looking [s]."""
        return self._thread.time_passed

    @property
    def state(self) -> str:
        """State of the planner, for the status."""
        return self._thread.state.value

    def request(self, request: PlanRequest) -> None:
        """Begin to look for a way in the world as it is now."""
        self._thread.request(request, *self._watch.snapshot())

    def poll(self) -> Plan | PlannerFailure | None:
        """Return what came of it; None as long as it is looking."""
        answer = self._thread.poll()
        if isinstance(answer, PlannerFailure):
            self._log.error(f'planner: {answer.text}')
        return answer

    def attend(self) -> None:
        """Take note of what became of the planner while nothing is asked of it."""
        if not self.is_busy:
            self.poll()

    def change(self, setup: PlannerSetup) -> None:
        """Plan for an arm whose goals ask for something else from now on."""
        self._thread.start(setup, self._watch.own)

    def cancel(self) -> None:
        """Look no longer."""
        self._thread.cancel()

    def close(self) -> None:
        """End the thread."""
        self._thread.close()


def make_planner(
    node: Node, setup: PlannerSetup, parameters: NodeParameters, watch: CollisionWatch
) -> NodePlanner | None:
    """Make the planner of an arm; None where there is none."""
    if watch.guard is None or parameters.planning_time == 0.0:
        return None
    return NodePlanner(node, setup, watch, parameters.planning_time)


def why_none(parameters: NodeParameters) -> str:
    """Say why there is no planner."""
    if parameters.planning_time == 0.0:
        return 'none: planning_time is 0'
    return 'none: nothing that could collide is known'
