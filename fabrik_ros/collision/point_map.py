"""Which cells are occupied, as sensors measure points again and again."""

from __future__ import annotations

from dataclasses import dataclass
import math

import numpy as np

from ..errors import SceneError
from ..kernels.cell_tree import Keys
from ..kernels.point_binning import (
    bin_points,
    find_outermost,
    Flags,
    FREE,
    Numbers,
    Points,
    TABLE,
)
from ..kernels.range_image import draw_ranges, note_looked_through, SQUARES
from ..kernels.robot_shadow import (
    note_covered,
    note_outward_directions,
    note_points_of_others,
    SCRATCH,
)
from ..transforms import Array
from .outlines import point_outline
from .point_cells import CellMeter, MOST_CELLS, PointCells
from .robot_shape import PlacedShape

MOST_POINTS = 3_000_000
"""Most points of a cloud; more take too long [1]."""
MOST_FRAMES = 8
"""Most sensors [1]."""
MOST_BINNED = 3 * MOST_CELLS
"""Most cells, including the ones in the robot, that points are sorted into [1]."""
SIZE_STEP = 1e-3
"""Sizes of cells that are proposed are multiples of this [m]."""
LARGEST_SIZE = 1.0
"""[m]."""


@dataclass(frozen=True, eq=False)
class _Known:
    """The cells of one sensor."""

    cells: PointCells
    remembered: Flags
    """Marks cells that the sensor does not see now, shape (m,)."""


class PointMap:
    """
    Occupied cells for each sensor.

    Points that are within the padding of the robot are its own. A cloud replaces the cells of its
    frame, but for those that come within the padding or that the robot hides: these stay until
    the sensor has measured something beyond them.

    Parameters
    ----------
    size : float
        Edge of a cell [m].
    padding : float
        Distance from a link up to which points belong to it [m].

    Raises
    ------
    SceneError
        If one of them is no length.

    """

    def __init__(self, size: float = 0.02, padding: float = 0.015) -> None:
        if not 0.0 < size <= LARGEST_SIZE:
            raise SceneError(
                f'the size of cells is {size} m; expected more than 0 m and at most '
                f'{LARGEST_SIZE:g} m'
            )
        if not 0.0 <= padding < math.inf:
            raise SceneError(f'the padding is {padding}; expected a length of 0 m or more')
        self.size, self.padding = size, padding
        self._known: dict[str, _Known] = {}
        self._table = np.empty(TABLE, dtype=np.int64)
        self._numbers = np.empty(TABLE, dtype=np.int32)
        self._scratch = np.zeros(SCRATCH)

    def cells(self, frame: str) -> PointCells | None:
        """Cells of the sensor in a frame; None where there are none yet."""
        known = self._known.get(frame)
        return known.cells if known else None

    def forget(self, frame: str) -> None:
        """Forget the cells of the sensor in a frame."""
        self._known.pop(frame, None)

    def warm_up(self, robot: PlacedShape) -> None:
        """Compile what clouds and distances need: it would hold up commands for seconds."""
        other = PointMap(self.size, self.padding)
        far = np.full((1, 3), 10.0, dtype=np.float32)
        other.take('', far, np.eye(4), robot)
        cells = other.take('', -far, np.eye(4), robot)
        CellMeter(point_outline(1.0)).distance(np.append(np.eye(3), np.zeros(3)), cells)

    def take(
        self, frame: str, points: Points, T_root_sensor: Array, robot: PlacedShape
    ) -> PointCells:
        """
        Take a cloud, and return the cells of its frame from now on.

        Nearly all of the time other threads can run.

        Parameters
        ----------
        frame : str
            Name of the sensor's frame.
        points : array of float32, shape (n, 3)
            What it has measured, in its own frame [m]; those that are not finite are left out.
        T_root_sensor : array, shape (4, 4)
            Where the sensor was in the root link of the robot.
        robot : PlacedShape
            Where the links were.

        Raises
        ------
        SceneError
            If no point is finite, there are more than 3 million, they are in more than 20,000
            cells (says which `size` would do), or there are 8 other sensors. Nothing changes then.

        """
        if len(points) > MOST_POINTS:
            raise SceneError(
                f'{len(points)} points; at most {MOST_POINTS} are taken: make the cloud coarser'
            )
        if frame not in self._known and len(self._known) == MOST_FRAMES:
            raise SceneError(f'there are points of {MOST_FRAMES} frames already; no more are kept')
        pose = np.concatenate([T_root_sensor[:3, :3].ravel(), T_root_sensor[:3, 3]])
        keys = self._seen(points, pose, robot)
        known = self._known.get(frame)
        if known is None:
            remembered = keys[:0]
        else:
            remembered = self._remembered(known, keys, points, pose, robot)
        if len(keys) + len(remembered) > MOST_CELLS:
            raise self._too_many(points, pose)
        both = np.concatenate([keys, remembered])
        order = np.argsort(both)
        cells = PointCells(both[order], self.size)
        self._known[frame] = _Known(cells, order >= len(keys))
        return cells

    def _seen(self, points: Points, pose: Array, robot: PlacedShape) -> Keys:
        """Find the cells with points that are not the robot's, ascending."""
        keys = np.empty(MOST_BINNED, dtype=np.int64)
        cell_of = np.empty(len(points), dtype=np.int32)
        count = self._bin(points, pose, self.size, keys, cell_of)
        if count < 0:
            raise self._too_many(points, pose)
        if count == 0:
            raise SceneError(f'none of its {len(points)} points is finite')
        keys = keys[:count]
        outwards, heights = np.empty((count, 3)), np.empty(count)
        outermost, of_others = np.empty(count, dtype=np.int32), np.empty(count, dtype=np.bool_)
        shape = robot.shape
        note_outward_directions(
            *robot.for_kernels,
            shape.faces,
            shape.face_starts,
            keys,
            self.size,
            self.padding,
            self._scratch,
            outwards,
        )
        find_outermost(points, pose, cell_of, outwards, heights, outermost)
        note_points_of_others(
            *robot.for_kernels, points, pose, outermost, self.padding, self._scratch, of_others
        )
        seen: Keys = np.sort(keys[of_others])
        return seen

    def _remembered(
        self, known: _Known, keys: Keys, points: Points, pose: Array, robot: PlacedShape
    ) -> Keys:
        """Find the cells known before, without points now, that stay nevertheless."""
        unseen = ~_are_in(keys, known.cells.keys)
        before, stays = known.cells.keys[unseen], known.remembered[unseen]
        if len(before) == 0:
            return before
        sensor = np.tile(pose[9:], 2)
        note_covered(
            *robot.for_kernels, before, self.size, sensor, self.padding, self._scratch, stays
        )
        before = before[stays]
        ranges = np.empty(SQUARES, dtype=np.float32)
        looked_through = np.empty(len(before), dtype=np.bool_)
        draw_ranges(points, ranges)
        note_looked_through(before, self.size, pose, ranges, self._scratch[0], looked_through)
        left: Keys = before[~looked_through]
        return left

    def _bin(self, points: Points, pose: Array, size: float, keys: Keys, cell_of: Numbers) -> int:
        self._table.fill(FREE)
        return bin_points(points, pose, size, self._table, self._numbers, keys, cell_of)

    def _too_many(self, points: Points, pose: Array) -> SceneError:
        """Find the size of cells that would do, and say so."""
        keys = np.empty(MOST_CELLS, dtype=np.int64)
        cell_of = np.empty(len(points), dtype=np.int32)
        low, high = math.ceil(self.size / SIZE_STEP), round(LARGEST_SIZE / SIZE_STEP)
        if self._bin(points, pose, high * SIZE_STEP, keys, cell_of) < 0:
            return SceneError(
                f'its points are in more than {MOST_CELLS} cells, even if these have the largest '
                f'size of {LARGEST_SIZE:g} m: cut away what is far from the arm'
            )
        while high - low > 1:
            middle = (low + high) // 2
            if self._bin(points, pose, middle * SIZE_STEP, keys, cell_of) < 0:
                low = middle
            else:
                high = middle
        return SceneError(
            f'its points are in more than {MOST_CELLS} cells of {self.size:g} m; a point_size of '
            f'{high * SIZE_STEP:.3f} m would do'
        )


def _are_in(keys: Keys, others: Keys) -> Flags:
    """Whether each of some others is one of the keys, which are ascending."""
    if len(keys) == 0:
        return np.zeros(len(others), dtype=np.bool_)
    places = np.minimum(np.searchsorted(keys, others), len(keys) - 1)
    found: Flags = keys[places] == others
    return found
