"""Draws bodies of points, and the moves of a pass with their construction, on any axes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
import math

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.lines import Line2D
from matplotlib.patches import Circle as CirclePatch, Polygon
import numpy as np

from .moves import Array, Circle, Move
from .scene import Layout, Lesson, Scene

BODY, TARGET, MISSING = '#1f5fb4', '#1b9e5a', '#c62f3b'
"""Colours of the body, the targets, and what lies between a tip and its target."""
PASSES = {'tip_to_base': '#d9741a', 'base_to_tip': BODY}
"""Colours of what a pass has already put in place."""
OLD, FAINT, INK = '#9aa1ab', '#d5d9df', '#2b2f36'
"""Colours of what a pass has not reached yet, of what was before, and of text."""
ALLOWED = '#8cc9a4'
"""Colour of what a limit allows."""

MARGIN = 1.15
"""Half a side of the picture [reach]."""
MOST_LABELS = 16
"""Bodies with more points are drawn without their names."""
SIDES = 96
"""Of the polygon drawn for a circle."""
DASHED, DOTTED = (0, (4, 3)), (0, (1, 1.5))


class Stage:
    """
    The artists of one body: `show_body` and `show_move` bring them up to date.

    Parameters
    ----------
    space : Axes
        Where to draw. They are made square, without ticks.
    layout : Layout
        What kind of body it is.

    """

    def __init__(self, space: Axes, layout: Layout) -> None:
        self.space = space
        space.set(xticks=[], yticks=[], aspect='equal')
        self._reach = space.add_patch(_boundary())
        self._hole = space.add_patch(_boundary())
        self._still = _links(space, FAINT, 5.0)
        self._arcs = [space.add_patch(_sector()) for _ in range(MOST_LABELS)]
        self._circles = _line(space, color=OLD, linewidth=1.0)
        self._rays = _links(space, INK, 1.0, linestyle=DASHED)
        self._missing = _links(space, MISSING, 1.2, linestyle=DOTTED)
        self._waiting = _links(space, OLD, 3.0)
        self._torn = _links(space, PASSES['tip_to_base'], 1.5, linestyle=DOTTED)
        self._body = _links(space, BODY, 3.5)
        self._joints = _dots(space, 'o', 6, BODY)
        self._waiting_joints = _dots(space, 'o', 6, OLD)
        self._old_place = _dots(space, 'o', 9, INK, hollow=True)
        self._wanted = _dots(space, 'x', 7, INK)
        self._base = _dots(space, 's', 11, INK)
        self._targets = _dots(space, 'X', 11, TARGET)
        self._labels = [
            space.annotate(
                '', (0.0, 0.0), (7, 6), textcoords='offset points', fontsize=9, color=INK
            )
            for _ in range(MOST_LABELS)
        ]
        self.frame(layout)

    @property
    def moving(self) -> list[Artist]:
        """What changes from picture to picture, in the order of drawing."""
        return [
            self._still, *self._arcs, self._circles, self._rays, self._missing, self._waiting,
            self._torn, self._body, self._joints, self._waiting_joints, self._old_place,
            self._wanted, self._base, self._targets, *self._labels,
        ]  # fmt: skip

    def frame(self, layout: Layout) -> None:
        """Fit the picture to the reach of a layout, whose base is at the origin."""
        half = MARGIN * layout.reach
        self.space.set(xlim=(-half, half), ylim=(-half, half))
        self._reach.set_radius(layout.reach)
        self._hole.set_radius(layout.inner_reach)

    def show_body(self, scene: Scene) -> None:
        """Show where the points are, and what the tips miss."""
        points, parents = scene.tree.points, scene.tree.parents
        _set_body(self._body, self._joints, points, parents, range(len(points)), BODY)
        gaps = [[points[tip], target] for tip, target in scene.targets.items()]
        self._missing.set_segments(gaps)
        self._show_ends(scene)
        for collection in (self._still, self._rays, self._waiting, self._torn):
            collection.set_segments([])
        for line in (self._circles, self._waiting_joints, self._old_place, self._wanted):
            line.set_data([], [])
        for artist in (*self._arcs, *self._labels):
            artist.set_visible(False)

    def show_move(self, lesson: Lesson) -> None:
        """Show the move a lesson is at, and how its place is found."""
        move, parents = lesson.move, lesson.before.tree.parents
        settled = sorted(move.settled)
        waiting = [i for i in range(len(parents)) if i not in move.settled]
        _set_body(self._body, self._joints, move.after, parents, settled, PASSES[move.name])
        _set_body(self._waiting, self._waiting_joints, move.after, parents, waiting, OLD)
        self._show_torn(move, parents)
        first = lesson.moves[0].before if move.name == 'tip_to_base' else _turning_point(lesson)
        self._still.set_segments(_segments(first, parents, range(len(parents))))
        self._missing.set_segments([])
        self._show_ends(lesson.before)
        self._old_place.set_data(*move.before[[move.joint]].T)
        self._rays.set_segments(
            [[circle.centre, move.before[move.joint]] for circle in move.circles]
        )
        self._circles.set_data(*_outlines(move.circles))
        self._wanted.set_data(*_wanted(move).T)
        self._show_arcs(move.circles)
        self.show_labels(move.after)

    def show_labels(self, points: Array) -> None:
        """Name the points p0, p1, ..., unless there are too many of them."""
        for k, label in enumerate(self._labels):
            label.set_visible(k < len(points) <= MOST_LABELS)
            if label.get_visible():
                label.set_text(f'p{k}')
                label.xy = tuple(points[k])

    def _show_ends(self, scene: Scene) -> None:
        self._base.set_data(*scene.tree.points[:1].T)
        self._targets.set_data(*np.array(list(scene.targets.values())).T)

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


def _wanted(move: Move) -> Array:
    """Take the places wanted that the joint did not get, shape (m, 2)."""
    places = [place for circle in move.circles for place in (circle.wanted, circle.allowed)]
    missed = [place for place in places if math.dist(place, move.after[move.joint]) > 1e-9]
    return np.reshape(np.array(missed), (-1, 2))


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
