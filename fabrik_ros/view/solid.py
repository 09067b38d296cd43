"""What is drawn of things that stand around an arm, or that it carries."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..collision import Obstacle, ObstacleSource
from ..model.geometry import HalfSpace, Shape
from ..transforms import Array

WOOD = (196, 160, 112)
GREY = (140, 144, 150)


@dataclass(frozen=True)
class Triangles:
    """A surface of m triangles."""

    corners: bytes
    """Of all triangles one after the other, (3 m, 3) numbers of type float32 [m]."""

    @property
    def vertices(self) -> Array:
        """The corners, shape (3 m, 3) [m]."""
        return np.frombuffer(self.corners, dtype=np.float32).reshape(-1, 3).astype(np.float64)


@dataclass(frozen=True)
class Cells:
    """Boxes of one size around m points."""

    centres: bytes
    """Of the boxes, (m, 3) numbers of type float32 [m]."""
    size: tuple[float, float, float]
    """Edges along x, y and z [m]."""

    @property
    def points(self) -> Array:
        """The centres, shape (m, 3) [m]."""
        return np.frombuffer(self.centres, dtype=np.float32).reshape(-1, 3).astype(np.float64)


Drawn = Shape | HalfSpace | Triangles | Cells


@dataclass(frozen=True)
class Solid:
    """A thing of one colour; equal ones look alike."""

    name: str
    source: ObstacleSource
    link: str
    """The link in whose frame it is; '' for the root link."""
    shape: Drawn
    place: tuple[float, ...]
    """Where it is, the 16 entries of T_link_solid [m]."""
    color: tuple[int, int, int] = WOOD

    @property
    def pose(self) -> Array:
        """Where it is in the frame of the link, shape (4, 4) [m]."""
        return np.reshape(self.place, (4, 4))


def solid_of(obstacle: Obstacle) -> Solid:
    """Say how an obstacle of a scene is drawn."""
    source = ObstacleSource.ATTACHED if obstacle.link else ObstacleSource.FILE
    color = GREY if obstacle.link else WOOD
    place = tuple(obstacle.T_link_obstacle.ravel().tolist())
    return Solid(obstacle.name, source, obstacle.link, obstacle.shape, place, color)
