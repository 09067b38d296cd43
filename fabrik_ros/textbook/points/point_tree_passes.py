"""
The two passes of FABRIK on a tree of points, to be read beside the papers.

Every bone has a frame besides, its z axis along the bone: what a limit looks at is how the frame
of a bone is turned against that of the bone before it. A bone that is moved takes its frame along
by the least turn, so without twist. Both passes use the same map to the nearest turn allowed. On
the way to the base the child is in its place, so the parent is turned; on the way to the tips it
is the other way round.

"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from .bone_frames import orthonormal, turned_to
from .bone_tree import BoneTree
from .point_chain import Array, checked_point, unit
from .point_tree_checks import checked_goals, Goals, in_space

TreeT = TypeVar('TreeT', bound='PointTreePasses')


class PointTreePasses(BoneTree):
    """The passes, each of which gives another tree."""

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
        return self._tip_to_base(checked_goals(targets, self.tips, self._dimension))

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
        return self._base_to_tip(in_space(checked_point('base', base, self._dimension)))

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

    def _weights_towards(self, goals: Goals) -> list[float]:
        """Sum up for each point the weights of the tips with targets on it or below it."""
        weights = [self._weights[i] if i in goals else 0.0 for i in range(len(self._points))]
        for i in reversed(range(1, len(weights))):
            weights[self._parents[i]] += weights[i]
        return weights


def centroid(points: list[Array], weights: list[float]) -> Array:
    """Take the mean by weight; of one point, the point itself bit for bit."""
    if len(points) == 1:
        return points[0]
    return np.average(points, axis=0, weights=weights)
