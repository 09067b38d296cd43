"""What the tests ask of trajectories: their splines, and what a controller makes of them."""

import math

from controllers import Controller, from_ros, play, SECOND
import numpy as np

RATE = 1000.0
"""Updates of the controller per second."""
LONGEST_WAY = 1
"""Time for the last trajectory [s]."""


class SplineController:
    """
    Goes through points by cubics, as joint_trajectory_controller does.

    It goes from where it wants to be when a trajectory comes to the first point, and on from
    point to point, by cubics that meet the positions and velocities at both ends.
    """

    def __init__(self, q):
        still = np.zeros_like(np.asarray(q, dtype=float))
        self._points = [(-math.inf, still + q, still)]

    def take(self, now, points):
        """Replace the trajectory by points (time from now, q, velocity)."""
        here = now, *self.state(now)
        self._points = [here, *((now + time, np.array(q), np.array(v)) for time, q, v in points)]

    def state(self, now):
        """Joint values and velocities that are wanted at a time."""
        for (t0, q0, v0), (t1, q1, v1) in zip(self._points, self._points[1:], strict=False):
            if now < t1:
                return _between(q0, v0, q1, v1, t1 - t0, now - t0)
        _, q, v = self._points[-1]
        return q, v


def _between(q0, v0, q1, v1, length, t):
    way = q1 - q0
    square = (3.0 * way / length - 2.0 * v0 - v1) / length
    cube = (v0 + v1 - 2.0 * way / length) / length**2
    return (
        q0 + t * (v0 + t * (square + t * cube)),
        v0 + t * (2.0 * square + 3.0 * t * cube),
    )


def played(messages, sent_at):
    """
    Tell what a controller makes of messages of ROS: times [s] and joint values.

    Parameters
    ----------
    messages : sequence of trajectory_msgs.msg.JointTrajectory
        In the order in which they were sent.
    sent_at : sequence of int
        When each was sent [ns].

    """
    names, q = messages[0].joint_names, messages[0].points[0].positions
    controller = Controller(names, q, RATE, activated_at_ns=sent_at[0] - SECOND // 10)
    sent = zip(sent_at, map(from_ros, messages), strict=False)
    done = play(sent, controller, until_ns=sent_at[-1] + LONGEST_WAY * SECOND)
    assert not done.rejected
    return 1e-9 * (done.times_ns - sent_at[0]), done.command
