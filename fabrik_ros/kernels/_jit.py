"""
What compiling means in this package: the only place that knows numba.

A kernel runs in the first of three ways that is there:

1. built: the build of the package left machine code (`build_kernels/` in the repository makes
   it). It needs neither numba nor time. `entries.py` lists the kernels that it has.
2. numba: compiled on the first call, and kept on disk where the file system allows it.
3. Python: the kernels are ordinary functions and give the same numbers, about two hundred times
   slower.

Built code is of no use once a kernel was edited: its stamp tells. `NUMBA_DISABLE_JIT` and
`NUMBA_BOUNDSCHECK` ask for what only numba does, `FABRIK_ROS_KERNELS=numba` for numba itself.

Kernels allocate nothing: the caller gives them their memory (`buffers.py`). So they are compiled
without numba's reference counting, which costs more than the arithmetic: it counts every row of an
array that a function takes, with an atomic instruction, in and out. Kernels that they call are
compiled into them; otherwise the seven words that describe an array would go through the stack for
each of twenty arrays of the buffers.

"""

from collections.abc import Callable
import importlib
import os
from pathlib import Path
from typing import Any, TypeVar

from ._cache import cache_folder, caching_in
from ._fallbacks import counted, name_of
from ._progress import CompileProgress
from ._stamp import stamp_of

Function = TypeVar('Function', bound=Callable[..., Any])


def _is_set(variable: str) -> bool:
    return os.environ.get(variable, '') not in ('', '0')


def _load_built() -> tuple[Any, str]:
    """Return the built code, or None and, as a clause after 'since', why there is none to use."""
    for variable in ('NUMBA_DISABLE_JIT', 'NUMBA_BOUNDSCHECK'):
        if _is_set(variable):
            return None, f'{variable} is set'
    if os.environ.get('FABRIK_ROS_KERNELS') == 'numba':
        return None, 'FABRIK_ROS_KERNELS asks for numba'
    try:
        built = importlib.import_module('._built', __package__)
    except ImportError as error:
        missing = isinstance(error, ModuleNotFoundError)
        return None, 'the package was built without' if missing else str(error)
    if built.stamp != stamp_of(Path(__file__).parent):
        return None, 'the kernels have changed since'
    return built, ''


def _load_numba() -> Any:
    """Return numba, or None where it is missing or asked to compile nothing."""
    try:
        import numba
    except ImportError:
        return None
    return None if numba.config.DISABLE_JIT else numba


_built, WHY_NOT_BUILT = _load_built()
_numba: Any = None if _built else _load_numba()
_cache_folder = cache_folder() if _numba else None

IS_BUILT = _built is not None
"""Whether kernels are fast from the first call on."""

COMPILED = IS_BUILT or _numba is not None
"""Whether kernels are fast, in whichever way."""


def _report_compiling() -> None:
    from numba.core import event

    progress = CompileProgress(f'no built code, since {WHY_NOT_BUILT}')

    class Listener(event.Listener):
        def on_start(self, event: Any) -> None:
            progress.begin()

        def on_end(self, event: Any) -> None:
            progress.end()

    event.register('numba:compile', Listener())


if _numba:
    _report_compiling()


def kernel(function: Function) -> Function:
    """Make machine code of `function`, if there is a way to."""
    return _compiled(function)


def nogil_kernel(function: Function) -> Function:
    """Make machine code that releases the GIL, so that other threads can run."""
    return _compiled(function, nogil=True)


def _compiled(function: Function, nogil: bool = False) -> Function:
    if _built:
        interpreted = counted(function)
        entry: Function = _built.bind(name_of(function), interpreted) or interpreted
        return entry
    if _numba:
        return _compiled_by_numba(function, nogil)
    return function


def _compiled_by_numba(function: Function, nogil: bool) -> Function:
    options = {'nogil': nogil, '_nrt': False, 'forceinline': True}
    try:
        with caching_in(_cache_folder, _numba):
            compiled: Function = _numba.njit(cache=True, **options)(function)
    except RuntimeError:  # numba finds no folder that it may write its cache to
        compiled = _numba.njit(**options)(function)
    return compiled
