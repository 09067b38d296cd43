"""The window of the playground: mouse and keys change the scene, a timer draws it."""

from __future__ import annotations

from dataclasses import replace
import math
from typing import TYPE_CHECKING

from matplotlib.artist import Artist
from matplotlib.backend_bases import Event, FigureCanvasBase, KeyEvent, MouseButton, MouseEvent

from .arguments import MOST_BRANCHES, MOST_JOINTS, Options
from .drawing import Drawing
from .scene import Layout, Lesson, Scene

if TYPE_CHECKING:
    from matplotlib.figure import Figure

KEYS = """\
mouse        the target follows it
click, drag  chooses a tip's target
f            follow it: on, off
space, left  move by move, back
p            the moves by themselves
enter        back to the mouse
l            limits: on, off
up, down     more, fewer joints
b            branches
r            start afresh
h            hide these lines
q            quit"""

TICK = 15
"""Between two pictures [ms]."""
MOVE_TICKS = 45
"""Pictures for each move that goes on by itself."""
WORDS_TICKS = 12
"""Pictures between two renewals of the words at the side, while things move."""
LIMIT = math.radians(60.0)
"""Of each joint where limits are switched on and none is given."""


class Window:
    """
    Holds the scene, and changes it as mouse and keys say.

    Parameters
    ----------
    figure : Figure
        An empty figure whose canvas sends the events.
    options : Options
        What to begin with.

    """

    def __init__(self, figure: Figure, options: Options) -> None:
        self.scene = options.scene()
        self.lesson: Lesson | None = None
        self.follows, self._drags = True, False
        self._limit = options.layout.limit or LIMIT
        self._chosen = min(self.scene.targets)
        self._plays, self._ticks = False, 0
        self._stale, self._words_late, self._words_age = True, True, WORDS_TICKS
        self._canvas: FigureCanvasBase = figure.canvas
        self._drawing = Drawing(figure, options.layout, KEYS, animated=True)
        self._empty: object = None
        self._background: object = None
        connect = self._canvas.mpl_connect
        connect('draw_event', self._on_draw)
        connect('button_press_event', self._on_press)
        connect('button_release_event', self._on_release)
        connect('motion_notify_event', self._on_motion)
        connect('key_press_event', self._on_key)
        self._timer = self._canvas.new_timer(interval=TICK)
        self._timer.add_callback(self.tick)
        self._timer.start()
        connect('close_event', lambda _: self._timer.stop())

    @property
    def mode(self) -> str:
        """What the mouse or the keys do now."""
        if self.lesson is not None:
            return 'move by move' + (', by itself' if self._plays else '')
        return 'following the mouse' if self.follows else 'drag the target'

    def tick(self) -> None:
        """Solve a little, and draw what has changed."""
        if self._plays:
            self._ticks = (self._ticks + 1) % MOVE_TICKS
            if self._ticks == 0:
                self._go_on()
        if self.lesson is None and not self.scene.settled:
            self.scene = self.scene.solved()
            self._stale = True
        self._words_age += 1
        late = self._words_late and self._words_age >= WORDS_TICKS
        if self._empty is not None and (self._stale or late):
            self._paint()

    def _on_draw(self, event: Event) -> None:
        """Keep what never changes, as a background for all that does."""
        self._empty = self._canvas.copy_from_bbox(self._canvas.figure.bbox)
        self._words_age = WORDS_TICKS
        self._paint()

    def _paint(self) -> None:
        """Draw the picture on the words, and these, if they are old, on what never changes."""
        self._drawing.show(self.scene, self.mode, self.lesson)
        self._words_late = self._words_age < WORDS_TICKS and self.lesson is None
        if not self._words_late:
            self._canvas.restore_region(self._empty)
            self._draw(self._drawing.words)
            self._background = self._canvas.copy_from_bbox(self._canvas.figure.bbox)
            self._words_age = 0
        self._canvas.restore_region(self._background)
        self._draw(self._drawing.moving)
        self._canvas.blit(self._canvas.figure.bbox)
        self._stale = False

    def _draw(self, artists: list[Artist]) -> None:
        for artist in artists:
            if artist.get_visible():
                self._canvas.figure.draw_artist(artist)

    def _on_press(self, event: MouseEvent) -> None:
        if event.inaxes is self._drawing.stage.space and event.button is MouseButton.LEFT:
            self._drags = True
            self._chosen = self.scene.nearest_tip((event.xdata, event.ydata))
            self._aim(event)

    def _on_release(self, event: MouseEvent) -> None:
        self._drags = False

    def _on_motion(self, event: MouseEvent) -> None:
        follows = self._drags or (self.follows and self.lesson is None)
        if event.inaxes is self._drawing.stage.space and follows:
            self._aim(event)

    def _aim(self, event: MouseEvent) -> None:
        self._become(self.scene.with_target(self._chosen, (event.xdata, event.ydata)))

    def _on_key(self, event: KeyEvent) -> None:  # noqa: C901, PLR0912 - a branch for each key
        layout = self.scene.layout
        count = len(layout.lengths)
        match event.key:
            case ' ':
                self._go_on()
            case 'left' if self.lesson is not None:
                self.lesson = self.lesson.previous()
            case 'p':
                self._plays = not self._plays
                if self.lesson is None:
                    self._go_on()
            case 'enter':
                self.lesson, self._plays = None, False
            case 'f':
                self.follows = not self.follows
            case 'l':
                self._rebuild(replace(layout, limit=self._limit if layout.limit is None else None))
            case 'up' if count < MOST_JOINTS:
                self._rebuild(layout.with_joints(count + 1))
            case 'down' if count > 1:
                self._rebuild(layout.with_joints(count - 1))
            case 'b':
                self._rebuild(replace(layout, branches=layout.branches % MOST_BRANCHES + 1))
            case 'r':
                self._rebuild(layout)
            case 'h':
                self._drawing.help.set_visible(not self._drawing.help.get_visible())
                self._canvas.draw_idle()
            case 'q':
                self._close()
        self._stale = True

    def _go_on(self) -> None:
        """Show the next move; the scene is what lies before the iteration."""
        self.lesson = Lesson.begin(self.scene) if self.lesson is None else self.lesson.next()
        self.scene = self.lesson.before

    def _rebuild(self, layout: Layout) -> None:
        """Stand another body up, its targets in the usual places."""
        scene = Options(layout).scene()
        self._chosen = min(scene.targets)
        self._drawing.stage.frame(layout)
        self._become(scene)
        self._canvas.draw_idle()

    def _become(self, scene: Scene) -> None:
        """Go on with another scene; an iteration that was being shown starts again."""
        self.scene = scene
        self.lesson = None if self.lesson is None else Lesson.begin(scene)
        self._stale = True

    def _close(self) -> None:
        self._timer.stop()
        if self._canvas.manager is not None:
            self._canvas.manager.destroy()
