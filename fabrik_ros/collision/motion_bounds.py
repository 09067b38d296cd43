"""
How far two solids can move against each other when joints move.

Whatever the configuration, no point of a solid is farther from the axis of a joint than the links
between them are long. That lever times the turn of the joint bounds how far the joint moves the
point, and the sum over the joints between two solids how much their distance changes. (A bound of
this kind is what continuous collision checking rests on: Schwarzer, Saha and Latombe 2005,
"Adaptive dynamic collision checking for single and multiple articulated robots".)

"""

from collections.abc import Sequence
import math

import numpy as np

from ..kernels.arm_table import FRAME, IS_PRISMATIC, MULTIPLIER, POSITION, SOURCE
from ..kernels.tree_model import PARENT
from ..model.joints import Joint
from ..transforms import Array
from .solids import Solid


class Levers:
    """
    Levers of the joints between pairs of solids.

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
        self._travel = [joint.largest_displacement for joint in moving]
        rows = model[len(moving) :]
        self._balls = [
            row[:POSITION].reshape(3, 3) @ solid.centre + row[POSITION:FRAME]
            for row, solid in zip(rows, solids, strict=True)
        ]
        self._radii = [solid.radius for solid in solids]
        self._above = [self._joints_above(int(row[PARENT])) for row in rows]

    def between(self, a: int, b: int, count: int) -> Array:
        """
        Change of the distance between two solids for a unit of each joint value, at most.

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
        way_a, way_b = list(self._above[a]), list(self._above[b])
        while way_a and way_b and way_a[-1] == way_b[-1]:
            way_a.pop()
            way_b.pop()
        way = way_a + way_b[::-1]
        from_a = self._levers(a, way_a, way_b)
        from_b = self._levers(b, way_b, way_a)[::-1]
        # Seen from a link on the way, the joints before it move one solid, those behind the other.
        cuts = [sum(from_a[:cut]) + sum(from_b[cut:]) for cut in range(len(way) + 1)]
        cut = int(np.argmin(cuts))
        levers = np.zeros(count)
        for i, lever in zip(way, from_a[:cut] + from_b[cut:], strict=True):
            levers[int(self._model[i, SOURCE])] += abs(self._model[i, MULTIPLIER]) * lever
        return levers

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
            length += float(np.linalg.norm(point)) + self._travel[i]
            point = self._model[i, POSITION:FRAME]
        for i in reversed(far):
            R, p = self._model[i, :POSITION].reshape(3, 3), self._model[i, POSITION:FRAME]
            offset = R.T @ (point - p)
            levers.append(self._lever(i, length + math.hypot(offset[0], offset[1])))
            length += float(np.linalg.norm(offset)) + self._travel[i]
            point = np.zeros(3)
        return levers

    def _lever(self, i: int, length: float) -> float:
        return 1.0 if self._model[i, IS_PRISMATIC] else length
