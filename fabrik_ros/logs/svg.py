"""Plots of lines over the time, as SVG inside a page."""

from collections.abc import Mapping
from html import escape

import numpy as np

from ..transforms import Array

WIDTH, HEIGHT, LEFT, BELOW = 900, 220, 70, 24
"""[px]; room at the left and below is for numbers."""
MOST_POINTS = 1500
"""A line with more is drawn by the least and greatest values of its parts."""
COLOURS = ('#1b6ca8', '#d1495b', '#2e8b57', '#e09f3e', '#7b4ea3', '#5c5c5c', '#00979d', '#8c510a')


def plot(times: Array, lines: Mapping[str, Array], unit: str) -> str:
    """
    Draw lines, each of shape (m,), over times, (m,) [s]; NaN is left out.

    '' where there is nothing to draw.
    """
    values = [line[np.isfinite(line)] for line in lines.values()]
    known = np.concatenate(values) if values else np.empty(0)
    if len(times) < 2 or not known.size:
        return ''
    begin, end = float(times[0]), float(times[-1])
    low, high = min(0.0, float(known.min())), max(0.0, float(known.max()))
    high = high if high > low else low + 1.0
    span = max(end - begin, 1e-9)
    drawn = []
    for number, (name, line) in enumerate(lines.items()):
        t, v = _thinned(times, line)
        x = LEFT + (WIDTH - LEFT) * (t - begin) / span
        y = (HEIGHT - BELOW) * (high - v) / (high - low)
        points = ' '.join(f'{a:.1f},{b:.1f}' for a, b in zip(x, y, strict=True))
        colour = COLOURS[number % len(COLOURS)]
        drawn.append(
            f'<polyline points="{points}" fill="none" stroke="{colour}">'
            f'<title>{escape(name)}</title></polyline>'
        )
    zero = (HEIGHT - BELOW) * high / (high - low)
    bottom = HEIGHT - BELOW
    return (
        f'<svg viewBox="0 -12 {WIDTH + 10} {HEIGHT + 14}" role="img">'
        f'<line x1="{LEFT}" x2="{WIDTH}" y1="{zero:.1f}" y2="{zero:.1f}" stroke="#999"/>'
        f'{"".join(drawn)}'
        f'<text x="0" y="4">{high:.3g} {escape(unit)}</text>'
        f'<text x="0" y="{bottom}">{low:.3g} {escape(unit)}</text>'
        f'<text x="{LEFT}" y="{HEIGHT}">{begin:.1f} s</text>'
        f'<text x="{WIDTH}" y="{HEIGHT}" text-anchor="end">{end:.1f} s</text></svg>'
        f'<p>{_legend(lines)}</p>'
    )


def _legend(lines: Mapping[str, Array]) -> str:
    return ' '.join(
        f'<span style="color:{COLOURS[number % len(COLOURS)]}">{escape(name)}</span>'
        for number, name in enumerate(lines)
    )


def _thinned(times: Array, line: Array) -> tuple[Array, Array]:
    """Leave out what is not known, and of many values all but the ends of each part."""
    known = np.isfinite(line)
    times, line = times[known], line[known]
    if len(line) <= MOST_POINTS:
        return times, line
    parts = np.array_split(np.arange(len(line)), MOST_POINTS // 2)
    kept = {int(part[pick(line[part])]) for part in parts for pick in (np.argmin, np.argmax)}
    order = np.array(sorted(kept))
    return times[order], line[order]
