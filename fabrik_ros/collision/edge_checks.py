"""
Whether anything comes too near on straight edges in joint space, for thousands of edges a second.

The answers are those of `CollisionGuard`, by the same bounds of how far joints can move solids.
But pairs of convex solids are looked at by compiled code (`kernels/edge_checks.py`), not one by
one. Pairs with obstacles made of triangles are looked at as ever.

"""

from collections.abc import Sequence
from weakref import WeakKeyDictionary

import numpy as np

from ..kernels import convex_gaps, edge_checks as kernels
from ..kernels._jit import COMPILED
from ..kernels.arm_table import FRAME
from ..transforms import Array
from .checked_pairs import CheckedPairs
from .distances import prismatic_limits
from .solids import Solid, Support, support_of
from .straight_paths import find_blocking, StraightPath

SHORTEST_PART = 1.0 / 256.0
"""Share of an edge that is not halved where its free share is looked for [1]."""
SHARES = (1.0, 0.5, 0.25, 0.12, 0.06, 0.03)
"""Shares of an edge that are tried where pairs have no kernel [1]."""
RESOLUTION = 2e-4
"""Where pairs come so much nearer than they must, an edge may be taken not to be free [m]."""

_SUPPORTS: WeakKeyDictionary[Solid, Support | None] = WeakKeyDictionary()
"""Supports of solids that were asked for before: those of a robot do not change."""


class EdgeChecks:
    """
    Finds pairs of solids that come too near, at configurations and on edges.

    Parameters
    ----------
    collision : CheckedPairs
        The pairs, as they are now: neither obstacles nor joints outside the arm may change.
    least : array, shape (p,)
        Distance that each pair must keep [m].

    """

    def __init__(self, collision: CheckedPairs, least: Array) -> None:
        distances, frames = collision.distances, collision.frames
        count = len(collision.mechanism)
        self._distances, self._least = distances, least
        self._lower, self._upper = prismatic_limits(collision.mechanism)
        self._always_hold = bool(np.isinf([self._lower, self._upper]).all())
        self._points, self._solids, is_convex = _table(distances.solids)
        pairs = np.array(distances.pairs, dtype=np.intp).reshape(-1, 2)
        is_ours = is_convex[pairs].all(axis=1) & np.isfinite(distances.motion_bounds).all(axis=1)
        is_ours &= COMPILED
        self._ours, self._others = np.flatnonzero(is_ours), np.flatnonzero(~is_ours)
        self._pairs, self._least_of_ours = pairs[self._ours], least[self._ours]
        bounds = distances.motion_bounds[self._ours, :count]
        self._motion_bounds = np.ascontiguousarray(bounds)
        self._model = frames.model
        self._values = np.concatenate([np.zeros(count), list(frames.other_joints.values())])
        self._frames = np.empty((len(frames.model), FRAME))
        self._directions = np.tile([1.0, 0.0, 0.0], (len(self._pairs), 1))
        self._memory = np.empty((convex_gaps.ROWS, 3))
        self._rows, self._parts = np.empty((2, count)), np.empty((kernels.MOST_PARTS, 2))
        self._nowhere, self._stays = np.zeros(count), np.zeros(count, dtype=bool)

    def warm_up(self) -> None:
        """Compile what is needed."""
        q = self._nowhere + np.clip(0.0, self._lower, self._upper)
        self.near_at(q)
        self.near_between(q, q)
        self.free_share(q, q)

    def near_at(self, q: Array) -> int:
        """Return the number of a pair that is too near at `q`, shape (n,); -1 if none."""
        if self._holds(q):
            near = kernels.first_near(
                self._model, self._values, self._frames, self._points, self._solids, self._pairs,
                self._motion_bounds, self._least_of_ours, q, self._nowhere, self._directions,
                self._memory,
            )  # fmt: skip
            if near >= 0:
                return int(self._ours[near])
        return self._other_near(q, q)

    def near_between(self, q: Array, q_next: Array) -> int:
        """Return the number of a pair that may come too near on a straight edge; -1 if none."""
        if self._holds(q) and self._holds(q_next):
            near = kernels.near_on_edge(
                self._model, self._values, self._frames, self._points, self._solids, self._pairs,
                self._motion_bounds, self._least_of_ours, q, q_next, RESOLUTION, self._rows,
                self._parts, self._directions, self._memory,
            )  # fmt: skip
            if near >= 0:
                return int(self._ours[near])
        return self._other_near(q, q_next)

    def free_share(self, q: Array, q_next: Array) -> float:
        """
        Share of a straight edge, from `q` on, on which nothing comes too near.

        Parts of a 256th are not looked at more closely: what is free by little may not count.
        """
        if not (self._holds(q) and self._holds(q_next)):
            return 0.0
        share = 1.0
        if len(self._others) > 0:
            share = next((s for s in SHARES if self._other_near(q, q + s * (q_next - q)) < 0), 0.0)
        return share * kernels.free_share(
            self._model, self._values, self._frames, self._points, self._solids, self._pairs,
            self._motion_bounds, self._least_of_ours, q, q + share * (q_next - q), SHORTEST_PART,
            self._rows, self._parts, self._directions, self._memory,
        )  # fmt: skip

    def _holds(self, q: Array) -> bool:
        """Whether the motion bounds hold: a prismatic joint beyond its limits breaks them."""
        return self._always_hold or bool(np.all(q >= self._lower) and np.all(q <= self._upper))

    def _other_near(self, q: Array, q_next: Array) -> int:
        """Look at the pairs that have no kernel, or at all where motion bounds do not hold."""
        holds = self._holds(q) and self._holds(q_next)
        pairs = self._others if holds else np.arange(len(self._distances))
        if len(pairs) == 0:
            return -1
        path = StraightPath(q, q_next, self._stays)
        return find_blocking(self._distances, path, pairs, self._least)


def _table(solids: Sequence[Solid]) -> tuple[Array, Array, Array]:
    """Write points and rows of solids as the kernels read them, and which of them are convex."""
    supports = [_support(solid) for solid in solids]
    known = [support or Support(np.zeros((1, 3)), 0.0, 0.0) for support in supports]
    counts = np.array([len(support.points) for support in known])
    rows = np.empty((len(solids), convex_gaps.COLUMNS))
    rows[:, convex_gaps.FIRST] = np.cumsum(counts) - counts
    rows[:, convex_gaps.COUNT] = counts
    for row, solid, support in zip(rows, solids, known, strict=True):
        row[convex_gaps.DISC], row[convex_gaps.BALL] = support.disc, support.ball
        row[convex_gaps.RADIUS] = solid.radius
        row[convex_gaps.CENTRE : convex_gaps.HALF_SIZE] = solid.centre
        row[convex_gaps.HALF_SIZE :] = _half_size(support, solid.centre)
    points = np.concatenate([support.points for support in known])
    return np.ascontiguousarray(points), rows, np.array([s is not None for s in supports])


def _half_size(support: Support, centre: Array) -> Array:
    """Half the size of a box about `centre` that a solid is in, shape (3,) [m]."""
    if len(support.points) == 0:
        return np.full(3, np.inf)
    around = np.array([support.disc, support.disc, 0.0]) + support.ball
    half: Array = np.max(np.abs(support.points - centre), axis=0) + around
    return half


def _support(solid: Solid) -> Support | None:
    if solid not in _SUPPORTS:
        _SUPPORTS[solid] = support_of(solid)
    return _SUPPORTS[solid]
