"""Jogging over the wire, as a joystick does it; judged by pinocchio and differences."""

from itertools import pairwise
import math

import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed')
pytest.importorskip('pinocchio', reason='pinocchio is the judge')

from bench import check_commands, JOINTS, shifted, six_axis_judge, START, values_at
from command_judge import velocities
from geometry_msgs.msg import TwistStamped
from judging import distances_from_line, pose_errors
import numpy as np
from rclpy.qos import QoSProfile, ReliabilityPolicy
from two_arms import two_arms_xml

PERIOD = 0.01
SIDE, BACK, DOWN = (0.0, 0.1, 0.0), (-0.1, 0.0, 0.0), (0.0, 0.0, -0.1)


def twist(linear=(0.0, 0.0, 0.0), angular=(0.0, 0.0, 0.0), frame_id='base_link'):
    message = TwistStamped()
    message.header.frame_id = frame_id
    v, w = message.twist.linear, message.twist.angular
    v.x, v.y, v.z = linear
    w.x, w.y, w.z = angular
    return message


class Joystick:
    """Repeats what it is told 50 times a second, best effort."""

    def __init__(self, bench, topic='fabrik/jog'):
        self._bench = bench
        qos = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
        self._publisher = bench.tester.create_publisher(TwistStamped, topic, qos)
        self._message = None
        bench.tester.create_timer(0.02, self._repeat)
        bench.spin_until(self._publisher.get_subscription_count, 'somebody listens to jogs')

    def _repeat(self):
        if self._message is not None:
            self._publisher.publish(self._message)

    def push(self, message, commands):
        """Keep it there for so many commands."""
        self._message = message
        self._bench.wait_for_commands(commands)

    def let_go(self):
        self._message = None

    def refusal(self, message):
        """Push once and again where that is refused; the reason, as in the status."""
        self._message = message
        self._bench.spin_until(lambda: self._bench.status.get('last_refusal'), 'the refusal')
        self.let_go()
        return self._bench.status['last_refusal']


@pytest.fixture
def judge(six_axis):
    return six_axis_judge(six_axis)


@pytest.fixture
def ready(bench, six_axis):
    bench.start_all(six_axis, values_at(JOINTS, START))
    return bench


@pytest.fixture
def stick(ready):
    return Joystick(ready)


def tips(bench, judge):
    return np.array([judge.pose(q)[:3, 3] for q in bench.commands.q])


def test_tool_moves_at_that_velocity_while_it_comes_and_then_holds(ready, stick, judge):
    stick.push(twist(SIDE, frame_id=''), 120)
    assert ready.wait_for_state('JOGGING')
    stick.let_go()
    let_go_at = ready.commands.times[-1]
    assert ready.wait_for_state('HOLDING')['reason'] == 'jogging has ended'
    ready.wait_until_silent(4)
    points, times = tips(ready, judge), ready.commands.times
    speed = np.linalg.norm(velocities(times, points), axis=1)
    under_way = (times[1:] > 0.3) & (times[1:] < let_go_at)
    assert speed[under_way] == pytest.approx(0.1, rel=1e-3)
    still = times[1:][speed < 1e-9]
    assert still[0] - let_go_at < 0.25 + 0.1 + 0.2, 'the dead man has been noticed'
    assert distances_from_line(points, points[0], points[-1]).max() < 1e-5
    assert points[-1][1] > points[0][1] + 0.1
    check_commands(ready, judge)


def test_tool_frame_is_named_by_the_tip_link(ready, stick, judge):
    start = judge.pose(START)
    stick.push(twist((0.0, 0.0, -0.1), frame_id='tool0'), 100)
    stick.let_go()
    ready.wait_for_state('HOLDING')
    way = tips(ready, judge)[-1] - start[:3, 3]
    along = -start[:3, :3] @ (0.0, 0.0, 1.0)
    assert way @ along / np.linalg.norm(way) == pytest.approx(1.0, abs=1e-6)
    check_commands(ready, judge)


@pytest.mark.long
def test_turning_keeps_the_tool_in_its_place(ready, stick, judge):
    stick.push(twist(angular=(0.0, 0.0, 9.0)), 100)
    stick.let_go()
    ready.wait_for_state('HOLDING')
    points = tips(ready, judge)
    assert np.abs(points - points[0]).max() < 1e-5
    poses = [judge.pose(q) for q in ready.commands.q]
    turns = [pose_errors(*pair)[1] for pair in pairwise(poses)]
    fastest = (np.array(turns) / np.diff(ready.commands.times)).max()
    assert fastest == pytest.approx(1.0, rel=1e-3), 'clipped to max_tip_rotation'
    check_commands(ready, judge)


def test_jog_ends_a_target_and_a_target_ends_a_jog(ready, stick, judge):
    start = judge.pose(START)
    target = shifted(start, y=0.3)
    ready.send(target)
    ready.spin_until(lambda: len(ready.commands) > 45, 'the arm is on its way')
    stick.push(twist(DOWN), 60)
    stick.let_go()
    # Topics keep no order among each other: a jog on its way would end the target.
    ready.wait_for_commands(10)
    ready.send(target)
    ready.wait_for_state('REACHED')
    assert judge.errors(target, ready.commands.q[-1]) < (1e-5, 1e-4)
    lowest = tips(ready, judge)[:, 2].min()
    assert lowest < start[2, 3] - 0.02
    assert len(ready.commands.runs()) == 1
    check_commands(ready, judge)


@pytest.mark.long
def test_stick_at_rest_that_goes_on_sending_disturbs_no_target(ready, stick, judge):
    target = shifted(judge.pose(START), y=0.2)
    ready.send(target)
    stick.push(twist(), 60)
    ready.wait_for_state('REACHED')
    ready.wait_until_silent()
    assert judge.errors(target, ready.commands.q[-1]) < (1e-5, 1e-4)
    check_commands(ready, judge)


@pytest.mark.long
def test_stick_that_is_let_go_and_sends_zeros_leaves_the_arm_silent_at_rest(ready, stick, judge):
    stick.push(twist(SIDE), 60)
    stick.push(twist(), 20)
    assert ready.wait_for_state('HOLDING')['reason'] == 'jogging has ended'
    ready.wait_until_silent()
    check_commands(ready, judge)


@pytest.mark.long
def test_reversing_speeding_and_scaling_on_the_way_are_smooth(ready, stick, judge):
    for i, way in enumerate([SIDE, (0.0, -1e9, 0.0), BACK, DOWN]):
        assert ready.set(speed_scaling=1.0 - 0.2 * i) == []
        stick.push(twist(way), 50)
    stick.let_go()
    ready.wait_for_state('HOLDING')
    speed = np.linalg.norm(velocities(ready.commands.times, tips(ready, judge)), axis=1)
    assert speed.max() <= 0.25 * (1.0 + 1e-3)
    check_commands(ready, judge)


@pytest.mark.long
def test_end_of_reach_is_held_with_the_reason_and_left_again(ready, stick, judge):
    stick.push(twist((0.25, 0.0, 0.0)), 100)
    ready.spin_until(lambda: ready.status['state'] == 'HOLDING', 'the end of reach')
    assert ready.status['reason'].startswith('jogged as far as it goes: ')
    ready.wait_for_commands(50)
    end = tips(ready, judge)[-1]
    stick.push(twist((-0.25, 0.0, 0.0)), 60)
    assert ready.wait_for_state('JOGGING')
    stick.let_go()
    ready.wait_for_state('HOLDING')
    assert tips(ready, judge)[-1][0] < end[0] - 0.05
    check_commands(ready, judge)


def test_frames_of_others_are_refused_with_those_to_use(ready, stick):
    for frame in ('world', 'shoulder'):
        reason = stick.refusal(twist(SIDE, frame_id=frame))
        assert f"a jog in frame '{frame}': expected 'base_link'" in reason
        assert "'tool0' for the tool" in reason
        ready.wait_for_statuses(2)  # with the jogs that were on their way
        ready.node.node_state.tally.last_refusal = ''
        ready.wait_for_statuses(2)
    assert len(ready.commands) == 0


@pytest.mark.parametrize('wrong', [math.nan, pytest.param(math.inf, marks=pytest.mark.long)])
def test_what_is_not_finite_is_refused_and_does_not_keep_the_arm_going(ready, stick, judge, wrong):
    stick.push(twist(SIDE), 60)
    reason = stick.refusal(twist((0.0, wrong, 0.0)))
    assert 'six finite numbers' in reason
    ready.wait_for_state('HOLDING')
    check_commands(ready, judge)


def test_jog_is_refused_while_the_node_is_not_active(bench, six_axis):
    bench.start_node(autostart=False, robot_description=six_axis)
    assert 'the node is not active' in Joystick(bench).refusal(twist(SIDE))


def test_each_of_several_tips_has_a_topic(bench):
    bench.start_node(
        tip_links=['left_tool', 'right_tool'],
        wait_for_state=False,
        robot_description=two_arms_xml(),
    )
    bench.wait_for_state('IDLE')
    stick = Joystick(bench, 'fabrik/right_tool/jog')
    stick.push(twist((0.0, 0.0, -0.1), frame_id='base'), 60)
    assert bench.status['state'] == 'JOGGING'
    assert 'right_tool' in stick.refusal(twist(SIDE, frame_id='left_tool'))
    q = bench.commands.q
    assert np.abs(q[-1][6:] - q[0][6:]).max() > 0.01
    assert np.abs(q[-1][:6] - q[0][:6]).max() < 1e-5, 'the other arm keeps its pose'
