"""Writes pictures and films of the playground, without a display."""

from __future__ import annotations

from collections.abc import Iterator
import math
from pathlib import Path

from matplotlib.animation import PillowWriter
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from .arguments import Options
from .drawing import Drawing, SIZE
from .scene import Lesson, Scene

DOTS = 80
"""Per inch."""
FRAMES_PER_SECOND = {'path': 20, 'steps': 2}

View = tuple[Scene, Lesson | None]


def render(options: Options, file: Path) -> None:
    """
    Write a picture (.png) or a film (.gif): the same one for the same options, whatever the clock.

    Parameters
    ----------
    options : Options
        What to show.
    file : Path
        Where it goes; the ending says what it is.

    """
    figure = Figure(figsize=SIZE)
    canvas = FigureCanvasAgg(figure)
    drawing = Drawing(figure, options.layout)
    shown = list(views(options, film=file.suffix == '.gif'))
    if file.suffix == '.png':
        _show(drawing, *shown[-1])
        canvas.print_png(file, metadata={'Software': None})
        return
    writer = PillowWriter(fps=FRAMES_PER_SECOND['steps' if options.steps else 'path'])
    with writer.saving(figure, file, DOTS):
        for view in shown:
            _show(drawing, *view)
            writer.grab_frame()


def views(options: Options, film: bool) -> Iterator[View]:
    """Yield what the frames show: moves, targets on their way, or the answer alone."""
    scene = options.scene()
    if options.steps:
        lesson = Lesson.begin(scene)
        yield lesson.before, lesson
        for _ in range(options.steps - 1):
            lesson = lesson.next()
            yield lesson.before, lesson
    elif film:
        for frame in range(options.frames):
            scene = _on_the_way(scene, frame / options.frames).solved()
            yield scene, None
    else:
        while not scene.settled:
            scene = scene.solved()
        yield scene, None


def _on_the_way(scene: Scene, share: float) -> Scene:
    """Put the targets on a figure of eight that leaves the reach at its ends."""
    reach = scene.layout.reach
    for k, tip in enumerate(scene.targets):
        angle = 2.0 * math.pi * (share + 0.15 * k)
        point = (1.1 * reach * math.sin(angle), reach * (0.45 + 0.35 * math.sin(2.0 * angle)))
        scene = scene.with_target(tip, point)
    return scene


def _show(drawing: Drawing, scene: Scene, lesson: Lesson | None) -> None:
    drawing.show(scene, 'FABRIK, move by move' if lesson else 'FABRIK', lesson)
