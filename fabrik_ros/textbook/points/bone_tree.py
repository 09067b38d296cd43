"""A tree of points with its bones: their frames, lengths, limits and weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import copy
import math
from types import MappingProxyType
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from .bone_frames import turned_to
from .point_chain import Array, checked_points, unit
from .point_limits import Limit
from .point_tree_checks import (
    checked_limits,
    checked_parents,
    checked_root_orientation,
    checked_weights,
    in_space,
)

BoneTreeT = TypeVar('BoneTreeT', bound='BoneTree')


class BoneTree:
    """Points, bones and their frames, limits and weights, as `PointTree` describes them."""

    def __init__(
        self,
        points: npt.ArrayLike,
        parents: Sequence[int],
        *,
        limits: Mapping[int, Limit] | None = None,
        weights: Mapping[int, float] | None = None,
        root_orientation: npt.ArrayLike | None = None,
    ) -> None:
        given = checked_points(points)
        n = len(given)
        self._dimension: int = given.shape[1]
        self._parents = checked_parents(parents, n)
        self._children = tuple(
            tuple(c for c in range(n) if self._parents[c] == i) for i in range(n)
        )
        self._limits = checked_limits(limits or {}, n, self._dimension)
        self._weights = checked_weights(weights or {}, self.tips)
        # A plane is the plane z = 0 of space. Turns in it are turns about the x axes of frames.
        self._points = in_space(given)
        self._lengths = self._first_lengths()
        self._frames = self._first_frames(
            checked_root_orientation(root_orientation, self._dimension)
        )
        for array in (self._points, self._lengths, self._frames):
            array.flags.writeable = False

    @property
    def points(self) -> Array:
        """Joint centres, shape (n, d), read-only."""
        return self._points[:, : self._dimension]

    @property
    def frames(self) -> Array:
        """
        Frames of the bones, the root orientation first, shape (n, 3, 3), read-only.

        Columns are axes in the frame of the points; z lies along the bone. In 2-D the x axes are
        the normal of the plane. A new tree has frames without twist: by the least turn from where
        the bone would lie at rest.
        """
        return self._frames

    @property
    def dimension(self) -> int:
        """Of the space the points are in, 2 or 3."""
        return self._dimension

    @property
    def parents(self) -> tuple[int, ...]:
        """Index of the point before each point, -1 for the base."""
        return self._parents

    @property
    def tips(self) -> tuple[int, ...]:
        """Indices of the points without children."""
        return tuple(i for i, children in enumerate(self._children) if not children)

    @property
    def bone_lengths(self) -> Array:
        """Distances of points from their parents as first given, shape (n,), 0 for the base."""
        return self._lengths

    @property
    def limits(self) -> Mapping[int, Limit]:
        """The limits, by the point at which their bone ends."""
        return MappingProxyType(self._limits)

    @property
    def weights(self) -> Mapping[int, float]:
        """The weight of every tip."""
        return MappingProxyType(self._weights)

    def relative_rotation(self, i: int) -> Array:
        """Frame of bone `i` (1 to n - 1) as seen from the bone before it, shape (3, 3)."""
        turn: Array = self._frames[self._parents[i]].T @ self._frames[i]
        return turn

    def reach(self, tip: int) -> float:
        """Largest distance from the base at which a tip can be, limits left aside."""
        return float(self._lengths_to(tip).sum())

    def inner_reach(self, tip: int) -> float:
        """Smallest such distance: 0 unless one bone is longer than the others on the path."""
        lengths = self._lengths_to(tip)
        return max(0.0, float(2.0 * lengths.max() - lengths.sum()))

    def _lengths_to(self, tip: int) -> Array:
        """List the lengths of the bones from the base to a tip."""
        if tip not in self.tips:
            raise ValueError(f'{tip} is not a tip; the tips are {self.tips}')
        lengths, i = [], tip
        while i > 0:
            lengths.append(self._lengths[i])
            i = self._parents[i]
        return np.array(lengths)

    def _moved_to(self: BoneTreeT, points: Array, frames: Array) -> BoneTreeT:
        """Give the tree another state and let it keep all else."""
        moved = copy.copy(self)
        moved._points, moved._frames = points, frames
        points.flags.writeable = frames.flags.writeable = False
        return moved

    def _first_lengths(self) -> Array:
        """Measure the bones; the base has none."""
        ends = zip(self._points[1:], self._parents[1:], strict=True)
        return np.array([0.0, *(math.dist(end, self._points[parent]) for end, parent in ends)])

    def _first_frames(self, root: Array) -> Array:
        """Put a frame on every bone, by the least turn from where it would be at rest."""
        frames = np.tile(root, (len(self._points), 1, 1))
        for i in range(1, len(frames)):
            parent, limit = self._parents[i], self._limits.get(i)
            frames[i] = frames[parent] @ limit.rest if limit else frames[parent]
            frames[i] = turned_to(
                frames[i], unit(self._points[i] - self._points[parent], frames[i, :, 2])
            )
        return frames
