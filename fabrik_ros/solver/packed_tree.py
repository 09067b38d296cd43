"""Several arms in the arrays that the kernels take, and the arrays that these write."""

from collections.abc import Sequence
import math
from typing import NamedTuple

import numpy as np

from ..kernels import search as kernels, tree_search
from ..kernels.limits import narrow_around
from ..kernels.tree_buffers import allocate
from ..model.tree import Tree
from ..transforms import Array
from .options import SolverOptions
from .packed_chain import FARTHEST, limits_within, pack_limits, pack_tasks


class Found(NamedTuple):
    """The best configuration so far, in arrays that the kernels write to."""

    q: Array
    """Joint values, shape (n,) [rad or m]."""
    statistics: Array
    """Counts of the work done, and the largest errors; see `kernels/search.py`."""
    apart: Array
    """Errors of position and orientation of each tip, shape (k, 2)."""


class PackedTree(NamedTuple):
    """Arms and the tasks of their tips, in the order in which the kernels take them."""

    model: Array
    """See `kernels/tree_model.py`."""
    limits: Array
    """See `kernels/limits.py`."""
    tasks: Array
    """Task of each tip for each row of `PackedArm.tasks`, shape (., k, .)."""
    spheres: Array
    """Space in which each tip can be, shape (k, 6); see `kernels/target.py`."""
    weights: Array
    """Weight of each tip in the cost, shape (k,); 0 if it has no target."""
    rows: Array
    """Memory to work in; see `kernels/tree_buffers.py`."""
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

    def with_own_memory(self) -> 'PackedTree':
        """Take the same arms with memory that no other thread works in."""
        rows, lists, vectors = (np.empty_like(memory) for memory in self.memory)
        return self._replace(rows=rows, lists=lists, vectors=vectors)

    def around(self, q: Array, moves: Array) -> 'PackedTree':
        """Limit every joint to one of `moves`, shape (n,) [rad or m], on either side of `q`."""
        limits = np.empty(self.limits.shape)
        narrow_around(self.limits, q, moves, limits)
        return PackedTree(self.model, limits, *self[2:])

    def within(self, lower: Array, upper: Array) -> 'PackedTree':
        """Bound every joint [rad or m]; bounds that lie outside the limits come to lie on them."""
        return self._replace(limits=limits_within(self.limits, lower, upper))

    def counting(self, shares: Array) -> 'PackedTree':
        """Let each tip count by a share of its weight, shape (k,)."""
        return self._replace(weights=shares * self.weights)

    def begin(self, count: int, T: Array, seed: Array) -> tuple[int, Found]:
        """Read targets and seed and make the first `count` tries; return also a code."""
        tips = len(self.weights)
        found = Found(np.empty(len(seed)), np.empty(kernels.STATISTICS_SIZE), np.empty((tips, 2)))
        return tree_search.solve(*self, count, T, seed, *found), found

    def find_nearest(self, start: Array, found: Found) -> None:
        """Bring the tips as near as they get from `start`, and keep that if it is better."""
        arms = self.model, self.limits, self.tasks
        tree_search.find_nearest(*arms, *self.memory, self.polish, start, *found)

    def assess(self, found: Found) -> bool:
        """Write the errors to the targets as asked for; tell whether a limit keeps them high."""
        whole = self.tasks[kernels.WHOLE]
        return bool(tree_search.assess(self.model, self.limits, whole, *self.memory, *found))


def pack_tree(tree: Tree, tips: Sequence[SolverOptions], weights: Sequence[float]) -> PackedTree:
    """Write arms, and the task and the weight of each tip, for the kernels."""
    options, tasks = tips[0], [pack_tasks(own, tree.size) for own in tips]
    inner_reaches, reaches = tree.inner_reaches, tree.reaches
    if np.any(options.axis_tolerances[:3]) or not all(options.axis_weights[:3]):
        inner_reaches, reaches = np.zeros_like(inner_reaches), np.full_like(reaches, math.inf)
    farthest = tree.reaches if options.polish == 'never' else FARTHEST * tree.reaches
    return PackedTree(
        tree.model,
        pack_limits(tree),
        np.ascontiguousarray(np.array(tasks).transpose(1, 0, 2)),
        np.column_stack([tree.root_points, inner_reaches, reaches, farthest]),
        np.array(weights),
        *allocate(len(tree.model) - len(tips), len(tips), len(tree)),
        options.polish == 'auto',
    )
