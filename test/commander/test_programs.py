"""Programs over the commander: one call, one result."""

import threading

import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed')
pytest.importorskip('pinocchio', reason='pinocchio is the judge')

from commanded import check_rest, DOWN, far_turn, HOME, LEFT, PATIENCE, RIGHT, until
from fabrik_ros import TargetError
from fabrik_ros.commander import Arm, MoveRefused, MoveStopped
from fabrik_ros.programs import Arc, Joints, Line, Move, Pause, Program
from fabrik_ros.transforms import pose_from_xyz_quaternion
from judging import Judge
import numpy as np
import rclpy
from sensor_msgs.msg import JointState

ARRIVAL = 0.01
"""The node's `arrival_tolerance_position` [m]."""
HIGH = (0.4, 0.0, 0.5)


@pytest.fixture
def arm(rig):
    with Arm('fabrik') as arm:
        arm.wait_until_ready(PATIENCE)
        yield arm


@pytest.fixture
def measured(rig):
    """Listen to the arm on the wire, from when it is heard; from then on nothing is missed."""
    heard = []
    context = rclpy.Context()
    rclpy.init(args=[], context=context)
    node = rclpy.create_node('listener', context=context)
    node.create_subscription(JointState, 'joint_states', heard.append, 100_000)
    executor = rclpy.executors.SingleThreadedExecutor(context=context)
    executor.add_node(node)
    thread = threading.Thread(target=executor.spin)
    thread.start()
    try:
        until(lambda: heard, 'the arm is heard')
        yield heard
    finally:
        executor.shutdown()
        thread.join()
        node.destroy_node()
        rclpy.try_shutdown(context=context)


def places_of(states, judge):
    """Positions of the tool by pinocchio, shape (n, 3) [m]."""
    found = []
    for state in states:
        values = dict(zip(state.name, state.position, strict=True))
        found.append(judge.pose([values[name] for name in judge.joint_names])[:3, 3])
    return np.array(found)


def distance_to_way(places, place):
    """Distance of a place to the straight lines from each of the others to the next [m]."""
    steps, relative = np.diff(places, axis=0), place - places[:-1]
    squared = np.maximum(np.sum(steps**2, axis=1), 1e-12)
    shares = np.clip(np.sum(relative * steps, axis=1) / squared, 0.0, 1.0)
    return np.linalg.norm(relative - shares[:, None] * steps, axis=1).min()


def pose(xyz):
    return pose_from_xyz_quaternion(xyz, DOWN)


def across(speed=0.2):
    """Go from one side to the other."""
    return Program([Move(pose(LEFT)), Line(pose(RIGHT), speed=speed)])


def begun(arm, program, segment=2):
    """Begin a program, to the time at which the arm is on a segment."""
    future = arm.run(program, wait=False)
    until(
        lambda: (
            future.done()
            or (
                arm.state.facts.get('segment') == str(segment)
                and float(arm.state.facts['progress']) > 0.0
                and arm.state.state == 'MOVING'
            )
        ),
        'the arm is on its way',
    )
    assert not future.done(), future.exception()
    return future


def test_program_returns_when_the_measured_arm_is_at_its_end(arm):
    seen = []
    via = (0.45, 0.0, 0.4)
    program = Program([*across().steps, Pause(0.1), Arc(via, pose(LEFT)), Joints('home')])
    result = arm.run(program, name='a round', timeout=PATIENCE, on_progress=seen.append)
    assert result
    assert result.state == 'REACHED'
    joints = arm.joints
    assert np.allclose(list(joints.values()), HOME, atol=0.01)
    segments = [int(status.facts['segment']) for status in seen if 'segment' in status.facts]
    assert segments == sorted(segments)
    assert {2, 4} <= set(segments)
    assert any(status.facts.get('program', '').startswith('a round ') for status in seen)


def test_move_through_passes_all_targets(arm, measured, urdf):
    arm.move_to('home', timeout=PATIENCE)
    targets = [(LEFT, DOWN), pose(HIGH), {'shoulder_pan': -0.3}, 'home']
    before = len(measured)
    assert arm.move_through(targets[:2], timeout=PATIENCE, blend=0.02, speed=0.2)
    places = places_of(measured[before:], Judge(urdf.read_text(), 'base_link', 'tool0'))
    assert distance_to_way(places, LEFT) < 0.02 + ARRIVAL
    assert np.linalg.norm(arm.pose[:3, 3] - HIGH) < ARRIVAL
    assert arm.move_through(targets[2:], timeout=PATIENCE)
    assert abs(arm.joints['shoulder_pan'] - HOME[0]) < 0.01


def test_program_that_leads_out_of_reach_names_the_segment(arm):
    before = arm.pose
    with pytest.raises(MoveStopped, match=r'segment 2 \(line\)') as caught:
        arm.run(Program([Move(pose(LEFT)), Line(pose((3.0, 0.0, 0.4)))]), timeout=PATIENCE)
    assert caught.value.code
    assert np.allclose(arm.pose, before, atol=1e-3)


def test_program_that_makes_no_sense_is_refused_with_the_segment(arm):
    with pytest.raises(MoveRefused, match=r'segment 1 \(joints\): no configuration named'):
        arm.run(Program([Joints('nowhere')]), timeout=PATIENCE)
    with pytest.raises(MoveRefused, match=r"segment 1: frame 'nowhere'"):
        arm.move_through([(LEFT, DOWN)], frame='nowhere', timeout=PATIENCE)
    with pytest.raises(TargetError, match='there are no targets'):
        arm.move_through([])


def test_stop_ends_a_program_and_the_next_one_sets_out(arm):
    future = begun(arm, across())
    assert arm.stop()
    with pytest.raises(MoveStopped) as caught:
        future.result(PATIENCE)
    assert caught.value.code == 'cancelled'
    check_rest(arm)
    assert arm.run(across(), timeout=PATIENCE)


def test_later_target_supersedes_a_program_and_a_program_a_target(arm):
    first = begun(arm, across(speed=0.05))  # slowly: the other one has to find the node first
    with Arm('fabrik') as other:
        second = other.move_to(far_turn(arm), wait=False, timeout=PATIENCE)
        with pytest.raises(MoveStopped) as caught:
            first.result(PATIENCE)
        assert caught.value.code == 'superseded'
        third = arm.run(across(), wait=False, timeout=PATIENCE)
        with pytest.raises(MoveStopped) as caught:
            second.result(PATIENCE)
        assert caught.value.code == 'superseded'
    assert third.result(PATIENCE)


def test_hold_ends_a_program_and_its_rest_is_executed(arm):
    future = begun(arm, across(speed=0.1))
    arm.hold()
    with pytest.raises(MoveStopped) as caught:
        future.result(PATIENCE)
    assert caught.value.code == 'held'
    check_rest(arm)
    arm.resume()
    until(lambda: arm.state.code == 'awaits_execute', 'the rest is proposed')
    assert arm.execute(timeout=PATIENCE)
    assert np.linalg.norm(arm.pose[:3, 3] - RIGHT) < ARRIVAL
