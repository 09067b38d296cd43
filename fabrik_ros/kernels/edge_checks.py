"""
Whether solids come near each other on a straight edge in joint space.

A part of the edge is free if every pair is farther apart in the middle than the joints can bring
it together from there to the ends. Other parts are halved, the longest first, so that a collision
is found early.

"""

import numpy as np
import numpy.typing as npt

from ..transforms import Array
from . import tree_kinematics
from ._jit import kernel
from .convex_gaps import gap, gap_of_bounds, SIDE

MOST_PARTS = 8192
"""Parts that are waiting to be looked at, at most [1]."""


@kernel
def first_near(
    model: Array,
    values: Array,
    frames: Array,
    points: Array,
    solids: Array,
    pairs: npt.NDArray[np.intp],
    motion_bounds: Array,
    least: Array,
    q: Array,
    half: Array,
    directions: Array,
    memory: Array,
) -> int:
    """
    Return the number of a pair that may come too near around a configuration.

    Parameters
    ----------
    model, values, frames : array
        Rows of joints and solids, all joint values, and memory for frames; see `SolidFrames`. The
        first joint values are written over.
    points, solids : array
        See `gap`.
    pairs : array of int, shape (p, 2)
        Numbers of solids.
    motion_bounds : array, shape (p, n)
        Largest change of each distance for a unit of each joint value.
    least : array, shape (p,)
        Distance that each pair must keep [m].
    q, half : array, shape (n,)
        Joint values, and how far the joints may be from them [rad or m].
    directions : array, shape (p, 3)
        Where the gap of each pair was found last; written to.
    memory : array
        See `gap`.

    Returns
    -------
    int
        -1 where no pair comes near within `half` of the configuration. `p` where pair number `p`
        is near at the configuration itself. `-2 - p` where it may come near around it.

    """
    for j in range(q.shape[0]):
        values[j] = q[j]
    tree_kinematics.tree_link_frames(model, values, frames)
    placed = frames[model.shape[0] - solids.shape[0] :]
    undecided = -1
    for p in range(pairs.shape[0]):
        a, b = pairs[p, 0], pairs[p, 1]
        enough = least[p]
        for j in range(q.shape[0]):
            enough += motion_bounds[p, j] * half[j]
        if gap_of_bounds(solids, placed, a, b, memory[SIDE]) > enough:
            continue
        if undecided >= 0:
            enough = least[p]
        found = gap(points, solids, placed, a, b, enough, least[p], directions[p], memory)
        if found <= least[p]:
            return p
        if found <= enough and undecided < 0:
            undecided = p
    return -1 if undecided < 0 else -2 - undecided


@kernel
def near_on_edge(
    model: Array,
    values: Array,
    frames: Array,
    points: Array,
    solids: Array,
    pairs: npt.NDArray[np.intp],
    motion_bounds: Array,
    least: Array,
    q: Array,
    q_next: Array,
    resolution: float,
    rows: Array,
    parts: Array,
    directions: Array,
    memory: Array,
) -> int:
    """
    Return the number of a pair that may come too near between two configurations; -1 if none.

    Parameters
    ----------
    model, values, frames, points, solids, pairs, motion_bounds, least, directions, memory : array
        See `first_near`.
    q, q_next : array, shape (n,)
        The ends of the edge [rad or m].
    resolution : float
        A part on which no pair can come nearer by more than this is not halved [m].
    rows : array, shape (2, n)
        Written over.
    parts : array, shape (MOST_PARTS, 2)
        Written over.

    """
    parts[0, 0], parts[0, 1] = 0.0, 1.0
    here, end = 0, 1
    while here != end:
        begin, finish = parts[here, 0], parts[here, 1]
        here = (here + 1) % parts.shape[0]
        middle = 0.5 * (begin + finish)
        for j in range(q.shape[0]):
            way = q_next[j] - q[j]
            rows[0, j] = q[j] + middle * way
            rows[1, j] = 0.5 * (finish - begin) * abs(way)
        near = first_near(
            model, values, frames, points, solids, pairs, motion_bounds, least, rows[0], rows[1],
            directions, memory,
        )  # fmt: skip
        if near >= 0:
            return near
        if near == -1:
            continue
        p = -2 - near
        closing = 0.0
        for j in range(q.shape[0]):
            closing += motion_bounds[p, j] * rows[1, j]
        after = (end + 2) % parts.shape[0]
        if closing <= resolution or after == here or (end + 1) % parts.shape[0] == here:
            return p
        parts[end, 0], parts[end, 1] = begin, middle
        second = (end + 1) % parts.shape[0]
        parts[second, 0], parts[second, 1] = middle, finish
        end = after
    return -1


@kernel
def free_share(
    model: Array,
    values: Array,
    frames: Array,
    points: Array,
    solids: Array,
    pairs: npt.NDArray[np.intp],
    motion_bounds: Array,
    least: Array,
    q: Array,
    q_next: Array,
    shortest: float,
    rows: Array,
    parts: Array,
    directions: Array,
    memory: Array,
) -> float:
    """
    Return the share of an edge, from its beginning, on which no pair comes too near.

    Parameters
    ----------
    model, values, frames, points, solids, pairs, motion_bounds, least, directions, memory : array
        See `first_near`.
    q, q_next : array, shape (n,)
        The ends of the edge [rad or m].
    shortest : float
        Share of a part that is not halved any more: what is free by less counts as blocked.
    rows : array, shape (2, n)
        Written over.
    parts : array, shape (m, 2)
        Written over; m is more than the number of times that an edge can be halved.

    """
    parts[0, 0], parts[0, 1] = 0.0, 1.0
    count, until = 1, 1.0
    while count > 0:
        count -= 1
        begin, finish = parts[count, 0], parts[count, 1]
        middle = 0.5 * (begin + finish)
        for j in range(q.shape[0]):
            way = q_next[j] - q[j]
            rows[0, j] = q[j] + middle * way
            rows[1, j] = 0.5 * (finish - begin) * abs(way)
        near = first_near(
            model, values, frames, points, solids, pairs, motion_bounds, least, rows[0], rows[1],
            directions, memory,
        )  # fmt: skip
        if near == -1:
            continue
        if finish - begin <= shortest:
            return float(begin)
        if near >= 0:  # what lies behind is out of the question
            count, until = 0, middle
        else:
            parts[count, 0], parts[count, 1] = middle, finish
            count += 1
        parts[count, 0], parts[count, 1] = begin, middle
        count += 1
    return until
