"""
Where numba keeps what it compiled: a folder of the user, one for each state of the kernels.

Beside the kernels it would outlive the package, whose folder Python could then still import. And
numba notices an edited kernel, but not that one which it calls was edited.

"""

from collections.abc import Iterator
from contextlib import contextmanager
import os
from pathlib import Path
from typing import Any

from ._stamp import stamp_of

DIGITS = 16
"""Of the name of a folder."""


def cache_folder() -> Path | None:
    """Name the folder for the present state of the kernels; None where there is no home."""
    caches = Path(os.environ.get('XDG_CACHE_HOME') or Path('~/.cache').expanduser())
    state = stamp_of(Path(__file__).parent)[:DIGITS]
    return caches / 'fabrik_ros' / state if caches.is_absolute() else None


@contextmanager
def caching_in(folder: Path | None, numba: Any) -> Iterator[None]:
    """Let numba cache what is decorated meanwhile in a folder, unless NUMBA_CACHE_DIR is set."""
    before = numba.config.CACHE_DIR
    if folder is not None and not before:
        numba.config.CACHE_DIR = str(folder)
    try:
        yield
    finally:
        numba.config.CACHE_DIR = before
