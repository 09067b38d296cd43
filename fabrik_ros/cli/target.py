"""
Send a pose, a program or several targets to a running node, and say whether the arm got there.

A program is a file in YAML or JSON; poses come from a file of `fabrik_ros record` (.csv). Such
files and names of configurations can follow each other: all of it is looked at before the arm sets
out.

"""

import argparse
from collections.abc import Mapping
from pathlib import Path
import signal
import sys
from typing import Any, TypeAlias

from ..errors import shown, TargetError
from ..found_ros import require_ros
from ..programs.program_file import READ
from ..programs.recorded_poses import read_poses
from .arguments import add_node, add_pose, finite, Pose, positive, read_pose

PROGRAMS = ('.yaml', '.yml', '.json')
"""Ends of the names of files that are programs."""

Sent: TypeAlias = Pose | list[Any] | Mapping[str, Any]
"""A pose, several targets, or a program."""
NO_NODE, PATIENCE = 10.0, 60.0
"""Longest waits until the node is ready, and until the arm arrives [s]."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `fabrik_ros target`."""
    add = parser.add_argument
    add('targets', nargs='*', metavar='FILE|NAME', help='a program, or poses and configurations')
    add_pose(parser, (0.0, 0.0, 0.0), '0 0 0, the axes of the frame', is_required=False)
    add_course_arguments(parser)
    parser.set_defaults(loop=1)


def add_course_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that say how to get to targets, of which node."""
    add = parser.add_argument
    add(
        '--blend',
        type=_blend,
        default=0.0,
        metavar='M',
        help='how near poses are passed instead of a stop at each [m]',
    )
    add('--speed', type=positive, metavar='M/S', help='of the tool on the lines between poses')
    add('--frame', default='', help='frame of the pose (default: the base link of the node)')
    add_node(parser)
    add('--tip', default='', metavar='LINK', help='the tip link, of a node that moves several')
    add(
        '--wait',
        type=positive,
        default=NO_NODE,
        metavar='S',
        help='how long to wait for a node that takes targets [s] (default: %(default)g)',
    )
    add(
        '--timeout',
        type=positive,
        default=PATIENCE,
        metavar='S',
        help='how long to wait for the arm, which is stopped then [s] (default: %(default)g)',
    )


def run(options: argparse.Namespace) -> int:
    """Print what becomes of the targets; 0 if the arm reaches the last, each time."""
    sent, text = _to_send(options)
    require_ros()
    from ..commander import Arm, MoveRefused, MoveStopped

    say = _Sayer()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # an arm on its way is stopped
    with Arm(options.node, tip=options.tip) as arm:
        try:
            arm.wait_until_ready(options.wait, say)
        except MoveRefused as error:
            print(f'NOT SENT: nothing was sent: {error}')
            return 1
        frame = options.frame or arm.state.facts['base_link']
        print(f'sent to {arm.name}: {text}{f" in {frame}" if isinstance(sent, Pose) else ""}')
        try:
            for _ in range(options.loop):
                result = _send(arm, sent, options, say)
                print(f'REACHED (reached): {result.sentence}', flush=True)
        except MoveRefused as error:
            print(f'REFUSED (refused: nothing has changed): {error}')
            return 1
        except MoveStopped as error:
            print(f'NOT_REACHED (accepted, but not reached): {error}')
            return 1
    return 0


def _send(arm: Any, sent: Sent, options: argparse.Namespace, say: Any) -> Any:
    """Send what was read, and wait for its end."""
    waits = {'timeout': options.timeout, 'on_progress': say}
    given = {'frame': options.frame} if options.frame else {}
    if isinstance(sent, Pose):
        frame = options.frame or arm.state.facts['base_link']
        return arm.move_to(sent.T, frame_id=frame, **waits)
    if isinstance(sent, list):
        speed = {} if options.speed is None else {'speed': options.speed}
        return arm.move_through(sent, blend=options.blend, **speed, **given, **waits)
    return arm.run(sent, **waits)


def _to_send(options: argparse.Namespace) -> tuple[Sent, str]:
    """Read what is to be sent, and say that in words."""
    words = options.targets
    if options.xyz is not None:
        if words:
            raise TargetError(f"either --xyz or targets, got both: '{shown(words[0])}'")
        pose = read_pose(options)
        return pose, str(pose)
    if not words:
        raise TargetError('nothing to send: give --xyz X Y Z, a file, or the name of a place')
    if Path(words[0]).suffix in PROGRAMS:
        if len(words) > 1:
            raise TargetError(f"a program goes alone, got also '{shown(words[1])}'")
        document = READ.mapping(READ.document(Path(words[0])), words[0])
        return document, f'program {words[0]}'
    targets: list[Any] = []
    for word in words:
        targets += read_poses(Path(word)) if word.endswith('.csv') else [word]
    return targets, f'{len(targets)} targets'


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


def _blend(text: str) -> float:
    value = finite(text)
    if value < 0.0:
        raise argparse.ArgumentTypeError(f'must be 0 m or more, got {text.strip()!r}')
    return value
