"""
Meshes as a few convex parts each, where one hull takes away too much.

Each connected piece of a mesh is a part of its own, or is divided by CoACD. Few parts are made of
them, as each pair of parts takes time to check. They take in what is between them, and are
simplified, as kernels look at each vertex. Then it is measured by how much they fall short of the
mesh, and they are padded by that: no contact is missed.

"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
import io
import json
import os
import subprocess
import sys
import time
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..errors import shown
from ..transforms import Array
from .hulls import convex_hull
from .merged_parts import merged, MOST_LOST
from .mesh_pieces import closed_share, Piece, pieces_of
from .shape_measures import beyond, points_outside, reach_beyond, shortfalls

LIBRARY = 'coacd'
CURE = 'pip install coacd'
FARTHEST = 0.010
"""A hull that reaches farther beyond its mesh is divided [m]."""
SHALLOW, DEEP, HOLLOW = 0.005, 0.020, 0.10
"""A piece whose hull reaches beyond it by more than the second [m] is divided; by more than the
first [m] it is where the hull adds more than this share to its volume [1]."""
MUCH_BETTER = 0.75
"""Parts that reach beyond the mesh by more than this share of what the hull does are no gain."""
SETTINGS = {
    'threshold': 0.005,
    'real_metric': True,
    'max_convex_hull': 8,
    'resolution': 1000,
    'mcts_nodes': 6,
    'mcts_iterations': 20,
    'mcts_max_depth': 1,
}
"""Of CoACD; the threshold is in metres."""
MOST_PIECES = 32
"""Only so many pieces of a mesh are parts of their own; others are taken in [1]."""
MOST_PARTS = 5
"""Parts of a mesh, at most: pairs of parts are what steps take time for [1]."""
SIMPLER, MOST_VERTICES = 0.4e-3, 96
"""Vertices are added to a part until it lacks less than this [m], or has so many [1]."""
LONGEST_DIVISION = 300.0
"""A division of a piece that takes longer is given up [s]."""
STARVED = 0.8
"""A process that had less of a processor until then was held up by others [1]."""
CLOSED = 0.99
"""Least share of edges with a triangle on both sides, where there is an inside [1]."""
EDITION = 4
"""Of what is done here besides: with another one, what is cached is made anew [1]."""
COMMAND = (
    'import sys; sys.path[:] = sys.argv[1:]; '
    'from fabrik_ros.collision.coacd_process import main; main()'
)


class Part(NamedTuple):
    """A convex solid: the hull of points, padded all around."""

    points: Array
    """Shape (m, 3) [m]."""
    padding: float
    """[m]."""


@dataclass(frozen=True, eq=False)
class Division:
    """
    What a mesh counts as.

    Attributes
    ----------
    parts : tuple of Part
        Its convex parts; none where it counts as its hull.
    hull_reach : float
        How far its hull reaches beyond the mesh [m].
    reach : float
        How far what it counts as does [m].
    seconds : float
        What it took to find out [s].
    reason : str
        Why it is not divided, although its hull reaches too far; else ''.

    """

    parts: tuple[Part, ...]
    hull_reach: float
    reach: float
    seconds: float
    reason: str = ''


def library_version() -> str:
    """Version of CoACD; '' where it is not installed."""
    try:
        return version(LIBRARY)
    except PackageNotFoundError:
        return ''


def way_to_divide() -> str:
    """Write down all that the parts of a mesh depend on, besides the mesh."""
    ours = [
        EDITION, FARTHEST, SHALLOW, DEEP, HOLLOW, MUCH_BETTER, MOST_PIECES, MOST_PARTS, MOST_LOST,
        SIMPLER, MOST_VERTICES, CLOSED,
    ]  # fmt: skip
    return json.dumps([library_version(), SETTINGS, *ours])


def divide(
    coal: Any, surface: Any, triangles: npt.NDArray[np.int64], begins: Callable[[], None]
) -> Division:
    """
    Divide a mesh where its hull reaches too far, and parts do so by much less.

    Parameters
    ----------
    coal : module
        The library.
    surface
        The triangles of the mesh, as coal has them.
    triangles : array, shape (f, 3)
        Numbers of their corners.
    begins : callable
        Is called before what may take long.

    Raises
    ------
    subprocess.SubprocessError
        If CoACD has failed, or had no time on a busy machine; says how.

    """
    begin = time.perf_counter()
    vertices = np.array(surface.vertices())
    hull_reach = reach_beyond(coal, [_simplified(coal, vertices)], surface)

    def whole(reason: str = '') -> Division:
        return Division((), hull_reach, hull_reach, time.perf_counter() - begin, reason)

    if hull_reach <= FARTHEST:
        return whole()
    pieces = pieces_of(vertices, triangles)
    if closed_share(pieces) < CLOSED:
        return whole('its surface is not closed')
    if not library_version():
        return whole(f'CoACD is not installed; cure: {CURE}')
    begins()
    try:
        parts = _parts(coal, pieces)
    except subprocess.TimeoutExpired:
        return whole(f'CoACD takes longer than {LONGEST_DIVISION:.0f} s')
    lacking = points_outside(parts, vertices[triangles])
    hulls = [
        _simplified(coal, np.concatenate([np.array(part.points()), points]))
        for part, points in zip(parts, lacking, strict=True)
    ]
    padding = shortfalls(coal, hulls, vertices[triangles])
    reach = reach_beyond(coal, hulls, surface) + float(padding.max())
    if reach > MUCH_BETTER * hull_reach:
        return whole(f'{len(hulls)} convex parts would reach beyond it by {1e3 * reach:.0f} mm')
    padded = tuple(
        Part(np.array(hull.points()), float(short))
        for hull, short in zip(hulls, padding, strict=True)
    )
    return Division(padded, hull_reach, reach, time.perf_counter() - begin)


def _parts(coal: Any, pieces: Sequence[Piece]) -> list[Any]:
    """Make few convex hulls that cover the largest pieces, or nearly."""
    by_size = sorted(pieces, key=lambda piece: -float(np.ptp(piece.vertices, axis=0).max()))
    parts: list[Any] = []
    for piece in by_size[:MOST_PIECES]:
        hull = _simplified(coal, piece.vertices)
        if _is_hollow(coal, piece, hull):
            parts.extend(_simplified(coal, cloud) for cloud in _divided(piece))
        else:
            parts.append(hull)
    return merged(coal, parts, MOST_PARTS)


def _is_hollow(coal: Any, piece: Piece, hull: Any) -> bool:
    """Whether the hull of a piece takes away so much that it is to be divided."""
    reach = reach_beyond(coal, [hull], piece.surface(coal))
    return reach > DEEP or (
        reach > SHALLOW and hull.computeVolume() > (1.0 + HOLLOW) * piece.volume
    )


def _divided(piece: Piece) -> list[Array]:
    """Have CoACD divide a piece of a mesh in a process of its own."""
    vertices, triangles = piece
    settings = SETTINGS | {'preprocess_mode': 'off' if piece.is_solid else 'auto'}
    memory = io.BytesIO()
    np.savez(memory, vertices=vertices, triangles=triangles, settings=json.dumps(settings))
    used = _used_by_children()
    try:
        done = subprocess.run(
            [sys.executable, '-c', COMMAND, *sys.path],
            input=memory.getvalue(),
            capture_output=True,
            timeout=LONGEST_DIVISION,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        if _used_by_children() - used < STARVED * LONGEST_DIVISION:
            text = f'CoACD took longer than {LONGEST_DIVISION:.0f} s on a busy machine'
            raise subprocess.SubprocessError(text) from error
        raise
    if done.returncode != 0:
        lines = done.stderr.decode(errors='replace').strip().splitlines()
        last = shown(lines[-1], 200) if lines else f'it ended with {done.returncode}'
        raise subprocess.SubprocessError(f'CoACD failed: {last}')
    answer = np.load(io.BytesIO(done.stdout))
    return np.split(answer['points'], np.cumsum(answer['counts'])[:-1])


def _used_by_children() -> float:
    """Processor time of processes that were started here, and have ended [s]."""
    times = os.times()
    return times.children_user + times.children_system


def _simplified(coal: Any, points: Array) -> Any:
    """Make the hull of a few of some points, which lacks little of the hull of all."""
    points = np.array(convex_hull(coal, points).points())
    chosen = np.unique(np.concatenate([points.argmin(axis=0), points.argmax(axis=0)]))
    while True:
        hull = convex_hull(coal, points[chosen])
        lacking = beyond([hull], points)[:, 0]
        farthest = int(lacking.argmax())
        if lacking[farthest] <= SIMPLER or len(chosen) >= MOST_VERTICES:
            return hull
        chosen = np.append(chosen, farthest)
