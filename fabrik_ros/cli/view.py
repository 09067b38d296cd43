"""
Show a robot in the browser, with sliders and a handle that solves; or a running node's arm.

Without a file one chooses among the bundled arms and the descriptions in this folder; with a
folder, among those in it.
"""

import argparse
from pathlib import Path

from ..errors import FabrikError
from ..view.gallery import gallery_files
from ..view.main import add_page_arguments, view_gallery, view_node, view_robot
from .arguments import add_robot, chain_of, node_name, read_file, read_robot


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what `run` reads."""
    add_robot(parser, is_required=False)
    parser.add_argument(
        '--node',
        type=node_name,
        nargs='?',
        const='/fabrik',
        metavar='NAME',
        help='show the arm of a running node instead, by ROS 2 (without NAME: /fabrik)',
    )
    add_page_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Show a robot that stands where it is put, robots to choose from, or a node's arm."""
    if options.file and options.node:
        raise FabrikError('view takes a file, or --node for the arm of a running node; not both')
    if options.node:
        return view_node(options)
    if not options.file or Path(options.file).is_dir():
        return _view_gallery(options)
    robot = read_robot(options)
    return view_robot(robot, chain_of(robot, options), options)


def _view_gallery(options: argparse.Namespace) -> int:
    if options.base_link or options.tip_link:
        raise FabrikError('--base-link and --tip-link need the file of one robot')
    files = gallery_files(Path(options.file) if options.file else None)
    return view_gallery(files, lambda file: read_file(file, options), options)
