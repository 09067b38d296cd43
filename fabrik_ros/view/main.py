"""`view` and `run`: one's own arm in the browser."""

import argparse
from pathlib import Path
import signal
import threading
from types import FrameType

from ..collision import Scene
from ..collision.scene_file import load_scene
from ..errors import FabrikError
from ..model.chain import Chain
from ..model.examples import example_arm
from ..model.robot import Robot
from ..model.urdf import load_urdf
from .distances import world_of
from .local_source import LocalSource
from .solver_source import SolverSource
from .source import Source

INSTALL = "pip install '.[view]' in the checkout"


def add_view_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what `view` reads."""
    parser.add_argument(
        'urdf', nargs='?', default='', help='URDF or xacro file, or the name of a bundled arm'
    )
    parser.add_argument(
        '--node',
        nargs='?',
        const='/fabrik',
        default='',
        metavar='NAME',
        help='show the arm of a running node instead, by ROS 2 (without NAME: /fabrik)',
    )
    _add_common_arguments(parser)


def add_run_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what `run` reads."""
    parser.add_argument('urdf', help='URDF or xacro file, or the name of a bundled arm')
    _add_common_arguments(parser)


def view(args: argparse.Namespace) -> int:
    """Show a robot that stands where it is put, or the arm of a running node; until Ctrl-C."""
    if bool(args.urdf) == bool(args.node):
        raise FabrikError('view needs a URDF file, or --node for the arm of a running node')
    _check_installed()
    if args.node:
        return _show(_ros_source(args.node), args)
    robot, chain = _arm(args)
    world, why = world_of(robot, chain, _scene(args, robot), args.mesh_path)
    _tell(robot, chain, why)
    return _show(SolverSource(robot, chain, world), args)


def run(args: argparse.Namespace) -> int:
    """Move a simulated arm to the targets of the page, in this process; until Ctrl-C."""
    _check_installed()
    robot, chain = _arm(args)
    world, why = world_of(robot, chain, _scene(args, robot), args.mesh_path)
    _tell(robot, chain, why)
    return _show(LocalSource(robot, chain, world), args)


def _add_common_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument('--base-link', default='', help='first link; default: the root')
    parser.add_argument('--tip-link', default='', help='last link; default: that of the only arm')
    parser.add_argument('--scene', default='', metavar='FILE', help='what stands around, as YAML')
    parser.add_argument(
        '--mesh-path', action='append', default=[], help='folder with packages; may be repeated'
    )
    parser.add_argument(
        '--host', default='127.0.0.1', help='address to listen at; default: this machine only'
    )
    parser.add_argument('--port', type=int, default=8080, help='0: any that is free')


def _check_installed() -> None:
    try:
        import viser.extras  # noqa: F401
        import yourdfpy  # noqa: F401
    except ImportError as error:
        raise FabrikError(f'the browser view needs {error.name}: {INSTALL}') from error


def _arm(args: argparse.Namespace) -> tuple[Robot, Chain]:
    source = Path(args.urdf)
    is_name = not source.exists() and source.name == args.urdf and not source.suffix
    robot = load_urdf(example_arm(args.urdf) if is_name else source)
    return robot, robot.chain(args.base_link, args.tip_link)


def _scene(args: argparse.Namespace, robot: Robot) -> Scene:
    if not args.scene:
        return Scene()
    return load_scene(args.scene, lambda frame: robot.pose(robot.root_link, frame, {}))


def _tell(robot: Robot, chain: Chain, why: str) -> None:
    print(f'{robot.name}: {len(chain)} joints from {chain.base_link} to {chain.tip_link}')
    if why:
        print(f'distances are not measured: {why}')


def _ros_source(name: str) -> Source:
    try:
        from .ros_source import RosSource
    except ImportError as error:
        raise FabrikError(
            f"--node needs ROS 2 ({error.name} is missing): source one, or pip install '.[ros]'"
        ) from error
    return RosSource(name)


def _show(source: Source, args: argparse.Namespace) -> int:
    """Show a source until a signal ends it."""
    from .app import View

    ends = threading.Event()

    def end(signum: int, frame: FrameType | None) -> None:
        ends.set()

    try:
        page = View(source, args.host, args.port, tuple(args.mesh_path))
        signal.signal(signal.SIGINT, end)
        signal.signal(signal.SIGTERM, end)
        print(f'open {page.address} in a browser; Ctrl-C ends it', flush=True)
        page.run(ends)
        page.close()
    finally:
        source.close()
    return 0
