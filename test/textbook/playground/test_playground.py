"""The playground: its model, its command line, the files it writes, and what the mouse does."""

import math
import os
from pathlib import Path
import subprocess
import sys

from fabrik_ros.textbook.playground import program
from fabrik_ros.textbook.playground.arguments import Options, read_options
from fabrik_ros.textbook.playground.scene import Layout, Lesson, Scene, TOLERANCE
from fabrik_ros.textbook.points.point_chain import PointChain, PointStatus
from fabrik_ros.textbook.points.point_limits import Hinge
from fabrik_ros.textbook.points.point_tree import PointTree
from helpers import examples
from hypothesis import assume, given, settings, strategies as st
import numpy as np
import pytest

matplotlib = pytest.importorskip('matplotlib', reason='the playground draws with matplotlib')
image = pytest.importorskip('PIL.Image', reason='films are written with pillow')

from fabrik_ros.textbook.playground.drawing import SIZE  # noqa: E402
from fabrik_ros.textbook.playground.rendering import DOTS  # noqa: E402
from fabrik_ros.textbook.playground.stage import MARGIN  # noqa: E402
from fabrik_ros.textbook.playground.window import Window, WORDS_TICKS  # noqa: E402
from matplotlib.backend_bases import KeyEvent, MouseEvent  # noqa: E402
from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402

ROOT = Path(__file__).resolve().parents[3]
laws = settings(deadline=None, max_examples=examples(25, 60))

layouts = st.builds(
    Layout,
    lengths=st.lists(st.floats(0.2, 5.0), min_size=1, max_size=8).map(tuple),
    limit=st.none() | st.floats(0.1, 3.0),
    branches=st.integers(1, 3),
)
places = st.floats(0.0, 1.3).flatmap(
    lambda distance: st.floats(-3.2, 3.2).map(
        lambda angle: np.array([distance * math.cos(angle), distance * math.sin(angle)])
    )
)


@st.composite
def scenes(draw):
    """Draw a body whose targets have been put anywhere, also out of reach."""
    layout = draw(layouts)
    scene = Scene.start(layout)
    for tip in scene.targets:
        scene = scene.with_target(tip, layout.reach * draw(places))
    return scene


def bends(scene):
    """Measure how far each link with a link before it turns against that [rad]."""
    points, parents = scene.tree.points, scene.tree.parents
    for i, parent in enumerate(parents):
        if parent > 0:
            before = points[parent] - points[parents[parent]]
            after = points[i] - points[parent]
            yield math.atan2(before[0] * after[1] - before[1] * after[0], before @ after)


def link_lengths(points, parents):
    return np.array([math.dist(points[i], points[p]) for i, p in enumerate(parents) if p >= 0])


# --- the model ------------------------------------------------------------------------------


@laws
@given(layouts)
def test_body_stands_up_with_the_lengths_and_limits_asked_for(layout):
    scene = Scene.start(layout)
    count, trunk = len(layout.lengths), layout.trunk
    expected = [*layout.lengths, *layout.lengths[trunk:] * (layout.branches - 1)]
    parents = scene.tree.parents
    np.testing.assert_allclose(link_lengths(scene.tree.points, parents), expected, rtol=1e-12)
    assert len(scene.targets) == layout.branches
    assert len(parents) == 1 + count + (layout.branches - 1) * (count - trunk)
    assert scene.residual == 0.0
    if layout.limit is not None:
        assert max(map(abs, bends(scene)), default=0.0) <= layout.limit + 1e-9


@laws
@given(scenes())
def test_body_keeps_lengths_limits_and_base_while_it_follows(scene):
    lengths = link_lengths(scene.tree.points, scene.tree.parents)
    for _ in range(3):
        scene = scene.solved()
    points = scene.tree.points
    np.testing.assert_allclose(link_lengths(points, scene.tree.parents), lengths, rtol=1e-9)
    assert points[0].tolist() == [0.0, 0.0]
    if scene.layout.limit is not None:
        assert max(map(abs, bends(scene)), default=0.0) <= scene.layout.limit + 1e-9


@laws
@given(scenes())
def test_moves_lead_from_one_iteration_to_the_next_one_joint_at_a_time(scene):
    after, moves = scene.iterated()
    points, passes = scene.tree.points, {'tip_to_base': set(), 'base_to_tip': set()}
    for move in moves:
        assert (move.before == points).all()
        changed = np.flatnonzero((move.after != move.before).any(axis=1))
        assert set(changed) <= {move.joint}
        passes[move.name].add(move.joint)
        assert move.settled == passes[move.name]
        points = move.after
    assert (points == after.tree.points).all()
    assert all(joints == set(range(len(points))) for joints in passes.values())
    assert [m.name for m in moves] == sorted((m.name for m in moves), reverse=True)


@laws
@given(scenes())
def test_joint_goes_into_the_middle_of_where_its_neighbours_want_and_limits_allow_it(scene):
    _, moves = scene.iterated()
    for move in moves:
        for circle in move.circles:
            line = move.before[move.joint] - circle.centre
            # On its neighbour's new place a joint keeps the direction of its frame, which points
            # do not always tell.
            assume(math.hypot(*line) > 1e-300)
            wanted, allowed = circle.wanted - circle.centre, circle.allowed - circle.centre
            assert math.hypot(*wanted) == pytest.approx(circle.radius, rel=1e-9)
            assert math.hypot(*allowed) == pytest.approx(circle.radius, rel=1e-9)
            assert line @ wanted == pytest.approx(math.hypot(*line) * circle.radius, rel=1e-9)
        if move.circles:
            middle = sum(circle.allowed for circle in move.circles) / len(move.circles)
            apart = math.dist(move.after[move.joint], middle)
            assert apart <= 1e-6 * scene.layout.reach


@laws
@given(scenes())
def test_place_allowed_is_the_nearest_of_the_arc(scene):
    _, moves = scene.iterated()
    for circle in (circle for move in moves for circle in move.circles if circle.arc):
        arc = np.linspace(*circle.arc, 1000)
        rim = circle.centre + circle.radius * np.column_stack([np.cos(arc), np.sin(arc)])
        nearest = np.linalg.norm(rim - circle.wanted, axis=1).min()
        assert math.dist(circle.allowed, circle.wanted) <= nearest + 1e-9


@given(st.integers(1, 8), places)
@laws
def test_moves_of_a_free_chain_are_those_of_the_published_passes(count, place):
    scene = Scene.start(Layout((1.0,) * count)).with_target(count, count * place)
    published = PointChain(scene.tree.points).tip_to_base(count * place)
    _, moves = scene.iterated()
    half = len(moves) // 2
    np.testing.assert_allclose(moves[half - 1].after, published.points, atol=1e-9)
    published = published.base_to_tip([0.0, 0.0])
    np.testing.assert_allclose(moves[-1].after, published.points, atol=1e-9)


def test_sub_base_goes_into_the_middle_of_what_its_branches_want():
    scene = Options(Layout((1.0,) * 4, branches=3)).scene()
    _, moves = scene.iterated()
    move = next(m for m in moves if len(m.circles) > 1)
    assert len(move.circles) == 3
    assert not any(circle.held_back for circle in move.circles)
    middle = sum(circle.wanted for circle in move.circles) / 3.0
    np.testing.assert_allclose(move.after[move.joint], middle, atol=1e-12)
    assert move.sentence == 'p2 joins p3, p5, p7: into the middle of where they want it'


def test_move_that_a_limit_stops_says_so():
    scene = Scene.start(Layout((1.0,) * 5, limit=0.2)).with_target(5, (-2.0, -1.0))
    _, moves = scene.iterated()
    stopped = [m for m in moves if 'the limit allows no more' in m.sentence]
    assert stopped
    for move in stopped:
        assert math.dist(move.after[move.joint], move.circles[0].wanted) > 1e-3


def test_target_in_reach_is_reached_within_the_tolerance():
    scene = Options(Layout((2.0, 1.0, 1.0))).scene()
    while not scene.settled:
        scene = scene.solved()
    assert scene.status is PointStatus.CONVERGED
    assert 0.0 < scene.residual <= TOLERANCE * 4.0


def test_target_out_of_reach_is_pointed_at():
    scene = Scene.start(Layout((1.0, 1.0))).with_target(2, (0.0, -5.0)).solved()
    assert scene.settled
    assert scene.status is PointStatus.TOO_FAR
    np.testing.assert_allclose(scene.tree.points, [[0, 0], [0, -1], [0, -2]], atol=1e-12)


@pytest.mark.long
def test_limited_body_gets_as_near_to_a_target_out_of_reach_as_a_long_solve():
    scene = Scene.start(Layout((1.0,) * 12, limit=0.15)).with_target(12, (14.0, -3.0))
    long = scene.tree.solve(scene.targets, position_tolerance=1e-6).residual
    while not scene.settled:
        scene = scene.solved()
    assert scene.status is PointStatus.TOO_FAR
    assert scene.residual == pytest.approx(long, abs=0.01)


def test_body_whose_passes_come_to_rest_short_of_the_target_is_helped_to_it():
    layout = Layout((1.0,) * 4)
    limits = dict.fromkeys((2, 3, 4), Hinge(lower=0.35, upper=1.05))
    tree = PointTree.chain(Scene.start(layout).tree.points, limits=limits)
    resting = scene = Scene(layout, tree, {4: np.array([2.6, 1.3])})
    for _ in range(500):
        resting, _ = resting.iterated()
    assert resting.residual > 1.0
    while not scene.settled:
        scene = scene.solved()
    assert scene.status is PointStatus.CONVERGED


def test_solving_ends_where_branches_cannot_have_all_they_want():
    scene = Scene.start(Layout((1.0, 1.0), branches=2))
    left, right = scene.targets
    scene = scene.with_target(left, (-1.9, 0.0)).with_target(right, (1.9, 0.0))
    for _ in range(2000):
        scene = scene.solved()
        if scene.settled:
            break
    assert scene.settled
    assert scene.residual > 0.5


def test_lesson_goes_on_into_the_next_iteration_and_back_to_the_first_move():
    lesson = Lesson.begin(Options(Layout((1.0, 1.0))).scene())
    assert lesson.move.sentence == 'p2 is a tip: put it on its target'
    for _ in range(5):
        lesson = lesson.next()
    assert (lesson.move.name, lesson.move.joint) == ('base_to_tip', 2)
    later = lesson.next()
    assert (later.move.name, later.move.joint, later.before.iterations) == ('tip_to_base', 2, 1)
    assert later.before.residual < lesson.before.residual
    for _ in range(9):
        lesson = lesson.previous()
    assert lesson.index == 0


def test_layout_repeats_its_last_link_or_drops_it():
    layout = Layout((3.0, 1.0))
    assert layout.with_joints(4).lengths == (3.0, 1.0, 1.0, 1.0)
    assert layout.with_joints(1).lengths == (3.0,)
    assert (layout.reach, layout.inner_reach) == (4.0, 2.0)


def test_model_and_command_line_need_no_matplotlib():
    code = (
        'import sys, fabrik_ros.playground, fabrik_ros.textbook.playground.scene\n'
        'print("matplotlib" in sys.modules)'
    )
    done = subprocess.run(
        [sys.executable, '-c', code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ['False']


# --- the command line -----------------------------------------------------------------------


def test_command_line_describes_the_body():
    options = read_options(['--lengths', '2', '1.5', '--limit', '60', '--branches', '2'])
    assert options.layout.lengths == (2.0, 1.5)
    assert options.layout.limit == pytest.approx(math.pi / 3.0)
    assert options.layout.branches == 2
    assert read_options(['--joints', '9']).layout == Layout((1.0,) * 9)


def test_targets_of_the_command_line_are_where_they_are_asked_for():
    scene = read_options(['--branches', '2', '--target', '1', '2', '--target', '-3', '4']).scene()
    assert [target.tolist() for target in scene.targets.values()] == [[1.0, 2.0], [-3.0, 4.0]]


@pytest.mark.parametrize(
    ('arguments', 'message'),
    [
        (['--joints', '0'], "--joints: must be a whole number from 1 to 200, got '0'"),
        (['--joints', 'six'], "--joints: must be a whole number from 1 to 200, got 'six'"),
        (['--branches', '9'], "--branches: must be a whole number from 1 to 5, got '9'"),
        (['--lengths', '1', '0'], "--lengths: a length must be from 0.001 to 1000, got '0'"),
        (['--lengths', 'nan'], "--lengths: a length must be from 0.001 to 1000, got 'nan'"),
        (['--limit', '181'], "--limit: must be above 0 and at most 180 degrees, got '181'"),
        (['--limit', 'x'], "--limit: must be above 0 and at most 180 degrees, got 'x'"),
        (['--target', 'inf', '0'], "--target: must be a number of at most 1e6 in size, got 'inf'"),
        (['--target', '1', '1', '--branches', '2'], 'once for each tip, got 1 for 2'),
        (['--steps', '3'], '--steps needs --render; in the window the space bar shows the steps'),
        (['--joints', '2', '--lengths', '1'], 'not allowed with argument'),
        (['--render', 'a.jpg'], "--render: must end in .png or .gif, got 'a.jpg'"),
        (['--render', '/nowhere/a.png'], "--render: there is no folder '/nowhere'"),
    ],
)
def test_argument_that_makes_no_sense_is_refused_with_the_reason(arguments, message, capsys):
    with pytest.raises(SystemExit) as ended:
        program.main(arguments)
    assert ended.value.code == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(('module', 'package'), [('matplotlib', 'matplotlib'), ('PIL', 'pillow')])
def test_missing_package_is_named_with_the_cure(module, package, monkeypatch):
    found = program.importlib.util.find_spec
    monkeypatch.setattr(
        program.importlib.util, 'find_spec', lambda name: None if name == module else found(name)
    )
    with pytest.raises(SystemExit, match=rf"{package} is missing: pip install '\.\[plot\]'"):
        program.main([])


def test_missing_display_is_named_with_the_cure():
    without = {'DISPLAY', 'WAYLAND_DISPLAY', 'MPLBACKEND'}
    environment = {name: value for name, value in os.environ.items() if name not in without}
    done = subprocess.run(
        [sys.executable, '-m', 'fabrik_ros.playground'],
        cwd=ROOT,
        env={**environment, 'MPLBACKEND': 'Agg'},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert 'Without a window: --render picture.png or film.gif' in done.stderr


# --- files ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    'arguments',
    [
        [],
        ['--lengths', '3', '1', '1', '--target', '0', '9'],
        pytest.param(['--branches', '3', '--limit', '40'], marks=pytest.mark.long),
        ['--steps', '5', '--limit', '20', '--branches', '2'],
        ['--steps', '3', '--joints', '40'],
        ['--joints', '1'],
    ],
)
def test_picture_is_written_and_the_same_every_time(arguments, tmp_path, capsys):
    files = tmp_path / 'one.png', tmp_path / 'two.png'
    for file in files:
        program.main([*arguments, '--render', str(file)])
    assert capsys.readouterr().out == f'wrote {files[0]}\nwrote {files[1]}\n'
    first, second = (file.read_bytes() for file in files)
    assert first == second
    with image.open(files[0]) as picture:
        assert picture.format == 'PNG'
        assert picture.size == (SIZE[0] * 100, SIZE[1] * 100)
        assert len(picture.convert('RGB').getcolors(100_000)) > 20


def test_film_of_the_way_has_the_frames_asked_for(tmp_path):
    file = tmp_path / 'way.gif'
    program.main(['--render', str(file), '--frames', '7'])
    with image.open(file) as film:
        assert film.n_frames == 7
        assert film.size == (SIZE[0] * DOTS, SIZE[1] * DOTS)
        assert film.info['duration'] == 50


def test_film_of_moves_has_a_frame_for_each(tmp_path):
    file = tmp_path / 'moves.gif'
    program.main(['--render', str(file), '--joints', '3', '--steps', '8'])
    with image.open(file) as film:
        assert film.n_frames == 8
        assert film.info['duration'] == 500


# --- the window -----------------------------------------------------------------------------


class Hand:
    """Plays the user of a window drawn in memory."""

    def __init__(self, *arguments):
        figure = Figure(figsize=SIZE, dpi=100)
        self.canvas = FigureCanvasAgg(figure)
        self.window = Window(figure, read_options(arguments))
        self.canvas.draw()

    def mouse(self, name, point, **details):
        pixel = figure_axes(self.canvas).transData.transform(point)
        event = MouseEvent(f'{name}_event', self.canvas, *pixel, **details)
        self.canvas.callbacks.process(event.name, event)

    def press(self, *keys):
        for key in keys:
            event = KeyEvent('key_press_event', self.canvas, key)
            self.canvas.callbacks.process(event.name, event)

    def wait(self, ticks=1):
        for _ in range(ticks):
            self.window.tick()

    def colours_at(self, point, half=4):
        """Take the colours of the few pixels round a point."""
        x, y = figure_axes(self.canvas).transData.transform(point)
        pixels = np.asarray(self.canvas.buffer_rgba())[::-1]
        around = pixels[round(y) - half : round(y) + half, round(x) - half : round(x) + half, :3]
        return {tuple(map(int, colour)) for colour in around.reshape(-1, 3)}

    @property
    def targets(self):
        return [target.tolist() for target in self.window.scene.targets.values()]


def figure_axes(canvas):
    return canvas.figure.axes[0]


def colour(name):
    return tuple(round(255 * part) for part in matplotlib.colors.to_rgb(name))


def test_target_goes_with_the_mouse_and_the_tip_after_it():
    hand = Hand('--joints', '4')
    hand.mouse('motion_notify', (1.0, -2.0))
    np.testing.assert_allclose(hand.targets, [[1.0, -2.0]], atol=1e-9)
    hand.wait(20)
    assert hand.window.scene.status is PointStatus.CONVERGED
    assert math.dist(hand.window.scene.tree.points[4], (1.0, -2.0)) <= 4.0 * TOLERANCE


def test_picture_shows_the_target_where_the_mouse_is_and_no_longer_where_it_was():
    hand, green = Hand(), colour('#1b9e5a')
    for there, gone in (((2.0, 3.0), (-3.0, 1.0)), ((-3.0, 1.0), (2.0, 3.0))):
        hand.mouse('motion_notify', there)
        hand.wait(30)
        assert green in hand.colours_at(there)
        assert green not in hand.colours_at(gone)


def test_words_at_the_side_are_brought_up_to_date_when_things_have_come_to_rest():
    hand = Hand()
    hand.mouse('motion_notify', (50.0, 0.0))  # outside the picture: nothing happens
    assert hand.window.scene.status is None
    hand.mouse('motion_notify', (6.5, 0.0))
    hand.wait(2 * WORDS_TICKS)
    texts = [text.get_text() for text in hand.canvas.figure.axes[1].texts]
    assert 'too far' in texts
    panel = np.asarray(hand.canvas.buffer_rgba())[30:70, 600:, :3].reshape(-1, 3)
    assert colour('#c62f3b') in {tuple(map(int, pixel)) for pixel in panel}


def test_key_f_lets_go_of_the_mouse_but_dragging_still_works():
    hand = Hand()
    hand.press('f')
    before = hand.targets
    hand.mouse('motion_notify', (1.0, 1.0))
    assert hand.targets == before
    hand.mouse('button_press', (2.0, 2.0), button=1)
    hand.mouse('motion_notify', (-1.0, 2.5))
    np.testing.assert_allclose(hand.targets, [[-1.0, 2.5]], atol=1e-9)
    hand.mouse('button_release', (-1.0, 2.5), button=1)
    hand.mouse('motion_notify', (3.0, 3.0))
    np.testing.assert_allclose(hand.targets, [[-1.0, 2.5]], atol=1e-9)


def test_click_takes_the_nearest_target_of_several_tips():
    hand = Hand('--branches', '2', '--target', '-2', '3', '--target', '2', '3')
    hand.mouse('button_press', (2.1, 2.8), button=1)
    hand.mouse('button_release', (2.1, 2.8), button=1)
    np.testing.assert_allclose(hand.targets, [[-2.0, 3.0], [2.1, 2.8]], atol=1e-9)
    hand.mouse('motion_notify', (1.0, 4.0))
    np.testing.assert_allclose(hand.targets, [[-2.0, 3.0], [1.0, 4.0]], atol=1e-9)


def test_keys_show_the_moves_one_by_one_and_return_to_the_mouse():
    hand = Hand('--joints', '3')
    hand.press(' ')
    assert hand.window.lesson.move.joint == 3
    hand.mouse('motion_notify', (1.0, 1.0))
    assert hand.window.lesson.index == 0
    hand.press(' ', ' ', 'left')
    hand.wait()
    assert hand.window.lesson.index == 1
    texts = [text.get_text() for text in figure_axes(hand.canvas).texts]
    assert 'p2 goes to the line from p3, one link away from it' in texts
    hand.press('enter')
    hand.wait(20)
    assert hand.window.lesson is None
    assert hand.window.scene.settled


def test_key_p_lets_the_moves_go_on_by_themselves():
    hand = Hand('--joints', '3')
    hand.press('p')
    hand.wait(200)
    assert hand.window.lesson.index >= 3
    hand.press('p')
    index = hand.window.lesson.index
    hand.wait(200)
    assert hand.window.lesson.index == index


def test_target_dragged_during_the_moves_begins_the_iteration_again():
    hand = Hand('--joints', '3')
    hand.press(' ', ' ', ' ')
    hand.mouse('button_press', (1.5, 1.5), button=1)
    assert hand.window.lesson.index == 0
    np.testing.assert_allclose(hand.window.lesson.move.after[3], [1.5, 1.5], atol=1e-9)


def test_keys_change_the_body():
    hand = Hand('--joints', '3', '--limit', '45')
    layout = [hand.window.scene.layout]
    for key in ('up', 'down', 'down', 'l', 'l', 'b'):
        hand.press(key)
        hand.wait()
        layout.append(hand.window.scene.layout)
    assert [len(each.lengths) for each in layout] == [3, 4, 3, 2, 2, 2, 2]
    assert layout[4].limit is None
    assert layout[5].limit == pytest.approx(math.pi / 4.0)
    assert layout[6].branches == 2
    assert figure_axes(hand.canvas).get_xlim()[1] == pytest.approx(MARGIN * 2.0)


def test_key_h_hides_the_list_of_keys_and_shows_it_again():
    hand = Hand()

    def ink_in_the_corner():
        return (np.asarray(hand.canvas.buffer_rgba())[420:, 600:, :3] < 128).sum()

    shown = ink_in_the_corner()
    hand.press('h')
    assert ink_in_the_corner() == 0
    hand.press('h')
    assert ink_in_the_corner() == shown > 1000


def test_key_r_puts_the_body_up_again():
    hand = Hand()
    start = hand.window.scene.tree.points
    hand.mouse('motion_notify', (3.0, -1.0))
    hand.wait(10)
    hand.press('r')
    assert (hand.window.scene.tree.points == start).all()


def test_last_joint_cannot_be_taken_away():
    hand = Hand('--joints', '1')
    hand.press('down')
    assert len(hand.window.scene.layout.lengths) == 1
