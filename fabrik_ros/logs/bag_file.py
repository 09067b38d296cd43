"""Bags of ROS 2 as logs, whoever recorded them: read by rosbags, without ROS."""

from collections.abc import Iterator
from dataclasses import replace
from operator import itemgetter
from pathlib import Path
import sqlite3
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np

from ..errors import LogError, shown
from .cut_mcap import is_cut_mcap, mend_mcap
from .log_file import EXPECTED
from .motion_log import FACTS, MotionLog, samples_of, SentTarget, Status, TARGETS

METADATA = 'metadata.yaml'
"""The file by which a folder is known as a bag."""
STORAGES = '.mcap', '.db3'
COMMANDS, STATUSES, STATES = 'joint_command', 'status', 'joint_states'
JOINT_STATE, DIAGNOSTICS = 'sensor_msgs/msg/JointState', 'diagnostic_msgs/msg/DiagnosticArray'
DAMAGED = OSError, KeyError, ValueError, TypeError
"""Errors of files whose content is not what it should be."""
CURE = "bags need rosbags: pip install rosbags (or '.[bag]' in the checkout)"


class Heard(NamedTuple):
    """A message of a bag."""

    time: float
    """When it was recorded, since the bag began [s]."""
    message: Any


def is_bag(path: Path) -> bool:
    """Whether a path is a folder with a bag, or a file of one."""
    return path.suffix in STORAGES or (path / METADATA).is_file() or bool(_files_in(path))


def read_bag(path: Path, node: str = '') -> MotionLog:
    """
    Read what a bag holds of a node; limits are not known from it.

    Of a bag that was cut off, what is whole is read, and metadata may be missing.

    Parameters
    ----------
    path : Path
        Folder of the bag, or the only file in that.
    node : str
        The node, with its namespace; needed where the bag holds several.

    Raises
    ------
    LogError
        If it is no bag, or has no such node; says why.

    """
    try:
        from rosbags.highlevel import AnyReader, AnyReaderError
        from rosbags.rosbag2 import ReaderError
        from rosbags.typesys import get_typestore, Stores
    except ImportError as error:
        raise LogError(CURE) from error
    store = get_typestore(Stores.LATEST)
    try:
        with TemporaryDirectory() as spare:
            sources, is_cut = _sources(path, Path(spare))
            with AnyReader(sources, default_typestore=store) as bag:
                return replace(_log_of(bag, node), is_cut=is_cut)
    except LogError as error:
        raise LogError(f"'{path}': {error}") from error
    except (AnyReaderError, ReaderError, _database_error(), *DAMAGED) as error:
        text = shown(' '.join(str(error).split()))
        raise LogError(f"'{path}' is no bag that can be read: {text}; {EXPECTED}") from error


def _database_error() -> type[Exception]:
    """Tell the error of damaged databases, which older versions of rosbags leave to sqlite3."""
    try:
        import apsw
    except ImportError:
        return sqlite3.Error
    return apsw.Error


def _files_in(folder: Path) -> list[Path]:
    return sorted(file for storage in STORAGES for file in folder.glob(f'*{storage}'))


def _sources(path: Path, spare: Path) -> tuple[list[Path], bool]:
    """Tell what is to be read, and whether it was cut off, and is mended in the spare folder."""
    folder = path if path.is_dir() else path.parent
    metadata = folder / METADATA
    has_metadata = metadata.is_file() and metadata.stat().st_size > 0
    files = _files_in(folder) if has_metadata or path.is_dir() else [path]
    cut = [file for file in files if file.suffix == '.mcap' and is_cut_mcap(file)]
    for file in cut:
        mend_mcap(file, spare / file.name)
    if has_metadata and not cut:
        return [folder], False
    return [spare / file.name if file in cut else file for file in files], bool(cut)


def _log_of(bag: Any, node: str) -> MotionLog:
    name = _node_in(bag, node)
    space = name.rpartition('/')[0]
    statuses = _heard(bag, f'{name}/{STATUSES}')
    commands, states = (
        [
            each
            for each in _heard(bag, topic)
            if len(each.message.name) == len(each.message.position)
        ]
        for topic in (f'{name}/{COMMANDS}', f'{space}/{STATES}')
    )
    first = next(iter(commands or states), None)
    joints = () if first is None else tuple(first.message.name)
    unknown = np.full(len(joints), np.nan)
    return MotionLog(
        joints,
        unknown,
        unknown,
        samples_of([each for each in commands if set(joints) <= set(each.message.name)], joints),
        samples_of(states, joints),
        tuple(Status(time, _facts(message)) for time, message in statuses),
        tuple(sorted(_targets(bag, name), key=lambda target: target.heard)),
        {'node': name},
    )


def _node_in(bag: Any, node: str) -> str:
    """Find the node that was recorded; commands and status are below its name."""
    kinds: dict[str, str] = {c.topic: c.msgtype for c in bag.connections}
    names = [
        topic.removesuffix(f'/{COMMANDS}')
        for topic, kind in sorted(kinds.items())
        if topic.endswith(f'/{COMMANDS}')
        and kind == JOINT_STATE
        and kinds.get(f'{topic.removesuffix(COMMANDS)}{STATUSES}') == DIAGNOSTICS
    ]
    found = [name for name in names if node in ('', name)]
    if len(found) == 1:
        return found[0]
    there = ', '.join(names) or 'none; ~/joint_command and ~/status have to be recorded'
    raise LogError(
        f'{len(found)} nodes {node or "of fabrik_ros"} are in the bag; there are: {there}'
    )


def _heard(bag: Any, topic: str) -> Iterator[Heard]:
    wanted = [connection for connection in bag.connections if connection.topic == topic]
    found = [each for connection in wanted for each in _messages(connection)]
    for connection, time, data in sorted(found, key=itemgetter(1)):
        message = bag.deserialize(data, connection.msgtype)
        yield Heard(1e-9 * (time - bag.start_time), message)


def _messages(connection: Any) -> Iterator[tuple[Any, int, bytes]]:
    """Read messages; those of a file without an index may come in another order."""
    owner = connection.owner
    has_index = bool(getattr(owner, 'chunks', True))
    read = owner.messages if has_index else owner.messages_scan
    yield from read([connection])


def _targets(bag: Any, name: str) -> Iterator[SentTarget]:
    for connection in bag.connections:
        topic = connection.topic.removeprefix(f'{name}/')
        if topic != connection.topic and topic.rpartition('/')[2] in TARGETS:
            for _, time, _ in _messages(connection):
                yield SentTarget(1e-9 * (time - bag.start_time), topic)


def _facts(message: Any) -> dict[str, str]:
    values = {value.key: value.value for status in message.status for value in status.values}
    return {fact: values[fact] for fact in FACTS if fact in values}
