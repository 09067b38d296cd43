"""A protective stop: the arm freezes under a stream of targets, and is released again."""

import sys
import time

import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed')
pytest.importorskip('pinocchio', reason='pinocchio is the judge')

from bench import JOINTS, matrix_message, Puppet, shifted, six_axis_judge, START, values_at
from command_judge import accelerations, velocities
from fabrik_ros.motion.following.follower import Follower
from fabrik_ros.ros.outputs import command_loop
import numpy as np
from rclpy.lifecycle import TransitionCallbackReturn
from trajectories import played
from trajectory_msgs.msg import JointTrajectory

FASTEST, HARDEST, PERIOD = 1.5, 5.0, 0.01
FROZEN = 5.0
"""How long the arm stands [s]."""


@pytest.mark.long
def test_frozen_arm_under_a_stream_is_sent_one_stop_and_waits_when_it_is_released(bench, six_axis):
    judge = six_axis_judge(six_axis)
    start, trajectories, moment = judge.pose(START), [], [0]
    bench._listen(JointTrajectory, 'fabrik/joint_trajectory', trajectories.append)
    bench.start_node(robot_description=six_axis, output=['joint_state', 'trajectory'])
    puppet = Puppet(bench, values_at(JOINTS, START))
    bench.wait_for_state('IDLE')

    def stream():
        moment[0] += 1
        target = shifted(start, y=0.2 * np.sin(0.02 * moment[0]), z=-0.03)
        bench._targets[''].publish(matrix_message(target))

    timer = bench.tester.create_timer(PERIOD, stream)
    bench.wait_for_commands(150)
    puppet.follows = False
    begin = bench.tester.get_clock().now()
    bench.wait_for_state('HOLDING')
    assert 'does not follow' in bench.status['reason']
    bench.wait_until_silent()
    last = len(bench.commands)

    def passed():
        return 1e-9 * (bench.tester.get_clock().now() - begin).nanoseconds

    bench.spin_until(lambda: passed() > FROZEN, 'the end of the protective stop')
    assert len(bench.commands) == last
    assert len(bench.commands.runs()) == 1, 'one run of commands, the stop at its end'
    frozen = [puppet.values[name] for name in JOINTS]
    assert np.abs(bench.commands.q[-1] - frozen).max() <= 1e-3
    times, q = bench.commands.runs()[0]
    assert np.abs(velocities(times, q)).max() <= FASTEST * (1.0 + 1e-6)
    assert np.abs(accelerations(times, q)).max() <= HARDEST * (1.0 + 1e-4)
    stamps = [message.header.stamp for message in bench.commands.messages]
    sent_at = [stamp.sec * 1_000_000_000 + stamp.nanosec for stamp in stamps]
    times, q = played(trajectories, sent_at)
    assert np.abs(q[-1] - frozen).max() <= 1e-3
    assert np.abs(accelerations(times, q)).max() <= HARDEST * 1.05

    puppet.follows = True
    bench.wait_for_statuses(20)
    assert len(bench.commands) == last, 'released, it waits'
    assert 'after 1 s without any' in bench.status['last_refusal']
    timer.cancel()
    bench.wait_until_it_may_set_out()
    bench.send(shifted(start, z=0.02))
    bench.wait_for_state('REACHED')
    first = np.abs(bench.commands.q[last] - frozen).max()
    assert first <= HARDEST * PERIOD**2 + 1e-9, 'it starts where the arm is measured'


@pytest.mark.parametrize('stalls', ['once', pytest.param('always', marks=pytest.mark.long)])
def test_node_that_is_stopped_while_commands_go_back_ends_though_the_machine_stands_still(
    bench, six_axis, monkeypatch, stalls
):
    monkeypatch.setattr(command_loop, 'LONGEST_WAY_BACK', 10.0 if stalls == 'once' else 0.5)
    bench.start_node(robot_description=six_axis, output=['joint_state', 'trajectory'])
    puppet = Puppet(bench, values_at(JOINTS, START))
    bench.wait_for_state('IDLE')
    bench.send(shifted(six_axis_judge(six_axis).pose(START), y=0.3))
    bench.wait_for_commands(60)
    puppet.follows = False
    follower = bench.node.node_state.follower
    bench.spin_until(lambda: follower.is_going_back, 'the commands go back')
    naps, sleep = [], time.sleep

    def oversleep(duration):
        assert len(naps) < 300, 'it never ends'
        naps.append(duration)
        once = 0.3 if len(naps) == 3 else 0.0
        sleep(duration + (once if stalls == 'once' else 0.07))

    monkeypatch.setattr(command_loop.time, 'sleep', oversleep)
    assert bench.node.trigger_deactivate() == TransitionCallbackReturn.SUCCESS
    assert follower.is_at_rest


def test_process_that_is_stopped_within_a_step_keeps_the_limits(bench, six_axis, monkeypatch):
    """By one clock time has passed, by the other, read before, it has not."""
    heed, steps = Follower.heed_world, []

    def heed_late(follower, now):
        heed(follower, now)
        if sys._getframe(1).f_code.co_name == '_step' and follower.is_on_the_way:
            steps.append(now)
            time.sleep(0.093 if len(steps) % 20 == 10 else 0.0)

    monkeypatch.setattr(Follower, 'heed_world', heed_late)
    bench.start_node(robot_description=six_axis, output=['joint_state'])
    Puppet(bench, values_at(JOINTS, START))
    bench.wait_for_state('IDLE')
    bench.send(shifted(six_axis_judge(six_axis).pose(START), y=0.2, z=-0.05))
    bench.wait_for_state('REACHED')
    assert len(steps) > 20
    for times, q in bench.commands.runs():
        if len(times) > 2:
            assert np.abs(velocities(times, q)).max() <= FASTEST * (1.0 + 1e-6)
            assert np.abs(accelerations(times, q)).max() <= HARDEST * (1.0 + 1e-4)
