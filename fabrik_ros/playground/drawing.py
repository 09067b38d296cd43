"""Draws scenes and the moves of a pass with matplotlib."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
import math
import textwrap

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Circle as CirclePatch, Patch, Polygon
import numpy as np

from ..points import PointStatus
from .moves import Array, Circle, Move
from .scene import Layout, Lesson, Scene

BODY, TARGET, MISSING = '#1f5fb4', '#1b9e5a', '#c62f3b'
"""Colours of the body, the targets, and what lies between a tip and its target."""
PASSES = {'tip_to_base': '#d9741a', 'base_to_tip': BODY}
"""Colours of what a pass has already put in place."""
OLD, FAINT, INK = '#9aa1ab', '#d5d9df', '#2b2f36'
"""Colours of what a pass has not reached yet, of constructions and of text."""
ALLOWED = '#8cc9a4'
"""Colour of what a limit allows."""

SIZE = (9.0, 6.0)
"""Of the figure [inch]."""
MARGIN = 1.15
"""Half a side of the picture [reach]."""
MOST_LABELS = 16
"""Bodies with more points are drawn without their names."""
SIDES = 96
"""Of the polygon drawn for a circle."""
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
    The picture of a scene: `show` brings it up to date, `frame` fits it to another layout.

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

    def __init__(self, figure: Figure, layout: Layout, keys: str = '', animated: bool = False):
        self.space: Axes = figure.add_axes((0.01, 0.01, 0.65, 0.98))
        panel: Axes = figure.add_axes((0.67, 0.01, 0.32, 0.98))
        panel.axis('off')
        self.space.set(xticks=[], yticks=[], aspect='equal')
        self._reach = self.space.add_patch(_boundary())
        self._hole = self.space.add_patch(_boundary())
        self._still = _links(self.space, FAINT, 5.0)
        self._arcs = [self.space.add_patch(_sector()) for _ in range(MOST_LABELS)]
        self._circles = _line(self.space, color=OLD, linewidth=1.0)
        self._rays = _links(self.space, INK, 1.0, linestyle=(0, (4, 3)))
        self._missing = _links(self.space, MISSING, 1.2, linestyle=(0, (1, 2)))
        self._waiting = _links(self.space, OLD, 3.0)
        self._torn = _links(self.space, PASSES['tip_to_base'], 1.5, linestyle=(0, (1, 1.5)))
        self._body = _links(self.space, BODY, 3.5)
        self._joints = _dots(self.space, 'o', 6, BODY)
        self._waiting_joints = _dots(self.space, 'o', 6, OLD)
        self._old_place = _dots(self.space, 'o', 9, INK, hollow=True)
        self._wanted = _dots(self.space, 'x', 7, INK)
        self._base = _dots(self.space, 's', 11, INK)
        self._targets = _dots(self.space, 'X', 11, TARGET)
        self._labels = [
            self.space.annotate(
                '', (0.0, 0.0), (7, 6), textcoords='offset points', fontsize=9, color=INK
            )
            for _ in range(MOST_LABELS)
        ]
        self._caption = self.space.text(
            0.02, 0.975, '', transform=self.space.transAxes, va='top', fontsize=10.5, color=INK
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
        self.frame(layout)

    @property
    def moving(self) -> list[Artist]:
        """What changes from picture to picture, in the order of drawing."""
        return [
            self._still, *self._arcs, self._circles, self._rays, self._missing, self._waiting,
            self._torn, self._body, self._joints, self._waiting_joints, self._old_place,
            self._wanted, self._base, self._targets, *self._labels, self._caption,
        ]  # fmt: skip

    @property
    def words(self) -> list[Artist]:
        """What is said about it at the side: slow to draw, and not read at every picture."""
        return [self._mode, self._status, self._facts, self._legend]

    def frame(self, layout: Layout) -> None:
        """Fit the picture to the reach of a layout, whose base is at the origin."""
        half = MARGIN * layout.reach
        self.space.set(xlim=(-half, half), ylim=(-half, half))
        self._reach.set_radius(layout.reach)
        self._hole.set_radius(layout.hole)

    def show(self, scene: Scene, mode: str = '', lesson: Lesson | None = None) -> None:
        """Bring the picture up to date: the scene, or the move a lesson is at."""
        self._mode.set_text(mode)
        if lesson is None:
            self._show_body(scene)
        else:
            self._show_move(lesson)
        shown = scene if lesson is None else lesson.before
        self._targets.set_data(*np.array(list(shown.targets.values())).T)
        self._show_facts(shown, lesson)

    def _show_body(self, scene: Scene) -> None:
        points, parents = scene.tree.points, scene.tree.parents
        _set_body(self._body, self._joints, points, parents, range(len(points)), BODY)
        gaps = [[points[tip], target] for tip, target in scene.targets.items()]
        self._missing.set_segments(gaps)
        self._base.set_data(*points[:1].T)
        for collection in (self._still, self._rays, self._waiting, self._torn):
            collection.set_segments([])
        for line in (self._circles, self._waiting_joints, self._old_place, self._wanted):
            line.set_data([], [])
        for artist in (*self._arcs, *self._labels, self._legend):
            artist.set_visible(False)
        self._caption.set_text('')

    def _show_move(self, lesson: Lesson) -> None:
        move, parents = lesson.move, lesson.before.tree.parents
        colour = PASSES[move.name]
        settled = sorted(move.settled)
        waiting = [i for i in range(len(parents)) if i not in move.settled]
        _set_body(self._body, self._joints, move.after, parents, settled, colour)
        self._show_torn(move, parents)
        _set_body(self._waiting, self._waiting_joints, move.after, parents, waiting, OLD)
        first = lesson.moves[0].before if move.name == 'tip_to_base' else _turning_point(lesson)
        self._still.set_segments(_segments(first, parents, range(len(parents))))
        self._missing.set_segments([])
        self._base.set_data(*lesson.before.tree.points[:1].T)
        self._old_place.set_data(*move.before[[move.joint]].T)
        self._rays.set_segments(
            [[circle.centre, move.before[move.joint]] for circle in move.circles]
        )
        self._circles.set_data(*_outlines(move.circles))
        self._wanted.set_data(*_wanted(move).T)
        self._legend.set_visible(True)
        self._show_arcs(move.circles)
        self._show_labels(move)
        self._caption.set_text(move.sentence)

    def _show_torn(self, move: Move, parents: Sequence[int]) -> None:
        """Where branches part, the first pass leaves links that have lost their length."""
        forks = {i for i in parents if parents.count(i) > 1} if move.name == 'tip_to_base' else {}
        whole = [i for i in move.settled if parents[i] not in forks]
        torn = [i for i in move.settled if parents[i] in forks and parents[i] in move.settled]
        edges = [move.after[[i, parents[i]]] for i in whole if parents[i] in move.settled]
        self._body.set_segments(edges)
        self._torn.set_segments([move.after[[i, parents[i]]] for i in torn])

    def _show_arcs(self, circles: Sequence[Circle]) -> None:
        limited = [circle for circle in circles if circle.arc is not None]
        for k, patch in enumerate(self._arcs):
            patch.set_visible(k < len(limited))
            if k < len(limited):
                patch.set_xy(_pie(limited[k]))

    def _show_labels(self, move: Move) -> None:
        for k, label in enumerate(self._labels):
            label.set_visible(k < len(move.after) <= MOST_LABELS)
            if label.get_visible():
                label.set_text(f'p{k}')
                label.xy = tuple(move.after[k])

    def _show_facts(self, scene: Scene, lesson: Lesson | None) -> None:
        status = scene.status.value if scene.status is not None else ''
        if lesson is not None:
            status = lesson.move.name
        self._status.set_text(status)
        colour = STATUS_COLOURS.get(scene.status, MISSING)
        self._status.set_color(colour if lesson is None else PASSES[lesson.move.name])
        layout = scene.layout
        limit = 'off' if layout.limit is None else f'{math.degrees(layout.limit):.0f} deg'
        facts = [
            f'tip to target: {scene.residual:.4f}',
            f'iterations: {scene.iterations}',
            f'joints: {len(layout.lengths)}, tips: {layout.branches}, limits: {limit}',
            f'reach: {layout.reach:g}, inner hole: {layout.hole:g}',
        ]
        if lesson is not None:
            facts[1] = f'iteration {scene.iterations + 1}, move {lesson.index + 1} of ' + str(
                len(lesson.moves)
            )
        self._facts.set_text('\n'.join(textwrap.fill(fact, PANEL_WIDTH) for fact in facts))


def _wanted(move: Move) -> Array:
    """Take the places wanted that the joint did not get, shape (m, 2)."""
    places = [place for circle in move.circles for place in (circle.wanted, circle.allowed)]
    missed = [place for place in places if math.dist(place, move.after[move.joint]) > 1e-9]
    return np.reshape(np.array(missed), (-1, 2))


def _legend_of_a_move() -> tuple[list[Artist], list[str]]:
    """Name what the picture of a move consists of."""
    line = partial(Line2D, [], [])
    return [
        line(color=PASSES['tip_to_base'], linewidth=3.5),
        line(color=PASSES['base_to_tip'], linewidth=3.5),
        line(color=OLD, linewidth=3.0),
        line(color=FAINT, linewidth=5.0),
        line(color=INK, marker='o', markerfacecolor='none', markersize=9, linestyle=''),
        line(color=INK, linewidth=1.0, linestyle=(0, (4, 3))),
        line(color=OLD, linewidth=1.0, marker='o', markerfacecolor='none', markersize=13,
             linestyle=''),
        line(color=INK, marker='x', markersize=7, linestyle=''),
        line(color=PASSES['tip_to_base'], linewidth=1.5, linestyle=(0, (1, 1.5))),
        Patch(color=ALLOWED, alpha=0.35),
    ], [
        'placed by tip_to_base', 'placed by base_to_tip', 'not yet moved', 'before this pass',
        'old place of the joint', 'line from its neighbour', 'one link round the neighbour',
        'wanted, but not taken', 'has lost its length for now', 'allowed by the limit',
    ]  # fmt: skip


def _turning_point(lesson: Lesson) -> Array:
    """Take the points between the two passes of an iteration."""
    return next(move.before for move in lesson.moves if move.name == 'base_to_tip')


def _set_body(
    links: LineCollection,
    joints: Line2D,
    points: Array,
    parents: Sequence[int],
    shown: Iterable[int],
    colour: str,
) -> None:
    """Draw some of the points, and the links both of whose ends are among them."""
    chosen = list(shown)
    links.set_segments(_segments(points, parents, chosen))
    links.set_color(colour)
    joints.set_data(*points[chosen].T)
    joints.set(color=colour, markerfacecolor=colour)


def _segments(points: Array, parents: Sequence[int], shown: Iterable[int]) -> list[Array]:
    chosen = set(shown)
    return [points[[i, parents[i]]] for i in chosen if parents[i] in chosen]


def _outlines(circles: Sequence[Circle]) -> Array:
    """Join circles to one line with gaps, shape (2, m)."""
    around = np.linspace(0.0, 2.0 * math.pi, SIDES)
    ring = np.array([np.cos(around), np.sin(around)])
    gap = np.full((2, 1), math.nan)
    pieces = [part for c in circles for part in (c.centre[:, None] + c.radius * ring, gap)]
    return np.hstack([gap, *pieces])


def _pie(circle: Circle) -> Array:
    """Draw the part of a circle that a limit allows, as a polygon with the centre."""
    assert circle.arc is not None
    along = np.linspace(*circle.arc, SIDES)
    rim = circle.centre + circle.radius * np.column_stack([np.cos(along), np.sin(along)])
    return np.vstack([circle.centre, rim])


def _boundary() -> CirclePatch:
    return CirclePatch((0.0, 0.0), 1.0, fill=False, color=OLD, linewidth=1.0, linestyle='--')


def _sector() -> Polygon:
    return Polygon(np.zeros((3, 2)), closed=True, color=ALLOWED, alpha=0.35, linewidth=0.0)


def _line(space: Axes, **style: object) -> Line2D:
    return space.plot([], [], **style)[0]


def _dots(space: Axes, marker: str, size: float, colour: str, hollow: bool = False) -> Line2D:
    face = 'none' if hollow else colour
    return _line(
        space, linestyle='', marker=marker, markersize=size, color=colour, markerfacecolor=face
    )


def _links(space: Axes, colour: str, width: float, linestyle: object = '-') -> LineCollection:
    links = LineCollection(
        [], colors=colour, linewidths=width, linestyles=linestyle, capstyle='round'
    )
    space.add_collection(links, autolim=False)
    return links
