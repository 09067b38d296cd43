"""A chain and the task of its tip, in the arrays that the kernels take."""

import math
from typing import NamedTuple

import numpy as np

from ..kernels import search as kernels
from ..kernels.buffers import allocate
from ..kernels.limits import narrow, narrow_around, START_LOWER, START_UPPER
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
SHARP_TOLERANCE = 1e-10
"""Tolerance at which configurations are distinguished [m], [rad]."""

FARTHEST = 10.0
"""
Reaches at which a target beyond reach is searched for: from there the nearest configuration is
practically the same. Without the polish the search is at the reach itself, as the error of
iterations must come to nothing.
"""


class PackedArm(NamedTuple):
    """An arm and its task, in the order in which the kernels take them."""

    model: Array
    """See `kernels/arm_table.py`."""
    limits: Array
    """See `kernels/limits.py`."""
    tasks: Array
    """Rows: the whole task, the position alone, the orientation yielding more and more."""
    sphere: Array
    """Space in which the tip can be, shape (6,); see `kernels/target.py`."""
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

    def scattered(self, number: int) -> Array:
        """Return one of the points spread over the limits, shape (n,), the same for a number."""
        lower, upper = self.limits[START_LOWER : START_UPPER + 1]
        q = np.empty(len(lower))
        kernels.scatter(number, lower, upper, q)
        return q

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
    tasks = pack_tasks(options, chain.size)
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


def pack_tasks(options: SolverOptions, size: float) -> Array:
    """Write the tasks of a tip of an arm of a size [m]; rows as in `PackedArm.tasks`."""
    mode = MODES.get(options.mode, POSE_MODE)
    axis = np.asarray(options.axis, dtype=np.float64)

    def task(mode: int, orientation_weight: float = 1.0) -> Array:
        return pack_task(
            options.position_tolerance, options.orientation_tolerance, mode,
            axis / np.linalg.norm(axis), max(size, 1e-9), orientation_weight,
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
    units = np.where(mechanism.is_revolute, 1.0, LENGTH_PER_REACH * max(mechanism.size, 1e-9))
    return np.array([mechanism.lower, mechanism.upper, start_lower, start_upper, units])


def limits_within(limits: Array, lower: Array, upper: Array) -> Array:
    """Narrow limits to bounds; bounds that lie outside of them come to lie on them."""
    narrowed: Array = np.empty(limits.shape)
    narrow(limits, lower, upper, narrowed)
    return narrowed
