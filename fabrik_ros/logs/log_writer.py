"""Writes the zip of a log: its tables grow on the disk while it is logged, and are packed then."""

from collections.abc import Iterable, Mapping, Sequence
import csv
import json
from pathlib import Path
import shutil
from typing import TextIO
import zipfile

import numpy as np

from ..transforms import Array
from .log_file import ABOUT, COMMANDS, FILES, FORMAT, part_of, STATES, STATUSES, TARGETS
from .motion_log import FACTS, MotionLog, Samples
from .names import without_names


class LogWriter:
    """
    Writes a log piece by piece, without names of people and machines.

    Parameters
    ----------
    path : Path
        The zip; its tables are in a folder beside it until it is closed.
    names : mapping of str to str
        Names of people and machines, and what stands for them.

    Attributes
    ----------
    counts : dict of str to int
        Rows of each table.

    """

    def __init__(self, path: Path, names: Mapping[str, str]) -> None:
        self._path, self._folder, self._names = path, part_of(path), names
        self._folder.mkdir()
        self._about = ''
        self._files: dict[str, TextIO] = {}
        self.counts = dict.fromkeys((COMMANDS, STATES, STATUSES, TARGETS), 0)

    def add(self, log: MotionLog) -> None:
        """Add what came since the piece before; the joints stay, once there are any."""
        self._describe(log)
        self._write(STATUSES, ['heard', *FACTS], self._status_rows(log))
        self._write(TARGETS, ['heard', 'kind'], ([t.heard, t.kind] for t in log.targets))
        if log.joints:
            head = ['heard', 'stamp', *log.joints]
            self._write(COMMANDS, head, _sample_rows(log.commands))
            self._write(STATES, head, _sample_rows(log.states))
        for file in self._files.values():
            file.flush()

    def close(self) -> None:
        """Pack the tables."""
        self._write(COMMANDS, ['heard', 'stamp'], [])
        self._write(STATES, ['heard', 'stamp'], [])
        self._close_files()
        packed = self._folder / self._path.name
        with zipfile.ZipFile(packed, 'x', zipfile.ZIP_DEFLATED) as archive:
            for name in FILES:
                archive.write(self._folder / name, name)
        packed.rename(self._path)
        shutil.rmtree(self._folder)

    def discard(self) -> None:
        """Leave nothing behind."""
        self._close_files()
        shutil.rmtree(self._folder)

    def _close_files(self) -> None:
        for file in self._files.values():
            file.close()

    def _describe(self, log: MotionLog) -> None:
        about = {
            'format': FORMAT,
            'joints': log.joints,
            'velocity': _known(log.velocity),
            'acceleration': _known(log.acceleration),
            'about': {name: self._clean(text) for name, text in log.about.items()},
        }
        text = json.dumps(about, indent=1)
        if text != self._about:
            new = self._folder / f'{ABOUT}.new'
            new.write_text(text, encoding='utf-8')
            new.replace(self._folder / ABOUT)
            self._about = text

    def _write(self, name: str, head: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
        if name not in self._files:
            path = self._folder / name
            self._files[name] = path.open('x', encoding='utf-8', newline='')
            csv.writer(self._files[name], lineterminator='\n').writerow(head)
        writer = csv.writer(self._files[name], lineterminator='\n')
        for row in rows:
            writer.writerow(row)
            self.counts[name] += 1

    def _status_rows(self, log: MotionLog) -> Iterable[Sequence[object]]:
        for status in log.statuses:
            yield [status.heard, *(self._clean(status.facts.get(fact, '')) for fact in FACTS)]

    def _clean(self, text: str) -> str:
        return without_names(text, self._names)


def _known(limits: Array) -> list[float | None]:
    return [limit if np.isfinite(limit) else None for limit in limits.tolist()]


def _sample_rows(samples: Samples) -> Iterable[Sequence[object]]:
    for row in np.column_stack([samples.heard, samples.stamps, samples.q]):
        yield ['' if cell == 'nan' else cell for cell in map('{:.9f}'.format, row)]
