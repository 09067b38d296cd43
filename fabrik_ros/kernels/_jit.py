"""
What compiling means in this package: the only place that knows numba.

Without numba `kernel` leaves functions as they are; they are ordinary Python and give the
same numbers, about a hundred times slower. Machine code is kept on disk between runs where
the file system allows it.

Kernels allocate nothing: the caller gives them their memory (`buffers.py`). So they are compiled
without numba's reference counting, which costs more than the arithmetic: it counts every row of an
array that a function takes, with an atomic instruction, in and out. Kernels that they call are
compiled into them; otherwise the seven words that describe an array would go through the stack for
each of twenty arrays of the buffers.

"""

from collections.abc import Callable
from typing import Any, TypeVar

Function = TypeVar('Function', bound=Callable[..., Any])

try:
    import numba
except ImportError:
    COMPILED = False
else:
    COMPILED = not numba.config.DISABLE_JIT


def kernel(function: Function) -> Function:
    """Compile `function` on its first call, if numba is there."""
    return _compiled(function)


def nogil_kernel(function: Function) -> Function:
    """Compile a kernel that releases the GIL, so that other threads can run."""
    return _compiled(function, nogil=True)


def _compiled(function: Function, nogil: bool = False) -> Function:
    if not COMPILED:
        return function
    options = {'nogil': nogil, '_nrt': False, 'forceinline': True}
    try:
        compiled: Function = numba.njit(cache=True, **options)(function)
    except RuntimeError:  # numba finds no folder that it may write its cache to
        compiled = numba.njit(**options)(function)
    return compiled
