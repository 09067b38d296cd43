"""
FABRIK on trees of points, with limits between the bones, to be read beside the papers.

A. Aristidou and J. Lasenby, "FABRIK: A fast, iterative solver for the Inverse Kinematics
problem", Graphical Models 73 (2011) 243-260: sections 3.2 (several end effectors, sub-bases) and
4 (limits).
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
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from .errors import TargetError
from .point_limits import checked_rotation, Hinge, Limit
from .points import (
    Array,
    checked_point,
    checked_points,
    finite,
    PointChain,
    PointStatus,
    PUSH,
    STALL_FRACTION,
    unit,
)
from .transforms import is_pose

LEVER = 0.15
"""What a turn of one radian off counts beside a distance, as a share of the reach of the tip."""

HALF, PATIENCE, LAST_PATIENCE = 0.5, 10, 50
"""Passes that do not halve the residual in 10 iterations are helped, in 50 more begun anew."""

MEMORY = 0.8
"""What is left of a lead after an iteration."""


@dataclass(frozen=True, eq=False)
class Goal:
    """Where a tip shall be and, if that matters, how its bone shall be turned; always in 3-D."""

    point: Array
    rotation: Array | None = None


Goals = Mapping[int, Goal]


@dataclass(frozen=True, eq=False)
class TreeSolution:
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
        n, self._dimension = given.shape
        self._parents = checked_parents(parents, n)
        self._children = tuple(
            tuple(c for c in range(n) if self._parents[c] == i) for i in range(n)
        )
        self._limits = MappingProxyType(self._checked_limits(limits or {}))
        self._weights = MappingProxyType(self._checked_weights(weights or {}))
        # A plane is the plane z = 0 of space. Turns in it are turns about the x axes of frames.
        self._points = self._in_space(given)
        self._lengths = np.array(
            [
                0.0,
                *(math.dist(self._points[i], self._points[self._parents[i]]) for i in range(1, n)),
            ]
        )
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
        the normal of the plane.
        """
        return self._frames

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
        return self._limits

    @property
    def weights(self) -> Mapping[int, float]:
        """The weight of every tip."""
        return self._weights

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
    ) -> TreeSolution:
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
        TreeSolution
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
        straightened or folded at once. That several tips reach their targets together, or any tip
        within its limits, is not promised by the algorithm: the residuals tell.

        """
        goals = self._checked_goals(targets)
        check_options(position_tolerance, orientation_tolerance, max_iterations)
        if base is not None and free_base:
            raise ValueError('base cannot be given and free at once')
        start = self.base_to_tip(self.points[0] if base is None else base)
        task = Task(goals, position_tolerance, orientation_tolerance, free_base)
        aims, status = (goals, None) if free_base else start._within_reach(task)
        best, iterations = start._straightened_or_folded(task), 0
        if best is None:
            best, ended, iterations = start._iterated(task, aims, max_iterations)
            status = status or ended
        if best._is_on(goals, task):
            status = PointStatus.CONVERGED
        assert status is not None
        return TreeSolution(
            tree=best,
            status=status,
            residuals=MappingProxyType(best._residuals(goals)),
            orientation_residuals=MappingProxyType(best._orientation_residuals(goals)),
            residual=best._weighted_residual(goals),
            iterations=iterations,
        )

    def _iterated(
        self, task: Task, aims: Goals, max_iterations: int
    ) -> tuple[PointTree, PointStatus, int]:
        """
        Run both passes in turn until the tips are on their aims, or nothing helps any more.

        Added to the papers: where the passes get slow or come to rest short of the aims they are
        helped along, and where that comes to rest too, the tree is pushed aside, each time to
        another side, and they begin anew.
        """
        state = best = self
        least = best._weighted_residual(task.goals)
        if best._is_on(aims, task):
            return best, PointStatus.CONVERGED, 0
        sides = iter(range(2 * (self._dimension - 1)))
        progress, first_rest = Progress(aims), None
        for iteration in range(1, max_iterations + 1):
            before = state
            if progress.helped:
                state = state._turned_towards(aims)
            state = state._iteration(progress.led, task.free_base)
            residual = state._weighted_residual(task.goals)
            if residual < least:
                best, least = state, residual
            if state._is_on(aims, task):
                return best, PointStatus.CONVERGED, iteration
            at_rest = state._moved_since(before) <= STALL_FRACTION * task.position_tolerance
            progress.note(state._points, state._weighted_residual(aims), at_rest)
            if progress.ended:
                side = next(sides, None)
                if side is None:
                    return best._settled(task, aims, iteration, max_iterations)
                first_rest = first_rest or state
                state, progress = first_rest._pushed_aside(aims, side), Progress(aims)
        return best, PointStatus.ITERATION_LIMIT, max_iterations

    def _settled(
        self, task: Task, aims: Goals, begun: int, max_iterations: int
    ) -> tuple[PointTree, PointStatus, int]:
        """Let the best state come to rest by plain passes: help overshoots what cannot be had."""
        state = best = self
        least = best._weighted_residual(task.goals)
        for iteration in range(begun + 1, max_iterations + 1):
            before, state = state, state._iteration(aims, task.free_base)
            residual = state._weighted_residual(task.goals)
            if residual < least:
                best, least = state, residual
            if state._moved_since(before) <= STALL_FRACTION * task.position_tolerance:
                return best, PointStatus.STALLED, iteration
        return best, PointStatus.ITERATION_LIMIT, max_iterations

    def _iteration(self, aims: Goals, free_base: bool) -> PointTree:
        """Make one pass each way."""
        reached = self._tip_to_base(aims)
        return reached._base_to_tip(reached._points[0] if free_base else self._points[0])

    def _turned_towards(self, aims: Goals) -> PointTree:
        """
        Turn the tree as a whole about its base, its tips towards their aims in the mean.

        The passes turn the first bone by the next point alone: a chain too stiff to follow its
        first bone comes to rest bent to the one side, with its tip far off on the other.
        """
        base = self._points[0]
        weights = [self._weights[tip] for tip in aims]
        tips = centroid([self._points[tip] for tip in aims], weights) - base
        there = centroid([aim.point for aim in aims.values()], weights) - base
        along, wanted = unit(tips), unit(there)
        if not (along.any() and wanted.any()):
            return self
        axes = self._frames[0].T
        square = axes[np.argmin(np.abs(axes @ along))] if self._dimension == 3 else axes[0]
        frame = framed(square, along)
        turn = turned_to(frame, wanted) @ frame.T
        frames = turn @ self._frames
        frames[0] = self._frames[0]
        return self._moved_to(base + (self._points - base) @ turn.T, frames)._base_to_tip(base)

    def _moved_since(self, before: PointTree) -> float:
        """Tell how far the farthest point has moved."""
        return float(np.abs(self._points - before._points).max())

    def _pushed_aside(self, aims: Goals, side: int) -> PointTree:
        """
        Push inner points square to the line from the base to the aim that is missed by most.

        The first of all such directions is the one nearest to an axis of the root orientation,
        the same every time, and turned with the tree; then come the opposite and, in space, the
        two square to these.
        """
        residuals = self._residuals(aims)
        along = self._direction_to(aims, max(residuals, key=lambda tip: residuals[tip]))
        axes = self._frames[0].T[3 - self._dimension :]
        axis = axes[np.argmin(np.abs(axes @ along))]
        sideways = unit(axis - (axis @ along) * along)
        if side >= 2:
            sideways = np.cross(along, sideways)
        if side % 2:
            sideways = -sideways
        points = self._points.copy()
        inner = [i for i in range(1, len(points)) if self._children[i]]
        points[inner] += PUSH * self._lengths.sum() * sideways
        return self._moved_to(points, self._frames.copy())._base_to_tip(points[0])

    def _within_reach(self, task: Task) -> tuple[Goals, PointStatus | None]:
        """Pull targets to the boundary of the reach of their tips; tell if any had to be."""
        aims, status = {}, None
        for tip, goal in task.goals.items():
            reach, hole = self.reach(tip), self.hole(tip)
            distance = math.dist(self._points[0], goal.point)
            aims[tip] = goal
            if not hole <= distance <= reach:
                boundary = min(max(distance, hole), reach) * self._direction_to(task.goals, tip)
                aims[tip] = Goal(self._points[0] + boundary, goal.rotation)
            if distance < hole - task.position_tolerance:
                status = status or PointStatus.TOO_NEAR
            if distance > reach + task.position_tolerance:
                status = PointStatus.TOO_FAR
        return aims, status

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

    def _direction_to(self, goals: Goals, tip: int) -> Array:
        """Look from the base to the target; if that is the base, to the tip; else straight on."""
        base = self._points[0]
        return unit(goals[tip].point - base, self._points[tip] - base, self._frames[0, :, 2])

    # --- how good a state is ----------------------------------------------------------------

    def _is_on(self, goals: Goals, task: Task) -> bool:
        return all(r <= task.position_tolerance for r in self._residuals(goals).values()) and all(
            r <= task.orientation_tolerance for r in self._orientation_residuals(goals).values()
        )

    def _residuals(self, goals: Goals) -> dict[int, float]:
        return {tip: math.dist(self._points[tip], goal.point) for tip, goal in goals.items()}

    def _orientation_residuals(self, goals: Goals) -> dict[int, float]:
        return {
            tip: angle_between(self._frames[tip], goal.rotation)
            for tip, goal in goals.items()
            if goal.rotation is not None
        }

    def _weighted_residual(self, goals: Goals) -> float:
        """Mean of the residuals by weight, a radian counted as `LEVER` of the reach."""
        total = sum(self._weights[tip] * r for tip, r in self._residuals(goals).items())
        for tip, angle in self._orientation_residuals(goals).items():
            total += self._weights[tip] * LEVER * self.reach(tip) * angle
        return total / sum(self._weights[tip] for tip in goals)

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
        pose = np.asarray(target) if self._dimension == 3 else np.empty(0)
        if pose.shape == (4, 4):
            if not is_pose(pose):
                raise TargetError(f'target of tip {tip} must be a pose, got {target!r}')
            point = checked_point(f'target of tip {tip}', pose[:3, 3], 3)
            return Goal(point, checked_rotation(f'target of tip {tip}', pose[:3, :3]))
        try:
            return Goal(
                self._in_space(checked_point(f'target of tip {tip}', target, self._dimension))
            )
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


@dataclass(frozen=True)
class Task:
    """What a solve is asked for."""

    goals: Goals
    position_tolerance: float
    orientation_tolerance: float
    free_base: bool


class Progress:
    """
    How a run of passes gets on: when it wants help, when it is at its end.

    Help is to lead the tips: to aim past the target by what they missed it by in the passes
    before, the more recent the more. Limits that hold a tip back are so overcome.
    """

    def __init__(self, aims: Goals) -> None:
        self._aims = aims
        self.led = aims
        self._leads = {tip: np.zeros(3) for tip in aims}
        self._mark = math.inf
        self._waiting = 0
        self.helped = self.ended = False

    def note(self, points: Array, residual: float, at_rest: bool) -> None:
        """Take note of an iteration: where the points are, how far off, and if still moving."""
        self._waiting += 1
        if residual <= HALF * self._mark:
            self._mark, self._waiting = residual, 0
        if self.helped:
            self.ended = self._waiting >= LAST_PATIENCE or (at_rest and self._waiting >= PATIENCE)
            self._lead(points)
        elif at_rest or self._waiting >= PATIENCE:
            self.helped, self._waiting = True, 0

    def _lead(self, points: Array) -> None:
        for tip, aim in self._aims.items():
            self._leads[tip] = MEMORY * self._leads[tip] + aim.point - points[tip]
        self.led = {
            tip: Goal(aim.point + self._leads[tip], aim.rotation)
            for tip, aim in self._aims.items()
        }


# --- geometry -------------------------------------------------------------------------------


def turned_to(frame: Array, along: Array) -> Array:
    """
    Turn a frame (3, 3) by the least turn that brings its z axis to the unit vector `along`.

    For vectors square to z that turn is the mirror image in the plane square to z + along. If
    they are opposite, so that every turn is as short as any, it is about the frame's own x.
    """
    x, _, z = frame.T
    middle = unit(z + along)
    return framed(x - 2.0 * (x @ middle) * middle, along)


def orthonormal(frame: Array) -> Array:
    """Take rounding out of a frame: thousands of turns add up."""
    return framed(frame[:, 0], frame[:, 2])


def framed(x: Array, z: Array) -> Array:
    """Make the frame (3, 3) with this z axis and an x axis as near as can be to the one given."""
    z = z / math.sqrt(z @ z)
    x = x - (x @ z) * z
    x = x / math.sqrt(x @ x)
    frame = np.empty((3, 3))
    frame[:, 0], frame[:, 2] = x, z
    frame[:, 1] = (
        z[1] * x[2] - z[2] * x[1],
        z[2] * x[0] - z[0] * x[2],
        z[0] * x[1] - z[1] * x[0],
    )
    return frame


def angle_between(one: Array, other: Array) -> float:
    """Measure the angle of the turn from one frame to the other, precise also near 0 [rad]."""
    return 2.0 * math.asin(min(1.0, float(np.linalg.norm(one - other)) / math.sqrt(8.0)))


def centroid(points: Sequence[Array], weights: Sequence[float]) -> Array:
    """Take the mean by weight; of one point, the point itself bit for bit."""
    if len(points) == 1:
        return points[0]
    return np.average(points, axis=0, weights=weights)


# --- checks ---------------------------------------------------------------------------------


def checked_parents(parents: Sequence[int], n: int) -> tuple[int, ...]:
    """Refuse what is no tree in which parents come first."""
    given = tuple(int(parent) for parent in parents)
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
