"""Reports of the node: status, diagnostics and the log."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
from rclpy.clock import Clock, ClockType
from rclpy.duration import Duration
from rclpy.node import Node

from ...errors import FabrikError, RefusedError
from ...motion.following.arm_state import State
from ...motion.following.follower import Follower
from ...reasons import Reason, ReasonKind
from ..clocks.log_periods import REMINDER_PERIOD
from ..clocks.node_clock import NodeClock
from ..clocks.spare_time import SpareTime
from .diagnostics import diagnostic_array

STATUS_PERIOD = 0.1
"""Time between two statuses [s]."""
DIAGNOSTICS_PERIOD = 1.0
"""Time between two messages on /diagnostics [s]."""
STANDING_REPORTS = 5
"""Most statuses with the same time; after more the clock counts as standing still [1]."""
DELIVERY_TIME = Duration(seconds=0.2)
"""Longest wait for the delivery of the last status."""
CLOCK_STANDS = Reason(
    ReasonKind.CLOCK_STANDS,
    'the clock stands still: use_sim_time is set, and no later time comes on /clock',
)


@dataclass
class Tally:
    """Counts since the node began."""

    accepted: int = 0
    refused: int = 0
    commands: int = 0
    late: int = 0
    """Number of times that commands came too late for controllers of trajectories [1]."""
    lateness: float = 0.0
    """Lateness of the last of these [s]."""
    finishers: dict[str, int] = field(
        default_factory=lambda: {'seed': 0, 'fabrik': 0, 'polish': 0, 'nobody': 0}
    )
    """Steps by who finished the solve."""
    step_time: float = 0.0
    """Duration of the last step on the path [s]."""
    last_refusal: str = ''
    refusal_code: str = ''
    refused_target: str = ''
    refused_because: str = ''
    """Code of the refusal of the last target that was refused, its stamp or name, and why."""

    def step(self, duration: float, finished_by: str) -> None:
        """Count a step on the path, and keep its `duration` [s]."""
        self.step_time = duration
        self.finishers[finished_by] += 1

    def refuse(self, error: FabrikError, target: str = '') -> None:
        """Count a target that is refused; its stamp or name tell its sender that it was."""
        kind = error.reason.kind if isinstance(error, RefusedError) else ReasonKind.BAD_REQUEST
        self.refused += 1
        self.last_refusal = self.refused_because = str(error)
        self.refusal_code, self.refused_target = kind.value, target

    def facts(self) -> dict[str, Any]:
        """Facts for the status: all counts, and the last refusal."""
        return {
            'accepted': self.accepted,
            'refused': self.refused,
            'commands': self.commands,
            'late_commands': self.late,
            'lateness': self.lateness,
            **{f'finished_by_{who}': count for who, count in self.finishers.items()},
            'step_time': self.step_time,
            'last_refusal': self.last_refusal,
            'refusal_code': self.refusal_code,
            'refused_target': self.refused_target,
            'refused_because': self.refused_because,
        }


@dataclass(frozen=True)
class Report:
    """One status: state, reason, what is awaited, facts."""

    state: State
    reason: Reason | None
    """Why; None where that is plain."""
    awaited: str
    """Thing that the node waits for; '' where it waits for nothing."""
    facts: dict[str, Any]
    """Other facts, by name."""
    follower: Follower | None = None
    """Follower that decides what the arm does, while the node is active."""


class Reporter:
    """
    Publishes and logs what the node does, again and again.

    Parameters
    ----------
    node : Node
        Whose topics and log they are.
    clock : NodeClock
        Its time.
    spare_time : SpareTime
        When it reports, while commands are sent.
    make_report : callable
        Makes a report.
    show_path : callable
        Publishes the path that was found by what decides what the arm does, if that is new.

    """

    def __init__(
        self,
        node: Node,
        clock: NodeClock,
        spare_time: SpareTime,
        make_report: Callable[[], Report],
        show_path: Callable[[Follower | None], None],
    ) -> None:
        self._node, self._clock = node, clock
        self._make_report, self._show_path = make_report, show_path
        self._last: tuple[State, str] | None = None
        """State and reason as reported last."""
        self._reported_at, self._reports_since = 0.0, 0
        self._statuses = node.create_publisher(DiagnosticArray, '~/status', 10)
        self._diagnostics = node.create_publisher(DiagnosticArray, '/diagnostics', 10)
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        for period, work in (
            (STATUS_PERIOD, self.report),
            (DIAGNOSTICS_PERIOD, self._report_diagnostics),
            (REMINDER_PERIOD, self._remind),
        ):
            node.create_timer(period, partial(spare_time.ask, work), clock=steady)

    def report(self) -> None:
        """Publish the status, and the path where that is new."""
        self._look_at_the_clock()
        report = self._make_report()
        reason = self._reason(report)
        if (report.state, str(reason)) != self._last:
            self._last = report.state, str(reason)
            self._node.get_logger().info(f'{report.state.name}: {reason or report.state.value}')
        self._statuses.publish(self._message(self._node.get_name(), report))
        self._show_path(report.follower)

    def report_last(self) -> None:
        """Publish the status once more, and wait until its readers have it."""
        self.report()
        self._statuses.wait_for_all_acked(DELIVERY_TIME)

    def _report_diagnostics(self) -> None:
        message = self._message(self._node.get_fully_qualified_name(), self._make_report())
        self._diagnostics.publish(message)

    def _message(self, name: str, report: Report) -> DiagnosticArray:
        stamp = self._node.get_clock().now().to_msg()
        return diagnostic_array(name, report.state, self._reason(report), report.facts, stamp)

    def _reason(self, report: Report) -> Reason | None:
        moves = report.state in (State.MOVING, State.JOGGING)
        stands = moves and self._reports_since > STANDING_REPORTS
        return report.reason or (CLOCK_STANDS if stands else None)

    def _look_at_the_clock(self) -> None:
        """Count the reports for which it shows the same time."""
        now = self._clock.now()
        self._reports_since = self._reports_since + 1 if now == self._reported_at else 0
        self._reported_at = now

    def _remind(self) -> None:
        """Log again what the node waits for."""
        report = self._make_report()
        if report.state in (State.WAITING_FOR_MODEL, State.WAITING_FOR_STATE):
            self._node.get_logger().info(f'still waiting for {report.awaited}: {report.reason}')
