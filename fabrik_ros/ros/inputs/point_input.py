"""
Clouds of points that come in: checked, put in place, and turned into cells on a thread of its own.

A command must not wait for a cloud. The thread runs compiled code that leaves the interpreter to
others, and the event loop only looks whether it is done: its executor has no guard conditions.

"""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
import os
import threading
import time

from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from sensor_msgs.msg import PointCloud2

from ...collision import PointCells, PointMap, RobotShape
from ...errors import FabrikError, SceneError, shown
from ...transforms import Array
from ..clocks.log_periods import WARNING_PERIOD
from ..clocks.node_clock import NodeClock
from ..clocks.qos import NEWEST_OF_ANY
from ..clocks.receiving import with_receipt
from ..clocks.stamps import FUTURE
from ..messages.conversions import seconds
from ..messages.point_messages import check_size, points_of
from .frame_resolver import FrameResolver
from .joint_history import JointHistory

TOPIC = '~/points'
LOOK_PERIOD = 0.005
"""Time between two looks at the thread, while there is something to do [s]."""
LONGEST_WAIT = 0.2
"""Longest wait of a cloud for the joint state of its stamp [s]."""
NICENESS = 10
"""Commands go before clouds where there are not processors enough."""


@dataclass(frozen=True, eq=False)
class _Cloud:
    """A cloud that waits."""

    message: PointCloud2
    frame: str
    stamp: float
    """[s]."""
    needed: tuple[str, ...]
    """Joints that must be known then: those of the arm, and those that move the sensor."""
    since: float
    """Time that does not jump [s]."""


class PointInput:
    """
    Turns clouds into cells.

    Parameters
    ----------
    node : Node
        Has the subscription, and the log.
    clock : NodeClock
        The time.
    frames : FrameResolver
        Knows where frames are.
    joints : JointHistory
        Where the joints were.
    needed : tuple of str
        Joints that must be known at the stamp of a cloud: those of the arm.
    root_link : str
        The link that cells are in.
    shape : RobotShape
        The robot, which is not to be seen as an obstacle; another one may be set when it has
        taken something up.
    point_map : PointMap
        Has the cells; the thread changes it.
    check : callable
        Raises a FabrikError where no cloud can be taken.
    on_cells : callable
        Takes the frame, its cells from now on, and the stamp [s] of each cloud that is accepted.

    Attributes
    ----------
    shape : RobotShape
        As above.
    last_refusal : str
        Why the last cloud was refused; '' if it was accepted.
    accepted, refused : int
        Number of clouds.

    """

    def __init__(
        self,
        node: Node,
        clock: NodeClock,
        frames: FrameResolver,
        joints: JointHistory,
        needed: tuple[str, ...],
        root_link: str,
        shape: RobotShape,
        point_map: PointMap,
        check: Callable[[], None],
        on_cells: Callable[[str, PointCells, float], None],
    ) -> None:
        self.shape = shape
        self.last_refusal, self.accepted, self.refused = '', 0, 0
        self.is_closed = False
        self._node, self._clock, self._frames = node, clock, frames
        self._joints, self._needed, self._root_link = joints, needed, root_link
        self._map, self._check, self._on_cells = point_map, check, on_cells
        point_map.warm_up(shape.at({}))
        self._waiting: dict[str, _Cloud] = {}
        self._running: tuple[_Cloud, Future[PointCells]] | None = None
        self._thread = ThreadPoolExecutor(1, 'points', _step_back)
        self._subscription = node.create_subscription(
            PointCloud2, TOPIC, with_receipt(self.on_cloud), NEWEST_OF_ANY
        )
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._timer = node.create_timer(LOOK_PERIOD, self.look, clock=steady)
        self._timer.cancel()

    @property
    def is_busy(self) -> bool:
        """Whether a cloud waits, or is being worked on."""
        return bool(self._waiting) or self._running is not None

    def close(self) -> None:
        """Take no more clouds; what the executor still calls does nothing."""
        self.is_closed = True
        self._node.destroy_subscription(self._subscription)
        self._node.destroy_timer(self._timer)
        self._waiting.clear()
        self._running = None
        self._thread.shutdown(wait=True, cancel_futures=True)

    def on_cloud(self, message: PointCloud2, received: int) -> None:
        """
        Take a cloud, received at a system time [ns].

        Of each frame one waits, the newest of which the joint states are known: if new ones took
        the place of one that waits for these, none would ever be worked on.
        """
        if self.is_closed:
            return
        frame = message.header.frame_id.removeprefix('/')
        try:
            cloud = self._checked(message, frame, self._clock.at(received))
        except FabrikError as error:
            self._refuse(frame, error)
            return
        if frame not in self._waiting or not self._waits_for_joints(cloud):
            self._waiting[frame] = cloud
        self._timer.reset()
        self.look()

    def look(self) -> None:
        """Hand over cells that are ready, and have the next cloud worked on."""
        if self.is_closed:
            return
        if self._running is not None:
            cloud, future = self._running
            if not future.done():
                return
            self._running = None
            self._finish(cloud, future)
        for cloud in list(self._waiting.values()):
            if self._running is None and not self._waits_for_joints(cloud):
                del self._waiting[cloud.frame]
                self._start(cloud)
        if not self.is_busy:
            self._timer.cancel()

    def _checked(self, message: PointCloud2, frame: str, received: float) -> _Cloud:
        """Check what can be told at once."""
        self._check()
        if not frame:
            raise SceneError('frame_id is empty; expected the frame of the sensor')
        check_size(message)
        stamp = seconds(message.header.stamp)
        if stamp < 0.0 or stamp > received + FUTURE:
            raise SceneError(
                f'its stamp {stamp:.3f} s is {stamp - received:.2f} s after it was received'
                if stamp > 0.0
                else f'its stamp is {stamp:.3f} s; expected 0 or a time'
            )
        needed = (*self._needed, *self._frames.joints_of(frame, self._root_link))
        return _Cloud(message, frame, stamp or received, needed, time.monotonic())

    def _waits_for_joints(self, cloud: _Cloud) -> bool:
        """Whether a joint state as new as a cloud may still come."""
        is_known = self._joints.newest(cloud.needed) >= cloud.stamp
        return not is_known and time.monotonic() - cloud.since < LONGEST_WAIT

    def _start(self, cloud: _Cloud) -> None:
        """Have a cloud worked on."""
        try:
            T_root_sensor, values = self._place(cloud)
        except FabrikError as error:
            self._refuse(cloud.frame, error)
            return
        robot, message = self.shape.at(values), cloud.message

        def work() -> PointCells:
            return self._map.take(cloud.frame, points_of(message), T_root_sensor, robot)

        self._running = cloud, self._thread.submit(work)

    def _place(self, cloud: _Cloud) -> tuple[Array, dict[str, float]]:
        """Find out where the sensor and the joints were."""
        values = self._joints.at(cloud.stamp, cloud.needed)
        newest = self._joints.newest(cloud.needed)
        if newest < cloud.stamp:
            raise SceneError(
                f'its stamp is {cloud.stamp - newest:.2f} s after the newest joint state; one was '
                f'waited for {LONGEST_WAIT:g} s'
            )
        stamp = cloud.message.header.stamp
        pose = self._frames.pose_of(cloud.frame, self._root_link, stamp, lambda *_: values)
        return pose, values

    def _finish(self, cloud: _Cloud, future: 'Future[PointCells]') -> None:
        """Hand over what came of a cloud."""
        try:
            cells = future.result()
        except FabrikError as error:
            self._refuse(cloud.frame, error)
            return
        self.last_refusal = ''
        self.accepted += 1
        self._on_cells(cloud.frame, cells, cloud.stamp)

    def _refuse(self, frame: str, error: FabrikError) -> None:
        self.refused += 1
        self.last_refusal = f"points of '{shown(frame)}' refused: {error}"
        self._node.get_logger().warning(self.last_refusal, throttle_duration_sec=WARNING_PERIOD)


def _step_back() -> None:
    """Let other threads go first, where the system knows threads by number."""
    try:
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICENESS)
    except (AttributeError, OSError):
        return
