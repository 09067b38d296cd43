"""Where all solids of a robot are, as the joints move."""

from collections.abc import Container, Mapping, Sequence
from dataclasses import replace
import math

import numpy as np

from ..kernels import tree_kinematics
from ..kernels.arm_table import FRAME, pack_row, POSITION
from ..kernels.tree_model import PARENT
from ..model.joints import Joint, JointType
from ..model.mechanism import Mechanism, pack, Packed, read_only
from ..model.robot import Robot
from ..transforms import Array, transform
from .solids import Solid


class SolidFrames:
    """
    Frames of solids in the root link of a robot, at any values of all its joints.

    Joints of the mechanism come first, then all others, which do not move: they are at 0, or at
    the limit next to it. Mimic joints move with their sources, in the mechanism or not.

    Attributes
    ----------
    names : tuple of str
        Names of the joints that have a value.
    other_joints : dict
        Values of the joints that are not in the mechanism [rad or m].
    told : dict
        Those of them that were set; the others are assumed.
    moving : tuple of Joint
        All joints that move, parents before children.
    model : array
        Rows of `kernels/tree_model.py`: those joints, then a row for each solid.
    values : array, shape (v,)
        Values of all joints that have one; `move` writes the first ones.
    frames : array, shape (g, 12)
        Rotation, by rows, and origin [m] of each of the g solids; `move` writes over them.
    poses : list of array, shape (12,)
        The same, one for each.
    balls : array, shape (g, 3)
        Centres of the balls around the solids, each in its own frame [m].

    """

    def __init__(self, robot: Robot, mechanism: Mechanism, solids: Sequence[Solid]) -> None:
        known = {joint.name for joint in robot.joints}
        joints = [_drivable(joint, known) for joint in _parents_first(robot)]
        sources = {j.name: j for j in joints if j.type.moves and j.mimic is None}
        others = [name for name in sources if name not in mechanism.joint_names]
        self.names = (*mechanism.joint_names, *others)
        self._limits = {name: (sources[name].lower, sources[name].upper) for name in others}
        self.other_joints = {name: _clipped(0.0, self._limits[name]) for name in others}
        self.told: dict[str, float] = {}
        links = list(dict.fromkeys(solid.link for solid in solids))
        packed = pack(joints, robot.root_link, links, self.names)
        self.moving = packed.moving
        self.model = _with_solids(packed, links, solids)
        self.values = np.array([0.0] * len(mechanism) + list(self.other_joints.values()))
        self._count = len(mechanism)
        self._frames = np.empty((len(self.model), FRAME))
        self.frames = self._frames[len(self.moving) :]
        self.poses = list(self.frames)
        self.balls = np.array([solid.centre for solid in solids]).reshape(-1, 3)

    def set_other_joints(self, values: Mapping[str, float]) -> Array:
        """
        Set joints outside the mechanism [rad or m]; return how far each joint has moved.

        Unknown names and values that are not finite are ignored; values are clipped to limits.
        """
        before = self.values.copy()
        for name, value in values.items():
            if name in self.other_joints and math.isfinite(value):
                self.told[name] = _clipped(float(value), self._limits[name])
        self.other_joints |= self.told
        self.values[self._count :] = list(self.other_joints.values())
        moved: Array = np.abs(self.values - before)
        moved[: self._count] = 0.0
        return moved

    def move(self, q: Array) -> None:
        """Take the joints of the mechanism to `q`, shape (n,)."""
        self.values[: self._count] = q
        tree_kinematics.tree_link_frames(self.model, self.values, self._frames)

    def centres(self) -> Array:
        """Where the centres of the balls around the solids are now, shape (g, 3) [m]."""
        R = self.frames[:, :POSITION].reshape(-1, 3, 3)
        centres: Array = np.matmul(R, self.balls[:, :, None])[:, :, 0] + self.frames[:, POSITION:]
        return centres


def _parents_first(robot: Robot) -> list[Joint]:
    links: list[str] = [robot.root_link]
    joints: list[Joint] = []
    for link in links:
        joints.extend(robot.child_joints[link])
        links.extend(joint.child for joint in robot.child_joints[link])
    return joints


def _drivable(joint: Joint, known: Container[str]) -> Joint:
    """Fix joints that joint states cannot tell; drop a mimic whose source is missing."""
    if not joint.type.is_drivable:
        return replace(joint, type=JointType.FIXED, mimic=None)
    return replace(joint, mimic=None) if joint.mimic and joint.mimic.source not in known else joint


def _clipped(value: float, limits: tuple[float, float]) -> float:
    return min(max(value, limits[0]), limits[1])


def _with_solids(packed: Packed, links: Sequence[str], solids: Sequence[Solid]) -> Array:
    """Write the rows of the moving joints, and one for each solid on its link."""
    count = len(packed.moving)
    rows, parents = list(packed.rows[:count]), list(packed.parents[:count])
    for solid in solids:
        i = count + links.index(solid.link)
        row = packed.rows[i]
        T = transform(row[:POSITION].reshape(3, 3), row[POSITION:FRAME]) @ solid.T_link_solid
        rows.append(pack_row(T))
        parents.append(packed.parents[i])
    model = np.column_stack([np.array(rows), parents])
    assert model.shape[1] == PARENT + 1
    return read_only(model)
