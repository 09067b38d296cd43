"""The last half minute in plots, each of one fixed scale."""

from collections import deque
import math

import numpy as np
import viser

from ..transforms import Array
from .source import Snapshot

SPAN = 30.0
"""What the plots show [s]."""
SAMPLE_PERIOD = 0.1
"""Time between two points of a plot [s]."""
PLOT_PERIOD = 0.5
"""Time between two drawings of a plot [s]."""
HEIGHT = 120
"""Of a plot [pixels]."""
DISTANCE, ERROR, SOLVING = 100.0, 50.0, 2.0
"""Upper ends of the scales [mm, mm, ms]: what is more runs along the edge."""
BLUE, GREY, RED = '#1f6feb', '#8a8f98', '#d1242f'


class Plots:
    """
    Plots distances beside what has to be kept, the following error and the solve time.

    Parameters
    ----------
    server : viser.ViserServer
        Has the panel.

    """

    def __init__(self, server: viser.ViserServer) -> None:
        self._samples: deque[tuple[float, ...]] = deque(maxlen=round(SPAN / SAMPLE_PERIOD))
        self._sampled = self._plotted = -math.inf
        gui = server.gui
        with gui.add_folder('Distances', expand_by_default=False):
            self._distances = _plot(
                gui,
                'to obstacles (blue) and itself (grey) [mm]',
                DISTANCE,
                [BLUE, GREY, (RED, 'obstacle_clearance'), (RED, 'clearance')],
            )
            self._errors = _plot(gui, 'tool behind its command [mm]', ERROR, [BLUE])
        with gui.add_folder('Solve time', expand_by_default=False):
            self._solving = _plot(gui, 'solve time [ms]', SOLVING, [BLUE])

    def show(self, snapshot: Snapshot | None, behind: float, now: float) -> None:
        """
        Take what is known at a time.

        Parameters
        ----------
        snapshot : Snapshot or None
            None while nothing is known.
        behind : float
            Distance of the tool from where it is told to be [m]; NaN: unknown.
        now : float
            The time [s].

        """
        if now - self._sampled >= SAMPLE_PERIOD:
            self._sampled = now
            known = Snapshot() if snapshot is None else snapshot
            gaps = known.to_obstacle, known.to_itself
            metres = [gap.distance for gap in gaps] + [gap.clearance for gap in gaps] + [behind]
            self._samples.append((now, *(1e3 * x for x in (*metres, known.solve_time))))
        if now - self._plotted >= PLOT_PERIOD:
            self._plotted = now
            self._draw(now)

    def _draw(self, now: float) -> None:
        table = np.array(self._samples)
        table = table[table[:, 0] >= now - SPAN]
        ages = table[:, 0] - now
        self._distances.data = (ages, *np.minimum(table[:, 1:5], DISTANCE).T)
        self._errors.data = (ages, np.minimum(table[:, 5], ERROR))
        self._solving.data = (ages, np.minimum(table[:, 6], SOLVING))


def _plot(
    gui: viser.GuiApi, title: str, top: float, strokes: list[str | tuple[str, str]]
) -> viser.GuiUplotHandle:
    """Add a plot from 0 to `top`; a stroke with a name is that of a limit, dashed."""
    empty: Array = np.zeros(1)
    series = [viser.uplot.Series(label='s')]
    for stroke in strokes:
        if isinstance(stroke, str):
            series.append(viser.uplot.Series(label=title, stroke=stroke, width=1.5))
        else:
            series.append(viser.uplot.Series(label=stroke[1], stroke=stroke[0], dash=(4.0, 4.0)))
    return gui.add_uplot(
        tuple(empty for _ in series),
        tuple(series),
        title=title,
        scales={
            'x': viser.uplot.Scale(time=False, range=(-SPAN, 0.0)),
            'y': viser.uplot.Scale(range=(0.0, top)),
        },
        legend=viser.uplot.Legend(show=False),
        height=HEIGHT,
    )
