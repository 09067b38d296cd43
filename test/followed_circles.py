"""
Circles that an arm can follow with much to spare, and how evenly it follows them in a stream.

Judged by pinocchio and trigonometry. A circle counts if a plain pseudo-inverse follows it exactly
within a share of the speeds and accelerations of the joints, away from all joint limits, and with
joint centres slower than they may be.
"""

from collections.abc import Iterator
import itertools
from typing import NamedTuple

from fabrik_ros import ArmFollower, FollowerOptions
from fabrik_ros.model.chain import Chain
from judging import Judge
import numpy as np
import pinocchio

RADIUS, SPEED = 0.1, 0.2
TURNING = SPEED / RADIUS
DT, DURATION = 0.01, 9.0
SHARE = 0.7
"""Share of the speeds and accelerations of the joints that a circle may need [1]."""
CENTRE_SHARE = 0.95
"""Share of the speed that joint centres may have [1]: they must slow the tip at 1."""
MARGIN = 0.1
"""Distance from all joint limits [rad]."""
EXACT = 1e-4
"""The pseudo-inverse may be this far off [m, rad]."""
DIFFERENCE = 1e-6
"""Step of difference quotients [rad]."""
WIDEST = 2.5
"""Circles begin at joint values up to this [rad]."""
CAUGHT_UP, SETTLED = 0.5, 3.0
"""Speeds count from the first time on, lag and distance from the second [s]."""
SLOW = 0.95
"""Share of the commanded speed below which an arm is slow [1]."""


class Circle(NamedTuple):
    """A circle that begins at a pose, with the orientation of that."""

    q: np.ndarray
    """Joint values at its begin, shape (n,) [rad]."""
    T: np.ndarray
    """Pose there, shape (4, 4)."""
    along: np.ndarray
    """Direction of the speed there, shape (3,)."""
    inwards: np.ndarray
    """Direction of its centre, shape (3,)."""

    def points(self, times: np.ndarray) -> np.ndarray:
        """Return where the tip is to be at times, shape (m, 3)."""
        angle = TURNING * np.asarray(times)[..., None]
        around = np.sin(angle) * self.along + (1.0 - np.cos(angle)) * self.inwards
        return self.T[:3, 3] + RADIUS * around

    def pose(self, time: float) -> np.ndarray:
        """Return the pose at a time, shape (4, 4)."""
        T = self.T.copy()
        T[:3, 3] = self.points(np.array(time))
        return T

    def directions(self, times: np.ndarray) -> np.ndarray:
        """Return the directions of the speed at times, shape (m, 3)."""
        angle = TURNING * times[:, None]
        return np.cos(angle) * self.along + np.sin(angle) * self.inwards


class Following(NamedTuple):
    """How an arm follows a circle."""

    longest_slow: float
    """Longest time below 95 % of the commanded speed [s]."""
    slow: float
    """Share of the time below half of it [1]."""
    distance: float
    """Root mean square of the distance to where the tip was to be a constant lag before [m]."""
    lag: float
    """That lag [s]."""


def circles(judge: Judge, seed: int) -> Iterator[Circle]:
    """Draw circles that can be followed with much to spare."""
    rng = np.random.default_rng(seed)
    lower, upper = np.maximum(judge.lower, -WIDEST), np.minimum(judge.upper, WIDEST)
    while True:
        q = lower + (upper - lower) * rng.uniform(0.2, 0.8, len(lower))
        along, inwards = np.linalg.qr(rng.normal(size=(3, 3)))[0][:2]
        circle = Circle(q, judge.pose(q), along, inwards)
        if _is_followable(judge, circle):
            yield circle


def _is_followable(judge: Judge, circle: Circle) -> bool:
    options = FollowerOptions()
    fastest = SHARE * np.minimum(options.max_joint_velocity, judge.velocity)
    hardest, centres = SHARE * options.max_joint_acceleration, CENTRE_SHARE * options.max_tip_speed
    ways = [(circle.q, judge.points(circle.q), np.zeros_like(circle.q))]
    for i in range(1, round(2.0 * np.pi / TURNING / DT)):
        before, points_before, speed_before = ways[-1]
        T, q = circle.pose(i * DT), before
        for _ in range(2):
            now = judge.pose(q)
            q = q + np.linalg.pinv(jacobian(judge, q, now), rcond=1e-3) @ twist(now, T)
        points, speed = judge.points(q), (q - before) / DT
        ways.append((q, points, speed))
        moved = np.linalg.norm(points - points_before, axis=1)
        if (
            np.abs(twist(judge.pose(q), T)).max() > EXACT
            or (np.abs(speed) > fastest).any()
            or (i > 1 and (np.abs(speed - speed_before) > hardest * DT).any())
            or (q < judge.lower + MARGIN).any()
            or (q > judge.upper - MARGIN).any()
            or moved.max() > centres * DT
        ):
            return False
    return True


def jacobian(judge: Judge, q: np.ndarray, T: np.ndarray) -> np.ndarray:
    """Displacements of a tip at a pose for those of its joints, by differences, shape (6, n)."""
    moved = [judge.pose(values) for values in q + DIFFERENCE * np.eye(len(q))]
    return np.stack([twist(T, T_moved) for T_moved in moved], 1) / DIFFERENCE


def twist(T: np.ndarray, T_to: np.ndarray) -> np.ndarray:
    """Displacement from a pose to another one, in the base frame, shape (6,) [m, rad]."""
    turn = pinocchio.log3(T[:3, :3].T @ T_to[:3, :3])
    return np.append(T_to[:3, 3] - T[:3, 3], T[:3, :3] @ turn)


def follow(
    chain: Chain, judge: Judge, circle: Circle, rate: float, jitter: float, seed: int
) -> Following:
    """Let an arm follow a circle, and judge how evenly it does; as `commands`."""
    q = commands(chain, circle, rate, jitter, seed)
    return _judged(np.array([judge.pose(values)[:3, 3] for values in q]), circle)


def commands(
    chain: Chain, circle: Circle, rate: float, jitter: float, seed: int
) -> list[np.ndarray]:
    """
    Let an arm follow a circle, of which poses come at a rate [Hz], late by up to a jitter [s].

    Poses are those of when they were sent, a whole number of intervals after the first. Returns
    the joint values of each step.
    """
    sent = np.arange(0.0, DURATION, 1.0 / rate)
    arrivals = sent + np.random.default_rng(seed).uniform(0.0, jitter, len(sent))
    follower, q = ArmFollower(chain, FollowerOptions(path='line')), circle.q
    follower.step(None, DT, measured=q)
    steps, coming = [], list(zip(arrivals, sent, strict=True))
    for i in range(round(DURATION / DT)):
        target = None
        while coming and coming[0][0] <= i * DT + 1e-9:
            target = circle.pose(coming.pop(0)[1])
        q = np.asarray(follower.step(target, DT, measured=q))
        steps.append(q)
    return steps


def _judged(points: np.ndarray, circle: Circle) -> Following:
    times, settled = DT * np.arange(len(points)), round(SETTLED / DT)
    lags = np.arange(0.0, 0.4, 0.0025)
    errors = [
        np.linalg.norm(points - circle.points(times - lag), axis=1)[settled:] for lag in lags
    ]
    distances = [float(np.sqrt(np.mean(error**2))) for error in errors]
    best = int(np.argmin(distances))
    middles = times[:-1] + 0.5 * DT - lags[best]
    speeds = (np.diff(points, axis=0) / DT * circle.directions(middles)).sum(axis=1)
    counted = speeds[round(CAUGHT_UP / DT) :]
    groups = itertools.groupby(counted < SLOW * SPEED)
    runs = [len(list(run)) for is_slow, run in groups if is_slow]
    slow = float(np.mean(counted < 0.5 * SPEED))
    return Following(max(runs, default=0) * DT, slow, distances[best], float(lags[best]))
