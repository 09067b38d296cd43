"""Shapes of links in a window: their collision geometry, as far as MuJoCo can read it."""

from collections.abc import Mapping
from typing import Any

import mujoco

from ..collision import MeshFinder
from ..model.geometry import Box, Capsule, Collision, Cylinder, Mesh, Sphere
from ..model.robot import Robot
from ..transforms import quaternion_xyzw_from_rotation

KINDS = {
    Box: mujoco.mjtGeom.mjGEOM_BOX,
    Capsule: mujoco.mjtGeom.mjGEOM_CAPSULE,
    Cylinder: mujoco.mjtGeom.mjGEOM_CYLINDER,
    Sphere: mujoco.mjtGeom.mjGEOM_SPHERE,
    Mesh: mujoco.mjtGeom.mjGEOM_MESH,
}
"""Kind of geom in MuJoCo for each shape."""
COLOUR = (0.35, 0.55, 0.8, 1.0)


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
    meshes: dict[Mesh, str] = {}
    """Names in the spec; '' for a mesh that cannot be shown."""
    notes: list[str] = []
    for collision in robot.collisions:
        shape = collision.shape
        if isinstance(shape, Mesh) and shape not in meshes:
            meshes[shape] = _add_mesh(spec, shape, f'mesh_{len(meshes)}', finder, notes)
        mesh = meshes[shape] if isinstance(shape, Mesh) else ''
        if type(shape) in KINDS and (mesh or not isinstance(shape, Mesh)):
            _add_geom(bodies[collision.link], collision, mesh)
            shown.add(collision.link)
    return shown, notes


def _add_mesh(spec: Any, shape: Mesh, name: str, finder: MeshFinder, notes: list[str]) -> str:
    """Add a file to a spec, and return its name there; '' and a note where that is impossible."""
    try:
        file = str(finder.find(shape.filename))
        alone = mujoco.MjSpec()
        for each in (alone, spec):  # what cannot be compiled would spoil the whole robot
            mesh = each.add_mesh(name=name, file=file, scale=shape.scale)
            mesh.inertia = mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL
            if each is alone:
                alone.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_MESH, meshname=name)
                alone.compile()
    except (FileNotFoundError, ValueError) as error:
        notes.append(f'{shape.filename} is not shown: {" ".join(str(error).split())}')
        return ''
    return name


def _add_geom(body: Any, collision: Collision, mesh: str) -> None:
    T, shape = collision.T_link_geometry, collision.shape
    x, y, z, w = quaternion_xyzw_from_rotation(T[:3, :3])
    geom = body.add_geom(type=KINDS[type(shape)], mass=0.0, pos=T[:3, 3], quat=[w, x, y, z])
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
