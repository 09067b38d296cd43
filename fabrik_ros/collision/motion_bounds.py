"""
Bounds of how far two solids can move against each other when joints move.

In no configuration is a point of a solid farther from the axis of a joint than the links between
them are long. This lever times the turn of the joint bounds the displacement of the point; the
sum over the joints between two solids bounds the change of their distance.

Source: Schwarzer, Saha and Latombe, "Adaptive dynamic collision checking for single and multiple
articulated robots" (2005), for motion bounds in continuous collision checking.

"""

from collections.abc import Sequence
import math

import numpy as np

from ..kernels.arm_table import FRAME, IS_PRISMATIC, MULTIPLIER, POSITION, SOURCE
from ..kernels.tree_model import PARENT
from ..model.joints import Joint
from ..transforms import Array
from .solids import Solid


class MotionBounds:
    """
    Motion bounds of pairs of solids: change of their distance for a unit of each joint value.

    Parameters
    ----------
    model : array
        Rows of the moving joints, then of the solids.
    moving : sequence of Joint
        Those joints; prismatic ones must stay inside their limits.
    solids : sequence of Solid
        Those solids.

    """

    def __init__(self, model: Array, moving: Sequence[Joint], solids: Sequence[Solid]) -> None:
        self._model = model
        self._displacements = [joint.largest_displacement for joint in moving]
        rows = model[len(moving) :]
        self._balls = [
            row[:POSITION].reshape(3, 3) @ solid.centre + row[POSITION:FRAME]
            for row, solid in zip(rows, solids, strict=True)
        ]
        self._radii = [solid.radius for solid in solids]
        self._above = [self._joints_above(int(row[PARENT])) for row in rows]

    def between(self, a: int, b: int, count: int) -> Array:
        """
        Bound the change of the distance between two solids for a unit of each joint value.

        Parameters
        ----------
        a, b : int
            Numbers of the solids.
        count : int
            How many joint values there are.

        Returns
        -------
        array, shape (count,)
            [m/rad], or 1 for prismatic joints.

        """
        path_a, path_b = list(self._above[a]), list(self._above[b])
        while path_a and path_b and path_a[-1] == path_b[-1]:
            path_a.pop()
            path_b.pop()
        path = path_a + path_b[::-1]
        from_a = self._levers(a, path_a, path_b)
        from_b = self._levers(b, path_b, path_a)[::-1]
        # For a link on the path, the joints before it move one solid, those behind the other.
        cuts = [sum(from_a[:cut]) + sum(from_b[cut:]) for cut in range(len(path) + 1)]
        cut = int(np.argmin(cuts))
        return self._of_values(path, from_a[:cut] + from_b[cut:], count)

    def in_root(self, a: int, count: int) -> Array:
        """
        Bound how far solid `a` moves in the root link for a unit of each joint value.

        The same as `between` it and a solid that stands in the root link.
        """
        path = self._above[a]
        return self._of_values(path, self._levers(a, path, []), count)

    def _of_values(self, path: list[int], levers: list[float], count: int) -> Array:
        """Sum up the levers of joints by the joint values that move them, shape (count,)."""
        bounds = np.zeros(count)
        for i, lever in zip(path, levers, strict=True):
            bounds[int(self._model[i, SOURCE])] += abs(self._model[i, MULTIPLIER]) * lever
        return bounds

    def _joints_above(self, row: int) -> list[int]:
        above = []
        while row >= 0:
            above.append(row)
            row = int(self._model[row, PARENT])
        return above

    def _levers(self, solid: int, near: list[int], far: list[int]) -> list[float]:
        """Levers of one solid on the joints above it and, beyond those, above the other."""
        levers = []
        point, length = self._balls[solid], self._radii[solid]
        for i in near:
            levers.append(self._lever(i, length + math.hypot(point[0], point[1])))
            length += float(np.linalg.norm(point)) + self._displacements[i]
            point = self._model[i, POSITION:FRAME]
        for i in reversed(far):
            R, p = self._model[i, :POSITION].reshape(3, 3), self._model[i, POSITION:FRAME]
            offset = R.T @ (point - p)
            levers.append(self._lever(i, length + math.hypot(offset[0], offset[1])))
            length += float(np.linalg.norm(offset)) + self._displacements[i]
            point = np.zeros(3)
        return levers

    def _lever(self, i: int, length: float) -> float:
        return 1.0 if self._model[i, IS_PRISMATIC] else length
