"""What the compiled functions are given: the arm packed into arrays, and one solve at a time."""

import math
import time
from typing import NamedTuple

import numpy as np

from ..kernels import chain_search, search as kernels
from ..kernels._jit import COMPILED
from ..kernels.arm_table import FRAME
from ..kernels.buffers import allocate
from ..kernels.limits import narrow, narrow_around, START_LOWER, START_UPPER, UNITS
from ..kernels.posture import ease
from ..kernels.task import (
    AXIS_MODE,
    AXIS_TOLERANCES,
    LENGTH_PER_REACH,
    ORIENTATION_TOLERANCE,
    pack_task,
    POSE_MODE,
    POSITION_MODE,
    POSITION_TOLERANCE,
)
from ..model.chain import Chain
from ..model.mechanism import Mechanism
from ..transforms import Array
from .options import SolverOptions

MODES = {'pose': POSE_MODE, 'axis': AXIS_MODE, 'position': POSITION_MODE}
FIRST_TRIES = kernels.NEAR_TRIES + (20 if COMPILED else 1)
"""Tries of the first kernel call; hardly a solve needs more, and what follows is slower."""
TRIES_PER_CLOCK_CHECK = 4 if COMPILED else 1
FINISHERS = ('nobody', 'seed', 'fabrik', 'polish')
"""What the account calls 0, 1, 2, 3."""
NEARLY_ALL = 0.999
"""An error above this share of another one is not clearly smaller [1]."""
SHARP_TOLERANCE = 1e-10
"""Tolerance at which configurations are told apart [m], [rad]."""

FARTHEST = 10.0
"""
Reaches at which a target beyond reach is searched for: from there the nearest configuration is
practically the same. Without the polish the search is at the reach itself, as the error of
iterations must come to nothing.
"""

Outcome = tuple[int, float, float, int, int, int, int, bool, float]
"""
A code, then errors of position and orientation, passes, polish steps, restarts, who finished,
whether a joint stands at a limit, and the cost; see `kernels/search.py`.
"""


class PackedArm(NamedTuple):
    """An arm and what is asked of it, in the order in which the kernels take them."""

    model: Array
    """See `kernels/model.py`."""
    limits: Array
    """See `kernels/limits.py`."""
    tasks: Array
    """Rows: the whole task, the position alone, the orientation yielding more and more."""
    sphere: Array
    """Where the tip can be, shape (6,); see `kernels/target.py`."""
    rows: Array
    """Memory to work in; see `kernels/buffers.py`."""
    vectors: Array
    """Memory to work in; see `kernels/buffers.py`."""
    polish: bool
    """Whether the polish may finish."""

    def around(self, q: Array, moves: Array) -> 'PackedArm':
        """Limit every joint to one of `moves`, shape (n,) [rad or m], on either side of `q`."""
        limits = np.empty(self.limits.shape)
        narrow_around(self.limits, q, moves, limits)
        return PackedArm(self.model, limits, *self[2:])

    def within(self, lower: Array, upper: Array) -> 'PackedArm':
        """Bound every joint [rad or m]; bounds that lie outside the limits come to lie on them."""
        return self._replace(limits=limits_within(self.limits, lower, upper))

    def sharpened(self) -> 'PackedArm':
        """Ask for narrow tolerances: near a singularity a small error lets joints differ much."""
        tasks = self.tasks.copy()
        kinds = [POSITION_TOLERANCE, ORIENTATION_TOLERANCE]
        tasks[:, kinds] = np.minimum(tasks[:, kinds], SHARP_TOLERANCE)
        return self._replace(tasks=tasks)

    def with_own_memory(self) -> 'PackedArm':
        """Take the same arm with memory that no other thread works in."""
        return self._replace(rows=self.rows.copy(), vectors=self.vectors.copy())


def pack(chain: Chain, options: SolverOptions) -> PackedArm:
    """Write an arm and a task for the kernels."""
    tasks = pack_tasks(options, chain.reach)
    holds_place = not np.any(tasks[kernels.WHOLE, AXIS_TOLERANCES : AXIS_TOLERANCES + 3])
    inner_reach, reach = (chain.inner_reach, chain.reach) if holds_place else (0.0, math.inf)
    farthest = chain.reach if options.polish == 'never' else FARTHEST * chain.reach
    return PackedArm(
        chain.model,
        pack_limits(chain),
        tasks,
        np.array([*chain.root_point, inner_reach, reach, farthest]),
        *allocate(len(chain.model) - 1, len(chain)),
        options.polish == 'auto',
    )


def pack_tasks(options: SolverOptions, reach: float) -> Array:
    """Write what is asked of a tip with that reach [m]; rows as in `PackedArm.tasks`."""
    mode = MODES.get(options.mode, POSE_MODE)
    axis = np.asarray(options.axis, dtype=np.float64)

    def task(mode: int, orientation_weight: float = 1.0) -> Array:
        return pack_task(
            options.position_tolerance, options.orientation_tolerance, mode,
            axis / np.linalg.norm(axis), max(reach, 1e-9), orientation_weight,
            options.axis_tolerances, options.axis_weights,
        )  # fmt: skip

    yielding = [task(mode, weight) for weight in kernels.YIELDING_WEIGHTS]
    return np.array([task(mode), task(POSITION_MODE), *yielding])


def pack_limits(mechanism: Mechanism) -> Array:
    """Write the limits as rows, see `kernels/limits.py`."""
    start_lower, start_upper = mechanism.finite_limits()
    mid, half = 0.5 * (start_lower + start_upper), 0.5 * (start_upper - start_lower)
    half = np.where(mechanism.is_revolute, np.minimum(half, math.pi), half)
    start_lower = np.maximum(start_lower, mid - half)
    start_upper = np.minimum(start_upper, mid + half)
    units = np.where(mechanism.is_revolute, 1.0, LENGTH_PER_REACH * max(mechanism.reach, 1e-9))
    return np.array([mechanism.lower, mechanism.upper, start_lower, start_upper, units])


def limits_within(limits: Array, lower: Array, upper: Array) -> Array:
    """Narrow limits to bounds; bounds that lie outside of them come to lie on them."""
    narrowed: Array = np.empty(limits.shape)
    narrow(limits, lower, upper, narrowed)
    return narrowed


def tries_with(restarts: int) -> int:
    """Count the tries with a number of restarts: near the seed, from the seed, and restarts."""
    return kernels.NEAR_TRIES + 1 + restarts


class Search:
    """
    One solve that is not done after its first tries.

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
    account : tuple
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
        account: Outcome,
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
        self.statistics = np.array(account[1:])
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

    def find_nearest(self, starts: int = 0) -> None:
        """
        Bring the tip as near as it gets from the best configuration, and from others.

        From elsewhere only what brings it clearly nearer counts: an arm that cannot reach its
        target need not turn round for a better orientation.
        """
        self._find_nearest_from(self._arm, self.q.copy())
        self._find_nearest_from(self._arm, self.seed)
        lower, upper = self._arm.limits[START_LOWER : START_UPPER + 1]
        begin, q, statistics = np.empty_like(self.q), self.q, self.statistics
        for number in range(starts):
            kernels.scatter(number, lower, upper, begin)
            self.q, self.statistics = q.copy(), statistics.copy()
            self.statistics[kernels.COST] = math.inf
            self._find_nearest_from(self._arm, begin)
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

    def ease(self, posture: Array, weight: float) -> None:
        """Move the configuration, which reaches the target, towards a posture."""
        arm = self._arm
        ease(
            arm.model, arm.limits, arm.tasks, arm.rows, arm.vectors,
            self._target, self.seed, posture, weight, self.q, self.statistics,
        )  # fmt: skip

    def account(self) -> Outcome:
        """Tell what was done and what came of it; the code says nothing any more."""
        apart, turned, passes, steps, restarts, finisher, limited, cost = self.statistics.tolist()
        counts = int(passes), int(steps), int(restarts), int(finisher)
        return (kernels.NOT_YET, apart, turned, *counts, limited != 0.0, cost)

    def assess(self) -> bool:
        """Account for the target as it was asked for; tell whether a limit is in the way."""
        arm = self._arm
        blocked = chain_search.assess(
            arm.model, arm.limits, arm.tasks[kernels.WHOLE], arm.rows, arm.vectors,
            self._asked, self.q, self.statistics,
        )  # fmt: skip
        return bool(blocked)
