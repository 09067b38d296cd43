"""Write where the tool of a running node is, each time Enter is pressed, to a file of poses."""

import argparse
from pathlib import Path
import sys

from ..found_ros import require_ros
from ..programs.recorded_poses import PoseWriter
from .arguments import add_node

NO_NODE = 10.0
"""Longest wait for a node [s]."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `fabrik_ros record`."""
    add = parser.add_argument
    add('file', metavar='FILE.csv', help='file to write; it must not exist')
    add_node(parser)
    add('--tip', default='', metavar='LINK', help='the tip link, of a node that moves several')


def run(options: argparse.Namespace) -> int:
    """Record until the input ends, or Ctrl-C comes; 0 if there is a pose."""
    path = Path(options.file)
    if path.exists():
        raise FileExistsError(f"'{path}' is there already")
    require_ros()
    from ..commander import Arm, MoveRefused

    with Arm(options.node, tip=options.tip) as arm:
        try:
            arm.wait_until_heard(NO_NODE)
        except MoveRefused as error:
            print(f'NOT RECORDED: {error}')
            return 1
        print(
            'Move the arm: drag its handle or the page, or lead it by hand. Enter records where '
            'the tool is measured; Ctrl-D ends.',
            file=sys.stderr,
        )
        writer, count = PoseWriter(path), 0
        for _ in sys.stdin:
            T = arm.pose
            writer.add(T)
            count += 1
            print(f'{count}: {T[0, 3]:.3f} {T[1, 3]:.3f} {T[2, 3]:.3f}', flush=True)
    print(f'{count} poses in {path}; `replay` goes through them')
    return 0 if count else 1
