"""What the compiled functions are given of several arms, and one solve at a time."""

from collections.abc import Sequence
import math
import time
from typing import NamedTuple

import numpy as np

from .kernels import search as kernels, tree_search
from .kernels.limits import LOWER, UPPER
from .kernels.model import FRAME
from .kernels.tree_kinematics import tip_poses
from .kernels.tree_workspace import allocate
from .options import SolverOptions
from .search import (
    ATTEMPTS_PER_LOOK_AT_THE_CLOCK,
    attempts_with,
    FARTHEST,
    limits_within,
    pack_limits,
    pack_tasks,
)
from .transforms import Array
from .tree import Tree

YIELDS = 4
LIGHTER = 1e-2


class PackedTree(NamedTuple):
    """Arms and what is asked of their tips, in the order in which the kernels take them."""

    model: Array
    """See `kernels/tree_model.py`."""
    limits: Array
    """See `kernels/limits.py`."""
    tasks: Array
    """For each row of `PackedArm.tasks` and each tip a task, shape (., k, .)."""
    spheres: Array
    """Where each tip can be, shape (k, 6); see `kernels/target.py`."""
    weights: Array
    """How much each tip counts, shape (k,)."""
    rows: Array
    """Memory to work in; see `kernels/tree_workspace.py`."""
    lists: Array
    """Memory to work in."""
    vectors: Array
    """Memory to work in."""
    polish: bool
    """Whether the polish may finish."""

    @property
    def memory(self) -> tuple[Array, Array, Array]:
        """The memory to work in; between calls it holds targets, weights and seed."""
        return self.rows, self.lists, self.vectors

    def around(self, q: Array, move: float) -> 'PackedTree':
        """Limit every joint to `move` [rad or m] on either side of `q`."""
        q = np.minimum(np.maximum(q, self.limits[LOWER]), self.limits[UPPER])
        return self.within(q - move, q + move)

    def within(self, lower: Array, upper: Array) -> 'PackedTree':
        """Bound every joint [rad or m]; bounds that lie outside the limits come to lie on them."""
        return self._replace(limits=limits_within(self.limits, lower, upper))

    def with_own_memory(self) -> 'PackedTree':
        """Take the same arms with memory that no other thread works in."""
        rows, lists, vectors = (np.empty_like(memory) for memory in self.memory)
        return self._replace(rows=rows, lists=lists, vectors=vectors)


def pack_tree(tree: Tree, tips: Sequence[SolverOptions], weights: Sequence[float]) -> PackedTree:
    """Write arms, and what is asked of each tip, for the kernels."""
    options = tips[0]
    tasks = [pack_tasks(own, reach) for own, reach in zip(tips, tree.reaches, strict=True)]
    holes, reaches = tree.holes, tree.reaches
    if np.any(options.axis_tolerances[:3]) or not all(options.axis_weights[:3]):
        holes, reaches = np.zeros_like(holes), np.full_like(reaches, math.inf)
    farthest = tree.reaches * (1.0 if options.polish == 'never' else FARTHEST)
    return PackedTree(
        tree.model,
        pack_limits(tree),
        np.ascontiguousarray(np.array(tasks).transpose(1, 0, 2)),
        np.column_stack([tree.root_points, holes, reaches, farthest]),
        np.array(weights),
        *allocate(len(tree.model) - len(tips), len(tips), len(tree)),
        options.polish == 'auto',
    )


class TreeSearch:
    """
    One solve that is not done after its first attempts.

    Parameters
    ----------
    packed : PackedTree
        What is searched, with memory of its own.
    options : SolverOptions
        For the budget.
    T, begin : array
        Targets and seed as the kernel `solve` took them.
    q, report, apart : array
        What that kernel wrote; the search goes on in them.

    """

    def __init__(
        self,
        packed: PackedTree,
        options: SolverOptions,
        T: Array,
        begin: Array,
        q: Array,
        report: Array,
        apart: Array,
    ) -> None:
        self._packed = packed
        self._options = options
        self._T = T
        self._begin = begin
        self._q = q
        self.report = report
        self._apart = apart
        self.out_of_time = False
        self._load(packed, T)

    def _load(self, packed: PackedTree, T: Array, attempts: int = 0) -> bool:
        """Write targets and seed to the memory; make attempts; tell whether one succeeded."""
        q, report, apart = np.empty_like(self._q), self.report.copy(), self._apart.copy()
        code = tree_search.solve(*packed, attempts, T, self._begin, q, report, apart)
        return code == kernels.REACHED

    def run(self, made: int) -> bool:
        """Make attempts from number `made` on until one succeeds or the budget ends."""
        options, packed = self._options, self._packed
        last = math.inf if options.max_restarts is None else attempts_with(options.max_restarts)
        if options.max_restarts == 0:
            made = max(made, kernels.NEAR_ATTEMPTS)
        deadline = time.perf_counter() + options.budget
        while made < last and not self.out_of_time:
            count = int(min(ATTEMPTS_PER_LOOK_AT_THE_CLOCK, last - made))
            if tree_search.search(
                *packed[:3], *packed.memory, packed.polish, made, count, self._q, self.report,
                self._apart,
            ):  # fmt: skip
                return True
            made += count
            self.out_of_time = time.perf_counter() > deadline
        return False

    def settle(self) -> None:
        """Bring the tips as near as they get, from the best configuration and from the seed."""
        lower, upper = self._packed.limits[LOWER], self._packed.limits[UPPER]
        self._settle_from(self._packed, self._q.copy())
        self._settle_from(self._packed, np.minimum(np.maximum(self._begin, lower), upper))

    def _settle_from(self, packed: PackedTree, begin: Array) -> None:
        tree_search.settle(
            *packed[:3], *packed.memory, packed.polish, begin, self._q, self.report, self._apart
        )

    def give_way(self, attempts: int) -> None:
        """
        Let tips that cannot reach their targets, even alone, give way to those that can.

        In the compromise of `settle` a tip far from its target would pull others off theirs. So
        it is asked to stay where it came to, and counts less and less.
        """
        hindered = [t for t in range(len(self._T)) if not self._can_alone(t, attempts)]
        if not 0 < len(hindered) < len(self._T):
            return
        packed = self._packed
        tasks, weights, T = packed.tasks.copy(), packed.weights.copy(), self._T.copy()
        able = [t for t in range(len(T)) if t not in hindered]
        tasks[:, able] = tasks[kernels.WHOLE, able]
        for _ in range(YIELDS):
            weights[hindered] *= LIGHTER
            T[hindered, :3, 3] = self._places()[hindered]
            eased = packed._replace(tasks=tasks, weights=weights)
            self._load(eased, T)
            self.report[kernels.MERIT] = math.inf
            self._settle_from(eased, self._q.copy())
        self._load(packed, self._T)

    def _can_alone(self, t: int, attempts: int) -> bool:
        """Whether a tip that is not free would reach its target if all others were free."""
        T = np.full_like(self._T, math.nan)
        T[t] = self._T[t]
        return bool(np.isnan(T[t]).all()) or self._load(self._packed, T, attempts)

    def _places(self) -> Array:
        """Where the tips are, shape (k, 3)."""
        T, frames = np.empty_like(self._T), np.empty((len(self._packed.model), FRAME))
        tip_poses(self._packed.model, self._q, frames, T)
        return T[:, :3, 3]

    def weigh_up(self) -> bool:
        """Account for the targets as asked for; tell whether a limit is in the way."""
        model, limits, tasks = self._packed[:3]
        blocked = tree_search.weigh_up(
            model, limits, tasks[kernels.WHOLE], *self._packed.memory, self._q, self.report,
            self._apart,
        )  # fmt: skip
        return bool(blocked)
