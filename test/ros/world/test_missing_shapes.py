"""A link of the arm whose mesh is missing: the node names it, and does nothing blindly."""

import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed')
pytest.importorskip('coal', reason='coal looks after collisions')

from bench import values_at
from helpers import joint_xml, robot_xml
from rclpy.qos import DurabilityPolicy, QoSProfile
from visualization_msgs.msg import Marker, MarkerArray

BOX = '<box size="0.1 0.1 0.1"/>'
LOST = '<mesh filename="package://nowhere/upper.stl"/>'


def link(name, shape):
    return f'<link name="{name}"><collision><geometry>{shape}</geometry></collision></link>'


ARM = robot_xml(
    'neck tip',
    link('base', BOX),
    link('upper', LOST),
    link('lower', BOX),
    joint_xml('nod', 'base', 'neck'),
    joint_xml('shoulder', 'neck', 'upper', body='<origin xyz="0.5 0 0"/>'),
    joint_xml('elbow', 'upper', 'lower', body='<origin xyz="0.5 0 0"/>'),
    joint_xml('tool', 'lower', 'tip', 'fixed', '<origin xyz="0.4 0 0"/>'),
)
NAMES = ('nod', 'shoulder', 'elbow')
SCENE = 'obstacles:\n  post:\n    sphere: 0.1\n    xyz: [3, 0, 0]\n'


def test_it_is_named_in_log_and_status_and_obstacles_are_refused(bench, capfd):
    bench.start_all(ARM, values_at(NAMES, (0.0, 0.0, 0.0)))
    said = 'partly on: 1 pair of links; no shape of upper (package://nowhere/upper.stl)'
    assert bench.status['self_collision'] == said
    printed = capfd.readouterr().err
    assert f'self-collision checking is {said}' in printed
    assert "link 'upper', package://nowhere/upper.stl: no such file" in printed
    latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    publisher = bench.tester.create_publisher(MarkerArray, 'fabrik/obstacles', latched)
    marker = Marker(type=Marker.SPHERE)
    marker.header.frame_id = 'base'
    marker.pose.position.x = 3.0
    marker.scale.x = marker.scale.y = marker.scale.z = 0.1
    publisher.publish(MarkerArray(markers=[marker]))
    bench.spin_until(lambda: bench.status['last_refusal'], 'a refusal')
    refusal = bench.status['last_refusal']
    assert 'obstacles cannot be kept clear of' in refusal
    assert "link 'upper', package://nowhere/upper.stl" in refusal
    assert bench.status['obstacles'] == '0'


@pytest.mark.parametrize('needs', ['require', 'scene', 'points'])
def test_node_does_not_configure_where_all_shapes_are_needed(bench, tmp_path, needs):
    file = tmp_path / 'scene.yaml'
    file.write_text(SCENE)
    parameters = {
        'require': {'self_collision': 'require'},
        'scene': {'scene': str(file)},
        'points': {'require_points': True},
    }
    bench.start_node(**parameters[needs])
    bench.describe(ARM)
    bench.spin_until(lambda: 'nowhere' in bench.status.get('reason', ''), 'a reason')
    assert bench.status['state'] == 'WAITING_FOR_MODEL'
    assert "missing: link 'upper', package://nowhere/upper.stl" in bench.status['reason']


def test_doctor_calls_it_wrong():
    from fabrik_ros.ros.beside.graph_check import _node

    status = {'state': 'REACHED', 'reason': '', 'waits_for': '', 'warnings': '', 'obstacles': '1'}
    assert [mark for mark, _, _ in _node('/fabrik', {**status, 'self_collision': 'on: 3'})] == [
        'ok'
    ]
    partly = {**status, 'self_collision': 'partly on: 3 pairs of links; no shape of upper (a.stl)'}
    assert ('WRONG', '/fabrik', f'self-collision checking is {partly["self_collision"]}') in list(
        _node('/fabrik', partly)
    )
