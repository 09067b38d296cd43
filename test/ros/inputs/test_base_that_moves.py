"""
Targets that stay in the world while the base of the arm moves, on the wire.

The test knows where the base is at any time and publishes that as odometry, or lets tf tell it.

"""

import math
import sys
import time
from types import ModuleType, SimpleNamespace

import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed')
pytest.importorskip('nav_msgs', reason='nav_msgs is not installed')
pytest.importorskip('pinocchio', reason='pinocchio is the judge')

from bench import matrix_message, stamp_seconds, values_at
from command_judge import accelerations, velocities
from fabrik_ros import load_urdf
from fabrik_ros.ros.inputs.base_pose import BasePoseError, OdometryBase, TfBase, Track
from geometry_msgs.msg import Quaternion, TransformStamped
from helpers import assert_close, joint_xml, robot_xml
from hypothesis import given, strategies as st
from judging import pose_errors
from nav_msgs.msg import Odometry
import numpy as np
import pinocchio
from rclpy.time import Time
from talos import talos, talos_judges, TALOS_START, TALOS_TIPS
from two_arms import FASTEST, HARDEST, judges, START, TIPS, two_arms, two_arms_xml

NAMES = two_arms().joint_names
DRIVE = 3.0
"""Duration of the drive [s]."""


class Drive:
    """A base that stands, drives a bend on a floor from rest to rest, and stands."""

    def __init__(self, x=0.25, y=0.1, heading=0.4):
        self.way = np.array([x, y, heading])
        self.begin = math.inf

    def start(self):
        self.begin = time.time() + 0.2

    @property
    def is_over(self):
        return time.time() > self.begin + DRIVE

    def share(self, now):
        share = min(max((now - self.begin) / DRIVE, 0.0), 1.0)
        return share - math.sin(2.0 * math.pi * share) / (2.0 * math.pi)

    def pose(self, now):
        """T_world_base."""
        x, y, heading = self.way * self.share(now)
        return pinocchio.SE3(pinocchio.rpy.rpyToMatrix(0.0, 0.0, heading), np.array([x, y, 0.0]))

    def twist(self, now):
        """Velocity in the frame of the base, by differences."""
        step = self.pose(now - 1e-4).inverse() * self.pose(now + 1e-4)
        return pinocchio.log6(step).vector / 2e-4


class Odometer:
    """Publishes where the base is, 50 times a second."""

    def __init__(self, bench, drive, child='base'):
        self.drive, self.child = drive, child
        self.spoil = lambda message: message
        self._publisher = bench.tester.create_publisher(Odometry, 'odom', 10)
        self.timer = bench.tester.create_timer(0.02, self.say)

    def say(self):
        now = time.time()
        message = Odometry(child_frame_id=self.child)
        message.header.frame_id = 'odom'
        message.header.stamp = Time(nanoseconds=int(1e9 * now)).to_msg()
        message.pose.pose = matrix_message(self.drive.pose(now).homogeneous).pose
        twist = self.drive.twist(now)
        v, w = message.twist.twist.linear, message.twist.twist.angular
        v.x, v.y, v.z, w.x, w.y, w.z = map(float, twist)
        self._publisher.publish(self.spoil(message))


def check_commands(bench, judge=judges):
    """Check limits, speeds and accelerations of all commands, by pinocchio's reading."""
    judge = judge()
    fastest = np.minimum(judge.velocity, FASTEST)
    for times, q in bench.commands.runs():
        assert np.all((judge.lower <= q) & (q <= judge.upper))
        assert np.all(np.abs(velocities(times, q)) <= fastest * (1.0 + 1e-6))
        assert np.all(np.abs(accelerations(times, q)) <= HARDEST * (1.0 + 1e-4))


def in_world(drive, command, judge=judges):
    """Poses of the tips in the world at the time of a command, shape (k, 4, 4)."""
    T_world_base = drive.pose(stamp_seconds(command.header.stamp)).homogeneous
    return T_world_base @ judge().poses(np.array(command.position))


def errors(drive, goals, commands, judge=judges):
    """Distances [m] and angles [rad] to the goals, the larger of the tips, shape (m, 2)."""
    return np.array(
        [
            np.max([pose_errors(*ends) for ends in zip(goals, tips, strict=True)], axis=0)
            for tips in (in_world(drive, command, judge) for command in commands)
        ]
    )


def check_errors_at_rest(drive, goals, bench, judge=judges):
    """Check the last command: a base within 0.1 mm and 0.1 mrad of one pose stands."""
    assert np.all(errors(drive, goals, bench.commands.messages[-1:], judge) < (2e-4, 3e-4))


def check_errors_on_the_drive(drive, goals, commands, judge=judges):
    """Check nine of ten commands: a busy machine holds up the odometry, or the node, at times."""
    found = errors(drive, goals, commands, judge)
    assert np.all(np.quantile(found, 0.9, axis=0) < (5e-4, 5e-4))


def goals_near_the_start():
    """T_world_tip, before the base moves."""
    goals = judges().poses(START)
    goals[0, :3, 3] += 0.0, 0.05, 0.1
    goals[1, :3, 3] += 0.05, -0.05, 0.0
    return goals


@pytest.fixture
def ride(bench):
    """Node, arms and odometry, ready for targets."""
    drive = Drive()
    odometer = Odometer(bench, drive)
    bench.start_all(
        two_arms_xml(),
        values_at(NAMES, START),
        tip_links=list(TIPS),
        world_frame='odom',
        base_odometry='odom',
    )
    bench.wait_for_statuses(3)  # by then the odometry is heard
    return SimpleNamespace(bench=bench, drive=drive, odometer=odometer)


def send_both(bench, goals, frame='odom', tips=TIPS):
    for goal, tip in zip(goals, tips, strict=True):
        bench.send(matrix_message(goal, frame), tip)
    bench.wait_for_count('accepted', len(goals))


class TestWithOdometry:
    def test_both_tips_stay_at_their_targets_in_the_world_while_the_base_drives(self, ride):
        goals = goals_near_the_start()
        send_both(ride.bench, goals)
        ride.bench.wait_for_state('REACHED')
        ride.bench.wait_until_silent(4)
        arrived = len(ride.bench.commands)
        ride.drive.start()
        ride.bench.spin_until(lambda: ride.drive.is_over, 'the drive')
        status = ride.bench.wait_for_state('REACHED')
        assert status['left_tool/target_held_in'] == 'odom'
        ride.bench.wait_until_silent(4)
        driven = ride.bench.commands.messages[arrived:]
        assert len(driven) > 200
        check_commands(ride.bench)
        check_errors_on_the_drive(ride.drive, goals, driven)
        check_errors_at_rest(ride.drive, goals, ride.bench)

    @pytest.mark.long
    def test_targets_are_reached_while_the_base_drives(self, ride):
        goals = goals_near_the_start()
        ride.drive.start()
        send_both(ride.bench, goals)
        ride.bench.spin_until(lambda: ride.drive.is_over, 'the drive')
        ride.bench.wait_for_state('REACHED')
        ride.bench.wait_until_silent(4)
        check_commands(ride.bench)
        check_errors_at_rest(ride.drive, goals, ride.bench)

    @pytest.mark.long
    def test_target_in_the_base_frame_goes_along(self, ride):
        goals = goals_near_the_start()
        ride.bench.send(matrix_message(goals[0], 'base'), TIPS[0])
        ride.bench.send(matrix_message(goals[1], 'odom'), TIPS[1])
        ride.bench.wait_for_state('REACHED')
        ride.drive.start()
        ride.bench.spin_until(lambda: ride.drive.is_over, 'the drive')
        ride.bench.wait_until_silent(4)
        check_commands(ride.bench)
        last = ride.bench.commands.messages[-1]
        assert pose_errors(goals[0], judges().poses(last.position)[0]) < (1e-4, 1e-3)
        assert pose_errors(goals[1], in_world(ride.drive, last)[1]) < (2e-4, 3e-4)

    def test_lost_odometry_stops_the_arms_with_the_reason(self, ride):
        ride.drive.start()
        send_both(ride.bench, goals_near_the_start())
        ride.bench.wait_for_commands(50)
        ride.odometer.timer.cancel()
        status = ride.bench.wait_for_state('HOLDING')
        assert 'the pose of the base is lost: odometry on /odom: the newest is' in status['reason']
        assert 'base_timeout' in status['reason']
        ride.bench.wait_until_silent(4)
        check_commands(ride.bench)
        assert not np.any(ride.bench.commands.messages[-1].velocity)
        ride.bench.send(matrix_message(goals_near_the_start()[0], 'odom'), TIPS[0])
        refusal = ride.bench.wait_for_count('refused', 1)['last_refusal']
        assert 'odometry on /odom: the newest is' in refusal

    @pytest.mark.parametrize(
        ('spoil', 'said'),
        [
            (lambda m: setattr(m.pose.pose.position, 'x', math.nan), 'position must be three'),
            pytest.param(
                lambda m: setattr(m.twist.twist.linear, 'x', math.inf),
                'twist must be six finite',
                marks=pytest.mark.long,
            ),
            pytest.param(
                lambda m: setattr(m.pose.pose, 'orientation', _zero()),
                'norm 0',
                marks=pytest.mark.long,
            ),
            pytest.param(
                lambda m: setattr(m.pose.pose.position, 'z', 1e300),
                'is said to be at',
                marks=pytest.mark.long,
            ),
            pytest.param(
                lambda m: setattr(m.twist.twist.angular, 'z', 1e300),
                'is said to move at',
                marks=pytest.mark.long,
            ),
            pytest.param(
                lambda m: setattr(m.header, 'frame_id', 'map'),
                "in frame 'map'",
                marks=pytest.mark.long,
            ),
            pytest.param(
                lambda m: setattr(m, 'child_frame_id', 'wheel'),
                "'wheel' is no link",
                marks=pytest.mark.long,
            ),
            pytest.param(
                lambda m: setattr(m.header.stamp, 'sec', m.header.stamp.sec + 60),
                'in the future',
                marks=pytest.mark.long,
            ),
            pytest.param(
                lambda m: setattr(m.header.stamp, 'sec', m.header.stamp.sec - 60),
                'the newest is',
                marks=pytest.mark.long,
            ),
        ],
    )
    def test_odometry_that_is_none_counts_as_lost_and_says_why(self, ride, spoil, said):
        def spoiled(message):
            spoil(message)
            return message

        send_both(ride.bench, goals_near_the_start())
        ride.bench.wait_for_commands(30)
        ride.odometer.spoil = spoiled
        status = ride.bench.wait_for_state('HOLDING')
        assert said in status['reason']
        ride.bench.wait_until_silent(4)
        check_commands(ride.bench)

    @pytest.mark.long
    def test_leap_of_the_odometry_is_no_leap_of_the_arms(self, ride):
        goals = goals_near_the_start()
        send_both(ride.bench, goals)
        ride.bench.wait_for_state('REACHED')
        ride.drive.pose = lambda now: pinocchio.SE3(np.eye(3), np.array([-0.15, 0.1, 0.0]))
        ride.bench.wait_for_state('MOVING')
        ride.bench.wait_for_state('REACHED')
        ride.bench.wait_until_silent(4)
        check_commands(ride.bench)
        check_errors_at_rest(ride.drive, goals, ride.bench)


def test_odometry_of_a_link_that_cannot_be_where_it_is_said_to_be_counts_as_lost():
    limit = '<axis xyz="1 0 0"/><limit lower="0" upper="1" velocity="1" effort="1"/>'
    robot = load_urdf(
        robot_xml('base cart', joint_xml('rail', 'base', 'cart', 'prismatic', limit))
    )
    node = SimpleNamespace(
        create_subscription=lambda *wishes: SimpleNamespace(topic_name='/odom'),
        get_clock=lambda: SimpleNamespace(now=lambda: Time(seconds=100)),
    )
    base = OdometryBase(node, 'odom', 'odom', robot, 'base', 1.0)
    message = Odometry(child_frame_id='cart')
    message.header.frame_id = 'odom'
    message.pose.pose.orientation.w = 1.0
    base._on_odometry(message)
    assert base.at(100.0, {'rail': 0.5})[0, 3] == 0.5
    with pytest.raises(BasePoseError, match="'cart' is said to be at"):
        base.at(100.0, {'rail': 1e300})


def _zero():
    return Quaternion(x=0.0, y=0.0, z=0.0, w=0.0)


@pytest.mark.long
def test_talos_keeps_both_hands_where_they_are_while_it_walks(bench):
    """Two arms of seven joints on a torso of two: every joint of the upper body helps."""
    drive = Drive(x=0.2, y=0.05, heading=0.2)
    Odometer(bench, drive, 'base_link')
    bench.start_all(
        talos(),
        TALOS_START,
        base_link='base_link',
        tip_links=list(TALOS_TIPS),
        world_frame='odom',
        base_odometry='odom',
    )
    bench.wait_for_statuses(3)
    goals = talos_judges().poses(np.array(list(TALOS_START.values())))
    goals[:, :3, 3] += [[0.1, 0.0, 0.05], [0.1, 0.0, -0.05]]
    send_both(bench, goals, tips=TALOS_TIPS)
    bench.wait_for_state('REACHED')
    assert bench.commands.names == {tuple(TALOS_START)}
    arrived = len(bench.commands)
    drive.start()
    bench.spin_until(lambda: drive.is_over, 'the drive')
    bench.wait_for_state('REACHED')
    bench.wait_until_silent(4)
    check_commands(bench, talos_judges)
    driven = bench.commands.messages[arrived:]
    check_errors_on_the_drive(drive, goals, driven, talos_judges)
    check_errors_at_rest(drive, goals, bench, talos_judges)


class TestTrack:
    """The pose of a base between two messages, judged by pinocchio's exponential."""

    @given(twist=st.lists(st.floats(-3.0, 3.0), min_size=6, max_size=6), age=st.floats(0.0, 0.1))
    def test_base_goes_on_by_its_twist(self, twist, age):
        track, here = Track(0.5), pinocchio.SE3.Random()
        track.add(100.0, here.homogeneous, np.array(twist))
        expected = here * pinocchio.exp6(age * np.array(twist))
        assert_close(track.at(100.0 + age), expected.homogeneous, 1e-9)

    @given(twist=st.lists(st.floats(-3.0, 3.0), min_size=6, max_size=6), age=st.floats(0.0, 0.1))
    def test_base_without_a_twist_goes_on_as_it_last_did(self, twist, age):
        track, here = Track(0.5), pinocchio.SE3.Random()
        track.add(100.0, here.homogeneous)
        for time_ in (100.02, 100.04, 100.06):
            T = here * pinocchio.exp6((time_ - 100.0) * np.array(twist))
            track.add(time_, T.homogeneous)
        expected = here * pinocchio.exp6((0.06 + age) * np.array(twist))
        assert_close(track.at(100.06 + age), expected.homogeneous, 1e-9)

    def test_correction_of_a_base_without_a_twist_is_not_taken_for_a_motion(self):
        track = Track(0.5)
        for i in range(10):
            T = np.eye(4)
            T[0, 3] = 0.002 * i + (0.3 if i > 6 else 0.0)
            track.add(100.0 + 0.02 * i, T)
            if i > 2:
                assert_close(track.at(100.01 + 0.02 * i)[0, 3], T[0, 3] + 0.001, 1e-9)

    def test_base_is_taken_to_stand_when_nothing_comes_for_long(self):
        track = Track(0.5)
        track.add(100.0, np.eye(4), np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0]))
        assert_close(track.at(100.1)[0, 3], 0.1, 1e-9)
        assert_close(track.at(100.4)[0, 3], 0.1, 1e-9)

    def test_base_is_lost_when_its_pose_is_too_old(self):
        track = Track(0.5)
        with pytest.raises(BasePoseError, match='none has come yet'):
            track.at(100.0)
        track.add(100.0, np.eye(4))
        assert_close(track.at(100.5), np.eye(4))
        with pytest.raises(BasePoseError, match=r'0.60 s old \(base_timeout 0.5 s\)'):
            track.at(100.6)

    def test_older_pose_changes_nothing(self):
        track, other = Track(0.5), np.diag([-1.0, -1.0, 1.0, 1.0])
        track.add(100.0, np.eye(4))
        track.add(99.9, other)
        assert_close(track.at(100.0), np.eye(4))
        track.forget()
        track.add(99.9, other)
        assert_close(track.at(99.9), other)


class TransformError(Exception):
    """Stands for tf2_ros.TransformException."""


class Buffer:
    """What tf knows of a base on a drive: where it was at the last full fiftieth of a second."""

    drive = Drive()
    trouble = ''
    is_fixed = False

    def lookup_transform(self, target, source, time_):
        if self.trouble:
            raise TransformError(self.trouble)
        now = 0.0 if self.is_fixed else math.floor(50.0 * time.time()) / 50.0
        frames = {'odom': np.eye(4), 'base': self.drive.pose(now).homogeneous, 'table': TABLE}
        if not {target, source} <= frames.keys():
            raise TransformError(f'"{source}" or "{target}" does not exist')
        pose = matrix_message(np.linalg.inv(frames[target]) @ frames[source]).pose
        found = TransformStamped()
        found.header.stamp = Time(nanoseconds=round(1e9 * now)).to_msg()
        p, t = pose.position, found.transform.translation
        t.x, t.y, t.z = p.x, p.y, p.z
        found.transform.rotation = pose.orientation
        return found


TABLE = np.diag([-1.0, -1.0, 1.0, 1.0])
TABLE[:3, 3] = 1.0, 0.5, 0.0


@pytest.fixture
def tf(monkeypatch):
    tf2_ros = ModuleType('tf2_ros')
    tf2_ros.Buffer = Buffer
    tf2_ros.TransformListener = lambda buffer, node: SimpleNamespace(unregister=lambda: None)
    tf2_ros.TransformException = TransformError
    tf2_ros.ExtrapolationException = TransformError
    monkeypatch.setitem(sys.modules, 'tf2_ros', tf2_ros)
    monkeypatch.setattr(Buffer, 'drive', Drive())
    return monkeypatch


class TestWithTf:
    def start(self, bench):
        bench.start_all(
            two_arms_xml(), values_at(NAMES, START), tip_links=list(TIPS), world_frame='odom'
        )
        return Buffer.drive

    @pytest.mark.long
    @pytest.mark.parametrize('frame', ['odom', 'table'])
    def test_targets_in_any_frame_that_is_no_link_stay_in_the_world(self, bench, tf, frame):
        drive, goals = self.start(bench), goals_near_the_start()
        given = goals if frame == 'odom' else np.linalg.inv(TABLE) @ goals
        drive.start()
        send_both(bench, given, frame)
        bench.spin_until(lambda: drive.is_over, 'the drive')
        status = bench.wait_for_state('REACHED')
        assert status['left_tool/target_held_in'] == 'odom'
        bench.wait_until_silent(4)
        check_commands(bench)
        check_errors_at_rest(drive, goals, bench)

    def test_tf_that_knows_no_more_stops_the_arms_in_its_words(self, bench, tf):
        self.start(bench)
        send_both(bench, goals_near_the_start())
        bench.wait_for_commands(30)
        tf.setattr(Buffer, 'trouble', 'odom and base are not connected')
        status = bench.wait_for_state('HOLDING')
        assert 'lost: tf: odom and base are not connected' in status['reason']
        bench.wait_until_silent(4)
        check_commands(bench)

    def test_frames_that_are_fixed_to_each_other_are_never_too_old(self, tf):
        tf.setattr(Buffer, 'is_fixed', True)
        base = TfBase(Buffer(), 'odom', 'base', 0.5)
        assert_close(base.at(time.time(), {}), np.eye(4))

    def test_without_tf_the_cure_is_named(self):
        with pytest.raises(BasePoseError, match='tf2_ros is not installed; cure: base_odometry'):
            TfBase(None, 'odom', 'base', 0.5).at(0.0, {})


def test_world_that_is_the_base_itself_is_refused(bench):
    bench.start_node(world_frame='base', tip_links=list(TIPS))
    bench.describe(two_arms_xml())
    reason = "world_frame 'base' is the base_link, which moves"
    bench.spin_until(lambda: reason in bench.status.get('reason', ''), reason)
