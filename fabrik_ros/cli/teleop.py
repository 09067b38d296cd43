"""
Move the arm of a running node by a device.

It may be a gamepad, a SpaceMouse, the keyboard, a tracked hand or a leader arm: a profile says
what its buttons and axes do. The arm moves while the deadman is pressed; the stop button latches.

"""

import argparse

from ..found_ros import require_ros
from ..teleop.profile import load_profile
from .arguments import add_node, add_profile


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `fabrik_ros teleop`."""
    add_profile(parser)
    add_node(parser)
    parser.add_argument(
        '--tip', default='', metavar='LINK', help='the tip link, of a node that moves several'
    )


def run(options: argparse.Namespace) -> int:
    """Move the arm until interrupted."""
    profile = load_profile(options.profile)
    require_ros()
    from ..ros.beside.teleop import main

    words = ['--ros-args', '-p', f'node:={options.node}']
    main(['teleop', *words, *(['-p', f'tip:={options.tip}'] if options.tip else [])], profile)
    return 0
