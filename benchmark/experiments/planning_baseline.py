"""
What planning costs elsewhere: plain OMPL RRT-Connect on pinocchio and coal.

States are checked by `planning_judge.py` on convex hulls, without clearance, at 1 % of the extent
of the space. Goals are configurations of a solver for the same pose, which is the one of the
package, as the fastest at hand. The way is simplified by OMPL, as its tutorials do.

"""

import time

from fabrik_ros import Chain, FabrikSolver, SolverOptions
import numpy as np
from ompl import base, geometric, util
from planning_judge import RawJudge

RESOLUTION = 0.01
"""Share of the extent of the space [1]."""
GOALS, SEEDS = 10, 100
"""Number of goals that are looked for, and of seeds from which they are [1]."""

util.setLogLevel(util.LogLevel.LOG_NONE)


class Baseline:
    """
    Plans for an arm.

    Parameters
    ----------
    chain : Chain
        The arm.
    judge : RawJudge
        Knows what is free, by convex hulls.

    """

    def __init__(self, chain: Chain, judge: RawJudge) -> None:
        self._chain, self._judge = chain, judge
        options = SolverOptions(max_restarts=0)
        self._solver = FabrikSolver(chain, options)
        self._solver.warm_up()

    def plan(
        self, start: np.ndarray, T: np.ndarray, limit: float, seed: int
    ) -> tuple[np.ndarray | None, float]:
        """Plan from joint values, (n,), to a pose, (4, 4); return knots or None, and the time."""
        begin = time.perf_counter()
        util.RNG.setSeed(seed)
        setup = self._setup()
        goals = self._goals(T, np.random.default_rng(seed))
        if not goals:
            return None, time.perf_counter() - begin
        space, information = setup.getStateSpace(), setup.getSpaceInformation()
        setup.addStartState(_state(space, start))
        states = base.GoalStates(information)
        for q in goals:
            states.addState(_state(space, q))
        setup.setGoal(states)
        setup.setPlanner(geometric.RRTConnect(information))
        if not setup.solve(limit) or not setup.haveExactSolutionPath():
            return None, time.perf_counter() - begin
        setup.simplifySolution()
        path, count = setup.getSolutionPath(), len(self._chain)
        knots = [path.getState(i)[0:count] for i in range(path.getStateCount())]
        return np.array(knots), time.perf_counter() - begin

    def _setup(self) -> geometric.SimpleSetup:
        count, judge = len(self._chain), self._judge
        space, bounds = base.RealVectorStateSpace(count), base.RealVectorBounds(count)
        for j in range(count):
            bounds.setLow(j, float(self._chain.lower[j]))
            bounds.setHigh(j, float(self._chain.upper[j]))
        space.setBounds(bounds)
        setup = geometric.SimpleSetup(space)
        setup.setStateValidityChecker(lambda state: judge.is_free(np.array(state[0:count])))
        setup.getSpaceInformation().setStateValidityCheckingResolution(RESOLUTION)
        return setup

    def _goals(self, T: np.ndarray, rng: np.random.Generator) -> list[np.ndarray]:
        found = []
        for _ in range(SEEDS):
            answer = self._solver.solve(T, self._chain.random_configuration(rng))
            if answer.converged and self._judge.is_free(answer.q):
                found.append(answer.q)
            if len(found) == GOALS:
                break
        return found


def _state(space: base.StateSpace, values: np.ndarray) -> base.State:
    state = space.allocState()
    state[0 : len(values)] = values.tolist()
    return state
