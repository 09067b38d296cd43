"""
Write what a running node commands, hears and says to a file, until Ctrl-C.

FILE.zip is a zip of tables (CSV); any other name is the folder of a bag of ROS 2 (MCAP), with the
messages themselves, which needs rosbags. Names of people and machines, and home folders, are left
out. `fabrik_ros report` makes a page of either.

"""

import argparse
from contextlib import suppress
import math
import os
from pathlib import Path
import platform
import sys
import time
from typing import TYPE_CHECKING

from .. import __version__
from ..found_ros import require_ros
from ..logs.log_file import write_log
from ..logs.names import personal_names
from .arguments import positive

if TYPE_CHECKING:
    from ..ros.beside.bag_recorder import BagRecorder
    from ..ros.beside.motion_logger import MotionLogger

NO_NODE = 10.0
"""Longest wait for a node [s]."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `fabrik_ros log`."""
    add = parser.add_argument
    add('file', metavar='FILE.zip or BAG', help='file or folder to write; it must not exist')
    add('--node', default='fabrik', help='name of the node, with namespace (default: fabrik)')
    add('--duration', type=positive, default=math.inf, metavar='S', help='end by itself after [s]')
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
    from ..ros.beside.bag_recorder import BagRecorder
    from ..ros.beside.motion_logger import MotionLogger

    name = f'/{options.node.strip("/")}'
    names = {} if options.keep_names else personal_names()
    logger: BagRecorder | MotionLogger | None = None
    own = OwnNode(name.rpartition('/')[0] or '/')
    try:
        if path.suffix == '.zip':
            logger = MotionLogger(own.node, name)
        else:
            logger = BagRecorder(own.node, name, path, names)
        own.start()
        _listen(logger, name, options.duration)
    finally:
        own.close()
        if isinstance(logger, BagRecorder):
            logger.close()
    if not logger.has_status:
        print(f'NOT LOGGED: no status came on {name}/status')
        return 1
    if isinstance(logger, BagRecorder):
        held = f'{sum(logger.counts.values())} messages'
    else:
        log = logger.log(_versions())
        write_log(path, log, names)
        held = (
            f'{len(log.commands.heard)} commands, {len(log.states.heard)} measured states, '
            f'{len(log.targets)} targets'
        )
    print(f'{held} in {path}; `report` makes a page of it')
    return 0


def _listen(logger: 'BagRecorder | MotionLogger', name: str, duration: float) -> None:
    """Wait until Ctrl-C, for a duration, or until it is plain that there is no such node."""
    print(f'listening to {name}; Ctrl-C ends', file=sys.stderr, flush=True)
    begin = time.monotonic()
    with suppress(KeyboardInterrupt):
        while (passed := time.monotonic() - begin) < duration:
            if not logger.has_status and passed > NO_NODE:
                break
            time.sleep(0.1)


def _versions() -> dict[str, str]:
    return {
        'fabrik_ros': __version__,
        'Python': platform.python_version(),
        'system': f'{platform.system()} {platform.machine()}',
        'ROS': os.environ.get('ROS_DISTRO', 'as a package of Python'),
    }
