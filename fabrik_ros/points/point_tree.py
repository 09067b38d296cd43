"""
FABRIK on trees of points, with limits between the bones, to be read beside the papers.

A. Aristidou and J. Lasenby, "FABRIK: A fast, iterative solver for the Inverse Kinematics
problem", Graphical Models 73 (2011) 243-260: several end effectors with sub-bases, limits.
A. Aristidou, Y. Chrysanthou and J. Lasenby, "Extending FABRIK with model constraints", Computer
Animation and Virtual Worlds 27 (2016) 35-57.

`PointChain` is the plain algorithm on one screen. Here every bone has a frame besides, its z axis
along the bone: what a limit looks at is how the frame of a bone is turned against that of the
bone before it. A bone that is moved takes its frame along by the least turn, so without twist.
Both passes use the same map to the nearest turn allowed. On the way to the base the child is in
its place, so the parent is turned; on the way to the tips it is the other way round. Every state
`solve` can return comes from a pass towards the tips, so it has its lengths and keeps its limits.

"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
import copy
from dataclasses import dataclass
import math
import operator
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from ..errors import TargetError
from ..transforms import is_pose
from .bone_frames import orthonormal, turned_to
from .point_chain import (
    Array,
    checked_point,
    checked_points,
    finite,
    PointChain,
    PointStatus,
    unit,
)
from .point_limits import checked_rotation, Hinge, Limit
from .point_tree_search import (
    centroid,
    Goal,
    Goals,
    orientation_residuals,
    residuals,
    Search,
    Task,
    weighted_residual,
    within_reach,
)


@dataclass(frozen=True, eq=False)
class PointTreeSolution:
    """What `PointTree.solve` found."""

    tree: PointTree
    """The tree in its new state."""

    status: PointStatus
    """How the solve ended. Out of reach counts if any tip's target is."""

    residuals: Mapping[int, float]
    """Distance from each tip that has a target to it [unit of the tree]."""

    orientation_residuals: Mapping[int, float]
    """Angle between the frame of the last bone and the pose asked for, where one was [rad]."""

    residual: float
    """
    What was made small: mean of the residuals by the weights of their tips, an orientation
    counted at a lever arm of 0.15 of the reach of its tip [unit of the tree].
    """

    iterations: int
    """Pairs of passes made; 0 where the answer was known without any."""

    @property
    def points(self) -> Array:
        """Joint centres, shape (n, d), read-only."""
        return self.tree.points

    @property
    def converged(self) -> bool:
        """Whether every tip that has a target is on it, within the tolerances."""
        return self.status is PointStatus.CONVERGED


class PointTree:
    """
    Tree of points that keep their distances and the limits between their bones.

    A tree is a value. Its passes return new trees with the same lengths, limits and weights. Bone
    `i` is the one that ends at point `i`; point 0 is the base, points without children are tips.

    Parameters
    ----------
    points : array-like, shape (n, d)
        Joint centres in any one frame and unit, d = 2 or 3, n >= 2. Points may coincide with
        their parents: that bone has, and keeps, length zero, and turns only where limits turn it.
    parents : sequence of int, length n
        Index of the point before each point: -1 for the base, which comes first; else a lower one.
    limits : mapping of int to Limit, optional
        For a point, how the bone that ends there may turn against the bone before it; at the base
        against the root orientation. `BallJoint` and `Hinge` in 3-D, `Hinge` in 2-D. Points may
        break them to begin with: `solve` and `base_to_tip` set them right.
    weights : mapping of int to float, optional
        How much each tip counts where several ask for the same point; positive, 1 if left out.
    root_orientation : array-like of shape (3, 3) in 3-D, angle [rad] in 2-D, optional
        The frame before the first bone, whose z axis is straight on there; in 2-D the direction
        that is straight on, anticlockwise from x. Left out: z in 3-D, x in 2-D.

    Raises
    ------
    ValueError
        If any of these is not so.

    Examples
    --------
    A stem with two arms in the plane, the second of which counts three times as much, its elbow
    bending one way only:

    >>> tree = PointTree(
    ...     [[0, 0], [0, 1], [-1, 1], [-2, 1], [1, 1], [2, 1]],
    ...     parents=[-1, 0, 1, 2, 1, 4],
    ...     limits={5: Hinge(lower=0.0, upper=2.5)},
    ...     weights={5: 3.0},
    ... )
    >>> tree.tips
    (3, 5)
    >>> solution = tree.solve({3: [-1.5, 1.5], 5: [1.2, 2.0]})
    >>> solution.converged
    True

    """

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

    @classmethod
    def chain(
        cls,
        points: npt.ArrayLike,
        *,
        limits: Mapping[int, Limit] | None = None,
        root_orientation: npt.ArrayLike | None = None,
    ) -> PointTree:
        """Make the tree that has one tip, its last point."""
        parents = range(-1, len(checked_points(points)) - 1)
        return cls(points, parents, limits=limits, root_orientation=root_orientation)

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

    def hole(self, tip: int) -> float:
        """Smallest such distance: 0 unless one bone is longer than the others on the way."""
        lengths = self._lengths_to(tip)
        return max(0.0, float(2.0 * lengths.max() - lengths.sum()))

    # --- the two passes ---------------------------------------------------------------------

    def tip_to_base(self, targets: Mapping[int, npt.ArrayLike]) -> PointTree:
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

    def _tip_to_base(self, goals: Goals) -> PointTree:
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

    def base_to_tip(self, base: npt.ArrayLike) -> PointTree:
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

    def _base_to_tip(self, base: Array) -> PointTree:
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

    # --- the solve --------------------------------------------------------------------------

    def solve(
        self,
        targets: Mapping[int, npt.ArrayLike],
        *,
        base: npt.ArrayLike | None = None,
        free_base: bool = False,
        position_tolerance: float = 1e-6,
        orientation_tolerance: float = 1e-6,
        max_iterations: int = 1000,
    ) -> PointTreeSolution:
        """
        Bring the tips to their targets.

        Parameters
        ----------
        targets : mapping of int to array-like
            By tip, a point (d,) or, in 3-D, a pose (4, 4): its z axis is the direction the last
            bone shall have, its rotation the bone's frame. Tips left out are carried along.
        base : array-like, shape (d,), optional
            Where the base shall be; left out, it stays.
        free_base : bool
            Whether the base may go where the tips pull it; its orientation stays.
        position_tolerance : float
            Accepted distance between tip and target, in the unit of the points; positive.
        orientation_tolerance : float
            Accepted angle between the last bone's frame and the pose [rad]; positive.
        max_iterations : int
            Largest number of iterations, a pass each way; at least 0.

        Returns
        -------
        PointTreeSolution
            The best state seen, by the weighted residual; lengths and limits hold up to rounding
            whatever the status.

        Raises
        ------
        TargetError
            If there is no target, or one is not for a tip, has another shape, or is not finite.
        ValueError
            If base, tolerances or number of iterations are out of range.

        Notes
        -----
        Targets out of reach are pulled to the boundary, outer sphere or inner hole, and the same
        iteration runs, as straight poses are seldom allowed; only a chain without limits is
        straightened or folded at once. Where the passes get slow, or come to rest, they are helped
        (see `point_tree_search.py`). That several tips reach their targets together, or any tip
        within its limits, is not promised by the algorithm: the residuals tell.

        """
        goals = self._checked_goals(targets)
        check_options(position_tolerance, orientation_tolerance, max_iterations)
        if base is not None and free_base:
            raise ValueError('base cannot be given and free at once')
        start = self.base_to_tip(self.points[0] if base is None else base)
        task = Task(goals, position_tolerance, orientation_tolerance, free_base)
        aims, out_of_reach = within_reach(start, task)
        search = Search(task, aims, max_iterations, best=start)
        laid_out = start._straightened_or_folded(task)
        status = PointStatus.STALLED if laid_out else search.run()
        best = laid_out or search.best
        if task.is_met(best, goals):
            status = PointStatus.CONVERGED
        elif out_of_reach:
            status = out_of_reach
        return PointTreeSolution(
            tree=best,
            status=status,
            residuals=MappingProxyType(residuals(best, goals)),
            orientation_residuals=MappingProxyType(orientation_residuals(best, goals)),
            residual=weighted_residual(best, goals),
            iterations=search.iterations,
        )

    def _straightened_or_folded(self, task: Task) -> PointTree | None:
        """Lay a chain without limits on the line to a target on or past its boundary."""
        goal = task.goals.get(len(self._points) - 1)
        serial = self._parents == tuple(range(-1, len(self._points) - 1))
        if (
            not serial
            or self._limits
            or task.free_base
            or goal is None
            or goal.rotation is not None
        ):
            return None
        laid = PointChain(self.points).solve(
            goal.point[: self._dimension],
            position_tolerance=task.position_tolerance,
            max_iterations=1,
        )
        if laid.iterations > 0:
            return None
        points, frames = self._in_space(laid.points), self._frames.copy()
        for i in range(1, len(points)):
            frames[i] = self._turned(i, points[i] - points[i - 1])
        return self._moved_to(points, frames)

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

    def _moved_to(self, points: Array, frames: Array) -> PointTree:
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


# --- checks ---------------------------------------------------------------------------------


def checked_parents(parents: Sequence[int], n: int) -> tuple[int, ...]:
    """Refuse what is no tree in which parents come first."""
    given = tuple(operator.index(parent) for parent in parents)
    if len(given) != n or given[0] != -1:
        raise ValueError(f'parents must be {n} indices, the first -1, got {list(parents)}')
    for i, parent in enumerate(given[1:], start=1):
        if not 0 <= parent < i:
            raise ValueError(f'parent of point {i} must be 0 to {i - 1}, got {parent}')
    return given


def check_options(
    position_tolerance: float, orientation_tolerance: float, max_iterations: int
) -> None:
    """Refuse tolerances that are not positive and finite, and fewer than no iterations."""
    for name, tolerance in (
        ('position_tolerance', position_tolerance),
        ('orientation_tolerance', orientation_tolerance),
    ):
        if not 0.0 < tolerance < math.inf:
            raise ValueError(f'{name} must be positive and finite, got {tolerance}')
    if max_iterations < 0:
        raise ValueError(f'max_iterations must be at least 0, got {max_iterations}')
