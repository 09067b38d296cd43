"""A solve that goes on after the tries of its first kernel call."""

import math
import time

import numpy as np

from ..kernels import chain_search, search as kernels
from ..kernels._jit import COMPILED
from ..kernels.arm_table import FRAME
from ..kernels.limits import LOWER, UNITS, UPPER
from ..kernels.posture import ease
from ..transforms import Array
from .options import SolverOptions
from .packed_chain import PackedArm
from .solution import EQUALLY_TURNED
from .tries import NEARLY_ALL, Outcome, TRIES_PER_CLOCK_CHECK, tries_with


class ContinuedSearch:
    """
    One solve that has not succeeded in its first tries.

    Parameters
    ----------
    arm : PackedArm
        What is searched.
    options : SolverOptions
        For the budget.
    tries : int
        Tries made so far.
    T, begin : array
        Target and seed as the kernel `solve` took them.
    q : array
        The best configuration.
    outcome : tuple
        What the kernel `solve` returned.

    """

    def __init__(
        self,
        arm: PackedArm,
        options: SolverOptions,
        tries: int,
        T: Array,
        begin: Array,
        q: Array,
        outcome: Outcome,
    ) -> None:
        self._arm = arm
        self._options = options
        self.tries = tries
        self._deadline = math.inf
        self._asked, self._target = np.empty(FRAME), np.empty(FRAME)
        self.seed = np.empty(len(q))
        chain_search.read(
            T, begin, arm.limits, arm.tasks, arm.sphere, self._asked, self._target, self.seed
        )
        self.q = q
        self.statistics = np.array(outcome[1:])
        self.out_of_time = False

    def run(self, most: int | None = None, position_only: bool = False) -> bool:
        """Make tries until one succeeds, the budget ends, or there were `most`."""
        tasks = self._arm.tasks
        if position_only:
            tasks = np.repeat(tasks[kernels.POSITION_ONLY :][:1], len(tasks), axis=0)
        last = math.inf if most is None else self.tries + most
        while (count := self._allowed(min(TRIES_PER_CLOCK_CHECK, last - self.tries))) > 0:
            if self._make_tries(tasks, count):
                return True
        return False

    @property
    def bounds(self) -> tuple[Array, Array]:
        """Bounds that the joints keep in this search, each of shape (n,)."""
        return self._arm.limits[LOWER], self._arm.limits[UPPER]

    def next_solution(self) -> bool:
        """Make tries until one succeeds, whatever was found before, or the budget ends."""
        while self._allowed(1) > 0:
            self.statistics[kernels.COST] = math.inf
            if self._make_tries(self._arm.tasks, 1):
                return True
        return False

    def _allowed(self, count: float) -> int:
        """Count how many of `count` tries may still be made."""
        self.out_of_time = time.perf_counter() > self._deadline
        restarts = self._options.max_restarts
        if restarts == 0 and self.tries >= kernels.SEED_TRIES:
            self.tries = max(self.tries, kernels.NEAR_TRIES)
        if restarts is not None:
            count = min(count, tries_with(restarts) - self.tries)
        if self._deadline == math.inf:
            count = min(count, 1)
        return 0 if self.out_of_time else int(count)

    def _make_tries(self, tasks: Array, count: int) -> bool:
        arm, first = self._arm, self.tries
        self.tries += count
        reached = chain_search.search(
            arm.model, arm.limits, tasks, arm.rows, arm.vectors, arm.polish,
            self._target, self.seed, first, count, self.q, self.statistics,
        )  # fmt: skip
        if self._deadline == math.inf:  # the clock starts here: what ran may have been compiled
            self._deadline = time.perf_counter() + self._options.budget
        return bool(reached)

    def find_nearest_to_seed(self) -> bool:
        """
        Come as near as possible near the seed; tell whether the best configuration is there.

        That is so where the position is reached and no joint wants to leave the neighbourhood.
        An arm that follows a target then keeps its configuration, even if the orientation were
        better in another one.
        """
        width = kernels.NEIGHBOURHOOD * self._arm.limits[UNITS]
        self._find_nearest_from(self._arm.around(self.seed, width), self.seed)
        moves = np.abs(self.q - self.seed)
        return self.is_position_reached() and bool(np.all(moves < NEARLY_ALL * width))

    def find_best_turned(self, starts: int) -> bool:
        """
        Look everywhere for the position with the best orientation; tell if the pose is reached.

        Descends from `starts` points of the limits, unless one leads to the whole pose. Of
        orientations that are equally good the one nearest to the seed counts.
        """
        best, known = self.q.copy(), self.statistics.copy()
        for number in range(starts):
            if not COMPILED and self._allowed(1) == 0:
                break
            self.statistics[kernels.COST] = math.inf
            self._find_nearest_from(self._arm, self._arm.scattered(number))
            self.statistics[kernels.RESTARTS] += 1
            if self.is_position_reached() and self.is_turned():
                return True
            if self._is_better_than(best, known):
                best[:], known[:] = self.q, self.statistics
        counts = slice(kernels.PASSES, kernels.FINISHED_BY)
        known[counts] = self.statistics[counts]
        self.q[:], self.statistics[:] = best, known
        return False

    def _is_better_than(self, best: Array, known: Array) -> bool:
        """Whether this configuration is better than another one, given its statistics."""
        found, position, turn = self.statistics, kernels.POSITION_ERROR, kernels.ORIENTATION_ERROR
        if max(found[position], known[position]) > self._options.position_tolerance:
            return bool(found[kernels.COST] < known[kernels.COST])
        if abs(found[turn] - known[turn]) > EQUALLY_TURNED:
            return bool(found[turn] < known[turn])
        move, best_move = (np.max(np.abs(q - self.seed)) for q in (self.q, best))
        return bool(move < best_move - EQUALLY_TURNED)

    def find_nearest(self, starts: int = 0) -> None:
        """
        Bring the tip as near as it gets from the best configuration, and from others.

        From elsewhere only what brings it clearly nearer counts: an arm that cannot reach its
        target need not turn round for a better orientation.
        """
        self._find_nearest_from(self._arm, self.q.copy())
        self._find_nearest_from(self._arm, self.seed)
        q, statistics = self.q, self.statistics
        for number in range(starts):
            self.q, self.statistics = q.copy(), statistics.copy()
            self.statistics[kernels.COST] = math.inf
            self._find_nearest_from(self._arm, self._arm.scattered(number))
            counts = slice(kernels.PASSES, kernels.POLISH_STEPS + 1)
            statistics[counts] = self.statistics[counts]
            nearer = NEARLY_ALL * statistics[kernels.POSITION_ERROR]
            if self.statistics[kernels.POSITION_ERROR] < nearer:
                q[:], statistics[:] = self.q, self.statistics
        self.q, self.statistics = q, statistics

    def _find_nearest_from(self, arm: PackedArm, begin: Array) -> None:
        chain_search.find_nearest(
            arm.model, arm.limits, arm.tasks, arm.rows, arm.vectors, arm.polish,
            self._target, self.seed, begin, self.q, self.statistics,
        )  # fmt: skip

    def is_position_reached(self) -> bool:
        """Whether the best configuration has the tip in the right place."""
        tolerance = self._options.position_tolerance
        return bool(self.statistics[kernels.POSITION_ERROR] <= tolerance)

    def is_turned(self) -> bool:
        """Whether the best configuration has the orientation that was asked for."""
        tolerance = self._options.orientation_tolerance
        return bool(self.statistics[kernels.ORIENTATION_ERROR] <= tolerance)

    def ease(self, posture: Array, weight: float) -> None:
        """Move the configuration, which reaches the target, towards a posture."""
        arm = self._arm
        ease(
            arm.model, arm.limits, arm.tasks, arm.rows, arm.vectors,
            self._target, self.seed, posture, weight, self.q, self.statistics,
        )  # fmt: skip

    def outcome(self) -> Outcome:
        """Return the statistics as a kernel does; the code has no meaning any more."""
        apart, turned, passes, steps, restarts, finisher, limited, cost = self.statistics.tolist()
        counts = int(passes), int(steps), int(restarts), int(finisher)
        return (kernels.NOT_YET, apart, turned, *counts, limited != 0.0, cost)

    def assess(self) -> bool:
        """Write the errors to the target as asked for; tell whether a limit keeps them high."""
        arm = self._arm
        blocked = chain_search.assess(
            arm.model, arm.limits, arm.tasks[kernels.WHOLE], arm.rows, arm.vectors,
            self._asked, self.q, self.statistics,
        )  # fmt: skip
        return bool(blocked)
