"""The command `fabrik_ros`: which subcommand is called, and how it ends."""

import argparse
from collections.abc import Sequence
import importlib
import os
import sys

from .. import __version__
from ..errors import FabrikError
from .arguments import protected

SUBCOMMANDS = {
    'info': 'links, joints and limits of a robot, and the chain that is taken',
    'solve': 'joint values for one target pose',
    'view': 'a robot in the browser, with sliders and a handle; or the arm of a running node',
    'run': 'a simulated arm that goes to targets, in the browser and, where it is, over ROS 2',
    'target': 'send a pose, or a program of moves, to a running node, and how it ends (ROS 2)',
    'record': 'write where the tool is led to a file, for replay (ROS 2)',
    'replay': 'run such a file, or a program of moves (ROS 2)',
    'log': 'write what a running node commands, hears and says to a file (ROS 2)',
    'report': 'one page of such a log: errors, limits used, stops, latencies',
    'teleop': 'move the arm by a gamepad, the keyboard, a tracked hand and the like (ROS 2)',
    'doctor': 'what is installed, what is missing, and what is wrong with running nodes',
}
"""
Subcommands, and what each does.

The module of that name in this folder has `add_arguments(parser)` and `run(options)`, which
returns the exit code; its docstring is the description in `--help`.

"""
DONE, NO, WRONG_USE, INTERRUPTED = 0, 1, 2, 130
"""Exit codes: done; failed; wrong usage, as in argparse; Ctrl-C before the end."""
EXIT_CODES = (
    'Exit code 0: done, or target reached. 1: failed, or not reached. 2: wrong usage: a wrong '
    'argument, a missing file, a missing package. 130: Ctrl-C, which ends view, run, log and '
    'teleop with 0.'
)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a subcommand and end the process with its exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        code = _run(words)
        sys.stdout.flush()
    except BrokenPipeError:  # as `fabrik_ros info arm.urdf | head` makes it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = DONE
    except KeyboardInterrupt:
        code = INTERRUPTED
    except (FabrikError, FileNotFoundError, FileExistsError, ImportError) as error:
        print(f'fabrik_ros {words[0]}: error: {error}', file=sys.stderr)
        code = WRONG_USE
    raise SystemExit(code)


def _run(words: Sequence[str]) -> int:
    parser = _parser()
    if not words:
        parser.print_help(sys.stderr)
        return WRONG_USE
    name = parser.parse_args(words[:1]).subcommand
    module = importlib.import_module(f'.{name}', __package__)
    own = argparse.ArgumentParser(prog=f'fabrik_ros {name}', description=module.__doc__)
    module.add_arguments(own)
    return int(module.run(own.parse_args(protected(words[1:]))))


def _parser() -> argparse.ArgumentParser:
    lines = '\n'.join(f'  {name:10} {meaning}' for name, meaning in SUBCOMMANDS.items())
    parser = argparse.ArgumentParser(
        prog='fabrik_ros',
        usage='fabrik_ros SUBCOMMAND ...',
        description='Inverse kinematics for robot arms, with ROS 2 and without.\n\n'
        f'subcommands:\n{lines}',
        epilog=f'fabrik_ros SUBCOMMAND --help says more.\n{EXIT_CODES}',
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument('--version', action='version', version=f'fabrik_ros {__version__}')
    parser.add_argument('subcommand', choices=SUBCOMMANDS, help=argparse.SUPPRESS)
    return parser
