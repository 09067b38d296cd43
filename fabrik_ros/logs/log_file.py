"""Files of logs: a zip with tables in CSV, which any program can read."""

from collections.abc import Iterable, Mapping, Sequence
import csv
from dataclasses import replace
import io
import json
from pathlib import Path
import zipfile
import zlib

import numpy as np

from ..errors import LogError, shown
from ..transforms import Array
from .motion_log import FACTS, MotionLog, Samples, SentTarget, Status
from .names import without_names

ABOUT, COMMANDS, STATES = 'about.json', 'commands.csv', 'states.csv'
STATUSES, TARGETS = 'statuses.csv', 'targets.csv'
FORMAT = 1
"""Version of the format."""
LARGEST = 500_000_000
"""[bytes] of one table."""
UNREADABLE = zipfile.BadZipFile, zlib.error, csv.Error, EOFError, RuntimeError
"""Errors of files that are no zip, or are damaged, encrypted or packed by an unknown method."""


def write_log(path: Path, log: MotionLog, names: Mapping[str, str]) -> None:
    """Write a log without names of people and machines, given with what stands for them."""
    log = _without(log, names)
    about = {
        'format': FORMAT,
        'joints': log.joints,
        'velocity': _known(log.velocity),
        'acceleration': _known(log.acceleration),
        'about': dict(log.about),
    }
    statuses = ([s.heard, *(s.facts.get(fact, '') for fact in FACTS)] for s in log.statuses)
    targets = ([target.heard, target.kind] for target in log.targets)
    with zipfile.ZipFile(path, 'x', zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(ABOUT, json.dumps(about, indent=1))
        archive.writestr(COMMANDS, _samples_text(log.joints, log.commands))
        archive.writestr(STATES, _samples_text(log.joints, log.states))
        archive.writestr(STATUSES, _text(['heard', *FACTS], statuses))
        archive.writestr(TARGETS, _text(['heard', 'kind'], targets))


def read_log(path: Path) -> MotionLog:
    """
    Read a log.

    Raises
    ------
    LogError
        If it is none; says why.

    """
    try:
        with zipfile.ZipFile(path) as archive:
            about = json.loads(_content(archive, ABOUT))
            if about['format'] != FORMAT:
                raise LogError(f"'{path}' is of format {about['format']}; expected {FORMAT}")
            joints = tuple(map(str, about['joints']))
            _, *statuses = _rows(archive, STATUSES)
            _, *targets = _rows(archive, TARGETS)
            return MotionLog(
                joints,
                np.array(about['velocity'], dtype=np.float64),
                np.array(about['acceleration'], dtype=np.float64),
                _samples(_rows(archive, COMMANDS), len(joints)),
                _samples(_rows(archive, STATES), len(joints)),
                tuple(
                    Status(float(heard), dict(zip(FACTS, facts, strict=True)))
                    for heard, *facts in statuses
                ),
                tuple(SentTarget(float(heard), kind) for heard, kind in targets),
                {str(name): str(value) for name, value in about['about'].items()},
            )
    except FileNotFoundError:
        raise
    except (*UNREADABLE, OSError, KeyError, ValueError, TypeError) as error:
        text = shown(' '.join(str(error).split()))
        raise LogError(f"'{path}' is no log of fabrik_ros log: {text}") from error


def _without(log: MotionLog, names: Mapping[str, str]) -> MotionLog:
    def cleaned(facts: Mapping[str, str]) -> dict[str, str]:
        return {name: without_names(text, names) for name, text in facts.items()}

    statuses = tuple(replace(status, facts=cleaned(status.facts)) for status in log.statuses)
    return replace(log, statuses=statuses, about=cleaned(log.about))


def _known(limits: Array) -> list[float | None]:
    return [limit if np.isfinite(limit) else None for limit in limits.tolist()]


def _samples_text(joints: Sequence[str], samples: Samples) -> str:
    table = np.column_stack([samples.heard, samples.stamps, samples.q])
    rows = (['' if cell == 'nan' else cell for cell in map('{:.9f}'.format, row)] for row in table)
    return _text(['heard', 'stamp', *joints], rows)


def _text(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator='\n').writerows([head, *rows])
    return text.getvalue()


def _content(archive: zipfile.ZipFile, name: str) -> str:
    if archive.getinfo(name).file_size > LARGEST:
        raise ValueError(f'{name} has more than {LARGEST} bytes')
    return archive.read(name).decode()


def _rows(archive: zipfile.ZipFile, name: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(_content(archive, name))))


def _samples(rows: list[list[str]], count: int) -> Samples:
    values = [[float(cell or 'nan') for cell in row] for row in rows[1:]]
    table = np.array(values, dtype=np.float64).reshape(len(values), count + 2)
    return Samples(table[:, 0], table[:, 1], table[:, 2:])
