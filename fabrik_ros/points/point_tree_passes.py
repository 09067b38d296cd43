"""
The state of a tree of points and the two passes of FABRIK on it, to be read beside the papers.

Every bone has a frame besides, its z axis along the bone: what a limit looks at is how the frame
of a bone is turned against that of the bone before it. A bone that is moved takes its frame along
by the least turn, so without twist. Both passes use the same map to the nearest turn allowed. On
the way to the base the child is in its place, so the parent is turned; on the way to the tips it
is the other way round.

"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
import copy
from dataclasses import dataclass
import math
import operator
from types import MappingProxyType
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from ..errors import TargetError
from ..transforms import is_pose
from .bone_frames import orthonormal, turned_to
from .point_chain import Array, checked_point, checked_points, finite, unit
from .point_limits import checked_rotation, Hinge, Limit

TreeT = TypeVar('TreeT', bound='PointTreePasses')


@dataclass(frozen=True, eq=False)
class Goal:
    """Where a tip shall be and, if that matters, how its bone shall be turned; always in 3-D."""

    point: Array
    rotation: Array | None = None


Goals = Mapping[int, Goal]
"""By tip."""


class PointTreePasses:
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
        self._limits = self._checked_limits(limits or {})
        self._weights = self._checked_weights(weights or {})
        # A plane is the plane z = 0 of space. Turns in it are turns about the x axes of frames.
        self._points = self._in_space(given)
        self._lengths = self._first_lengths()
        self._frames = self._first_frames(self._checked_root_orientation(root_orientation))
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
        """Smallest such distance: 0 unless one bone is longer than the others on the way."""
        lengths = self._lengths_to(tip)
        return max(0.0, float(2.0 * lengths.max() - lengths.sum()))

    # --- the two passes ---------------------------------------------------------------------

    def tip_to_base(self: TreeT, targets: Mapping[int, npt.ArrayLike]) -> TreeT:
        """
        Put tips on their targets and let the others follow to the base, which leaves its place.

        Where branches meet, the sub-base goes to the centroid of the points they ask for, each
        counting as much as the tips with targets on it together. Their bones are too short or too
        long then, and limits there are not looked at: both are set right by the second pass, as
        is the limit against the root orientation. Branches without targets are carried along
        by the bone they hang on. All other lengths and limits hold.

        Parameters
        ----------
        targets : mapping of int to array-like
            By tip, a point (d,) or, in 3-D, a pose (4, 4): its z axis is the direction the last
            bone shall have, its rotation the bone's frame.

        Raises
        ------
        TargetError
            If there is none, or one is not for a tip, has another shape, or is not finite.

        """
        return self._tip_to_base(self._checked_goals(targets))

    def _tip_to_base(self: TreeT, goals: Goals) -> TreeT:
        old, p, frames = self._points, self._points.copy(), self._frames.copy()
        weights = self._weights_towards(goals)
        for i in reversed(range(len(p))):
            if weights[i] == 0.0:
                continue
            branches = [c for c in self._children[i] if weights[c] > 0.0]
            if i in goals:
                p[i] = goals[i].point
            else:
                asked = [p[c] - self._lengths[c] * frames[c, :, 2] for c in branches]
                p[i] = centroid(asked, [weights[c] for c in branches])
            if i == 0:
                break
            frames[i] = self._turned(i, p[i] - old[self._parents[i]])
            if i in goals and goals[i].rotation is not None:
                frames[i] = goals[i].rotation
            elif len(branches) == 1:
                frames[i] = self._parent_allowed_by(branches[0], frames[i], frames[branches[0]])
        for i in range(1, len(p)):
            if weights[i] == 0.0:
                parent = self._parents[i]
                frames[i] = orthonormal(frames[parent] @ self.relative_rotation(i))
                p[i] = p[parent] + self._lengths[i] * frames[i, :, 2]
        return self._moved_to(p, frames)

    def base_to_tip(self: TreeT, base: npt.ArrayLike) -> TreeT:
        """
        Put the base in its place and let the others follow; all lengths and limits hold.

        Parameters
        ----------
        base : array-like, shape (d,)
            Where the base shall be, in the frame and unit of the points.

        Raises
        ------
        ValueError
            If the base has another shape, or a coordinate is not finite or over 1e150.

        """
        return self._base_to_tip(self._in_space(checked_point('base', base, self._dimension)))

    def _base_to_tip(self: TreeT, base: Array) -> TreeT:
        old, p, frames = self._points, self._points.copy(), self._frames.copy()
        p[0] = base
        for i in range(1, len(p)):
            parent = self._parents[i]
            frames[i] = self._turned(i, old[i] - p[parent])
            frames[i] = self._child_allowed_by(i, frames[parent], frames[i])
            p[i] = p[parent] + self._lengths[i] * frames[i, :, 2]
        return self._moved_to(p, frames)

    def _turned(self, i: int, along: Array) -> Array:
        """Turn the frame of a bone to a direction by the least turn; one without length stays."""
        old = self._frames[i]
        return old if self._lengths[i] == 0.0 else turned_to(old, unit(along, old[:, 2]))

    def _child_allowed_by(self, i: int, parent: Array, child: Array) -> Array:
        """Turn the frame of bone `i` to where its limit allows it behind the parent's."""
        limit = self._limits.get(i)
        return orthonormal(parent @ limit.nearest(parent.T @ child)) if limit else child

    def _parent_allowed_by(self, i: int, parent: Array, child: Array) -> Array:
        """Turn the frame before bone `i` to where the limit allows it before the child's."""
        limit = self._limits.get(i)
        return orthonormal(child @ limit.nearest(parent.T @ child).T) if limit else parent

    # --- the parts --------------------------------------------------------------------------

    def _weights_towards(self, goals: Goals) -> list[float]:
        """Sum up for each point the weights of the tips with targets on it or below it."""
        weights = [self._weights[i] if i in goals else 0.0 for i in range(len(self._points))]
        for i in reversed(range(1, len(weights))):
            weights[self._parents[i]] += weights[i]
        return weights

    def _lengths_to(self, tip: int) -> Array:
        """List the lengths of the bones from the base to a tip."""
        if tip not in self.tips:
            raise ValueError(f'{tip} is not a tip; the tips are {self.tips}')
        lengths, i = [], tip
        while i > 0:
            lengths.append(self._lengths[i])
            i = self._parents[i]
        return np.array(lengths)

    def _moved_to(self: TreeT, points: Array, frames: Array) -> TreeT:
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

    def _in_space(self, points: Array) -> Array:
        """Put a plane's points, shape (..., 2), into z = 0 of space; leave those of space."""
        widths = [(0, 0)] * (points.ndim - 1) + [(0, 3 - self._dimension)]
        return np.pad(points, widths)

    # --- checks -----------------------------------------------------------------------------

    def _checked_goals(self, targets: Mapping[int, npt.ArrayLike]) -> dict[int, Goal]:
        if not isinstance(targets, Mapping) or not targets:
            raise TargetError(f'targets must map tips to points or poses, got {targets!r}')
        self._check_tips('targets', targets, TargetError)
        return {tip: self._checked_goal(tip, target) for tip, target in targets.items()}

    def _checked_goal(self, tip: int, target: npt.ArrayLike) -> Goal:
        name = f'target of tip {tip}'
        try:
            if self._dimension == 3 and np.shape(target) == (4, 4):
                pose = finite(name, target)
                if not is_pose(pose):
                    raise ValueError(f'{name} must be a pose, got {target!r}')
                return Goal(pose[:3, 3], checked_rotation(name, pose[:3, :3]))
            return Goal(self._in_space(checked_point(name, target, self._dimension)))
        except ValueError as error:
            raise TargetError(str(error)) from error

    def _check_tips(self, name: str, keys: Iterable[int], error: type[Exception]) -> None:
        others = [key for key in keys if key not in self.tips]
        if others:
            raise error(f'{name} must be for tips {self.tips}, got {others[0]!r}')

    def _checked_weights(self, weights: Mapping[int, float]) -> dict[int, float]:
        self._check_tips('weights', weights, ValueError)
        for tip, weight in weights.items():
            if not 0.0 < weight < math.inf:
                raise ValueError(f'weight of tip {tip} must be positive and finite, got {weight}')
        return {tip: float(weights.get(tip, 1.0)) for tip in self.tips}

    def _checked_limits(self, limits: Mapping[int, Limit]) -> dict[int, Limit]:
        for i, limit in limits.items():
            if i not in range(1, len(self._parents)):
                raise ValueError(
                    f'limits must be for points 1 to {len(self._parents) - 1}, got {i!r}'
                )
            axis_given = isinstance(limit, Hinge) and limit.axis is not None
            if self._dimension == 2 and (not isinstance(limit, Hinge) or axis_given):
                raise ValueError(
                    f'limit of point {i}: in 2-D use Hinge(lower=..., upper=...), got {limit!r}'
                )
            if self._dimension == 3 and isinstance(limit, Hinge) and limit.axis is None:
                raise ValueError(f'limit of point {i}: in 3-D a Hinge needs an axis')
        return dict(limits)

    def _checked_root_orientation(self, given: npt.ArrayLike | None) -> Array:
        if self._dimension == 3:
            return checked_rotation('root_orientation', np.eye(3) if given is None else given)
        angle = finite('root_orientation', 0.0 if given is None else given)
        if angle.shape != ():
            raise ValueError(f'root_orientation must be an angle in 2-D, got {given!r}')
        along = np.array([math.cos(angle), math.sin(angle), 0.0])
        normal = np.array([0.0, 0.0, 1.0])
        return np.column_stack([normal, np.cross(along, normal), along])


def checked_parents(parents: Sequence[int], n: int) -> tuple[int, ...]:
    """Refuse what is no tree in which parents come first."""
    given = tuple(operator.index(parent) for parent in parents)
    if len(given) != n or given[0] != -1:
        raise ValueError(f'parents must be {n} indices, the first -1, got {list(parents)}')
    for i, parent in enumerate(given[1:], start=1):
        if not 0 <= parent < i:
            raise ValueError(f'parent of point {i} must be 0 to {i - 1}, got {parent}')
    return given


def centroid(points: list[Array], weights: list[float]) -> Array:
    """Take the mean by weight; of one point, the point itself bit for bit."""
    if len(points) == 1:
        return points[0]
    return np.average(points, axis=0, weights=weights)
