"""
Where the parts of meshes are kept: a folder of the user, with a file for each mesh.

What is there only saves time: a file that cannot be read counts as none, and is written anew.

"""

from collections.abc import Callable
from contextlib import suppress
import json
import os
from pathlib import Path
import tempfile

import numpy as np

from .convex_parts import Division, Part

SUFFIX = '.npz'


class PartsCache:
    """
    Keeps what became of meshes.

    Parameters
    ----------
    tell : callable
        Is told in a sentence what cannot be read or written.

    """

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell
        caches = Path(os.environ.get('XDG_CACHE_HOME') or Path('~/.cache').expanduser())
        self._folder = caches / 'fabrik_ros' / 'parts' if caches.is_absolute() else None
        self._has_told = False

    def read(self, key: str) -> Division | None:
        """Return what is kept by a key; None if nothing is."""
        if self._folder is None:
            return None
        path = self._folder / f'{key}{SUFFIX}'
        try:
            return _read(path)
        except FileNotFoundError:
            return None
        except Exception as error:  # whatever zip files and arrays can be broken by
            self._tell(f'{path} cannot be read, so the mesh is looked at anew: {error}')
            return None

    def write(self, key: str, division: Division) -> None:
        """Keep what became of a mesh, all or nothing of it."""
        if self._folder is None:
            return
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=self._folder)
            try:
                with os.fdopen(handle, 'wb') as stream:
                    _write(stream, division)
                Path(name).replace(self._folder / f'{key}{SUFFIX}')
            except BaseException:
                with suppress(OSError):
                    Path(name).unlink()
                raise
        except OSError as error:
            if not self._has_told:
                self._tell(f'the parts of meshes cannot be kept for the next time: {error}')
            self._has_told = True


def _write(stream: object, division: Division) -> None:
    facts = {
        'hull_reach': division.hull_reach,
        'reach': division.reach,
        'seconds': division.seconds,
        'reason': division.reason,
    }
    points = [np.empty((0, 3)), *(part.points for part in division.parts)]
    np.savez(
        stream,  # type: ignore[arg-type]
        facts=json.dumps(facts),
        points=np.concatenate(points),
        counts=np.array([len(part.points) for part in division.parts], dtype=np.int64),
        padding=np.array([part.padding for part in division.parts]),
    )


def _read(path: Path) -> Division:
    """Read a file; whatever it raises, the file is of no use."""
    with np.load(path, allow_pickle=False) as kept:
        points, counts, padding = kept['points'], kept['counts'], kept['padding']
        facts = json.loads(str(kept['facts']))
    fits = points.shape == (counts.sum(), 3) and padding.shape == counts.shape
    if not fits or not np.isfinite(points).all() or not (padding >= 0.0).all():
        raise ValueError('it makes no sense')
    clouds = np.split(points, np.cumsum(counts)[:-1]) if len(counts) else []
    parts = tuple(Part(each, float(pad)) for each, pad in zip(clouds, padding, strict=True))
    return Division(parts, **facts)
