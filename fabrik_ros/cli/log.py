"""
Write what a running node commands, hears and says to a file, until Ctrl-C.

SIGTERM and a closed terminal end it as well. What came is on the disk within a second: of a log
that was cut off, `fabrik_ros report` reads the rest.

FILE.zip is a zip of tables (CSV); any other name is the folder of a bag of ROS 2 (MCAP), with the
messages themselves, which needs rosbags. Names of people and machines, and home folders, are left
out. `fabrik_ros report` makes a page of either.

"""

import argparse
import math
import os
from pathlib import Path
import platform
import signal
import sys
import threading
import time
from typing import TYPE_CHECKING

from .. import __version__
from ..errors import LogError
from ..found_ros import require_ros
from ..logs.log_file import part_of
from ..logs.names import personal_names
from .arguments import add_node, positive

if TYPE_CHECKING:
    from ..commander.own_node import OwnNode
    from ..ros.beside.bag_recorder import BagRecorder
    from ..ros.beside.motion_logger import MotionLogger

NO_NODE = 10.0
"""Longest wait for a node [s]."""
SAVE_PERIOD = 1.0
"""After this time [s] what came is on the disk."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `fabrik_ros log`."""
    add = parser.add_argument
    add('file', metavar='FILE.zip or BAG', help='file or folder to write; it must not exist')
    add_node(parser)
    add('--duration', type=positive, default=math.inf, metavar='S', help='end by itself after [s]')
    add('--keep-names', action='store_true', help='leave names of people and machines in')


def run(options: argparse.Namespace) -> int:
    """Log until a signal, or for a duration; 0 if the node was heard."""
    path = Path(options.file)
    if path.exists():
        raise FileExistsError(f"'{path}' is there already")
    if part_of(path).exists():
        raise FileExistsError(
            f"'{part_of(path)}' is left of a log that was cut off; `report` reads it"
        )
    if not path.parent.is_dir():
        raise FileNotFoundError(f"there is no folder '{path.parent}'")
    require_ros()
    from ..commander.own_node import OwnNode
    from ..ros.beside.bag_recorder import BagRecorder
    from ..ros.beside.motion_logger import MotionLogger

    name = f'/{options.node.strip("/")}'
    names = {} if options.keep_names else personal_names()
    is_told_to_end = _end_by_signals()
    own = OwnNode(name.rpartition('/')[0] or '/')
    try:
        logger: BagRecorder | MotionLogger
        try:
            if path.suffix == '.zip':
                logger = MotionLogger(own.node, name, path, names, _versions())
            else:
                logger = BagRecorder(own.node, name, path, names)
        except OSError as error:
            raise LogError(f"'{path}' cannot be written: {error}") from error
        print(f'listening to {name}; Ctrl-C ends', file=sys.stderr, flush=True)
        try:
            _listen(own, logger, options.duration, is_told_to_end)
            logger.close()
        except OSError as error:
            print(f'CUT OFF: {error}; `report {path}` reads what came before')
            return 1
    finally:
        own.close()
    if not logger.has_status:
        print(f'NOT LOGGED: no status came on {name}/status')
        return 1
    print(f'{logger.held} in {path}; `report` makes a page of it')
    return 0


def _end_by_signals() -> threading.Event:
    """
    Have Ctrl-C, SIGTERM and a closed terminal end the log, and nothing else, from now on.

    They are not raised: what is written at the end is written whole. nohup still shields.
    """
    is_told_to_end = threading.Event()
    for name in ('SIGINT', 'SIGTERM', 'SIGHUP'):  # the last is not known to Windows
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, lambda number, frame: is_told_to_end.set())
    return is_told_to_end


def _listen(
    own: 'OwnNode',
    logger: 'BagRecorder | MotionLogger',
    duration: float,
    is_told_to_end: threading.Event,
) -> None:
    """Listen until a signal, for a duration, or until it is plain that there is no such node."""
    begin = saved = time.monotonic()
    while not is_told_to_end.is_set() and own.spin_once(0.1):
        now = time.monotonic()
        if now - begin > duration or not (logger.has_status or now - begin < NO_NODE):
            return
        if now - saved > SAVE_PERIOD:
            logger.save()
            saved = now


def _versions() -> dict[str, str]:
    return {
        'fabrik_ros': __version__,
        'Python': platform.python_version(),
        'system': f'{platform.system()} {platform.machine()}',
        'ROS': os.environ.get('ROS_DISTRO', 'as a package of Python'),
    }
