"""Show a robot in the browser, with sliders and a handle that solves; or a running node's arm."""

import argparse

from ..errors import FabrikError
from ..view.main import add_page_arguments, view_node, view_robot
from .arguments import add_robot, chain_of, read_robot


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what `run` reads."""
    add_robot(parser, is_required=False)
    parser.add_argument(
        '--node',
        nargs='?',
        const='/fabrik',
        default='',
        metavar='NAME',
        help='show the arm of a running node instead, by ROS 2 (without NAME: /fabrik)',
    )
    add_page_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Show a robot that stands where it is put, or the arm of a running node; until Ctrl-C."""
    if bool(options.file) == bool(options.node):
        raise FabrikError('view needs a URDF file, or --node for the arm of a running node')
    if options.node:
        return view_node(options)
    robot = read_robot(options)
    return view_robot(robot, chain_of(robot, options), options)
