"""A moving target for the demo: a pose that wanders round a point in front of the arm."""

import math
import time
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import PoseStamped
import numpy as np
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from visualization_msgs.msg import InteractiveMarkerFeedback

from ...transforms import Array, rotation_from_rpy, transform
from ..clocks.log_periods import REMINDER_PERIOD
from ..messages.conversions import stamped_pose
from ..parameters.whole_numbers import declare_number, declare_numbers
from .running import run

WAY_TIME = 10.0
"""An arm that others may have moved is left alone for so long after that [s]."""


def wandering_pose(seconds: float, centre: Array, radius: float, turn_time: float) -> Array:
    """
    Pose (4, 4) of the target at a time: a figure of eight, the tool pointing down and swaying.

    Parameters
    ----------
    seconds : float
        Time [s].
    centre : array, shape (3,)
        Middle of the figure [m].
    radius : float
        Half its width [m].
    turn_time : float
        Time for one turn [s].

    """
    phase = 2.0 * math.pi * seconds / turn_time
    offset = np.array([0.5 * math.sin(2.0 * phase), math.sin(phase), 0.5 * math.cos(phase)])
    R = rotation_from_rpy(math.pi + 0.3 * math.sin(phase), 0.3 * math.cos(phase), 0.0)
    return transform(R, centre + radius * offset)


class DemoTargets(Node):
    """
    Publishes the wandering pose on `fabrik/target_pose`, for as long as it would be accepted.

    The node accepts no target of a stream that ran before it was ready, or on through a fault.
    Others have the way: while they publish on the topic, or use a handle in RViz, nothing is sent.
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__('demo_targets', **kwargs)
        self._frame = self.declare_parameter('frame_id', 'base_link').value
        self._centre = np.array(declare_numbers(self, 'centre', [0.45, 0.0, 0.35]))
        self._radius = declare_number(self, 'radius', 0.2)
        self._turn_time = declare_number(self, 'turn_time', 12.0)
        rate = declare_number(self, 'rate', 20.0)
        self._targets = self.create_publisher(PoseStamped, 'fabrik/target_pose', 1)
        self._begin = self.get_clock().now()
        self._is_awaited = False
        self._way_until = -math.inf
        """Time until which others have the way, by a clock that never jumps [s]."""
        self._why_not = ''
        self._statuses = self.create_subscription(
            DiagnosticArray, 'fabrik/status', self._on_status, 1
        )
        self.create_subscription(
            InteractiveMarkerFeedback, 'fabrik/drag_target/feedback', self._on_touch, 10
        )
        self.create_timer(1.0 / rate, self._publish)
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self.create_timer(REMINDER_PERIOD, self._remind, clock=steady)
        self._remind()

    def _remind(self) -> None:
        """Log why no targets are sent."""
        if not self._is_awaited:
            why = self._why_not or f'no status yet on {self._statuses.topic_name}'
            self.get_logger().info(f'waiting for the node to take targets: {why}')

    def _on_status(self, message: DiagnosticArray) -> None:
        status = {pair.key: pair.value for pair in message.status[0].values}
        refuses = 'True' in (status.get('held'), status.get('waits_for_pause'))
        waits = status['state'].startswith('WAITING') or status.get('waits_for')
        self._is_awaited = not (refuses or waits)
        self._why_not = message.status[0].message

    def _on_touch(self, feedback: InteractiveMarkerFeedback) -> None:
        self._give_way('somebody uses a handle')

    def _give_way(self, why: str) -> None:
        """Leave the arm to others for a while."""
        now = time.monotonic()
        if now > self._way_until:
            self.get_logger().info(f'no targets until {WAY_TIME:g} s after this: {why}')
        self._way_until = now + WAY_TIME

    def _publish(self) -> None:
        topic = self._targets.topic_name
        if self.count_publishers(topic) > 1:
            self._give_way(f'others publish on {topic}')
        if not self._is_awaited or time.monotonic() < self._way_until:
            return
        now = self.get_clock().now()
        seconds = 1e-9 * (now - self._begin).nanoseconds
        T = wandering_pose(seconds, self._centre, self._radius, self._turn_time)
        self._targets.publish(stamped_pose(T, self._frame, now.to_msg()))


def main(args: list[str] | None = None) -> None:
    """Publish targets until interrupted."""
    run(DemoTargets, args)


if __name__ == '__main__':
    main()
