"""
FABRIK on trees of points, with limits between the bones, to be read beside the papers.

A. Aristidou and J. Lasenby, "FABRIK: A fast, iterative solver for the Inverse Kinematics
problem", Graphical Models 73 (2011) 243-260: several end effectors with sub-bases, limits.
A. Aristidou, Y. Chrysanthou and J. Lasenby, "Extending FABRIK with model constraints", Computer
Animation and Virtual Worlds 27 (2016) 35-57.

`PointChain` is the plain algorithm on one screen; `point_tree_passes.py` has the two passes on a
tree whose bones have frames and limits. Every state `solve` can return comes from a pass towards
the tips, so it has its lengths and keeps its limits.

"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
import math
from types import MappingProxyType

import numpy.typing as npt

from .point_chain import (
    Array,
    checked_points,
    PointChain,
    PointStatus,
)
from .point_limits import Limit
from .point_tree_checks import checked_goals, in_space
from .point_tree_passes import PointTreePasses
from .point_tree_search import (
    orientation_residuals,
    residuals,
    Search,
    Task,
    weighted_residual,
    within_reach,
)


@dataclass(frozen=True, eq=False)
class PointTreeSolution:
    """
    What `PointTree.solve` found; true if it converged.

    Attributes
    ----------
    tree : PointTree
        The tree in its new state.
    status : PointStatus
        How the solve ended. Out of reach counts if any tip's target is.
    residuals : mapping of int to float
        Distance from each tip that has a target to it [unit of the tree].
    orientation_residuals : mapping of int to float
        Angle between the frame of the last bone and the pose asked for, where one was [rad].
    residual : float
        What was made small: mean of the residuals by the weights of their tips, an orientation
        counted at a lever arm of 0.15 of the reach of its tip [unit of the tree].
    iterations : int
        Pairs of passes made; 0 where the answer was known without any.

    """

    tree: PointTree

    status: PointStatus

    residuals: Mapping[int, float]

    orientation_residuals: Mapping[int, float]

    residual: float

    iterations: int

    def __bool__(self) -> bool:
        return self.converged

    @property
    def points(self) -> Array:
        """Joint centres, shape (n, d), read-only."""
        return self.tree.points

    @property
    def converged(self) -> bool:
        """Whether every tip that has a target is on it, within the tolerances."""
        return self.status is PointStatus.CONVERGED


class PointTree(PointTreePasses):
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

    >>> from fabrik_ros import Hinge, PointTree
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
        Targets out of reach are pulled to the boundary, reach or inner reach, and the same
        iteration runs, as straight poses are seldom allowed; only a chain without limits is
        straightened or folded at once. Where the passes get slow, or come to rest, they are helped
        (see `point_tree_search.py`). That several tips reach their targets together, or any tip
        within its limits, is not promised by the algorithm: the residuals tell.

        """
        goals = checked_goals(targets, self.tips, self._dimension)
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
        points, frames = in_space(laid.points), self._frames.copy()
        for i in range(1, len(points)):
            frames[i] = self._turned(i, points[i] - points[i - 1])
        return self._moved_to(points, frames)


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
