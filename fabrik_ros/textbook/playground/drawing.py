"""The whole picture of the playground: the stage, and what is said about it at the side."""

from __future__ import annotations

from functools import partial
import math
import textwrap

from matplotlib.artist import Artist
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from ..points.point_chain import PointStatus
from .scene import Layout, Lesson, Scene
from .stage import ALLOWED, DASHED, DOTTED, FAINT, INK, MISSING, OLD, PASSES, Stage, TARGET

SIZE = (9.0, 6.0)
"""Of the figure [inch]."""
PANEL_WIDTH = 36
"""Of the text at the side [letters]."""

STATUS_COLOURS = {
    None: INK,
    PointStatus.CONVERGED: TARGET,
    PointStatus.ITERATION_LIMIT: PASSES['tip_to_base'],
}
"""All other statuses are answers short of the target."""


class Drawing:
    """
    The picture of a scene: `show` brings it up to date.

    Parameters
    ----------
    figure : Figure
        An empty figure.
    layout : Layout
        What kind of body it is.
    keys : str
        What the reader can do, for the panel at the side.
    animated : bool
        Whether the caller redraws `moving` and `words` itself; else the figure draws everything.

    """

    def __init__(
        self, figure: Figure, layout: Layout, keys: str = '', animated: bool = False
    ) -> None:
        self.stage = Stage(figure.add_axes((0.01, 0.01, 0.65, 0.98)), layout)
        panel = figure.add_axes((0.67, 0.01, 0.32, 0.98))
        panel.axis('off')
        space = self.stage.space
        self._caption = space.text(
            0.02, 0.975, '', transform=space.transAxes, va='top', fontsize=10.5, color=INK
        )
        self._mode = panel.text(0.0, 0.985, '', va='top', fontsize=13, weight='bold', color=INK)
        self._status = panel.text(0.0, 0.93, '', va='top', fontsize=12, weight='bold')
        self._facts = panel.text(0.0, 0.885, '', va='top', fontsize=10.5, color=INK)
        self._legend = panel.legend(
            *_legend_of_a_move(), loc='upper left', bbox_to_anchor=(-0.02, 0.76), frameon=False,
            fontsize=9, labelcolor=INK,
        )  # fmt: skip
        self.help = panel.text(
            0.0, 0.01, keys, va='bottom', fontsize=9, color=INK, family='monospace'
        )
        for artist in (*self.moving, *self.words):
            artist.set_animated(animated)

    @property
    def moving(self) -> list[Artist]:
        """What changes from picture to picture, in the order of drawing."""
        return [*self.stage.moving, self._caption]

    @property
    def words(self) -> list[Artist]:
        """What is said about it at the side: slow to draw, and not read at every picture."""
        return [self._mode, self._status, self._facts, self._legend]

    def show(self, scene: Scene, mode: str = '', lesson: Lesson | None = None) -> None:
        """Bring the picture up to date: the scene, or the move a lesson is at."""
        self._mode.set_text(mode)
        self._legend.set_visible(lesson is not None)
        if lesson is None:
            self.stage.show_body(scene)
            self._caption.set_text('')
            self._say_status(scene)
        else:
            self.stage.show_move(lesson)
            self._caption.set_text(lesson.move.sentence)
            self._say_move(lesson)

    def _say_status(self, scene: Scene) -> None:
        colour = STATUS_COLOURS.get(scene.status, MISSING)
        self._status.set(text=scene.status.value if scene.status else '', color=colour)
        self._say(scene, f'iterations: {scene.iterations}')

    def _say_move(self, lesson: Lesson) -> None:
        name, iteration = lesson.move.name, lesson.before.iterations + 1
        self._status.set(text=name, color=PASSES[name])
        place = f'iteration {iteration}, move {lesson.index + 1} of {len(lesson.moves)}'
        self._say(lesson.before, place)

    def _say(self, scene: Scene, progress: str) -> None:
        layout = scene.layout
        limit = 'off' if layout.limit is None else f'{math.degrees(layout.limit):.0f} deg'
        facts = [
            f'tip to target: {scene.residual:.4f}',
            progress,
            f'joints: {len(layout.lengths)}, tips: {layout.branches}, limits: {limit}',
            f'reach: {layout.reach:g}, inner reach: {layout.inner_reach:g}',
        ]
        self._facts.set_text('\n'.join(textwrap.fill(fact, PANEL_WIDTH) for fact in facts))


def _legend_of_a_move() -> tuple[list[Artist], list[str]]:
    """Name what the picture of a move consists of."""
    line = partial(Line2D, [], [])
    return [
        line(color=PASSES['tip_to_base'], linewidth=3.5),
        line(color=PASSES['base_to_tip'], linewidth=3.5),
        line(color=OLD, linewidth=3.0),
        line(color=FAINT, linewidth=5.0),
        line(color=INK, marker='o', markerfacecolor='none', markersize=9, linestyle=''),
        line(color=INK, linewidth=1.0, linestyle=DASHED),
        line(color=OLD, linewidth=1.0, marker='o', markerfacecolor='none', markersize=13,
             linestyle=''),
        line(color=INK, marker='x', markersize=7, linestyle=''),
        line(color=PASSES['tip_to_base'], linewidth=1.5, linestyle=DOTTED),
        Patch(color=ALLOWED, alpha=0.35),
    ], [
        'placed by tip_to_base', 'placed by base_to_tip', 'not yet moved', 'before this pass',
        'old place of the joint', 'line from its neighbour', 'one link round the neighbour',
        'wanted, but not taken', 'has lost its length for now', 'allowed by the limit',
    ]  # fmt: skip
