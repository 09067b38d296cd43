"""A tool on a line does not pass its goal, whatever the limits; pinocchio tells where it is."""

from fabrik_ros import example_arm, load_urdf, SolverOptions
from fabrik_ros.kernels._jit import COMPILED
from fabrik_ros.motion.choosing.goal import Goal, MotionOptions
from fabrik_ros.motion.choosing.motion import Motion
from fabrik_ros.motion.limits.limits import MotionLimits
from fabrik_ros.transforms import rotation_from_vector
from helpers import examples
from judging import Judge
import numpy as np
import pytest

pytest.importorskip('xacro', reason='the bundled arms are xacro files')
pytest.importorskip('pinocchio', reason='pinocchio is the judge')

COUNT = examples(20, 400) if COMPILED else 3
PASSED = 5e-5
"""Farthest beyond the goal, along the line [m]."""
LEAST_GAIN, FROM_LIMITS = 0.05, 0.1
"""Smallest singular value of the Jacobian, and distance from joint limits, of lines [m or rad]."""
LONGEST = 20_000


def random_limits(rng):
    fastest, hardest = rng.uniform(0.5, 3.0), 10.0 ** rng.uniform(0.0, 1.3)
    speed, rotation, acceleration = 10.0 ** rng.uniform((-1.0, -0.5, -0.5), (0.7, 1.0, 1.3))
    fastest = min(fastest, 0.5 * hardest)
    return MotionLimits(speed, rotation, acceleration, np.full(6, fastest), np.full(6, hardest))


def lines(chain, judge, rng):
    """Yield starts and goals of random lines."""
    while True:
        q = judge.random_configuration(rng, FROM_LIMITS)
        way, axis = (vector / np.linalg.norm(vector) for vector in rng.normal(size=(2, 3)))
        T = chain.tip_poses(q)
        T[0, :3, 3] += rng.uniform(0.02, 0.4) * way
        T[0, :3, :3] = rotation_from_vector(rng.uniform(0.0, 1.0) * axis) @ T[0, :3, :3]
        yield q, T


def driven(chain, q, T, rng):
    """Drive a line, with steps that are even or not; return what was told, and if it arrived."""
    motion = Motion(chain, random_limits(rng), SolverOptions(), MotionOptions(path='line'))
    motion.reset(q)
    motion.pursue(Goal.of(T))
    dt, jitter, told = rng.choice([0.002, 0.01]), rng.choice([0.0, 0.3]), [q]
    motion.look(dt)
    while not motion.is_at_rest and len(told) < LONGEST:
        motion.step(dt * rng.uniform(1.0 - jitter, 1.0 + jitter))
        told.append(motion.command[0])
    return np.array(told), motion.is_at_goal


def test_tool_does_not_pass_the_end_of_a_line():
    robot, rng, count = load_urdf(example_arm('six_axis')), np.random.default_rng(1), 0
    chain, judge = robot.chain('base_link', 'tool0'), Judge(robot.source, 'base_link', 'tool0')
    for q, T in lines(chain, judge, rng):
        told, has_arrived = driven(chain, q, T, rng)
        lower, upper = told.min(axis=0) - FROM_LIMITS, told.max(axis=0) + FROM_LIMITS
        is_inside = np.all(lower > chain.lower) and np.all(upper < chain.upper)
        if not has_arrived or not is_inside or min(map(judge.least_gain, told[::20])) < LEAST_GAIN:
            continue
        p, p_goal = judge.pose(q)[:3, 3], T[0, :3, 3]
        way = (p_goal - p) / np.linalg.norm(p_goal - p)
        beyond = max((judge.pose(values)[:3, 3] - p_goal) @ way for values in told)
        assert beyond < PASSED, (q, T)
        count += 1
        if count == COUNT:
            return
