"""
Gaps between convex solids: bounds of their distance that hold whatever the search for them does.

A solid is the convex hull of points, widened by a disc about z and then by a ball: a box has eight
points, a cylinder two and a disc, a capsule two and a ball; a half space has none. Seen
along any direction, the gap between two solids is no longer than their distance; the algorithm of
Gilbert, Johnson and Keerthi (1988) looks for the direction along which it is longest. Closest
points of triangles are found as by Ericson, "Real-Time Collision Detection" (2005), section 5.1.5.

"""

import math

from ..transforms import Array
from ._jit import kernel
from .arm_table import POSITION
from .separation import bin_of, Indices

FIRST, COUNT, DISC, BALL, RADIUS, CENTRE, HALF_SIZE = 0, 1, 2, 3, 4, 5, 8
"""
Columns of a solid: its first point, how many, radii of its disc and ball; radius of a ball around
it, and half the size of a box around it, each about the centre [m].
"""
COLUMNS = HALF_SIZE + 3
ROWS = 12
"""Of the memory for one gap, of three numbers each: corners, three places, and more corners."""
NEAREST, SUPPORT, SIDE, KEPT = 4, 5, 6, 8
"""Rows of that memory, after the four corners of a simplex of differences of points."""
FEW = 16
"""So many points are looked at one after the other [1]."""
OF_CANDIDATES = 1
"""Column of where what belongs to a solid begins: its candidates."""
MOST_STEPS = 40
CONVERGED = 1e-9
"""A step that can gain a smaller share of the squared distance is the last [1]."""
TOUCHING = 1e-18
"""At a smaller squared distance two solids touch [m^2]."""
FLAT = 1e-12
"""A tetrahedron is flat if its volume is a smaller share of the cube of its edges [1]."""


@kernel
def gap(
    points: Array,
    starts: Indices,
    bins: Indices,
    candidates: Indices,
    solids: Array,
    frames: Array,
    a: int,
    b: int,
    enough: float,
    least: float,
    slack: float,
    direction: Array,
    memory: Array,
) -> float:
    """
    Return the gap between solids `a` and `b`, as far as it is asked for [m].

    More than `enough`: they are farther apart than that. At most `least`: they are not farther
    apart than that, as far as one can tell. Else it is their distance, or a little less: what it
    is beyond `least` may be less by the share `slack`.

    Parameters
    ----------
    points : array, shape (., 3)
        Of all solids, each in its own frame [m].
    starts, bins, candidates : array of int
        Which points of a solid with more than `FEW` may be farthest out, by direction: see
        `gap_to_cells`.
    solids : array, shape (g, COLUMNS)
        The solids.
    frames : array, shape (g, 12)
        Where they are.
    a, b : int
        Numbers of two.
    enough, least, slack : float
        See above [m], [m], [1].
    direction : array, shape (3,)
        Where to look first, from `b` to `a`, not zero; where the gap was found is written to it.
    memory : array, shape (ROWS, 3)
        Written over.

    """
    if solids[b, COUNT] == 0.0:
        return _above(points, starts, bins, candidates, solids, frames, a, b, memory)
    if solids[a, COUNT] == 0.0:
        return _above(points, starts, bins, candidates, solids, frames, b, a, memory)
    balls = solids[a, BALL] + solids[b, BALL]
    nearest, support = memory[NEAREST], memory[SUPPORT]
    for k in range(3):
        nearest[k] = direction[k]
    count, found = 0, -math.inf
    for _ in range(MOST_STEPS):
        squared = _dot(nearest, nearest)
        if count > 0 and (squared < TOUCHING or math.sqrt(squared) - balls <= least):
            found = min(least, math.sqrt(squared) - balls)
            break
        _difference(
            points, starts, bins, candidates, solids, frames, a, b, nearest, memory[SIDE], support
        )
        along = _dot(nearest, support)
        found = max(found, along / math.sqrt(squared) - balls)
        if found > enough or (count > 0 and squared - along <= CONVERGED * squared):
            break
        distance = math.sqrt(squared) - balls  # or more than that
        if count > 0 and distance <= enough and distance - found <= slack * (distance - least):
            break
        for k in range(3):
            memory[count, k] = support[k]
        count = _nearest_of(memory, count + 1)
    if _dot(nearest, nearest) >= TOUCHING:
        for k in range(3):
            direction[k] = nearest[k]
    return found


@kernel
def gap_of_bounds(solids: Array, frames: Array, a: int, b: int, between: Array) -> float:
    """
    Return a lower bound of the distance of two solids by balls and boxes around them [m].

    `between`, shape (3,), is written over. Other parameters are those of `gap`.
    """
    squared = 0.0
    for k in range(3):
        between[k] = frames[a, POSITION + k] - frames[b, POSITION + k]
        for i in range(3):
            between[k] += frames[a, 3 * k + i] * solids[a, CENTRE + i]
            between[k] -= frames[b, 3 * k + i] * solids[b, CENTRE + i]
        squared += between[k] * between[k]
    balls = math.sqrt(squared) - solids[a, RADIUS] - solids[b, RADIUS]
    return float(max(balls, gap_of_boxes(solids, frames, a, b, between)))


@kernel
def gap_of_boxes(solids: Array, frames: Array, a: int, b: int, between: Array) -> float:
    """Return such a bound by a ball around one solid and a box around the other [m]."""
    to_b = _to_box(solids[b], frames[b], between) - solids[a, RADIUS]
    return float(max(to_b, _to_box(solids[a], frames[a], between) - solids[b, RADIUS]))


@kernel
def _to_box(solid: Array, frame: Array, away: Array) -> float:
    """Distance to the box around a solid from a place `away` from its centre, either way [m]."""
    squared = 0.0
    for k in range(3):
        along = frame[k] * away[0] + frame[3 + k] * away[1] + frame[6 + k] * away[2]
        outside = max(0.0, abs(along) - solid[HALF_SIZE + k])
        squared += outside * outside
    return math.sqrt(squared)


@kernel
def _above(
    points: Array,
    starts: Indices,
    bins: Indices,
    candidates: Indices,
    solids: Array,
    frames: Array,
    a: int,
    b: int,
    memory: Array,
) -> float:
    """Return how far above the half space `b` a solid is [m]."""
    lowest, up = memory[SUPPORT], memory[NEAREST]
    for k in range(3):
        lowest[k] = -frames[b, POSITION + k]
        up[k] = frames[b, 3 * k + 2]
    _add_farthest(
        points, starts, bins, candidates, solids, frames, a, up, -1.0, 1.0, memory[SIDE], lowest
    )
    return _dot(lowest, up) - float(solids[a, BALL])


@kernel
def _dot(a: Array, b: Array) -> float:
    return float(a[0] * b[0] + a[1] * b[1] + a[2] * b[2])


@kernel
def _difference(
    points: Array,
    starts: Indices,
    bins: Indices,
    candidates: Indices,
    solids: Array,
    frames: Array,
    a: int,
    b: int,
    direction: Array,
    side: Array,
    out: Array,
) -> None:
    """Write the point of `a` farthest against a direction, less that of `b` farthest along it."""
    for k in range(3):
        out[k] = 0.0
    _add_farthest(
        points, starts, bins, candidates, solids, frames, a, direction, -1.0, 1.0, side, out
    )
    _add_farthest(
        points, starts, bins, candidates, solids, frames, b, direction, 1.0, -1.0, side, out
    )


@kernel
def _add_farthest(
    points: Array,
    starts: Indices,
    bins: Indices,
    candidates: Indices,
    solids: Array,
    frames: Array,
    number: int,
    direction: Array,
    sense: float,
    sign: float,
    side: Array,
    out: Array,
) -> None:
    """Add the point of a solid farthest along `sense * direction`, times `sign`."""
    solid, frame = solids[number], frames[number]
    for k in range(3):
        side[k] = sense * (
            frame[k] * direction[0] + frame[3 + k] * direction[1] + frame[6 + k] * direction[2]
        )
    first, count = int(solid[FIRST]), int(solid[COUNT])
    best, farthest = first, -math.inf
    if count > FEW:
        square = bin_of(side[0], side[1], side[2])
        here = starts[number, OF_CANDIDATES]
        for c in range(here + bins[number, square], here + bins[number, square + 1]):
            i = first + candidates[c]
            along = points[i, 0] * side[0] + points[i, 1] * side[1] + points[i, 2] * side[2]
            if along > farthest:
                best, farthest = i, along
    else:
        for i in range(first, first + count):
            along = points[i, 0] * side[0] + points[i, 1] * side[1] + points[i, 2] * side[2]
            if along > farthest:
                best, farthest = i, along
    x, y, z = points[best, 0], points[best, 1], points[best, 2]
    across = math.sqrt(side[0] * side[0] + side[1] * side[1])
    if solid[DISC] > 0.0 and across > 0.0:
        x += solid[DISC] * side[0] / across
        y += solid[DISC] * side[1] / across
    for k in range(3):
        turned = frame[3 * k] * x + frame[3 * k + 1] * y + frame[3 * k + 2] * z
        out[k] += sign * (turned + frame[POSITION + k])


@kernel
def _nearest_of(memory: Array, count: int) -> int:
    """
    Write the point of a simplex nearest to the origin; return how many corners it needs.

    The corners are the first `count` rows of the memory; those that are needed come first then.
    """
    if count == 1:
        _mix(memory, 1.0, 0.0, 0.0, 0, 0, 0)
        return 1
    if count == 2:
        return _keep(memory, _on_edge(memory, 0, 1), 0, 1, 1)
    if count == 3:
        return _keep(memory, _on_triangle(memory, 0, 1, 2), 0, 1, 2)
    return _on_tetrahedron(memory)


@kernel
def _mix(memory: Array, u: float, v: float, w: float, a: int, b: int, c: int) -> None:
    """Write the point with these shares of three corners."""
    for k in range(3):
        memory[NEAREST, k] = u * memory[a, k] + v * memory[b, k] + w * memory[c, k]


@kernel
def _keep(memory: Array, needed: int, a: int, b: int, c: int) -> int:
    """Keep those of three corners whose bits, 1, 2 and 4, are set; return how many."""
    count = 0
    for bit in range(3):
        if needed & (1 << bit):
            corner = a if bit == 0 else (b if bit == 1 else c)
            for k in range(3):
                memory[KEPT + count, k] = memory[corner, k]
            count += 1
    for i in range(count):
        for k in range(3):
            memory[i, k] = memory[KEPT + i, k]
    return count


@kernel
def _on_edge(memory: Array, a: int, b: int) -> int:
    """Write the point of an edge nearest to the origin; return bits of the corners it needs."""
    along = squared = 0.0
    for k in range(3):
        edge = memory[b, k] - memory[a, k]
        along -= memory[a, k] * edge
        squared += edge * edge
    if along <= 0.0:
        _mix(memory, 1.0, 0.0, 0.0, a, b, b)
        return 1
    if along >= squared:
        _mix(memory, 0.0, 1.0, 0.0, a, b, b)
        return 2
    share = along / squared
    _mix(memory, 1.0 - share, share, 0.0, a, b, b)
    return 3


@kernel
def _on_triangle(memory: Array, a: int, b: int, c: int) -> int:
    """Do the same for a triangle."""
    d1 = d2 = d3 = d4 = d5 = d6 = 0.0
    for k in range(3):
        ab, ac = memory[b, k] - memory[a, k], memory[c, k] - memory[a, k]
        d1 -= memory[a, k] * ab
        d2 -= memory[a, k] * ac
        d3 -= memory[b, k] * ab
        d4 -= memory[b, k] * ac
        d5 -= memory[c, k] * ab
        d6 -= memory[c, k] * ac
    u, v, w, needed = 1.0, 0.0, 0.0, 1
    va, vb, vc = d3 * d6 - d5 * d4, d5 * d2 - d1 * d6, d1 * d4 - d3 * d2
    if d1 <= 0.0 and d2 <= 0.0:
        needed = 1
    elif d3 >= 0.0 and d4 <= d3:
        u, v, needed = 0.0, 1.0, 2
    elif vc <= 0.0 and d1 >= 0.0 and d3 <= 0.0:
        v = d1 / (d1 - d3) if d1 > d3 else 0.0
        u, needed = 1.0 - v, 3
    elif d6 >= 0.0 and d5 <= d6:
        u, w, needed = 0.0, 1.0, 4
    elif vb <= 0.0 and d2 >= 0.0 and d6 <= 0.0:
        w = d2 / (d2 - d6) if d2 > d6 else 0.0
        u, needed = 1.0 - w, 5
    elif va <= 0.0 and d4 >= d3 and d5 >= d6:
        across = (d4 - d3) + (d5 - d6)
        w = (d4 - d3) / across if across > 0.0 else 0.0
        u, v, needed = 0.0, 1.0 - w, 6
    else:
        v, w = vb / (va + vb + vc), vc / (va + vb + vc)
        u, needed = 1.0 - v - w, 7
    _mix(memory, u, v, w, a, b, c)
    return needed


@kernel
def _on_tetrahedron(memory: Array) -> int:
    """Write the point of a tetrahedron nearest to the origin; return how many corners it needs."""
    best, needed, face = math.inf, 0, 0
    for without in range(4):
        a, b, c = (without + 1) % 4, (without + 2) % 4, (without + 3) % 4
        if _is_outside(memory, a, b, c, without):
            bits = _on_triangle(memory, a, b, c)
            squared = _dot(memory[NEAREST], memory[NEAREST])
            if squared < best:
                best, needed, face = squared, bits, without
                for k in range(3):
                    memory[KEPT + 3, k] = memory[NEAREST, k]
    if needed == 0:  # the origin is inside
        for k in range(3):
            memory[NEAREST, k] = 0.0
        return 4
    for k in range(3):
        memory[NEAREST, k] = memory[KEPT + 3, k]
    return _keep(memory, needed, (face + 1) % 4, (face + 2) % 4, (face + 3) % 4)


@kernel
def _is_outside(memory: Array, a: int, b: int, c: int, opposite: int) -> bool:
    """Whether the origin is on the other side of a face than the corner opposite to it."""
    origin = inside = length = 0.0
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        normal = (memory[b, i] - memory[a, i]) * (memory[c, j] - memory[a, j]) - (
            memory[b, j] - memory[a, j]
        ) * (memory[c, i] - memory[a, i])
        origin -= normal * memory[a, k]
        inside += normal * (memory[opposite, k] - memory[a, k])
        length = max(length, abs(memory[opposite, k] - memory[a, k]))
        length = max(length, abs(memory[b, k] - memory[a, k]))
    return origin * inside <= 0.0 or abs(inside) <= FLAT * length * length * length
