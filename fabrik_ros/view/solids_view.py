"""What stands around an arm, in the picture."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import trimesh
import viser

from ..collision import MeshFinder, ObstacleSource
from ..collision.collada import unit_of
from ..model.geometry import Box, Capsule, Cylinder, HalfSpace, Mesh, Sphere
from ..transforms import Array
from .arm_view import wxyz
from .solid import Cells, Solid, Triangles

SEE_THROUGH = 0.35
"""Opacity of what one may look through [1]."""
PLATE = 0.002
"""Thickness of what is drawn of a half space, below its plane [m]."""
CELL_SHARE = 0.94
"""Edge of a drawn cell, so that neighbours can be told apart [of the cell]."""


class SolidsView:
    """
    Draws solids, each once: those that stay are not touched.

    Parameters
    ----------
    server : viser.ViserServer
        Draws.
    finder : MeshFinder
        Finds meshes.
    extent : float
        Edge of what is drawn of a half space [m].
    frame_of : callable
        Names the frame of a link in the picture; '' where there is none.

    Attributes
    ----------
    missing : list of str
        Meshes that are not drawn, and why.

    """

    ROOT = '/obstacles'

    def __init__(
        self,
        server: viser.ViserServer,
        finder: MeshFinder,
        extent: float,
        frame_of: Callable[[str], str],
    ) -> None:
        self._add, self._finder, self._extent = server.scene, finder, extent
        self._frame_of = frame_of
        self._nodes: dict[Solid, Any] = {}
        self._number = 0
        self._solids: tuple[Solid, ...] = ()
        self._is_visible, self._opacity = True, 1.0
        self.missing: list[str] = []

    def show(self, solids: tuple[Solid, ...]) -> bool:
        """Draw what is new, and take away what is gone; say whether anything changed."""
        if solids is self._solids or solids == self._solids:
            return False
        self._solids = solids
        for gone in set(self._nodes) - set(solids):
            self._remove(gone)
        for solid in solids:
            if solid not in self._nodes:
                self._nodes[solid] = self._draw(solid)
        return True

    def look(self, is_visible: bool, is_clear: bool) -> None:
        """Show all or none, and let one look through or not."""
        opacity = SEE_THROUGH if is_clear else 1.0
        if (is_visible, opacity) == (self._is_visible, self._opacity):
            return
        self._is_visible, self._opacity = is_visible, opacity
        for solid in list(self._nodes):
            self._remove(solid)
        self._nodes = {solid: self._draw(solid) for solid in self._solids}

    def bottom(self) -> float:
        """Height of the lowest thing that stands [m]; 0 where nothing is below."""
        stand = (s for s in self._solids if s.source is not ObstacleSource.ATTACHED)
        return min([0.0, *map(_bottom, stand)])

    def _remove(self, solid: Solid) -> None:
        node = self._nodes.pop(solid)
        if node is not None:
            node.remove()

    def _draw(self, solid: Solid) -> Any:
        """Draw a solid; None where it cannot be drawn."""
        parent = self._frame_of(solid.link) if solid.link else ''
        if solid.link and not parent:
            return None
        self._number += 1
        name = f'{parent or self.ROOT}/solid_{self._number}'
        T = solid.pose
        at = {
            'position': T[:3, 3],
            'wxyz': wxyz(T),
            'visible': self._is_visible,
            'opacity': self._opacity if self._opacity < 1.0 else None,
            'color': solid.color,
        }
        return self._draw_shape(name, solid, at)

    def _draw_shape(self, name: str, solid: Solid, at: Mapping[str, Any]) -> Any:
        add = self._add
        match solid.shape:
            case Box(size):
                return add.add_box(name, dimensions=size, **at)
            case Sphere(radius):
                return add.add_icosphere(name, radius, **at)
            case Cylinder(radius, length):
                return add.add_cylinder(name, radius, length, **at)
            case Capsule(radius, length):
                capsule = trimesh.creation.capsule(length, radius)
                centred = capsule.vertices - (0.0, 0.0, capsule.bounds[:, 2].mean())
                return add.add_mesh_simple(name, centred, capsule.faces, **at)
            case HalfSpace():
                return self._draw_half_space(name, solid.pose, at)
            case Mesh():
                return self._draw_mesh(name, solid.shape, at)
            case Triangles():
                corners = solid.shape.vertices
                faces = np.arange(len(corners)).reshape(-1, 3)
                return add.add_mesh_simple(name, corners, faces, side='double', **at)
            case Cells():
                return self._draw_cells(name, solid.shape, at)

    def _draw_half_space(self, name: str, T: Array, at: Mapping[str, Any]) -> Any:
        below = {**at, 'position': T[:3, 3] - 0.5 * PLATE * T[:3, 2]}
        return self._add.add_box(
            name, dimensions=(self._extent, self._extent, PLATE), cast_shadow=False, **below
        )

    def _draw_mesh(self, name: str, shape: Mesh, at: Mapping[str, Any]) -> Any:
        try:
            path = self._finder.find(shape.filename)
            mesh = trimesh.load(str(path), force='mesh')
        except Exception as error:  # of a file: whatever its reader makes of it
            self.missing.append(f'{shape.filename}: {error}')
            return None
        factor = np.array(shape.scale) * unit_of(path)
        return self._add.add_mesh_simple(
            name, mesh.vertices * factor, mesh.faces, side='double', flat_shading=True, **at
        )

    def _draw_cells(self, name: str, cells: Cells, at: Mapping[str, Any]) -> Any:
        box = trimesh.creation.box(np.array(cells.size) * CELL_SHARE)
        points = cells.points
        turns = np.tile((1.0, 0.0, 0.0, 0.0), (len(points), 1))
        more = {key: value for key, value in at.items() if key != 'color'}
        return self._add.add_batched_meshes_simple(
            name,
            box.vertices,
            box.faces,
            turns,
            points,
            batched_colors=at['color'],
            flat_shading=True,
            **more,
        )


def _bottom(solid: Solid) -> float:
    """Height of the lowest point of a solid, or below it [m]; 0 of one that has no lowest."""
    T, shape = solid.pose, solid.shape
    match shape:
        case Box(size):
            return float(T[2, 3] - 0.5 * np.abs(T[2, :3]) @ size)
        case Sphere(radius):
            return float(T[2, 3] - radius)
        case Cylinder(radius, length) | Capsule(radius, length):
            return float(T[2, 3] - 0.5 * length * abs(T[2, 2]) - radius)
        case Triangles():
            return float((shape.vertices @ T[2, :3]).min(initial=0.0) + T[2, 3])
    return 0.0
