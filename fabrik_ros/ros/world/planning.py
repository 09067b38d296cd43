"""The planner of the node: a process of its own that looks for ways in the world as it is now."""

from rclpy.node import Node

from ...planning import Plan, PlannerFailure, PlannerProcess, PlannerSetup, PlanRequest
from ..parameters.node_parameters import NodeParameters
from .collision_watch import CollisionWatch


class NodePlanner:
    """
    Hands requests to the process of the planner, with the obstacles that are known now.

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
        self._setup, self._process = setup, PlannerProcess()

    def start(self) -> None:
        """
        Start the process, which is ready some seconds later.

        Once the solver of the node is compiled it finds that in the cache; two processes that
        compile the same at a time would take twice as long.
        """
        self._process.start(self._setup)

    @property
    def is_busy(self) -> bool:
        """Whether it looks for a way."""
        return self._process.is_busy

    @property
    def time_passed(self) -> float:
        """Time for which it has been looking [s]."""
        return self._process.time_passed

    @property
    def pid(self) -> int:
        """Number of its process; 0 where there is none."""
        return self._process.pid

    @property
    def state(self) -> str:
        """State of the process, for the status."""
        return self._process.state.value

    def request(self, request: PlanRequest) -> None:
        """Begin to look for a way in the world as it is now."""
        self._process.request(request, *self._watch.snapshot())

    def poll(self) -> Plan | PlannerFailure | None:
        """Return what came of it; None as long as it is looking."""
        answer = self._process.poll()
        if isinstance(answer, PlannerFailure):
            self._log.error(f'planner: {answer.text}')
        return answer

    def attend(self) -> None:
        """Take note of what became of the process while nothing is asked of it."""
        if not self.is_busy:
            self.poll()

    def change(self, setup: PlannerSetup) -> None:
        """Plan for an arm whose goals ask for something else from now on."""
        self._process.start(setup)

    def cancel(self) -> None:
        """Look no longer."""
        self._process.cancel()

    def close(self) -> None:
        """End the process."""
        self._process.close()


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
