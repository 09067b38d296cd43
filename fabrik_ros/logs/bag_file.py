"""Bags of ROS 2 as logs, whoever recorded them: read by rosbags, without ROS."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..errors import LogError, shown
from .motion_log import FACTS, MotionLog, samples_of, SentTarget, Status, TARGETS

METADATA = 'metadata.yaml'
"""The file by which a folder is known as a bag."""
STORAGES = '.mcap', '.db3'
COMMANDS, STATUSES, STATES = 'joint_command', 'status', 'joint_states'
JOINT_STATE, DIAGNOSTICS = 'sensor_msgs/msg/JointState', 'diagnostic_msgs/msg/DiagnosticArray'
CURE = "bags need rosbags: pip install rosbags (or '.[bag]' in the checkout)"


class Heard(NamedTuple):
    """A message of a bag."""

    time: float
    """When it was recorded, since the bag began [s]."""
    message: Any


def is_bag(path: Path) -> bool:
    """Whether a path is a folder with a bag, or a file of one."""
    return (path / METADATA).is_file() or path.suffix in STORAGES


def read_bag(path: Path, node: str = '') -> MotionLog:
    """
    Read what a bag holds of a node; limits are not known from it.

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
        from rosbags.typesys import get_typestore, Stores
    except ImportError as error:
        raise LogError(CURE) from error
    folder = path if path.is_dir() else path.parent
    store = get_typestore(Stores.LATEST)
    try:
        with AnyReader([folder], default_typestore=store) as bag:
            return _log_of(bag, node)
    except (AnyReaderError, OSError, KeyError, ValueError, TypeError) as error:
        text = shown(' '.join(str(error).split()))
        raise LogError(f"'{path}' is no bag that can be read: {text}") from error


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
    joints = tuple(commands[0].message.name) if commands else ()
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
    if wanted:  # without any, all would be meant
        for connection, time, data in bag.messages(wanted):
            message = bag.deserialize(data, connection.msgtype)
            yield Heard(1e-9 * (time - bag.start_time), message)


def _targets(bag: Any, name: str) -> Iterator[SentTarget]:
    for connection in bag.connections:
        topic = connection.topic.removeprefix(f'{name}/')
        if topic != connection.topic and topic.rpartition('/')[2] in TARGETS:
            for _, time, _ in bag.messages([connection]):
                yield SentTarget(1e-9 * (time - bag.start_time), topic)


def _facts(message: Any) -> dict[str, str]:
    values = {value.key: value.value for status in message.status for value in status.values}
    return {fact: values[fact] for fact in FACTS if fact in values}
