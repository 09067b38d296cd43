"""Targets in frames that the arm moves: where they were at their stamp, and said again."""

from collections import deque

import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed')
pytest.importorskip('pinocchio', reason='pinocchio is the judge')

from bench import (
    JOINTS,
    matrix_message,
    Puppet,
    shifted,
    six_axis_judge,
    stamp_seconds,
    START,
    values_at,
)
from geometry_msgs.msg import PoseStamped, TwistStamped
import numpy as np
from rclpy.time import Time
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger
from visualization_msgs.msg import Marker, MarkerArray

SPEED = 0.25
"""Of the tool [m/s]."""
AGO = 0.2
"""Age of what the camera saw [s]."""
STEP = 0.03
"""Of the tool, in its own frame [m]."""
CAMERA = 'tool0'


class StampedPuppet(Puppet):
    """Stamps its states, and remembers them."""

    def __init__(self, bench, values):
        self.said = deque(maxlen=1000)
        super().__init__(bench, values)

    def say(self):
        message = JointState(name=list(self.values), position=list(self.values.values()))
        message.header.stamp = self._bench.tester.get_clock().now().to_msg()
        self.said.append((message.header.stamp, tuple(message.position)))
        self._publisher.publish(message)

    def some_time_ago(self, age=AGO):
        """Stamp and joint values of the newest state that is so old."""
        now = stamp_seconds(self.said[-1][0])
        return next(said for said in reversed(self.said) if now - stamp_seconds(said[0]) >= age)


@pytest.fixture
def judge(six_axis):
    return six_axis_judge(six_axis)


@pytest.fixture
def arm(bench, six_axis):
    """Make a bench with an arm by hand that is ready for targets."""

    def ready(**parameters):
        bench.start_node(**parameters)
        bench.describe(six_axis)
        bench.puppet = StampedPuppet(bench, values_at(JOINTS, START))
        bench.wait_for_state('IDLE')
        return bench

    return ready


def in_camera(T_base_camera, T_base_target, stamp):
    message = matrix_message(np.linalg.inv(T_base_camera) @ T_base_target, CAMERA)
    message.header.stamp = stamp
    return message


def step_message(y=STEP):
    return matrix_message(shifted(np.eye(4), y=y), CAMERA)


def send_often(bench, message, count, stamped=False):
    """Send a target again and again, ten times a second."""
    publisher, sent = bench._targets_to(''), []

    def send():
        if len(sent) < count:
            sent.append(message)
            if stamped:
                message.header.stamp = bench.tester.get_clock().now().to_msg()
            publisher.publish(message)

    bench.spin_until(lambda: bench._is_heard(publisher), 'somebody listens to targets')
    timer = bench.tester.create_timer(0.1, send)
    bench.spin_until(lambda: len(sent) == count, 'all was sent')
    bench.tester.destroy_timer(timer)
    bench.wait_for_statuses(2)


def moved(judge, q):
    """How far the tool is from where it started [m]."""
    return np.linalg.norm(judge.pose(q)[:3, 3] - judge.pose(START)[:3, 3])


def what_it_saw_on_the_way(bench, judge):
    """Stamp and joint values a little ago, once the tool moves as fast as it may."""

    def is_fast():
        if len(bench.puppet.said) < 50:
            return False
        _, q = bench.puppet.some_time_ago()
        now = judge.pose(bench.puppet.said[-1][1])[:3, 3]
        return np.linalg.norm(now - judge.pose(q)[:3, 3]) > 0.95 * AGO * SPEED

    bench.send(shifted(judge.pose(START), y=0.4))
    bench.spin_until(is_fast, 'the tool is as fast as it may be')
    return bench.puppet.some_time_ago()


class TestStamps:
    def test_what_a_moving_camera_saw_is_where_it_saw_it(self, arm, judge):
        """The object is 50 mm away from there by now."""
        bench = arm(max_tip_speed=SPEED, mode='position')
        goal = shifted(judge.pose(START), y=0.1, z=0.1)
        stamp, q = what_it_saw_on_the_way(bench, judge)
        bench.send(in_camera(judge.pose(q), goal, stamp))
        bench.wait_for_state('REACHED')
        assert judge.errors(goal, bench.commands.q[-1])[0] < 1e-3

    def test_obstacle_that_a_moving_camera_saw_is_where_it_saw_it(self, arm, judge):
        pytest.importorskip('coal')
        bench = arm(max_tip_speed=SPEED, mode='position')
        stamp, q = what_it_saw_on_the_way(bench, judge)
        marker = Marker(ns='seen', type=Marker.SPHERE)
        marker.header.frame_id, marker.header.stamp = CAMERA, stamp
        marker.pose.position.z, marker.pose.orientation.w = -2.0, 1.0
        marker.scale.x = marker.scale.y = marker.scale.z = 0.1
        for _ in range(2):  # said again it is the same
            bench._publish('fabrik/obstacles', MarkerArray(markers=[marker]))
            bench.wait_for_count('obstacles', 1)
            bench.wait_for_state('REACHED')
            (obstacle,) = bench.node.node_state.arm.watch.snapshot()[0]
            expected = (judge.pose(q) @ [0.0, 0.0, -2.0, 1.0])[:3]
            assert obstacle.T_link_obstacle[:3, 3] == pytest.approx(expected, abs=1e-3)

    def test_obstacle_whose_place_is_unknown_is_refused(self, arm, judge):
        pytest.importorskip('coal')
        bench = arm()
        marker = Marker(ns='seen', type=Marker.SPHERE)
        marker.header.frame_id, marker.header.stamp.sec = CAMERA, 1
        marker.pose.orientation.w = 1.0
        marker.scale.x = marker.scale.y = marker.scale.z = 0.1
        bench._publish('fabrik/obstacles', MarkerArray(markers=[marker]))
        words = "obstacles refused: obstacle 'seen/0': its stamp is "
        bench.spin_until(lambda: bench.status['last_refusal'].startswith(words), words)
        assert 's before the first known value of joint' in bench.status['last_refusal']

    @pytest.mark.parametrize(
        ('age', 'text'),
        [
            (15.0, r'before the first known value of joint'),
            (-5.0, r's ahead of the clock here; set the clocks of both machines by NTP'),
            (-3e6, r's ahead of the clock here; set use_sim_time alike'),
        ],
    )
    def test_stamp_at_which_a_link_is_unknown_is_refused(self, arm, judge, age, text):
        bench = arm()
        now = stamp_seconds(bench.tester.get_clock().now().to_msg())
        stamp = Time(nanoseconds=round(1e9 * (now - age))).to_msg()
        T = judge.pose(START)
        refusal = bench.refusal(in_camera(T, shifted(T, y=0.1), stamp))
        assert text in refusal
        assert f"the pose of frame '{CAMERA}' cannot be told: its stamp is" in refusal
        assert len(bench.commands) == 0

    def test_stamp_after_the_newest_joint_state_is_refused_where_the_joints_move(self, arm, judge):
        bench = arm(state_timeout=5.0, resync_tolerance=10.0)
        bench.send(shifted(judge.pose(START), y=0.4))
        bench.wait_for_commands(30)
        bench.puppet.fall_silent()
        bench.wait_for_commands(30)
        T = judge.pose(bench.puppet.said[-1][1])
        stamp = bench.tester.get_clock().now().to_msg()
        assert 's after the newest joint state of' in bench.refusal(in_camera(T, T, stamp))

    def test_stamps_ahead_of_the_clock_are_refused_by_every_door(self, arm, judge):
        bench = arm(max_target_age=1.0)
        ahead = stamp_seconds(bench.tester.get_clock().now().to_msg()) + 60.0
        stamp = Time(nanoseconds=round(1e9 * ahead)).to_msg()
        words = 's ahead of the clock here; set the clocks of both machines by NTP (chrony)'
        target = matrix_message(shifted(judge.pose(START), y=0.1))
        target.header.stamp = stamp
        refusal = bench.refusal(target)
        assert refusal.startswith('the stamp of the target is')
        assert refusal.endswith(words)
        bench.send_joints(JOINTS, START, stamp=ahead)
        bench.wait_for_count('refused', 2)
        assert bench.status['last_refusal'].startswith('the stamp of the joint target is')
        jog = TwistStamped()
        jog.header.stamp, jog.twist.linear.y = stamp, 0.1
        bench._publish('fabrik/jog', jog)
        bench.spin_until(
            lambda: bench.status['last_refusal'].startswith('the stamp of the jog is'),
            'the refusal of the jog',
        )
        assert len(bench.commands) == 0

    def test_without_max_target_age_the_clock_of_a_sender_does_not_matter(self, arm, judge):
        bench = arm()
        target = matrix_message(shifted(judge.pose(START), y=0.05))
        target.header.stamp.sec = 2_000_000_000
        bench.send(target)
        bench.wait_for_state('REACHED')


class TestSteps:
    """A target relative to the tool that is said again."""

    @pytest.mark.parametrize('stamped', [False, True])
    def test_said_again_soon_it_is_the_same_step_and_later_a_new_one(self, arm, judge, stamped):
        bench = arm()
        message = step_message()
        send_often(bench, message, 30, stamped)
        bench.wait_for_state('REACHED')
        assert float(bench.status['target_stamp']) == pytest.approx(
            stamp_seconds(message.header.stamp), abs=1e-5
        )
        assert moved(judge, bench.commands.q[-1]) == pytest.approx(STEP, abs=1e-4)
        bench.wait_for_statuses(20)
        message.header.stamp = PoseStamped().header.stamp
        count = len(bench.commands)
        bench.send(message)
        bench.wait_for_commands(1)
        bench.wait_for_state('REACHED')
        assert len(bench.commands) > count
        assert moved(judge, bench.commands.q[-1]) == pytest.approx(2.0 * STEP, abs=1e-4)

    def test_it_counts_for_the_timeout_of_targets(self, arm, judge):
        bench = arm(target_timeout=0.5, max_tip_speed=0.03)
        send_often(bench, step_message(), 20)
        bench.wait_for_state('REACHED')
        assert moved(judge, bench.commands.q[-1]) == pytest.approx(STEP, abs=1e-4)

    def test_another_step_in_between_is_followed(self, arm, judge):
        bench = arm()
        bench.send(step_message())
        bench.wait_for_state('REACHED')
        bench.send(step_message(-STEP))
        bench.wait_for_commands(1)
        bench.wait_for_state('REACHED')
        assert moved(judge, bench.commands.q[-1]) < 1e-4

    def test_the_place_of_a_link_that_the_arm_does_not_move_is_the_same_target(self, arm, judge):
        bench = arm()
        goal = shifted(judge.pose(START), y=STEP)
        for _ in range(2):
            send_often(bench, matrix_message(goal, 'base_link'), 5)
        bench.wait_for_state('REACHED')
        assert moved(judge, bench.commands.q[-1]) == pytest.approx(STEP, abs=1e-4)

    def test_after_a_fault_nothing_that_is_said_again_sets_out(self, arm, judge):
        bench = arm(max_tip_speed=0.02, state_timeout=0.2)
        message = step_message()
        bench.send(message)
        bench.wait_for_commands(20)
        bench.puppet.fall_silent()
        bench.wait_for_state('HOLDING')
        bench.wait_until_silent()
        bench.puppet.speak_again()
        count = len(bench.commands)
        send_often(bench, message, 25)
        assert 'without any' in bench.status['last_refusal']
        bench.wait_until_it_may_set_out()
        bench.wait_for_statuses(15)
        assert 'was interrupted' in bench.refusal(message)
        assert len(bench.commands) == count
        assert bench.ask(Trigger, 'fabrik/resume', Trigger.Request()).success
        bench.wait_until_it_may_set_out()
        bench.send(message)
        bench.wait_for_state('REACHED')
