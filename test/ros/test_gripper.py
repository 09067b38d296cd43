"""The gripper over ROS: widths, refusals, and what the hand carries; judged on the wire."""

import math
import time

import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed')
pytest.importorskip('coal', reason='coal measures the distances')

from bench import pose_message, Puppet, stamp_seconds, values_at
from gripper_arm import gripper_arm, STROKE
import numpy as np
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64, String
from std_srvs.srv import Trigger
from visualization_msgs.msg import Marker, MarkerArray

JOINT = 'left_finger_joint'
NAMES = ('shoulder', 'elbow', 'wrist')
BENT = (0.4, -0.8, 0.4)
"""The hand points along x, at y = 0."""
PALM = 0.3 * math.cos(0.4) * 2
"""Where the frame of the hand is then, along x [m]."""
FASTEST, HARDEST = 0.05, 5.0
"""A finger at the default speed of the width [m/s], and the default acceleration [m/s^2]."""


def start(bench, urdf='', fingers=0.02, **parameters):
    bench.gripper_joint = JOINT
    values = values_at(NAMES, BENT) | {JOINT: fingers}
    bench.start_all(urdf or gripper_arm(), values, mode='position', **parameters)
    bench.spin_until(lambda: bench.status.get('gripper_width'), 'a measured width')


def send(bench, width):
    bench._publish('fabrik/gripper', Float64(data=width))


def refusal(bench, topic, message):
    """Send what is refused; what the status says of it."""
    bench.wait_for_statuses()
    count = int(bench.status['refused'])
    bench._publish(f'fabrik/{topic}', message)
    bench.wait_for_count('refused', count + 1)
    return bench.status['last_refusal']


def wait_for_gripper(bench, state, requests=1):
    bench.spin_until(
        lambda: (
            bench.status['gripper_state'] == state
            and bench.status['gripper_requests'] == str(requests)
        ),
        f'gripper {state}',
    )


def block(x, y, size, name='part', frame='base', z=0.0):
    marker = Marker(ns=name, type=Marker.CUBE, action=Marker.ADD)
    marker.header.frame_id = frame
    place = marker.pose.position
    place.x, place.y, place.z = float(x), float(y), float(z)
    marker.scale.x, marker.scale.y, marker.scale.z = map(float, size)
    return marker


def show(bench, *markers):
    bench._publish('fabrik/obstacles', MarkerArray(markers=list(markers)))
    bench.wait_for_count('obstacles', sum(marker.action == Marker.ADD for marker in markers))


def test_gripper_goes_to_widths_within_its_limits(bench):
    start(bench)
    assert float(bench.status['gripper_widest']) == pytest.approx(2 * STROKE)
    for number, width in enumerate((0.07, 0.01), start=1):
        send(bench, width)
        wait_for_gripper(bench, 'REACHED', number)
        assert float(bench.status['gripper_width']) == pytest.approx(width, abs=1e-3)
        assert float(bench.status['gripper_target']) == width
    values = np.array([message.position[0] for message in bench.gripper_commands])
    assert abs(values[0] - 0.02) < 1e-3
    assert np.abs(np.diff(values)).max() <= FASTEST * 0.01 * 1.001
    assert np.abs(np.diff(values, 2)).max() <= HARDEST * 0.01**2 * 1.001
    stamps = [stamp_seconds(message.header.stamp) for message in bench.gripper_commands]
    assert np.all(np.diff(stamps) > 0.0)
    assert len(bench.commands) == 0, 'the arm stays where it is, and silent'


def test_gripper_moves_while_the_arm_does(bench):
    start(bench, max_joint_velocity=0.5)
    send(bench, 0.03)  # what takes time is made before the arm moves: all is one thread here
    wait_for_gripper(bench, 'REACHED')
    bench.send(pose_message((0.5, 0.4, 0.0), (0.0, 0.0, 0.0, 1.0), 'base'))
    bench.wait_for_commands(10)
    send(bench, 0.07)
    wait_for_gripper(bench, 'REACHED', 2)
    bench.wait_for_state('REACHED')


def test_hold_stops_the_fingers_and_resume_does_not_move_them(bench):
    start(bench, gripper_speed=0.02)
    send(bench, 0.08)
    bench.spin_until(lambda: len(bench.gripper_commands) > 20, 'fingers that move')
    bench.ask(Trigger, 'fabrik/hold', Trigger.Request())
    assert 'told to hold' in refusal(bench, 'gripper', Float64(data=0.0))
    count, last = len(bench.gripper_commands), bench.gripper_commands[-1].position[0]
    assert last < STROKE
    bench.resume()
    bench.wait_for_statuses(3)
    assert len(bench.gripper_commands) == count
    send(bench, 0.0)
    wait_for_gripper(bench, 'REACHED', 2)
    assert abs(bench.gripper_commands[count].position[0] - last) < 1e-3


def test_answers_of_stop_and_hold_say_what_the_fingers_do(bench):
    start(bench, gripper_speed=0.02)
    send(bench, 0.08)
    bench.spin_until(lambda: len(bench.gripper_commands) > 20, 'fingers that move')
    stopped = bench.ask(Trigger, 'fabrik/stop', Trigger.Request()).message
    assert stopped == 'at rest; the fingers move: ~/hold stops them'
    assert bench.ask(Trigger, 'fabrik/hold', Trigger.Request()).message == 'slowing down to hold'
    bench.spin_until(lambda: bench.status['gripper_state'] == 'STOPPED', 'fingers at rest')
    assert bench.ask(Trigger, 'fabrik/stop', Trigger.Request()).message == 'at rest'
    assert bench.ask(Trigger, 'fabrik/hold', Trigger.Request()).message == 'holding still'


def test_fingers_of_a_node_that_is_deactivated_brake_and_set_out_from_where_they_are(bench):
    start(bench, gripper_speed=0.02)
    send(bench, 0.08)
    bench.spin_until(lambda: len(bench.gripper_commands) > 20, 'fingers that move')
    bench.node.trigger_deactivate()
    bench.wait_for_statuses(5)
    assert bench.gripper_commands[-1].velocity[0] == 0.0
    bench.spin_until(lambda: bench.status['gripper_state'] == 'STOPPED', 'fingers at rest')
    assert bench.status['gripper_reason'] == 'the node is being deactivated'
    assert float(bench.status['gripper_target']) < 2 * STROKE
    bench._publish('fabrik/joint_command', JointState(name=[JOINT], position=[0.0]))
    bench.spin_until(lambda: float(bench.status['gripper_width']) < 1e-4, 'fingers moved by hand')
    count = len(bench.gripper_commands)
    bench.node.trigger_activate()
    bench.wait_for_state('IDLE')
    send(bench, 0.08)
    bench.spin_until(lambda: len(bench.gripper_commands) > count, 'commands')
    assert bench.gripper_commands[count].position[0] < 1e-3


def set_out(bench):
    send(bench, 0.08)
    bench.spin_until(lambda: len(bench.gripper_commands) > 20, 'fingers that move')


def check_stopped(bench, code, said, resolve):
    """Check that fingers that open have braked, say why, and stay when the cause is gone."""
    bench.spin_until(lambda: bench.status['gripper_reason_code'] == code, f'a reason: {code}')
    assert said in bench.status['gripper_reason']
    bench.wait_for_statuses(3)
    values = np.array([message.position[0] for message in bench.gripper_commands])
    assert np.abs(np.diff(values, 2)).max() <= HARDEST * 0.01**2 * 1.001
    assert bench.gripper_commands[-1].velocity[0] == 0.0
    assert values[-1] < STROKE - 0.005
    resolve()
    bench.spin_until(lambda: bench.status['gripper_state'] == 'STOPPED', 'fingers at rest')
    bench.wait_for_statuses(3)
    assert len(bench.gripper_commands) == len(values)


@pytest.mark.parametrize('y', [None, 0.3], ids=['appears', 'moves'])
def test_fingers_under_way_stop_for_an_obstacle_in_their_way(bench, y):
    start(bench, fingers=0.0, gripper_speed=0.02)
    if y is not None:
        show(bench, block(PALM + 0.15, y, (0.1, 0.02, 0.2), 'wall'))
    set_out(bench)
    show(bench, block(PALM + 0.15, 0.085, (0.1, 0.02, 0.2), 'wall'))
    check_stopped(
        bench,
        'collision_ahead',
        "'left_finger' would come",
        lambda: show(bench, Marker(ns='wall', action=Marker.DELETE)),
    )
    send(bench, 0.08)
    wait_for_gripper(bench, 'REACHED', 2)


def test_fingers_under_way_stop_where_the_hand_takes_them_to_a_wall(bench):
    """The arm stops in time for closed fingers, which then open towards the wall."""
    start(bench, fingers=0.0, gripper_speed=0.005, max_joint_velocity=0.3)
    show(bench, block(PALM + 0.15, 0.105, (0.1, 0.02, 0.2), 'wall'))
    set_out(bench)
    bench.send_joints(NAMES, np.add(BENT, (0.0, 0.0, 0.12)))
    check_stopped(bench, 'collision_ahead', "'wall/0'", lambda: None)


def puppets(bench):
    """Let two sources measure arm and fingers; return that of the fingers."""
    bench.gripper_joint = JOINT
    bench.start_node(mode='position', gripper_speed=0.02)
    Puppet(bench, values_at(NAMES, BENT))
    fingers = Puppet(bench, {JOINT: 0.0})
    bench.describe(gripper_arm())
    bench.wait_for_state('IDLE')
    bench.spin_until(lambda: bench.status.get('gripper_width'), 'a measured width')
    return fingers


def test_fingers_under_way_stop_where_they_are_measured_no_more(bench):
    fingers = puppets(bench)
    set_out(bench)
    fingers.fall_silent()
    said = "no joint states come any more of the gripper joint 'left_finger_joint'"
    check_stopped(bench, 'state_missing', said, fingers.speak_again)


@pytest.mark.parametrize(('there', 'wrong'), [(0.0, STROKE), (STROKE, 0.0)])
def test_one_wrong_value_of_the_fingers_is_no_start(bench, there, wrong):
    fingers = puppets(bench)
    fingers.values[JOINT] = there
    bench.wait_for_statuses(3)
    fingers.values[JOINT] = wrong
    fingers.say()
    fingers.values[JOINT] = there
    send(bench, 2.0 * wrong)
    bench.spin_until(lambda: bench.gripper_commands, 'a command')
    assert bench.gripper_commands[0].position[0] == pytest.approx(there, abs=1e-3)
    wait_for_gripper(bench, 'REACHED')


def test_no_finger_sets_out_while_two_sources_contradict_each_other(bench):
    puppets(bench)
    ghost = Puppet(bench, {JOINT: 0.8 * STROKE})
    ghost.follows = False
    contradicts = "contradict each other about 'left_finger_joint'"
    bench.spin_until(lambda: contradicts in bench.status['warnings'], 'a warning')
    assert contradicts in refusal(bench, 'gripper', Float64(data=0.5 * STROKE))
    ghost.fall_silent()
    bench.spin_until(lambda: contradicts not in bench.status['warnings'], 'an end of it')
    send(bench, 0.5 * STROKE)
    wait_for_gripper(bench, 'REACHED')


@pytest.mark.parametrize('by', [-100, -1, 100], ids=str)
def test_fingers_under_way_stop_where_the_clock_jumps(bench, monkeypatch, by):
    puppets(bench)
    set_out(bench)
    time_now = time.time_ns
    monkeypatch.setattr(time, 'time_ns', lambda: time_now() + by * 10**9)
    text = f'the clock jumped {"forward" if by > 0 else "back"} by {abs(by)}.00 s'
    check_stopped(bench, 'clock_jumped', text, monkeypatch.undo)


@pytest.mark.parametrize('self_collision', ['auto', 'never'])
def test_fingers_that_nobody_measures_begin_where_they_were_said_to_be(bench, self_collision):
    """Where they are not there, the first command is a leap: it is said before."""
    bench.gripper_joint = JOINT
    bench.start_node(mode='position', wait_for_state=False, self_collision=self_collision)
    bench.describe(gripper_arm())
    bench.wait_for_state('IDLE')
    assert 'the fingers count as 0 m wide, and leap there' in bench.status['warnings']
    send(bench, 0.08)
    wait_for_gripper(bench, 'UNMEASURED')
    values = np.array([message.position[0] for message in bench.gripper_commands])
    assert np.abs(np.diff(values, 2, prepend=[0.0, 0.0])).max() <= HARDEST * 0.01**2 * 1.001
    assert 'leap' not in bench.status['warnings']


def test_fingers_that_nobody_measures_do_not_open_into_a_wall(bench):
    bench.start_node(mode='position', wait_for_state=False)
    bench.describe(gripper_arm())
    bench.wait_for_state('IDLE')
    q = bench.node.node_state.arm.shown_configuration()
    T = bench.node.node_state.arm.robot.pose('base', 'palm', values_at(NAMES, q))
    x, y, _ = (T @ [0.15, 0.07, 0.0, 1.0])[:3]
    show(bench, block(x, y, (0.02, 0.02, 0.2), 'post'))
    assert "'post/0'" in refusal(bench, 'gripper', Float64(data=0.08))


@pytest.mark.parametrize(
    ('width', 'said'), [(math.nan, 'expected a number'), (0.1, '0 to 0.08 m'), (-0.01, '0 to')]
)
def test_width_that_makes_no_sense_is_refused(bench, width, said):
    start(bench)
    assert said in refusal(bench, 'gripper', Float64(data=width))
    assert bench.gripper_commands == []


def test_fingers_go_at_the_share_of_all_speeds_and_pause_with_the_arm(bench):
    start(bench, fingers=0.0, speed_scaling=0.5)
    send(bench, 0.08)
    bench.spin_until(lambda: len(bench.gripper_commands) > 30, 'fingers that move')
    assert bench.set(speed_scaling=0.0) == []
    bench.wait_for_statuses(2)
    paused = bench.gripper_commands[-1].position[0]
    values = np.array([message.position[0] for message in bench.gripper_commands])
    assert np.abs(np.diff(values)).max() <= 0.5 * FASTEST * 0.01 * 1.001
    bench.wait_for_statuses(3)
    assert bench.gripper_commands[-1].position[0] == paused < STROKE
    assert bench.gripper_commands[-1].velocity[0] == 0.0
    assert bench.set(speed_scaling=1.0) == []
    wait_for_gripper(bench, 'REACHED')
    values = np.array([message.position[0] for message in bench.gripper_commands])
    assert np.abs(np.diff(values, 2)).max() <= HARDEST * 0.01**2 * 1.001


def test_arm_without_a_gripper_says_so(bench, six_axis):
    bench.start_all(six_axis)
    assert 'none was found' in refusal(bench, 'gripper', Float64(data=0.01))
    assert bench.status['gripper'].startswith('none: ')


def test_gripper_that_nobody_drives_says_so(bench):
    bench.start_node(output=['array'], mode='position')
    bench.start_arm(values_at(NAMES, BENT))
    bench.describe(gripper_arm())
    bench.wait_for_state('IDLE')
    assert "`output` has no 'joint_state'" in refusal(bench, 'gripper', Float64(data=0.01))


def test_gripper_that_was_asked_for_and_cannot_be_had_keeps_the_node_from_configuring(bench):
    bench.start_node(gripper_joint='finger')
    bench.describe(gripper_arm())
    bench.spin_until(lambda: 'gripper_joint' in bench.status.get('reason', ''), 'the reason')
    assert 'left_finger_joint' in bench.status['reason']


def test_fingers_do_not_open_into_what_stands_beside_them(bench):
    """A wall 0.05 m beside the closed hand; each finger needs 0.02 m clearance, opened 0.04 m."""
    start(bench, fingers=0.0)
    show(bench, block(PALM + 0.15, 0.09, (0.1, 0.02, 0.2), 'wall'))
    said = refusal(bench, 'gripper', Float64(data=0.08))
    assert "'left_finger' would come" in said
    assert "'wall/0'" in said
    send(bench, 0.04)
    wait_for_gripper(bench, 'REACHED')


def test_fingers_touch_what_is_graspable_alone(bench):
    """A part of 0.02 m between open fingers: closing needs it to be graspable."""
    start(bench, fingers=STROKE, obstacle_clearance=0.01, graspable=['cup*'])
    part, cup = (block(PALM + 0.16, 0.0, (0.02,) * 3, name) for name in ('part', 'cup'))
    show(bench, part)
    assert 'graspable' in refusal(bench, 'gripper', Float64(data=0.02))
    show(bench, Marker(ns='part', action=Marker.DELETE), cup)
    send(bench, 0.02)
    wait_for_gripper(bench, 'REACHED')


def attached(bench, name='cup/0', topic='attach'):
    bench._publish(f'fabrik/{topic}', String(data=name))
    names = name if topic == 'attach' else ''
    bench.spin_until(lambda: bench.status['attached'] == names, f'{topic} {name}')


def test_what_is_attached_moves_with_the_hand_and_stays_where_it_is_put_down(bench):
    start(bench, graspable=['cup*'], max_tip_speed=1.0)
    cup = block(PALM + 0.16, 0.0, (0.04,) * 3, 'cup')
    show(bench, cup)
    attached(bench)
    show(bench, cup)  # its source goes on telling where it was
    bench.send(pose_message((0.3, 0.5, 0.0), (0.0, 0.0, 0.0, 1.0), 'base'))
    bench.wait_for_state('REACHED')
    robot, q = bench.node.node_state.arm.robot, bench.commands.q[-1]
    T_base_palm = robot.pose('base', 'palm', values_at(NAMES, q))
    (carried,) = bench.node.node_state.arm.world.in_markers
    assert carried.link == 'palm'
    assert carried.T_link_obstacle[:3, 3] == pytest.approx((0.16, 0.0, 0.0), abs=1e-3)
    attached(bench, topic='detach')
    (stands,) = bench.node.node_state.arm.world.in_markers
    assert stands.link == ''
    expected = (T_base_palm @ [0.16, 0.0, 0.0, 1.0])[:3]
    assert stands.T_link_obstacle[:3, 3] == pytest.approx(expected, abs=2e-3)
    show(bench, block(0.0, -0.5, (0.04,) * 3, 'cup'))
    bench.spin_until(
        lambda: bench.node.node_state.arm.world.in_markers[0].T_link_obstacle[1, 3] == -0.5,
        'another place, as its source tells it',
    )


def test_what_is_carried_is_kept_clear_of_the_rest(bench):
    """A bar in the hand, 0.3 m to its right, would be swept through a post."""
    start(bench, graspable=['bar*'], max_tip_speed=1.0)
    bar = block(PALM + 0.16, -0.1, (0.02, 0.3, 0.02), 'bar')
    post = block(PALM + 0.16 + 0.1, -0.2, (0.02, 0.02, 0.2), 'post')
    show(bench, bar, post)
    attached(bench, 'bar/0')
    target = pose_message((PALM + 0.2 - 0.12, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0), 'base')
    bench.send(target)
    bench.wait_for_state('REACHED')
    bench.send(pose_message((PALM + 0.2 - 0.02, -0.15, 0.0), (0.0, 0.0, 0.0, 1.0), 'base'))
    bench.wait_for_statuses(15)
    assert float(bench.status['nearest_obstacle_distance']) > 0.02 - 2e-3


@pytest.mark.parametrize(
    ('topic', 'name', 'said'),
    [
        ('attach', 'cup', "no obstacle is called 'cup'; there are: cup/0; did you mean 'cup/0'?"),
        ('detach', 'cup/0', "obstacle 'cup/0' is not attached; none is"),
    ],
)
def test_what_cannot_be_attached_or_put_down_is_refused(bench, topic, name, said):
    start(bench)
    show(bench, block(0.0, 0.6, (0.04,) * 3, 'cup'))
    assert said in refusal(bench, topic, String(data=name))
    assert bench.status['refused_target'] == f'{topic} {name}'
    assert bench.status['attached'] == ''


def test_what_is_not_graspable_is_not_attached_where_that_is_told(bench):
    start(bench, graspable=['part*'])
    show(bench, block(0.0, 0.6, (0.04,) * 3, 'table'))
    said = refusal(bench, 'attach', String(data='table/0'))
    assert said == "obstacle 'table/0' is none of `graspable`: part*"


DELETE = Marker(ns='cup', action=Marker.DELETE)
DELETEALL = Marker(action=Marker.DELETEALL)
DELETE_OTHERS = Marker(ns='cups', action=Marker.DELETEALL)


def tell(bench, *markers):
    bench._publish('fabrik/obstacles', MarkerArray(markers=list(markers)))
    bench.wait_for_statuses(4)


def cup(*, lasts=0):
    marker = block(PALM + 0.16, 0.0, (0.04,) * 3, 'cup')
    marker.lifetime.sec = lasts
    return marker


@pytest.mark.parametrize('end', [DELETE, DELETEALL], ids=['delete', 'deleteall'])
def test_what_was_put_down_stands_where_its_source_forgot_it_before(bench, end):
    start(bench)
    show(bench, cup())
    attached(bench)
    tell(bench, end)
    assert bench.status['obstacles'] == '1'
    attached(bench, topic='detach')
    tell(bench, DELETE_OTHERS)
    assert bench.status['obstacles'] == '1'
    attached(bench)
    attached(bench, topic='detach')
    bench._publish('fabrik/obstacles', MarkerArray(markers=[end]))
    bench.wait_for_count('obstacles', 0)


def test_what_was_put_down_stands_where_its_source_falls_silent(bench):
    start(bench)
    show(bench, cup(lasts=1))
    attached(bench)
    attached(bench, topic='detach')
    bench.spin_until(lambda: not bench.node.node_state.arm.world._groups, 'the end of its time')
    bench.wait_for_statuses(3)
    assert bench.status['obstacles'] == '1'
    tell(bench, DELETEALL, block(0.0, -0.5, (0.04,) * 3, 'cup'))
    (told,) = bench.node.node_state.arm.world.in_markers
    assert told.T_link_obstacle[1, 3] == -0.5


def test_what_was_put_down_stays_where_its_source_tells_all_again(bench):
    """Also one that deletes all before; and when another description comes."""
    start(bench)
    show(bench, cup())
    attached(bench)
    bench.send_joints(NAMES, np.add(BENT, (0.3, 0.0, 0.0)))
    bench.wait_for_state('REACHED')
    attached(bench, topic='detach')
    tell(bench, DELETEALL, cup())
    bench.describe(gripper_arm().replace('</robot>', '<!-- another one --></robot>'))
    bench.spin_until(lambda: 'description has changed' in bench.status['reason'], 'the new arm')
    bench.wait_for_statuses(3)
    (stands,) = bench.node.node_state.arm.world.in_markers
    assert stands.T_link_obstacle[1, 3] > 0.1


def test_hand_carries_on_when_another_description_comes(bench):
    start(bench)
    show(bench, block(PALM + 0.16, 0.0, (0.04,) * 3, 'cup'))
    attached(bench)
    bench.describe(gripper_arm().replace('</robot>', '<!-- another one --></robot>'))
    bench.spin_until(lambda: 'description has changed' in bench.status['reason'], 'the new arm')
    bench.wait_for_statuses(3)
    assert bench.status['attached'] == 'cup/0'
    attached(bench, topic='detach')
