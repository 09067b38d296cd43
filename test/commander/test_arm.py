"""An arm commanded over ROS: a node and a lagging arm in processes of their own."""

import asyncio
import os
import subprocess
import sys
import threading
import time

import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed')
pytest.importorskip('pinocchio', reason='pinocchio is the judge')

from commanded import (
    check_rest,
    DOWN,
    far_side,
    far_turn,
    HOME,
    LEFT,
    PATIENCE,
    RIGHT,
    set_out,
    until,
    UPRIGHT,
)
from documentation import blocks, ROOT
from fabrik_ros import JointValueError, TargetError
from fabrik_ros.commander import Arm, MoveRefused, MoveStopped
from geometry_msgs.msg import Pose, PoseStamped
from judging import Judge
import numpy as np
import rclpy
from rclpy.executors import SingleThreadedExecutor

ARRIVAL = 0.01
"""The node's `arrival_tolerance_position` [m]."""


@pytest.fixture
def arm(rig):
    with Arm('fabrik') as arm:
        arm.wait_until_ready(PATIENCE)
        yield arm


@pytest.fixture(scope='module')
def judge(urdf):
    return Judge(urdf.read_text(), 'base_link', 'tool0')


def position_of(arm, judge):
    """Measured position of the tool, by the judge."""
    joints = arm.joints
    return judge.pose([joints[name] for name in judge.joint_names])[:3, 3]


# -- it arrives


@pytest.mark.parametrize('form', ['numbers', 'matrix', 'pose', 'stamped'])
def test_move_to_a_pose_returns_when_the_measured_arm_is_there(arm, judge, form):
    position, _ = far_side(arm)
    pose = Pose()
    pose.position.x, pose.position.y, pose.position.z = position
    pose.orientation.x, pose.orientation.w = 1.0, 0.0
    T = np.diag([1.0, -1.0, -1.0, 1.0])
    T[:3, 3] = position
    targets = {'numbers': (position, DOWN), 'matrix': T, 'pose': pose}
    stamped = PoseStamped(pose=pose)
    stamped.header.frame_id = 'base_link'
    result = arm.move_to(targets.get(form, stamped), timeout=PATIENCE)
    assert result
    assert (result.state, result.code, result.is_measured) == ('REACHED', '', True)
    assert result.position_error < ARRIVAL
    assert 0.0 < result.duration < PATIENCE
    assert np.linalg.norm(position_of(arm, judge) - position) < ARRIVAL
    assert np.allclose(arm.pose[:3, 3], position_of(arm, judge), atol=ARRIVAL)


def test_joint_values_names_and_home_are_reached(arm, judge):
    names = judge.joint_names
    assert arm.move_to(UPRIGHT)
    assert np.abs([arm.joints[name] for name in names] - np.array(UPRIGHT)).max() < 0.05
    assert arm.move_to({'wrist_3': 0.7})
    assert abs(arm.joints['wrist_3'] - 0.7) < 0.05
    assert abs(arm.joints['elbow'] - UPRIGHT[2]) < 0.05
    assert arm.home()
    assert np.abs([arm.joints[name] for name in names] - np.array(HOME)).max() < 0.05
    assert arm.move_to('upright')
    assert np.abs([arm.joints[name] for name in names] - np.array(UPRIGHT)).max() < 0.05


def test_moves_that_follow_each_other_soon_are_no_stream(arm):
    """A stream is followed by its line alone, so the second move waits until it is none."""
    told = []
    set_out(arm, far_side(arm))
    assert arm.move_to((LEFT, DOWN), on_progress=told.append)
    assert told[0].state == 'WAITING'
    assert told[0].reason == 'targets that come sooner after each other are a stream'


def test_progress_is_told_from_the_wait_to_the_end(arm):
    told = []
    assert arm.move_to(far_side(arm), on_progress=told.append)
    states = [status.state for status in told]
    assert states.index('REACHED') == len(told) - 1
    assert states.count('MOVING') > 3
    assert told[-1].facts['target_stamp']


def test_same_target_again_is_reached_at_once(arm):
    target = far_side(arm)
    assert arm.move_to(target)
    assert arm.move_to(target, timeout=PATIENCE)


# -- what is documented


def test_python_of_the_page_moves_the_arm(arm, capsys):
    moves, _ = blocks(ROOT / 'docs' / 'commander.md', 'python')  # the other one is a part of one
    exec(moves, {})
    said = capsys.readouterr().out.splitlines()
    assert len(said) == 3
    assert all(line.startswith('there, within ') for line in said)


def test_example_moves_the_arm_and_back(arm):
    before = arm.joints
    done = subprocess.run(
        [sys.executable, ROOT / 'examples' / 'move_arm.py'],
        env={**os.environ, 'PYTHONPATH': str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert [line.split(': ')[1][:5] for line in done.stdout.splitlines()] == 3 * ['there'] + [
        'REACH'
    ]
    after = arm.joints
    assert max(abs(after[name] - before[name]) for name in before) < 0.05


# -- it does not


def test_refused_target_raises_with_code_and_sentence_and_changes_nothing(arm):
    before = arm.joints
    with pytest.raises(MoveRefused, match='millimetres') as ended:
        arm.move_to(((40.0, 0.2, 0.4), DOWN))
    assert ended.value.code == 'bad_request'
    with pytest.raises(MoveRefused, match="frame 'nowhere'"):
        arm.move_to((LEFT, DOWN), frame_id='nowhere')
    with pytest.raises(MoveRefused, match="no configuration named 'nowhere'"):
        arm.move_to('nowhere')
    with pytest.raises(MoveRefused, match="no joint 'nose'"):
        arm.move_to({'nose': 1.0})
    after = arm.joints
    assert max(abs(after[name] - before[name]) for name in before) < 1e-3


def test_target_that_makes_no_sense_is_refused_here(arm):
    with pytest.raises(TargetError, match='a target is a pose'):
        arm.move_to([[1.0, 2.0], [3.0, 4.0]])
    with pytest.raises(TargetError, match='a target is a pose'):
        arm.move_to('')
    with pytest.raises(TargetError, match='not a pose'):
        arm.move_to(np.zeros((4, 4)))
    with pytest.raises(JointValueError, match='2 joint values for 6 joints: shoulder_pan'):
        arm.move_to([0.0, 1.0])
    with pytest.raises(ValueError, match='frame_id is for poses'):
        arm.move_to('home', frame_id='base_link')
    with pytest.raises(ValueError, match='timeout must be more than 0 s'):
        arm.home(timeout=0.0)


def test_target_out_of_reach_stops_with_the_reason(arm):
    with pytest.raises(MoveStopped, match='farther') as ended:
        arm.move_to(((1.5, 0.2, 0.4), DOWN))
    assert ended.value.code == 'too_far'
    assert ended.value.status.state == 'HOLDING'
    assert arm.move_to('upright')


def test_held_arm_refuses_until_it_is_resumed(arm):
    assert arm.hold() == 'holding still'
    with pytest.raises(MoveRefused, match='told to hold') as ended:
        arm.move_to(far_side(arm))
    assert ended.value.code == 'held'
    assert arm.resume() == 'ready for a new target'
    assert arm.move_to(far_side(arm))


def test_hold_on_the_way_ends_the_move(arm):
    future = set_out(arm, far_side(arm))
    assert arm.hold() == 'slowing down to hold'
    with pytest.raises(MoveStopped, match='told to hold') as ended:
        future.result(PATIENCE)
    assert ended.value.code == 'held'
    check_rest(arm)
    arm.resume()


def test_stop_on_the_way_ends_the_move_and_the_next_sets_out(arm):
    target = far_side(arm)
    future = set_out(arm, target)
    assert arm.stop() == 'slowing down to rest'
    with pytest.raises(MoveStopped, match='told to stop') as ended:
        future.result(PATIENCE)
    assert ended.value.code == 'cancelled'
    check_rest(arm)
    assert arm.move_to(target)


def test_move_after_a_cancelled_one_sets_out_once_the_arm_rests(arm):
    told = []
    set_out(arm, far_turn(arm)).cancel()
    assert arm.move_to('upright', on_progress=told.append)
    assert told[0].reason == 'the arm has to come to rest first'


def test_stop_before_a_move_is_sent_keeps_it_from_being_sent(arm):
    assert arm.move_to(far_side(arm))
    here = arm.pose
    future = arm.move_to(far_side(arm), wait=False)  # soon after the other: it waits
    arm.stop()
    with pytest.raises(MoveStopped, match='told to stop'):
        future.result(PATIENCE)
    time.sleep(1.5)
    assert np.abs(arm.pose - here).max() < 0.01


def test_time_out_stops_the_arm(arm):
    with pytest.raises(MoveStopped, match=r'not there after 1\.\d s: ') as ended:
        arm.move_to(far_side(arm), timeout=1.0)
    assert ended.value.code == 'timed_out'
    check_rest(arm)
    assert arm.state.code == 'cancelled'


def test_later_commander_supersedes_the_earlier_one(arm):
    future = set_out(arm, far_turn(arm))
    with Arm('/fabrik') as other:
        assert other.move_to('upright')
    with pytest.raises(MoveStopped, match='another target replaced it') as ended:
        future.result(PATIENCE)
    assert ended.value.code == 'superseded'


def test_later_move_supersedes_the_earlier_one_sent_or_not(arm):
    first = set_out(arm, far_side(arm))
    second = arm.move_to((LEFT, DOWN), wait=False)
    third = arm.move_to((RIGHT, DOWN), wait=False)
    assert third.result(PATIENCE)
    for earlier in (first, second):
        with pytest.raises(MoveStopped) as ended:
            earlier.result(PATIENCE)
        assert ended.value.code == 'superseded'


def test_what_progress_raises_stops_the_arm_and_is_raised(arm):
    def complain(status):
        if status.state == 'MOVING':
            raise KeyError('enough')

    with pytest.raises(KeyError, match='enough'):
        arm.move_to(far_side(arm), on_progress=complain)
    check_rest(arm)


def test_progress_may_stop_the_arm_and_may_not_wait(arm):
    said = []

    def look(status):
        if status.state == 'MOVING' and not said:
            said.append(arm.stop())
            arm.move_to('home')

    with pytest.raises(MoveStopped, match='told to stop'):
        arm.move_to(far_side(arm), on_progress=look)
    assert said == ['slowing down to rest']
    with pytest.raises(RuntimeError, match='must not wait'):
        arm.move_to(far_side(arm), on_progress=lambda status: arm.home())


def test_closing_stops_what_was_begun(rig, arm):
    with Arm('fabrik') as other:
        other.wait_until_ready(PATIENCE)
        future = set_out(other, far_side(other))
    with pytest.raises(MoveStopped, match='closed') as ended:
        future.result(0.0)
    assert ended.value.code == 'closed'
    check_rest(arm)
    with pytest.raises(MoveRefused, match='closed'):
        other.home()


# -- asyncio, and a node of somebody else


def test_moves_can_be_awaited_and_cancelled(arm):
    target = far_side(arm)

    async def move():
        return await asyncio.wrap_future(arm.move_to(target, wait=False))

    assert asyncio.run(move())

    async def give_up():
        moving = asyncio.wrap_future(arm.move_to(far_side(arm), wait=False))
        begin = arm.pose
        while np.abs(arm.pose - begin).max() < 0.01:
            await asyncio.sleep(0.05)
        moving.cancel()
        await asyncio.sleep(1.5)

    asyncio.run(give_up())
    check_rest(arm)
    assert arm.state.code == 'cancelled'


def test_node_of_somebody_else_serves_and_stays(rig):
    context = rclpy.Context()
    rclpy.init(context=context)
    node = rclpy.create_node('mine', context=context)
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(node)
    thread = threading.Thread(target=executor.spin)
    thread.start()
    try:
        with Arm('fabrik', node=node) as arm:
            assert arm.move_to(far_side(arm), timeout=PATIENCE)
        assert not [s for s in node.subscriptions if 'fabrik' in s.topic_name]
        assert node.get_name() == 'mine'
    finally:
        executor.shutdown()
        thread.join()
        node.destroy_node()
        rclpy.try_shutdown(context=context)


def test_node_that_nobody_spins_hears_nothing_and_that_is_told(rig):
    context = rclpy.Context()
    rclpy.init(context=context)
    node = rclpy.create_node('mine', context=context)
    try:
        with Arm('fabrik', node=node) as arm:
            with pytest.raises(MoveRefused, match='nothing was sent: no status is heard') as ended:
                arm.move_to('home', timeout=1.0)
            assert ended.value.code == 'no_node'
    finally:
        node.destroy_node()
        rclpy.try_shutdown(context=context)


def test_context_that_is_shut_down_on_the_way_stops_the_arm(rig, arm):
    context = rclpy.Context()
    rclpy.init(context=context)
    node = rclpy.create_node('mine', context=context)
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(node)
    other = Arm('fabrik', node=node)
    spins = threading.Event()

    def spin():
        while not spins.is_set() and context.ok():
            executor.spin_once(0.05)

    thread = threading.Thread(target=spin)
    thread.start()
    try:
        future = set_out(other, far_turn(other))
        spins.set()
        thread.join()
        rclpy.shutdown(context=context)
        with pytest.raises(MoveStopped, match='the arm was told to stop') as ended:
            future.result(PATIENCE)
        assert ended.value.code == 'ros_ended'
        until(lambda: arm.state.code == 'cancelled', 'the stop')
        time.sleep(0.5)  # it brakes
        check_rest(arm)
    finally:
        other.close()
        executor.shutdown()
