"""Work in pieces: the caller may stop after each one."""

from collections.abc import Generator
from typing import TypeVar

T = TypeVar('T')

Pieces = Generator[None, None, T]
"""Yields after each piece of work, and returns at last what was found."""


def finish(pieces: Pieces[T]) -> T:
    """Do all of the work, and return what was found."""
    while True:
        try:
            next(pieces)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]
