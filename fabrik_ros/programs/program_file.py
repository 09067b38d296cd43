"""
Programs in YAML or JSON: a seam is four lines.

    name: seam                      # may be left out
    frame: base_link                # of all poses; left out, the base of the arm
    segments:
      - move: {xyz: [0.4, 0.0, 0.3], rpy: [3.14159, 0.0, 0.0]}
      - line: {xyz: [0.5, 0.0, 0.3], quaternion: [1.0, 0.0, 0.0, 0.0]}
        speed: 0.05                 # [m/s]; rotation, share, acceleration, blend, frame likewise
      - arc: {xyz: [0.5, 0.1, 0.3], rpy: [3.14159, 0.0, 0.0]}
        via: [0.55, 0.05, 0.3]      # and `angle` [rad], for more or less than there
      - joints: home                # or {elbow: 0.3}, or a list of all values
      - pause: 0.5                  # [s]

"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..documents import Reader
from ..errors import FabrikError, ProgramError, shown
from ..transforms import (
    Array,
    pose_from_quaternion_xyzw,
    quaternion_xyzw_from_rotation,
    rotation_from_rpy,
    transform,
)
from .program import Arc, Joints, Line, Move, Pause, Program, Segment

READ = Reader(ProgramError)
KINDS = ('line', 'arc', 'move', 'joints', 'pause')
SETTINGS = ('speed', 'rotation', 'share', 'acceleration', 'blend')
KEYS = (*KINDS, *SETTINGS, 'via', 'angle', 'frame')
POSE = ('xyz', 'rpy', 'quaternion')
TOP = ('name', 'frame', 'segments')

PoseOf = Callable[[str], Array]
"""Gives the pose of a frame in the base of the arm, shape (4, 4); '' is the base itself."""


def in_base(frame: str) -> Array:
    """
    Pose of a frame where only the base of the arm is known: '' is that.

    Raises
    ------
    ProgramError
        If it is another one.

    """
    if frame:
        raise ProgramError(f"frame '{shown(frame)}' is unknown here; leave it out: the arm's base")
    return np.eye(4)


def load_program(path: str | Path, pose_of: PoseOf = in_base) -> Program:
    """
    Load a program.

    Parameters
    ----------
    path : path
        The file.
    pose_of : callable
        Gives the pose T_base_frame, shape (4, 4), of a frame that poses are in.

    Raises
    ------
    ProgramError
        If the file cannot be read or makes no sense; names the file, the segment and the key.

    """
    try:
        return program_of(READ.document(Path(path)), pose_of)[1]
    except ProgramError as error:
        raise ProgramError(f'program {shown(str(path), 200)}: {error}') from error


def program_of(document: object, pose_of: PoseOf = in_base) -> tuple[str, Program]:
    """
    Make a program of what YAML or JSON read; return its name, too.

    Raises
    ------
    ProgramError
        If it makes no sense; names the segment and the key.

    """
    entries = READ.mapping(document, 'the program')
    READ.check_keys(entries, TOP, 'the program')
    segments = entries.get('segments')
    if not isinstance(segments, list | tuple):
        raise ProgramError(f"'segments': expected a list, got {shown(str(segments))}")
    name, frame = (READ.text(entries.get(key, ''), key) for key in ('name', 'frame'))
    return name, Program(
        _segment(entry, f'segment {number}', frame, pose_of)
        for number, entry in enumerate(segments, start=1)
    )


def _segment(entry: object, where: str, frame: str, pose_of: PoseOf) -> Segment:
    keys = READ.mapping(entry, where)
    READ.check_keys(keys, KEYS, where)
    given = [kind for kind in KINDS if kind in keys]
    if len(given) != 1:
        found = ' and '.join(given) or 'none'
        raise ProgramError(f'{where} needs one of {", ".join(KINDS)}; it has {found}')
    (kind,) = given
    settings = {k: READ.number(keys[k], f'{where}, {k}') for k in SETTINGS if k in keys}
    frame = READ.text(keys.get('frame', frame), f'{where}, frame')
    try:
        return _made(kind, keys, settings, pose_of(frame), where)
    except FabrikError as error:
        text = str(error)
        raise ProgramError(text if text.startswith(where) else f'{where}: {text}') from error


def _made(
    kind: str, keys: Mapping[str, Any], settings: Mapping[str, float], T_base: Array, where: str
) -> Segment:
    value, what = keys[kind], f'{where}, {kind}'
    match kind:
        case 'pause':
            return Pause(READ.number(value, what), **settings)
        case 'joints':
            return Joints(_values(value, what), **settings)
        case 'line':
            return Line(T_base @ _pose(value, what), **settings)
        case 'move':
            return Move(T_base @ _pose(value, what), **settings)
        case _:
            via = np.array(READ.numbers(keys.get('via'), 3, f'{where}, via'))
            angle = READ.number(keys['angle'], f'{where}, angle') if 'angle' in keys else None
            via = T_base[:3, :3] @ via + T_base[:3, 3]
            return Arc(via, T_base @ _pose(value, what), angle, **settings)


def _values(value: object, what: str) -> str | Mapping[str, float] | Array:
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return {str(name): READ.number(q, f'{what}, {name}') for name, q in value.items()}
    if not isinstance(value, list | tuple):
        raise ProgramError(f'{what}: expected a name, values by joint, or a list of them')
    return np.array(READ.numbers(value, len(value), what))


def _pose(value: object, what: str) -> Array:
    keys = READ.mapping(value, what)
    READ.check_keys(keys, POSE, what)
    xyz = READ.numbers(keys.get('xyz'), 3, f'{what}, xyz')
    if 'quaternion' in keys:
        if 'rpy' in keys:
            raise ProgramError(f'{what}: has rpy and quaternion; one says how it is turned')
        x, y, z, w = READ.numbers(keys['quaternion'], 4, f'{what}, quaternion')
        return pose_from_quaternion_xyzw(xyz, (x, y, z, w))
    rpy = READ.numbers(keys.get('rpy', (0.0, 0.0, 0.0)), 3, f'{what}, rpy')
    return transform(rotation_from_rpy(*rpy), np.array(xyz))


def document_of(program: Program, name: str = '') -> dict[str, Any]:
    """Make of a program what YAML or JSON can write, so that `program_of` reads the same."""
    segments = [_entry(segment) for segment in program.steps]
    return {'name': name, 'segments': segments} if name else {'segments': segments}


def _entry(segment: Segment) -> dict[str, Any]:
    entry: dict[str, Any] = {}
    match segment:
        case Pause():
            entry['pause'] = segment.seconds
        case Joints():
            values = segment.values
            is_said = isinstance(values, str | Mapping)
            entry['joints'] = values if is_said else np.asarray(values).tolist()
        case Line() | Move() | Arc():
            T = np.asarray(segment.pose)
            turned = quaternion_xyzw_from_rotation(T[:3, :3]).tolist()
            entry[segment.name] = {'xyz': T[:3, 3].tolist(), 'quaternion': turned}
    if isinstance(segment, Arc):
        entry['via'] = np.asarray(segment.via).tolist()
        entry |= {} if segment.angle is None else {'angle': segment.angle}
    default = Segment()
    given = {name: getattr(segment, name) for name in SETTINGS}
    return entry | {k: v for k, v in given.items() if v != getattr(default, k)}
