"""Meshes that are not convex: what they count as, judged by trigonometry and coal's triangles."""

from concurrent.futures import ThreadPoolExecutor
import itertools
import math
import struct

from fabrik_ros import load_urdf
from fabrik_ros.collision import convex_parts, SelfCollision
from fabrik_ros.collision.hulls import convex_hull
from fabrik_ros.collision.parts_cache import PartsCache
from helpers import mostly_long
import numpy as np
import pytest

coal = pytest.importorskip('coal', reason='coal measures the distances')
pytest.importorskip('coacd', reason='coacd divides meshes')

BALL = 0.031
"""More than half the width of each mesh: a ball inside of one touches its surface [m]."""
CLEARANCE = 0.002


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv('XDG_CACHE_HOME', str(tmp_path / 'cache'))
    return tmp_path / 'cache' / 'fabrik_ros' / 'parts'


def outlined(corners, height):
    """Triangles of a prism over a polygon of rectangles that share edges, shape (f, 3, 3)."""
    corners = np.array(corners)
    count, low, high = len(corners), -0.5 * height, 0.5 * height
    sides = [(i, (i + 1) % count) for i in range(count)]
    triangles = []
    for i, j in sides:
        a, b = corners[i], corners[j]
        triangles += [
            [(*a, low), (*b, low), (*b, high)],
            [(*a, low), (*b, high), (*a, high)],
        ]
    return triangles


def with_caps(sides, faces, height):
    low, high = -0.5 * height, 0.5 * height
    caps = []
    for a, b, c in faces:
        caps += [[(*a, high), (*b, high), (*c, high)], [(*a, low), (*c, low), (*b, low)]]
    return np.array(sides + caps)


def fan(quads):
    return [t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))]


def an_l():
    """Two arms of 0.3 m, 0.06 m wide, 0.06 m high."""
    o, a, b = (0.0, 0.0), (0.3, 0.0), (0.3, 0.06)
    c, d, e, f = (0.06, 0.06), (0.06, 0.3), (0.0, 0.3), (0.0, 0.06)
    faces = fan([(o, (0.06, 0.0), c, f), ((0.06, 0.0), a, b, c), (f, c, d, e)])
    outline = [o, (0.06, 0.0), a, b, c, d, e, f]
    return with_caps(outlined(outline, 0.06), faces, 0.06)


def a_u():
    """Return a base of 0.3 m and two arms of 0.2 m, 0.06 m wide and high."""
    xs, ys = (0.0, 0.06, 0.24, 0.3), (0.0, 0.06, 0.2)
    quads = [
        [(xs[i], ys[0]), (xs[i + 1], ys[0]), (xs[i + 1], ys[1]), (xs[i], ys[1])] for i in range(3)
    ] + [[(xs[i], ys[1]), (xs[i + 1], ys[1]), (xs[i + 1], ys[2]), (xs[i], ys[2])] for i in (0, 2)]
    outline = [
        (0.0, 0.0), (0.06, 0.0), (0.24, 0.0), (0.3, 0.0), (0.3, 0.06), (0.3, 0.2), (0.24, 0.2),
        (0.24, 0.06), (0.06, 0.06), (0.06, 0.2), (0.0, 0.2), (0.0, 0.06),
    ]  # fmt: skip
    return with_caps(outlined(outline, 0.06), fan(quads), 0.06)


def a_ring():
    """From 0.1 to 0.15 m around z, 0.05 m high."""
    angles = np.linspace(0.0, 2.0 * math.pi, 25)[:-1]
    around = np.column_stack([np.cos(angles), np.sin(angles)])
    outer, inner = [tuple(p) for p in 0.15 * around], [tuple(p) for p in 0.1 * around]
    sides = outlined(outer, 0.05) + outlined(inner[::-1], 0.05)
    following = [(i, (i + 1) % 24) for i in range(24)]
    quads = [(inner[i], outer[i], outer[j], inner[j]) for i, j in following]
    return with_caps(sides, fan(quads), 0.05)


MESHES = {'L': an_l, 'U': a_u, 'ring': a_ring}


def write_stl(path, triangles):
    body = b''.join(struct.pack('<12fH', 0, 0, 0, *t.ravel(), 0) for t in triangles)
    path.write_bytes(bytes(80) + struct.pack('<I', len(triangles)) + body)


def gantry(folder, triangles):
    """Make a ball that three slides take anywhere around a mesh that stands still."""
    write_stl(folder / 'mesh.stl', triangles)
    joints, parent = '', 'base'
    for name, axis in (('x', '1 0 0'), ('y', '0 1 0'), ('z', '0 0 1')):
        child = 'ball' if name == 'z' else name
        joints += (
            f'<joint name="j{name}" type="prismatic"><parent link="{parent}"/>'
            f'<child link="{child}"/><axis xyz="{axis}"/>'
            '<limit lower="-0.4" upper="0.4" velocity="1" effort="1"/></joint>'
        )
        parent = child
    mesh = '<collision><geometry><mesh filename="mesh.stl"/></geometry></collision>'
    ball = f'<collision><geometry><sphere radius="{BALL}"/></geometry></collision>'
    (folder / 'arm.urdf').write_text(
        f'<robot name="r"><link name="base">{mesh}</link><link name="x"/><link name="y"/>'
        f'<link name="ball">{ball}</link>{joints}</robot>'
    )
    robot = load_urdf(folder / 'arm.urdf')
    return robot, robot.chain('base', 'ball')


class Triangles:
    """Distance of the ball from the triangles, by coal."""

    def __init__(self, triangles):
        self._mesh = coal.BVHModelOBBRSS()
        self._mesh.beginModel(len(triangles), 3 * len(triangles))
        for corners in triangles:
            self._mesh.addTriangle(*corners)
        self._mesh.endModel()
        self._ball, self._at = coal.Sphere(BALL), coal.Transform3s()

    def distance(self, q):
        self._at.setTranslation(q)
        request, result = coal.DistanceRequest(), coal.DistanceResult()
        there = coal.Transform3s()
        return coal.distance(self._mesh, there, self._ball, self._at, request, result)


@pytest.mark.parametrize('name', mostly_long(MESHES, 'L', 'U'))
def test_ball_may_go_where_the_mesh_is_not_and_nowhere_else(name, tmp_path):
    triangles = MESHES[name]()
    robot, chain = gantry(tmp_path, triangles)
    ours, judge = SelfCollision(robot, chain, clearance=0.0), Triangles(triangles)
    (shape,) = ours.shapes
    assert 1 < shape.parts <= convex_parts.MOST_PARTS, shape
    assert shape.reach < 0.5 * shape.hull_reach
    rng, clear, free = np.random.default_rng(0), 0, 0
    low, high = triangles.reshape(-1, 3).min(axis=0), triangles.reshape(-1, 3).max(axis=0)
    for q in rng.uniform(low - 0.05, high + 0.05, (1500, 3)):
        distance = judge.distance(q)
        is_free = ours.is_collision_free(q)
        assert distance > 0.0 or not is_free
        if distance > 2.0 * CLEARANCE + shape.reach:
            clear, free = clear + 1, free + is_free
    assert free == clear > 100


def test_what_parts_lack_of_the_mesh_is_measured(tmp_path, monkeypatch):
    """Parts that are made smaller are padded by as much: no contact is missed."""
    monkeypatch.setattr(
        convex_parts,
        '_simplified',
        lambda coal, points: convex_hull(coal, 0.95 * points + 0.05 * points.mean(axis=0)),
    )
    triangles = an_l()
    robot, chain = gantry(tmp_path, triangles)
    ours, judge = SelfCollision(robot, chain, clearance=0.0), Triangles(triangles)
    assert ours.shapes[0].parts > 1
    assert max(solid.padding for solid in ours.solids) > 0.003
    rng = np.random.default_rng(0)
    for q in rng.uniform([-0.03, -0.03, -0.06], [0.33, 0.33, 0.06], (1500, 3)):
        assert judge.distance(q) > 0.0 or not ours.is_collision_free(q)


def a_box(size, centre=(0.0, 0.0, 0.0)):
    corners = [np.array(c) for c in itertools.product((-0.5, 0.5), repeat=2)]
    a, b, c, d = (tuple(corners[i]) for i in (0, 2, 3, 1))
    return with_caps(outlined([a, b, c, d], 1.0), fan([(a, b, c, d)]), 1.0) * size + centre


def an_l_of_boxes(count):
    """Boxes that overlap, each a closed surface, in two rows of `count` that share the first."""
    steps = 0.04 * np.arange(count)
    along_x = [a_box((0.06, 0.06, 0.06), (step, 0.0, 0.0)) for step in steps]
    along_y = [a_box((0.06, 0.06, 0.06), (0.0, step, 0.0)) for step in steps[1:]]
    return np.concatenate(along_x + along_y)


@pytest.mark.parametrize('count', mostly_long([2, 7, 15], 2, 7))
@pytest.mark.parametrize('inside_out', [False, True])
def test_convex_pieces_of_a_mesh_are_its_parts_and_rows_of_them_are_one(
    count, inside_out, tmp_path, monkeypatch
):
    forbid(monkeypatch)
    boxes = an_l_of_boxes(count)
    robot, chain = gantry(tmp_path, boxes[:, ::-1] if inside_out else boxes)
    ours = SelfCollision(robot, chain, clearance=0.0)
    assert [shape.parts for shape in ours.shapes] == [2]
    length = 0.04 * (count - 1)
    rows = [
        (np.array([0.5 * length, 0.0, 0.0]), np.array([length + 0.06, 0.06, 0.06])),
        (np.array([0.0, 0.5 * length, 0.0]), np.array([0.06, length + 0.06, 0.06])),
    ]
    rng = np.random.default_rng(0)
    for q in rng.uniform([-0.1, -0.1, -0.1], [length + 0.1, length + 0.1, 0.1], (300, 3)):
        gap = min(np.linalg.norm(np.maximum(abs(q - at) - 0.5 * size, 0.0)) for at, size in rows)
        if gap > BALL + 0.005:
            assert ours.is_collision_free(q)
        elif gap <= BALL:
            assert not ours.is_collision_free(q)


def test_what_is_convex_stays_its_hull(tmp_path):
    robot, chain = gantry(tmp_path, a_box((0.2, 0.2, 0.2)))
    ours = SelfCollision(robot, chain)
    assert [(shape.parts, shape.reason) for shape in ours.shapes] == [(1, '')]
    assert ours.state == 'on: 1 pair of links'


def test_open_surface_stays_its_hull_and_that_is_said(tmp_path):
    robot, chain = gantry(tmp_path, an_l()[::2])
    ours = SelfCollision(robot, chain)
    assert ours.shapes[0].parts == 1
    assert 'base (its surface is not closed)' in ours.state


def test_without_coacd_hulls_stay_and_that_is_said(tmp_path, monkeypatch):
    monkeypatch.setattr(convex_parts, 'LIBRARY', 'coacd-is-not-here')
    robot, chain = gantry(tmp_path, an_l())
    ours = SelfCollision(robot, chain)
    assert 'base (CoACD is not installed; cure: pip install coacd)' in ours.state


def test_coacd_that_fails_leaves_the_hull_and_is_asked_again(tmp_path, monkeypatch, cache):
    monkeypatch.setattr(convex_parts, 'COMMAND', 'raise SystemExit("it fell over")')
    robot, chain = gantry(tmp_path, an_l())
    assert 'base (CoACD failed: it fell over)' in SelfCollision(robot, chain).state
    monkeypatch.undo()
    monkeypatch.setenv('XDG_CACHE_HOME', str(cache.parents[1]))
    assert SelfCollision(robot, chain).shapes[0].parts > 1


@pytest.mark.parametrize(
    ('command', 'said', 'is_kept'),
    [
        ('while True: pass', 'CoACD takes longer than 2 s', True),
        ('import time; time.sleep(60)', 'CoACD took longer than 2 s on a busy machine', False),
    ],
)
def test_division_that_is_given_up_is_kept_only_if_it_had_the_processor(
    command, said, is_kept, tmp_path, monkeypatch, cache
):
    monkeypatch.setattr(convex_parts, 'COMMAND', command)
    monkeypatch.setattr(convex_parts, 'LONGEST_DIVISION', 2.0)
    # How much a process gets is up to this machine; one that sleeps needs a tenth of it to start.
    monkeypatch.setattr(convex_parts, 'STARVED', 0.15)
    robot, chain = gantry(tmp_path, an_l())
    assert f'base ({said})' in SelfCollision(robot, chain).state
    assert any(cache.glob('*')) == is_kept


def forbid(monkeypatch):
    def never(*_):
        raise AssertionError('it was divided again')

    monkeypatch.setattr(convex_parts, '_divided', never)


def test_parts_are_kept_and_the_same_the_next_time(tmp_path, monkeypatch):
    robot, chain = gantry(tmp_path, an_l())
    before, told = SelfCollision(robot, chain), []
    forbid(monkeypatch)
    after = SelfCollision(robot, chain, tell=told.append)
    assert told == []
    assert after.shapes == before.shapes
    for one, other in zip(before.solids, after.solids, strict=True):
        assert one.padding == other.padding
        assert np.array_equal(one.outline.vertices, other.outline.vertices)


@pytest.mark.parametrize('change', mostly_long([b'', b'nonsense', None], None))
def test_what_is_kept_and_broken_is_made_anew_and_that_is_said(change, tmp_path, cache):
    robot, chain = gantry(tmp_path, an_l())
    before = SelfCollision(robot, chain)
    (file,) = cache.iterdir()
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 2] if change is None else change)
    told = []
    after = SelfCollision(robot, chain, tell=told.append)
    assert after.shapes[0].parts == before.shapes[0].parts
    assert any(f'{file} cannot be read' in each for each in told)
    told.clear()
    SelfCollision(robot, chain, tell=told.append)
    assert told == []


def test_where_nothing_can_be_kept_it_is_said_and_parts_are_there(tmp_path, cache):
    cache.parents[1].write_text('no folder')
    robot, chain = gantry(tmp_path, an_l())
    told = []
    assert SelfCollision(robot, chain, tell=told.append).shapes[0].parts > 1
    assert any('cannot be kept' in each for each in told)


def test_many_keep_and_read_the_same_parts_at_once(tmp_path, cache):
    """What is read is always whole, and nothing else is left behind."""
    robot, chain = gantry(tmp_path, an_l())
    shapes, told = SelfCollision(robot, chain).shapes, []
    (file,) = cache.iterdir()
    parts = PartsCache(told.append)
    division = parts.read(file.stem)

    def keep_and_read(_):
        parts.write(file.stem, division)
        return len(PartsCache(told.append).read(file.stem).parts)

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(keep_and_read, range(400))) == {shapes[0].parts}
    assert told == []
    assert list(cache.iterdir()) == [file]


def test_scale_and_content_are_other_meshes(tmp_path, cache):
    robot, chain = gantry(tmp_path, an_l())
    SelfCollision(robot, chain)
    text = (tmp_path / 'arm.urdf').read_text()
    (tmp_path / 'arm.urdf').write_text(text.replace('.stl"', '.stl" scale="0.5 0.5 0.5"'))
    robot = load_urdf(tmp_path / 'arm.urdf')
    SelfCollision(robot, robot.chain('base', 'ball'))
    write_stl(tmp_path / 'mesh.stl', a_u())
    SelfCollision(robot, robot.chain('base', 'ball'))
    assert len(list(cache.iterdir())) == 3
