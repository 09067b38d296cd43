"""
A planner to compare with: OMPL's RRT-Connect, with the judge of ways for its eyes.

It says only whether it finds a way from one configuration to another. Edges are looked at as
finely as the judge looks at joint moves, and the judge has the last word on the way found.

"""

import itertools

import numpy as np
from ompl import base, geometric, util
from way_judge import MOVE_STEP, WayJudge

LIMIT = 60.0
"""How long it may take [s]."""

util.RNG.setSeed(1)  # takes effect once in a process
util.setLogLevel(util.LogLevel.LOG_WARN)


def finds_way(judge: WayJudge, q: np.ndarray, q_goal: np.ndarray, limit: float = LIMIT) -> bool:
    """
    Whether RRT-Connect finds a free way between two configurations, each of shape (n,).

    Joints without limits may go half a turn beyond both.
    """
    lower = np.where(np.isinf(judge.lower), np.minimum(q, q_goal) - np.pi, judge.lower)
    upper = np.where(np.isinf(judge.upper), np.maximum(q, q_goal) + np.pi, judge.upper)
    if not (judge.is_free(q) and judge.is_free(q_goal)):
        return False
    setup = _setup(judge, lower, upper)
    space = setup.getStateSpace()
    setup.setStartAndGoalStates(*(_state(space, values) for values in (q, q_goal)))
    setup.setPlanner(geometric.RRTConnect(setup.getSpaceInformation()))
    if not setup.solve(limit) or not setup.haveExactSolutionPath():
        return False
    path = setup.getSolutionPath()
    way = [_values(path.getState(i), len(judge)) for i in range(path.getStateCount())]
    return all(judge.is_move_free(a, b) for a, b in itertools.pairwise(way))


def _setup(judge: WayJudge, lower: np.ndarray, upper: np.ndarray) -> geometric.SimpleSetup:
    space, bounds = base.RealVectorStateSpace(len(judge)), base.RealVectorBounds(len(judge))
    for j, (low, high) in enumerate(zip(lower.tolist(), upper.tolist(), strict=True)):
        bounds.setLow(j, low)
        bounds.setHigh(j, high)
    space.setBounds(bounds)
    setup = geometric.SimpleSetup(space)
    setup.setStateValidityChecker(lambda state: judge.is_free(_values(state, len(judge))))
    information = setup.getSpaceInformation()
    information.setStateValidityCheckingResolution(MOVE_STEP / space.getMaximumExtent())
    return setup


def _state(space: base.StateSpace, values: np.ndarray) -> base.State:
    state = space.allocState()
    for j, value in enumerate(values.tolist()):
        state[j] = value
    return state


def _values(state: base.State, count: int) -> np.ndarray:
    return np.array([state[j] for j in range(count)])
