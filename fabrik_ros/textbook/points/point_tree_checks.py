"""What a tree of points accepts: parents, limits, weights, targets, the root orientation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
import math
import operator

import numpy as np
import numpy.typing as npt

from ...errors import TargetError
from ...transforms import as_pose, why_no_pose
from .point_chain import Array, checked_point, finite
from .point_limits import checked_rotation, Hinge, Limit


@dataclass(frozen=True, eq=False)
class Goal:
    """Where a tip shall be and, if that matters, how its bone shall be turned; always in 3-D."""

    point: Array
    rotation: Array | None = None


Goals = Mapping[int, Goal]
"""By tip."""


def checked_parents(parents: Sequence[int], n: int) -> tuple[int, ...]:
    """Refuse what is no tree in which parents come first."""
    given = tuple(operator.index(parent) for parent in parents)
    if len(given) != n or given[0] != -1:
        raise ValueError(f'parents must be {n} indices, the first -1, got {list(parents)}')
    for i, parent in enumerate(given[1:], start=1):
        if not 0 <= parent < i:
            raise ValueError(f'parent of point {i} must be 0 to {i - 1}, got {parent}')
    return given


def checked_goals(
    targets: Mapping[int, npt.ArrayLike], tips: Sequence[int], dimension: int
) -> dict[int, Goal]:
    """Return targets as goals in space, or raise TargetError."""
    if not isinstance(targets, Mapping) or not targets:
        raise TargetError(f'targets must map tips to points or poses, got {targets!r}')
    _check_tips('targets', targets, tips, TargetError)
    return {tip: _checked_goal(tip, target, dimension) for tip, target in targets.items()}


def _checked_goal(tip: int, target: npt.ArrayLike, dimension: int) -> Goal:
    name = f'target of tip {tip}'
    try:
        if dimension == 3 and np.shape(target) == (4, 4):
            pose = finite(name, target)
            if why := why_no_pose(pose):
                raise ValueError(f'{name} must be a pose: {why}; got {target!r}')
            pose = as_pose(pose)
            return Goal(pose[:3, 3], checked_rotation(name, pose[:3, :3]))
        return Goal(in_space(checked_point(name, target, dimension)))
    except ValueError as error:
        raise TargetError(str(error)) from error


def _check_tips(
    name: str, keys: Iterable[int], tips: Sequence[int], error: type[Exception]
) -> None:
    others = [key for key in keys if key not in tips]
    if others:
        raise error(f'{name} must be for tips {tips}, got {others[0]!r}')


def checked_weights(weights: Mapping[int, float], tips: Sequence[int]) -> dict[int, float]:
    """Return the weight of every tip, 1 if not given, or raise ValueError."""
    _check_tips('weights', weights, tips, ValueError)
    for tip, weight in weights.items():
        if not 0.0 < weight < math.inf:
            raise ValueError(f'weight of tip {tip} must be positive and finite, got {weight}')
    return {tip: float(weights.get(tip, 1.0)) for tip in tips}


def checked_limits(limits: Mapping[int, Limit], count: int, dimension: int) -> dict[int, Limit]:
    """Return the limits of a tree of `count` points, or raise ValueError."""
    for i, limit in limits.items():
        if i not in range(1, count):
            raise ValueError(f'limits must be for points 1 to {count - 1}, got {i!r}')
        axis_given = isinstance(limit, Hinge) and limit.axis is not None
        if dimension == 2 and (not isinstance(limit, Hinge) or axis_given):
            raise ValueError(
                f'limit of point {i}: in 2-D use Hinge(lower=..., upper=...), got {limit!r}'
            )
        if dimension == 3 and isinstance(limit, Hinge) and limit.axis is None:
            raise ValueError(f'limit of point {i}: in 3-D a Hinge needs an axis')
    return dict(limits)


def checked_root_orientation(given: npt.ArrayLike | None, dimension: int) -> Array:
    """Return a root orientation as a rotation (3, 3), or raise ValueError."""
    if dimension == 3:
        return checked_rotation('root_orientation', np.eye(3) if given is None else given)
    angle = finite('root_orientation', 0.0 if given is None else given)
    if angle.shape != ():
        raise ValueError(f'root_orientation must be an angle in 2-D, got {given!r}')
    along = np.array([math.cos(angle), math.sin(angle), 0.0])
    normal = np.array([0.0, 0.0, 1.0])
    return np.column_stack([normal, np.cross(along, normal), along])


def in_space(points: Array) -> Array:
    """Put a plane's points, shape (..., 2), into z = 0 of space; leave those of space."""
    widths = [(0, 0)] * (points.ndim - 1) + [(0, 3 - points.shape[-1])]
    return np.pad(points, widths)
