"""
Draw the figures of docs/fabrik.md: each is what the library computes.

    make figures

"""

import math
from pathlib import Path

from fabrik_ros.textbook.playground.arguments import Options
from fabrik_ros.textbook.playground.rendering import render
from fabrik_ros.textbook.playground.scene import Layout, Lesson, Scene
from fabrik_ros.textbook.playground.stage import (
    ALLOWED,
    BODY,
    DASHED,
    FAINT,
    INK,
    MISSING,
    OLD,
    PASSES,
    Stage,
    TARGET,
)
from fabrik_ros.textbook.points.point_chain import PointChain
from fabrik_ros.textbook.points.point_limits import BallJoint, Hinge, nearest_in_ellipse
from fabrik_ros.textbook.points.point_tree import PointTree
from fabrik_ros.textbook.points.two_links import two_link_angles
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import Arc, Circle
import numpy as np

FOLDER = Path(__file__).resolve().parent / 'figures'
CROOKED = math.radians(20.0), math.radians(60.0)
"""Limits of joints that are always bent to the left [rad]."""
WANTED = np.array([[75, 35], [-50, 30], [-45, -50], [55, -52], [20, 5], [5, 48]])
"""Directions that a ball joint shall take [degrees]."""
DOTS = 95
"""Per inch."""
ITERATION_TARGET = (1.8, -0.9)
PANEL = 2.9
"""Side of a square panel [inch]."""


def sheet(rows: int, columns: int, width: float = PANEL, height: float = PANEL) -> Figure:
    """Make an empty figure of equal panels."""
    figure = Figure(figsize=(columns * width, rows * height), layout='constrained')
    FigureCanvasAgg(figure)
    figure.subplots(rows, columns)
    return figure


def save(figure: Figure, name: str) -> None:
    """Write a figure, the same bytes every time."""
    FOLDER.mkdir(exist_ok=True)
    figure.savefig(FOLDER / f'{name}.png', dpi=DOTS, metadata={'Software': None})


def draw_iteration() -> None:
    """Draw one iteration in six pictures, as the paper does."""
    layout = Layout((1.4, 1.2, 1.0))
    scene = Scene.start(layout).with_target(3, ITERATION_TARGET)
    lesson = Lesson.begin(scene)
    lessons = [lesson]
    while len(lessons) < len(lesson.moves):
        lessons.append(lessons[-1].next())
    titles = {
        None: '(a) the chain and its target',
        0: '(b) tip_to_base: the tip on the target',
        1: '(c) p2 on the line from p3',
        3: '(d) so on: the base has left its place',
        4: '(e) base_to_tip: the base back in its place',
        7: '(f) so on: the tip is nearer',
    }
    figure = sheet(2, 3)
    for axes, (index, title) in zip(figure.axes, titles.items(), strict=True):
        stage = Stage(axes, layout)
        if index is None:
            stage.show_body(scene)
            stage.show_labels(scene.tree.points)
        else:
            stage.show_move(lessons[index])
        axes.set(xlim=(-1.9, 3.3), ylim=(-1.6, 3.6))
        axes.set_title(title, fontsize=10, color=INK)
    save(figure, 'iteration')


def draw_reach() -> None:
    """Draw where a tip can be: between the inner hole and the reach, and what lies beyond."""
    figure = sheet(1, 3)
    long, even = Layout((3.0, 1.0, 1.0)), Layout((1.0,) * 4)
    crooked = crooked_chain(bent_points(-1.2, CROOKED[0]))
    cases = [
        (Scene.start(long), (0.0, 0.45), 'in the inner hole: folded'),
        (Scene.start(even), (3.7, 2.4), 'beyond the reach: straight'),
        (
            Scene(even, crooked, {4: np.zeros(2)}),
            (3.9, 1.2),
            'beyond it, each joint bent by 20\u00b0 to 60\u00b0',
        ),
    ]
    for axes, (scene, target, title) in zip(figure.axes, cases, strict=True):
        shown = scene.with_target(max(scene.targets), target)
        while not shown.settled:
            shown = shown.solved()
        Stage(axes, shown.layout).show_body(shown)
        axes.set_title(f'{title}\nstatus: {shown.status.value}', fontsize=10, color=INK)
    save(figure, 'reach')


def draw_limits() -> None:
    """Draw a joint held back by its limit, and a target that the passes never get to."""
    layout, far = Layout((1.0,) * 4, math.radians(40.0)), Layout((1.0,) * 4)
    lesson = Lesson.begin(Scene.start(layout).with_target(4, (1.2, 0.9)))
    while not (lesson.move.circles and lesson.move.circles[0].held_back):
        lesson = lesson.next()
    figure = sheet(1, 2, 3.4, 3.4)
    first, second = figure.axes
    Stage(first, layout).show_move(lesson)
    first.set(xlim=(-2.0, 3.0), ylim=(-0.9, 4.1))
    first.set_title(f'{lesson.move.name}: the limit of 40° holds p{lesson.move.joint} back',
                    fontsize=10, color=INK)  # fmt: skip
    target = bent_points(-0.6, 0.7)[-1]
    scene = Scene(far, crooked_chain(Scene.start(far).tree.points), {4: target})
    for _ in range(500):
        scene, _moves = scene.iterated()
    Stage(second, far).show_body(scene)
    second.plot(*bent_points(-0.6, 0.7).T, '-o', color=ALLOWED, linewidth=3.0, markersize=5)
    second.set_title('green: allowed, and on the target\nblue: where the passes come to rest',
                     fontsize=10, color=INK)  # fmt: skip
    save(figure, 'limits')


def bent_points(heading: float, bend: float) -> np.ndarray:
    """Lay four links of length 1, each turned against the one before by the same angle [rad]."""
    angles = heading + bend * np.arange(4)
    links = np.column_stack([np.cos(angles), np.sin(angles)])
    return np.vstack([np.zeros(2), np.cumsum(links, axis=0)])


def crooked_chain(points: np.ndarray) -> PointTree:
    """Make a chain none of whose joints can be straight."""
    lower, upper = CROOKED
    return PointTree.chain(
        points, limits=dict.fromkeys((2, 3, 4), Hinge(lower=lower, upper=upper))
    )


def draw_branches() -> None:
    """Draw how a sub-base finds its place, and both tips on their targets."""
    layout = Layout((1.0,) * 4, branches=2)
    scene = Scene.start(layout)
    left, right = scene.targets
    scene = scene.with_target(left, (-1.6, 2.6)).with_target(right, (1.9, 2.4))
    lesson = Lesson.begin(scene)
    lessons = [lesson]
    while len(lessons) < len(lesson.moves):
        lessons.append(lessons[-1].next())
    figure = sheet(1, 3)
    stages = [Stage(axes, layout) for axes in figure.axes]
    stages[0].show_move(next(each for each in lessons if len(each.move.circles) > 1))
    stages[1].show_move(lessons[-1])
    while not scene.settled:
        scene = scene.solved()
    stages[2].show_body(scene)
    titles = (
        'tip_to_base: p2 between two wishes',
        'base_to_tip: lengths right again',
        'at the end',
    )
    for axes, title in zip(figure.axes, titles, strict=True):
        axes.set(xlim=(-2.7, 2.7), ylim=(-0.7, 4.7))
        axes.set_title(title, fontsize=10, color=INK)
    save(figure, 'branches')


def draw_dead_lock() -> None:
    """Draw the straight chain with its target on its line, and the way out."""
    figure = sheet(1, 2, height=2.2)
    chain = PointChain([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [3.0, 0.0]])
    target = np.array([2.0, 0.0])
    towards = chain.tip_to_base(target)
    first, second = figure.axes
    draw_chain(first, chain.points + np.array([0.0, 0.4]), BODY)
    draw_chain(first, towards.points, PASSES['tip_to_base'])
    draw_chain(second, chain.solve(target).points, BODY)
    titles = (
        'a pass only slides it along its line\n(drawn one above the other)',
        'solve pushes it off the line once,\nthen it gets there',
    )
    for axes, title in zip(figure.axes, titles, strict=True):
        axes.plot(*target, 'X', color=TARGET, markersize=10)
        plain(axes, (-1.3, 3.4), (-1.3, 1.4), title)
    save(figure, 'dead_lock')


def draw_ellipse() -> None:
    """Draw what a ball joint with four half angles allows, and the nearest points to others."""
    joint = BallJoint(*(math.radians(angle) for angle in (70.0, 25.0, 35.0, 50.0)))
    figure = sheet(1, 1, 4.6, 4.0)
    axes = figure.axes[0]
    turn = np.linspace(0.0, math.tau, 361)
    rim = np.degrees(boundary(joint, turn))
    axes.fill(*rim.T, color=ALLOWED, alpha=0.4, linewidth=0.0)
    axes.plot(*rim.T, color=TARGET, linewidth=1.5)
    for x, y in (
        (75.0, 35.0),
        (-50.0, 30.0),
        (-45.0, -50.0),
        (55.0, -52.0),
        (20.0, 5.0),
        (5.0, 48.0),
    ):
        wanted = np.array([x, y])
        nearest = np.degrees(nearest_in_ellipse(np.radians(wanted), joint.half_angles))
        axes.plot(*np.array([wanted, nearest]).T, color=INK, linewidth=1.0)
        axes.plot(*wanted, 'x', color=MISSING, markersize=7)
        axes.plot(*nearest, 'o', color=BODY, markersize=6)
        axes.plot(*np.array([[0.0, 0.0], wanted]).T, color=FAINT, linewidth=1.0, linestyle=DASHED)
    axes.axhline(0.0, color=OLD, linewidth=0.8)
    axes.axvline(0.0, color=OLD, linewidth=0.8)
    for name, x, y in (('right', 50, -6), ('up', -9, 17), ('left', -33, -6), ('down', -15, -46)):
        axes.text(x, y, name, fontsize=9, color=INK)
    axes.set(aspect='equal', xlim=(-70, 95), ylim=(-70, 65))
    axes.set_xlabel('angle to the right [degrees]')
    axes.set_ylabel('angle upwards [degrees]')
    axes.set_title('wanted (x) and nearest direction allowed (dot)', fontsize=10, color=INK)
    save(figure, 'ellipse')


def boundary(joint: BallJoint, azimuths: np.ndarray) -> np.ndarray:
    """Trace the ellipse of four quarters, shape (n, 2) [rad]."""
    cosine, sine = np.cos(azimuths), np.sin(azimuths)
    across = np.where(cosine >= 0.0, joint.right, joint.left)
    along = np.where(sine >= 0.0, joint.up, joint.down)
    return np.column_stack([across * cosine, along * sine])


def draw_two_links() -> None:
    """Draw the two circles on which the elbow lies, and both elbows with their angles."""
    lengths, target = (2.0, 1.5), np.array([2.4, 1.3])
    figure = sheet(1, 1, 4.6, 4.0)
    axes = figure.axes[0]
    for centre, radius in ((np.zeros(2), lengths[0]), (target, lengths[1])):
        axes.add_patch(Circle(tuple(centre), radius, fill=False, color=OLD, linewidth=1.0))
    solution = two_link_angles(target, lengths)
    for q, colour in zip(solution.solutions, (BODY, PASSES['tip_to_base']), strict=True):
        elbow = lengths[0] * np.array([math.cos(q[0]), math.sin(q[0])])
        draw_chain(axes, np.array([np.zeros(2), elbow, target]), colour)
        first, second = np.degrees(q)
        axes.add_patch(arc((0.0, 0.0), 0.9 if first < 0.0 else 1.1, 0.0, first, colour))
        axes.add_patch(arc(elbow, 0.6, first, first + second, colour))
        ahead = elbow + 0.8 * elbow / lengths[0]
        axes.plot(*np.array([elbow, ahead]).T, color=colour, linewidth=1.0, linestyle=DASHED)
        offset = (-30, -24) if second > 0.0 else (-80, 44)
        text = f'q1 = {first:.0f}°, q2 = {second:.0f}°'
        axes.annotate(
            text, tuple(elbow), offset, textcoords='offset points', fontsize=9, color=colour
        )
    axes.plot([0.0, 1.5], [0.0, 0.0], color=OLD, linewidth=0.8)
    axes.plot(*target, 'X', color=TARGET, markersize=11)
    axes.plot(0.0, 0.0, 's', color=INK, markersize=10)
    plain(axes, (-1.0, 4.4), (-1.3, 3.4), 'the elbow is where two circles meet')
    save(figure, 'two_links')


def draw_playground() -> None:
    """Write what the window of the playground shows at one of its moves."""
    options = Options(Layout((1.0,) * 5, math.radians(50.0)), targets=((3.2, 1.0),), steps=4)
    render(options, FOLDER / 'playground.png')


def arc(centre: np.ndarray, radius: float, start: float, end: float, colour: str) -> Arc:
    """Draw the turn from one direction to another [degrees]."""
    first, last = sorted((start, end))
    size = 2.0 * radius
    return Arc(tuple(centre), size, size, theta1=first, theta2=last, color=colour, linewidth=1.2)


def draw_chain(axes: Axes, points: np.ndarray, colour: str) -> None:
    """Draw links and joints, the base square."""
    axes.plot(*points.T, '-o', color=colour, linewidth=3.0, markersize=6)
    axes.plot(*points[0], 's', color=INK, markersize=9)


def plain(axes: Axes, xlim: tuple[float, float], ylim: tuple[float, float], title: str) -> None:
    """Leave out what counts nothing."""
    axes.set(xticks=[], yticks=[], aspect='equal', xlim=xlim, ylim=ylim)
    axes.set_title(title, fontsize=10, color=INK)


def main() -> None:
    """Draw them all."""
    for draw in (
        draw_iteration, draw_reach, draw_limits, draw_branches, draw_dead_lock, draw_ellipse,
        draw_two_links, draw_playground,
    ):  # fmt: skip
        draw()
    print(f'The figures are in {FOLDER}.')


if __name__ == '__main__':
    main()
