"""
Pictures of solids in perspective, drawn by matplotlib: the same picture every time.

Solids are cut into small faces, which are shaded and painted from the farthest to the nearest.

"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
import math

from fabrik_ros.transforms import Array
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.path import Path as Outline
import numpy as np

FACE_SIZE = 0.018
"""Edge of a face [m]: of smaller ones there are too many, larger ones hide what is before them."""
AROUND = 44
"""Faces around a cylinder [1]."""
LIGHT = np.array([-0.42, -0.22, 0.85]) / math.sqrt(0.42**2 + 0.22**2 + 0.85**2)
"""Where the light comes from."""
AMBIENT, DIFFUSE, SKY = 0.42, 0.5, 0.12
"""Shares of the brightness of a face: everywhere, towards the light, and upwards [1]."""
SHADOW = 0.78
"""Brightness of what lies in the shadow of something [1]."""


@dataclass(frozen=True, eq=False)
class Faces:
    """Small flat quadrangles."""

    corners: Array
    """Shape (m, 4, 3) [m]; seen from outside they turn to the left."""
    colors: Array
    """Shape (m, 3), from 0 to 1."""

    def moved(self, T: Array) -> 'Faces':
        """Return the faces in another frame, at a pose of shape (4, 4)."""
        return Faces(self.corners @ T[:3, :3].T + T[:3, 3], self.colors)


def joined(parts: list[Faces]) -> Faces:
    """Put faces together."""
    corners, colors = ([getattr(part, name) for part in parts] for name in ('corners', 'colors'))
    return Faces(np.concatenate(corners), np.concatenate(colors))


def colored(corners: Array, color: tuple[float, float, float]) -> Faces:
    """Give faces, shape (m, 4, 3), one color."""
    return Faces(corners, np.tile(color, (len(corners), 1)))


def cylinder(radius: float, length: float, color: tuple[float, float, float]) -> Faces:
    """Cut the surface of a cylinder along z into faces; its middle is the origin [m]."""
    angles = np.linspace(0.0, 2.0 * math.pi, AROUND + 1)
    heights = 0.5 * length * np.linspace(-1.0, 1.0, 1 + math.ceil(length / FACE_SIZE))
    radii = radius * np.linspace(0.0, 1.0, 1 + math.ceil(radius / FACE_SIZE))
    side = _grid(lambda a, z: (radius * np.cos(a), radius * np.sin(a), z), angles, heights)
    top = _grid(
        lambda r, a: (r * np.cos(a), r * np.sin(a), np.full_like(a, 0.5 * length)), radii, angles
    )
    bottom = top[:, ::-1] * [1.0, 1.0, -1.0]
    return colored(np.concatenate([side, top, bottom]), color)


def box(size: tuple[float, float, float], color: tuple[float, float, float]) -> Faces:
    """Cut the surface of a box into faces; its middle is the origin [m]."""
    half = 0.5 * np.array(size)
    sides = []
    for axis in range(3):
        u, v = (axis + 1) % 3, (axis + 2) % 3
        us, vs = (
            half[k] * np.linspace(-1.0, 1.0, 1 + math.ceil(size[k] / FACE_SIZE)) for k in (u, v)
        )
        flat = _grid(lambda a, b, at=half[axis]: (np.full_like(a, at), a, b), us, vs)
        side = np.empty_like(flat)
        side[..., axis], side[..., u], side[..., v] = np.moveaxis(flat, -1, 0)
        opposite = side[:, ::-1].copy()
        opposite[..., axis] *= -1.0
        sides += [side, opposite]
    return colored(np.concatenate(sides), color)


def tube(points: Array, radius: float, color: tuple[float, float, float]) -> Faces:
    """Lay thin cylinders along a line through points, shape (m, 3) [m]."""
    parts = [_between(a, b, radius, color) for a, b in pairwise(points)]
    return joined(parts) if parts else colored(np.empty((0, 4, 3)), color)


class Camera:
    """
    Looks at a place.

    Parameters
    ----------
    eye, at : sequence of float
        Where it is, and what it looks at [m].
    zoom : float
        Width of the picture over its distance [1].
    size : (int, int)
        Of the picture [pixel].

    """

    def __init__(
        self,
        eye: tuple[float, float, float],
        at: tuple[float, float, float],
        zoom: float,
        size: tuple[int, int],
    ) -> None:
        self.eye = np.array(eye)
        forward = np.array(at) - self.eye
        forward /= np.linalg.norm(forward)
        right = np.cross(forward, [0.0, 0.0, 1.0])
        right /= np.linalg.norm(right)
        self._axes = np.array([right, np.cross(right, forward), forward])
        self._zoom, self._middle = zoom * size[0], 0.5 * np.array(size)

    def project(self, points: Array) -> Array:
        """Place points, shape (..., 3) [m], in the picture, shape (..., 2) [pixel]."""
        seen = (points - self.eye) @ self._axes.T
        return self._middle + self._zoom * seen[..., :2] / seen[..., 2:]


def paint(axes: Axes, camera: Camera, faces: Faces) -> None:
    """Paint faces, the farthest first; those that look away are not seen."""
    normals, middles = _normals(faces), faces.corners.mean(axis=1)
    away = camera.eye - middles
    seen = np.einsum('mi,mi->m', normals, away) > 0.0
    order = np.flatnonzero(seen)[np.argsort(-np.linalg.norm(away[seen], axis=1), kind='stable')]
    light = AMBIENT + DIFFUSE * np.maximum(0.0, normals[order] @ LIGHT) + SKY * normals[order, 2]
    colors = np.clip(faces.colors[order] * light[:, None], 0.0, 1.0)
    # The edge in the same color hides the seams between faces.
    axes.add_collection(
        PolyCollection(
            camera.project(faces.corners[order]), facecolors=colors, edgecolors=colors, lw=0.6
        ),
        autolim=False,
    )


def paint_shadows(
    axes: Axes, camera: Camera, faces: Faces, ground: Array, color: tuple[float, float, float]
) -> None:
    """Paint the shadows of faces on a ground, corners of shape (k, 3), which is level."""
    lit = faces.corners[_normals(faces) @ LIGHT > 0.0]
    height = lit[..., 2:] - ground[0, 2]
    on_ground = lit - height * LIGHT / LIGHT[2]
    shade = tuple(np.array(color) * SHADOW * (AMBIENT + DIFFUSE * LIGHT[2] + SKY))
    shadows = PolyCollection(
        camera.project(on_ground[height[..., 0].min(axis=1) > -1e-6]),
        facecolors=shade,
        edgecolors=shade,
        lw=0.6,
    )
    axes.add_collection(shadows, autolim=False)
    shadows.set_clip_path(Outline(camera.project(ground)), transform=axes.transData)


def _grid(
    surface: Callable[[Array, Array], tuple[Array, Array, Array]], us: Array, vs: Array
) -> Array:
    """Cut a surface, a function of two arrays, into quadrangles, shape (m, 4, 3)."""
    u, v = np.meshgrid(us, vs, indexing='ij')
    points = np.stack(np.broadcast_arrays(*surface(u, v)), axis=-1)
    corners = (points[:-1, :-1], points[1:, :-1], points[1:, 1:], points[:-1, 1:])
    return np.stack(corners, axis=2).reshape(-1, 4, 3)


def _between(a: Array, b: Array, radius: float, color: tuple[float, float, float]) -> Faces:
    length = float(np.linalg.norm(b - a))
    z = (b - a) / length if length > 0.0 else np.array([0.0, 0.0, 1.0])
    x = np.cross(z, [0.0, 1.0, 0.0] if abs(z[1]) < 0.9 else [1.0, 0.0, 0.0])
    x /= np.linalg.norm(x)
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = np.column_stack([x, np.cross(z, x), z]), 0.5 * (a + b)
    return cylinder(radius, length, color).moved(T)


def _normals(faces: Faces) -> Array:
    """Outward normals, shape (m, 3)."""
    across = faces.corners[:, 2] - faces.corners[:, 0], faces.corners[:, 3] - faces.corners[:, 1]
    normals = np.cross(*across)
    return normals / np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-12)
