"""
An arm with weight, friction and drives of limited strength, in MuJoCo, from its URDF.

Joints and masses come from the description; meshes are not needed. Nothing touches anything but
the gripper, parts and what stands around, where these are given.
Each joint has a position drive as industrial arms have: stiff, about critically damped, no
stronger than the description says, and it compensates the weight it holds.

"""

from collections.abc import Mapping, Sequence
import math
from typing import Any

import mujoco
import numpy as np
import numpy.typing as npt

from ..collision import MeshFinder
from ..errors import JointValueError
from ..model.urdf import parse_dynamics, parse_urdf
from ..transforms import Array, transform
from .mujoco_model import build, failures_told, PhysicsError, PhysicsOptions
from .surroundings import body_of, stiction, Surroundings

INSTABILITIES = (
    mujoco.mjtWarning.mjWARN_BADQPOS,
    mujoco.mjtWarning.mjWARN_BADQVEL,
    mujoco.mjtWarning.mjWARN_BADQACC,
)
# Raised as errors here; MuJoCo would write each into a file where the process happens to run.
mujoco.set_mju_user_warning(lambda message: None)


class PhysicalArm:
    """
    A robot in simulated physics; its root link stands on the ground.

    Parameters
    ----------
    urdf_text : str
        The robot.
    joint_names : sequence of str, optional
        Joints that take targets, in the order of all arrays here; the others hold still where
        they start. Left out, every joint that is not a follower.
    options : PhysicsOptions
        How it is simulated.
    finder : MeshFinder, optional
        Finds meshes, where a view is to show the shapes of links.
    surroundings : Surroundings, optional
        What stands around the arm, and parts that its gripper can hold and move.

    Attributes
    ----------
    joint_names : tuple of str
        Joints that take targets.
    lower, upper : array, shape (n,)
        Their limits [rad or m].
    model, data
        MuJoCo's own, for a view; `model.opt.timestep` is the time step.
    drives : Drives
        Drives of `driven_names`.
    driven_names : tuple of str
        All joints with a drive: those that take targets and those that hold still.
    notes : tuple of str
        What of the description was not believed, or left out.
    parts : tuple of str
        Names of the parts.

    Raises
    ------
    UrdfError
        If the description cannot be used.
    PhysicsError
        If nothing moves, or MuJoCo refuses the model or fails; says why.
    JointValueError
        If `joint_names` has unknown names.

    """

    @failures_told()
    def __init__(
        self,
        urdf_text: str,
        joint_names: Sequence[str] | None = None,
        options: PhysicsOptions | None = None,
        finder: MeshFinder | None = None,
        surroundings: Surroundings | None = None,
    ) -> None:
        self.options = options or PhysicsOptions()
        robot = parse_urdf(urdf_text)
        physics = build(robot, parse_dynamics(urdf_text), self.options, finder, surroundings)
        self.parts = tuple(part.name for part in surroundings.parts) if surroundings else ()
        self._root_link = robot.root_link
        self.model, self.drives, self.notes = physics.model, physics.drives, physics.notes
        self.data = mujoco.MjData(self.model)
        self._stiction = (
            stiction(self.model, self.data, robot, surroundings) if surroundings else None
        )
        self.driven_names = tuple(joint.name for joint in physics.joints)
        self.joint_names = _checked_names(joint_names, self.driven_names)
        self._taken = np.array([self.driven_names.index(name) for name in self.joint_names])
        joints = [self.model.joint(name) for name in self.driven_names]
        self._qpos = np.array([joint.qposadr[0] for joint in joints])
        self._dof = np.array([joint.dofadr[0] for joint in joints])
        self._followers = physics.followers
        self._lower = np.array([joint.lower for joint in physics.joints])
        self._upper = np.array([joint.upper for joint in physics.joints])
        self.lower, self.upper = self._lower[self._taken], self._upper[self._taken]
        self._advance = self.drives.braking / self.drives.stiffness
        self._targets = np.zeros(len(self.driven_names))
        self._rates = np.zeros(len(self.driven_names))
        self._unspent = 0.0
        self.reset()

    @failures_told()
    def reset(self, values: Mapping[str, float] | None = None) -> None:
        """
        Put the arm at rest at joint values by name, and let the drives hold it there.

        Parts are where they were at the start again.

        Joints that are not named stand at 0, or as near to it as their limits allow.

        Raises
        ------
        JointValueError
            If a name is unknown, or a value not finite or outside its limits.

        """
        values = values or {}
        q = np.clip(np.zeros(len(self.driven_names)), self._lower, self._upper)
        for name, value in values.items():
            if name not in self.driven_names:
                raise JointValueError(
                    f"no driven joint '{name}'; there are: {', '.join(self.driven_names)}"
                )
            i = self.driven_names.index(name)
            if not self._lower[i] <= value <= self._upper[i]:
                raise JointValueError(
                    f"joint '{name}' cannot start at {value:.6g}: its limits are "
                    f'[{self._lower[i]:.6g}, {self._upper[i]:.6g}]'
                )
            q[i] = value
        mujoco.mj_resetData(self.model, self.data)
        if self._stiction is not None:
            self._stiction.forget()
        self._place(q)
        self._targets, self._rates = q, np.zeros_like(q)
        self._unspent = 0.0
        mujoco.mj_forward(self.model, self.data)

    def _place(self, q: Array) -> None:
        self.data.qpos[self._qpos] = q
        for follower, source, multiplier, offset in self._followers:
            self.data.qpos[follower] = multiplier * self.data.qpos[source] + offset

    def follow(self, q: Array, velocity: Array) -> None:
        """
        Tell the drives where to be; what is outside the limits is taken as the limit.

        For every step, hence unchecked.

        Parameters
        ----------
        q : array, shape (n,)
            Values of `joint_names` [rad or m].
        velocity : array, shape (n,)
            Their velocities [rad/s or m/s]; if given, the drives follow without the lag of their
            damping.

        """
        self._targets[self._taken] = q
        self._rates[self._taken] = velocity

    @failures_told()
    def step(self, dt: float) -> None:
        """
        Let time pass: as many whole time steps as fit; the rest is kept for the next call.

        Parameters
        ----------
        dt : float
            Duration [s].

        Raises
        ------
        PhysicsError
            If the simulation became unstable, or MuJoCo fails. Only `reset` leads on from there.

        """
        begin = self.time
        timestep = self.model.opt.timestep
        self._unspent += dt
        steps = math.floor(self._unspent / timestep + 1e-6)
        self._unspent -= steps * timestep
        if self.options.powered:
            targets = np.clip(self._targets, self._lower, self._upper)
            self.data.ctrl[:] = targets + self._advance * self._rates
        if self._stiction is None:
            mujoco.mj_step(self.model, self.data, steps)
        else:
            for _ in range(steps):
                self._stiction.step()
        for kind in INSTABILITIES:
            if self.data.warning[kind].number:
                raise PhysicsError(f'the simulation became unstable soon after {begin:.3f} s')

    @property
    def time(self) -> float:
        """Simulated time since the last reset [s]."""
        return float(self.data.time)

    def link_pose(self, link: str) -> Array | None:
        """Pose of a link in the root link, shape (4, 4); None where there is no such link."""
        if link == self._root_link:
            return np.eye(4)
        return self._body_pose(link)

    def part_pose(self, name: str) -> Array:
        """Pose of a part in the root link, shape (4, 4); KeyError where there is no such part."""
        pose = self._body_pose(body_of(name))
        if pose is None:
            raise KeyError(name)
        return pose

    def _body_pose(self, body: str) -> Array | None:
        number = mujoco.mj_name2id(self.model, mujoco.mjtObj.mjOBJ_BODY, body)
        if number <= 0:
            return None
        return transform(self.data.xmat[number].reshape(3, 3), self.data.xpos[number])

    @property
    def q(self) -> Array:
        """Joint values of `joint_names`, shape (n,) [rad or m]."""
        return self._of_taken(self.data.qpos, self._qpos)

    @property
    def velocity(self) -> Array:
        """Joint velocities, shape (n,) [rad/s or m/s]."""
        return self._of_taken(self.data.qvel, self._dof)

    @property
    def effort(self) -> Array:
        """Forces and torques of the drives, holding the weight included, shape (n,) [N m or N]."""
        return self._of_taken(self.data.qfrc_actuator, self._dof)

    def _of_taken(self, values: Any, places: npt.NDArray[np.int64]) -> Array:
        taken: Array = np.array(values)[places[self._taken]]
        return taken


def _checked_names(names: Sequence[str] | None, known: tuple[str, ...]) -> tuple[str, ...]:
    if names is None:
        return known
    for name in names:
        if name not in known:
            raise JointValueError(f"no driven joint '{name}'; there are: {', '.join(known)}")
    return tuple(names)
