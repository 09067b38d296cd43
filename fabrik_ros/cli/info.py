"""Print links, joints and limits of a robot, and the chain that is taken unless told otherwise."""

import argparse
from collections import Counter
from collections.abc import Iterator, Sequence
import math
import sys

from ..collision.link_meshes import MeshShape
from ..collision.meshes import MeshFinder
from ..collision.solids import MissingGeometry, solids_of
from ..errors import AmbiguousChainError, ChainError, CollisionUnavailableError, listed, shown
from ..model.chain import Chain
from ..model.default_chain import gripper_joints, stray_joints
from ..model.geometry import Collision, Mesh
from ..model.joints import Joint
from ..model.robot import Robot
from .arguments import add_robot, chain_of, read_robot
from .tables import table


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `fabrik_ros info`."""
    add_robot(parser)
    parser.add_argument(
        '--mesh-path',
        action='append',
        default=[],
        metavar='[NAME=]FOLDER',
        help='folder with packages, or of the package NAME; may be repeated',
    )


def run(options: argparse.Namespace) -> int:
    """Print what is known of the robot; 0 also where several chains are sensible."""
    robot = read_robot(options)
    chain_lines = list(_chain_lines(robot, options))
    moving = sum(joint.type.moves for joint in robot.joints)
    print(
        f"robot '{shown(robot.name)}': {len(robot.links)} links, {len(robot.joints)} joints, of "
        f'which {moving} move; {len(robot.collisions)} collision geometries'
    )
    for warning in robot.warnings:
        print(f'  odd: {warning}')
    print('links, each below the one that carries it:')
    for depth, link in _links(robot):
        print(f'  {"  " * depth}{shown(link)}')
    if robot.joints:
        print('joints:')
        print(table(_joint_rows(robot)))
    print('\n  '.join(chain_lines), flush=True)  # meshes may take minutes, once
    for line in _shape_lines(robot, options.mesh_path):
        print(line)
    return 0


def _shape_lines(robot: Robot, folders: Sequence[str]) -> Iterator[str]:
    """Name shapes that are missing, and say where too few links have one."""
    missing, shapes = _shapes(robot, MeshFinder(folders, robot.folder))
    for geometry in missing:
        yield f'missing shape: {geometry}'
    for shape in shapes:
        if shape.parts > 1 or shape.reason:
            yield f'shape: {shape}'
    lost = Counter(geometry.link for geometry in missing)
    given = Counter(collision.link for collision in robot.collisions)
    links = given - lost
    if len(links) < 2:
        which = f"no link but '{listed(sorted(links))}'" if links else 'no link'
        yield f'self-collision checking is off: {which} has a shape'


def _shapes(
    robot: Robot, finder: MeshFinder
) -> tuple[tuple[MissingGeometry, ...], tuple[MeshShape, ...]]:
    """Meshes that cannot be loaded; without coal, whose files are not found; what others are."""
    meshes = tuple(each for each in robot.collisions if isinstance(each.shape, Mesh))
    try:
        return solids_of(meshes, finder, _say)[1:] if meshes else ((), ())
    except CollisionUnavailableError:
        return tuple(_not_found(meshes, finder)), ()


def _say(text: str) -> None:
    print(text, file=sys.stderr)


def _not_found(meshes: Sequence[Collision], finder: MeshFinder) -> Iterator[MissingGeometry]:
    for collision in meshes:
        name = getattr(collision.shape, 'filename', '')
        try:
            finder.find(name)
        except FileNotFoundError as error:
            yield MissingGeometry(collision.link, name, str(error))


def _links(robot: Robot) -> Iterator[tuple[int, str]]:
    """Every link with the number of joints above it, each after the one that carries it."""
    pending = [(0, robot.root_link)]
    while pending:
        depth, link = pending.pop()
        yield depth, link
        below = reversed(robot.child_joints[link])
        pending.extend((depth + 1, joint.child) for joint in below)


def _joint_rows(robot: Robot) -> Iterator[tuple[str, ...]]:
    yield 'joint', 'type', 'between', 'limits', 'velocity', ''
    for joint in robot.joints:
        yield (
            shown(joint.name),
            joint.type.value,
            f'{shown(joint.parent)} -> {shown(joint.child)}',
            _limits(joint),
            _velocity(joint),
            '; '.join(filter(None, [_changes(joint), _mimic(joint)])),
        )


def _limits(joint: Joint) -> str:
    if not joint.type.is_drivable:
        return ''
    if math.isinf(joint.lower) and math.isinf(joint.upper):
        return 'none'
    lower, upper = joint.lower, joint.upper
    if joint.type.is_prismatic:
        return f'{lower:.6g} .. {upper:.6g} m'
    degrees = f'{math.degrees(lower):.4g} .. {math.degrees(upper):.4g} deg'
    return f'{lower:.6g} .. {upper:.6g} rad ({degrees})'


def _velocity(joint: Joint) -> str:
    if not joint.type.is_drivable:
        return ''
    unit = 'm/s' if joint.type.is_prismatic else 'rad/s'
    return 'not given' if math.isinf(joint.velocity) else f'{joint.velocity:.6g} {unit}'


def _changes(joint: Joint) -> str:
    """Limits of acceleration, deceleration and jerk that are given."""
    unit = 'm' if joint.type.is_prismatic else 'rad'
    slower = joint.deceleration if joint.deceleration != joint.acceleration else math.inf
    parts = (
        ('acceleration', joint.acceleration, f'{unit}/s²'),
        ('deceleration', slower, f'{unit}/s²'),
        ('jerk', joint.jerk, f'{unit}/s³'),
    )
    return ', '.join(f'{name} {value:.6g} {of}' for name, value, of in parts if value < math.inf)


def _mimic(joint: Joint) -> str:
    if joint.mimic is None:
        return ''
    mimic = joint.mimic
    return f'= {mimic.multiplier:g} * {shown(mimic.source)} + {mimic.offset:g}'


def _chain_lines(robot: Robot, options: argparse.Namespace) -> Iterator[str]:
    """Say which chain is taken and why; ChainError if the links that were named make none."""
    try:
        chain = chain_of(robot, options)
    except ChainError as error:
        if options.base_link or options.tip_link:
            raise
        yield f'chain: none is taken by itself: {error}'
        if isinstance(error, AmbiguousChainError):
            yield 'say which: --base-link, --tip-link; base_link and tip_link of the node'
        return
    yield f"chain: from '{shown(chain.base_link)}' to '{shown(chain.tip_link)}'"
    yield f'first link: {_why_base(options)}'
    yield f'last link: {_why_tip(robot, chain, options)}'
    yield f'{len(chain)} joint values: {listed(chain.joint_names)}'
    yield _reach(chain)


def _why_base(options: argparse.Namespace) -> str:
    return 'as asked for' if options.base_link else 'the root of the tree, as none was named'


def _why_tip(robot: Robot, chain: Chain, options: argparse.Namespace) -> str:
    if options.tip_link:
        return 'as asked for'
    strays = stray_joints(robot, chain.base_link)
    undrivable = [j.name for j in robot.joints if j.type.moves and not j.type.is_drivable]
    left_out = [
        f'{what}: {listed(names)}'
        for what, names in (
            ('the gripper', gripper_joints(robot)),
            ('what hangs on planar and floating joints', undrivable),
            ('what hangs on joints that follow one elsewhere', strays),
        )
        if names
    ]
    without = f'; left out: {"; ".join(left_out)}' if left_out else ''
    return f'the end of the only arm below, as none was named{without}'


def _reach(chain: Chain) -> str:
    x, y, z = chain.root_point.tolist()
    inner = f', no nearer than {chain.inner_reach:.4g} m' if chain.inner_reach > 0.0 else ''
    return (
        f'reach: at most {chain.reach:.4g} m from the first joint, '
        f'which is at {x:.4g} {y:.4g} {z:.4g} m{inner}'
    )
