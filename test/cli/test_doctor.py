"""`fabrik_ros doctor`: what is installed, and what is wrong with the nodes that are running."""

import importlib.util
import os
import threading
import time

from process import PATIENCE, ROOT, run, without_ros
import pytest

built = pytest.mark.skipif(
    importlib.util.find_spec('fabrik_ros.kernels._built') is None,
    reason='without built kernels and numba the doctor is right to complain',
)


def row(ended, what):
    """Mark and text of what was looked at."""
    lines = [line.split(maxsplit=2) for line in ended.printed.splitlines()]
    return next((line[0], line[2]) for line in lines if line[1:2] == [what])


def wait_for(words, **variables):
    """Ask the doctor until it says something; return how that run ended."""
    deadline = time.monotonic() + PATIENCE
    while True:
        ended = run('doctor', **variables)
        if words in ended.printed:
            return ended
        assert time.monotonic() < deadline, ended


@built
def test_without_ros_and_numba_it_says_what_is_missing_and_the_cure(tmp_path):
    ended = run('doctor', **without_ros(tmp_path))
    assert ended.code == 0, ended
    mark, text = row(ended, 'rclpy')
    assert mark == 'missing'
    assert 'no node' in text
    assert 'source ROS 2' in text
    for package, difference in (
        ('control_msgs', 'no action ~/execute_motion; a controller of trajectories is not heard'),
        ('tf2_ros', 'frames of targets are links of the robot'),
    ):
        mark, text = row(ended, package)
        assert mark == 'missing'
        assert difference in text
        assert 'apt install ros-$ROS_DISTRO-' in text
    assert row(ended, 'graph') == ('note', 'not looked at, as ROS 2 is missing')
    assert row(ended, 'kernels')[0] == 'ok'


@pytest.mark.long
def test_interpreted_kernels_are_wrong(network):
    ended = run('doctor', NUMBA_DISABLE_JIT='1', **network)
    assert ended.code == 1, ended
    mark, text = row(ended, 'kernels')
    assert mark == 'WRONG'
    assert 'NUMBA_DISABLE_JIT is set' in text


@pytest.mark.long
def test_package_that_cannot_be_loaded_is_wrong(tmp_path, network):
    (tmp_path / 'coal.py').write_text('raise ImportError("libassimp.so.5: no such file")')
    path = os.pathsep.join([str(tmp_path), str(ROOT)])
    ended = run('doctor', PYTHONPATH=path, **network)
    assert ended.code == 1, ended
    mark, text = row(ended, 'coal')
    assert mark == 'WRONG'
    assert 'libassimp.so.5: no such file' in text
    assert 'no self-collision checking' in text


@pytest.mark.long
def test_empty_graph_is_said_to_be_empty(network):
    pytest.importorskip('rclpy', reason='ROS 2 is not installed')
    mark, text = row(run('doctor', **network), 'graph')
    assert (mark, text) == ('note', 'no fabrik_node is heard within 3 s')


def test_node_that_is_ready_is_in_order_and_knows_no_obstacles(ready_rig):
    ended = wait_for('IDLE', **ready_rig.network)
    assert ended.code == 0, ended
    assert row(ended, '/fabrik') == ('ok', 'IDLE')
    assert 'note' in ended.printed
    assert 'no obstacles known' in ended.printed


def test_node_that_waits_is_wrong_and_says_for_what(rig):
    rig.start('fabrik_node')
    ended = wait_for('WAITING_FOR_MODEL', **rig.network)
    assert ended.code == 1
    assert row(ended, '/fabrik')[0] == 'WRONG'
    assert 'no robot description yet on /robot_description' in ended.printed


@pytest.mark.long
def test_commands_without_listener_are_wrong(rig):
    rig.start_node()
    rig.start_arm(topic='elsewhere')
    ended = wait_for('nobody listens to the commands on /fabrik/joint_command', **rig.network)
    assert ended.code == 1


@pytest.mark.long
def test_status_of_another_kind_is_none_of_ours(network):
    rclpy = pytest.importorskip('rclpy', reason='ROS 2 is not installed')
    from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
    from visualization_msgs.msg import MarkerArray

    context = rclpy.Context()
    rclpy.init(context=context, domain_id=int(network['ROS_DOMAIN_ID']))
    node = rclpy.create_node('camera', context=context)
    ours = {'state': 'IDLE', 'reason': '', 'waits_for': '', 'warnings': ''}
    facts = [KeyValue(key=key, value=value) for key, value in ours.items()]
    statuses = {
        'camera': DiagnosticArray(status=[DiagnosticStatus(name='camera')]),
        'empty': DiagnosticArray(),
        'arm': DiagnosticArray(status=[DiagnosticStatus(values=facts)]),
    }
    publishers = {
        name: node.create_publisher(DiagnosticArray, f'{name}/status', 1) for name in statuses
    }
    markers = [node.create_publisher(MarkerArray, f'{name}/markers', 1) for name in statuses]
    ends = threading.Event()

    def speak() -> None:
        while not ends.wait(0.1):
            for name, status in statuses.items():
                publishers[name].publish(status)

    speaker = threading.Thread(target=speak)
    speaker.start()
    try:
        ended = wait_for('/arm  ', **network)
    finally:
        ends.set()
        speaker.join()
    assert len(markers) == 3
    node.destroy_node()
    rclpy.try_shutdown(context=context)
    assert row(ended, '/arm') == ('ok', 'IDLE')
    assert '/camera' not in ended.printed
    assert '/empty' not in ended.printed


@pytest.mark.long
def test_two_descriptions_are_wrong_and_their_publishers_named(network):
    rclpy = pytest.importorskip('rclpy', reason='ROS 2 is not installed')
    from std_msgs.msg import String

    context = rclpy.Context()
    rclpy.init(context=context, domain_id=int(network['ROS_DOMAIN_ID']))
    nodes = [rclpy.create_node(name, context=context) for name in ('driver', 'rsp')]
    publishers = [node.create_publisher(String, 'robot_description', 1) for node in nodes]
    ended = wait_for('publishers: ', **network)
    assert len(publishers) == 2
    for node in nodes:
        node.destroy_node()
    rclpy.try_shutdown(context=context)
    assert ended.code == 1, ended
    mark, text = row(ended, '/robot_description')
    assert (mark, text) == ('WRONG', '2 publishers: /driver, /rsp; end all but one')
