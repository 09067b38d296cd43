"""`view` and `run`: one's own arm in the browser."""

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path

from ..collision import link_poses, load_scene, Scene, WorldCollision
from ..errors import FabrikError, listed
from ..model.chain import Chain
from ..model.robot import Robot
from ..planning.planner_setup import PlannerSetup
from .gallery import Gallery, World
from .local_source import LocalSource
from .solver_source import SolverSource, start_values
from .source import Source

INSTALL = "pip install '.[view]' in the checkout"


def add_page_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the page and its distances take."""
    parser.add_argument('--scene', default='', metavar='FILE', help='what stands around, as YAML')
    parser.add_argument(
        '--mesh-path', action='append', default=[], help='folder with packages; may be repeated'
    )
    parser.add_argument(
        '--allow-collision',
        action='append',
        default=[],
        type=_pair,
        metavar='LINK_A/LINK_B',
        help='links that may touch, besides those that are found out; may be repeated',
    )
    parser.add_argument(
        '--host', default='127.0.0.1', help='address to listen at; default: this machine only'
    )
    parser.add_argument('--port', type=int, default=8080, help='0: any that is free')


def _pair(text: str) -> tuple[str, str]:
    link_a, slash, link_b = text.partition('/')
    if not (link_a and slash and link_b) or '/' in link_b:
        raise argparse.ArgumentTypeError(f'must be LINK_A/LINK_B, got {text!r}')
    return link_a, link_b


def view_node(args: argparse.Namespace) -> int:
    """Show the arm of a running node, until Ctrl-C."""
    _check_installed()
    return _show(_ros_source(args.node), args)


def view_robot(robot: Robot, chain: Chain, args: argparse.Namespace) -> int:
    """Show a robot that stands where it is put, until Ctrl-C."""
    _check_installed()
    world, why = _world(args, robot, chain)
    _tell(robot, chain, world, why)
    return _show(SolverSource(robot, chain, world), args)


def view_gallery(
    files: Mapping[str, Path], read: Callable[[Path], Robot], args: argparse.Namespace
) -> int:
    """Show robots of which one is chosen on the page, until Ctrl-C."""
    _check_installed()

    def make_world(robot: Robot, chain: Chain) -> World:
        world, why = _world(args, robot, chain)
        _tell(robot, chain, world, why)
        return world, why

    gallery = Gallery(files, read, make_world)
    return _show(gallery.source, args, gallery)


def run_robot(robot: Robot, chain: Chain, args: argparse.Namespace) -> int:
    """
    Move a simulated arm to targets, until Ctrl-C.

    Where ROS 2 is installed the node moves it, in processes of its own; else this process does.
    """
    _check_installed()
    if args.parts and not args.physics:
        raise FabrikError('--parts needs --physics: without, nothing can be moved')
    world, why = _world(args, robot, chain)
    _tell(robot, chain, world, why)
    if not args.no_ros:
        try:
            from .run_with_ros import run_with_ros
        except ImportError as error:
            print(f'without ROS 2, in this process alone: {error}')
        else:
            return run_with_ros(robot, chain, start_values(robot, chain, world), args)
    only_ros = [f'--{name}' for name in ('namespace', 'physics', 'parts') if getattr(args, name)]
    if only_ros:
        raise FabrikError(f'{listed(only_ros)} needs ROS 2: the arm moves in this process alone')
    return _show(LocalSource(robot, chain, world), args)


def _show(source: Source, args: argparse.Namespace, gallery: Gallery | None = None) -> int:
    from .showing import show

    show(source, args.host, args.port, tuple(args.mesh_path), gallery=gallery)
    return 0


def _check_installed() -> None:
    try:
        import viser.extras  # noqa: F401
        import yourdfpy  # noqa: F401
    except ImportError as error:
        raise FabrikError(f'the browser view needs {error.name}: {INSTALL}') from error


def _world(
    args: argparse.Namespace, robot: Robot, chain: Chain
) -> tuple[WorldCollision | None, str]:
    """Make what knows distances; None, and why, where it cannot be known and no scene asks."""
    scene, folder = Scene(), ''
    if args.scene:
        folder = str(Path(args.scene).parent)
        scene = load_scene(args.scene, link_poses(robot, chain.base_link))
    setup = PlannerSetup(
        robot,
        chain,
        mesh_paths=tuple(args.mesh_path),
        scene_folder=folder,
        allowed_collisions=tuple(args.allow_collision),
    )
    return setup.world_or_reason(scene, is_required=len(scene) > 0)


def _tell(robot: Robot, chain: Chain, world: WorldCollision | None, why: str) -> None:
    print(f'{robot.name}: {len(chain)} joints from {chain.base_link} to {chain.tip_link}')
    for warning in robot.warnings:
        print(f'odd: {warning}')
    if why:
        print(f'distances are not measured: {why}')
    elif world is not None and world.missing:
        print(f'collision checking is {world.state}')


def _ros_source(name: str) -> Source:
    try:
        from .ros_source import RosSource
    except ImportError as error:
        raise FabrikError(
            f"--node needs ROS 2 ({error.name} is missing): source one, or pip install '.[ros]'"
        ) from error
    return RosSource(name)
