"""
Whether anything comes too near on straight edges in joint space, for thousands of edges a second.

The answers are the same as from `CollisionGuard`, by the same bounds of how far joints can move
solids. Distances that other edges have shown are neither kept nor used.

"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..kernels.separation import Indices
from ..transforms import Array
from .checked_pairs import CheckedPairs
from .distances import prismatic_limits
from .straight_paths import Detail, find_blocking, StraightPath, USUAL_DETAIL

SHARES = (1.0, 0.5, 0.25, 0.12, 0.06, 0.03)
"""Shares of an edge that are tried where pairs have no kernel [1]."""
ROUNDING = 1e-12
"""Share of an edge that ends so much within the limits of joints [1]."""
RESOLUTION = 2e-5
"""Parts on which no pair can come nearer by more are not halved; undecided, they are near [m]."""
COARSE = 2e-3
"""The same in the search for the free share of an edge [m]."""


class EdgeChecks:
    """
    Finds pairs of solids that come too near, at configurations and on edges.

    Parameters
    ----------
    collision : CheckedPairs
        The pairs, as they are now: obstacles may not change.
    least : array, shape (p,)
        Distance that each pair must keep [m].
    should_stop : callable
        Whether to give up; asked within edges that take long. From then on pairs may be near.
    stop : array of int, shape (1,), optional
        Kernels give up once it is other than 0, which another thread may see to.

    """

    def __init__(
        self,
        collision: CheckedPairs,
        least: Array,
        should_stop: Callable[[], bool] = lambda: False,
        stop: Indices | None = None,
    ) -> None:
        self._stop = np.zeros(1, dtype=np.int64) if stop is None else stop
        self._distances, self._least = collision.distances, least
        self._kernels = collision.distances.kernels
        self._lower, self._upper = prismatic_limits(collision.mechanism)
        is_ours = self._kernels.covers & (least >= 0.0)
        self._slides = bool(np.isfinite([self._lower, self._upper]).any())
        self._all = np.arange(len(self._distances))
        self._ours, self._others = np.flatnonzero(is_ours), np.flatnonzero(~is_ours)
        self._fine = Detail(RESOLUTION, shortest=0.0, should_stop=should_stop)
        self._stays = np.zeros(len(collision.mechanism), dtype=bool)

    def warm_up(self) -> None:
        """Compile what is needed."""
        q = np.clip(np.zeros(len(self._lower)), self._lower, self._upper)
        self.near_between(q, q)
        self.free_share(q, q)

    def near_at(self, q: Array) -> int:
        """Return the number of a pair that is too near at `q`, shape (n,); -1 if none."""
        return self.near_between(q, q)

    def near_between(self, q: Array, q_next: Array) -> int:
        """Return the number of a pair that may come too near on a straight edge; -1 if none."""
        is_bounded = self._holds(q) and self._holds(q_next)
        if is_bounded:
            near = self._kernels.first_near(
                self._ours, self._least, q, q_next, RESOLUTION, self._stop
            )
            if near >= 0:
                return near
        pairs = self._others if is_bounded else self._all
        for begin in (q_next, q):  # most of what is near shows at the far end
            near = self._other_near(begin, q_next, pairs, self._fine)
            if near >= 0:
                return near
        return -1

    def free_share(self, q: Array, q_next: Array) -> float:
        """
        Share of a straight edge, from `q` on, on which nothing comes too near.

        It is not looked at closely: what is free by less than 2 mm may not count.
        """
        if not self._holds(q):
            return 0.0
        share = self._share_within_limits(q, q_next)
        if len(self._others) > 0:
            ends = ((s, q + s * (q_next - q)) for s in share * np.array(SHARES))
            looks = (
                s for s, end in ends if self._other_near(q, end, self._others, USUAL_DETAIL) < 0
            )
            share = next(looks, 0.0)
        until = q + share * (q_next - q)
        return share * self._kernels.free_share(
            self._ours, self._least, q, until, COARSE, self._stop
        )

    def arguments_with(self, near: Sequence[EdgeChecks], ends: Array) -> tuple[Any, ...] | None:
        """
        Return what kernels need to look at edges within the limits; None where they cannot.

        Parameters
        ----------
        near : sequence of EdgeChecks
            What holds near the ends of paths instead.
        ends : array, shape (e, n)
            These ends [rad or m].

        """
        if any(len(checks._others) > 0 for checks in (self, *near)):
            return None
        least = np.array([self._least, *(checks._least for checks in near)])
        return self._kernels.edge_arguments(self._ours, least, ends, RESOLUTION, self._stop)

    def _share_within_limits(self, q: Array, q_next: Array) -> float:
        """Share of an edge, from a beginning where the motion bounds hold, on which they do."""
        if self._holds(q_next):
            return 1.0
        displacement = q_next - q
        room = np.where(displacement > 0.0, self._upper - q, q - self._lower)
        moves = displacement != 0.0
        return float(np.min(room[moves] / np.abs(displacement[moves]))) * (1.0 - ROUNDING)

    def _holds(self, q: Array) -> bool:
        """Whether the motion bounds hold: a prismatic joint beyond its limits breaks them."""
        return not self._slides or bool(np.all(q >= self._lower) and np.all(q <= self._upper))

    def _other_near(
        self, q: Array, q_next: Array, pairs: npt.NDArray[np.intp], detail: Detail
    ) -> int:
        """Look at pairs one by one, as no kernel does."""
        if len(pairs) == 0:
            return -1
        path = StraightPath(q, q_next, self._stays)
        return find_blocking(self._distances, path, pairs, self._least, detail)
