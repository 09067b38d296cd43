"""A joint trajectory controller on paper: cubic splines, a new trajectory replaces the old one."""

from itertools import pairwise, product
import math

import numpy as np

STEP = 0.001
"""Between the times that are looked at [s]."""
LONGEST_WAY = 1.0
"""Time for the last trajectory [s]."""


class SplineController:
    """
    Does what joint_trajectory_controller does with positions and velocities.

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


def points(trajectory):
    """Points of a message as a controller takes them: time from its start, q, velocity."""
    stamps = [point.time_from_start for point in trajectory.points]
    times = [stamp.sec + 1e-9 * stamp.nanosec for stamp in stamps]
    rows = zip(times, trajectory.points, strict=True)
    return [(time, point.positions, point.velocities) for time, point in rows]


def played(arrivals, trajectories):
    """Tell what a controller does with trajectories as they arrive: times and joint values."""
    controller = SplineController(trajectories[0][0][1])
    coming = list(zip(arrivals, trajectories, strict=True))
    times, q = np.arange(arrivals[0], arrivals[-1] + LONGEST_WAY, STEP), []
    for t in times:
        while coming and coming[0][0] <= t:
            controller.take(*coming.pop(0))
        q.append(controller.state(t)[0])
    return times, np.array(q)


def arrivals_of(trajectories, stamps):
    """
    Find the times at which trajectories, lists of points, were sent, from those of the commands.

    The first commands are theirs; others may follow. A trajectory shares points on the way, or at
    least where it ends, with the one before, and these tell. Otherwise that was at rest or too
    long ago, and this one went with its command in the moment of its stamp.
    """
    arrivals = [stamps[0]]
    for stamp, (before, trajectory) in zip(stamps[1:], pairwise(trajectories), strict=False):
        later = next(_times_between(before, trajectory), None)
        arrivals.append(stamp if later is None else arrivals[-1] + later)
    return arrivals


def _times_between(before, trajectory):
    """For each point on the way that both have, how much later the second one has begun."""
    on_the_way = [point for point in before if np.any(point[2])]
    pairs = [*product(on_the_way, trajectory)]
    if on_the_way:
        pairs.append((before[-1], trajectory[-1]))
    for (at_before, *state_before), (at, *state) in pairs:
        if np.allclose(state, state_before, rtol=0.0, atol=1e-12):
            yield at_before - at
