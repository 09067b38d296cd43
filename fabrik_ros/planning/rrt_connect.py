"""
RRT-Connect by OMPL: the only module that knows OMPL.

Two trees grow, from the start and from the goals, and try to meet (Kuffner and LaValle 2000). OMPL
(https://ompl.kavrakilab.org, Sucan, Moll and Kavraki 2012) grows them; what is free is asked of
the caller.

"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

import numpy as np

from ..errors import PlannerUnavailableError
from ..transforms import Array

CURE = 'pip install ompl, in a virtual environment where pip asks for one'
MOST_GOALS = 1_000_000
"""Goals are drawn for as long as the search goes on [1]."""
SAME_GOAL = 1e-9
"""A configuration is at a goal if it is not farther from it than this [rad or m]."""
FAR_OUT = 1e30
"""Value of a joint in a goal that is none: OMPL leaves out what is outside the limits."""


class RrtConnect:
    """
    Searches for collision-free paths.

    Parameters
    ----------
    lower, upper : array, shape (n,)
        Between which joint values to search, `lower` below `upper` [rad or m].
    weights : array, shape (n,)
        How much a unit of each joint counts in the distance of two configurations.
    longest : float
        Length of the longest edge, in these units.

    Raises
    ------
    PlannerUnavailableError
        If OMPL is not installed.

    """

    def __init__(self, lower: Array, upper: Array, weights: Array, longest: float) -> None:
        self._ompl, self._weights, self._longest = import_ompl(), weights, longest
        self._limits = lower, upper
        self._lower, self._upper = lower * weights, upper * weights

    def path(
        self,
        start: Array,
        draw_goal: Callable[[], Array | None],
        is_edge_free: Callable[[Array, Array], bool],
        should_stop: Callable[[], bool],
        seed: int,
    ) -> list[Array] | None:
        """
        Find straight edges from a configuration to a goal.

        Parameters
        ----------
        start : array, shape (n,)
            Where to begin [rad or m].
        draw_goal : callable
            Gives a configuration at the goal, shape (n,), that is free; None if there is none
            this time.
        is_edge_free : callable
            Whether the edge between two configurations is free.
        should_stop : callable
            Whether to give up; asked again and again.
        seed : int
            Source of chance, above 0.

        Returns
        -------
        list of array, shape (n,), or None
            Configurations from the start to the goal; None where none were found.

        """
        with _quiet(self._ompl):
            self._ompl.util.RNG.setSeed(seed)
            return self._solve(start, draw_goal, is_edge_free, should_stop)

    def _solve(
        self,
        start: Array,
        draw_goal: Callable[[], Array | None],
        is_edge_free: Callable[[Array, Array], bool],
        should_stop: Callable[[], bool],
    ) -> list[Array] | None:
        base, weights, count = self._ompl.base, self._weights, len(self._weights)
        space, limits = self._space(), self._limits
        information = base.SpaceInformation(space)

        def values(state: Any) -> Array:
            # Not beyond the limits, by rounding: motion bounds do not hold there.
            array: Array = np.clip(np.array(state[0:count]) / weights, *limits)
            return array

        class Edges(base.MotionValidator):  # type: ignore[misc,name-defined]
            def checkMotion(self, first: Any, second: Any) -> bool:  # noqa: N802
                return is_edge_free(values(first), values(second))

        class Goals(base.GoalSampleableRegion):  # type: ignore[misc,name-defined]
            def sampleGoal(self, state: Any) -> None:  # noqa: N802
                q = draw_goal()
                state[0:count] = [FAR_OUT] * count if q is None else (q * weights).tolist()

            def maxSampleCount(self) -> int:  # noqa: N802
                return MOST_GOALS

            def couldSample(self) -> bool:  # noqa: N802
                return not should_stop()

            def distanceGoal(self, state: Any) -> float:  # noqa: N802
                return 1.0  # RRT-Connect knows by itself when the trees have met

        information.setStateValidityChecker(base.AllValidStateValidityChecker(information))
        information.setMotionValidator(Edges(information))
        information.setup()
        problem = base.ProblemDefinition(information)
        state = space.allocState()
        state[0:count] = (start * weights).tolist()
        problem.addStartState(state)
        problem.setGoal(Goals(information))
        planner = self._ompl.geometric.RRTConnect(information)
        planner.setRange(self._longest)
        planner.setProblemDefinition(problem)
        planner.setup()
        planner.solve(base.PlannerTerminationCondition(should_stop))
        if not problem.hasExactSolution():
            return None
        path = problem.getSolutionPath()
        return [values(path.getState(i)) for i in range(path.getStateCount())]

    def _space(self) -> Any:
        base = self._ompl.base
        space = base.RealVectorStateSpace(len(self._weights))
        bounds = base.RealVectorBounds(len(self._weights))
        for j, (low, high) in enumerate(
            zip(self._lower.tolist(), self._upper.tolist(), strict=True)
        ):
            bounds.setLow(j, low)
            bounds.setHigh(j, high)
        space.setBounds(bounds)
        return space


def what_is_missing() -> str:
    """Say that OMPL is missing, and how to get it; '' where it is there. It is not imported."""
    return '' if find_spec('ompl') else f'OMPL is not installed; cure: {CURE}'


def import_ompl() -> Any:
    """
    Return OMPL.

    Raises
    ------
    PlannerUnavailableError
        If it is not installed.

    """
    try:
        import ompl.base
        import ompl.geometric
        import ompl.util
    except ImportError as error:
        raise PlannerUnavailableError(what_is_missing() or str(error)) from error
    return ompl


@contextmanager
def _quiet(ompl: Any) -> Iterator[None]:
    """Keep OMPL from writing to the terminal: it complains of each seed after the first."""
    level = ompl.util.getLogLevel()
    ompl.util.setLogLevel(ompl.util.LogLevel.LOG_NONE)
    try:
        yield
    finally:
        ompl.util.setLogLevel(level)
