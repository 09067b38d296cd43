"""Devices beside the node: what the arm does while messages come as devices send them."""

import csv
from dataclasses import replace
import io
import math
import sys
import time
from types import SimpleNamespace

import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed')
pytest.importorskip('pinocchio', reason='pinocchio is the judge')

from bench import check_commands, JOINTS, matrix_message, shifted, six_axis_judge, START, values_at
from fabrik_ros.errors import ProfileError
from fabrik_ros.ros.beside import teleop
from fabrik_ros.ros.beside.teleop import Teleop
from fabrik_ros.teleop.profile import load_profile, profile_of
from geometry_msgs.msg import PoseStamped, Twist, TwistStamped
from gripper_arm import gripper_arm
from judging import pose_errors
import numpy as np
from sensor_msgs.msg import JointState, Joy
from std_msgs.msg import String
import two_arms

DEADMAN, STOP, RESUME, OPEN, CLOSE = 9, 1, 6, 3, 2
"""Buttons of the gamepad."""
BUTTONS = {'joy': 'joy', 'deadman': DEADMAN, 'stop': STOP}
HERE = 1e-3, 1e-2
"""How near a tool at rest is to where it was [m], [rad]."""
RECORDED = """
# time, axes LX LY RX RY LT RT, buttons that are pressed: of `game_controller_node` at 20 Hz and
# at every change. Deadman, the left stick up, the same with the right one up, let go of at once.
0.000,0,0,0,0,-0.0,-0.0,
0.050,0,0,0,0,-0.0,-0.0,
0.071,0,0,0,0,-0.0,-0.0,9
0.121,0,0,0,0,-0.0,-0.0,9
0.142,-0.0042,0.1379,0,0,-0.0,-0.0,9
0.150,-0.0042,0.4401,0,0,-0.0,-0.0,9
0.158,-0.0042,0.8120,0,0,-0.0,-0.0,9
0.166,-0.0042,1,0,0,-0.0,-0.0,9
0.216,-0.0042,1,0,0,-0.0,-0.0,9
0.266,-0.0042,1,0,0,-0.0,-0.0,9
0.316,-0.0042,1,0,0,-0.0,-0.0,9
0.366,-0.0042,1,0,0,-0.0,-0.0,9
0.374,-0.0042,1,0,0.5290,-0.0,-0.0,9
0.382,-0.0042,1,0,1,-0.0,-0.0,9
0.432,-0.0042,1,0,1,-0.0,-0.0,9
0.482,-0.0042,1,0,1,-0.0,-0.0,9
0.532,-0.0042,1,0,1,-0.0,-0.0,9
0.582,-0.0042,1,0,1,-0.0,-0.0,9
0.597,-0.0042,1,0,1,-0.0,-0.0,
0.612,0,0,0,0,-0.0,-0.0,
0.662,0,0,0,0,-0.0,-0.0,
0.712,0,0,0,0,-0.0,-0.0,
"""


TIMEOUT = 2.0
"""Silence of a device that counts as lost [s]: loaded machines stand still for tenths of it."""


FORWARD, FORWARD_AND_UP = 11, 17
"""Numbers of messages that are said again until the tool has moved; machines differ."""


def read(text):
    """Read recorded messages: how long each held, axes, pressed buttons."""
    rows = [row for row in csv.reader(io.StringIO(text.strip())) if not row[0].startswith('#')]
    times = [float(row[0]) for row in rows]
    holds = [*np.diff(times), 0.05]
    return [
        (hold, list(map(float, row[1:7])), [int(n) for n in row[7:] if n])
        for hold, row in zip(holds, rows, strict=True)
    ]


def pass_time(bench, seconds):
    due = time.monotonic() + seconds
    bench.spin_until(lambda: time.monotonic() >= due, 'time passes')


class Person:
    """Somebody with a device, who says what it says at a rate of its own, as drivers do."""

    def __init__(self, bench, profile, joy='joy', period=0.02, **tip):
        profile = replace(profile, timeout=TIMEOUT)
        self.bench, self.period = bench, period
        self.joy = bench.tester.create_publisher(Joy, joy, 10)
        self.heard = []
        topics = '/'.join(['fabrik', *tip.values()])
        bench._listen(TwistStamped, f'{topics}/jog', self.heard.append)
        bench._listen(PoseStamped, f'{topics}/target_pose', self.heard.append)
        bench._listen(JointState, 'fabrik/target_joints', self.heard.append)
        self.teleop = bench.add(lambda **options: Teleop(profile, **options), tip)
        self.says = []
        """What is published with each message of the buttons."""
        bench.spin_until(self.is_heard, 'somebody listens')
        bench.spin_until(lambda: self.pilot._view.why_not == '', 'the node takes targets')
        bench.spin_until(lambda: not self.teleop._watched.missing, 'it is known where the tool is')

    @property
    def pilot(self):
        return self.teleop._pilot

    def is_heard(self):
        return self.joy.get_subscription_count() > 0 and all(
            publisher.get_subscription_count() > 1 for publisher in self.publishers
        )

    @property
    def publishers(self):
        names = ('_jogs', '_targets', '_joints')
        return [getattr(self.teleop, name) for name in names if hasattr(self.teleop, name)]

    def say(self, *buttons, axes=None):
        pressed = [int(number in buttons) for number in range(21)]
        self.joy.publish(Joy(axes=[0.0] * 6 if axes is None else axes, buttons=pressed))

    def hold(self, seconds, *buttons, axes=None):
        """Hold buttons and sticks for a time."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            for say in self.says:
                say()
            self.say(*buttons, axes=axes)
            pass_time(self.bench, self.period)

    def hold_until(self, condition, what, *buttons, axes=None):
        deadline = time.monotonic() + 60.0
        while not condition():
            assert time.monotonic() < deadline, f'waited in vain: {what}'
            self.hold(self.period, *buttons, axes=axes)

    def let_go(self):
        """Let go of everything, and wait until the arm is let go, too."""
        self.hold(0.05)
        self.hold_until(lambda: not self.pilot.is_engaged, 'the arm is let go')

    def engage(self, *buttons):
        """Press buttons until the device has the arm."""
        self.let_go()
        self.hold_until(lambda: self.pilot.is_engaged, 'the arm is taken', *buttons)


def stick(**values):
    """Axes of a gamepad: lx, ly, rx, ry."""
    return [*(float(values.get(name, 0.0)) for name in ('lx', 'ly', 'rx', 'ry')), 0.0, 0.0]


UP = stick(ry=1.0)


@pytest.fixture(scope='module')
def judge(six_axis):
    return six_axis_judge(six_axis)


@pytest.fixture
def person(bench, six_axis):
    """Somebody with a gamepad, at a six-axis arm that rests."""
    bench.start_all(six_axis, values_at(JOINTS, START), tip_link='tool0')
    return Person(bench, load_profile('gamepad'))


def tools(bench, judge):
    """Where the tool was commanded to be, from the first command on."""
    return [judge.pose(np.array(message.position)) for message in bench.commands.messages]


def tool(bench, judge):
    return judge.pose(bench.commands.q[-1])


def hold_until_at(person, T, judge):
    """Keep the clutch closed until the tool is at a pose."""
    bench = person.bench

    def is_there():
        return len(bench.commands) > 0 and pose_errors(T, tool(bench, judge)) < HERE

    person.hold_until(is_there, 'it is there', 0)


def rest(bench, judge):
    """Wait until the arm rests; return where the tool is."""
    bench.wait_until_silent(4)
    check_commands(bench, judge)
    return tool(bench, judge)


# -- gamepads


def test_recorded_messages_of_a_gamepad_move_the_tool_and_end_with_the_deadman(
    bench, person, judge
):
    begin = judge.pose(START)

    def has_moved(direction, way):
        return len(bench.commands) > 0 and (tool(bench, judge) - begin)[direction, 3] > way

    recorded = read(RECORDED)
    assert len(recorded) == 22
    for number, (passed, axes, buttons) in enumerate(recorded):
        person.hold(passed, *buttons, axes=axes)
        if number == FORWARD:
            person.hold_until(lambda: has_moved(0, 0.03), 'forward', *buttons, axes=axes)
        elif number == FORWARD_AND_UP:
            person.hold_until(lambda: has_moved(2, 0.01), 'up', *buttons, axes=axes)
    moved = rest(bench, judge)[:3, 3] - begin[:3, 3]
    assert abs(moved[1]) < 1e-3, 'a stick that does not return quite to the middle is at rest'
    times = bench.commands.times
    ways = np.diff([T[:3, 3] for T in tools(bench, judge)], axis=0)
    speeds = np.linalg.norm(ways, axis=1) / np.diff(times)
    assert np.max(speeds) < 1.02 * math.hypot(0.15, 0.15)


def test_link_that_is_lost_and_its_return_with_the_deadman_pressed_move_nothing(
    bench, person, judge
):
    person.let_go()
    person.hold_until(lambda: len(bench.commands) > 20, 'it moves', DEADMAN, axes=UP)
    bench.spin_until(lambda: not person.pilot.is_engaged, 'the link is lost')
    there = rest(bench, judge)
    count = len(bench.commands)
    person.hold(0.5, DEADMAN, axes=UP)
    assert len(bench.commands) == count
    person.let_go()
    person.hold_until(lambda: len(bench.commands) > count + 10, 'it moves', DEADMAN, axes=UP)
    assert tool(bench, judge)[2, 3] > there[2, 3]


def test_burst_of_a_thousand_messages_moves_the_tool_as_one_does(bench, person, judge):
    person.let_go()
    for _ in range(1000):
        person.say(DEADMAN, axes=UP)
    bench.spin_until(lambda: len(bench.commands) > 20, 'it moves')
    heard = len(person.heard)
    person.let_go()
    moved = rest(bench, judge)[:3, 3] - judge.pose(START)[:3, 3]
    assert 0.0 < moved[2] < 0.15 * 3.0
    assert heard < 60, 'no more than the node can use'


def test_stop_button_holds_the_node_until_it_is_resumed(bench, person, judge):
    person.let_go()
    person.hold_until(lambda: len(bench.commands) > 20, 'it moves', DEADMAN, axes=UP)
    person.hold(0.1, DEADMAN, STOP, axes=UP)
    person.hold_until(lambda: bench.status['held'] == 'True', 'a hold', DEADMAN, axes=UP)
    rest(bench, judge)
    count = len(bench.commands)
    person.let_go()
    person.hold(0.5, DEADMAN, axes=UP)
    person.let_go()
    person.hold(0.1, RESUME)
    person.hold_until(lambda: person.pilot._view.why_not == '', 'the end of the hold')
    assert len(bench.commands) == count
    person.hold_until(lambda: len(bench.commands) > count, 'it moves', DEADMAN, axes=UP)


def is_rest_in(jogs):
    return any(jog.twist == TwistStamped().twist for jog in jogs)


def burst(person, *inside, length=60):
    """Hold the deadman; other buttons are pressed once within many messages that come at once."""
    begin = length // 4
    for number in range(length):
        person.say(*(inside if number == begin else (DEADMAN,)), axes=UP)


@pytest.mark.parametrize('length', [12, 60, 1000])
def test_stop_that_is_pressed_and_let_go_within_a_burst_counts(person, length):
    person.engage(DEADMAN)
    burst(person, DEADMAN, STOP, length=length)
    person.hold_until(lambda: person.pilot.is_stopped, 'the stop', DEADMAN, axes=UP)


def test_deadman_that_is_let_go_within_a_burst_counts(bench, person):
    person.engage(DEADMAN)
    person.hold(0.1, DEADMAN, axes=UP)
    heard = len(person.heard)
    burst(person)
    person.hold_until(lambda: is_rest_in(person.heard[heard:]), 'the rest', DEADMAN, axes=UP)


@pytest.mark.long
def test_buttons_open_and_close_the_gripper(bench):
    bench.gripper_joint = 'left_finger_joint'
    values = {'shoulder': 0.4, 'elbow': -0.8, 'wrist': 0.4, bench.gripper_joint: 0.02}
    bench.start_all(gripper_arm(), values, mode='position')
    person = Person(bench, load_profile('gamepad'))
    widest = bench.status['gripper_widest']
    person.hold(0.1, CLOSE)
    person.let_go()
    assert bench.status['gripper_requests'] == '0', 'the deadman is not pressed'
    for button, width in ((OPEN, widest), (CLOSE, bench.status['gripper_narrowest'])):
        person.let_go()
        person.hold(0.1, DEADMAN)
        person.hold_until(
            lambda width=width: bench.status.get('gripper_target') == width,
            'the width',
            DEADMAN,
            button,
        )


# -- other devices


def test_key_that_is_held_moves_the_tool_and_one_that_is_not_does_not(
    bench, six_axis, judge, monkeypatch
):
    """Of a terminal that somebody else reads."""
    held = []
    stand_in = SimpleNamespace(typed=lambda: ''.join(held), close=held.clear)
    monkeypatch.setattr(teleop, '_terminal', lambda: stand_in)
    bench.start_all(six_axis, values_at(JOINTS, START), tip_link='tool0')
    profile = replace(load_profile('keyboard'), timeout=TIMEOUT)
    pilot = bench.add(lambda **options: Teleop(profile, **options), {})._pilot
    bench.spin_until(lambda: pilot._view.why_not == '', 'the node takes targets')
    begin = judge.pose(START)[:3, 3]
    while not pilot.is_engaged:  # a key that was held before the node was ready does not count
        held.clear()
        pass_time(bench, TIMEOUT + 0.1)
        held.append('q')
        pass_time(bench, 0.2)
    bench.spin_until(
        lambda: len(bench.commands) and tool(bench, judge)[2, 3] > begin[2] + 0.005,
        'it moves up',
    )
    held.clear()
    bench.spin_until(lambda: not pilot.is_engaged, 'the arm is let go')
    moved = rest(bench, judge)[:3, 3] - begin
    assert np.max(np.abs(moved[:2])) < 1e-3


def test_tip_of_a_node_that_moves_one_is_said_to_be_left_out(bench, six_axis):
    """It has no topics for each tip: what is sent there would move nothing."""
    bench.start_all(six_axis, values_at(JOINTS, START), tip_link='tool0')
    profile = load_profile('gamepad')
    pilot = bench.add(lambda **options: Teleop(profile, **options), {'tip': 'left_tool'})._pilot
    expected = "the node moves one tip, tool0: leave out `tip` ('left_tool')"
    bench.spin_until(lambda: pilot._view.why_not == expected, 'it is said')


def test_twists_of_a_space_mouse_move_the_tool_in_its_own_axes(bench, six_axis, judge):
    bench.start_all(six_axis, values_at(JOINTS, START), tip_link='tool0')
    profile = profile_of(
        {
            'joy': 'spacenav/joy',
            'deadman': 0,
            'stop': 1,
            'sticks': {
                'twist': 'spacenav/twist',
                'frame': 'tool',
                'z': {'axis': 2, 'speed': -0.1},
            },
        }
    )
    person = Person(bench, profile, 'spacenav/joy')
    publisher = bench.tester.create_publisher(Twist, 'spacenav/twist', 10)
    twist = Twist()
    twist.linear.z = 0.9
    person.says.append(lambda: publisher.publish(twist))
    bench.spin_until(lambda: publisher.get_subscription_count() > 0, 'somebody listens')
    person.let_go()
    person.hold_until(lambda: len(bench.commands) > 30, 'it moves', 0)
    person.let_go()
    begin = judge.pose(START)
    moved = rest(bench, judge)[:3, 3] - begin[:3, 3]
    assert moved @ begin[:3, 2] == pytest.approx(-np.linalg.norm(moved), rel=1e-3)


class Tracked:
    """A hand whose tracker says where it is with each message of the buttons."""

    def __init__(self, bench, person):
        self.T = np.eye(4)
        self.T[:3, 3] = 3.0, -2.0, 1.0
        self._publisher = bench.tester.create_publisher(PoseStamped, 'hand/pose', 10)
        bench.spin_until(lambda: self._publisher.get_subscription_count() > 0, 'somebody listens')
        person.says.append(self.say)

    def say(self):
        self._publisher.publish(matrix_message(self.T, 'room'))


@pytest.fixture
def tracked(bench, six_axis):
    """Somebody whose hand is tracked, and the hand."""
    bench.start_all(six_axis, values_at(JOINTS, START), tip_link='tool0', path='line')
    person = Person(bench, load_profile('hand'), 'hand/joy')
    return person, Tracked(bench, person)


def move(person, hand, steps, x=0.0, z=0.0):
    """Move the hand in steps with the clutch closed."""
    for _ in range(steps):
        hand.T = shifted(hand.T, x=x / steps, z=z / steps)
        person.hold(person.period, 0)


def test_tool_goes_with_the_hand_while_the_clutch_is_closed_and_does_not_jump(
    bench, tracked, judge
):
    person, hand = tracked
    begin = judge.pose(START)
    person.engage(0)
    person.hold(0.3, 0)
    assert all(pose_errors(begin, T) < HERE for T in tools(bench, judge))
    move(person, hand, 15, x=-0.03, z=0.06)
    first = shifted(begin, x=-0.03, z=0.06)
    hold_until_at(person, first, judge)
    person.let_go()
    rest(bench, judge)
    count = len(bench.commands)
    hand.T = shifted(hand.T, x=1.5, z=-0.7)
    person.hold(0.3)
    person.engage(0)
    person.hold(0.3, 0)
    later = tools(bench, judge)[count:]
    assert all(pose_errors(first, T) < HERE for T in later), 'the hand moved while it was open'
    move(person, hand, 10, z=-0.05)
    hold_until_at(person, shifted(first, z=-0.05), judge)
    check_commands(bench, judge)


def test_stop_within_a_burst_counts_beside_the_poses_of_a_hand(tracked):
    person, hand = tracked
    person.engage(0)
    for number in range(60):
        hand.say()
        person.say(*((0, 1) if number == 20 else (0,)))
    person.hold_until(lambda: person.pilot.is_stopped, 'the stop', 0)


def test_arm_far_behind_its_hand_rests_where_the_clutch_opens(bench, tracked, judge):
    person, hand = tracked
    person.engage(0)
    move(person, hand, 8, z=0.25)
    person.hold_until(lambda: len(bench.commands) > 0, 'it moves', 0)
    there = tool(bench, judge)
    person.let_go()
    after = rest(bench, judge)
    assert after[2, 3] < judge.pose(START)[2, 3] + 0.2, 'it does not go on to where the hand was'
    assert after[2, 3] - there[2, 3] < 0.1


def test_hand_that_lets_go_leaves_the_other_arm_on_its_way(bench, six_axis):
    names, judges = two_arms.two_arms().joint_names, two_arms.judges()
    left, right = two_arms.TIPS
    bench.start_all(
        two_arms.two_arms_xml(), values_at(names, two_arms.START), tip_links=[left, right]
    )
    person = Person(bench, load_profile('hand'), 'hand/joy', tip=left)
    hand, begin = Tracked(bench, person), judges.poses(two_arms.START)
    publisher = bench.tester.create_publisher(PoseStamped, f'fabrik/{right}/target_pose', 1)
    started, sent = time.time(), []

    def lead_on():
        sent.append(time.time())
        led = shifted(begin[1], y=0.05 * (sent[-1] - started))
        publisher.publish(matrix_message(led, 'base'))

    other = bench.tester.create_timer(0.02, lead_on)
    person.engage(0)
    move(person, hand, 8, z=0.25)
    person.hold_until(lambda: len(bench.commands) > 20, 'it moves', 0)
    let_go_at, let_go = len(bench.commands), len(sent)
    person.let_go()
    person.hold(2.0)
    q, times = bench.commands.q[let_go_at:], bench.commands.times[let_go_at:]
    tips = np.array([judges.poses(row) for row in q])[:, :, :3, 3]
    moved = np.linalg.norm(tips[:, 0] - tips[0, 0], axis=1)
    pauses = np.maximum(np.diff(sent) - 0.02, 0.0)
    held_up = pauses[let_go - 1 : let_go + 24].sum()
    assert moved.max() < 0.06 + 0.25 * held_up, 'it rests where it was let go'
    assert np.abs(np.diff(tips[-20:, 0], axis=0)).max() < 1e-5
    speed = np.linalg.norm(np.diff(tips[:, 1], axis=0), axis=1) / np.diff(times)
    stamp = bench.commands.messages[let_go_at].header.stamp
    now = stamp.sec + 1e-9 * stamp.nanosec + times[1:] - times[0]
    late = np.array(sent[1:])[pauses > 0.005]
    in_time = [not np.any((late > t - 0.5) & (late < t + 0.1)) for t in now]
    assert np.all(speed[in_time] > 0.025), 'half of what the other one is led on with'
    before = np.interp(times - 0.25, times, tips[:, 1, 1])
    way = (tips[:, 1, 1] - before)[times > times[0] + 0.25]
    assert way.min() > 0.5 * 0.25 * 0.05, 'also where its messages were held up'
    other.cancel()


def test_hand_that_leaps_moves_nothing_and_opens_the_clutch(bench, tracked, judge):
    person, hand = tracked
    person.engage(0)
    hand.T = shifted(hand.T, z=8.0)
    person.hold_until(lambda: not person.pilot.is_engaged, 'the clutch opens', 0)
    person.hold(0.3, 0)
    assert all(pose_errors(judge.pose(START), T) < HERE for T in tools(bench, judge))
    person.engage(0)


def test_leader_takes_the_arm_to_it_slowly_and_leads_it_then(bench, six_axis, judge):
    bench.start_all(six_axis, values_at(JOINTS, START), tip_link='tool0')
    profile = profile_of(
        {
            'joy': 'joy',
            'deadman': DEADMAN,
            'stop': STOP,
            'leader': {
                'topic': 'leader/joint_states',
                'approach': 0.3,
                'joints': {f'leader_{name}': name for name in JOINTS},
            },
        }
    )
    person = Person(bench, profile)
    publisher = bench.tester.create_publisher(JointState, 'leader/joint_states', 10)
    values = np.array(START)
    values[0] += 0.5
    programs = []
    bench._listen(String, 'fabrik/program', programs.append)

    def lead():
        names = [f'leader_{name}' for name in JOINTS]
        publisher.publish(JointState(name=names, position=values.tolist()))

    person.says.append(lead)
    bench.spin_until(lambda: publisher.get_subscription_count() > 0, 'somebody listens')
    person.let_go()

    def is_there():
        return len(bench.commands) > 0 and np.max(np.abs(bench.commands.q[-1] - values)) < 1e-3

    person.hold_until(is_there, 'it is at the leader', DEADMAN)
    assert len(programs) == 1
    for _ in range(20):
        values[1] += 0.01
        person.hold(person.period, DEADMAN)
    person.hold_until(is_there, 'it goes with the leader', DEADMAN)
    person.let_go()
    values[1] -= 0.5
    person.hold(0.3)
    check_commands(bench, judge)
    assert bench.commands.q[-1][1] == pytest.approx(values[1] + 0.5, abs=0.02)


class Leading:
    """A leader arm that says where its joints are with each message of the buttons."""

    def __init__(self, bench, person, values):
        self.values = np.array(values)
        self._publisher = bench.tester.create_publisher(JointState, 'leader/joint_states', 10)
        bench.spin_until(lambda: self._publisher.get_subscription_count() > 0, 'a listener')
        person.says.append(self.say)

    def say(self):
        names = [f'leader_{name}' for name in JOINTS]
        self._publisher.publish(JointState(name=names, position=self.values.tolist()))


@pytest.fixture
def leading(bench, six_axis):
    """Somebody with a leader arm, and that; the last joint of the follower is near its limit."""
    begin = [*START[:-1], 2.0 * math.pi - 0.05]
    bench.start_all(six_axis, values_at(JOINTS, begin), tip_link='tool0')
    joints = {f'leader_{name}': name for name in JOINTS}
    leader = {'topic': 'leader/joint_states', 'joints': joints}
    person = Person(bench, profile_of({**BUTTONS, 'leader': leader}))
    return person, Leading(bench, person, begin)


def test_joint_of_the_leader_beyond_a_limit_of_the_arm_leaves_the_others_their_way(
    bench, leading, judge
):
    person, leader = leading
    person.engage(DEADMAN)
    for _ in range(20):
        leader.values += [0.01, 0.0, 0.0, 0.0, 0.0, 0.02]
        person.hold(person.period, DEADMAN)
    expected = [*leader.values[:-1], 2.0 * math.pi]

    def is_there():
        return len(bench.commands) > 0 and np.abs(bench.commands.q[-1] - expected).max() < 1e-3

    person.hold_until(is_there, 'the others follow', DEADMAN)
    assert person.pilot.is_engaged
    assert bench.status['refused'] == '0'
    person.let_go()
    rest(bench, judge)


def test_leader_whose_targets_are_refused_lets_the_arm_go(bench, leading):
    person, leader = leading
    person.teleop._watched.limits = dict
    person.engage(DEADMAN)
    leader.values[-1] += 0.08
    person.hold_until(lambda: not person.pilot.is_engaged, 'it is let go', DEADMAN)
    assert int(bench.status['refused']) > 3


@pytest.mark.filterwarnings('ignore:failed to send response')  # nobody waits for it
def test_arm_that_is_taken_to_the_leader_rests_when_the_program_ends(bench, six_axis, judge):
    bench.start_all(six_axis, values_at(JOINTS, START), tip_link='tool0')
    joints = {f'leader_{name}': name for name in JOINTS}
    leader = {'topic': 'leader/joint_states', 'approach': 0.1, 'joints': joints}
    person = Person(bench, profile_of({**BUTTONS, 'leader': leader}))
    publisher = bench.tester.create_publisher(JointState, 'leader/joint_states', 10)
    values = np.array(START)
    values[0] += 1.0
    person.says.append(
        lambda: publisher.publish(JointState(name=list(joints), position=values.tolist()))
    )
    bench.spin_until(lambda: publisher.get_subscription_count() > 0, 'somebody listens')
    person.let_go()
    person.hold_until(lambda: len(bench.commands) > 10, 'the arm moves', DEADMAN)
    bench.executor.remove_node(person.teleop)
    bench.nodes.remove(person.teleop)
    person.teleop.destroy_node()
    bench.wait_until_silent(10)
    check_commands(bench, judge)
    assert bench.commands.q[-1][0] < START[0] + 0.9


# -- what is missing


def test_jogs_of_joints_say_that_they_need_control_msgs(bench, monkeypatch):
    monkeypatch.setitem(sys.modules, 'control_msgs.msg', None)
    profile = profile_of({'joy': 'joy', 'deadman': 0, 'stop': 1, 'joint_jog': 'jog'})
    with pytest.raises(ProfileError, match='joint_jog needs control_msgs'):
        Teleop(profile, context=bench.context)


def test_jogs_of_joints_of_old_and_new_releases_move_the_arm(bench, six_axis, monkeypatch, judge):
    """control_msgs is no wheel, so its messages are handed over as they would come."""
    stand_in = SimpleNamespace(JointJog=String)
    monkeypatch.setitem(sys.modules, 'control_msgs', SimpleNamespace(msg=stand_in))
    monkeypatch.setitem(sys.modules, 'control_msgs.msg', stand_in)
    bench.start_all(six_axis, values_at(JOINTS, START), tip_link='tool0')
    profile = profile_of({'joy': 'joy', 'deadman': 0, 'stop': 1, 'joint_jog': 'jog'})
    person = Person(bench, profile)
    old = SimpleNamespace(joint_names=['elbow'], velocities=[-0.3], displacements=[])
    new = SimpleNamespace(joint_names=['wrist_1'], deltas=[0.05])

    def is_at(joint, value):
        return len(bench.commands) > 0 and abs(bench.commands.q[-1][joint] - value) < 1e-3

    person.engage(0)
    person.teleop._on_joint_jog(new)
    person.hold_until(lambda: is_at(3, START[3] + 0.05), 'it was displaced', 0)
    person.says.append(lambda: person.teleop._on_joint_jog(old))
    person.hold_until(lambda: bench.commands.q[-1][2] < START[2] - 0.1, 'it moves', 0)
    person.let_go()
    rest(bench, judge)
    assert is_at(3, START[3] + 0.05)
    assert is_at(1, START[1])
