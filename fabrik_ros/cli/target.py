"""Send one pose to a running node over ROS 2, wait, and say whether the arm reached it."""

import argparse
import sys

from .arguments import add_pose, finite, read_pose
from .executables import require_ros

NO_NODE, PATIENCE = 10.0, 60.0
"""Longest waits until the node is ready, and until the arm arrives [s]."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `fabrik_ros target`."""
    add_pose(parser, (0.0, 0.0, 0.0), '0 0 0, the axes of the frame')
    add = parser.add_argument
    add('--frame', default='', help='frame of the pose (default: the base link of the node)')
    add('--node', default='fabrik', help='name of the node, with namespace (default: fabrik)')
    add('--tip', default='', metavar='LINK', help='the tip link, of a node that moves several')
    add(
        '--wait',
        type=_seconds,
        default=NO_NODE,
        metavar='S',
        help='how long to wait for a node that takes targets [s] (default: %(default)g)',
    )
    add(
        '--timeout',
        type=_seconds,
        default=PATIENCE,
        metavar='S',
        help='how long to wait until the arm is there [s] (default: %(default)g)',
    )


def run(options: argparse.Namespace) -> int:
    """Print what becomes of the target; 0 if the arm reaches it."""
    pose = read_pose(options)
    require_ros()
    import rclpy

    from ..ros.beside.target_client import NotSentError, Outcome, TargetClient

    rclpy.init(args=[])
    client = TargetClient(options.node, options.tip, _say)
    try:
        client.wait_until_ready(options.wait)
        print(f'sent to {client.name}: {pose} in {options.frame or client.base_link}')
        outcome, text = client.send(pose.T, options.frame, options.timeout)
    except NotSentError as error:
        print(f'NOT SENT: {error}')
        return 1
    finally:
        client.close()
        rclpy.try_shutdown()
    print(f'{outcome.name} ({outcome.value}): {text}')
    return 0 if outcome is Outcome.REACHED else 1


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _seconds(text: str) -> float:
    value = finite(text)
    if value <= 0.0:
        raise argparse.ArgumentTypeError(f'must be more than 0 s, got {text.strip()!r}')
    return value
