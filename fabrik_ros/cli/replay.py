"""
Run a file: poses that `fabrik_ros record` wrote (.csv), or a program (.yaml, .json).

All of it is looked at before the arm sets out; see `fabrik_ros target`, which does the same for
several files and names at once.

"""

import argparse

from . import target


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `fabrik_ros replay`."""
    parser.add_argument('targets', nargs=1, metavar='FILE', help='poses, or a program')
    target.add_course_arguments(parser)
    parser.add_argument(
        '--loop',
        type=_count,
        default=1,
        metavar='N',
        help='how often, each time from where the arm is (default: %(default)s)',
    )
    parser.set_defaults(xyz=None)


def run(options: argparse.Namespace) -> int:
    """Print what becomes of the file; 0 if the arm gets to its end, each time."""
    return target.run(options)


def _count(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f'must be 1 or more, got {text.strip()!r}')
    return value
