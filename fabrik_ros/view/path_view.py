"""The path ahead in the picture, in the colours of its speeds, and their legend."""

import math

import numpy as np
import viser

from ..ros.messages.speed_ramp import RAMP, steps_of
from ..transforms import Array
from .source import Snapshot

WIDTH = 5.0
"""Of the line [pixels]."""
MARKS = 5
"""Number of colours that the legend is made of [1]."""
_SEES = np.array(
    [(0.59719, 0.35458, 0.04823), (0.07600, 0.90834, 0.01566), (0.02840, 0.13383, 0.83777)]
)
"""From linear sRGB to the space that tones are mapped in, shape (3, 3)."""
_SHOWS = np.array(
    [(1.60475, -0.53108, -0.07367), (-0.10208, 1.10813, -0.00605), (-0.00327, -0.07276, 1.07602)]
)
"""The way back, shape (3, 3)."""


class PathView:
    """
    Draws the path ahead.

    Parameters
    ----------
    scene : viser.SceneApi
        Draws.
    name : str
        Of the line in the picture.

    """

    def __init__(self, scene: viser.SceneApi, name: str) -> None:
        self._scene, self._name = scene, name
        self._line: viser.LineSegmentsHandle | None = None
        self._points: Array = np.empty((0, 3))
        self._steps = np.empty(0, dtype=np.intp)

    def show(self, snapshot: Snapshot, is_seen: bool) -> None:
        """Draw the path of a snapshot, or none; anew only where it is another one."""
        if is_seen:
            self._draw(snapshot)
        if self._line is not None and self._line.visible != is_seen:
            self._line.visible = is_seen

    def _draw(self, snapshot: Snapshot) -> None:
        points, steps = snapshot.path, steps_of(snapshot.path_speeds, snapshot.top_speed)
        if np.array_equal(points, self._points) and np.array_equal(steps, self._steps):
            return
        self._points, self._steps = points, steps
        ends = np.stack([points[:-1], points[1:]], axis=1).astype(np.float32)
        colors = np.rint(255.0 * linear(RAMP[steps])).astype(np.uint8)
        self._line = self._scene.add_line_segments(
            self._name,
            ends,
            np.repeat(colors[:, None], 2, axis=1),
            thickness=WIDTH,
            thickness_units='screen',
        )


def linear(colors: Array) -> Array:
    """Return colours, 0 to 1, as the picture takes those of pieces: linear in light."""
    return np.where(colors <= 0.04045, colors / 12.92, ((colors + 0.055) / 1.055) ** 2.4)


def as_drawn(colors: Array) -> Array:
    """
    Return colours, shape (n, 3), 0 to 1, as the picture shows them: less vivid.

    It is tone mapped by three.js: ACES, as fitted by Stephen Hill, at an exposure of 1 / 0.6.
    """
    light = linear(colors) / 0.6 @ _SEES.T
    light = (light * (light + 0.0245786) - 9.0537e-5) / (
        light * (0.983729 * light + 0.4329510) + 0.238081
    )
    light = np.clip(light @ _SHOWS.T, 0.0, 1.0)
    return np.where(light <= 0.0031308, 12.92 * light, 1.055 * light ** (1.0 / 2.4) - 0.055)


def legend_html(top_speed: float) -> str:
    """Write which colours mean which speeds, up to the greatest one [m/s]; NaN: unknown."""
    shown = as_drawn(RAMP[np.linspace(0, len(RAMP) - 1, MARKS).round().astype(int)])
    colors = ', '.join(f'rgb({r:.0f} {g:.0f} {b:.0f})' for r, g, b in 255.0 * shown)
    most = 'fast' if math.isnan(top_speed) else f'{1e3 * top_speed:.0f} mm/s'
    return (
        '<div class="fabrik-legend" role="img" aria-label="Speed on the path ahead, from 0 to '
        f'{most}"><span>path ahead: 0</span>'
        f'<i style="background:linear-gradient(90deg, {colors})"></i><span>{most}</span></div>'
    )
