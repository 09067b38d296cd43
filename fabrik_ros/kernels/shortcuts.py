"""
Shorter paths in joint space: two random places of a path are joined where that is free.

A shortcut leads straight from one place to the other. A partial one does so for some joints only,
while the others go as before, so it also shortens where the straight edge is blocked (Geraerts
and Overmars 2007, "Creating high-quality paths for motion planning").

"""

import math

import numpy as np
import numpy.typing as npt

from ..transforms import Array
from ._jit import kernel, nogil_kernel
from .free_edges import is_curve_free, Numbers
from .separation import Indices

COUNT, TRIED, FRUITLESS, FIRST, LAST, ROWS, STATES = 0, 1, 2, 3, 4, 5, 6
"""
Of the state: the number of corners of the path, of shortcuts that were tried, and of those in a
row without success; the edges that the proposed one leads from and to, and how many corners and
ends it has.
"""
GROWTH = 2
"""Number of corners by which a shortcut lengthens a path, at most [1]."""
MOST_FRUITLESS = 20
"""Tries in a row without a shortcut that end the search for more [1]."""
WORTH = 1e-3
"""Least share of its part of the path that a shortcut must save [1]."""

Choices = npt.NDArray[np.bool_]


@kernel
def is_over(samples: Array, state: Indices) -> bool:
    """Whether no other shortcut is to be tried: see `propose`."""
    is_used_up = state[TRIED] == samples.shape[0] or state[FRUITLESS] >= MOST_FRUITLESS
    return bool(is_used_up or state[COUNT] < 3)


@kernel
def propose(
    corners: Array,
    weights: Array,
    samples: Array,
    straight: Choices,
    state: Indices,
    shortcut: Array,
) -> bool:
    """
    Write a shortcut between two random places of a path; return whether it would be shorter.

    Parameters
    ----------
    corners : array, shape (m, n)
        The first ones are the path [rad or m].
    weights : array, shape (n,)
        How much a unit of each joint counts in lengths.
    samples : array, shape (k, 2)
        Random places, as shares of the length of the path [1].
    straight : array of bool, shape (k, n)
        The joints that go straight.
    state : array of int, shape (STATES,)
        See `COUNT`.
    shortcut : array, shape (m, n)
        It is written here.

    """
    length = _length(corners, weights, state[COUNT])
    one, other = samples[state[TRIED], 0], samples[state[TRIED], 1]
    is_straight = straight[state[TRIED]]
    state[TRIED] += 1
    begin, end = min(one, other) * length, max(one, other) * length
    first = _write_place(corners, weights, state[COUNT], begin, shortcut[0])
    last = _write_place(corners, weights, state[COUNT], end, shortcut[1])
    if first == last:
        return False
    rows = 2 if is_straight.all() else 2 + last - first
    if rows > 2:
        for i in range(1, rows - 1):
            for j in range(corners.shape[1]):
                shortcut[i, j] = corners[first + i, j]
        _write_place(corners, weights, state[COUNT], end, shortcut[rows - 1])
        _straighten(shortcut, weights, rows, is_straight)
    state[FIRST], state[LAST], state[ROWS] = first, last, rows
    return bool(_length(shortcut, weights, rows) <= (1.0 - WORTH) * (end - begin))


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
def _straighten(corners: Array, weights: Array, count: int, is_straight: Choices) -> None:
    """Let joints go straight from the first corner to the last, evenly along the way."""
    length, place, end = _length(corners, weights, count), 0.0, count - 1
    step = _distance(weights, corners[0], corners[1])
    for i in range(1, end):
        place += step
        step = _distance(weights, corners[i], corners[i + 1])
        share = place / length if length > 0.0 else 0.0
        for j in range(corners.shape[1]):
            if is_straight[j]:
                corners[i, j] = corners[0, j] + share * (corners[end, j] - corners[0, j])


@kernel
def _length(corners: Array, weights: Array, count: int) -> float:
    """Length of the path over the first corners."""
    length = 0.0
    for i in range(count - 1):
        length += _distance(weights, corners[i], corners[i + 1])
    return length


@kernel
def _distance(weights: Array, q: Array, q_next: Array) -> float:
    """Length of the edge between two configurations."""
    squared = 0.0
    for j in range(q.shape[0]):
        away = (q_next[j] - q[j]) * weights[j]
        squared += away * away
    return math.sqrt(squared)


@kernel
def conclude(corners: Array, state: Indices, shortcut: Array, is_free: bool) -> None:
    """Put the shortcut into the path if it is free; `corners` has room for `GROWTH` more."""
    if not is_free:
        state[FRUITLESS] += 1
        return
    first, last, rows, count = state[FIRST], state[LAST], state[ROWS], state[COUNT]
    shift = rows - (last - first)
    state[FRUITLESS], state[COUNT] = 0, count + shift
    for k in range(count - 1 - last):
        i = last + 1 + k if shift < 0 else count - 1 - k
        for j in range(shortcut.shape[1]):
            corners[i + shift, j] = corners[i, j]
    for i in range(rows):
        for j in range(shortcut.shape[1]):
            corners[first + 1 + i, j] = shortcut[i, j]


@nogil_kernel
def shorten(
    corners: Array,
    weights: Array,
    samples: Array,
    straight: Choices,
    state: Indices,
    shortcut: Array,
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
    corners, weights, samples, straight, state, shortcut
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
        is_shorter = propose(corners, weights, samples, straight, state, shortcut)
        is_free = is_shorter and is_curve_free(
            shortcut[: state[ROWS]], model, values, frames, points, solids, vertices, starts,
            bins, candidates, faces, margins, boxes, pairs, motion_bounds, order, least, ends,
            resolution, piece, parts, pair_rows, centres, directions, memory, nodes, scratch,
            stop,
        )  # fmt: skip
        conclude(corners, state, shortcut, is_free)
    return not is_over(samples, state)
