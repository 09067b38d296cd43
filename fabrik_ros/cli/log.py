"""
Write what a running node commands, hears and says to a file, until Ctrl-C.

The file is a zip of tables (CSV). Names of people and machines, and home folders, are left out of
it. `fabrik_ros report FILE.zip` makes a page of it.

"""

import argparse
from contextlib import suppress
import math
import os
from pathlib import Path
import platform
import sys
import time

from .. import __version__
from ..found_ros import require_ros
from ..logs.log_file import write_log
from ..logs.names import personal_names
from .arguments import finite

NO_NODE = 10.0
"""Longest wait for a node [s]."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `fabrik_ros log`."""
    add = parser.add_argument
    add('file', metavar='FILE.zip', help='file to write; it must not exist')
    add('--node', default='fabrik', help='name of the node, with namespace (default: fabrik)')
    add('--duration', type=finite, default=math.inf, metavar='S', help='end by itself after [s]')
    add('--keep-names', action='store_true', help='leave names of people and machines in')


def run(options: argparse.Namespace) -> int:
    """Log until Ctrl-C, or for a duration; 0 if the node was heard."""
    path = Path(options.file)
    if path.exists():
        raise FileExistsError(f"'{path}' is there already")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"there is no folder '{path.parent}'")
    require_ros()
    from ..commander.own_node import OwnNode
    from ..ros.beside.motion_logger import MotionLogger

    name = f'/{options.node.strip("/")}'
    own = OwnNode(name.rpartition('/')[0] or '/')
    try:
        logger = MotionLogger(own.node, name)
        print(f'listening to {name}; Ctrl-C ends', file=sys.stderr, flush=True)
        begin = time.monotonic()
        with suppress(KeyboardInterrupt):
            while (passed := time.monotonic() - begin) < options.duration:
                if not logger.has_status and passed > NO_NODE:
                    break
                time.sleep(0.1)
    finally:
        own.close()
    if not logger.has_status:
        print(f'NOT LOGGED: no status came on {name}/status')
        return 1
    log = logger.log(_versions())
    write_log(path, log, {} if options.keep_names else personal_names())
    print(
        f'{len(log.commands.heard)} commands, {len(log.states.heard)} measured states, '
        f'{len(log.targets)} targets in {path}; `report` makes a page of it'
    )
    return 0


def _versions() -> dict[str, str]:
    return {
        'fabrik_ros': __version__,
        'Python': platform.python_version(),
        'system': f'{platform.system()} {platform.machine()}',
        'ROS': os.environ.get('ROS_DISTRO', 'as a package of Python'),
    }
