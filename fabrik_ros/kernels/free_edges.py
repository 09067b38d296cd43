"""
Whether straight edges in joint space are free, for a search that looks at thousands of them.

An edge is looked at where it ends and in its middle, then amid its halves, and so on: most of what
is not free shows there. At each place pairs are measured that may be near at it, or on the part of
the edge around it. What was found at one place says how far around it a pair is free, by bounds of
how far joints can move solids, so most pairs are measured at few places.

"""

import math

import numpy as np
import numpy.typing as npt

from ..transforms import Array
from . import tree_kinematics
from ._jit import kernel, nogil_kernel
from .arm_table import POSITION
from .cell_tree import gap_to_cells
from .convex_gaps import CENTRE, gap, gap_of_boxes, RADIUS, SIDE
from .separation import Indices

RATE, KNOWN, AT, ROWS = 0, 1, 2, 3
"""
Rows of what is known of pairs: how much nearer they can come on the whole edge, a distance that
they have at least [m], and at which share of the edge [1].
"""
PIECES = 3
"""Of an edge: near its ends, and between [1]."""
NEAR_END = 0.05
"""Distance from an end of a path within which pairs may be as near as there [rad or m]."""
MOST_PARTS = 1024
"""Parts of an edge that are waiting to be looked at, at most [1]."""
FREE, UNDECIDED = -1, -2
"""In the place of a pair that is near: none comes near on a part of an edge, or some may."""
SLACK = 0.5
"""Pairs have up to this much more beyond what they must keep than is found, as a share [1]."""
FINE_SLACK = 0.1
"""The same where it matters how far an edge is free [1]."""
SHORTENED = 0.02
"""Share by which an edge on which a pair is near gets shorter, at least [1]."""
ERROR = 1e-5
"""Bound of the error of a gap [m]."""

Numbers = npt.NDArray[np.intp]


@nogil_kernel
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
    order: Numbers,
    least: Array,
    resolution: float,
    q: Array,
    q_next: Array,
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
    Return the number of a pair that may come too near on a straight edge; -1 if none.

    Parameters
    ----------
    model, values, frames, points, solids, vertices, starts, bins, candidates, faces : array
        See `edge_checks.first_near`.
    margins, boxes, pairs, motion_bounds, directions, memory, nodes, scratch : array
        See there.
    order : array of int, shape (k,)
        The pairs that are looked at. One that is near goes to the front: it often is again.
    least : array, shape (p,)
        Distance that each pair must keep, not negative [m].
    resolution : float
        Where a pair can come nearer by no more than this, it is not looked at more closely [m].
    q, q_next : array, shape (n,)
        The ends of the edge [rad or m].
    parts : array, shape (MOST_PARTS, 2)
        Written over.
    pair_rows : array, shape (ROWS, p)
        Written over.
    centres : array, shape (g, 3)
        Written over.
    stop : array of int, shape (1,)
        Other than 0 once the search is over; it may become so at any time, by another thread.
        From then on pairs count as near.

    """
    _begin(motion_bounds, order, q, q_next, pair_rows)
    parts[0, 0], parts[0, 1] = 1.0, 0.0
    parts[1, 0], parts[1, 1] = 0.5, 0.5
    here, end = 0, 2
    while here != end:
        if stop[0]:
            return 0
        share, half = parts[here, 0], parts[here, 1]
        here = (here + 1) % parts.shape[0]
        near = _look(
            model, values, frames, points, solids, vertices, starts, bins, candidates, faces,
            margins, boxes, pairs, order, least, resolution, q, q_next, share, half, pair_rows,
            centres, directions, memory, nodes, scratch,
        )  # fmt: skip
        if near >= 0:
            return _move_to_front(order, near)
        if near <= UNDECIDED:
            second, after = (end + 1) % parts.shape[0], (end + 2) % parts.shape[0]
            if second == here or after == here:
                return _move_to_front(order, UNDECIDED - near)
            parts[end, 0], parts[end, 1] = share - 0.5 * half, 0.5 * half
            parts[second, 0], parts[second, 1] = share + 0.5 * half, 0.5 * half
            end = after
    return -1


@nogil_kernel
def is_edge_free(
    q: Array,
    q_next: Array,
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
    Whether no pair comes too near on a straight edge, where pairs may be nearer near some places.

    Parameters
    ----------
    q, q_next : array, shape (n,)
        The ends of the edge [rad or m].
    least : array, shape (1 + e, p)
        Distances that pairs must keep elsewhere, and near each of the places [m].
    ends : array, shape (e, n)
        The places [rad or m].
    piece : array, shape (2, n)
        Written over.
    model, values, frames, points, solids, vertices, starts, bins, candidates, faces : array
        See `first_near`.
    margins, boxes, pairs, motion_bounds, order, resolution, parts, pair_rows : array
        See there.
    centres, directions, memory, nodes, scratch, stop : array
        See there.

    """
    for number in range(PIECES):
        begin, finish, row = piece_of_edge(ends, q, q_next, number)
        if begin >= finish:
            continue
        for j in range(q.shape[0]):
            piece[0, j] = q[j] + begin * (q_next[j] - q[j]) if begin > 0.0 else q[j]
            piece[1, j] = q[j] + finish * (q_next[j] - q[j]) if finish < 1.0 else q_next[j]
        near = first_near(
            model, values, frames, points, solids, vertices, starts, bins, candidates, faces,
            margins, boxes, pairs, motion_bounds, order, least[row], resolution, piece[0],
            piece[1], parts, pair_rows, centres, directions, memory, nodes, scratch, stop,
        )  # fmt: skip
        if near >= 0:
            return False
    return True


@nogil_kernel
def is_curve_free(
    knots: Array,
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
    """Whether straight edges between knots, shape (m, n), are free; see `is_edge_free`."""
    for i in range(knots.shape[0] - 1):
        if not is_edge_free(
            knots[i], knots[i + 1], model, values, frames, points, solids, vertices, starts, bins,
            candidates, faces, margins, boxes, pairs, motion_bounds, order, least, ends,
            resolution, piece, parts, pair_rows, centres, directions, memory, nodes, scratch,
            stop,
        ):  # fmt: skip
            return False
    return True


@kernel
def piece_of_edge(ends: Array, q: Array, q_next: Array, number: int) -> tuple[float, float, int]:
    """
    Return where a piece of an edge begins and finishes, and which row of distances holds on it.

    Number 0 is what is not near any of the places; it may be all of the edge, or none. The others
    are near the place that `q` or `q_next` is near, and may be none.
    """
    first, last = _place_near(ends, q), _place_near(ends, q_next)
    length = 0.0
    for j in range(q.shape[0]):
        length = max(length, abs(q_next[j] - q[j]))
    share = min(NEAR_END / max(length, NEAR_END), 0.5 if first >= 0 and last >= 0 else 1.0)
    begin = share if first >= 0 else 0.0
    finish = 1.0 - share if last >= 0 else 1.0
    if number == 0:
        return begin, finish, 0
    return (0.0, begin, first + 1) if number == 1 else (finish, 1.0, last + 1)


@kernel
def _place_near(ends: Array, q: Array) -> int:
    """Return the number of the place nearest to `q`, if it is near enough; else -1."""
    nearest, least = -1, NEAR_END
    for i in range(ends.shape[0]):
        away = 0.0
        for j in range(q.shape[0]):
            away = max(away, abs(ends[i, j] - q[j]))
        if away < least or (away == least and nearest < 0):
            nearest, least = i, away
    return nearest


@kernel
def _begin(
    motion_bounds: Array, order: Numbers, q: Array, q_next: Array, pair_rows: Array
) -> None:
    """Write how much nearer pairs can come on an edge, of which nothing is known yet."""
    for k in range(order.shape[0]):
        p, rate = order[k], 0.0
        for j in range(q.shape[0]):
            rate += motion_bounds[p, j] * abs(q_next[j] - q[j])
        pair_rows[RATE, p], pair_rows[KNOWN, p], pair_rows[AT, p] = rate, -math.inf, 0.0


@kernel
def _move_to_front(order: Numbers, place: int) -> int:
    """Move a pair to the front of the order; return its number."""
    p = order[place]
    for k in range(place, 0, -1):
        order[k] = order[k - 1]
    order[0] = p
    return int(p)


@kernel
def _look(
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
    order: Numbers,
    least: Array,
    resolution: float,
    q: Array,
    q_next: Array,
    share: float,
    half: float,
    pair_rows: Array,
    centres: Array,
    directions: Array,
    memory: Array,
    nodes: Indices,
    scratch: Array,
) -> int:
    """
    Look at the part of an edge around a share; return the place in the order of a near pair.

    `FREE` if there is none, and `UNDECIDED` less the place of a pair that may be near on the part.
    """
    placed = frames[model.shape[0] - solids.shape[0] :]
    is_placed, result = False, FREE
    for k in range(order.shape[0]):
        p = order[k]
        rate = pair_rows[RATE, p]
        enough = least[p] + half * rate
        if pair_rows[KNOWN, p] - rate * abs(share - pair_rows[AT, p]) > enough:
            continue
        if not is_placed:
            _place(model, values, frames, solids, q, q_next, share, centres)
            is_placed = True
        found = _gap(
            points, solids, vertices, starts, bins, candidates, faces, margins, boxes, placed,
            centres, pairs[p, 0], pairs[p, 1], enough, least[p], SLACK, directions[p], memory,
            nodes, scratch,
        )  # fmt: skip
        if found <= least[p]:
            return k
        if found <= enough:
            if half * rate <= resolution:
                return k
            result = UNDECIDED - k
        pair_rows[KNOWN, p], pair_rows[AT, p] = found - ERROR, share
    return result


@kernel
def _place(
    model: Array,
    values: Array,
    frames: Array,
    solids: Array,
    q: Array,
    q_next: Array,
    share: float,
    centres: Array,
) -> None:
    """Write where the solids are at a share of an edge, and their centres."""
    for j in range(q.shape[0]):
        values[j] = q[j] + share * (q_next[j] - q[j])
    tree_kinematics.tree_link_frames(model, values, frames)
    placed = frames[model.shape[0] - solids.shape[0] :]
    for i in range(solids.shape[0]):
        x, y, z = solids[i, CENTRE], solids[i, CENTRE + 1], solids[i, CENTRE + 2]
        for r in range(3):
            turned = placed[i, 3 * r] * x + placed[i, 3 * r + 1] * y + placed[i, 3 * r + 2] * z
            centres[i, r] = placed[i, POSITION + r] + turned


@kernel
def _gap(
    points: Array,
    solids: Array,
    vertices: Array,
    starts: Indices,
    bins: Indices,
    candidates: Indices,
    faces: Array,
    margins: Array,
    boxes: Array,
    placed: Array,
    centres: Array,
    a: int,
    b: int,
    enough: float,
    least: float,
    slack: float,
    direction: Array,
    memory: Array,
    nodes: Indices,
    scratch: Array,
) -> float:
    """Return the gap of two solids, as far as it is asked for; see `gap` and `gap_to_cells`."""
    between, squared = memory[SIDE], 0.0
    for k in range(3):
        between[k] = centres[a, k] - centres[b, k]
        squared += between[k] * between[k]
    found = math.sqrt(squared) - solids[a, RADIUS] - solids[b, RADIUS]
    if found > enough:
        return float(found)
    found = gap_of_boxes(solids, placed, a, b, between)
    if found > enough:
        return float(found)
    if boxes.shape[0] > 0:
        return gap_to_cells(
            vertices, starts, bins, candidates, faces, margins, placed[a], boxes, a, enough,
            least, nodes, scratch,
        )  # fmt: skip
    return gap(
        points, starts, bins, candidates, solids, placed, a, b, enough, least, slack, direction,
        memory,
    )  # fmt: skip


@nogil_kernel
def free_share(
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
    resolution: float,
    q: Array,
    q_next: Array,
    until: Array,
    parts: Array,
    pair_rows: Array,
    centres: Array,
    directions: Array,
    memory: Array,
    nodes: Indices,
    scratch: Array,
    stop: Indices,
) -> float:
    """
    Return the share of an edge, from its beginning, on which no pair comes too near.

    A pair that is near shortens the edge to what is free of it, until none is near. The pair that
    was near last comes first. `until`, shape (n,), is written over; other parameters are those of
    `first_near`.

    """
    share = 1.0
    near = order[0] if order.shape[0] > 0 else -1
    most = 1.0
    while near >= 0 and share > 0.0 and not stop[0]:
        share = _share_free_of(
            model, values, frames, points, solids, vertices, starts, bins, candidates, faces,
            margins, boxes, pairs, motion_bounds, near, least, resolution, q, q_next, most,
            centres, directions, memory, nodes, scratch, stop,
        )  # fmt: skip
        for j in range(q.shape[0]):
            until[j] = q[j] + share * (q_next[j] - q[j])
        near = first_near(
            model, values, frames, points, solids, vertices, starts, bins, candidates, faces,
            margins, boxes, pairs, motion_bounds, order, least, resolution, q, until, parts,
            pair_rows, centres, directions, memory, nodes, scratch, stop,
        )  # fmt: skip
        most = (1.0 - SHORTENED) * share
    return 0.0 if near >= 0 else share


@kernel
def _share_free_of(
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
    p: int,
    least: Array,
    resolution: float,
    q: Array,
    q_next: Array,
    most: float,
    centres: Array,
    directions: Array,
    memory: Array,
    nodes: Indices,
    scratch: Array,
    stop: Indices,
) -> float:
    """Return the share of an edge, at most `most`, that is free of a pair."""
    placed = frames[model.shape[0] - solids.shape[0] :]
    share, rate = 0.0, 0.0
    for j in range(q.shape[0]):
        rate += motion_bounds[p, j] * abs(q_next[j] - q[j])
    while share < most and not stop[0]:
        _place(model, values, frames, solids, q, q_next, share, centres)
        enough = least[p] + ERROR + (most - share) * rate
        found = _gap(
            points, solids, vertices, starts, bins, candidates, faces, margins, boxes, placed,
            centres, pairs[p, 0], pairs[p, 1], enough, least[p], FINE_SLACK, directions[p],
            memory, nodes, scratch,
        )  # fmt: skip
        if found > enough:
            return most
        spare = found - ERROR - least[p]
        if spare <= resolution:
            return share
        share += spare / rate
    return most
