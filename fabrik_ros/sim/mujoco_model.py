"""A robot's URDF as a MuJoCo model: its joints and masses, with drives."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
import math
from typing import Any

import mujoco
import numpy as np

from ..collision import MeshFinder
from ..errors import FabrikError
from ..model.dynamics import Dynamics, Inertia
from ..model.joints import Joint, JointType
from ..model.robot import Robot
from ..transforms import Array, quaternion_xyzw_from_rotation
from .drives import Drives, Load, sized
from .link_shapes import add_shapes, COLOUR, ENDLESS
from .masses import repaired, rigid_with
from .surroundings import add_surroundings, FLOOR, Surroundings

GRAVITY = 9.81
LIMIT_TIME, FOLLOWER_TIME = 0.004, 0.004
"""Time in which a joint beyond its limit, or a follower beside its source, is pushed back [s]."""
STICTION_TIME, STICTION = 0.004, (0.99, 0.999, 0.001, 0.5, 2.0)
"""Dry friction holds almost without creeping, unlike MuJoCo's own: `solref` [s], `solimp`."""
NARROWEST, WIDEST = 1e-6, 1e9
"""Narrowest and widest range of a joint that MuJoCo accepts [rad or m]."""
SAMPLES, MOST_TURNED = 64, 1e3
HEAVIEST = 1e9
DAYLIGHT = (0.5, 0.5, 0.5)
FLOOR_LIGHT, FLOOR_DARK = (0.55, 0.57, 0.6), (0.45, 0.47, 0.5)
"""Colours of the squares of the floor."""
SQUARES, SQUARE_PIXELS = 2.0, 64
"""Floor squares in a metre each way [1/m], and pixels along the edge of one."""
BONE, SHORTEST_BONE = 0.025, 0.001
"""Radius of what is shown of a link, and the least length that is worth showing [m]."""


class PhysicsError(FabrikError):
    """The arm cannot be simulated."""


@dataclass(frozen=True)
class PhysicsOptions:
    """Options of the simulation of an arm."""

    timestep: float = 0.001
    """[s]."""
    bandwidth: float = 15.0
    """Frequency up to which the drives follow [Hz]."""
    damping_ratio: float = 1.0
    """Damping ratio of the drives; 1 is critical."""
    gravity_compensation: float = 1.0
    """Share of the weight that the drives know of and hold without an error of position."""
    powered: bool = True
    """Without power there is neither drive nor brake: the arm falls."""
    friction: bool = True
    """Dry and viscous friction in the joints."""

    def __post_init__(self) -> None:
        for name, low, high in (
            ('timestep', 1e-5, 0.01),
            ('bandwidth', 0.1, 100.0),
            ('damping_ratio', 0.1, 10.0),
            ('gravity_compensation', 0.0, 1.0),
        ):
            value = getattr(self, name)
            if not low <= value <= high:
                raise ValueError(f'{name} must be in [{low:g}, {high:g}], got {value:g}')


@dataclass(frozen=True, eq=False)
class Physics:
    """A robot as MuJoCo has it."""

    model: Any
    """MuJoCo's model."""
    joints: tuple[Joint, ...]
    """Joints with a drive: those that move and follow no other."""
    drives: Drives
    followers: tuple[tuple[int, int, float, float], ...]
    """Places in `qpos` of followers and of their sources, multipliers and offsets."""
    notes: tuple[str, ...]
    """Values of the description that were not believed, or left out."""


def build(
    robot: Robot,
    described: Dynamics,
    options: PhysicsOptions,
    finder: MeshFinder | None = None,
    surroundings: Surroundings | None = None,
) -> Physics:
    """
    Build the model of a robot whose root link stands on the ground.

    Parameters
    ----------
    robot : Robot
        The robot.
    described : Dynamics
        Its masses and drives.
    options : PhysicsOptions
        How it is simulated.
    finder : MeshFinder, optional
        Finds meshes, where the shapes of links are to be seen; left out, a rod stands for each.
    surroundings : Surroundings, optional
        What is there beside the arm: its gripper touches that. Left out, nothing touches anything.

    Raises
    ------
    PhysicsError
        If nothing can be driven, or MuJoCo refuses the model; says why.

    """
    joints = _driven(robot)
    inertias, notes = repaired(robot, described.inertias)
    spec, bodies = _skeleton(robot, inertias, options)
    if surroundings is not None:
        finder = finder or MeshFinder()
    shown, unseen = (set(), []) if finder is None else add_shapes(spec, bodies, robot, finder)
    for link in bodies.keys() - shown:
        if shown.isdisjoint(rigid_with(robot, link)):
            _add_bones(bodies[link], robot, link)
    with np.errstate(all='ignore'):  # what comes of absurd numbers is looked at below
        load = _load(_compiled(spec), robot, joints)
    heaviest = max(float(np.abs(load.inertia).max()), float(np.abs(load.weight).max()))
    if not heaviest < HEAVIEST:
        raise PhysicsError(
            f'its drives would have to move {heaviest:.3g} kg m^2 or hold as many N m; '
            'is the robot described in metres?'
        )
    drives = sized(
        [joint.name for joint in joints],
        [described.drives[joint.name] for joint in joints],
        load,
        options.bandwidth,
        options.damping_ratio,
        options.timestep,
    )
    for i, joint in enumerate(joints):
        _add_drive(spec, joint, drives, i, options)
    if surroundings is not None and finder is not None:
        unseen += add_surroundings(spec, bodies, robot, surroundings, finder)
    model = _compiled(spec)
    if options.friction:
        dofs = [int(model.joint(joint.name).dofadr[0]) for joint in joints]
        model.dof_damping[dofs] = drives.damping
        model.dof_frictionloss[dofs] = drives.friction
        model.dof_solref[dofs] = STICTION_TIME, 1.0
        model.dof_solimp[dofs] = STICTION
    notes = (*_left_out(robot), *notes, *drives.notes, *unseen)
    return Physics(model, joints, drives, tuple(_followers(robot, model)), notes)


def _driven(robot: Robot) -> tuple[Joint, ...]:
    """Joints with a drive: those that move and follow no other that does."""
    joints = tuple(
        joint for joint in robot.joints if joint.type.is_drivable and not _follows(robot, joint)
    )
    if not joints:
        raise PhysicsError('the robot has no joint that can be driven')
    return joints


def _follows(robot: Robot, joint: Joint) -> bool:
    return joint.mimic is not None and any(j.name == joint.mimic.source for j in robot.joints)


def _left_out(robot: Robot) -> Iterable[str]:
    for joint in robot.joints:
        if joint.type.moves and not joint.type.is_drivable:
            yield f"joint '{joint.name}' is {joint.type.value}; taken as fixed"


def _skeleton(
    robot: Robot, inertias: Mapping[str, Inertia], options: PhysicsOptions
) -> tuple[Any, dict[str, Any]]:
    """Links, joints and masses, without drives, and bodies by link; MuJoCo's world is the root."""
    spec = mujoco.MjSpec()
    spec.option.timestep = options.timestep
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    spec.option.gravity = [0.0, 0.0, -GRAVITY]
    spec.option.disableflags = int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
    spec.visual.headlight.ambient = DAYLIGHT
    spec.compiler.inertiafromgeom = mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_FALSE
    spec.compiler.degree = False
    _add_floor(spec)
    bodies = {robot.root_link: spec.worldbody}
    for joint in _from_the_root(robot):
        body = bodies[joint.child] = _add_link(bodies[joint.parent], joint, inertias)
        body.gravcomp = options.gravity_compensation if options.powered else 0.0
    for joint in robot.joints:
        if _follows(robot, joint):
            _couple(spec, joint)
    return spec, bodies


def _add_floor(spec: Any) -> None:
    """Something to see below the arm, level with its root link; it touches nothing by itself."""
    texture = spec.add_texture(
        name=FLOOR,
        type=mujoco.mjtTexture.mjTEXTURE_2D,
        builtin=mujoco.mjtBuiltin.mjBUILTIN_CHECKER,
        width=2 * SQUARE_PIXELS,
        height=2 * SQUARE_PIXELS,
        rgb1=FLOOR_LIGHT,
        rgb2=FLOOR_DARK,
    )
    material = spec.add_material(name=FLOOR, texuniform=True, texrepeat=[SQUARES, SQUARES])
    material.textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = texture.name
    floor = spec.worldbody.add_geom(name=FLOOR, type=mujoco.mjtGeom.mjGEOM_PLANE, material=FLOOR)
    floor.size = ENDLESS
    floor.contype = floor.conaffinity = 0


def _from_the_root(robot: Robot) -> Iterable[Joint]:
    """Joints of the robot, each after the one above it."""
    waiting = list(robot.child_joints[robot.root_link])
    while waiting:
        joint = waiting.pop(0)
        yield joint
        waiting.extend(robot.child_joints[joint.child])


def _add_link(parent: Any, joint: Joint, inertias: Mapping[str, Inertia]) -> Any:
    x, y, z, w = quaternion_xyzw_from_rotation(joint.origin[:3, :3])
    # MuJoCo keeps the name `world` for itself.
    name = '' if joint.child == 'world' else joint.child
    body = parent.add_body(name=name, pos=joint.origin[:3, 3], quat=[w, x, y, z])
    inertia = inertias.get(joint.child)
    if inertia is not None:
        t = inertia.tensor_in_link
        body.mass = inertia.mass
        body.ipos = inertia.centre
        body.fullinertia = [t[0, 0], t[1, 1], t[2, 2], t[0, 1], t[0, 2], t[1, 2]]
        body.explicitinertial = True
    if joint.type.is_drivable:
        _add_joint(body, joint)
    return body


def _add_joint(body: Any, joint: Joint) -> None:
    hinge, slide = mujoco.mjtJoint.mjJNT_HINGE, mujoco.mjtJoint.mjJNT_SLIDE
    added = body.add_joint(
        name=joint.name,
        type=slide if joint.type is JointType.PRISMATIC else hinge,
        axis=joint.axis,
    )
    limited = joint.mimic is None and (math.isfinite(joint.lower) or math.isfinite(joint.upper))
    added.limited = int(limited)
    if limited:
        middle = 0.5 * NARROWEST if joint.lower == joint.upper else 0.0
        lower, upper = max(joint.lower, -WIDEST), min(joint.upper, WIDEST)
        added.range = [lower - middle, upper + middle]
        added.solref_limit = [LIMIT_TIME, 1.0]


def _add_bones(body: Any, robot: Robot, link: str) -> None:
    """Something to see: a capsule from a link's own joint to each of those below it."""
    for joint in robot.child_joints[link]:
        end = joint.origin[:3, 3]
        if np.linalg.norm(end) > SHORTEST_BONE:
            geom = body.add_geom(type=mujoco.mjtGeom.mjGEOM_CAPSULE, mass=0.0)
            geom.fromto = [0.0, 0.0, 0.0, *end]
            geom.size = [BONE, 0.0, 0.0]
            geom.rgba = COLOUR
            geom.contype = geom.conaffinity = 0


def _couple(spec: Any, joint: Joint) -> None:
    assert joint.mimic is not None
    equality = spec.add_equality(
        type=mujoco.mjtEq.mjEQ_JOINT,
        objtype=mujoco.mjtObj.mjOBJ_JOINT,
        name1=joint.name,
        name2=joint.mimic.source,
        solref=[FOLLOWER_TIME, 1.0],
    )
    equality.data[:2] = joint.mimic.offset, joint.mimic.multiplier


def _add_drive(spec: Any, joint: Joint, drives: Drives, i: int, options: PhysicsOptions) -> None:
    added = spec.joint(joint.name)
    added.armature = drives.rotor[i]
    if not options.powered:
        return
    added.actgravcomp = True
    added.actfrclimited = True
    added.actfrcrange = [-drives.effort[i], drives.effort[i]]
    actuator = spec.add_actuator(name=joint.name, target=joint.name)
    actuator.trntype = mujoco.mjtTrn.mjTRN_JOINT
    actuator.gaintype = mujoco.mjtGain.mjGAIN_FIXED
    actuator.biastype = mujoco.mjtBias.mjBIAS_AFFINE
    # Beside the limit of the joint, which counts the weight too: releases of MuJoCo before 4.0
    # let a drive brake that is at the limit of its joint alone.
    actuator.forcelimited = True
    actuator.forcerange = [-drives.effort[i], drives.effort[i]]
    actuator.gainprm[0] = drives.stiffness[i]
    actuator.biasprm[:3] = 0.0, -drives.stiffness[i], -drives.braking[i]


@contextmanager
def failures_told() -> Iterator[None]:
    """Raise a PhysicsError for what MuJoCo itself cannot do; also a decorator."""
    try:
        yield
    except (mujoco.FatalError, mujoco.UnexpectedError) as error:
        raise PhysicsError(f'MuJoCo failed: {error}') from error


def _compiled(spec: Any) -> Any:
    try:
        return spec.compile()
    except ValueError as error:
        raise PhysicsError(f'MuJoCo does not take the robot: {error}') from error


def _followers(robot: Robot, model: Any) -> list[tuple[int, int, float, float]]:
    return [
        (
            int(model.joint(joint.name).qposadr[0]),
            int(model.joint(joint.mimic.source).qposadr[0]),
            joint.mimic.multiplier,
            joint.mimic.offset,
        )
        for joint in robot.joints
        if joint.mimic is not None and joint.type.is_drivable and _follows(robot, joint)
    ]


def _load(model: Any, robot: Robot, joints: Sequence[Joint]) -> Load:
    """Find what the joints have to move, in the middle of their ranges and all over these."""
    data = mujoco.MjData(model)
    n = len(joints)
    share = np.zeros((model.nv, n))
    for i, joint in enumerate(joints):
        share[model.joint(joint.name).dofadr[0], i] = 1.0
    offsets = np.zeros(model.nv)
    # All joints have one value: places in qpos and in qvel are the same.
    for follower, source, multiplier, offset in _followers(robot, model):
        share[follower] = multiplier * share[source]
        offsets[follower] = offset
    lower = np.array([joint.lower for joint in joints])
    upper = np.array([joint.upper for joint in joints])
    lower = np.where(np.isfinite(lower), lower, np.where(np.isfinite(upper), upper, 0.0) - np.pi)
    upper = np.where(np.isfinite(upper), upper, lower + 2.0 * np.pi)
    lower, upper = np.clip([lower, upper], -MOST_TURNED, MOST_TURNED)
    random = np.random.default_rng(0).uniform(lower, upper, (SAMPLES, n))
    inertia, weight = np.empty((SAMPLES + 1, n, n)), np.empty((SAMPLES + 1, n))
    for k, q in enumerate([0.5 * (lower + upper), *random]):
        data.qpos[:] = share @ q + offsets
        mujoco.mj_forward(model, data)
        inertia[k] = share.T @ _mass_matrix(model, data) @ share
        weight[k] = share.T @ data.qfrc_bias
    return Load(inertia, weight, np.array([joint.velocity for joint in joints]))


def _mass_matrix(model: Any, data: Any) -> Array:
    """Mass matrix, shape (nv, nv), at the joint values of the data."""
    M = np.empty((model.nv, model.nv))
    for i, unit in enumerate(np.eye(model.nv)):
        mujoco.mj_mulM(model, data, M[i], unit)
    return M
