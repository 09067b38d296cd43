"""An arm with a joint to spare ends in the same configuration, by its posture, on any path."""

import math

from fabrik_ros import load_urdf, SolverOptions
from fabrik_ros.kernels._jit import COMPILED
from fabrik_ros.motion.choosing.goal import MotionOptions
from fabrik_ros.motion.choosing.motion import Motion
from fabrik_ros.motion.limits.limits import MotionLimits
from helpers import example_robot
from hypothesis import given, settings, strategies as st
import numpy as np
import pytest

pytest.importorskip('pinocchio', reason='pinocchio is the judge')

from judging import Judge

DT = 0.02
EXAMPLES = 12 if COMPILED else 2
UP, SIDE = np.array(
    [[0.0, -0.5, 0.0, -2.3, 0.0, 1.8, 0.785], [0.4, -0.5, -0.4, -2.3, 0.2, 1.8, 0.785]]
)
"""The Panda at work, elbow up and elbow to the side."""
NEAR = 0.25
"""How far from there targets and starts are [rad]."""
SAME_ELBOW, OTHER_ELBOW = 1e-3, 0.05
"""Angles of the elbow that count as the same, and as another one [rad]."""
LONGEST = 60.0
"""No path takes longer [s]."""
LIMITS = MotionLimits(0.5, 2.0, 1.5, np.full(7, 1.5), np.full(7, 5.0))

some = st.integers(0, 2**32 - 1).map(
    lambda seed: np.random.default_rng(seed).uniform(-NEAR, NEAR, 7)
)


@pytest.fixture(scope='module')
def panda():
    return load_urdf(example_robot('panda'))


@pytest.fixture(scope='module')
def judge(panda):
    return Judge(panda.source, 'panda_link0', 'panda_link8')


@pytest.fixture(scope='module')
def move(panda):
    """Return where an arm comes to rest that goes from joint values to poses."""
    chain = panda.chain('panda_link0', 'panda_link8')

    def go(path, posture, q, *targets):
        solver = SolverOptions(
            position_tolerance=1e-5, orientation_tolerance=1e-4, budget=math.inf,
            max_restarts=6, posture=posture,
        )  # fmt: skip
        motion = Motion(chain, LIMITS, solver, MotionOptions(path=path))
        motion.reset(q)
        for T in targets:
            motion.aim(T)
            for _ in range(round(LONGEST / DT)):
                if motion.is_at_rest:
                    break
                motion.step(DT)
        assert motion.is_at_rest
        return motion.q

    return go


def elbow_angle(judge, q):
    """Turn of the elbow about the line from shoulder to wrist, from upright, by pinocchio."""
    points = judge.points(q)
    shoulder, elbow, wrist = points[1], points[3], points[4]
    axis = (wrist - shoulder) / np.linalg.norm(wrist - shoulder)
    up = np.array([0.0, 0.0, 1.0]) - axis * axis[2]
    up /= np.linalg.norm(up)
    return math.atan2((elbow - shoulder) @ np.cross(axis, up), (elbow - shoulder) @ up)


@settings(max_examples=EXAMPLES)
@given(some, some, some)
def test_elbow_at_a_target_depends_on_the_target_alone(judge, move, goal, start, between):
    target = judge.pose(UP + goal)
    ends = [
        move(path, tuple(SIDE), q, *targets)
        for path in ('line', 'joint')
        for q, targets in (
            (UP, [target]),
            (SIDE, [target]),
            (UP + start, [judge.pose(SIDE + between), target]),
        )
    ]
    for q in ends:
        assert judge.errors(target, q) < (1e-4, 1e-3)
    assert np.ptp([elbow_angle(judge, q) for q in ends]) < SAME_ELBOW


@pytest.mark.parametrize('path', ['line', 'joint'])
def test_without_a_posture_the_elbow_tells_where_it_came_from(judge, move, path):
    """So the law above is none of the arm itself."""
    target = judge.pose(UP + 0.1)
    angles = [elbow_angle(judge, move(path, None, q, target)) for q in (UP, SIDE)]
    assert np.ptp(angles) > OTHER_ELBOW
