"""Connected pieces of a mesh: where several are stuck together, each is often nearly convex."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..transforms import Array

SAME_PLACE = 7
"""Decimals to which vertices in one place agree [m]."""


class Piece(NamedTuple):
    """Triangles that are connected, and look outwards; vertices in one place are one."""

    vertices: Array
    """Shape (m, 3) [m]."""
    triangles: npt.NDArray[np.int64]
    """Numbers of their corners, shape (f, 3)."""

    @property
    def has_both_sides(self) -> npt.NDArray[np.bool_]:
        """Whether edges have a triangle on either side, shape (e,)."""
        forth, back = self._edges()
        return np.isin(forth, back)

    @property
    def is_solid(self) -> bool:
        """Whether each edge has one triangle on either side."""
        forth, back = self._edges()
        return np.array_equal(np.unique(forth), np.sort(back))

    @property
    def volume(self) -> float:
        """What it holds, if it is closed [m^3]."""
        a, b, c = (self.vertices - self.vertices.mean(axis=0))[self.triangles].swapaxes(0, 1)
        return float((a * np.cross(b, c)).sum()) / 6.0

    def _edges(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Give each edge of each triangle a number, and that of the edge back, shape (e,) each."""
        count = len(self.vertices)
        begins, ends = self.triangles.ravel(), np.roll(self.triangles, -1, axis=1).ravel()
        return begins * count + ends, ends * count + begins

    def surface(self, coal: Any) -> Any:
        """Make triangles of coal."""
        surface = coal.BVHModelOBBRSS()
        surface.beginModel(len(self.triangles), len(self.vertices))
        surface.addVertices(self.vertices)
        surface.addTriangles(self.triangles)
        surface.endModel()
        return surface


def closed_share(pieces: Sequence[Piece]) -> float:
    """Share of edges with a triangle on either side; 1 where there is an inside [1]."""
    if not pieces:
        return 0.0
    return float(np.concatenate([piece.has_both_sides for piece in pieces]).mean())


def pieces_of(vertices: Array, triangles: npt.NDArray[np.int64]) -> list[Piece]:
    """Sort triangles, shape (f, 3), by what is connected; what has no area is left out."""
    places, numbers = np.unique(vertices.round(SAME_PLACE), axis=0, return_inverse=True)
    corners = numbers.ravel()[triangles]
    has_area = (corners != np.roll(corners, 1, axis=1)).all(axis=1)
    corners = corners[has_area]
    labels = _labels(corners, len(places))[corners[:, 0]]
    return [_piece(places, corners[labels == label]) for label in np.unique(labels)]


def _labels(corners: npt.NDArray[np.int64], count: int) -> npt.NDArray[np.int64]:
    """Give vertices the least number of all that they are connected with, shape (count,)."""
    labels = np.arange(count)
    while True:
        least = labels[corners].min(axis=1)
        before = labels.copy()
        for k in range(3):
            np.minimum.at(labels, corners[:, k], least)
        labels = labels[labels]
        if np.array_equal(labels, before):
            return labels


def _piece(places: Array, corners: npt.NDArray[np.int64]) -> Piece:
    chosen, numbers = np.unique(corners, return_inverse=True)
    piece = Piece(places[chosen], numbers.reshape(-1, 3))
    return piece if piece.volume >= 0.0 else Piece(piece.vertices, piece.triangles[:, ::-1])
