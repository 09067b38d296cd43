"""Tables of text."""

from collections.abc import Iterable, Sequence


def table(rows: Iterable[Sequence[str]], indent: str = '  ') -> str:
    """
    Put cells under each other; the last column is as wide as it wants.

    >>> print(table([('joint', 'limits'), ('elbow', '-1 .. 1 rad')]))
      joint  limits
      elbow  -1 .. 1 rad
    """
    rows = list(rows)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = (
        '  '.join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        for row in rows
    )
    return '\n'.join(f'{indent}{line}'.rstrip() for line in lines)
