"""
Paths through knots of the six-axis arm for tests, and how far commands are off them.

Pinocchio tells where tip and joint centres are.

"""

import functools

from fabrik_ros import load_urdf, SolverOptions
from fabrik_ros.motion.choosing.goal import MotionOptions
from fabrik_ros.motion.choosing.motion import Motion
from fabrik_ros.motion.limits.limits import MotionLimits
from fabrik_ros.motion.paths.planned_path import PlannedPath
from helpers import SIX_AXIS
from judging import Judge
import numpy as np
import pytest

DT = 0.01
OFF_CURVE = 3e-4
"""Tips and joint centres stay this near to the polyline of the knots [m]."""


@functools.cache
def judge():
    return Judge(SIX_AXIS, 'l0', 'l7')


def limits_of(n, tip_speed=0.25, tip_rotation=1.0):
    return MotionLimits(tip_speed, tip_rotation, 1.0, np.full(n, 1.5), np.full(n, 5.0))


def motion_along(knots, limits=None, jerk=None, urdf=SIX_AXIS):
    chain, jerk_filter = load_urdf(urdf).chain(), None
    if jerk is not None:
        pytest.importorskip('ruckig')
        from fabrik_ros.motion.limits.jerk_filter import JerkFilter

        jerk_filter = JerkFilter(jerk, DT, chain.lower, chain.upper)
    limits = limits or limits_of(len(chain))
    motion = Motion(chain, limits, SolverOptions(), MotionOptions(), jerk_filter=jerk_filter)
    motion.reset(knots[0])
    motion.follow(PlannedPath(motion.limiter, np.array(knots)))
    return motion


def farthest_off(knots, commands):
    """
    Greatest distance of tip and centres from where they are on the polyline of the knots [m].

    The place on the polyline is the one nearest in joint space.
    """
    worst = 0.0
    for q in commands:
        ways = np.diff(knots, axis=0)
        along = np.sum((q - knots[:-1]) * ways, axis=1) / np.sum(ways * ways, axis=1)
        feet = knots[:-1] + np.clip(along, 0.0, 1.0)[:, None] * ways
        foot = feet[np.argmin(np.linalg.norm(feet - q, axis=1))]
        apart = np.linalg.norm(judge().points(foot) - judge().points(q), axis=1)
        worst = max(worst, float(apart.max()))
    return worst


def smooth_knots(rng, count=120, spacing=0.01):
    """Knots on waves in joint space, closely together, within the limits."""
    low = np.maximum(judge().lower, -2.0) + 0.3
    high = np.minimum(judge().upper, 2.0) - 0.3
    middle, width = rng.uniform(low, high), rng.uniform(0.0, 0.3, len(low))
    phase, pace = rng.uniform(0.0, 6.0, len(low)), rng.uniform(0.5, 3.0, len(low))
    t = spacing * np.arange(count)[:, None]
    return middle + width * np.sin(phase + pace * t)


def cornered_knots(rng, corners=3):
    """Knots on straight pieces that meet at any angle, unevenly spaced up to 0.05 rad."""
    q = smooth_knots(rng, 1)[0]
    knots = [q]
    for _ in range(corners):
        end = knots[-1] + rng.uniform(-0.25, 0.25, len(q))
        end = np.clip(end, judge().lower + 0.02, judge().upper - 0.02)
        count = int(rng.integers(6, 15))
        shares = np.sort(rng.uniform(0.0, 1.0, count - 1))
        shares = np.append(0.5 * (shares + np.arange(1, count) / count), 1.0)
        begin = knots[-1]
        knots += [begin + share * (end - begin) for share in shares]
    return np.array(knots)


def squeezed_knots(rng, steepest=30.0):
    """Knots of joints that turn suddenly, one after another, as beside a singularity."""
    begin, end = smooth_knots(rng, 1)[0], smooth_knots(rng, 1)[0]
    middle, width = rng.uniform(0.3, 0.7, len(begin)), rng.uniform(1.0, steepest, len(begin))
    fine = np.linspace(0.0, 1.0, 4000)[:, None]
    q = begin + (end - begin) * 0.5 * (1.0 + np.tanh(width * (fine - middle)))
    way = np.append(0.0, np.cumsum(np.linalg.norm(np.diff(q, axis=0), axis=1)))
    evenly = np.linspace(0.0, way[-1], 2 + int(way[-1] / 0.005))
    return np.column_stack([np.interp(evenly, way, column) for column in q.T])


MAKERS = {'smooth': smooth_knots, 'cornered': cornered_knots, 'squeezed': squeezed_knots}
