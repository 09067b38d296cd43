"""Joint values, names of configurations and a posture, as users send and set them."""

import math

import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed')
pytest.importorskip('pinocchio', reason='pinocchio is the judge')

from bench import (
    check_commands,
    JOINTS,
    matrix_message,
    shifted,
    six_axis_judge,
    START,
    values_at,
)
from fabrik_ros import example_arm, load_urdf
from judging import Judge
import numpy as np
from rclpy.lifecycle import TransitionCallbackReturn
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from std_srvs.srv import Trigger

HOME = [0.3, -1.1, 1.4, -1.7, -1.4, 0.2]
UPRIGHT = [0.2, -1.5, 1.2, -1.2, -1.3, 0.0]
CONFIGURATIONS = {'configurations.upright': UPRIGHT, 'home_configuration': HOME}
TOLERANCE = 1e-6
"""Of joints at the end of a motion [rad]."""


@pytest.fixture
def ready(bench, six_axis):
    bench.start_all(six_axis, values_at(JOINTS, START), **CONFIGURATIONS)
    return bench


@pytest.fixture
def start(six_axis):
    return six_axis_judge(six_axis).pose(START)


def arrive(bench, accepted):
    bench.wait_for_count('accepted', accepted)
    bench.wait_for_state('REACHED')
    return bench.commands.q[-1]


def refusal(bench, send, *what, **how):
    """Send something that is refused; the reason, as in the status."""
    bench.wait_for_statuses()
    count = int(bench.status['refused'])
    send(*what, **how)
    return bench.wait_for_count('refused', count + 1)['last_refusal']


def test_joints_that_are_named_go_and_the_others_stay(ready, six_axis):
    ready.send_joints(['wrist_3', 'elbow'], [0.7, 1.3])
    end = arrive(ready, accepted=1)
    expected = [*START[:2], 1.3, *START[3:5], 0.7]
    assert np.abs(end - expected).max() < TOLERANCE
    kept = [0, 1, 3, 4]
    assert np.ptp(ready.commands.q[:, kept], axis=0).max() < 1e-12
    assert ready.status['last_refusal'] == ''
    check_commands(ready, six_axis_judge(six_axis))


def test_sender_knows_its_target_again_in_the_status(ready, start):
    ready.send_joints(['elbow'], [1.5], stamp=12.0)
    status = ready.wait_for_count('accepted', 1)
    assert (status['target_stamp'], status['target_configuration']) == ('12.000000', '')
    ready.send_configuration('upright')
    status = ready.wait_for_count('accepted', 2)
    assert (status['target_stamp'], status['target_configuration']) == ('0.000000', 'upright')
    message = matrix_message(start, 'nowhere')
    message.header.stamp.sec = 13
    ready.send(message)
    ready.wait_for_count('refused', 1)
    assert ready.status['refused_target'] == '13.000000'
    assert ready.status['refusal_code'] == 'bad_request'
    assert ready.status['target_configuration'] == 'upright'
    why = ready.status['last_refusal']
    assert 'nowhere' in why
    ready.send(start)
    status = ready.wait_for_count('accepted', 3)
    assert (status['last_refusal'], status['refused_because']) == ('', why)
    assert (status['target_stamp'], status['target_configuration']) == ('0.000000', '')
    assert ready.ask(Trigger, 'fabrik/home', Trigger.Request()).success
    ready.spin_until(lambda: ready.status['target_configuration'] == 'home', 'home is told')


@pytest.mark.parametrize('name', ['nowhere', ''])
def test_sender_knows_its_refused_name_again_in_the_status(ready, name):
    ready.send_configuration(name)
    status = ready.wait_for_count('refused', 1)
    assert (status['refused_target'], status['refusal_code']) == (name, 'bad_request')


@pytest.mark.long
def test_stream_of_joint_values_is_followed_without_a_stop(ready, six_axis):
    for i in range(1, 21):
        ready.send_joints(['shoulder_pan'], [0.02 * i])
        ready.wait_for_count('accepted', i)
    ready.wait_for_state('REACHED')
    assert abs(ready.commands.q[-1][0] - 0.4) < TOLERANCE
    check_commands(ready, six_axis_judge(six_axis))


@pytest.mark.long
def test_repeats_set_nothing_in_motion(ready):
    ready.send_joints(['elbow'], [1.4])
    arrive(ready, accepted=1)
    ready.wait_until_silent(4)
    count = len(ready.commands)
    for i in range(2, 7):
        ready.send_joints(['elbow'], [1.4])
        ready.wait_for_count('accepted', i)
        ready.wait_for_statuses()
    assert len(ready.commands) == count
    assert ready.status['state'] == 'REACHED'


def test_configurations_are_sent_by_name_home_is_one_and_a_pose_ends_them(ready, six_axis):
    ready.send_configuration('upright')
    assert np.abs(arrive(ready, accepted=1) - UPRIGHT).max() < TOLERANCE
    ready.send_configuration('home')
    ready.wait_for_count('accepted', 2)
    ready.wait_for_commands(20)
    target = shifted(six_axis_judge(six_axis).pose(ready.commands.q[-1]), z=0.03)
    ready.send(target)
    end = arrive(ready, accepted=3)
    assert six_axis_judge(six_axis).errors(target, end) < (1e-5, 1e-4)
    ready.send_configuration('home')
    assert np.abs(arrive(ready, accepted=4) - HOME).max() < TOLERANCE
    check_commands(ready, six_axis_judge(six_axis))


@pytest.mark.long
def test_configuration_that_changes_live_is_the_new_one(ready):
    changed = [*UPRIGHT[:5], 0.5]
    assert ready.set(**{'configurations.upright': changed}) == []
    ready.send_configuration('upright')
    assert np.abs(arrive(ready, accepted=1) - changed).max() < TOLERANCE


def test_what_cannot_be_meant_is_refused_with_names_and_values_and_moves_nothing(ready):
    joints, configuration = ready.send_joints, ready.send_configuration
    known = ', '.join(JOINTS)
    wrong = {
        'the joint target names no joint': (joints, [], []),
        f"no joint 'finger' is moved; the joints are: {known}": (joints, ['finger'], [0.1]),
        'the joint target has 1 positions for 2 names': (joints, ['elbow', 'wrist_1'], [0.1]),
        "the joint target names 'elbow' more than once; each joint has one value": (
            joints, ['elbow', 'elbow'], [0.1, 0.1],
        ),
        "joint 'elbow' cannot go to nan: its limits are [-": (joints, ['elbow'], [np.nan]),
        "joint 'elbow' cannot go to 9: its limits are [-": (joints, ['elbow'], [9.0]),
        'the joint target has the stamp -5 s; expected 0 or a time': (
            joints, ['elbow'], [1.0], -5.0,
        ),
        "no configuration named 'uprite'; there are: home, upright; did you mean 'upright'?": (
            configuration, 'uprite',
        ),
        "no configuration named ''; there are: home, upright": (configuration, ''),
    }  # fmt: skip
    for reason, (send, *what) in wrong.items():
        assert refusal(ready, send, *what).startswith(reason)
    assert len(ready.commands) == 0
    assert ready.status['accepted'] == '0'


def test_without_configurations_this_is_said(bench, six_axis):
    bench.start_all(six_axis, values_at(JOINTS, START))
    assert refusal(bench, bench.send_configuration, 'home') == (
        "no configuration named 'home'; there are none"
    )


@pytest.mark.long
def test_old_joint_values_are_refused(ready):
    assert ready.set(max_target_age=1.0) == []
    now = ready.node.get_clock().now().nanoseconds * 1e-9
    said = refusal(ready, ready.send_joints, ['elbow'], [1.4], stamp=now - 3.0)
    assert said.startswith('the joint target is ')
    assert said.endswith(' s old (max_target_age 1 s)')


@pytest.mark.long
def test_hold_refuses_them_and_they_wait_for_resume(ready):
    ready.send_joints(['shoulder_pan'], [1.5])
    ready.wait_for_commands(30)
    assert ready.ask(Trigger, 'fabrik/hold', Trigger.Request()).success
    ready.wait_until_silent(4)
    held = 'told to hold, until ~/resume'
    assert refusal(ready, ready.send_joints, ['shoulder_pan'], [1.5]) == held
    assert refusal(ready, ready.send_configuration, 'home') == held
    ready.resume()
    ready.send_configuration('home')
    assert np.abs(arrive(ready, accepted=2) - HOME).max() < TOLERANCE


@pytest.mark.long
def test_they_are_refused_before_the_node_is_active_and_what_waited_does_not_count_after(
    bench, six_axis
):
    bench.start_node(robot_description=six_axis, autostart=False, **CONFIGURATIONS)
    bench.start_arm(values_at(JOINTS, START))
    bench.describe(six_axis)
    said = refusal(bench, bench.send_configuration, 'home')
    assert said.startswith('the node is not active: ')
    assert bench.node.trigger_configure() == TransitionCallbackReturn.SUCCESS
    bench.wait_for_statuses(2)
    for topic in bench.node.topics.joints.targets:
        kind = topic.msg_type
        publisher = bench.tester.create_publisher(kind, topic.topic_name, 1)
        while publisher.get_subscription_count() == 0 or topic.get_publisher_count() < 1:
            bench.executor.spin_once(timeout_sec=0.02)
        joints = JointState(name=['elbow'], position=[1.4])
        publisher.publish(joints if kind is JointState else String(data='home'))
    # Nobody spins: the messages wait until the node is active.
    assert bench.node.trigger_activate() == TransitionCallbackReturn.SUCCESS
    bench.wait_for_count('refused', 3)
    assert bench.status['last_refusal'] == 'it was received while the node was not active'
    bench.wait_until_it_may_set_out()
    bench.send_configuration('home')
    assert np.abs(arrive(bench, accepted=1) - HOME).max() < TOLERANCE


SEVEN = (0.0, -0.5, 0.0, -2.3, 0.0, 1.8, 0.785)
"""The seven-axis arm, elbow up, the tool in front of it and pointing down."""
POSTURE = [0.4, -0.5, -0.4, -2.3, 0.2, 1.8, 0.785]
"""Its elbow turned to the side."""
SAME_ELBOW, OTHER_ELBOW = 0.002, 0.1
"""Angles of the elbow that count as the same, and as another one [rad]."""


def elbow_angle(judge, q):
    """Turn of the elbow about the line from shoulder to wrist, from upright, by pinocchio."""
    points = judge.points(q)
    shoulder, elbow, wrist = points[1], points[3], points[4]
    axis = (wrist - shoulder) / np.linalg.norm(wrist - shoulder)
    up = np.array([0.0, 0.0, 1.0]) - axis * axis[2]
    up /= np.linalg.norm(up)
    return math.atan2((elbow - shoulder) @ np.cross(axis, up), (elbow - shoulder) @ up)


def angles_at(bench, judge, target):
    """Angles of the elbow at a target to which the arm comes on different paths."""
    names, angles = judge.joint_names, []
    far = [-0.3, -0.4, 0.3, -2.2, -0.2, 1.7, 0.6]
    for path, starts in (('line', (SEVEN, POSTURE, far)), ('joint', (SEVEN, POSTURE, far))):
        assert bench.set(path=path) == []
        for q in starts:
            accepted = int(bench.status['accepted'])
            bench.send_joints(names, q)
            end = arrive(bench, accepted + 1)
            assert np.abs(end - q).max() < TOLERANCE
            bench.send(target)
            end = arrive(bench, accepted + 2)
            assert judge.errors(target, end) < (1e-4, 1e-3)
            angles.append(elbow_angle(judge, end))
    return np.array(angles)


@pytest.mark.long
def test_elbow_of_seven_joints_stands_where_the_posture_has_it_whatever_the_path(bench):
    pytest.importorskip('xacro')
    urdf = load_urdf(example_arm('seven_axis')).source
    judge = Judge(urdf, 'base_link', 'tool0')
    names = judge.joint_names
    bench.start_all(urdf, values_at(names, SEVEN), posture=POSTURE, max_tip_speed=1.0)
    target = shifted(judge.pose(SEVEN), y=0.08, z=0.05)
    assert np.ptp(angles_at(bench, judge, target)) < SAME_ELBOW
    assert bench.set(posture=[]) == []
    assert np.ptp(angles_at(bench, judge, target)) > OTHER_ELBOW, 'it stays where it came from'
