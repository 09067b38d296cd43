"""Shapes in MuJoCo: those of links are their collision geometry, as far as it can be read."""

from collections.abc import Mapping
from typing import Any

import mujoco

from ..collision import MeshFinder
from ..model.geometry import Box, Capsule, Cylinder, HalfSpace, Mesh, Shape, Sphere
from ..model.robot import Robot
from ..transforms import Array, quaternion_xyzw_from_rotation

KINDS = {
    Box: mujoco.mjtGeom.mjGEOM_BOX,
    Capsule: mujoco.mjtGeom.mjGEOM_CAPSULE,
    Cylinder: mujoco.mjtGeom.mjGEOM_CYLINDER,
    Sphere: mujoco.mjtGeom.mjGEOM_SPHERE,
    Mesh: mujoco.mjtGeom.mjGEOM_MESH,
    HalfSpace: mujoco.mjtGeom.mjGEOM_PLANE,
}
"""Kind of geom in MuJoCo for each shape."""
COLOUR = (0.35, 0.55, 0.8, 1.0)
ENDLESS = (0.0, 0.0, 0.1)
"""Size of a plane; the last is the distance of lines on it, which MuJoCo wants."""


class MeshFiles:
    """
    Files of meshes in a model that is being made; each is read once.

    Parameters
    ----------
    spec
        MuJoCo's model that is being made.
    finder : MeshFinder
        Finds the files.
    inertia : mjtMeshInertia
        What a mesh is: a shell, which may be open, or a convex solid.

    Attributes
    ----------
    notes : list of str
        Which meshes are not there, and why.

    """

    def __init__(self, spec: Any, finder: MeshFinder, inertia: Any) -> None:
        self.notes: list[str] = []
        self._spec, self._finder, self._inertia = spec, finder, inertia
        self._names: dict[Mesh, str] = {}

    def name_of(self, shape: Mesh) -> str:
        """Name a mesh in the model; '' and a note where it cannot be there."""
        if shape not in self._names:
            self._names[shape] = self._add(shape, f'mesh_{len(self._spec.meshes)}')
        return self._names[shape]

    def _add(self, shape: Mesh, name: str) -> str:
        try:
            file = str(self._finder.find(shape.filename))
            alone = mujoco.MjSpec()
            for each in (alone, self._spec):  # what cannot be compiled would spoil everything
                mesh = each.add_mesh(name=name, file=file, scale=shape.scale)
                mesh.inertia = self._inertia
                if each is alone:
                    alone.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_MESH, meshname=name)
                    alone.compile()
        except (FileNotFoundError, ValueError) as error:
            self.notes.append(f'{shape.filename} is not there: {" ".join(str(error).split())}')
            return ''
        return name


def add_shapes(
    spec: Any, bodies: Mapping[str, Any], robot: Robot, finder: MeshFinder
) -> tuple[set[str], list[str]]:
    """
    Add the shapes of links to their bodies; they have no weight, and touch nothing.

    Parameters
    ----------
    spec
        MuJoCo's model that is being made.
    bodies : mapping
        Bodies of the model, by the names of their links.
    robot : Robot
        Has the shapes.
    finder : MeshFinder
        Finds the files of meshes.

    Returns
    -------
    shown : set of str
        Links of which something is shown.
    notes : list of str
        Which meshes are not, and why.

    """
    shown: set[str] = set()
    files = MeshFiles(spec, finder, mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL)
    for collision in robot.collisions:
        geom = add_geom(bodies[collision.link], collision.shape, collision.T_link_geometry, files)
        if geom is not None:
            geom.mass = 0.0
            shown.add(collision.link)
    return shown, files.notes


def add_geom(body: Any, shape: Shape | HalfSpace, T: Array, files: MeshFiles) -> Any:
    """Add a shape at a pose of a body, shape (4, 4), and return it; None for an unread mesh."""
    mesh = files.name_of(shape) if isinstance(shape, Mesh) else ''
    if isinstance(shape, Mesh) and not mesh:
        return None
    x, y, z, w = quaternion_xyzw_from_rotation(T[:3, :3])
    geom = body.add_geom(type=KINDS[type(shape)], pos=T[:3, 3], quat=[w, x, y, z])
    geom.rgba = COLOUR
    geom.contype = geom.conaffinity = 0
    match shape:
        case Box(size):
            geom.size = [0.5 * edge for edge in size]
        case Cylinder(radius, length) | Capsule(radius, length):
            geom.size = [radius, 0.5 * length, 0.0]
        case Sphere(radius):
            geom.size = [radius, 0.0, 0.0]
        case Mesh():
            geom.meshname = mesh
        case HalfSpace():
            geom.size = ENDLESS
    return geom
