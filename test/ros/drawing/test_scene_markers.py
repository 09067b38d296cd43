"""The scene as a listener has it from the wire: all that the node knows, where the node has it."""

import time

import numpy as np
import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed')
pytest.importorskip('coal', reason='coal measures the distances')
pytest.importorskip('pinocchio', reason='pinocchio is the judge')

from bench import LATCHED, values_at
import pinocchio
from rclpy.serialization import deserialize_message
from std_srvs.srv import Trigger
from test_changing_world import ARM, FAST, post, START, target, tips, World
from test_points import ARM_WITH_CAMERA, Camera, column, SIZE
from visualization_msgs.msg import Marker, MarkerArray

SCENE = """
obstacles:
  table: {box: [0.2, 0.3, 0.04], xyz: [0.4, 0.9, -0.3]}
  ball: {sphere: 0.07, xyz: [-0.5, 0.1, 0.2]}
  pole: {cylinder: [0.05, 0.8], xyz: [-0.6, -0.3, 0.0], rpy: [0.0, 1.5707963267948966, 0.0]}
  bolster: {capsule: [0.06, 0.5], xyz: [-0.9, 0.2, 0.1]}
  floor: {half_space: true, xyz: [0.0, 0.0, -0.9]}
  wedge: {mesh: wedge.stl, xyz: [0.2, -0.9, 0.0]}
  held: {box: [0.03, 0.02, 0.05], xyz: [0.45, 0.0, 0.1], link: lower}
"""
SOURCES = {'file', 'markers', 'attached', 'cells'}
LEAST_PERIOD, RENEWAL, LIFETIME = 0.2, 1.0, 3
"""Between two scenes, between two that are the same, and of each, as the docs say [s]."""


CORNERS = ((0.0, 0.0, 0.0), (0.2, 0.0, 0.0), (0.0, 0.2, 0.0), (0.0, 0.0, 0.2))


def write_wedge(file):
    """Write a tetrahedron as text of an STL file."""
    lines = ['solid wedge']
    for left_out in CORNERS:
        corners = [f'vertex {x} {y} {z}' for x, y, z in CORNERS if (x, y, z) != left_out]
        lines += ['facet normal 0 0 0', 'outer loop', *corners, 'endloop', 'endfacet']
    file.write_text('\n'.join([*lines, 'endsolid wedge']))


class Viewer:
    """Keeps the newest scene, as RViz shows it."""

    def __init__(self, bench, qos=LATCHED):
        self.bench, self.messages, self.times = bench, [], []
        bench.tester.create_subscription(
            MarkerArray, 'fabrik/scene_markers', self._take, qos, raw=True
        )

    def _take(self, data):
        message = deserialize_message(data, MarkerArray)
        check_scene(message)
        self.messages.append(message)
        self.times.append(time.monotonic())

    @property
    def markers(self):
        return self.messages[-1].markers[1:] if self.messages else []

    def named(self, name):
        return [marker for marker in self.markers if marker.text == name]

    def wait_for(self, *names):
        self.bench.spin_until(lambda: all(map(self.named, names)), f'{names} on the screen')
        return [self.named(name)[0] for name in names]

    def wait_for_color_of(self, name, other):
        self.wait_for(name, other)
        self.bench.spin_until(
            lambda: color(self.named(name)[0]) != color(self.named(other)[0]), 'a colour'
        )


def check_scene(message):
    """Check that a message is a whole scene that RViz understands, and that dies with its node."""
    first, *markers = message.markers
    assert (first.action, first.ns) == (Marker.DELETEALL, '')
    assert len({(marker.ns, marker.id) for marker in markers}) == len(markers)
    for marker in markers:
        assert marker.action == Marker.ADD
        assert marker.ns in SOURCES
        assert marker.header.frame_id
        assert (marker.lifetime.sec, marker.lifetime.nanosec) == (LIFETIME, 0)
        assert marker.frame_locked, 'it moves with its frame, which tf may tell later'
        assert (marker.header.stamp.sec, marker.header.stamp.nanosec) == (0, 0)
        o, s = marker.pose.orientation, marker.scale
        assert np.linalg.norm([o.x, o.y, o.z, o.w]) == pytest.approx(1.0)
        assert 0.0 < marker.color.a <= 1.0
        assert marker.type == Marker.MESH_RESOURCE or min(s.x, s.y, s.z) > 0.0
        assert marker.text, 'the name of the obstacle'


def color(marker):
    return marker.color.r, marker.color.g, marker.color.b


def place(marker):
    p = marker.pose.position
    return np.array([p.x, p.y, p.z])


def scale(marker):
    return marker.scale.x, marker.scale.y, marker.scale.z


def axis(marker):
    """Direction of the z axis of a marker, by pinocchio."""
    o = marker.pose.orientation
    return pinocchio.Quaternion(o.w, o.x, o.y, o.z).toRotationMatrix()[:, 2]


def pose_of_link(link, q):
    model = pinocchio.buildModelFromXML(ARM)
    data = model.createData()
    pinocchio.framesForwardKinematics(model, data, np.array(q))
    return data.oMf[model.getFrameId(link)]


@pytest.fixture
def start(bench, tmp_path):
    def start(text=SCENE, arm=ARM, **parameters):
        write_wedge(tmp_path / 'wedge.stl')
        (tmp_path / 'scene.yaml').write_text(text)
        values = values_at(('shoulder', 'elbow'), START)
        bench.start_all(
            arm, values, mode='position', scene=str(tmp_path / 'scene.yaml'), **parameters
        )
        return Viewer(bench)

    return start


def test_each_obstacle_of_a_file_is_drawn_with_its_shape_where_it_stands(start, tmp_path):
    viewer = start()
    table, ball, pole, wedge, held = viewer.wait_for('table', 'ball', 'pole', 'wedge', 'held')
    assert (table.type, scale(table)) == (Marker.CUBE, (0.2, 0.3, 0.04))
    assert (ball.type, scale(ball)) == (Marker.SPHERE, (0.14, 0.14, 0.14))
    assert (pole.type, scale(pole)) == (Marker.CYLINDER, (0.1, 0.1, 0.8))
    assert axis(pole) == pytest.approx([1.0, 0.0, 0.0], abs=1e-9)
    assert (wedge.type, scale(wedge)) == (Marker.MESH_RESOURCE, (1.0, 1.0, 1.0))
    assert wedge.mesh_resource == f'file://{tmp_path}/wedge.stl'
    places = {'table': (0.4, 0.9, -0.3), 'ball': (-0.5, 0.1, 0.2), 'wedge': (0.2, -0.9, 0.0)}
    for name, expected in places.items():
        (marker,) = viewer.named(name)
        assert (marker.header.frame_id, marker.ns) == ('base', 'file')
        assert place(marker) == pytest.approx(expected)
    kinds = sorted(part.type for part in viewer.named('bolster'))
    assert kinds == [Marker.SPHERE, Marker.SPHERE, Marker.CYLINDER]
    ends = sorted(place(part)[2] for part in viewer.named('bolster'))
    assert ends == pytest.approx([-0.15, 0.1, 0.35])
    (floor,) = viewer.named('floor')
    assert place(floor)[2] + 0.5 * floor.scale.z == pytest.approx(-0.9), 'its top is the floor'
    assert (held.ns, held.header.frame_id) == ('attached', 'lower')


def test_attached_obstacle_is_where_the_link_takes_it(bench, start):
    viewer = start('obstacles: {}')
    world = World(bench)
    marker = Marker(ns='held', type=Marker.CUBE, frame_locked=True)
    marker.header.frame_id = 'lower'
    marker.pose.position.x, marker.pose.position.z = 0.45, 0.2
    marker.pose.orientation.w = 1.0
    marker.scale.x = marker.scale.y = marker.scale.z = 0.02
    world.show(marker)
    (held,) = viewer.wait_for('held/0')
    assert (held.ns, held.header.frame_id) == ('attached', 'lower')
    q = bench.states[-1].position
    in_base = pose_of_link(held.header.frame_id, q) * pinocchio.SE3(np.eye(3), place(held))
    tip = np.append(tips(q)[0], 0.0)
    along = np.array([np.cos(sum(q)), np.sin(sum(q)), 0.0])
    assert in_base.translation == pytest.approx(tip + 0.05 * along + [0.0, 0.0, 0.2], abs=1e-6)


def test_obstacles_in_markers_come_move_and_go_once_each(bench, start):
    viewer = start('obstacles: {}')
    world = World(bench)
    world.show(post((-0.6, 0.6), 0.1), post((-0.6, -0.6), 0.1, name='other'))
    moved, other = viewer.wait_for('post/0', 'other/0')
    assert {moved.ns, other.ns} == {'markers'}
    assert place(moved) == pytest.approx([-0.6, 0.6, 0.0])
    bench.wait_for_statuses(25)
    gaps = np.diff(viewer.times[-3:])
    assert gaps.min() > 0.7 * RENEWAL, 'what stays the same is said again now and then'
    assert gaps.max() < 0.7 * LIFETIME
    world.say(post((-0.9, 0.6), 0.1))
    bench.spin_until(lambda: place(viewer.named('post/0')[0])[0] < -0.8, 'the post elsewhere')
    world.delete_all()
    bench.spin_until(lambda: not viewer.markers, 'an empty scene')


def test_many_changes_are_shown_a_few_times_a_second(bench, start):
    viewer = start('obstacles: {}')
    world = World(bench)
    for k in range(30):
        world.show(post((-0.6 - 0.01 * k, 0.6), 0.1))
        bench.wait_for_statuses()
    gaps = np.diff(viewer.times)
    assert gaps.min() > 0.5 * LEAST_PERIOD
    assert len(gaps) < 30 / 10.0 / LEAST_PERIOD + 3


def test_whoever_comes_late_sees_the_scene_and_nobody_sees_it_after_cleanup(bench, start):
    viewer = start()
    viewer.wait_for('table')
    late = Viewer(bench)
    late.wait_for('table')
    bench.node.trigger_deactivate()
    bench.node.trigger_cleanup()
    bench.spin_until(lambda: not viewer.markers and not late.markers, 'an empty scene')


def test_what_is_nearest_and_what_blocks_have_colours_of_their_own(bench, start):
    viewer = start(
        'obstacles: {post: {cylinder: [0.1, 1.0], xyz: [0.6, 0.6, 0.0]},'
        ' far: {box: [0.1, 0.1, 0.1], xyz: [-0.9, 0.0, 0.0]}}',
        path='line',
        max_tip_speed=FAST,
    )
    viewer.wait_for_color_of('post', 'far')
    nearest, wood = color(viewer.named('post')[0]), color(viewer.named('far')[0])
    bench.send(target((1.5, -0.5)))
    status = bench.wait_for_state('HOLDING')
    assert "'post'" in status['reason']
    bench.spin_until(
        lambda: color(viewer.named('post')[0]) not in (nearest, wood), 'the colour of a block'
    )
    assert color(viewer.named('far')[0]) == wood
    assert bench.ask(Trigger, 'fabrik/hold', Trigger.Request()).success
    bench.spin_until(lambda: color(viewer.named('post')[0]) == nearest, 'the colour before')


def test_cells_of_a_camera_are_one_list_of_cubes_where_the_points_are(bench, start):
    viewer = start('obstacles: {}', arm=ARM_WITH_CAMERA)
    camera = Camera(bench)
    seen = column((-0.6, 0.4))
    camera.show(seen)
    bench.spin_until(lambda: viewer.markers, 'cells on the screen')
    (cells,) = viewer.markers
    assert (cells.ns, cells.type) == ('cells', Marker.CUBE_LIST)
    assert scale(cells) == (SIZE, SIZE, SIZE)
    assert cells.header.frame_id == 'base'
    centres = np.array([(p.x, p.y, p.z) for p in cells.points])
    apart = np.abs(seen[:, None] - centres).max(axis=2).min(axis=1)
    assert apart.max() <= 0.5 * SIZE + 1e-6, 'each point is in a cube'
    assert f'{len(centres)} cells' in cells.text
