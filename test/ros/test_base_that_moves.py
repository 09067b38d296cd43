"""
Targets that stay in the world while the base of the arm moves, on the wire.

The test knows where the base is at any time and publishes that as odometry, or lets tf tell it.

"""

import math
import time
from types import SimpleNamespace

import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed')
pytest.importorskip('nav_msgs', reason='nav_msgs is not installed')
pytest.importorskip('pinocchio', reason='pinocchio is the judge')

from bench import matrix_message, stamp_seconds, values_at
from judging import accelerations, pose_errors, velocities
from nav_msgs.msg import Odometry
import numpy as np
import pinocchio
from rclpy.time import Time
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


def check_commands(bench):
    tree = two_arms()
    for times, q in bench.commands.runs():
        assert np.all((tree.lower <= q) & (q <= tree.upper))
        assert np.all(np.abs(velocities(times, q)) <= FASTEST * (1.0 + 1e-6))
        assert np.all(np.abs(accelerations(times, q)) <= HARDEST * (1.0 + 1e-4))


def in_world(drive, command, judge=judges):
    """Poses of the tips in the world at the time of a command, shape (k, 4, 4)."""
    T_world_base = drive.pose(stamp_seconds(command.header.stamp)).homogeneous
    return T_world_base @ judge().poses(np.array(command.position))


def largest_errors(drive, goals, commands, judge=judges):
    errors = [
        pose_errors(goal, T)
        for command in commands
        for goal, T in zip(goals, in_world(drive, command, judge), strict=True)
    ]
    return tuple(np.max(errors, axis=0))


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


def send_both(bench, goals, frame='odom'):
    for goal, tip in zip(goals, TIPS, strict=True):
        bench.send(matrix_message(goal, frame), tip)
    bench.wait_for_count('accepted', len(goals))


class TestWithOdometry:
    def test_both_tips_stay_at_their_targets_in_the_world_while_the_base_drives(self, ride):
        goals = goals_near_the_start()
        send_both(ride.bench, goals)
        ride.bench.wait_for_state('REACHED')
        ride.bench.wait_until_silent()
        arrived = len(ride.bench.commands)
        ride.drive.start()
        ride.bench.spin_until(lambda: ride.drive.is_over, 'the drive')
        status = ride.bench.wait_for_state('REACHED')
        assert status['left_tool/target_held_in'] == 'odom'
        ride.bench.wait_until_silent()
        driven = ride.bench.commands.messages[arrived:]
        assert len(driven) > 200
        check_commands(ride.bench)
        assert largest_errors(ride.drive, goals, driven) < (5e-3, 1e-2)
        assert largest_errors(ride.drive, goals, driven[-1:]) < (2e-4, 3e-4)

    def test_targets_are_reached_while_the_base_drives(self, ride):
        goals = goals_near_the_start()
        ride.drive.start()
        send_both(ride.bench, goals)
        ride.bench.spin_until(lambda: ride.drive.is_over, 'the drive')
        ride.bench.wait_for_state('REACHED')
        ride.bench.wait_until_silent()
        check_commands(ride.bench)
        last = ride.bench.commands.messages[-1:]
        assert largest_errors(ride.drive, goals, last) < (2e-4, 3e-4)

    def test_target_in_the_base_frame_goes_along(self, ride):
        goals = goals_near_the_start()
        ride.bench.send(matrix_message(goals[0], 'base'), TIPS[0])
        ride.bench.send(matrix_message(goals[1], 'odom'), TIPS[1])
        ride.bench.wait_for_state('REACHED')
        ride.drive.start()
        ride.bench.spin_until(lambda: ride.drive.is_over, 'the drive')
        ride.bench.wait_until_silent()
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
        ride.bench.wait_until_silent()
        check_commands(ride.bench)
        assert not np.any(ride.bench.commands.messages[-1].velocity)
        ride.bench.send(matrix_message(goals_near_the_start()[0], 'odom'), TIPS[0])
        refusal = ride.bench.wait_for_count('refused', 1)['last_refusal']
        assert 'odometry on /odom: the newest is' in refusal

    @pytest.mark.parametrize(
        ('spoil', 'said'),
        [
            (lambda m: setattr(m.pose.pose.position, 'x', math.nan), 'position must be three'),
            (lambda m: setattr(m.twist.twist.linear, 'x', math.inf), 'twist must be six finite'),
            (lambda m: setattr(m.pose.pose, 'orientation', _zero()), 'norm 0'),
            (lambda m: setattr(m.header, 'frame_id', 'map'), "in frame 'map'"),
            (lambda m: setattr(m, 'child_frame_id', 'wheel'), "'wheel' is no link"),
            (lambda m: setattr(m.header.stamp, 'sec', m.header.stamp.sec + 60), 'in the future'),
            (lambda m: setattr(m.header.stamp, 'sec', m.header.stamp.sec - 60), 'the newest is'),
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
        ride.bench.wait_until_silent()
        check_commands(ride.bench)

    def test_leap_of_the_odometry_is_no_leap_of_the_arms(self, ride):
        goals = goals_near_the_start()
        send_both(ride.bench, goals)
        ride.bench.wait_for_state('REACHED')
        ride.drive.pose = lambda now: pinocchio.SE3(np.eye(3), np.array([-0.15, 0.1, 0.0]))
        ride.bench.wait_for_state('MOVING')
        ride.bench.wait_for_state('REACHED')
        ride.bench.wait_until_silent()
        check_commands(ride.bench)
        last = ride.bench.commands.messages[-1:]
        assert largest_errors(ride.drive, goals, last) < (2e-4, 3e-4)


def _zero():
    from geometry_msgs.msg import Quaternion

    return Quaternion(x=0.0, y=0.0, z=0.0, w=0.0)
