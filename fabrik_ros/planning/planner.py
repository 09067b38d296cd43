"""Looks for ways round what stands in the way of one arm."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import count

import numpy as np

from ..collision.checked_pairs import CheckedPairs
from ..collision.edge_checks import EdgeChecks
from ..collision.guard import CollisionGuard
from ..kernels.separation import Indices
from ..methods import make_tips_solver, orientation_yields, TipsSolver
from ..model.mechanism import Mechanism
from ..solver.options import SolverOptions
from ..solver.tree_solver import TipOptions
from ..transforms import Array
from .free_space import FreeSpace
from .plan_request import PlanRequest
from .plan_result import Plan
from .plan_search import PlanSearch
from .rounding import rounded
from .rrt_connect import RrtConnect
from .shortcuts import shortened
from .whole_turns import WholeTurns

TINY = 1e-3
"""Size of the space that is searched to compile [rad or m]."""
SOLVING_BUDGET = 0.004
"""Time for one draw of a configuration at the goal [s]."""


class Planner:
    """
    Looks for ways for one arm.

    Parameters
    ----------
    robot : Chain or Tree
        The joints.
    collision : CheckedPairs or None
        Knows what collides; a `WorldCollision` knows of obstacles. None: nothing collides.
    options : SolverOptions, optional
        Mode and tolerances of goals.
    tips : mapping, optional
        What is asked of the tips of a tree, `TipOptions` by tip link.

    """

    def __init__(
        self,
        robot: Mechanism,
        collision: CheckedPairs | None,
        options: SolverOptions | None = None,
        tips: Mapping[str, TipOptions] | None = None,
    ) -> None:
        once = {'budget': SOLVING_BUDGET, 'max_restarts': 0, 'prefer': 'first', 'posture': None}
        options = options or SolverOptions()
        brief = replace(options, **once)  # type: ignore[arg-type]
        self._robot, self._collision = robot, collision
        self._solver = make_tips_solver(robot, brief, tips)
        self._best: TipsSolver | None = None
        if orientation_yields(robot, options):
            thorough = replace(options, prefer='first', posture=None)
            self._best = make_tips_solver(robot, thorough, tips)
        self._turns = WholeTurns(robot)

    def warm_up(self) -> None:
        """Compile what is needed: planning time does not count that."""
        mid, rng = self._robot.mid_configuration(), np.random.default_rng(0)
        T = self._robot.tip_poses(self._robot.random_configuration(rng))
        self._solver.warm_up()
        self._solver.solve(T, mid)
        if self._collision is not None:
            CollisionGuard(self._collision).warm_up()
            EdgeChecks(self._collision, self._collision.clearances).warm_up()
            self._warm_up_search(mid)

    def _warm_up_search(self, q: Array) -> None:
        """Compile what looks for ways."""
        looks, rng = count(), np.random.default_rng(0)
        space = FreeSpace(self._collision, q, lambda: False)
        path, weights = [q, q + TINY, q], np.ones(len(q))
        RrtConnect(q - TINY, q + TINY, weights, TINY).path(
            q,
            lambda: q,
            space.is_edge_free,
            lambda: next(looks) > 1,
            1,
            lambda: space.edge_arguments,
        )
        space.is_edge_free(q, q)
        shortened(path, lambda *_: False, weights, lambda: False, rng, space.edge_arguments)
        rounded(path, space.is_curve_free, 1.0)

    def plan(
        self,
        request: PlanRequest,
        should_stop: Callable[[], bool] = lambda: False,
        stop: Indices | None = None,
    ) -> Plan:
        """
        Look for a way.

        Parameters
        ----------
        request : PlanRequest
            From where to where.
        should_stop : callable
            Whether to give up; asked every few milliseconds.
        stop : array of int, shape (1,), optional
            Becomes other than 0 when `should_stop` becomes true: kernels look at it more often.

        Raises
        ------
        JointValueError, TargetError, ValueError
            If the request makes no sense: see `PlanRequest.check`.

        """
        request.check(self._robot)
        search = PlanSearch(
            self._robot,
            self._collision,
            self._solver.solve,
            None if self._best is None else self._best.solve,
            self._turns,
            request,
            should_stop,
            stop,
        )
        collision, plan = self._collision, search.plan()
        checking = 'off: the robot is not known' if collision is None else collision.checking
        return replace(
            plan, collision_checking=checking, orientation_error=self._turned_off(plan, request.T)
        )

    def _turned_off(self, plan: Plan, T: Array | None) -> float:
        """Turn of the tips off poses `T`, (k, 4, 4), at the end of a path [rad]."""
        if T is None or not plan.found:
            return 0.0
        return self._solver.solve_within(T, plan.q, plan.q, plan.q).orientation_error
