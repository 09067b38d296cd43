"""Handles in RViz beside the node: what goes over the wire while somebody drags, and what not."""

import math
import time

import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed')
pytest.importorskip('pinocchio', reason='pinocchio is the judge')
pytest.importorskip(
    'interactive_markers', reason='interactive_markers comes with a ROS 2 installation'
)

from bench import (
    Bench,
    JOINTS,
    PREPARATION,
    shifted,
    six_axis_judge,
    stamp_seconds,
    START,
    values_at,
)
from fabrik_ros.ros.beside.drag_target import DragTarget, FOLLOW_PERIOD
from fabrik_ros.ros.beside.dragging import PERIOD
from geometry_msgs.msg import PoseStamped
from gripper_arm import gripper_arm
from judging import pose_errors
import numpy as np
import pinocchio
from rclpy.lifecycle import TransitionCallbackReturn
from rviz_client import RvizClient
from two_arms import judges, START as START_OF_TWO, TIPS, two_arms, two_arms_xml
from visualization_msgs.msg import (
    InteractiveMarkerControl,
    InteractiveMarkerFeedback as Feedback,
)

SUCCESS = TransitionCallbackReturn.SUCCESS
HANDLE = 'tool0'
NEAR = 1e-3, 1e-2
"""How far a handle may be from its tool [m], [rad]: RViz is told no more."""
AT_GOAL = 1e-4, 1e-3
"""How far a tool may be from its goal [m], [rad]."""


@pytest.fixture(scope='module')
def judge(six_axis):
    return six_axis_judge(six_axis)


@pytest.fixture
def sent(bench):
    """All targets on the wire."""
    targets = []
    bench._listen(PoseStamped, 'fabrik/target_pose', targets.append)
    return targets


@pytest.fixture
def rviz(bench, sent, six_axis):
    """RViz, with the handle of a six-axis arm that rests."""
    return start(bench, six_axis)


def start(bench, six_axis, **parameters):
    bench.start_all(six_axis, values_at(JOINTS, START), tip_link='tool0', **parameters)
    return connected(bench, HANDLE)


def connected(bench, *handles):
    bench.add(DragTarget, {})
    rviz = RvizClient(bench)
    rviz.connect()
    rviz.wait_for(*handles)
    return rviz


def matrix(message):
    p, o = message.pose.position, message.pose.orientation
    quaternion = pinocchio.Quaternion(o.w, o.x, o.y, o.z)
    return pinocchio.SE3(quaternion, np.array([p.x, p.y, p.z])).homogeneous


def wait(bench, seconds):
    end = time.monotonic() + seconds
    bench.spin_until(lambda: time.monotonic() > end, 'time passes')


def on_line(T, T_goal, count):
    """Yield poses from one to another, with the orientation of the first."""
    for share in np.linspace(0.0, 1.0, count)[1:]:
        yield shifted(T, *(share * (T_goal[:3, 3] - T[:3, 3])))


def is_at(rviz, T, handle=HANDLE):
    return all(np.array(pose_errors(T, rviz.pose(handle))) < NEAR)


# -- the handle


def test_handle_is_at_the_tool_with_six_degrees_of_freedom(rviz, judge):
    marker = rviz.markers[HANDLE]
    assert marker.header.frame_id == 'base_link'
    assert stamp_seconds(marker.header.stamp) == 0.0, 'RViz tells poses in that frame'
    assert is_at(rviz, judge.pose(START))
    modes = [control.interaction_mode for control in marker.controls]
    assert modes.count(InteractiveMarkerControl.MOVE_AXIS) == 3
    assert modes.count(InteractiveMarkerControl.ROTATE_AXIS) == 3
    axes = [rotation(control.orientation)[:, 0] for control in marker.controls[:6]]
    np.testing.assert_allclose(axes, [*np.eye(3), *np.eye(3)], atol=1e-9)


def rotation(o):
    return pinocchio.Quaternion(o.w, o.x, o.y, o.z).toRotationMatrix()


def test_handle_is_at_the_tool_and_not_at_the_flange(bench, six_axis, judge):
    offset = [0.1, 0.0, 0.05, 0.0, 0.0, math.pi / 2]
    rviz = start(bench, six_axis, tool_offset=offset)
    T_tip_tool = pinocchio.SE3(pinocchio.rpy.rpyToMatrix(*offset[3:]), np.array(offset[:3]))
    assert is_at(rviz, judge.pose(START) @ T_tip_tool.homogeneous)


def test_handle_goes_with_an_arm_that_others_move(bench, rviz, sent, judge):
    goal = shifted(judge.pose(START), x=-0.05, z=0.1)
    bench.send(goal)
    bench.wait_for_state('REACHED')
    bench.spin_until(lambda: is_at(rviz, goal), 'the handle is at the tool')
    assert len(sent) == 1, 'that of the others'


def test_handle_that_goes_with_an_arm_comes_ten_times_a_second_and_in_order(bench, rviz, judge):
    del rviz.updates[:]
    before = time.monotonic()
    bench.send(shifted(judge.pose(START), y=0.25))
    bench.wait_for_state('REACHED')
    took = time.monotonic() - before
    updates = [each for each in rviz.updates if each.poses or each.markers]
    assert took > 1.0
    assert len(updates) > 3
    assert len(updates) <= took / FOLLOW_PERIOD + 2, 'RViz takes one a frame, and queues the rest'
    assert not any(each.markers for each in updates), 'a whole marker is built anew'
    numbers = [each.seq_num for each in updates]
    assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))


# -- what is sent


def test_nothing_is_sent_that_nobody_drags(bench, rviz, sent):
    rviz.drag(HANDLE, [])  # a click
    rviz.connect()
    for titles in (('Stop',), ('Resume',), ('Speed', '50 %'), ('Mode', 'axis'), ('Path', 'line')):
        rviz.select(HANDLE, *titles)
        wait(bench, 0.2)
    wait(bench, 1.0)
    assert sent == []
    assert bench.status['accepted'] == '0'


def test_arm_goes_where_the_handle_is_dragged_and_left(bench, rviz, sent, judge):
    begin = judge.pose(START)
    goal = shifted(begin, x=-0.06, y=0.1, z=0.08)
    rviz.drag(HANDLE, on_line(begin, goal, 60))
    bench.wait_for_state('REACHED')
    bench.wait_until_silent(4)
    assert judge.errors(goal, bench.commands.q[-1]) < AT_GOAL
    assert pose_errors(goal, matrix(sent[-1])) < (1e-9, 1e-6)
    assert {message.header.frame_id for message in sent} == {'base_link'}
    assert bench.status['refused'] == '0'
    bench.spin_until(lambda: is_at(rviz, goal), 'the handle is at the tool')
    count = len(sent)
    wait(bench, 2.0)
    assert len(sent) == count, 'and then nothing'


def test_fast_mouse_sends_few_targets(bench, rviz, sent, judge):
    begin = judge.pose(START)
    before = time.monotonic()
    rviz.drag(HANDLE, on_line(begin, shifted(begin, z=0.05), 500))
    bench.spin_until(lambda: sent, 'a target')
    bench.wait_for_state('REACHED')
    stamps = np.array([stamp_seconds(message.header.stamp) for message in sent])
    assert len(sent) <= (time.monotonic() - before) / PERIOD + 2
    assert np.all(np.diff(stamps)[:-1] > 0.9 * PERIOD), 'all but the last one keep the distance'
    assert len(sent) > 2


def test_nobody_takes_the_handle_out_of_the_hand(bench, rviz, sent, judge):
    begin = judge.pose(START)
    there = shifted(begin, z=0.1)
    rviz.press(HANDLE)
    rviz.move(HANDLE, there)
    bench.wait_for_state('REACHED')
    wait(bench, 0.5)
    del rviz.updates[:]
    bench.send(shifted(begin, y=0.05))
    bench.wait_for_state('REACHED')
    assert bench.set(path='joint') == []
    wait(bench, 0.5)
    assert rviz.updates == []
    rviz.let_go(HANDLE)
    bench.spin_until(lambda: rviz.checked(HANDLE, 'Path') == ['joint'], 'the mark, afterwards')
    bench.spin_until(lambda: len(sent) > 2, 'the last pose')
    assert pose_errors(there, matrix(sent[-1])) < (1e-9, 1e-6)


def test_handle_of_a_refused_target_goes_back_to_the_tool(bench, rviz, sent, judge):
    begin = judge.pose(START)
    rviz.drag(HANDLE, [shifted(begin, x=50.0)])
    bench.spin_until(lambda: int(bench.status['refused']) > 0, 'a refusal')
    bench.spin_until(lambda: is_at(rviz, begin), 'the handle is at the tool')
    count = len(sent)
    wait(bench, 2.0)
    assert len(sent) == count, 'it is not sent again'


def test_pose_behind_a_blocked_line_is_reached_all_the_same(bench, rviz, sent, judge):
    begin = judge.pose(START)
    behind = shifted(begin, x=-2.0 * begin[0, 3], y=-0.26)
    c, s = math.cos(3.0), math.sin(3.0)
    behind[:3, :3] = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]) @ behind[:3, :3]
    rviz.drag(HANDLE, [shifted(begin, z=0.01), shifted(begin, z=0.02), behind], pause=3)
    bench.wait_for_state('HOLDING')
    assert 'stream_timeout' in bench.status['reason']
    count = len(sent)
    assert is_at(rviz, behind), 'it waits there'
    bench.wait_for_state('REACHED')
    bench.wait_until_silent(4)
    assert judge.errors(behind, bench.commands.q[-1]) < AT_GOAL
    assert len(sent) == count + 1, 'sent once more, as a goal'


def test_stop_stays_a_stop_for_who_drags(bench, rviz, sent, judge):
    begin = judge.pose(START)
    rviz.select(HANDLE, 'Stop')
    bench.spin_until(lambda: bench.status['held'] == 'True', 'a hold')
    rviz.drag(HANDLE, on_line(begin, shifted(begin, z=0.1), 20))
    bench.spin_until(lambda: is_at(rviz, begin), 'the handle is at the tool')
    assert not bench.commands
    rviz.select(HANDLE, 'Resume')
    bench.spin_until(lambda: bench.status['held'] == 'False', 'the end of the hold')
    wait(bench, 2.0)
    assert not bench.commands, 'nothing sets out by itself'


# -- who is gone


def test_handle_of_a_dead_node_is_gone_and_nothing_is_sent_when_it_is_back(bench, rviz, sent):
    begin = rviz.pose(HANDLE)
    rviz.press(HANDLE)
    rviz.move(HANDLE, shifted(begin, z=0.02))
    bench.spin_until(lambda: sent, 'a target')
    lost = rviz.markers[HANDLE]
    bench.executor.remove_node(bench.node)
    rviz.wait_for()
    count = len(sent)
    rviz.markers[HANDLE] = lost
    rviz.move(HANDLE, shifted(begin, z=0.1))
    rviz.let_go(HANDLE)
    wait(bench, 0.5)
    del rviz.markers[HANDLE]
    bench.executor.add_node(bench.node)
    rviz.wait_for(HANDLE)
    wait(bench, 2.0)
    assert len(sent) == count


def test_handle_that_rviz_left_in_the_air_goes_back_to_the_tool(bench, rviz, sent, judge):
    begin = judge.pose(START)
    rviz.press(HANDLE)
    rviz.move(HANDLE, shifted(begin, x=50.0))
    bench.spin_until(lambda: sent, 'a target')
    wait(bench, 0.5)
    rviz.die()
    bench.spin_until(lambda: is_at(rviz, begin), 'the handle is at the tool')


def test_handle_waits_for_a_node_that_is_not_configured(bench, sent, six_axis):
    bench.add(DragTarget, {})
    rviz = RvizClient(bench)
    rviz.connect()
    bench.start_node(tip_link='tool0')
    bench.start_arm(values_at(JOINTS, START))
    bench.wait_for_statuses(5)
    assert rviz.markers == {}
    bench.describe(six_axis)
    bench.wait_for_state('IDLE', PREPARATION)
    rviz.wait_for(HANDLE)
    assert bench.node.trigger_deactivate() == SUCCESS
    assert bench.node.trigger_cleanup() == SUCCESS
    rviz.wait_for()


@pytest.mark.parametrize('frame', ['base_link', '', 'nowhere'])
def test_no_feedback_ends_the_handles(bench, rviz, sent, judge, frame):
    begin = judge.pose(START)
    broken = shifted(begin, x=math.nan)
    rviz.markers[HANDLE].header.frame_id = frame
    rviz.drag(HANDLE, [broken, begin, broken])
    for entry in (0, 5, 999):  # none, a menu within the menu, one that is not there
        rviz.tell(HANDLE, Feedback.MENU_SELECT, entry)
    rviz.tell(HANDLE, 77)
    bench.spin_until(lambda: sent, 'a target')
    bench.spin_until(lambda: int(bench.status['refused']) > 0, 'a refusal')
    bench.spin_until(lambda: is_at(rviz, begin), 'the handle is at the tool')
    assert rviz.markers[HANDLE].header.frame_id == 'base_link'


# -- the menu


CHOICES = {
    'path': ('auto', 'line', 'line'),
    'mode': ('auto', 'axis', 'axis'),
    'confirm': ('never', 'leaving_line', 'leaving_line'),
    'speed_scaling': ('100 %', '25 %', 0.25),
}
"""By the parameter what is chosen, what is chosen then, and what that is for the node."""


def test_menu_shows_and_sets_what_there_is_to_choose(bench, rviz):
    for parameter, (before, title, value) in CHOICES.items():
        menu = 'Speed' if parameter == 'speed_scaling' else parameter.capitalize()
        assert rviz.checked(HANDLE, menu) == [before]
        rviz.select(HANDLE, menu, title)
        bench.spin_until(
            lambda menu=menu, title=title: rviz.checked(HANDLE, menu) == [title], 'another mark'
        )
        assert bench.node.get_parameter(parameter).value == value


def test_menu_shows_what_others_set(bench, rviz):
    assert bench.set(path='joint', speed_scaling=0.3) == []
    bench.spin_until(lambda: rviz.checked(HANDLE, 'Path') == ['joint'], 'another mark')
    bench.spin_until(lambda: rviz.checked(HANDLE, 'Speed') == ['30 %'], 'that of the others')


def test_menu_offers_what_is_of_use(bench, rviz):
    always = ['Stop', 'Joint values', 'Waypoints', 'Speed', 'Path', 'Mode', 'Confirm']
    assert rviz.titles(HANDLE) == always
    rviz.select(HANDLE, 'Stop')
    bench.spin_until(lambda: rviz.number(HANDLE, 'Resume'), 'a way out')
    rviz.select(HANDLE, 'Resume')
    bench.spin_until(lambda: rviz.titles(HANDLE) == always, 'none needed')


def test_menu_takes_the_arm_to_a_named_configuration(bench, sent, six_axis):
    up = [0.2, *START[1:]]
    rviz = start(bench, six_axis, **{'configurations.a.b': up, 'configurations.up': up})
    assert rviz.titles(HANDLE, 'Go to') == ['a.b', 'up']
    rviz.select(HANDLE, 'Go to', 'a.b')
    bench.wait_for_state('REACHED')
    np.testing.assert_allclose(bench.commands.q[-1], up, atol=1e-6)
    assert sent == []


def test_menu_moves_a_joint_and_says_where_it_is(bench, rviz, sent):
    def said():
        return rviz.titles(HANDLE, 'Joint values')[1]

    assert said() == f'{JOINTS[1]}: -74.5°'
    rviz.select(HANDLE, 'Joint values', JOINTS[1], '-10°')
    bench.wait_for_state('REACHED')
    goal = np.array(START) - np.radians([0.0, 10.0, 0.0, 0.0, 0.0, 0.0])
    np.testing.assert_allclose(bench.commands.q[-1], goal, atol=1e-6)
    bench.spin_until(lambda: said() == f'{JOINTS[1]}: -84.5°', 'its new value')
    assert sent == []


def test_joint_that_the_node_does_not_move_now_is_refused_over_the_arm(bench, rviz):
    assert bench.node.trigger_deactivate() == SUCCESS
    rviz.select(HANDLE, 'Joint values', JOINTS[0], '+1°')
    bench.spin_until(lambda: 'not active' in bench.status['last_refusal'], 'a refusal')
    assert not bench.commands


def test_menu_takes_the_arm_home(bench, sent, six_axis, judge):
    home = START + np.array([0.3, 0.0, 0.0, 0.0, 0.0, 0.0])
    rviz = start(bench, six_axis, home_configuration=home.tolist())
    rviz.select(HANDLE, 'Home')
    bench.wait_for_state('REACHED')
    bench.spin_until(lambda: is_at(rviz, judge.pose(home)), 'the handle is at the tool')
    np.testing.assert_allclose(bench.commands.q[-1], home, atol=1e-6)
    assert sent == []


def test_what_the_node_refuses_is_written_over_the_handle(bench, rviz, judge):
    assert bench.set(home_configuration=list(START)) == []
    rviz.select(HANDLE, 'Stop')
    bench.spin_until(lambda: bench.status['held'] == 'True', 'a stop')
    rviz.select(HANDLE, 'Home')
    bench.spin_until(lambda: rviz.words(HANDLE).startswith('home: told to hold'), 'the refusal')
    rviz.drag(HANDLE, [shifted(judge.pose(START), z=0.02)])
    bench.spin_until(lambda: rviz.words(HANDLE) == '', 'no words')


def test_menu_executes_a_path_that_waits(bench, sent, six_axis, judge):
    rviz = start(bench, six_axis, confirm='always')
    goal = shifted(judge.pose(START), z=0.05)
    rviz.drag(HANDLE, [goal])
    bench.spin_until(lambda: bench.status.get('waits_for_execute') == 'True', 'a proposal')
    wait(bench, 2.0)
    assert not bench.commands, 'it waits for a person'
    rviz.select(HANDLE, 'Execute')
    bench.wait_for_state('REACHED')
    assert judge.errors(goal, bench.commands.q[-1]) < AT_GOAL


def test_all_of_it_works_in_a_namespace(context, six_axis, judge):
    bench = Bench(context, 'left')
    rviz = start(bench, six_axis)
    goal = shifted(judge.pose(START), z=0.05)
    rviz.drag(HANDLE, [goal])
    bench.wait_for_state('REACHED')
    assert bench.set(path='line') == []
    bench.spin_until(lambda: rviz.checked(HANDLE, 'Path') == ['line'], 'another mark')
    rviz.select(HANDLE, 'Stop')
    bench.spin_until(lambda: bench.status['held'] == 'True', 'a hold')
    bench.close()


# -- waypoints


def test_waypoints_are_set_dragged_and_run_and_stay_where_they_are_refused(bench, six_axis, judge):
    offset = [0.0, 0.0, 0.05, 0.0, 0.0, 0.0]
    rviz = start(bench, six_axis, tool_offset=offset)
    T_tip_tool = shifted(np.eye(4), z=0.05)
    begin = judge.pose(START) @ T_tip_tool
    rviz.select(HANDLE, 'Waypoints', 'Add here')
    rviz.wait_for(HANDLE, 'waypoint_1')
    assert is_at(rviz, begin, 'waypoint_1')
    rviz.drag('waypoint_1', [shifted(begin, y=0.1)])
    rviz.select(HANDLE, 'Waypoints', 'Add here')
    rviz.wait_for(HANDLE, 'waypoint_1', 'waypoint_2', 'waypoints')
    rviz.select(HANDLE, 'Waypoints', 'Blend', '20 mm')
    rviz.select(HANDLE, 'Waypoints', 'Run')
    bench.wait_for_state('MOVING')
    assert bench.status['program'] == 'waypoints'
    bench.wait_for_state('REACHED')
    tools = [judge.pose(q) @ T_tip_tool for q in bench.commands.q]
    away = [np.linalg.norm(T[:3, 3] - begin[:3, 3]) for T in tools]
    assert 0.08 < max(away) < 0.1, 'past the first one, within the blend'
    assert away[-1] < AT_GOAL[0]
    assert all(
        is_at(rviz, T, f'waypoint_{k}') for k, T in ((1, shifted(begin, y=0.1)), (2, begin))
    )
    rviz.drag('waypoint_2', [shifted(begin, x=3.0)])
    rviz.select(HANDLE, 'Waypoints', 'Run')
    bench.wait_for_state('HOLDING')
    assert 'segment 2 (line)' in bench.status['reason']
    rviz.wait_for(HANDLE, 'waypoint_1', 'waypoint_2', 'waypoints')
    rviz.select(HANDLE, 'Waypoints', 'Clear')
    rviz.wait_for(HANDLE)


# -- several tips


def test_each_tip_has_a_handle_of_its_own(bench, sent):
    names = two_arms().joint_names
    start = values_at(names, START_OF_TWO)
    bench.start_all(two_arms_xml(), start, tip_links=list(TIPS))
    targets = {tip: [] for tip in TIPS}
    for tip in TIPS:
        bench._listen(PoseStamped, f'fabrik/{tip}/target_pose', targets[tip].append)
    rviz = connected(bench, *TIPS)
    poses = judges().poses(START_OF_TWO)
    assert all(is_at(rviz, T, tip) for tip, T in zip(TIPS, poses, strict=True))
    left, right = TIPS
    goal = shifted(poses[1], y=-0.1)
    rviz.drag(right, on_line(poses[1], goal, 20))
    bench.wait_for_state('REACHED')
    bench.wait_until_silent(4)
    assert pose_errors(goal, judges().poses(bench.commands.q[-1])[1]) < AT_GOAL
    assert targets[left] == sent == []
    rviz.select(left, 'Mode', 'position')
    bench.spin_until(lambda: rviz.checked(left, 'Mode') == ['position'], 'another mark')
    assert rviz.checked(right, 'Mode') == ['auto']
    assert list(bench.node.get_parameter('tip_modes').value) == ['position', 'auto']
    assert not rviz.number(left, 'Waypoints'), 'programs are for one tip'


def test_menu_opens_and_closes_the_gripper(bench):
    bench.gripper_joint = 'left_finger_joint'
    bent = {'shoulder': 0.4, 'elbow': -0.8, 'wrist': 0.4, bench.gripper_joint: 0.01}
    bench.start_all(gripper_arm(), bent, mode='position')
    rviz = connected(bench, 'tip')
    for entry, width in (('Open', 80), ('Close', 0)):
        rviz.select('tip', 'Gripper', entry)
        title = f'Gripper: {width} mm'
        bench.spin_until(lambda title=title: title in rviz.titles('tip'), title)
    assert bench.gripper_commands
    assert not bench.commands
