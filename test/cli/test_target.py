"""`fabrik_ros target`: one pose over ROS to a node of its own process, and how it ends."""

import math
import os
import time

import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed')
pytest.importorskip('pinocchio', reason='pinocchio is the judge')

from judging import Judge
import pinocchio
from process import PATIENCE, ROOT, run, without_ros
from processes import Rig
import rclpy
from rclpy.executors import SingleThreadedExecutor
from sensor_msgs.msg import JointState
from two_arms import judges, START, TIPS, two_arms, two_arms_xml

DOWN = ('--xyz', '.4', '.2', '.4', '--rpy', '3.14', '0', '0')


def measured_joints(domain_id):
    """Values of the joints by name, as they are on the wire now."""
    context = rclpy.Context()
    rclpy.init(context=context, domain_id=domain_id)
    node = rclpy.create_node('listener', context=context)
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(node)
    heard = []
    node.create_subscription(JointState, 'joint_states', heard.append, 1)
    deadline = time.monotonic() + PATIENCE
    while not heard and time.monotonic() < deadline:
        executor.spin_once(timeout_sec=0.1)
    executor.shutdown()
    node.destroy_node()
    rclpy.try_shutdown(context=context)
    return dict(zip(heard[-1].name, heard[-1].position, strict=True))


def test_target_is_reached_on_the_wire(ready_rig, six_axis, monkeypatch):
    monkeypatch.setenv('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
    ended = ready_rig.run('target', *DOWN)
    assert ended.code == 0, ended
    last = ended.printed.splitlines()[-1]
    assert last.startswith('REACHED (reached): position error ')
    assert float(last.split('position error ')[1].split()[0]) < 0.01, 'of the arm, which lags'
    time.sleep(0.5)  # the arm lags
    judge = Judge(six_axis.read_text(), 'base_link', 'tool0')
    values = measured_joints(int(ready_rig.network['ROS_DOMAIN_ID']))
    T = judge.pose([values[name] for name in judge.joint_names])
    assert math.dist(T[:3, 3], [0.4, 0.2, 0.4]) < 1e-3


@pytest.mark.long
def test_second_target_gets_an_answer_of_its_own_not_the_first_ones(ready_rig):
    assert ready_rig.run('target', *DOWN).code == 0
    ended = ready_rig.run('target', '--xyz', '.4', '-.2', '.4', '--rpy', '3.14', '0', '0')
    assert ended.code == 0, ended
    assert 'MOVING' in ended.complained  # it was not the REACHED of the first target


@pytest.mark.parametrize(
    ('words', 'reason'),
    [
        (('--xyz', '40', '.2', '.4'), 'millimetres?'),
        pytest.param((*DOWN, '--frame', 'nowhere'), "frame 'nowhere'", marks=pytest.mark.long),
    ],
)
def test_refused_target_ends_with_code_1_and_the_reason(ready_rig, words, reason):
    ended = ready_rig.run('target', *words)
    assert ended.code == 1, ended
    last = ended.printed.splitlines()[-1]
    assert last.startswith('REFUSED (refused: nothing has changed): ')
    assert reason in last


def test_unreachable_target_ends_with_code_1_and_the_reason(ready_rig):
    ended = ready_rig.run('target', '--xyz', '1.5', '.2', '.4', '--rpy', '3.14', '0', '0')
    assert ended.code == 1, ended
    last = ended.printed.splitlines()[-1]
    assert last.startswith('NOT_REACHED (accepted, but not reached): HOLDING: ')
    assert 'farther' in last


def test_node_that_is_not_heard_is_named(rig):
    ended = rig.run('target', *DOWN, '--node', 'left/fabrik', '--wait', '1')
    assert ended.code == 1, ended
    assert 'NOT SENT' in ended.printed
    assert 'no status is heard on /left/fabrik/status, for 1 s' in ended.printed


@pytest.mark.long
def test_node_without_such_a_tip_is_named(ready_rig):
    ended = ready_rig.run('target', *DOWN, '--tip', 'left_hand', '--wait', '6')
    assert ended.code == 1, ended
    assert '/fabrik does not listen on /fabrik/left_hand/target_pose' in ended.printed


@pytest.mark.long
@pytest.mark.parametrize(
    ('parameter', 'reason'),
    [
        ('autostart:=false', 'WAITING_FOR_MODEL: there is a robot description: configure'),
        ('autostart:=true', 'WAITING_FOR_STATE: no fresh state of'),
    ],
)
def test_node_that_takes_no_targets_says_why(rig, parameter, reason):
    rig.start_node(parameter)
    ended = rig.run('target', *DOWN, '--wait', '6')
    assert ended.code == 1, ended
    assert 'NOT SENT' in ended.printed
    assert reason in ended.printed


def test_one_of_several_tips_is_reached_and_has_to_be_named(six_axis, tmp_path, network):
    path = tmp_path / 'two_arms.urdf'
    path.write_text(two_arms_xml())
    rig = Rig(path, tmp_path, network)
    try:
        rig.start_node(f'tip_links:=[{", ".join(TIPS)}]')
        rig.start_arm(bent=dict(zip(two_arms().joint_names, START, strict=True)))
        xyz = [f'{x:.4f}' for x in judges().poses(START)[0, :3, 3]]
        words = ('target', '--xyz', *xyz[:2], f'{float(xyz[2]) - 0.05:.4f}')
        nameless = rig.run(*words, '--wait', '6')
        assert nameless.code == 1
        assert 'its tips are: left_tool, right_tool: say which' in nameless.printed
        axes = judges().poses(START)[0, :3, :3]
        xyzw = [f'{x:.6f}' for x in pinocchio.Quaternion(axes).coeffs()]
        ended = rig.run(*words, '--quaternion', *xyzw, '--tip', 'left_tool')
        assert ended.code == 0, ended
        assert 'REACHED' in ended.printed
    finally:
        rig.end()


def test_nan_is_refused_before_anything_is_sent():
    assert "must be a finite number, got 'nan'" in run('target', '--xyz', 'nan', '0', '0').error()


def test_without_ros_one_line_says_what_is_missing(tmp_path):
    ended = run('target', *DOWN, **without_ros(tmp_path))
    assert ended.error().startswith('fabrik_ros target: error: needs ROS 2')
    assert os.linesep not in ended.complained.strip()


def test_package_that_cannot_be_loaded_is_named_in_one_line(tmp_path):
    (tmp_path / 'rclpy.py').write_text('raise ImportError("librcl.so: no such file")')
    path = os.pathsep.join([str(tmp_path), str(ROOT)])
    assert 'librcl.so: no such file' in run('target', *DOWN, PYTHONPATH=path).error()
