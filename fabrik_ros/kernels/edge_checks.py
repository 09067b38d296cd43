"""
Whether solids come near each other on a straight edge in joint space.

A part of the edge is free if every pair is farther apart in the middle than the joints can bring
it together from there to the ends. Other parts are halved.

"""

import numpy as np
import numpy.typing as npt

from ..transforms import Array
from . import tree_kinematics
from ._jit import kernel
from .cell_tree import gap_to_cells
from .convex_gaps import gap, gap_of_bounds, SIDE
from .pair_bounds import distance_bound
from .separation import Indices

MOST_PARTS = 8192
"""Parts that are waiting to be looked at, at most [1]."""
AHEAD = 2.0
"""
Distances are looked for up to so many times what the whole edge asks for [1].

What is known of them then answers for the edges that come after this one.
"""
ERROR = 1e-5
"""Bound of the error of a gap [m]."""
MIDDLE, HALF, BEGIN, NOWHERE = 0, 1, 2, 3
"""Rows of memory: middle and half width of a part, the beginning of the edge, and zeros."""
ROWS = 4

Numbers = npt.NDArray[np.intp]
Flags = npt.NDArray[np.bool_]


@kernel
def first_near(
    model: Array,
    values: Array,
    frames: Array,
    points: Array,
    solids: Array,
    vertices: Array,
    starts: Indices,
    bins: Indices,
    candidates: Indices,
    faces: Array,
    margins: Array,
    boxes: Array,
    pairs: Numbers,
    motion_bounds: Array,
    least: Array,
    numbers: Numbers,
    first: int,
    ahead: float,
    known: Array,
    at: Array,
    rows: Array,
    directions: Array,
    memory: Array,
    nodes: Indices,
    scratch: Array,
) -> int:
    """
    Return a pair that may come too near on a part of an edge.

    Parameters
    ----------
    model, values, frames : array
        Rows of joints and solids, all joint values, and memory for frames; see `SolidFrames`. The
        first joint values are written over.
    points, solids, directions, memory : array
        See `gap`; a direction for each pair.
    vertices, starts, bins, candidates, faces, margins, boxes, nodes, scratch : array
        Outlines of solids, and cells: see `gap_to_cells`. Without boxes all solids are convex.
    pairs : array of int, shape (p, 2)
        Numbers of solids; where there are boxes, these are the second one of each pair that is
        looked at.
    motion_bounds : array, shape (p, n)
        Largest change of each distance for a unit of each joint value.
    least : array, shape (p,)
        Distance that each pair must keep, not negative [m].
    numbers : array of int, shape (k,)
        The pairs that are looked at, from `first` on.
    first : int
        See above.
    ahead : float
        Distances are looked for up to so many times what is asked for [1].
    known, at : array, shape (p,) and (p, n), or (0,) and (0, n)
        Distances that pairs have at least [m], and where. What says more about the beginning of
        the edge is written to them.
    rows : array, shape (ROWS, n)
        The part.

    Returns
    -------
    int
        -1 where no pair comes near on the part. `p` where pair number `p` is near in its middle.
        `-2 - k` where pair number `numbers[k]` may come near on it, and none before that.

    """
    middle, half, learns = rows[MIDDLE], rows[HALF], known.shape[0] > 0
    for j in range(middle.shape[0]):
        values[j] = middle[j]
    tree_kinematics.tree_link_frames(model, values, frames)
    placed = frames[model.shape[0] - solids.shape[0] :]
    undecided = -1
    for k in range(first, numbers.shape[0]):
        p = numbers[k]
        a, b = pairs[p, 0], pairs[p, 1]
        if learns and distance_bound(known, at, motion_bounds, p, middle, half) > least[p]:
            continue
        closing = 0.0
        for j in range(middle.shape[0]):
            closing += motion_bounds[p, j] * half[j]
        enough = least[p] + closing
        found = gap_of_bounds(solids, placed, a, b, memory[SIDE])
        if found <= enough:
            wanted = least[p] if undecided >= 0 else least[p] + ahead * closing
            if boxes.shape[0] > 0:
                found = gap_to_cells(
                    vertices, starts, bins, candidates, faces, margins, placed[a], boxes, a,
                    wanted, least[p], nodes, scratch,
                )  # fmt: skip
            else:
                found = gap(
                    points, starts, bins, candidates, solids, placed, a, b, wanted, least[p], 0.0,
                    directions[p], memory,
                )  # fmt: skip
        if found <= least[p]:  # how near it is is not known then
            return int(p)
        if learns:
            _learn(known, at, motion_bounds, p, found - ERROR, rows)
        if found <= enough and undecided < 0:
            undecided = k
    return -1 if undecided < 0 else -2 - undecided


@kernel
def _learn(
    known: Array, at: Array, motion_bounds: Array, p: int, found: float, rows: Array
) -> None:
    """Keep a distance that is known in the middle, if it says more about the beginning."""
    middle, begin, nowhere = rows[MIDDLE], rows[BEGIN], rows[NOWHERE]
    before = distance_bound(known, at, motion_bounds, p, begin, nowhere)
    for j in range(middle.shape[0]):
        found -= motion_bounds[p, j] * abs(begin[j] - middle[j])
    if found > before:
        known[p] = found
        for j in range(middle.shape[0]):
            known[p] += motion_bounds[p, j] * abs(begin[j] - middle[j])
            at[p, j] = middle[j]


@kernel
def near_on_edge(
    model: Array,
    values: Array,
    frames: Array,
    points: Array,
    solids: Array,
    vertices: Array,
    starts: Indices,
    bins: Indices,
    candidates: Indices,
    faces: Array,
    margins: Array,
    boxes: Array,
    pairs: Numbers,
    motion_bounds: Array,
    least: Array,
    numbers: Numbers,
    q: Array,
    q_next: Array,
    strays: Flags,
    resolution: float,
    shortest: float,
    known: Array,
    at: Array,
    rows: Array,
    parts: Array,
    directions: Array,
    memory: Array,
    nodes: Indices,
    scratch: Array,
) -> int:
    """
    Return the number of a pair that may come too near between two configurations; -1 if none.

    The longest parts are looked at first, so that a collision is found early.

    Parameters
    ----------
    q, q_next : array, shape (n,)
        The ends of the edge [rad or m].
    strays : array of bool, shape (n,)
        Joints that may be anywhere between `q` and where they would be.
    resolution : float
        A part on which a pair can come nearer by no more than this is not halved [m].
    shortest : float
        Nor is a part that is no longer than this share of the edge [1].
    rows : array, shape (ROWS, n)
        Written over.
    parts : array, shape (MOST_PARTS, 3)
        Written over.
    model, values, frames, points, solids, vertices, starts, bins, candidates, faces : array
        See `first_near`.
    margins, boxes, pairs, motion_bounds, least, numbers, known, at : array
        See `first_near`.
    directions, memory, nodes, scratch : array
        See `first_near`.

    """
    parts[0, 0], parts[0, 1], parts[0, 2] = 0.0, 1.0, 0.0
    here, end, ahead = 0, 1, AHEAD if known.shape[0] > 0 else 1.0
    while here != end:
        begin, finish, first = parts[here, 0], parts[here, 1], int(parts[here, 2])
        here = (here + 1) % parts.shape[0]
        _place_part(q, q_next, strays, begin, finish, rows)
        near = first_near(
            model, values, frames, points, solids, vertices, starts, bins, candidates, faces,
            margins, boxes, pairs, motion_bounds, least, numbers, first, ahead, known, at, rows,
            directions, memory, nodes, scratch,
        )  # fmt: skip
        ahead = 1.0
        if near >= 0:
            return near
        if near == -1:
            continue
        p, closing = numbers[-2 - near], 0.0
        for j in range(q.shape[0]):
            closing += motion_bounds[p, j] * rows[HALF, j]
        second, after = (end + 1) % parts.shape[0], (end + 2) % parts.shape[0]
        is_full = second == here or after == here
        if closing <= resolution or finish - begin <= shortest or is_full:
            return int(p)
        middle = 0.5 * (begin + finish)
        parts[end, 0], parts[end, 1], parts[end, 2] = begin, middle, -2 - near
        parts[second, 0], parts[second, 1], parts[second, 2] = middle, finish, -2 - near
        end = after
    return -1


@kernel
def _place_part(
    q: Array, q_next: Array, strays: Flags, begin: float, finish: float, rows: Array
) -> None:
    """Write where a part of an edge, given by two shares of it, is."""
    for j in range(q.shape[0]):
        way, low = q_next[j] - q[j], 0.0 if strays[j] else begin
        rows[MIDDLE, j] = q[j] + 0.5 * (low + finish) * way
        rows[HALF, j] = 0.5 * (finish - low) * abs(way)
        rows[BEGIN, j], rows[NOWHERE, j] = q[j], 0.0
