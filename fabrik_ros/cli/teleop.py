"""
Move the arm of a running node by a device.

It may be a gamepad, a SpaceMouse, the keyboard, a tracked hand or a leader arm: a profile says
what its buttons and axes do. The arm moves while the deadman is pressed; the stop button latches.

"""

import argparse

from ..errors import ProfileError, shown
from ..found_ros import require_ros
from ..teleop.profile import load_profile, TOPIC
from .arguments import add_profile


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `fabrik_ros teleop`."""
    add_profile(parser)
    add = parser.add_argument
    add('--node', default='fabrik', help='name of the node, with namespace (default: fabrik)')
    add('--tip', default='', metavar='LINK', help='the tip link, of a node that moves several')


def run(options: argparse.Namespace) -> int:
    """Move the arm until interrupted."""
    profile = load_profile(options.profile)
    if not TOPIC.fullmatch(options.node):
        raise ProfileError(
            f"--node: expected the name of a node, as left/fabrik, got '{shown(options.node)}'"
        )
    require_ros()
    from ..ros.beside.teleop import main

    words = ['--ros-args', '-p', f'node:={options.node}']
    main(['teleop', *words, *(['-p', f'tip:={options.tip}'] if options.tip else [])], profile)
    return 0
