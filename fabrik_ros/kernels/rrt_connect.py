"""
RRT-Connect: two trees grow, from a start and from goals, and try to meet.

The algorithm of Kuffner and LaValle (2000). A tree grows by an edge towards a random place; then
the other one grows towards the new configuration, until it is there or an edge is not free. Then
they change roles. One edge after the other is proposed, and grown if it is free.

"""

import math

import numpy as np
import numpy.typing as npt

from ..transforms import Array
from ._jit import kernel, nogil_kernel
from .free_edges import is_edge_free, Numbers
from .separation import Indices

START, GOALS = 0, 1
"""The trees."""
ROOT = -1
"""In the place of what a root is reached from [1]."""
TREE, CONNECTS, NEAREST, USED, DRAWN, HAS_ASKED, STATES = 2, 3, 4, 5, 6, 7, 8
"""
Of the state, behind the sizes of both trees: the tree whose turn it is, whether the other one
grows towards it, what the proposed edge begins at, how many samples are used up, how many goals
there are, and whether another one was asked for.
"""
FROM, TO, TOWARDS, EDGE_ROWS = 0, 1, 2, 3
"""Rows of the proposed edge: its ends, and where it leads."""
EDGE, MET, GOAL_WANTED, SAMPLES_WANTED, ROOM_WANTED = 0, 1, 2, 3, 4
"""What comes next: to look at the edge, nothing, to give a goal, samples or larger trees."""
SHARE_OF_GOALS = 0.2
"""Goals are asked for until they are so large a part of their tree [1]."""

Parents = npt.NDArray[np.int64]


@kernel
def propose(
    lower: Array,
    upper: Array,
    weights: Array,
    longest: float,
    samples: Array,
    trees: Array,
    state: Indices,
    edge: Array,
) -> int:
    """
    Write the next edge; return `EDGE`, or what is wanted before.

    Parameters
    ----------
    lower, upper : array, shape (n,)
        Between which joint values to search [rad or m].
    weights : array, shape (n,)
        How much a unit of each joint counts in the distance of two configurations.
    longest : float
        Length of the longest edge, in these units.
    samples : array, shape (k, n)
        Random places, as shares of the way from `lower` to `upper` [1].
    trees : array, shape (2, m, n)
        Configurations of the trees.
    state : array of int, shape (STATES,)
        See `TREE`.
    edge : array, shape (EDGE_ROWS, n)
        Where the edge is written to.

    """
    is_due = not state[HAS_ASKED] and state[DRAWN] <= SHARE_OF_GOALS * state[GOALS]
    if state[DRAWN] == 0 or (not state[CONNECTS] and is_due):
        return GOAL_WANTED
    tree = 1 - state[TREE] if state[CONNECTS] else state[TREE]
    if state[tree] == trees.shape[1]:
        return ROOM_WANTED
    if not state[CONNECTS]:
        if state[USED] == samples.shape[0]:
            return SAMPLES_WANTED
        for j in range(lower.shape[0]):
            edge[TOWARDS, j] = lower[j] + samples[state[USED], j] * (upper[j] - lower[j])
        state[USED] += 1
    state[NEAREST] = _nearest(weights, trees[tree], state[tree], edge[TOWARDS])
    _cut(lower, upper, weights, longest, trees[tree, state[NEAREST]], edge)
    return EDGE


@kernel
def _nearest(weights: Array, nodes: Array, count: int, q: Array) -> int:
    """Return the number of the nearest of the first `count` configurations."""
    nearest, least = 0, math.inf
    for i in range(count):
        squared = 0.0
        for j in range(q.shape[0]):
            away = (nodes[i, j] - q[j]) * weights[j]
            squared += away * away
        if squared < least:
            nearest, least = i, squared
    return nearest


@kernel
def _cut(
    lower: Array, upper: Array, weights: Array, longest: float, q: Array, edge: Array
) -> None:
    """Write the beginning of the way from `q` towards a place, as long as an edge may be."""
    squared = 0.0
    for j in range(q.shape[0]):
        away = (edge[TOWARDS, j] - q[j]) * weights[j]
        squared += away * away
    length = math.sqrt(squared)
    for j in range(q.shape[0]):
        edge[FROM, j] = q[j]
        if length <= longest:
            edge[TO, j] = edge[TOWARDS, j]
        else:  # rounding may lead beyond the limits
            there = q[j] + longest / length * (edge[TOWARDS, j] - q[j])
            edge[TO, j] = min(max(there, lower[j]), upper[j])


@kernel
def conclude(trees: Array, parents: Parents, state: Indices, edge: Array, is_free: bool) -> bool:
    """
    Grow a tree by the proposed edge if it is free; return whether the trees have met.

    They have met in their last configurations. `parents`, shape (2, m), are what these were
    reached from.

    """
    if not is_free:
        state[TREE], state[CONNECTS], state[HAS_ASKED] = 1 - state[TREE], 0, 0
        return False
    tree = 1 - state[TREE] if state[CONNECTS] else state[TREE]
    has_arrived = True
    for j in range(edge.shape[1]):
        trees[tree, state[tree], j] = edge[TO, j]
        has_arrived = has_arrived and edge[TO, j] == edge[TOWARDS, j]
    parents[tree, state[tree]] = state[NEAREST]
    state[tree] += 1
    if state[CONNECTS]:
        return has_arrived
    state[CONNECTS] = 1
    for j in range(edge.shape[1]):
        edge[TOWARDS, j] = edge[TO, j]
    return False


@nogil_kernel
def grow(
    lower: Array,
    upper: Array,
    weights: Array,
    longest: float,
    samples: Array,
    trees: Array,
    parents: Parents,
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
) -> int:
    """
    Propose edges, look at them and grow the trees.

    Parameters
    ----------
    lower, upper, weights, longest, samples, trees, state, edge
        See `propose`.
    parents : array of int, shape (2, m)
        See `conclude`.
    most : int
        Number of edges to look at.
    model, values, frames, points, solids, vertices, starts, bins, candidates, faces : array
        See `is_edge_free`.
    margins, boxes, pairs, motion_bounds, order, least, ends, resolution, piece, parts
        See there.
    pair_rows, centres, directions, memory, nodes, scratch, stop : array
        See there.

    Returns
    -------
    int
        `EDGE` if there is another edge to look at, or what comes next. Once stopped, `EDGE`.

    """
    for _ in range(most):
        wanted = propose(lower, upper, weights, longest, samples, trees, state, edge)
        if wanted != EDGE:
            return wanted
        is_free = is_edge_free(
            edge[FROM], edge[TO], model, values, frames, points, solids, vertices, starts, bins,
            candidates, faces, margins, boxes, pairs, motion_bounds, order, least, ends,
            resolution, piece, parts, pair_rows, centres, directions, memory, nodes, scratch,
            stop,
        )  # fmt: skip
        if stop[0]:
            return EDGE
        if conclude(trees, parents, state, edge, is_free):
            return MET
    return EDGE
