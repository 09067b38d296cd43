"""Shorter paths in joint space: two random places of a path are joined where that is free."""

import math

from ..transforms import Array
from ._jit import kernel, nogil_kernel
from .free_edges import is_edge_free, Numbers
from .separation import Indices

COUNT, TRIED, FRUITLESS, FIRST, LAST, STATES = 0, 1, 2, 3, 4, 5
"""
Of the state: the number of corners of the path, of shortcuts that were tried, and of those in a
row without success; the edges that the proposed one leads from and to.
"""
FROM, TO, EDGE_ROWS = 0, 1, 2
"""Rows of the proposed edge: its ends."""
MOST_FRUITLESS = 20
"""Tries in a row without a shortcut that end the search for more [1]."""
WORTH = 1e-3
"""Least share of its part of the path that a shortcut must save [1]."""


@kernel
def is_over(samples: Array, state: Indices) -> bool:
    """Whether no other shortcut is to be tried: see `propose`."""
    is_used_up = state[TRIED] == samples.shape[0] or state[FRUITLESS] >= MOST_FRUITLESS
    return bool(is_used_up or state[COUNT] < 3)


@kernel
def propose(corners: Array, weights: Array, samples: Array, state: Indices, edge: Array) -> bool:
    """
    Write an edge that joins two random places of a path; return whether it would be shorter.

    Parameters
    ----------
    corners : array, shape (m, n)
        The first ones are the path [rad or m].
    weights : array, shape (n,)
        How much a unit of each joint counts in lengths.
    samples : array, shape (k, 2)
        Random places, as shares of the length of the path [1].
    state : array of int, shape (STATES,)
        See `COUNT`.
    edge : array, shape (EDGE_ROWS, n)
        Where the edge is written to.

    """
    length = 0.0
    for i in range(state[COUNT] - 1):
        length += _distance(weights, corners[i], corners[i + 1])
    one, other = samples[state[TRIED], 0], samples[state[TRIED], 1]
    state[TRIED] += 1
    first, last = min(one, other) * length, max(one, other) * length
    state[FIRST] = _write_place(corners, weights, state[COUNT], first, edge[FROM])
    state[LAST] = _write_place(corners, weights, state[COUNT], last, edge[TO])
    if state[FIRST] == state[LAST]:
        return False
    return bool(_distance(weights, edge[FROM], edge[TO]) <= (1.0 - WORTH) * (last - first))


@kernel
def _write_place(corners: Array, weights: Array, count: int, place: float, q: Array) -> int:
    """Write the configuration at a length from the beginning; return the number of its edge."""
    i = 0
    length = _distance(weights, corners[0], corners[1])
    while place >= length and i < count - 2:
        place -= length
        i += 1
        length = _distance(weights, corners[i], corners[i + 1])
    share = min(place / length, 1.0) if length > 0.0 else 0.0
    for j in range(q.shape[0]):
        q[j] = corners[i, j] + share * (corners[i + 1, j] - corners[i, j])
    return i


@kernel
def _distance(weights: Array, q: Array, q_next: Array) -> float:
    """Length of the edge between two configurations."""
    squared = 0.0
    for j in range(q.shape[0]):
        away = (q_next[j] - q[j]) * weights[j]
        squared += away * away
    return math.sqrt(squared)


@kernel
def conclude(corners: Array, state: Indices, edge: Array, is_free: bool) -> None:
    """Put the proposed edge into the path if it is free; `corners` has room for another one."""
    if not is_free:
        state[FRUITLESS] += 1
        return
    first, last, count = state[FIRST], state[LAST], state[COUNT]
    state[FRUITLESS], state[COUNT] = 0, count - (last - first) + 2
    for j in range(edge.shape[1]):
        if last - first == 1:
            for i in range(count - 1, last, -1):
                corners[i + 1, j] = corners[i, j]
        else:
            for i in range(last + 1, count):
                corners[i - (last - first) + 2, j] = corners[i, j]
        corners[first + 1, j], corners[first + 2, j] = edge[FROM, j], edge[TO, j]


@nogil_kernel
def shorten(
    corners: Array,
    weights: Array,
    samples: Array,
    state: Indices,
    edge: Array,
    most: int,
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
    order: Numbers,
    least: Array,
    ends: Array,
    resolution: float,
    piece: Array,
    parts: Array,
    pair_rows: Array,
    centres: Array,
    directions: Array,
    memory: Array,
    nodes: Indices,
    scratch: Array,
    stop: Indices,
) -> bool:
    """
    Try some shortcuts; return whether others are to be tried.

    Parameters
    ----------
    corners, weights, samples, state, edge
        See `propose`.
    most : int
        Number of shortcuts to try.
    model, values, frames, points, solids, vertices, starts, bins, candidates, faces : array
        See `is_edge_free`.
    margins, boxes, pairs, motion_bounds, order, least, ends, resolution, piece, parts
        See there.
    pair_rows, centres, directions, memory, nodes, scratch, stop : array
        See there.

    """
    for _ in range(most):
        if is_over(samples, state):
            return False
        is_shorter = propose(corners, weights, samples, state, edge)
        is_free = is_shorter and is_edge_free(
            edge[FROM], edge[TO], model, values, frames, points, solids, vertices, starts, bins,
            candidates, faces, margins, boxes, pairs, motion_bounds, order, least, ends,
            resolution, piece, parts, pair_rows, centres, directions, memory, nodes, scratch,
            stop,
        )  # fmt: skip
        conclude(corners, state, edge, is_free)
    return not is_over(samples, state)
