"""What meshes of links count as: hulls, or convex parts where hulls take away too much."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
import hashlib
from pathlib import Path
from subprocess import SubprocessError
from typing import Any

import numpy as np

from ..errors import shown
from .convex_parts import divide, Division, way_to_divide
from .hulls import convex_hull
from .parts_cache import PartsCache


@dataclass(frozen=True)
class MeshShape:
    """
    What a mesh of a link counts as.

    Attributes
    ----------
    link : str
        The link.
    name : str
        The file.
    parts : int
        How many convex parts; 1 where it is its hull [1].
    hull_reach, reach : float
        How far the hull reaches beyond the mesh, and what it counts as [m].
    seconds : float
        What it took to find out, once [s].
    reason : str
        Why it is a hull, although that reaches too far; else ''.

    """

    link: str
    name: str
    parts: int
    hull_reach: float
    reach: float
    seconds: float
    reason: str

    def __str__(self) -> str:
        what = f"link '{shown(self.link)}', {shown(self.name)}"
        hull = f'its hull reaches {1e3 * self.hull_reach:.0f} mm beyond it'
        if self.parts > 1:
            return (
                f'{what}: {self.parts} convex parts, which reach {1e3 * self.reach:.0f} mm beyond '
                f'it ({hull}); found in {self.seconds:.1f} s'
            )
        return f'{what}: {hull}' + (f'; {self.reason}' if self.reason else '')


class LinkMeshes:
    """
    Makes convex solids of meshes; each file is looked at once.

    Parameters
    ----------
    tell : callable
        Is told in a sentence what takes long, or what cannot be kept.

    """

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell, self._cache = tell, PartsCache(tell)
        self._known: dict[tuple[Path, tuple[float, float, float]], Any] = {}

    def load(
        self, coal: Any, path: Path, scale: tuple[float, float, float], surface: Any
    ) -> tuple[Division, list[tuple[Any, float]]]:
        """Say what a mesh counts as; make the solids of coal, each with its padding [m]."""
        if (path, scale) not in self._known:
            self._known[path, scale] = self._load(coal, path, surface)
        division, solids = self._known[path, scale]
        return division, solids

    def _load(
        self, coal: Any, path: Path, surface: Any
    ) -> tuple[Division, list[tuple[Any, float]]]:
        vertices = np.array(surface.vertices())
        key = _key(path, vertices)
        division = self._cache.read(key)
        if division is None:
            division = self._divide(coal, key, path, surface)
        if not division.parts:
            return division, [(convex_hull(coal, vertices), 0.0)]
        return division, [
            (convex_hull(coal, part.points), part.padding) for part in division.parts
        ]

    def _divide(self, coal: Any, key: str, path: Path, surface: Any) -> Division:
        text = f'dividing {path} into convex parts, once; that may take half a minute'
        try:
            division = divide(coal, surface, _triangles(surface), partial(self._tell, text))
        except SubprocessError as error:
            return Division((), float('nan'), float('nan'), 0.0, str(error))
        self._cache.write(key, division)
        return division


def _triangles(surface: Any) -> Any:
    corners = (surface.tri_indices(i) for i in range(surface.num_tris))
    return np.array([(each[0], each[1], each[2]) for each in corners], dtype=np.int64)


def _key(path: Path, vertices: Any) -> str:
    """Name a mesh by all that its parts depend on: vertices have the scale in them, and units."""
    digest = hashlib.blake2b(path.read_bytes(), digest_size=16)
    digest.update(np.ascontiguousarray(vertices, dtype=np.float64).tobytes())
    digest.update(way_to_divide().encode())
    return digest.hexdigest()


def shapes_in_words(shapes: Sequence[MeshShape]) -> str:
    """Say which meshes count as parts, and which are hulls that reach too far; '' if none."""
    return '; '.join(_words(shapes))


def _words(shapes: Sequence[MeshShape]) -> Iterator[str]:
    divided = [shape for shape in shapes if shape.parts > 1]
    if divided:
        names = ', '.join(f'{shown(shape.link)} ({shape.parts})' for shape in divided)
        seconds = sum(shape.seconds for shape in divided)
        yield f'in convex parts, found in {seconds:.0f} s: {names}'
    whole = [shape for shape in shapes if shape.reason]
    if whole:
        names = ', '.join(f'{shown(shape.link)} ({shape.reason})' for shape in whole)
        yield f'hulls that reach beyond their meshes: {names}'
