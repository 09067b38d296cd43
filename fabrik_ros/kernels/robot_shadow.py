"""
What is within the padding of a robot, and what it hides from a sensor.

In all kernels the robot is `vertices`, `candidates`: cores of its g solids; `bins`, shape (g, .):
of each solid; `margins`, shape (g,): how far the solids reach beyond their cores [m]: see
`separation`. `frames`, shape (g, 12): where they are, rotation by rows and origin in the root
link [m]; `balls`, shape (g, 4): centres, in the root link, and radii of balls around them [m].

"""

import math

from ..transforms import Array
from ._jit import nogil_kernel
from .cell_tree import box_of_cell, Keys
from .point_binning import Flags, in_root, Numbers, Points
from .separation import Indices, separation

SCRATCH = (10, 6)
"""Shape of the memory that these kernels need."""


@nogil_kernel
def note_outward_directions(
    vertices: Array,
    bins: Indices,
    candidates: Indices,
    margins: Array,
    frames: Array,
    balls: Array,
    faces: Array,
    face_starts: Indices,
    keys: Keys,
    size: float,
    padding: float,
    scratch: Array,
    outwards: Array,
) -> None:
    """
    Write where out of the robot is, for cells that come within the padding of it.

    Parameters
    ----------
    vertices, bins, candidates, margins, frames, balls : array
        The robot: see above.
    faces : array, shape (., 4)
        Faces of all cores: see `overlap`.
    face_starts : array of int, shape (g + 1,)
        Where those of each solid begin, and where all end.
    keys : array of int, shape (m,)
        Numbers of the cells.
    size, padding : float
        Edge of a cell, and the padding [m].
    scratch : array, shape SCRATCH
        Scratch.
    outwards : array, shape (m, 3)
        Written to: unit vectors in the root link, away from the nearest solid; zero for cells
        that do not come within the padding of any.

    """
    simplex, box, middle, away = scratch[:5], scratch[5], scratch[6], scratch[7]
    for c in range(keys.shape[0]):
        box_of_cell(keys[c], size, box)
        nearest = math.inf
        for i in range(3):
            middle[i] = middle[3 + i] = 0.5 * (box[i] + box[3 + i])
            outwards[c, i] = 0.0
        for s in range(frames.shape[0]):
            within = padding + margins[s]
            if _ball_gap(box, balls[s]) > padding:
                continue
            _point_away(balls[s], middle, away)
            if (
                separation(
                    vertices,
                    bins[s],
                    candidates,
                    frames[s],
                    box,
                    middle,
                    False,
                    within,
                    within,
                    away,
                    simplex,
                )
                >= within
            ):
                continue
            gap = separation(
                vertices,
                bins[s],
                candidates,
                frames[s],
                middle,
                middle,
                False,
                math.inf,
                -1.0,
                away,
                simplex,
            )
            if gap < 0.0:
                first, last = face_starts[s], face_starts[s + 1]
                gap = _note_nearest_face(faces, first, last, frames[s], middle, away)
            if gap - margins[s] < nearest:
                nearest = gap - margins[s]
                length = math.sqrt(away[0] ** 2 + away[1] ** 2 + away[2] ** 2)
                for i in range(3):
                    outwards[c, i] = -away[i] / length


@nogil_kernel
def note_points_of_others(
    vertices: Array,
    bins: Indices,
    candidates: Indices,
    margins: Array,
    frames: Array,
    balls: Array,
    points: Points,
    pose: Array,
    outermost: Numbers,
    padding: float,
    scratch: Array,
    of_others: Flags,
) -> None:
    """
    Write which cells have a point that is not within the padding of the robot.

    Parameters
    ----------
    vertices, bins, candidates, margins, frames, balls : array
        The robot: see above.
    points, pose
        As for `bin_points`.
    outermost : array of int, shape (m,)
        Number of the point of each cell that decides; -1 where the robot is not near.
    padding : float
        Distance from a link at which points are its own [m].
    scratch : array, shape SCRATCH
        Scratch.
    of_others : array of bool, shape (m,)
        Written to.

    """
    box = scratch[5]
    for c in range(outermost.shape[0]):
        of_others[c] = True
        if outermost[c] >= 0:
            x, y, z = in_root(points, pose, outermost[c])
            box[0], box[1], box[2], box[3], box[4], box[5] = x, y, z, x, y, z
            for s in range(frames.shape[0]):
                if of_others[c] and _is_within(
                    vertices,
                    bins[s],
                    candidates,
                    margins[s],
                    frames[s],
                    balls[s],
                    box,
                    box,
                    False,
                    padding,
                    scratch,
                ):
                    of_others[c] = False


@nogil_kernel
def note_covered(
    vertices: Array,
    bins: Indices,
    candidates: Indices,
    margins: Array,
    frames: Array,
    balls: Array,
    keys: Keys,
    size: float,
    sensor: Array,
    padding: float,
    scratch: Array,
    covered: Flags,
) -> None:
    """
    Write which cells are within the padding of the robot, or seen only through that.

    Solids that have the sensor itself within their padding hide nothing from it.

    Parameters
    ----------
    vertices, bins, candidates, margins, frames, balls : array
        The robot: see above.
    keys : array of int, shape (m,)
        Numbers of the cells.
    size : float
        Edge of a cell [m].
    sensor : array, shape (6,)
        Where it is, twice [m].
    padding : float
        See above [m].
    scratch : array, shape SCRATCH
        Scratch.
    covered : array of bool, shape (m,)
        Written to, where it is False.

    """
    box = scratch[5]
    for s in range(frames.shape[0]):
        is_around_sensor = _is_within(
            vertices,
            bins[s],
            candidates,
            margins[s],
            frames[s],
            balls[s],
            sensor,
            sensor,
            False,
            padding,
            scratch,
        )
        for c in range(keys.shape[0]):
            if covered[c]:
                continue
            box_of_cell(keys[c], size, box)
            covered[c] = _is_within(
                vertices,
                bins[s],
                candidates,
                margins[s],
                frames[s],
                balls[s],
                box,
                sensor,
                not is_around_sensor,
                padding,
                scratch,
            )


@nogil_kernel
def _is_within(
    vertices: Array,
    bins: Indices,
    candidates: Indices,
    margin: float,
    frame: Array,
    ball: Array,
    box: Array,
    apex: Array,
    has_apex: bool,
    padding: float,
    scratch: Array,
) -> bool:
    """Whether a box, with its apex or without, comes within the padding of one solid."""
    if not has_apex and _ball_gap(box, ball) > padding:
        return False
    if has_apex and _sight_gap(box, apex, ball) > padding:
        return False
    away, within = scratch[7], padding + margin
    _point_away(ball, box, away)
    return (
        separation(
            vertices,
            bins,
            candidates,
            frame,
            box,
            apex,
            has_apex,
            within,
            within,
            away,
            scratch[:5],
        )
        < within
    )


@nogil_kernel
def _point_away(ball: Array, box: Array, away: Array) -> None:
    """Write the direction from the middle of a box to that of a ball, shape (3,)."""
    for i in range(3):
        away[i] = ball[i] - 0.5 * (box[i] + box[3 + i])


@nogil_kernel
def _ball_gap(box: Array, ball: Array) -> float:
    """Return the distance between a box, shape (6,), and a ball, shape (4,) [m]."""
    square = 0.0
    for i in range(3):
        beyond = max(box[i] - ball[i], ball[i] - box[3 + i], 0.0)
        square += beyond * beyond
    gap: float = math.sqrt(square) - ball[3]
    return gap


@nogil_kernel
def _sight_gap(box: Array, apex: Array, ball: Array) -> float:
    """Return no more than the distance between the lines from an apex to a box, and a ball [m]."""
    along = square = half = 0.0
    for i in range(3):
        sight = 0.5 * (box[i] + box[3 + i]) - apex[i]
        along += sight * (ball[i] - apex[i])
        square += sight * sight
        half += (0.5 * (box[3 + i] - box[i])) ** 2
    share = 0.0 if along <= 0.0 else 1.0 if along >= square else along / square
    gap = 0.0
    for i in range(3):
        sight = 0.5 * (box[i] + box[3 + i]) - apex[i]
        gap += (apex[i] + share * sight - ball[i]) ** 2
    least: float = math.sqrt(gap) - math.sqrt(half) - ball[3]
    return least


@nogil_kernel
def _note_nearest_face(
    faces: Array, first: int, last: int, frame: Array, point: Array, away: Array
) -> float:
    """Write the inward normal of the face that a point inside is nearest to; return its height."""
    best, nearest = -math.inf, first
    for f in range(first, last):
        height = -faces[f, 3]
        for i in range(3):
            for j in range(3):
                height += frame[3 * i + j] * faces[f, j] * (point[i] - frame[9 + i])
        if height > best:
            best, nearest = height, f
    for i in range(3):
        away[i] = 0.0
        for j in range(3):
            away[i] -= frame[3 * i + j] * faces[nearest, j]
    return best
