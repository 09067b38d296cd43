"""
The doors of the executables for ROS: help, version, and one line where ROS 2 is missing.

What is behind them imports ROS, and is imported when ROS was found.

"""

import argparse
from collections.abc import Callable, Sequence
import importlib
from pathlib import Path
import sys
from typing import Any

from .. import __version__
from ..errors import FabrikError, MissingRosError
from ..found_ros import require_ros
from ..model.urdf import load_urdf
from ..teleop.profile import load_profile
from .arguments import add_profile, add_xacro_args

MODULES = {
    'fabrik_node': 'fabrik_ros.ros.main',
    'simulated_arm': 'fabrik_ros.sim.simulated_arm',
    'physical_arm': 'fabrik_ros.sim.physical_arm',
    'demo_targets': 'fabrik_ros.ros.beside.demo_targets',
    'drag_target': 'fabrik_ros.ros.beside.drag_target',
    'teleop': 'fabrik_ros.ros.beside.teleop',
}
"""Module of each executable."""
WRONG_USE, INTERRUPTED = 2, 130
"""Exit codes: a wrong argument or a missing package; Ctrl-C."""
ROS_ARGUMENTS = '--ros-args'
ROS_HELP = (
    'All other arguments are those of ROS 2: --ros-args -p PARAMETER:=VALUE -r NAME:=OTHER '
    '--params-file FILE.'
)


def fabrik_node(arguments: Sequence[str] | None = None) -> None:
    """Move an arm to the poses that it is sent."""
    what = (
        'Moves an arm to the poses that it is sent on ~/target_pose. Looks for meshes in the '
        'folder of --urdf and the one above.'
    )
    _run_with_robot('fabrik_node', what, arguments)


def simulated_arm(arguments: Sequence[str] | None = None) -> None:
    """Simulate an arm that lags behind its commands."""
    what = 'Simulates an arm: perfect drives that lag.'
    _run_with_robot('simulated_arm', what, arguments)


def physical_arm(arguments: Sequence[str] | None = None) -> None:
    """Simulate an arm with weight and friction."""
    what = 'Simulates an arm in MuJoCo: weight, friction, drives of limited strength.'
    _run_with_robot('physical_arm', what, arguments)


def demo_targets(arguments: Sequence[str] | None = None) -> None:
    """Publish targets that wander in front of an arm."""
    _run('demo_targets', 'Publishes targets that wander in front of an arm.', arguments)


def drag_target(arguments: Sequence[str] | None = None) -> None:
    """Show a handle at each tool in RViz, which sends targets while it is dragged."""
    _run('drag_target', 'Shows a handle at each tool in RViz; drag it to move the arm.', arguments)


def teleop(arguments: Sequence[str] | None = None) -> None:
    """Move an arm by a device that people hold."""
    what = 'Moves an arm by a gamepad, SpaceMouse, keyboard, tracked hand or leader arm.'
    parser = _parser('teleop', what)
    add_profile(parser)
    options, rest = _read(parser, arguments)
    main = _main_of('teleop')
    try:
        profile = load_profile(options.profile)
    except FabrikError as error:
        parser.exit(WRONG_USE, f'teleop: error: {error}\n')
    main(rest, profile)


def _run_with_robot(name: str, what: str, arguments: Sequence[str] | None) -> None:
    """Run an executable that takes the robot description from a file, if one is given."""
    parser = _parser(name, what)
    parser.add_argument(
        '--urdf',
        type=Path,
        metavar='FILE',
        help='robot description, URDF or xacro (default: from the parameter robot_description, '
        'else from the topic of that name)',
    )
    add_xacro_args(parser)
    options, rest = _read(parser, arguments)
    main = _main_of(name)
    given = dict(options.xacro_args)
    try:
        robot = None if options.urdf is None else load_urdf(options.urdf, xacro_args=given)
    except FileNotFoundError:
        parser.exit(WRONG_USE, f"{name}: error: there is no file '{options.urdf}'\n")
    except FabrikError as error:
        parser.exit(WRONG_USE, f'{name}: error: {error}\n')
    main(rest, robot)


def _run(name: str, what: str, arguments: Sequence[str] | None) -> None:
    _, rest = _read(_parser(name, what), arguments)
    _main_of(name)(rest)


def _parser(name: str, what: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=name, description=what, epilog=ROS_HELP)
    parser.add_argument('--version', action='version', version=f'{name} {__version__}')
    return parser


def _read(
    parser: argparse.ArgumentParser, arguments: Sequence[str] | None
) -> tuple[argparse.Namespace, list[str]]:
    """Read the own arguments; return them, and those of ROS as `rclpy.init` takes them."""
    words = list(sys.argv if arguments is None else [parser.prog, *arguments])
    end = words.index(ROS_ARGUMENTS) if ROS_ARGUMENTS in words else len(words)
    return parser.parse_args(words[1:end]), [words[0], *words[end:]]


def _main_of(name: str) -> Callable[..., Any]:
    """Import what is behind a door, or end the process with one line."""
    try:
        require_ros()
        return importlib.import_module(MODULES[name]).main  # type: ignore[no-any-return]
    except KeyboardInterrupt:
        raise SystemExit(INTERRUPTED) from None
    except MissingRosError as error:
        line = str(error)
    except ImportError as error:
        line = f'needs what cannot be loaded: {error}; `python3 -m fabrik_ros doctor` says more'
    print(f'{name}: error: {line}', file=sys.stderr)
    raise SystemExit(WRONG_USE)
