"""
What compiling means in this package: the only place that knows numba.

Without numba `kernel` leaves functions as they are; they are ordinary Python and give the
same numbers, about a hundred times slower. Machine code is kept on disk between runs where
the file system allows it.

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
    if not COMPILED:
        return function
    try:
        compiled: Function = numba.njit(cache=True)(function)
    except RuntimeError:  # numba finds no folder that it may write its cache to
        compiled = numba.njit(function)
    return compiled
