"""The arms that are measured: real ones, from the package example-robot-data."""

from collections.abc import Sequence
import copy
from dataclasses import dataclass
from functools import cached_property
from importlib import metadata
from pathlib import Path
from typing import NamedTuple
import xml.etree.ElementTree as ET

import fabrik_ros
from fabrik_ros.transforms import Array
from judging import Judge
import numpy as np

LEAST_JOINTS_FOR_POSES = 6


class Source(NamedTuple):
    """A chain of a robot in example-robot-data; base and tip may be left to be found."""

    path: str
    base_link: str = ''
    tip_link: str = ''


ARMS = {
    'ur5': Source('ur_description/urdf/ur5_robot.urdf', 'base_link', 'tool0'),
    'ur10': Source('ur_description/urdf/ur10_robot.urdf', 'base_link', 'tool0'),
    'panda': Source('panda_description/urdf/panda.urdf', 'panda_link0', 'panda_link8'),
    'xarm7': Source('xarm_description/urdf/xarm7.urdf', 'link_base', 'link_eef'),
    'jaco': Source('kinova_description/robots/kinova.urdf'),
    'baxter_left': Source('baxter_description/urdf/baxter.urdf', 'torso', 'left_gripper'),
    'pr2_right': Source('pr2_description/urdf/pr2.urdf', 'torso_lift_link', 'r_wrist_roll_link'),
    'so101': Source('so_arm_description/urdf/so101.urdf', '', 'gripper_frame_link'),
    'z1': Source('z1_description/urdf/z1.urdf', '', 'link06'),
    'tiago': Source('tiago_description/robots/tiago.urdf', 'torso_lift_link', 'arm_7_link'),
}

OTHER_ARMS = {
    'ur5_limited': Source(
        'ur_description/urdf/ur5_joint_limited_robot.urdf', 'base_link', 'tool0'
    ),
}
"""Not among those compared; joints of this one turn by ±pi."""


@dataclass(frozen=True, eq=False)
class Arm:
    """One arm in the forms that solvers take."""

    name: str
    chain: fabrik_ros.Chain
    judge: Judge
    joints: tuple[fabrik_ros.Joint, ...]
    """All joints from base to tip, fixed ones included."""
    urdf_path: Path
    """A URDF of this arm alone: no other limb, no shapes, no safety controllers."""

    @property
    def mode(self) -> str:
        """What is asked for: 'pose', or 'position' where joints are too few for poses."""
        return 'pose' if len(self.chain) >= LEAST_JOINTS_FOR_POSES else 'position'

    @cached_property
    def axes(self) -> Array:
        """Unit axes of the moving joints in their own frames, shape (n, 3)."""
        return np.array([joint.axis for joint in self.joints if joint.type.moves])

    @cached_property
    def origins(self) -> Array:
        """Each moving joint in the frame of the one before, last the tip, shape (n + 1, 4, 4)."""
        origins = [np.eye(4)]
        for joint in self.joints:
            origins[-1] = origins[-1] @ joint.origin
            if joint.type.moves:
                origins.append(np.eye(4))
        return np.array(origins)

    @cached_property
    def zero_frames(self) -> Array:
        """Frames of the moving joints, last the tip, in the base's at q = 0, (n + 1, 4, 4)."""
        frames = [self.origins[0]]
        for origin in self.origins[1:]:
            frames.append(frames[-1] @ origin)
        return np.array(frames)


def load(name: str, folder: Path) -> Arm:
    """Read an arm, and write its own URDF to a folder."""
    source = {**ARMS, **OTHER_ARMS}[name]
    urdf = (models_folder() / source.path).read_text()
    # Pinocchio knows nothing of safety controllers, so nobody obeys them here.
    robot = fabrik_ros.load_urdf(urdf, use_safety_limits=False)
    chain = robot.chain(source.base_link, source.tip_link)
    joints = robot.joints_between(chain.base_link, chain.tip_link)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f'{name}.urdf'
    path.write_text(bare_urdf(urdf, joints))
    judge = Judge(urdf, chain.base_link, chain.tip_link)
    return Arm(name, chain, judge, joints, path)


def bare_urdf(urdf: str, joints: Sequence[fabrik_ros.Joint]) -> str:
    """
    Keep these joints of a URDF and the links between them.

    Links lose their shapes and, but for the first, weigh 1 kg each: MuJoCo refuses moving links
    without mass, and KDL complains of a first link with one.
    """
    arm = ET.Element('robot', name='arm')
    ET.SubElement(arm, 'link', name=joints[0].parent)
    for joint in joints:
        inertial = ET.SubElement(ET.SubElement(arm, 'link', name=joint.child), 'inertial')
        ET.SubElement(inertial, 'mass', value='1')
        moments = dict.fromkeys(('ixx', 'iyy', 'izz'), '1')
        ET.SubElement(inertial, 'inertia', ixy='0', ixz='0', iyz='0', **moments)
    elements = {element.get('name'): element for element in ET.fromstring(urdf).findall('joint')}
    for joint in joints:
        element = copy.deepcopy(elements[joint.name])
        for child in list(element):
            if child.tag not in ('parent', 'child', 'origin', 'axis', 'limit'):
                element.remove(child)
        arm.append(element)
    return ET.tostring(arm, encoding='unicode')


def models_folder() -> Path:
    """Find the robots of example-robot-data as pip installs it."""
    distribution = metadata.distribution('example-robot-data')
    return Path(distribution.locate_file('cmeel.prefix/share/example-robot-data/robots'))
