"""
Calls that built code leaves to Python: of a kernel that is no entry, or with other arguments.

They get the same answer, two hundred times slower and in silence. So those that the package makes
are counted, and a test session in which there are any fails: it says what `entries.py` lacks.

"""

from collections import Counter
from collections.abc import Callable
import functools
import sys
from typing import Any, TypeVar

import numpy as np

from .entries import LETTERS

Function = TypeVar('Function', bound=Callable[..., Any])

fallbacks: Counter[str] = Counter()
"""How often what was interpreted: as a line of `entries.py`, with the caller behind it."""

PACKAGE = __name__.partition('.')[0]
KERNELS = __name__.rpartition('.')[0]


def name_of(function: Callable[..., Any]) -> str:
    """Return the name of a kernel in `entries.py`: its module and its own."""
    return f'{function.__module__.rpartition(".")[2]}.{function.__name__}'


def counted(function: Function) -> Function:
    """Wrap a kernel so that calls from the package, but for those of other kernels, count."""

    @functools.wraps(function)
    def interpreted(*args: Any, **keywords: Any) -> Any:
        caller = sys._getframe(1).f_globals.get('__name__', '')
        if caller.startswith(f'{PACKAGE}.') and not caller.startswith(f'{KERNELS}.'):
            fallbacks[f'{entry_line(function, args, keywords)}  # called by {caller}'] += 1
        return function(*args, **keywords)

    return interpreted  # type: ignore[return-value]


def entry_line(function: Callable[..., Any], args: Any, keywords: Any) -> str:
    """Write the line of `entries.py` that would take this call."""
    kinds = ' '.join(map(kind_of, args))
    line = f"'{name_of(function)}': '{kinds}',"
    return f'{line} but without keywords: {", ".join(keywords)}' if keywords else line


def kind_of(value: Any) -> str:
    """Name the kind of an argument as `entries.py` does, or say what is in the way."""
    if not isinstance(value, np.ndarray):
        return {float: 'f', int: 'i', bool: 'b'}.get(type(value), type(value).__name__)
    kind = f'{LETTERS.get(value.dtype.name, value.dtype.name)}{value.ndim}'
    if not value.flags.c_contiguous:
        kind += '-not-contiguous'
    return kind if value.flags.writeable else f'{kind}r'
