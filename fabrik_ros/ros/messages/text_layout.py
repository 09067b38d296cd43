"""Lines of a text over an arm, from a place that the view shows downwards: no ROS here."""

from collections.abc import Iterable, Iterator
from textwrap import wrap
from typing import NamedTuple

LARGE, SMALL = 0.04, 0.028
"""Heights of letters as shares of the reach [1]."""
LARGE_LINE, SMALL_LINE = 40, 48
"""Longest lines in either size [characters]."""
FEW_LINES = 2
"""A first sentence of no more lines is all in large letters [1]."""
MOST_LINES = 8
"""Most lines of the text [1]."""
SPACING = 1.4
"""Distance of lines as a share of the height of their letters [1]."""
TOP = 1.3
"""Upper edge of the text over the first joint as a share of the reach [1]: `rviz_view` sees it."""


class Line(NamedTuple):
    """One line of a text."""

    text: str
    size: float
    """Height of its letters as a share of the reach [1]."""
    height: float
    """Height of its middle over the first joint as a share of the reach [1]."""


def laid_out(sentences: Iterable[str]) -> list[Line]:
    """
    Lay out sentences in lines, from above.

    The first one is in large letters; if it is long, its first line alone is. Lines that are too
    many are left out, with dots in their place.
    """
    lines, edge = [], TOP
    for text, size in _shortened(list(_sized(sentences))):
        lines.append(Line(text, size, edge - 0.5 * size))
        edge -= SPACING * size
    return lines


def _sized(sentences: Iterable[str]) -> Iterator[tuple[str, float]]:
    """Break sentences into lines, each with its size."""
    for number, sentence in enumerate(sentences):
        large, rest = _begun(' '.join(sentence.split())) if number == 0 else ([], sentence)
        yield from ((line, LARGE) for line in large)
        yield from ((line, SMALL) for line in wrap(rest, SMALL_LINE))


def _begun(sentence: str) -> tuple[list[str], str]:
    """Break what of the first sentence is large into lines, and return what is left of it."""
    lines = wrap(sentence, LARGE_LINE)
    return (lines, '') if len(lines) <= FEW_LINES else (lines[:1], sentence[len(lines[0]) :])


def _shortened(lines: list[tuple[str, float]]) -> list[tuple[str, float]]:
    return lines if len(lines) <= MOST_LINES else [*lines[: MOST_LINES - 1], ('...', SMALL)]
