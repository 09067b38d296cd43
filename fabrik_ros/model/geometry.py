"""Shapes of robots and obstacles where they may collide: simple solids and meshes."""

from dataclasses import dataclass

from ..transforms import Array


@dataclass(frozen=True)
class Box:
    """A box around its origin."""

    size: tuple[float, float, float]
    """Edges along x, y and z [m]."""


@dataclass(frozen=True)
class Cylinder:
    """A cylinder around its origin, along z."""

    radius: float
    """[m]."""
    length: float
    """[m]."""


@dataclass(frozen=True)
class Capsule:
    """A cylinder around its origin, along z, with half a sphere on either end."""

    radius: float
    """[m]."""
    length: float
    """Length of the cylinder, without the ends [m]."""


@dataclass(frozen=True)
class Sphere:
    """A sphere around its origin."""

    radius: float
    """[m]."""


@dataclass(frozen=True)
class Mesh:
    """A file with triangles."""

    filename: str
    """Name in the URDF: `package://`, `file://` or a path."""
    scale: tuple[float, float, float] = (1.0, 1.0, 1.0)
    """Factors along x, y and z; a negative one mirrors."""


Shape = Box | Cylinder | Capsule | Sphere | Mesh


@dataclass(frozen=True)
class HalfSpace:
    """All that is below z = 0 of its frame, without end: a floor or, turned, a wall."""


@dataclass(frozen=True, eq=False)
class Collision:
    """One collision geometry of a link."""

    link: str
    T_link_geometry: Array
    """Pose of the shape in the frame of the link, shape (4, 4)."""
    shape: Shape | HalfSpace


@dataclass(frozen=True, eq=False)
class Visual:
    """One visible shape of a link."""

    link: str
    T_link_geometry: Array
    """Pose of the shape in the frame of the link, shape (4, 4)."""
    shape: Shape
