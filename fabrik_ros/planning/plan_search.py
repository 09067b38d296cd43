"""
One search for a way, from start to end.

Configurations at the goal are drawn from the solver. Where no straight way leads to the first
ones, RRT-Connect searches for a path, and goes on drawing. The path is shortened, and its
corners are rounded.

"""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import count
import math
import time

import numpy as np

from ..collision.checked_pairs import CheckedPairs
from ..collision.guard import CollisionGuard
from ..kernels.separation import Indices
from ..model.mechanism import Mechanism
from ..solver.solution import EQUALLY_TURNED, Solution, Status
from ..transforms import Array
from .free_space import FreeSpace
from .goal_sampler import GoalSampler
from .moving_apart import configuration_apart
from .moving_joints import joints_with_goal
from .plan_request import PlanRequest
from .plan_result import Plan, PlanOutcome
from .rounding import rounded
from .rrt_connect import RrtConnect
from .shortcuts import is_nearly_straight, length_of, shortened, without_corners
from .straight_room import straight_room
from .timed_way import USUAL_SPEED
from .whole_turns import WholeTurns

FIRST_DRAWS = 10
"""Number of draws of goals before the search begins [1]."""
MOST_DIRECT = 4
"""Goals tried by a straight edge first [1]."""
LONGEST_EDGE = 1.0
"""Length of the longest edge of the search [rad]."""
FIRST_PATIENCE = 0.5
"""Time limit of the first search; each restart doubles it [s]."""
SHORT_SEARCHES, SHORT = 2, 6
"""Number of other searches, for a shorter path, and how often each asks whether to stop [1]."""
BEYOND = 1.5 * np.pi
"""Distance beyond start and goals that is searched for joints without limits [rad]."""
FIXED = 1e-9
"""Largest range between limits of a joint that counts as fixed [rad or m]."""
SHORTEST_REACH = 1e-3
"""Least reach that is assumed of an arm [m]."""


class PlanSearch:
    """
    Searches for one way.

    Parameters
    ----------
    robot : Chain or Tree
        The joints.
    collision : CheckedPairs or None
        Knows what collides; obstacles that are nearer at the start than their clearance may stay
        as near.
    solve : callable
        Finds joint values for poses of shape (k, 4, 4) from a seed of shape (n,).
    solve_best : callable or None
        Finds those with the best orientation, where an arm has too few joints for poses.
    turns : WholeTurns
        Turns them.
    request : PlanRequest
        From where to where.
    should_stop : callable
        True ends the search.
    stop : array of int, shape (1,), optional
        Other than 0, it ends the kernels of the search.

    """

    def __init__(
        self,
        robot: Mechanism,
        collision: CheckedPairs | None,
        solve: Callable[[Array, Array], Solution],
        solve_best: Callable[[Array, Array], Solution] | None,
        turns: WholeTurns,
        request: PlanRequest,
        should_stop: Callable[[], bool],
        stop: Indices | None = None,
    ) -> None:
        self._solve_best, self._stop = solve_best, stop
        self._begin = time.monotonic()
        self._robot, self._collision, self._solve = robot, collision, solve
        self._turns, self._request, self._is_cancelled = turns, request, should_stop
        self._rng = np.random.default_rng(request.seed)
        size = max(robot.size, SHORTEST_REACH)
        self._weights = np.where(robot.is_revolute, 1.0, 1.0 / size)
        self._moves = joints_with_goal(robot, None if request.q_goals else request.T)

    def plan(self) -> Plan:
        """Look for the way."""
        start = np.clip(self._request.start, self._robot.lower, self._robot.upper)
        before = [] if np.array_equal(start, self._request.start) else [self._request.start]
        if self._collision is not None:
            self._collision.keep_distances_at(start)
            guard = CollisionGuard(self._collision)
            if collision := guard.collision_at(start):
                apart = self._apart(guard, start)
                if apart is None:
                    return self._none(PlanOutcome.START_IN_COLLISION, f'at the start {collision}')
                before, start = [*before, start], apart
        space = FreeSpace(self._collision, start, self._should_stop, self._request.T, self._stop)
        knots = self._knots(start, space)
        if isinstance(knots, Plan):
            return knots
        room = np.full(len(knots), np.inf)
        if self._request.brakes_straight:
            room = straight_room(knots, partial(self._free_share, space))
        if self._is_cancelled():
            return self._not_found()
        return Plan(
            PlanOutcome.FOUND,
            '',
            np.concatenate([np.array(before).reshape(-1, len(start)), knots]),
            np.concatenate([np.zeros(len(before)), room]),
            self._robot.joint_names,
            self._fastest,
            self._time,
        )

    def _free_share(self, space: FreeSpace, q: Array, q_next: Array) -> float:
        """Free share of an edge; 0 once cancelled."""
        return 0.0 if self._is_cancelled() else space.free_share(q, q_next)

    def _apart(self, guard: CollisionGuard, q: Array) -> Array | None:
        """Find a free configuration nearby to which links that are too near only move apart."""
        pieces = configuration_apart(self._robot, guard, q)
        while not self._should_stop():
            try:
                next(pieces)
            except StopIteration as end:
                apart: Array | None = end.value
                return apart
        return None

    def _knots(self, start: Array, space: FreeSpace) -> Array | Plan:
        """Look for knots from a free configuration to the goal; say why there are none."""
        goals = self._goals(start, space)
        if not goals.found:
            return self._no_goal(goals)
        first = sorted(goals.found, key=self._cost(start))
        waypoints = self._direct(start, first, space) or self._searched(start, first, goals, space)
        if waypoints is None or self._is_cancelled():
            return self._not_found()
        waypoints = shortened(
            waypoints,
            space.is_edge_free,
            self._weights,
            self._should_stop,
            self._rng,
            space.edge_arguments,
        )
        knots = rounded(waypoints, space.is_curve_free, self._robot.size)
        return self._not_found() if self._is_cancelled() else knots

    def _goals(self, start: Array, space: FreeSpace) -> GoalSampler:
        """Find the first free configurations at the goal, or go on until there are no others."""
        robot, request = self._robot, self._request
        T, turns, best = request.T, self._turns, self._best_turned(start)
        worst = math.inf if best is None else best.orientation_error + EQUALLY_TURNED
        goals = GoalSampler(robot, turns, self._solve, space, T, start, self._rng, worst)
        for q in (*request.q_goals, *([] if best is None else [best.q])):
            goals.add(np.clip(q, robot.lower, robot.upper))
        while not (goals.is_exhausted or self._should_stop()):
            if goals.found and goals.attempts >= FIRST_DRAWS:
                break
            goals.draw()
        return goals

    def _best_turned(self, start: Array) -> Solution | None:
        """Find the best orientation at the goal; None where the arm has joints for any."""
        if self._request.T is None or self._solve_best is None:
            return None
        best = self._solve_best(self._request.T, start)
        return best if best.converged else None

    def _direct(self, start: Array, goals: list[Array], space: FreeSpace) -> list[Array] | None:
        """Go straight to one of the first goals, where that is free."""
        free = (q for q in goals[:MOST_DIRECT] if space.is_edge_free(start, q))
        goal = next(free, None)
        return None if goal is None else [start, goal]

    def _searched(
        self, start: Array, first: list[Array], goals: GoalSampler, space: FreeSpace
    ) -> list[Array] | None:
        """Search for a path, to the first goals and to others that are drawn meanwhile."""
        lower, upper = self._box(start)
        if not np.any(upper - lower > FIXED):
            return None
        waiting = list(first)
        search = RrtConnect(lower, upper, self._weights, LONGEST_EDGE)

        def drawn() -> Array | None:
            if not waiting and not goals.is_exhausted:
                waiting.extend(goals.draw())
            return waiting.pop(0) if waiting else None

        def path(number: int, is_over: Callable[[], bool]) -> list[Array] | None:
            edges, seed = space.is_edge_free, self._request.seed + number
            return search.path(start, drawn, edges, is_over, seed, lambda: space.edge_arguments)

        for number, patience in enumerate(FIRST_PATIENCE * 2.0**i for i in count()):
            if number:  # the goals so far may lie in pockets: go for new ones first
                new = [q for _ in range(FIRST_DRAWS) for q in goals.draw()]
                waiting[:] = [*new, *goals.found[number % len(goals.found) :], *goals.found]
            waypoints = path(number, partial(self._is_after, self._time + patience))
            if self._should_stop():
                return waypoints
            if waypoints is not None:
                break
        assert waypoints is not None
        best = without_corners(waypoints, space.is_edge_free)
        for again in range(1, 1 + SHORT_SEARCHES):
            if is_nearly_straight(best, self._weights):
                break
            waiting[:], asked = sorted(goals.found, key=self._cost(start)), count()
            other = path(number + again, partial(self._is_long, asked))
            if other is not None:
                ways = best, without_corners(other, space.is_edge_free)
                best = min(ways, key=lambda way: length_of(way, self._weights))
        return best

    def _box(self, start: Array) -> tuple[Array, Array]:
        """
        Return lower and upper ends, shape (n,), of what is searched: the limits, if any.

        A joint that is to stay has both at its value.
        """
        robot, q_goals = self._robot, self._request.q_goals
        beyond = np.where(robot.is_revolute, BEYOND, robot.size)
        ends = np.array([start, *q_goals])
        lower, upper = robot.finite_limits()
        lower = np.where(lower == robot.lower, lower, ends.min(axis=0) - beyond)
        upper = np.where(upper == robot.upper, upper, ends.max(axis=0) + beyond)
        return np.where(self._moves, lower, start), np.where(self._moves, upper, start)

    def _cost(self, start: Array) -> Callable[[Array], float]:
        """Say how much a configuration at the goal costs: given ones nothing."""
        request = self._request
        preferred = start if request.posture is None else request.posture
        fastest = 1.0 / self._weights if request.fastest is None else request.fastest
        given = {q.tobytes() for q in request.q_goals}

        def cost(q: Array) -> float:
            if q.tobytes() in given:
                return 0.0
            return float(np.max(np.abs(q - preferred) / fastest))

        return cost

    @property
    def _fastest(self) -> Array:
        """Greatest speeds of the joints, shape (n,) [rad/s or m/s]."""
        if self._request.fastest is not None:
            return self._request.fastest
        return np.minimum(self._robot.velocity, USUAL_SPEED)

    def _is_long(self, asked: Iterator[int]) -> bool:
        """Whether a short search is over."""
        return next(asked) >= SHORT or self._should_stop()

    def _should_stop(self) -> bool:
        """Whether the planning time is over, or the search was cancelled."""
        return self._time > self._request.planning_time or self._is_cancelled()

    def _is_after(self, time_: float) -> bool:
        """Whether a time has passed since the beginning [s], or the search is to end."""
        return self._time > time_ or self._should_stop()

    @property
    def _time(self) -> float:
        """Time since the beginning [s]."""
        return time.monotonic() - self._begin

    # -- why there is none

    def _no_goal(self, goals: GoalSampler) -> Plan:
        if self._is_cancelled():
            return self._not_found()
        if goals.collision:
            reason = f'no configuration at the goal is free: {goals.collision}'
            return self._none(PlanOutcome.GOAL_IN_COLLISION, reason)
        if not goals.attempts and self._should_stop():
            return self._not_found()
        status = Status.STALLED if goals.status is None else goals.status
        reason = f'no configuration at the goal: {status.value}'
        return self._none(PlanOutcome.GOAL_NOT_REACHABLE, reason)

    def _not_found(self) -> Plan:
        if self._is_cancelled():
            return self._none(PlanOutcome.CANCELLED, 'planning was cancelled')
        reason = f'no way was found within {self._request.planning_time:g} s'
        return self._none(PlanOutcome.NOT_FOUND, reason)

    def _none(self, outcome: PlanOutcome, reason: str) -> Plan:
        robot, knots = self._robot, np.empty((0, len(self._robot)))
        return Plan(
            outcome, reason, knots, np.empty(0), robot.joint_names, self._fastest, self._time
        )
