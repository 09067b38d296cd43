"""What several tests share: comparisons, real robots and small inline documents."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
import functools
import importlib.metadata
import os
from pathlib import Path
import sys

from fabrik_ros.motion.following.arm_state import State
from fabrik_ros.reasons import Reason, ReasonKind
import numpy as np
import numpy.typing as npt
import pytest

DISTRIBUTION = 'example-robot-data'


def assert_close(actual: npt.ArrayLike, expected: npt.ArrayLike, atol: float = 1e-12) -> None:
    """Compare shapes and numbers; NaN is never close to anything, infinity only to itself."""
    actual, expected = np.asarray(actual), np.asarray(expected)
    assert actual.shape == expected.shape
    np.testing.assert_allclose(actual, expected, rtol=0.0, atol=atol, equal_nan=False)


def mostly_long(names: Iterable, *quick: object) -> list:
    """Mark the cases of a test as long, but for the quick ones, which `make test` runs."""
    return [
        name if name in quick else pytest.param(name, marks=pytest.mark.long) for name in names
    ]


def examples(few: int, many: int) -> int:
    """How many examples a law tries: few in `make test`, many in `make test-long`."""
    return few if os.environ.get('HYPOTHESIS_PROFILE', 'quick') == 'quick' else many


@dataclass(frozen=True)
class RealArm:
    """An arm of example-robot-data: its file below `robots/`, first and last link."""

    path: str
    base_link: str
    tip_link: str
    joints: int


REAL_ARMS = {
    'ur5': RealArm('ur_description/urdf/ur5_robot.urdf', 'base_link', 'tool0', 6),
    'ur10': RealArm('ur_description/urdf/ur10_robot.urdf', 'base_link', 'tool0', 6),
    'panda': RealArm('panda_description/urdf/panda.urdf', 'panda_link0', 'panda_link8', 7),
    'xarm7': RealArm('xarm_description/urdf/xarm7.urdf', 'link_base', 'link_eef', 7),
    'jaco': RealArm('kinova_description/robots/kinova.urdf', '', 'j2s6s200_end_effector', 6),
    'baxter': RealArm('baxter_description/urdf/baxter.urdf', 'torso', 'left_gripper', 7),
    'pr2': RealArm('pr2_description/urdf/pr2.urdf', 'torso_lift_link', 'r_wrist_roll_link', 7),
    'so101': RealArm('so_arm_description/urdf/so101.urdf', 'base_link', 'gripper_frame_link', 5),
    'z1': RealArm('z1_description/urdf/z1.urdf', 'world', 'link06', 6),
    'tiago': RealArm('tiago_description/robots/tiago.urdf', 'torso_lift_link', 'arm_7_link', 7),
}


@dataclass(frozen=True)
class RealTree:
    """Arms of a robot of example-robot-data that share a body."""

    path: str
    base_link: str
    tip_links: tuple[str, ...]
    joints: int
    one_arm: tuple[str, str]
    """First and last link of one of the arms alone."""


REAL_TREES = {
    'talos': RealTree(
        'talos_data/robots/talos_full_v2.urdf',
        'base_link',
        ('gripper_left_base_link', 'gripper_right_base_link'),
        16,
        ('torso_2_link', 'gripper_left_base_link'),
    ),
    'tiago_pro': RealTree(
        'tiago_pro_description/robots/tiago_pro.urdf',
        'base_footprint',
        ('arm_left_tool_link', 'arm_right_tool_link'),
        15,
        ('torso_lift_link', 'arm_left_tool_link'),
    ),
    'allegro': RealTree(
        'allegro_hand_description/urdf/allegro_right_hand.urdf',
        'palm_link',
        ('link_3.0_tip', 'link_7.0_tip', 'link_11.0_tip', 'link_15.0_tip'),
        16,
        ('palm_link', 'link_3.0_tip'),
    ),
}


def example_robot(name: str) -> Path:
    """
    Find a URDF of example-robot-data: the name of an arm or tree above, or a path there.

    Skips the test where the package is not installed, be it from PyPI, ROS or conda.
    """
    return find_robot(name) or pytest.skip(f'{name} needs: pip install {DISTRIBUTION}')


def find_robot(name: str) -> Path | None:
    """Find a URDF as `example_robot` does; None where the package is not installed."""
    known = {**REAL_ARMS, **REAL_TREES}
    path = known[name].path if name in known else name
    files = (folder / path for folder in _robot_folders())
    return next((file for file in files if file.is_file()), None)


def _robot_folders() -> list[Path]:
    prefixes = [*os.environ.get('AMENT_PREFIX_PATH', '').split(os.pathsep), sys.prefix]
    return [*_folders_of_wheel(), *(Path(p, 'share', DISTRIBUTION, 'robots') for p in prefixes)]


@functools.cache  # it has thousands of files
def _folders_of_wheel() -> tuple[Path, ...]:
    try:
        files = importlib.metadata.files(DISTRIBUTION) or []
    except importlib.metadata.PackageNotFoundError:
        return ()
    installed = [Path(file.locate()) for file in files if file.suffix == '.urdf']
    return tuple(next(p for p in path.parents if p.name == 'robots') for path in installed[:1])


LIMIT = '<limit lower="-1" upper="1" velocity="2"/>'


def robot_xml(links: str, *elements: str, attributes: str = 'name="test"') -> str:
    """Write a document: names of links, separated by spaces, then whatever else."""
    links_xml = [f'<link name="{link}"/>' for link in links.split()]
    return '\n'.join([f'<robot {attributes}>', *links_xml, *elements, '</robot>'])


def joint_xml(name: str, parent: str, child: str, kind: str = 'revolute', body: str = '') -> str:
    """Write a joint with these children; where it needs a limit and has none, with `LIMIT`."""
    if kind in ('revolute', 'prismatic') and '<limit' not in body:
        body += LIMIT
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'{body}</joint>'
    )


@dataclass(frozen=True)
class Segment:
    """A joint and the link behind it, as a URDF writes them."""

    kind: str = 'revolute'
    axis: Sequence[float] = (0.0, 0.0, 1.0)
    xyz: Sequence[float] = (0.0, 0.0, 0.0)
    rpy: Sequence[float] = (0.0, 0.0, 0.0)
    lower: float = -3.0
    upper: float = 3.0
    mimic: tuple[int, float, float] | None = None
    """Number of the joint that is followed, multiplier and offset."""

    @property
    def moves(self) -> bool:
        """Whether the joint has a value."""
        return self.kind != 'fixed'


def serial_xml(segments: Sequence[Segment]) -> str:
    """Write an arm whose joints `j0`, `j1`, ... connect the links `l0`, `l1`, ... in turn."""
    return tree_xml(segments, range(len(segments)))


def tree_xml(segments: Sequence[Segment], parents: Sequence[int]) -> str:
    """Write a robot whose joint `j<i>` carries the link `l<i + 1>` and hangs on `l<parent>`."""
    joints = []
    for i, (segment, parent) in enumerate(zip(segments, parents, strict=True)):
        body = f'<origin xyz="{_text(segment.xyz)}" rpy="{_text(segment.rpy)}"/>'
        body += f'<axis xyz="{_text(segment.axis)}"/>'
        body += f'<limit lower="{segment.lower}" upper="{segment.upper}" velocity="1" effort="1"/>'
        if segment.mimic:
            source, multiplier, offset = segment.mimic
            body += f'<mimic joint="j{source}" multiplier="{multiplier}" offset="{offset}"/>'
        joints.append(joint_xml(f'j{i}', f'l{parent}', f'l{i + 1}', segment.kind, body))
    links = ' '.join(f'l{i}' for i in range(len(segments) + 1))
    return robot_xml(links, *joints)


def _text(numbers: Sequence[float]) -> str:
    return ' '.join(repr(float(number)) for number in numbers)


PLANAR = serial_xml(
    [Segment(), Segment(xyz=(1.0, 0.0, 0.0)), Segment('fixed', xyz=(0.8, 0.0, 0.0))]
)
"""Two links of 1.0 m and 0.8 m that turn about z: answers follow from trigonometry."""

SIX_AXIS = serial_xml(
    [
        Segment(xyz=(0.0, 0.0, 0.4)),
        Segment(axis=(0.0, 1.0, 0.0), xyz=(0.1, 0.0, 0.0), lower=-2.0, upper=2.0),
        Segment(axis=(0.0, 1.0, 0.0), xyz=(0.0, 0.0, 0.5), lower=-2.5, upper=2.5),
        Segment(axis=(1.0, 0.0, 0.0), xyz=(0.4, 0.0, 0.1)),
        Segment(axis=(0.0, -1.0, 0.0), xyz=(0.1, 0.0, 0.0), lower=-2.0, upper=2.0),
        Segment('continuous', axis=(1.0, 0.0, 0.0), xyz=(0.1, 0.0, 0.0)),
        Segment('fixed', xyz=(0.05, 0.0, 0.0), rpy=(0.0, 1.5707963267948966, 0.0)),
    ]
)
"""An industrial arm with shoulder and elbow offsets."""


def why(motion) -> str:
    """Say why a motion rests short of its goal; '' where it does not."""
    return str(motion.reason or '')


def stopped(text: str) -> Reason:
    """Make a reason to stop."""
    return Reason(ReasonKind.STOPPED, text)


def said(follower, now: float) -> tuple[State, str]:
    """State of a follower, and the reason as text; '' where there is none."""
    state, reason = follower.state(now)
    return state, str(reason or '')
