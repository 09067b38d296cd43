"""The ghost of the goal and the path ahead: where pinocchio has them, and gone in time."""

import time

import numpy as np
import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed')
pytest.importorskip('pinocchio', reason='pinocchio is the judge')

from bench import JOINTS, pose_message, shifted, six_axis_judge, START, values_at
from builtin_interfaces.msg import Time
from fabrik_ros import parse_urdf
from fabrik_ros.collision import MeshFinder
from fabrik_ros.ros.drawing.ghost import Ghost
from fabrik_ros.ros.messages.marker_shapes import Pen
from helpers import joint_xml, robot_xml
import pinocchio
from rclpy.serialization import deserialize_message, serialize_message
from std_srvs.srv import Trigger
from test_changing_world import ARM, END, FAST, START as IN_PLANE, target, tips
from test_markers import AT_START, color, points, Screen
from visualization_msgs.msg import Marker, MarkerArray

FASTEST = 10.0
"""Most pictures of the ghost in a second [Hz], as the docs say."""
LIMITS = '<limit lower="-1" upper="1.2" velocity="1" effort="1"/>'
SEEN = (
    '<visual><origin xyz="0.1 0 0.2" rpy="0 0 1.5707963267948966"/><geometry>'
    '<mesh filename="package://arm/meshes/a.dae" scale="0.5 0.5 2"/></geometry></visual>'
    '<visual><origin xyz="0 0 0.3"/><geometry><box size="0.1 0.2 0.3"/></geometry></visual>'
    '<collision><geometry><sphere radius="0.3"/></geometry></collision>'
)
FINGER = '<visual><geometry><sphere radius="0.02"/></geometry></visual>'
GRIPPED = robot_xml(
    'base tip',
    f'<link name="upper">{SEEN}</link>',
    f'<link name="finger">{FINGER}</link>',
    joint_xml('lift', 'base', 'upper', body=f'<axis xyz="0 1 0"/>{LIMITS}'),
    joint_xml('tool', 'upper', 'tip', 'fixed', '<origin xyz="0 0 0.6"/>'),
    joint_xml('grip', 'tip', 'finger', 'prismatic', f'<axis xyz="1 0 0"/>{LIMITS}'),
)
"""One link that turns, with a gripper that no target moves."""


def sent(markers):
    message = MarkerArray(markers=list(markers))
    return deserialize_message(serialize_message(message), MarkerArray).markers


def place(marker):
    p, o = marker.pose.position, marker.pose.orientation
    R = pinocchio.Quaternion(o.w, o.x, o.y, o.z).matrix()
    return pinocchio.SE3(R, np.array([p.x, p.y, p.z]))


def ghosts(screen):
    return [m for (ns, _), m in sorted(screen.markers.items()) if ns == 'fabrik/ghost']


@pytest.fixture
def screen(bench):
    return Screen(bench)


@pytest.fixture
def shown(bench, screen, six_axis):
    bench.start_all(six_axis, AT_START)
    bench.spin_until(lambda: 'fabrik/chain' in screen.namespaces, 'a picture of the arm')
    return screen


class TestOfOneLink:
    def drawn(self, q, q_goal, others=None, colliding=frozenset()):
        robot = parse_urdf(GRIPPED)
        ghost = Ghost(robot, robot.chain('base', 'tip'), MeshFinder())
        q, q_goal, others = np.array([q]), np.array([q_goal]), others or {}
        links = ghost.links_elsewhere(q, q_goal, others)
        pen = Pen('base', Time(sec=7))
        return sent(ghost.markers(pen, q_goal, others, links, colliding))

    def test_it_is_what_is_to_be_seen_of_the_arm_where_pinocchio_has_it(self):
        model = pinocchio.buildModelFromXML(GRIPPED)
        data = model.createData()
        pinocchio.framesForwardKinematics(model, data, np.array([0.7, 0.25]))
        mesh, box, finger = self.drawn(0.0, 0.7, {'grip': 0.25})
        assert mesh.mesh_resource == 'package://arm/meshes/a.dae', 'as in the URDF'
        assert not mesh.mesh_use_embedded_materials, 'in the colour of a ghost'
        assert (mesh.type, box.type, finger.type) == (
            Marker.MESH_RESOURCE,
            Marker.CUBE,
            Marker.SPHERE,
        )
        sizes = [(m.scale.x, m.scale.y, m.scale.z) for m in (mesh, box, finger)]
        assert sizes == [(0.5, 0.5, 2.0), (0.1, 0.2, 0.3), (0.04, 0.04, 0.04)]
        upper = data.oMf[model.getFrameId('upper')]
        turned = pinocchio.SE3(pinocchio.utils.rotate('z', np.pi / 2), np.array([0.1, 0.0, 0.2]))
        raised = pinocchio.SE3(np.eye(3), np.array([0.0, 0.0, 0.3]))
        expected = upper * turned, upper * raised, data.oMf[model.getFrameId('finger')]
        for marker, pose in zip((mesh, box, finger), expected, strict=True):
            assert place(marker).isApprox(pose, 1e-9)
            assert marker.header.frame_id == 'base'
            assert (marker.lifetime.sec, marker.lifetime.nanosec) == (1, 0)
            assert 0.5 < marker.color.a < 0.9, 'it is no line, and not the robot'

    def test_links_that_stay_are_left_to_the_robot(self):
        assert self.drawn(0.3, 0.3) == []
        assert self.drawn(0.3, 0.305) == []

    def test_links_that_come_home_are_drawn_a_little_longer(self):
        """A link that is drawn and left out in turn, as a stream goes on, is not calm."""
        robot = parse_urdf(GRIPPED)
        ghost = Ghost(robot, robot.chain('base', 'tip'), MeshFinder())
        q, q_goal = np.array([0.3]), np.array([0.315])
        assert ghost.links_elsewhere(q, q_goal, {}) == set()
        assert ghost.links_elsewhere(q, q_goal, {}, {'upper'}) == {'upper'}
        assert ghost.links_elsewhere(q, q + 0.004, {}, {'upper'}) == set()

    def test_what_collides_has_its_colour(self):
        mesh, box, finger = self.drawn(0.0, 0.7, colliding={'upper', 'wall'})
        assert color(mesh) == color(box) != color(finger)
        assert mesh.color.r > 0.8 > finger.color.r

    def test_a_joint_at_its_limit_is_marked_where_it_will_be(self):
        *_, finger, ball = self.drawn(0.0, 1.199)
        assert ball.type == Marker.SPHERE_LIST
        assert points(ball) == pytest.approx(np.zeros((1, 3)))
        assert color(ball) != color(finger)
        assert all(m.type != Marker.SPHERE_LIST for m in self.drawn(0.0, 1.1))

    def test_numbers_stay_those_of_the_shapes(self):
        """Meshes would have to be loaded anew."""
        robot = parse_urdf(GRIPPED)
        ghost = Ghost(robot, robot.chain('base', 'tip'), MeshFinder())
        pen, q = Pen('base', Time()), np.array([0.7])
        both, alone = (
            {m.id for m in ghost.markers(pen, q, {}, links, set())}
            for links in ({'upper', 'finger'}, {'finger'})
        )
        assert len(both) == 3
        assert alone < both


def test_ghost_and_path_lead_to_where_the_arm_arrives_and_go(bench, shown, six_axis):
    goal = shifted(six_axis_judge(six_axis).pose(START), y=0.3)
    bench.send(goal)
    bench.wait_for_state('MOVING')
    bench.spin_until(lambda: 'fabrik/path' in shown.namespaces, 'the path')
    ghost, path = ghosts(shown), shown.one('path')
    lengths = []
    assert points(path)[-1] == pytest.approx(goal[:3, 3], abs=1e-3)
    assert 0.004 < path.scale.x == path.scale.y == path.scale.z < 0.02, 'metres, and to be seen'
    gaps = np.linalg.norm(np.diff(points(path), axis=0), axis=1)
    assert gaps.max() < 0.6 * path.scale.x, 'balls that overlap look like a tube'
    yellow = [c.r - c.b for c in path.colors]
    assert len(yellow) == len(points(path))
    assert max(yellow) == pytest.approx(0.75, abs=0.05), 'amid the path it is as fast as it may be'
    assert yellow[-1] < 0.0, 'blue where it comes to rest'
    while path is not None:
        lengths.append(np.linalg.norm(np.diff(points(path), axis=0), axis=1).sum())
        bench.wait_for_statuses()
        path = shown.markers.get(('fabrik/path', 0))
    assert np.all(np.diff(lengths) < 1e-6), 'it is what is left of it'
    bench.wait_for_state('REACHED')
    bench.spin_until(lambda: not ghosts(shown), 'no ghost where the arm is')
    model = pinocchio.buildModelFromXML(six_axis)
    seen = pinocchio.buildGeomFromUrdfString(model, six_axis, pinocchio.GeometryType.VISUAL)
    q = pinocchio.neutral(model)
    values = values_at(bench.states[-1].name, bench.states[-1].position)
    for joint in JOINTS:
        q[model.joints[model.getJointId(joint)].idx_q] = values[joint]
    data, places = model.createData(), seen.createData()
    pinocchio.updateGeometryPlacements(model, data, seen, places, q)
    moved = [oMg for o, oMg in zip(seen.geometryObjects, places.oMg, strict=True) if o.parentJoint]
    assert len(ghost) > 5
    for marker in ghost:
        found = place(marker)
        assert min(np.abs(found.homogeneous - oMg.homogeneous).max() for oMg in moved) < 2e-3


def test_a_path_that_waits_to_be_confirmed_is_shown_with_its_end(bench, screen, six_axis):
    bench.start_all(six_axis, AT_START, confirm='always')
    bench.send(shifted(six_axis_judge(six_axis).pose(START), y=0.3))
    assert bench.wait_for_state('HOLDING')['reason_code'] == 'awaits_execute'
    ahead = {'fabrik/path', 'fabrik/ghost'}
    bench.spin_until(lambda: ahead <= screen.namespaces, 'what is proposed')
    assert len(points(screen.one('path'))) > 10
    assert bench.ask(Trigger, 'fabrik/hold', Trigger.Request()).success
    bench.spin_until(lambda: not ahead & screen.namespaces, 'nothing')


@pytest.mark.parametrize('end', ['hold', 'deactivation'])
def test_stopped_there_is_nothing_ahead(bench, shown, six_axis, end):
    bench.send(shifted(six_axis_judge(six_axis).pose(START), y=0.3))
    bench.wait_for_state('MOVING')
    bench.spin_until(lambda: {'fabrik/path', 'fabrik/ghost'} <= shown.namespaces, 'what is ahead')
    if end == 'hold':
        assert bench.ask(Trigger, 'fabrik/hold', Trigger.Request()).success
    else:
        bench.node.trigger_deactivate()
    bench.spin_until(lambda: not {'fabrik/path', 'fabrik/ghost'} & shown.namespaces, 'nothing')


def test_goal_in_an_obstacle_is_shown_with_what_collides_and_no_path(bench, screen, tmp_path):
    """Both balls of the arm are in the picture; the one at the tip is in the block."""
    pytest.importorskip('coal', reason='coal measures the distances')
    x, y = tips(END)[0]
    file = tmp_path / 'scene.yaml'
    file.write_text(f'obstacles: {{block: {{box: [0.1, 0.1, 0.1], xyz: [{x}, {y}, 0]}}}}')
    values = values_at(('shoulder', 'elbow'), IN_PLANE)
    bench.start_all(ARM, values, mode='position', scene=str(file), max_tip_speed=FAST)
    bench.send(target(END))
    status = bench.wait_for_state('HOLDING')
    assert status['reason_code'] == 'goal_in_collision'
    bench.spin_until(lambda: ghosts(screen), 'the goal')
    bench.spin_until(lambda: 'fabrik/path' not in screen.namespaces, 'no path')
    from_tip = {np.linalg.norm(place(m).translation - (x, y, 0)): m for m in ghosts(screen)}
    at_tip, at_elbow = (from_tip[distance] for distance in sorted(from_tip))
    assert place(at_tip).translation == pytest.approx((x, y, 0.0), abs=1e-3)
    assert np.linalg.norm(place(at_elbow).translation) == pytest.approx(0.4, abs=1e-6)
    assert color(at_tip) != color(at_elbow)
    assert at_tip.color.r > 0.8
    bench.send(pose_message((-1.1, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0), 'base'))
    bench.wait_for_state('MOVING')
    bench.wait_for_state('HOLDING')
    bench.spin_until(lambda: not ghosts(screen), 'no ghost of what cannot be')


def test_a_stream_does_not_flood(bench, shown, six_axis):
    T = six_axis_judge(six_axis).pose(START)
    begin, times = time.monotonic(), []

    def send():
        phase = 3.0 * (time.monotonic() - begin)
        bench.send(shifted(T, y=0.3 * np.sin(phase), z=0.1 * np.sin(0.7 * phase)))

    timer = bench.tester.create_timer(0.02, send)
    bench.wait_for_state('MOVING')
    bench.wait_for_statuses(30)
    timer.cancel()
    pictures = zip(shown.times, shown.messages, strict=True)
    times = [
        at
        for at, message in pictures
        if any(m.ns == 'fabrik/ghost' and m.action == Marker.ADD for m in message.markers)
    ]
    assert len(times) > 5
    assert len(times) - 1 <= FASTEST * (times[-1] - times[0]) + 1
