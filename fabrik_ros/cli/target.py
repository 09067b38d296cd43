"""Send one pose to a running node over ROS 2, wait, and say whether the arm reached it."""

import argparse
import sys
from typing import Any

from ..found_ros import require_ros
from .arguments import add_pose, finite, read_pose

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
        help='how long to wait for the arm, which is stopped then [s] (default: %(default)g)',
    )


def run(options: argparse.Namespace) -> int:
    """Print what becomes of the target; 0 if the arm reaches it."""
    pose = read_pose(options)
    require_ros()
    from ..commander import Arm, MoveRefused, MoveStopped

    say = _Sayer()
    with Arm(options.node, tip=options.tip) as arm:
        try:
            arm.wait_until_ready(options.wait, say)
        except MoveRefused as error:
            print(f'NOT SENT: nothing was sent: {error}')
            return 1
        frame = options.frame or arm.state.facts['base_link']
        print(f'sent to {arm.name}: {pose} in {frame}')
        try:
            result = arm.move_to(pose.T, frame_id=frame, timeout=options.timeout, on_progress=say)
        except MoveRefused as error:
            print(f'REFUSED (refused: nothing has changed): {error}')
            return 1
        except MoveStopped as error:
            print(f'NOT_REACHED (accepted, but not reached): {error}')
            return 1
    print(f'REACHED (reached): {result.sentence}')
    return 0


class _Sayer:
    """Prints each status that says something else than the one before."""

    def __init__(self) -> None:
        self._last = ''

    def __call__(self, status: Any) -> None:
        waits = status.state in ('WAITING', 'SILENT')
        text = f'waiting: {status.reason}' if waits else status.sentence
        if text != self._last:
            self._last = text
            print(text, file=sys.stderr, flush=True)


def _seconds(text: str) -> float:
    value = finite(text)
    if value <= 0.0:
        raise argparse.ArgumentTypeError(f'must be more than 0 s, got {text.strip()!r}')
    return value
