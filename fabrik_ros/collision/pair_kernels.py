"""Pairs of solids as the kernels read them that look for what comes near on straight edges."""

from collections.abc import Iterator, Sequence
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from ..kernels import cell_tree, convex_gaps, edge_checks, free_edges
from ..kernels._jit import COMPILED
from ..kernels.arm_table import FRAME
from ..kernels.separation import Indices
from ..model.mechanism import read_only
from ..transforms import Array
from .outlines import point_outline
from .point_cells import PointCells
from .solid_frames import SolidFrames
from .solids import Solid, Support, support_of

NO_BOXES = read_only(np.empty((0, 6)))
"""In the place of cells, where solids are convex."""
NO_POINTS = Support(np.zeros((1, 3)), 0.0, 0.0)
"""In the place of the points of what is not convex."""

_SUPPORTS: WeakKeyDictionary[Solid, Support | None] = WeakKeyDictionary()
"""Cached supports of solids: a robot's solids do not change."""


class PairKernels:
    """
    Looks at those pairs that kernels can look at: two convex solids, or a solid and cells.

    Parameters
    ----------
    frames : SolidFrames
        Where the solids are; it is not moved.
    solids : sequence of Solid
        The g solids.
    pairs : sequence of (int, int)
        The p pairs, as numbers of solids; cells are the second one.
    motion_bounds : array, shape (p, n)
        Largest change of each distance for a unit of each of the arm's n joint values.

    Attributes
    ----------
    covers : array of bool, shape (p,)
        The pairs that kernels can look at, if they have to keep a distance that is not negative.

    """

    def __init__(
        self,
        frames: SolidFrames,
        solids: Sequence[Solid],
        pairs: Sequence[tuple[int, int]],
        motion_bounds: Array,
    ) -> None:
        count = motion_bounds.shape[1]
        self._joints = frames
        self._pairs = np.array(pairs, dtype=np.intp).reshape(-1, 2)
        cells = [number for number, solid in enumerate(solids) if _is_cells(solid)]
        self._boxes = {number: solids[number].geometry.boxes for number in cells}
        self._solids, points, is_convex = _table(solids)
        has_outline = is_convex & np.isfinite(self._solids[:, convex_gaps.RADIUS])
        first, second = self._pairs.T
        self._of_cells = np.isin(second, cells)
        self.covers: npt.NDArray[np.bool_] = (
            np.where(self._of_cells, has_outline[first], is_convex[first] & is_convex[second])
            & np.isfinite(motion_bounds).all(axis=1)
            & COMPILED
        )
        self._values = np.zeros(len(frames.values))
        memory_for_frames = np.empty((len(frames.model), FRAME))
        has_use = self._solids[:, convex_gaps.COUNT] > convex_gaps.FEW
        has_use[first[self._of_cells]] = True
        outlines = _outlines(solids, has_outline & has_use)
        self._tables = (
            frames.model, self._values, memory_for_frames, points, self._solids, *outlines
        )  # fmt: skip
        self._bounds = np.ascontiguousarray(motion_bounds)
        directions = np.tile([1.0, 0.0, 0.0], (len(self._pairs), 1))
        self._memory: tuple[Any, ...] = (
            np.empty((edge_checks.ROWS, count)),
            np.empty((edge_checks.MOST_PARTS, 3)),
            directions,
            np.empty((convex_gaps.ROWS, 3)),
            np.zeros(cell_tree.STACK, dtype=np.int64),
            np.zeros(cell_tree.SCRATCH),
        )
        self._until, self._piece = np.empty(count), np.empty((2, count))
        self._memory_for_edges: tuple[Any, ...] = (
            np.empty((free_edges.MOST_PARTS, 2)),
            np.empty((free_edges.ROWS, len(self._pairs))),
            np.empty((len(solids), 3)),
            *self._memory[2:],
        )
        self._nothing_known = np.empty(0), np.empty((0, count))
        self._nothing_strays = np.zeros(count, dtype=bool)

    def replace(self, number: int, solid: Solid) -> None:
        """Have other cells in the place of a solid of cells from now on."""
        self._boxes[number] = solid.geometry.boxes
        _write_bounds(self._solids[number], solid)

    def near_on_edge(
        self,
        numbers: npt.NDArray[np.intp],
        least: Array,
        q: Array,
        q_next: Array,
        *,
        strays: npt.NDArray[np.bool_] | None = None,
        resolution: float = 0.0,
        shortest: float = 0.0,
        known: tuple[Array, Array] | None = None,
    ) -> int:
        """
        Return the number of a pair that may come too near on a straight edge; -1 if none.

        Parameters
        ----------
        numbers : array of int, shape (k,)
            Pairs that kernels can look at.
        least : array, shape (p,)
            Distance that each pair must keep, not negative for these [m].
        q, q_next : array, shape (n,)
            The ends of the edge [rad or m].
        strays : array of bool, shape (n,), optional
            Joints that may be anywhere between `q` and where they would be.
        resolution, shortest : float
            Parts are not halved on which no pair can come nearer by more [m], nor parts that are
            no longer than this share of the edge [1].
        known : (array, array), optional
            Distances [m] that pairs are known to have at least, shape (p,), and joint values
            where, shape (p, n); both are brought up to date.

        """
        strays = self._nothing_strays if strays is None else strays
        ends = np.array(q), np.array(q_next)  # writable: others are compiled anew
        for chosen, boxes in self._groups(numbers):
            near = edge_checks.near_on_edge(
                *self._tables, boxes, self._pairs, self._bounds, least, chosen, *ends, strays,
                resolution, shortest, *(known or self._nothing_known), *self._memory,
            )  # fmt: skip
            if near >= 0:
                return int(near)
        return -1

    def warm_up(self) -> None:
        """Compile what a step needs, whatever pairs there will be."""
        q, nothing = np.zeros(self._bounds.shape[1]), np.empty(0)
        edge_checks.near_on_edge(
            *self._tables, NO_BOXES, self._pairs, self._bounds, nothing,
            np.empty(0, dtype=np.intp), q, q, self._nothing_strays, 0.0, 0.0,
            *self._nothing_known, *self._memory,
        )  # fmt: skip

    def first_near(
        self,
        order: npt.NDArray[np.intp],
        least: Array,
        q: Array,
        q_next: Array,
        resolution: float,
        stop: Indices,
    ) -> int:
        """
        Do the same where many edges are looked at in the same surroundings.

        Parameters
        ----------
        order : array of int, shape (k,)
            Pairs that kernels can look at. Those that are near go to the front.
        least, q, q_next, resolution
            See `near_on_edge`.
        stop : array of int, shape (1,)
            See `free_edges.first_near`.

        """
        for chosen, boxes in self._groups(order):
            near = free_edges.first_near(
                *self._tables, boxes, self._pairs, self._bounds, chosen, least, resolution,
                q, q_next, *self._memory_with(stop),
            )  # fmt: skip
            if near >= 0:
                return int(near)
        return -1

    def free_share(
        self,
        order: npt.NDArray[np.intp],
        least: Array,
        q: Array,
        q_next: Array,
        resolution: float,
        stop: Indices,
    ) -> float:
        """
        Share of an edge, from `q` on, on which no pair comes too near.

        Parameters are those of `first_near`. What is free by less than the resolution may count as
        blocked.
        """
        share = 1.0
        for chosen, boxes in self._groups(order):
            share *= free_edges.free_share(
                *self._tables, boxes, self._pairs, self._bounds, chosen, least, resolution,
                q, q + share * (q_next - q), self._until,
                *self._memory_with(stop),
            )  # fmt: skip
        return share

    def edge_arguments(
        self,
        order: npt.NDArray[np.intp],
        least: Array,
        ends: Array,
        resolution: float,
        stop: Indices,
    ) -> tuple[Any, ...] | None:
        """
        Return what kernels that look at edges need last; None where there are cells.

        These are `is_edge_free`, `is_curve_free`, `grow` and `shorten`.

        Parameters
        ----------
        order : array of int, shape (k,)
            Pairs that kernels can look at.
        least, ends : array, shape (1 + e, p), (e, n)
            See `is_edge_free`.
        resolution : float
            See `near_on_edge` [m].
        stop : array of int, shape (1,)
            See `first_near`.

        """
        if self._boxes:
            return None
        self._values[:] = self._joints.values
        return (
            *self._tables, NO_BOXES, self._pairs, self._bounds, order, least, ends, resolution,
            self._piece, *self._memory_with(stop),
        )  # fmt: skip

    def _memory_with(self, stop: Indices) -> tuple[Any, ...]:
        return *self._memory_for_edges, stop

    def _groups(
        self, numbers: npt.NDArray[np.intp]
    ) -> Iterator[tuple[npt.NDArray[np.intp], Array]]:
        """Sort pairs by the cells that they have: a kernel looks at those of one sensor."""
        self._values[:] = self._joints.values
        convex = numbers if not self._boxes else numbers[~self._of_cells[numbers]]
        if len(convex) > 0:
            yield convex, NO_BOXES
        for number, boxes in self._boxes.items():
            if len(chosen := numbers[self._pairs[numbers, 1] == number]) > 0:
                yield chosen, boxes


def _is_cells(solid: Solid) -> bool:
    return isinstance(solid.geometry, PointCells)


def _table(solids: Sequence[Solid]) -> tuple[Array, Array, npt.NDArray[np.bool_]]:
    """Write rows and points of solids as the kernels read them; tell which are convex."""
    supports = [_support(solid) for solid in solids]
    known = [support or NO_POINTS for support in supports]
    counts = np.array([len(support.points) for support in known])
    rows = np.empty((len(solids), convex_gaps.COLUMNS))
    rows[:, convex_gaps.FIRST] = np.cumsum(counts) - counts
    rows[:, convex_gaps.COUNT] = counts
    for row, solid, support in zip(rows, solids, known, strict=True):
        row[convex_gaps.DISC], row[convex_gaps.BALL] = support.disc, support.ball
        _write_bounds(row, solid)
    points = np.concatenate([np.empty((0, 3)), *(support.points for support in known)])
    is_convex = np.array([support is not None for support in supports], dtype=bool)
    return rows, np.ascontiguousarray(points), is_convex


def _write_bounds(row: Array, solid: Solid) -> None:
    """Write the ball and the box around a solid."""
    row[convex_gaps.RADIUS] = solid.radius
    row[convex_gaps.CENTRE : convex_gaps.HALF_SIZE] = solid.centre
    row[convex_gaps.HALF_SIZE :] = _half_size(solid)


def _half_size(solid: Solid) -> Array:
    """Half the size of a box about its centre that a solid is in, shape (3,) [m]."""
    if _is_cells(solid):
        low, high = solid.geometry.boxes[1].reshape(2, 3)
        return np.asarray(0.5 * (high - low))
    support = _support(solid)
    if support is None or len(support.points) == 0:
        return np.full(3, np.inf)
    around = np.array([support.disc, support.disc, 0.0]) + support.ball
    half: Array = np.max(np.abs(support.points - solid.centre), axis=0) + around
    return half


def _support(solid: Solid) -> Support | None:
    if solid not in _SUPPORTS:
        _SUPPORTS[solid] = None if _is_cells(solid) else support_of(solid)
    return _SUPPORTS[solid]


def _outlines(
    solids: Sequence[Solid], wanted: npt.NDArray[np.bool_]
) -> tuple[Array, Indices, Indices, Indices, Array, Array]:
    """
    Write outlines of the wanted solids one after the other, and where they begin.

    They end with the last one that is wanted: the many obstacles behind the robot take no room.
    """
    nothing, count = point_outline(0.0), int(np.flatnonzero(wanted).max(initial=-1)) + 1
    outlines = [s.outline if wanted[k] else nothing for k, s in enumerate(solids[:count])]
    outlines.append(nothing)  # never none at all
    lengths = [(len(o.vertices), len(o.candidates), len(o.faces)) for o in outlines]
    starts = np.concatenate([np.zeros((1, 3), dtype=np.int64), np.cumsum(lengths, axis=0)])
    return (
        np.concatenate([o.vertices for o in outlines]),
        starts,
        np.array([o.bins for o in outlines]),
        np.concatenate([o.candidates for o in outlines]),
        np.concatenate([o.faces for o in outlines]),
        np.array([o.margin for o in outlines]),
    )
