"""Files of logs: a zip with tables in CSV, which any program can read."""

from collections.abc import Callable, Iterator, Mapping, Sequence
import csv
from functools import partial
import io
from itertools import chain
import json
from pathlib import Path
from typing import Any, IO
import zipfile
import zlib

import numpy as np

from ..errors import LogError, shown
from ..transforms import Array
from .cut_zip import read_cut_zip
from .motion_log import FACTS, MotionLog, Samples, SentTarget, Status

ABOUT, STATUSES, TARGETS = 'about.json', 'statuses.csv', 'targets.csv'
COMMANDS, STATES = 'commands.csv', 'states.csv'
FILES = ABOUT, STATUSES, TARGETS, COMMANDS, STATES
"""What is in a zip, the shortest first: if it is cut off, little is missing."""
FORMAT = 1
"""Version of the format."""
PART = '.part'
"""Follows the name of a zip in that of the folder with its tables, until it is written."""
LARGEST = 500_000_000
"""[bytes] of one table."""
UNREADABLE = zipfile.BadZipFile, zlib.error, csv.Error, EOFError, RuntimeError
"""Errors of files that are no zip, or are damaged, encrypted or packed by an unknown method."""
EXPECTED = 'expected a zip or bag that `log` wrote, or a bag of `ros2 bag record`'


def part_of(path: Path) -> Path:
    """Tell the folder with the tables of a zip that is not written yet."""
    return path.with_name(f'{path.name}{PART}')


def read_log(path: Path) -> MotionLog:
    """
    Read a log; of one that was cut off, what is whole.

    Parameters
    ----------
    path : Path
        The zip, or a folder with its tables. Where there is no such zip, the folder is read that
        was to become it.

    Raises
    ------
    LogError
        If it is none; says why.

    """
    if not path.exists() and part_of(path).is_dir():
        path = part_of(path)
    try:
        if path.is_dir():
            return _in_folder(path)
        if zipfile.is_zipfile(path):
            return _in_zip(path)
        return _in_cut_zip(path)
    except FileNotFoundError:
        raise
    except (*UNREADABLE, OSError, KeyError, ValueError, TypeError) as error:
        missing = f'{ABOUT} lacks ' if isinstance(error, KeyError) else ''
        text = shown(missing + ' '.join(str(error).split()))
        raise LogError(f"'{path}' is no log of fabrik_ros log: {text}; {EXPECTED}") from error


def _in_folder(path: Path) -> MotionLog:
    there = [path / name for name in FILES if (path / name).is_file()]
    files = {file.name: partial(io.FileIO, file) for file in there}
    return _log_of(_Tables(files, is_cut=path.suffix == PART))


def _in_zip(path: Path) -> MotionLog:
    with zipfile.ZipFile(path) as archive:
        for info in archive.infolist():
            if info.filename in FILES and info.file_size > LARGEST:
                raise ValueError(f'{info.filename} has more than {LARGEST} bytes')
        names = archive.namelist()
        return _log_of(
            _Tables({name: partial(archive.open, name) for name in names}, is_cut=False)
        )


def _in_cut_zip(path: Path) -> MotionLog:
    files = read_cut_zip(path.read_bytes(), LARGEST)
    return _log_of(
        _Tables({name: partial(io.BytesIO, data) for name, data in files.items()}, True)
    )


class _Tables:
    """
    The tables of a log.

    Parameters
    ----------
    files : mapping
        What opens each, by name.
    is_cut : bool
        Whether some may be missing.

    """

    def __init__(self, files: Mapping[str, Callable[[], IO[bytes]]], is_cut: bool) -> None:
        self._files = files
        self.is_cut = is_cut
        """Whether something is missing, as far as was read."""

    def about(self) -> Any:
        """Read what is no table."""
        with self._open(ABOUT) as file:
            return json.load(file)

    def rows(self, name: str) -> list[list[str]]:
        """Read the rows below the head."""
        head, *rows = list(csv.reader(self._lines(name))) or [[]]
        self.is_cut |= not head
        if rows and len(rows[-1]) < len(head):
            self.is_cut = True
            rows.pop()
        return rows

    def samples(self, name: str, joints: Sequence[str]) -> Samples:
        """Read a table of joint values."""
        columns = ['heard', 'stamp', *joints]
        lines = self._lines(name)
        head = next(csv.reader(lines), None)
        self.is_cut |= head is None
        if head not in (None, columns):
            raise ValueError(f'{name} is not of the joints in {ABOUT}')
        table = _numbers(name, map(_with_nan, lines), len(columns))
        return Samples(table[:, 0], table[:, 1], table[:, 2:])

    def _open(self, name: str) -> IO[bytes]:
        if name in self._files:
            return self._files[name]()
        if not self.is_cut or name == ABOUT:
            raise ValueError(f'there is no {name} in it')
        return io.BytesIO()

    def _lines(self, name: str) -> Iterator[str]:
        """Yield the lines that are whole: the last one, too, ends with a break."""
        with io.TextIOWrapper(self._open(name), 'utf-8', 'replace', newline='') as lines:
            for line in lines:
                if not line.endswith('\n'):
                    self.is_cut = True
                    return
                yield line


def _with_nan(line: str) -> str:
    """
    Put NaN where a number is left out.

    >>> _with_nan('0.1,0.1,,,2.0,')
    '0.1,0.1,nan,nan,2.0,nan'
    """
    return (
        line
        if ',,' not in line and not line.rstrip().endswith(',')
        else ','.join(cell or 'nan' for cell in line.rstrip().split(','))
    )


def _numbers(name: str, lines: Iterator[str], count: int) -> Array:
    """Read numbers, shape (m, count)."""
    first = next(lines, None)
    if first is None:
        return np.empty((0, count))
    try:
        table = np.loadtxt(chain([first], lines), delimiter=',', comments=None, ndmin=2)
    except ValueError as error:
        raise ValueError(f'{name}: {str(error).partition(";")[0]}') from error
    return table.reshape(len(table), count)


def _log_of(tables: _Tables) -> MotionLog:
    about = tables.about()
    if about['format'] != FORMAT:
        raise ValueError(f'it is of format {about["format"]}, not {FORMAT}')
    joints = tuple(map(str, about['joints']))
    statuses, targets = tables.rows(STATUSES), tables.rows(TARGETS)
    commands, states = (tables.samples(name, joints) for name in (COMMANDS, STATES))
    velocity, acceleration = (
        np.array(about[name], dtype=np.float64).reshape(len(joints))
        for name in ('velocity', 'acceleration')
    )
    return MotionLog(
        joints,
        velocity,
        acceleration,
        commands,
        states,
        tuple(
            Status(float(heard), dict(zip(FACTS, facts, strict=True)))
            for heard, *facts in statuses
        ),
        tuple(SentTarget(float(heard), kind) for heard, kind in targets),
        {str(name): str(value) for name, value in about['about'].items()},
        tables.is_cut,
    )
