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
    LENGTH_PER_REACH,
    ORIENTATION_TOLERANCE,
    pack_task,
    POSE_MODE,
    POSITION_MODE,
    POSITION_TOLERANCE,
    ROOM,
)
from ..model.chain import Chain
from ..model.mechanism import Mechanism
from ..transforms import Array
from .options import SolverOptions

MODES = {'pose': POSE_MODE, 'axis': AXIS_MODE, 'position': POSITION_MODE}
FIRST_ATTEMPTS = kernels.NEAR_ATTEMPTS + (20 if COMPILED else 1)
"""So many that hardly a solve needs more: what follows is slower, and cold when it comes."""
ATTEMPTS_PER_LOOK_AT_THE_CLOCK = 4 if COMPILED else 1
FINISHERS = ('nobody', 'seed', 'fabrik', 'polish')
"""What the account calls 0, 1, 2, 3."""
NEARLY_ALL = 0.999
SHARP = 1e-10

FARTHEST = 10.0
"""
Reaches at which a target beyond reach is searched for: from there the nearest configuration is
practically the same. Rounds alone search at the reach itself, as their error must come to nothing.
"""

Account = tuple[int, float, float, int, int, int, int, bool, float]
"""
A code, then errors of position and orientation, passes, polish steps, restarts, who finished,
whether a joint stands at a limit, and the merit; see `kernels/search.py`.
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
        """Ask for narrow tolerances: near a singularity a small error leaves joints much room."""
        tasks = self.tasks.copy()
        kinds = [POSITION_TOLERANCE, ORIENTATION_TOLERANCE]
        tasks[:, kinds] = np.minimum(tasks[:, kinds], SHARP)
        return self._replace(tasks=tasks)

    def with_own_memory(self) -> 'PackedArm':
        """Take the same arm with memory that no other thread works in."""
        return self._replace(rows=self.rows.copy(), vectors=self.vectors.copy())


def pack(chain: Chain, options: SolverOptions) -> PackedArm:
    """Write an arm and a task for the kernels."""
    tasks = pack_tasks(options, chain.reach)
    holds_place = not np.any(tasks[kernels.WHOLE, ROOM : ROOM + 3])
    hole, reach = (chain.hole, chain.reach) if holds_place else (0.0, math.inf)
    farthest = chain.reach if options.polish == 'never' else FARTHEST * chain.reach
    return PackedArm(
        chain.model,
        pack_limits(chain),
        tasks,
        np.array([*chain.root_point, hole, reach, farthest]),
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


def attempts_with(restarts: int) -> int:
    """Count the attempts with so many restarts: near the seed, from the seed, and those."""
    return kernels.NEAR_ATTEMPTS + 1 + restarts


class Search:
    """
    One solve that is not done after its first attempts.

    Parameters
    ----------
    arm : PackedArm
        What is searched.
    options : SolverOptions
        For the budget.
    attempts : int
        Attempts made so far.
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
        attempts: int,
        T: Array,
        begin: Array,
        q: Array,
        account: Account,
    ) -> None:
        self._arm = arm
        self._options = options
        self.attempts = attempts
        self._deadline = math.inf
        self._asked, self._target = np.empty(FRAME), np.empty(FRAME)
        self.seed = np.empty(len(q))
        chain_search.read(
            T, begin, arm.limits, arm.tasks, arm.sphere, self._asked, self._target, self.seed
        )
        self.q = q
        self.report = np.array(account[1:])
        self.out_of_time = False

    def run(self, most: int | None = None, position_only: bool = False) -> bool:
        """Make attempts until one succeeds, the budget ends, or there were `most`."""
        tasks = self._arm.tasks
        if position_only:
            tasks = np.repeat(tasks[kernels.POSITION_ONLY :][:1], len(tasks), axis=0)
        last = math.inf if most is None else self.attempts + most
        while (count := self._room(min(ATTEMPTS_PER_LOOK_AT_THE_CLOCK, last - self.attempts))) > 0:
            if self._attempt(tasks, count):
                return True
        return False

    def next_solution(self) -> bool:
        """Make attempts until one succeeds, whatever was found before, or the budget ends."""
        while self._room(1) > 0:
            self.report[kernels.MERIT] = math.inf
            if self._attempt(self._arm.tasks, 1):
                return True
        return False

    def _room(self, count: float) -> int:
        """How many of `count` attempts may still be made."""
        self.out_of_time = time.perf_counter() > self._deadline
        restarts = self._options.max_restarts
        if restarts == 0 and self.attempts >= kernels.SEED_ATTEMPTS:
            self.attempts = max(self.attempts, kernels.NEAR_ATTEMPTS)
        if restarts is not None:
            count = min(count, attempts_with(restarts) - self.attempts)
        if self._deadline == math.inf:
            count = min(count, 1)
        return 0 if self.out_of_time else int(count)

    def _attempt(self, tasks: Array, count: int) -> bool:
        arm, first = self._arm, self.attempts
        self.attempts += count
        reached = chain_search.search(
            arm.model, arm.limits, tasks, arm.rows, arm.vectors, arm.polish,
            self._target, self.seed, first, count, self.q, self.report,
        )  # fmt: skip
        if self._deadline == math.inf:  # the clock starts here: what ran may have been compiled
            self._deadline = time.perf_counter() + self._options.budget
        return bool(reached)

    def settle_near(self) -> bool:
        """
        Settle in the neighbourhood of the seed; tell whether the best configuration is there.

        That is so where the position is reached and no joint wants to leave the neighbourhood.
        An arm that follows a target then keeps its configuration, even if the orientation were
        better in another one.
        """
        room = kernels.NEIGHBOURHOOD * self._arm.limits[UNITS]
        self._settle_from(self._arm.around(self.seed, room), self.seed)
        moves = np.abs(self.q - self.seed)
        return self.is_position_reached() and bool(np.all(moves < NEARLY_ALL * room))

    def settle(self, starts: int = 0) -> None:
        """
        Bring the tip as near as it gets from the best configuration, and from others.

        From elsewhere only what brings it clearly nearer counts: an arm that cannot reach its
        target need not turn round for a better orientation.
        """
        self._settle_from(self._arm, self.q.copy())
        self._settle_from(self._arm, self.seed)
        lower, upper = self._arm.limits[START_LOWER : START_UPPER + 1]
        begin, q, report = np.empty_like(self.q), self.q, self.report
        for number in range(starts):
            kernels.scatter(number, lower, upper, begin)
            self.q, self.report = q.copy(), report.copy()
            self.report[kernels.MERIT] = math.inf
            self._settle_from(self._arm, begin)
            counts = slice(kernels.PASSES, kernels.POLISH_STEPS + 1)
            report[counts] = self.report[counts]
            nearer = NEARLY_ALL * report[kernels.POSITION_ERROR]
            if self.report[kernels.POSITION_ERROR] < nearer:
                q[:], report[:] = self.q, self.report
        self.q, self.report = q, report

    def _settle_from(self, arm: PackedArm, begin: Array) -> None:
        chain_search.settle(
            arm.model, arm.limits, arm.tasks, arm.rows, arm.vectors, arm.polish,
            self._target, self.seed, begin, self.q, self.report,
        )  # fmt: skip

    def is_position_reached(self) -> bool:
        """Whether the best configuration has the tip in the right place."""
        tolerance = self._options.position_tolerance
        return bool(self.report[kernels.POSITION_ERROR] <= tolerance)

    def ease(self, posture: Array, weight: float) -> None:
        """Move the configuration, which reaches the target, towards a posture."""
        arm = self._arm
        ease(
            arm.model, arm.limits, arm.tasks, arm.rows, arm.vectors,
            self._target, self.seed, posture, weight, self.q, self.report,
        )  # fmt: skip

    def account(self) -> Account:
        """Tell what was done and what came of it; the code says nothing any more."""
        apart, turned, passes, steps, restarts, finisher, limited, merit = self.report.tolist()
        counts = int(passes), int(steps), int(restarts), int(finisher)
        return (kernels.NOT_YET, apart, turned, *counts, limited != 0.0, merit)

    def weigh_up(self) -> bool:
        """Account for the target as it was asked for; tell whether a limit is in the way."""
        arm = self._arm
        blocked = chain_search.weigh_up(
            arm.model, arm.limits, arm.tasks[kernels.WHOLE], arm.rows, arm.vectors,
            self._asked, self.q, self.report,
        )  # fmt: skip
        return bool(blocked)
