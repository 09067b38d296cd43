"""What stands around a simulated arm, and the parts that it can grip, carry and push."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import mujoco
import numpy as np

from ..collision import MeshFinder, Obstacle, Scene
from ..errors import FabrikError, shown
from ..model.default_chain import gripper_joints
from ..model.geometry import Box, Capsule, Cylinder, HalfSpace, Mesh, Sphere
from ..model.robot import Robot
from ..transforms import Array
from .link_shapes import add_geom, MeshFiles
from .stiction import Stiction

FLOOR = 'floor'
"""Name of the floor in the model."""
GRIPPER, PART = 1, 2
"""Bits of what touches: a gripper touches parts and what stands, parts touch everything."""
RUBBER, WOOD = 1.0, 0.6
"""Friction of a gripper and of all else; the greater one of two counts [1]."""
TWISTING, ROLLING = 0.01, 1e-4
"""Friction against twisting and rolling, as radii [m]."""
CONTACT_TIME, CONTACT = 0.004, (0.98, 0.998, 0.001, 0.5, 2.0)
"""What touches hardly gives way: `solref` [s], `solimp`."""
COLOUR_STANDING, COLOUR_PART = (0.6, 0.58, 0.55, 1.0), (0.85, 0.45, 0.2, 1.0)


class SurroundingsError(FabrikError):
    """What stands around an arm cannot be simulated."""


@dataclass(frozen=True, eq=False)
class Surroundings:
    """
    What stands around an arm, and what it can move.

    Raises
    ------
    SurroundingsError
        If a part has no end, or a link carries it from the start.

    """

    scene: Scene = field(default_factory=Scene)
    """What stands, or what links carry."""
    parts: Scene = field(default_factory=Scene)
    """What can be moved, and where it is at the start."""
    density: float = 600.0
    """Of the parts: that of wood [kg/m^3]."""

    def __post_init__(self) -> None:
        for part in self.parts:
            if part.link or isinstance(part.shape, HalfSpace):
                why = f"link '{shown(part.link)}' carries it" if part.link else 'it has no end'
                raise SurroundingsError(f"part '{shown(part.name)}' cannot be moved: {why}")


def gripper_links(robot: Robot) -> frozenset[str]:
    """Name the links of grippers: what their joints move, and what carries these."""
    names = gripper_joints(robot)
    joints = [joint for joint in robot.joints if joint.name in names]
    links = [joint.child for joint in joints]
    for link in links:
        links += [joint.child for joint in robot.child_joints[link] if not joint.type.moves]
    return frozenset((*links, *(joint.parent for joint in joints)))


def add_surroundings(
    spec: Any,
    bodies: Mapping[str, Any],
    robot: Robot,
    surroundings: Surroundings,
    finder: MeshFinder,
) -> list[str]:
    """
    Add obstacles and parts to a model that has all shapes of the robot, and let them touch.

    Parameters
    ----------
    spec
        MuJoCo's model that is being made.
    bodies : mapping
        Bodies of the model, by the names of their links.
    robot : Robot
        The robot.
    surroundings : Surroundings
        What is there.
    finder : MeshFinder
        Finds the files of meshes.

    Returns
    -------
    list of str
        What cannot be there, or is there in another shape.

    Raises
    ------
    SurroundingsError
        If the mesh of a part cannot be read.
    SceneError
        If an obstacle names a link that the robot does not have.

    """
    _let_touch(spec)
    for link in gripper_links(robot):
        for geom in bodies[link].geoms:
            _touch(geom, GRIPPER, 0, RUBBER)
    standing = MeshFiles(spec, finder, mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL)
    solid = MeshFiles(spec, finder, mujoco.mjtMeshInertia.mjMESH_INERTIA_CONVEX)
    surroundings.scene.check_links(robot)
    for obstacle in surroundings.scene:
        body = bodies[obstacle.link or robot.root_link]
        geom = add_geom(body, obstacle.shape, obstacle.T_link_obstacle, standing)
        if geom is not None:
            geom.rgba, geom.mass = COLOUR_STANDING, 0.0
            _touch(geom, *((GRIPPER, 0) if obstacle.link else (0, GRIPPER | PART)), WOOD)
    for part in surroundings.parts:
        body = spec.worldbody.add_body(name=body_of(part.name))
        body.add_freejoint()
        _place(body, part.T_link_obstacle)
        geom = add_geom(body, part.shape, np.eye(4), solid)
        if geom is None:
            raise SurroundingsError(f"part '{shown(part.name)}': {solid.notes[-1]}")
        geom.rgba, geom.density = COLOUR_PART, surroundings.density
        _touch(geom, PART, GRIPPER | PART, WOOD)
    floor = spec.geom(FLOOR)
    floor.pos = [0.0, 0.0, min(0.0, *_lowest_of(surroundings))]
    _touch(floor, 0, GRIPPER | PART, WOOD)
    return [*standing.notes, *_filled(surroundings)]


def body_of(part: str) -> str:
    """Name the body of a part; no link is called so."""
    return f'part: {part}'


def _let_touch(spec: Any) -> None:
    """Let bodies touch at all, with friction that is the same in all directions."""
    spec.option.disableflags = 0
    spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    # Links say what they weigh, parts by their shapes.
    spec.compiler.inertiafromgeom = mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_AUTO


def _touch(geom: Any, own: int, others: int, friction: float) -> None:
    """Let a shape touch others; bits say which."""
    geom.contype, geom.conaffinity = own, others
    geom.condim = 4
    geom.friction = [friction, TWISTING, ROLLING]
    geom.solref, geom.solimp = [CONTACT_TIME, 1.0], CONTACT


def _place(body: Any, T: Array) -> None:
    quaternion = np.empty(4)
    mujoco.mju_mat2Quat(quaternion, np.ascontiguousarray(T[:3, :3]).ravel())
    body.pos, body.quat = T[:3, 3], quaternion


def _lowest_of(surroundings: Surroundings) -> Iterator[float]:
    """Heights that the floor must not be above [m]."""
    yield 0.0
    for obstacle in (*surroundings.scene, *surroundings.parts):
        if not obstacle.link and not isinstance(obstacle.shape, HalfSpace):
            yield float(obstacle.T_link_obstacle[2, 3]) - _depth(obstacle)


def _depth(obstacle: Obstacle) -> float:
    """Tell how far an obstacle reaches below its origin [m]; 0 for meshes, which is too little."""
    down = np.abs(obstacle.T_link_obstacle[2, :3])
    across = float(np.hypot(down[0], down[1]))
    match obstacle.shape:
        case Box(size):
            return float(0.5 * down @ size)
        case Cylinder(radius, length):
            return float(across * radius + 0.5 * down[2] * length)
        case Capsule(radius, length):
            return float(radius + 0.5 * down[2] * length)
        case Sphere(radius):
            return radius
        case _:
            return 0.0


def _filled(surroundings: Surroundings) -> Iterator[str]:
    for obstacle in (*surroundings.scene, *surroundings.parts):
        if isinstance(obstacle.shape, Mesh):
            yield f"obstacle '{shown(obstacle.name)}' is simulated as the convex hull of its mesh"


def stiction(model: Any, data: Any, robot: Robot, surroundings: Surroundings) -> Stiction:
    """Make what keeps parts where grippers hold them."""
    of_bodies = partial(mujoco.mj_name2id, model, mujoco.mjtObj.mjOBJ_BODY)
    links = gripper_links(robot)
    hands = [0 if link == robot.root_link else of_bodies(link) for link in links]
    parts = [of_bodies(body_of(part.name)) for part in surroundings.parts]
    return Stiction(model, data, hands, parts, RUBBER, CONTACT_TIME)
