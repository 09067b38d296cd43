"""The command line of the playground."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
import math
from pathlib import Path

from .scene import Layout, Scene

MOST_JOINTS, MOST_BRANCHES = 200, 5
FIRST_TARGET = (0.62, 0.35)
"""Where a target is put if none is given [reach]."""
TURN_OF_TARGETS = 1.0
"""Further targets are this far round the base [rad]."""


@dataclass(frozen=True)
class Options:
    """What the reader asked for."""

    layout: Layout
    """The body."""

    targets: tuple[tuple[float, float], ...] = ()
    """Where its tips shall be; empty: somewhere in reach."""

    render: Path | None = None
    """The file to write instead of opening a window."""

    frames: int = 60
    """Of a film."""

    steps: int = 0
    """Number of moves to show one by one; 0: the body following its targets."""

    def scene(self) -> Scene:
        """Put the body up and its targets in their places."""
        scene = Scene.start(self.layout)
        targets = self.targets or _targets_in_reach(self.layout)
        for tip, target in zip(scene.targets, targets, strict=True):
            scene = scene.with_target(tip, target)
        return scene


def read_options(arguments: Sequence[str]) -> Options:
    """
    Read the command line.

    Raises
    ------
    SystemExit
        With code 2 and a message on stderr, if an argument is wrong; with 0 after `--help`.

    """
    parser = _parser()
    given = parser.parse_args(arguments)
    lengths = tuple(given.lengths) if given.lengths else (1.0,) * given.joints
    layout = Layout(lengths, given.limit, given.branches)
    targets = tuple((x, y) for x, y in given.target or ())
    if targets and len(targets) != layout.branches:
        tips = layout.branches
        parser.error(f'--target is needed once for each tip, got {len(targets)} for {tips}')
    if given.steps and not given.render:
        parser.error('--steps needs --render; in the window the space bar shows the steps')
    return Options(layout, targets, given.render, given.frames, given.steps)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog='python -m fabrik_ros.playground',
        description='FABRIK as published, on a planar chain that follows the mouse.',
    )
    add = parser.add_argument
    links = parser.add_mutually_exclusive_group()
    links.add_argument(
        '--joints',
        type=_whole(1, MOST_JOINTS),
        default=6,
        help='number of turning joints, each with a link of length 1 (default: 6)',
    )
    links.add_argument(
        '--lengths', type=_length, nargs='+', metavar='L', help='lengths of the links, base first'
    )
    add('--limit', type=_limit, metavar='DEGREES', help='each joint bends by at most this')
    add('--branches', type=_whole(1, MOST_BRANCHES), default=1, help='number of tips (default: 1)')
    add(
        '--target',
        type=_coordinate,
        nargs=2,
        action='append',
        metavar=('X', 'Y'),
        help='where the tip shall be, the base being at 0 0; once for each tip',
    )
    add('--render', type=_picture, metavar='FILE', help='write a .png or .gif, open no window')
    add('--frames', type=_whole(1, 1000), default=60, help='of a .gif (default: 60)')
    add(
        '--steps',
        type=_whole(0, 1000),
        default=0,
        help='with --render: show this many moves, each of one joint',
    )
    return parser


def _targets_in_reach(layout: Layout) -> list[tuple[float, float]]:
    x, y = FIRST_TARGET
    distance, angle = math.hypot(x, y) * layout.reach, math.atan2(y, x)
    turns = [angle + TURN_OF_TARGETS * k for k in reversed(range(layout.branches))]
    return [(distance * math.cos(turn), distance * math.sin(turn)) for turn in turns]


def _whole(least: int, most: int) -> Callable[[str], int]:
    """Make a reader of whole numbers in a range."""

    def read(text: str) -> int:
        if not text.isdecimal() or not least <= int(text) <= most:
            raise argparse.ArgumentTypeError(
                f'must be a whole number from {least} to {most}, got {text!r}'
            )
        return int(text)

    return read


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


def _length(text: str) -> float:
    if not 1e-3 <= _number(text) <= 1e3:
        raise argparse.ArgumentTypeError(f'a length must be from 0.001 to 1000, got {text!r}')
    return float(text)


def _limit(text: str) -> float:
    """Read degrees, return radians."""
    if not 0.0 < _number(text) <= 180.0:
        raise argparse.ArgumentTypeError(f'must be above 0 and at most 180 degrees, got {text!r}')
    return math.radians(float(text))


def _coordinate(text: str) -> float:
    if not abs(_number(text)) <= 1e6:
        raise argparse.ArgumentTypeError(f'must be a number of at most 1e6 in size, got {text!r}')
    return float(text)


def _picture(text: str) -> Path:
    path = Path(text)
    if path.suffix not in ('.png', '.gif'):
        raise argparse.ArgumentTypeError(f'must end in .png or .gif, got {text!r}')
    if not path.parent.is_dir():
        raise argparse.ArgumentTypeError(f'there is no folder {str(path.parent)!r}')
    return path
