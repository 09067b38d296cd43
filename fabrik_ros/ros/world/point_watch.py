"""Points that sensors have measured: renewed in pieces, and obstacles while they are new."""

from collections.abc import Callable, Generator, Iterable, Mapping
import math
import time

from rclpy.clock import Clock, ClockType
from rclpy.node import Node

from ...collision import PointCells, PointMap
from ...errors import SceneError, shown
from ...model.mechanism import Mechanism
from ...model.robot import Robot
from ...reasons import Reason, ReasonKind
from ...transforms import Array
from ..clocks.node_clock import NodeClock
from ..clocks.stamps import FUTURE
from ..inputs.frame_resolver import FrameResolver
from ..inputs.joint_history import JointHistory
from ..inputs.point_input import PointInput
from ..parameters.node_parameters import NodeParameters
from .collision_watch import CollisionWatch

PIECES_PERIOD, PIECES_TIME = 0.001, 0.0005
"""Period in which pieces of new cells are measured, and the time for it in each period [s]."""

NO_POINTS = 'no points have come yet (require_points)'
MANY = 10
"""Number of refused clouds from which on they are not counted exactly [1]."""

Renewal = Generator[None, None, Mapping[int, int]]


class PointWatch:
    """
    Keeps the arm clear of the newest points of each sensor.

    Parameters
    ----------
    node : Node
        Has the subscription, the timer and the log.
    clock : NodeClock
        The time.
    parameters : NodeParameters
        Size and padding of cells, and how old they may be.
    robot, arm
        The robot, and the arm or arms of it that move.
    frames : FrameResolver
        Knows where sensors are.
    joints : JointHistory
        Where the joints were.
    watch : CollisionWatch
        Measures the distances.
    q : callable
        Returns the joint values commanded last, shape (n,).
    on_change : callable
        Is called when other cells are in force, with those before, or None, and these.

    """

    def __init__(
        self,
        node: Node,
        clock: NodeClock,
        parameters: NodeParameters,
        robot: Robot,
        arm: Mechanism,
        frames: FrameResolver,
        joints: JointHistory,
        watch: CollisionWatch,
        q: Callable[[], Array],
        on_change: Callable[[PointCells | None, PointCells], None],
    ) -> None:
        self._node, self._clock, self._parameters = node, clock, parameters
        self._watch, self._q, self._on_change = watch, q, on_change
        self._stamps: dict[str, float] = {}
        """Stamp of the newest accepted cloud of each frame [s]."""
        self._cells: dict[str, PointCells] = {}
        self._waiting: dict[str, PointCells] = {}
        self._renewal: tuple[str, PointCells, Renewal] | None = None
        self._map = PointMap(parameters.point_size, parameters.points_padding)
        self._input = PointInput(
            node,
            clock,
            frames,
            joints,
            arm.joint_names,
            robot.root_link,
            watch.robot_shape(),
            self._map,
            watch.check_arm_whole,
            self._take,
        )
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._timer = node.create_timer(PIECES_PERIOD, self._go_on, clock=steady)
        self._timer.cancel()

    def close(self) -> None:
        """Take no more clouds."""
        self._input.close()
        self._node.destroy_timer(self._timer)

    def forget_times(self) -> None:
        """Count clouds as too old that were measured by another time."""
        self._stamps = dict.fromkeys(self._stamps, -math.inf)

    def change_shape(self) -> None:
        """Take note that the robot carries something else."""
        self._input.shape = self._watch.robot_shape()

    def fault(self, now: float) -> Reason | None:
        """Say why the arm may not move `now` [s]: points are missing, or too old."""
        text = self._missing(now)
        return (
            Reason(ReasonKind.WORLD_UNKNOWN, f'the world is not known: {text}') if text else None
        )

    def _missing(self, now: float) -> str:
        parameters, timeout = self._parameters, self._parameters.scene_timeout
        if not self._stamps:
            return self._no_points() if parameters.require_points else ''
        if not parameters.obstacle_clearance > parameters.points_padding:
            return (
                f'points would not stop the arm, as obstacle_clearance '
                f'{parameters.obstacle_clearance:g} m is not greater than points_padding '
                f'{parameters.points_padding:g} m'
            )
        if timeout == 0.0:
            return ''
        for frame, stamp in self._stamps.items():
            if stamp == -math.inf or stamp > now + FUTURE:
                return f"no points of '{shown(frame)}' have come since the clock jumped back"
        frame, stamp = min(self._stamps.items(), key=lambda item: item[1])
        if timeout < now - stamp:
            return (
                f"the newest points of '{shown(frame)}' are {now - stamp:.2f} s old "
                f'(scene_timeout {timeout:g} s)'
            )
        return ''

    def _no_points(self) -> str:
        """Say that none came, or that none of them could be used."""
        refused = self._input.refused
        if not refused:
            return NO_POINTS
        # Roughly: another number in each reason would be another line in the log.
        count = refused if refused < MANY else f'more than {MANY}'
        return f'all clouds that came were refused, {count} of them; {self._input.last_refusal}'

    def facts(self) -> dict[str, object]:
        """Say what is known of points, for the status."""
        return {
            'points': sum(map(len, self._cells.values())),
            'clouds_accepted': self._input.accepted,
            'clouds_refused': self._input.refused,
            'last_cloud_refusal': self._input.last_refusal,
        }

    def _take(self, frame: str, cells: PointCells, stamp: float) -> None:
        """Take the cells of an accepted cloud; of each frame the newest wait."""
        self._stamps[frame] = stamp
        self._waiting[frame] = cells
        self._timer.reset()

    def _go_on(self) -> None:
        """Measure how near new cells are, for a short time, and put them in force at last."""
        if self._input.is_closed:
            return
        if self._renewal is None:
            if not self._waiting:
                self._timer.cancel()
                return
            frame = next(iter(self._waiting))
            cells = self._waiting.pop(frame)
            self._renewal = frame, cells, self._watch.renew_points(frame, cells, self._q())
        frame, cells, renewal = self._renewal
        try:
            _go_on_with(renewal)
        except StopIteration as end:
            self._renewal = None
            self._watch.change_world(end.value, self._q())
            before, self._cells[frame] = self._cells.get(frame), cells
            self._on_change(before, cells)
        except SceneError as error:
            self._renewal = None
            self._node.get_logger().error(f'points: {error}')


def _go_on_with(pieces: Iterable[None]) -> None:
    """Do some pieces; StopIteration when there are no more."""
    iterator, end = iter(pieces), time.perf_counter() + PIECES_TIME
    while time.perf_counter() < end:
        next(iterator)
