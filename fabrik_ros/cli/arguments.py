"""Arguments that several subcommands have: a robot, a chain of it, a pose."""

import argparse
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
import math
from pathlib import Path
import re

import numpy as np

from ..errors import shown, TargetError
from ..model.chain import Chain
from ..model.examples import example_arm
from ..model.robot import Robot
from ..model.urdf import load_urdf
from ..teleop.profile import profile_names
from ..transforms import (
    Array,
    pose_from_quaternion_xyzw,
    quaternion_xyzw_from_rotation,
    rotation_from_rpy,
)

ASSIGNMENT = ':='
TURN = 2.0 * math.pi
NODE = re.compile(r'/?[A-Za-z_]\w*(/[A-Za-z_]\w*)*', re.ASCII)


def protected(words: Sequence[str]) -> list[str]:
    """
    Keep argparse from taking negative numbers for options, as it does with `-1e-3` and `-inf`.

    >>> protected(['--xyz', '-1e-3', '0', '-.2'])
    ['--xyz', ' -1e-3', '0', ' -.2']
    """
    return [f' {word}' if word.startswith('-') and _is_number(word) else word for word in words]


def _is_number(word: str) -> bool:
    with suppress(ValueError):
        float(word)
        return True
    return False


def finite(text: str) -> float:
    """Read a number that is neither infinite nor NaN."""
    value = float(text) if _is_number(text) else math.nan
    if not math.isfinite(value):
        raise argparse.ArgumentTypeError(f'must be a finite number, got {text.strip()!r}')
    return value


def positive(text: str) -> float:
    """Read a finite number that is more than 0."""
    value = finite(text)
    if value <= 0.0:
        raise argparse.ArgumentTypeError(f'must be more than 0, got {text.strip()!r}')
    return value


def node_name(text: str) -> str:
    """Read the name of a node, with namespace."""
    if not NODE.fullmatch(text):
        raise argparse.ArgumentTypeError(
            f"expected the name of a node, as left/fabrik, got '{shown(text)}'"
        )
    return text


def add_node(parser: argparse.ArgumentParser) -> None:
    """Add the argument that names a running node."""
    parser.add_argument(
        '--node',
        type=node_name,
        default='fabrik',
        metavar='NAME',
        help='name of the node, with namespace (default: %(default)s)',
    )


# -- robots


def add_robot(parser: argparse.ArgumentParser, is_required: bool = True) -> None:
    """Add the arguments that `read_robot` and `chain_of` read."""
    add = parser.add_argument
    add(
        'file',
        nargs=None if is_required else '?',
        help='URDF or xacro file, or the name of a bundled arm, such as six_axis',
    )
    add_xacro_args(parser)
    add('--base-link', default='', metavar='LINK', help='first link (default: the root link)')
    add(
        '--tip-link',
        default='',
        metavar='LINK',
        help='last link (default: the end of the only arm, short of its gripper)',
    )


def add_profile(parser: argparse.ArgumentParser) -> None:
    """Add the argument that says what the parts of a device do."""
    parser.add_argument(
        'profile',
        nargs='?',
        default='gamepad',
        metavar='NAME|FILE.yaml',
        help=f'profile of the device: {", ".join(profile_names())}, or a file '
        '(default: %(default)s)',
    )


def add_xacro_args(parser: argparse.ArgumentParser) -> None:
    """Add what is handed to xacro."""
    parser.add_argument(
        '--xacro-args',
        type=_assignment,
        nargs='+',
        default=[],
        metavar='NAME:=VALUE',
        help='arguments for xacro',
    )


def read_robot(options: argparse.Namespace) -> Robot:
    """
    Read the robot that was named.

    Raises
    ------
    FileNotFoundError
        If there is no such file, and no such bundled arm.
    UrdfError
        If it cannot be used.

    """
    return read_file(_file(options.file), options)


def read_file(file: Path, options: argparse.Namespace) -> Robot:
    """Read the robot of a file, with what is handed to xacro."""
    return load_urdf(file, xacro_args=dict(options.xacro_args))


def chain_of(robot: Robot, options: argparse.Namespace) -> Chain:
    """Take the chain that was asked for; ChainError where there is none, or several."""
    return robot.chain(options.base_link, options.tip_link)


def _file(name: str) -> Path:
    path = Path(name)
    if path.exists() or path.name != name or path.suffix:
        if not path.exists():
            raise FileNotFoundError(f"there is no file '{name}'")
        return path
    try:
        return example_arm(name)
    except FileNotFoundError as error:
        raise FileNotFoundError(f"there is no file '{name}', and {error}") from error


def _assignment(text: str) -> tuple[str, str]:
    name, sign, value = text.partition(ASSIGNMENT)
    if not (name and sign):
        raise argparse.ArgumentTypeError(f'must be NAME:=VALUE, got {text!r}')
    return name, value


# -- poses


@dataclass(frozen=True)
class Pose:
    """A pose as it was given."""

    T: Array
    """Shape (4, 4)."""
    has_orientation: bool
    """Whether it has an orientation; else that of `T` means nothing."""

    def __str__(self) -> str:
        xyzw = quaternion_xyzw_from_rotation(self.T[:3, :3])
        orientation = f'quaternion {_row(xyzw)}' if self.has_orientation else 'any orientation'
        return f'xyz {_row(self.T[:3, 3])} m, {orientation}'


def _row(values: Array) -> str:
    return ' '.join(f'{value:.6g}' for value in values)


def add_pose(
    parser: argparse.ArgumentParser,
    default_rpy: Sequence[float] | None,
    meaning: str,
    is_required: bool = True,
) -> None:
    """
    Add the arguments that `read_pose` reads.

    Parameters
    ----------
    parser : ArgumentParser
        Gets them.
    default_rpy : sequence of float, optional
        Orientation where none is given [rad]; None: a pose without orientation.
    meaning : str
        Says that in the help.
    is_required : bool
        Whether there must be a pose.

    """
    parser.add_argument(
        '--xyz',
        type=finite,
        nargs=3,
        required=is_required,
        metavar=('X', 'Y', 'Z'),
        help='position of the tip [m]',
    )
    orientation = parser.add_mutually_exclusive_group()
    orientation.add_argument(
        '--rpy',
        type=finite,
        nargs=3,
        default=default_rpy,
        metavar=('ROLL', 'PITCH', 'YAW'),
        help='its orientation [rad], about the fixed axes x, then y, then z, as in URDF '
        f'(default: {meaning})',
    )
    orientation.add_argument(
        '--quaternion',
        type=finite,
        nargs=4,
        metavar=('X', 'Y', 'Z', 'W'),
        help='its orientation, instead of --rpy',
    )


def read_pose(options: argparse.Namespace) -> Pose:
    """Put the pose together; TargetError if the quaternion is none, or the angles are degrees."""
    if options.quaternion is not None:
        return Pose(pose_from_quaternion_xyzw(options.xyz, tuple(options.quaternion)), True)
    T = np.eye(4)
    T[:3, 3] = options.xyz
    if options.rpy is not None:
        if max(map(abs, options.rpy)) > 1.001 * TURN:
            angles = ' '.join(f'{angle:g}' for angle in options.rpy)
            raise TargetError(f'--rpy {angles}: angles are in radians, up to {TURN:.4g}')
        T[:3, :3] = rotation_from_rpy(*options.rpy)
    return Pose(T, options.rpy is not None)
