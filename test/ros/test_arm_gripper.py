"""Which gripper an arm has, of a robot with two arms."""

from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed')

from fabrik_ros import load_urdf
from fabrik_ros.errors import GripperError
from fabrik_ros.motion.following.measured_joints import MeasuredJoints
from fabrik_ros.reasons import ReasonKind
from fabrik_ros.ros.arm.arm_gripper import ArmGripper
from gripper_arm import MIMIC, OPENING, WIDE
from helpers import joint_xml, robot_xml


def gripper_of(tip, name=''):
    """Return what the arm to a tip has: a gripper hangs on the right one alone."""
    robot = load_urdf(
        robot_xml(
            'base left_tip right_tip palm finger other_finger',
            joint_xml('left', 'base', 'left_tip', body=f'<axis xyz="0 0 1"/>{WIDE}'),
            joint_xml('right', 'base', 'right_tip', body=f'<axis xyz="0 0 1"/>{WIDE}'),
            joint_xml('hand', 'right_tip', 'palm', 'fixed', ''),
            joint_xml(
                'left_finger_joint',
                'palm',
                'finger',
                'prismatic',
                f'<origin xyz="0 0.01 0"/><axis xyz="0 1 0"/>{OPENING}',
            ),
            joint_xml(
                'right_finger_joint',
                'palm',
                'other_finger',
                'prismatic',
                f'<origin xyz="0 -0.01 0"/><axis xyz="0 -1 0"/>{OPENING}{MIMIC}',
            ),
        )
    )
    parameters = SimpleNamespace(
        gripper_joint=name,
        gripper_widths=(),
        gripper_action='',
        state_timeout=0.5,
        wait_for_state=True,
    )
    return ArmGripper(robot, robot.chain('base', tip), parameters, None)


def test_gripper_hangs_on_the_arm():
    right, left = gripper_of('right_tip'), gripper_of('left_tip')
    assert right.hand.link == 'palm'
    assert left.drive is None
    assert left.hand.link == 'left_tip'
    assert left.missing == (
        "gripper_joint 'left_finger_joint' hangs on 'palm', which the arm does not move"
    )
    with pytest.raises(GripperError, match='which the arm does not move'):
        gripper_of('left_tip', 'left_finger_joint')


def test_states_that_wait_to_be_heard_are_not_missing():
    gripper, measured = gripper_of('right_tip'), MeasuredJoints()
    measured.update(['left_finger_joint'], [0.0], 0.0)
    gripper.look(measured, 0.0)
    gripper.drive.go_to(0.08, 0.1, 1.0)
    measured.hear = lambda: measured.update(['left_finger_joint'], [0.01], 0.9)
    gripper.look(measured, 1.0)
    assert gripper.drive.stopped_by is None
    gripper.look(measured, 2.0)
    assert gripper.drive.stopped_by.kind is ReasonKind.STATE_MISSING


def test_fingers_keep_the_acceleration_in_the_robot_description():
    limit = OPENING.replace('<limit ', '<limit acceleration="2" deceleration="0.5" ')
    robot = load_urdf(
        robot_xml(
            'base palm finger other_finger',
            joint_xml('turn', 'base', 'palm', body=f'<axis xyz="0 0 1"/>{WIDE}'),
            joint_xml(
                'left_finger_joint', 'palm', 'finger', 'prismatic', f'<axis xyz="0 1 0"/>{limit}'
            ),
            joint_xml(
                'right_finger_joint',
                'palm',
                'other_finger',
                'prismatic',
                f'<axis xyz="0 -1 0"/>{OPENING}{MIMIC}',
            ),
            attributes='name="r" version="1.2"',
        )
    )
    parameters = SimpleNamespace(
        gripper_joint='',
        gripper_widths=(),
        gripper_action='',
        gripper_speed=1.0,
        max_joint_velocity_fraction=1.0,
        max_joint_velocity=1.5,
        max_joint_acceleration=5.0,
        wait_for_state=False,
    )
    watch = SimpleNamespace(other_joints={'left_finger_joint': 0.0})
    gripper = ArmGripper(robot, robot.chain('base', 'palm'), parameters, watch)
    drive = gripper.go_to(gripper.drive.gripper.widest, None)
    values = [0.0, 0.0]
    while drive.is_under_way:
        drive.step(0.01, 0.01 * len(values))
        values.append(drive.command[0])
    hardest = np.abs(np.diff(values, 2)).max() / 0.01**2
    assert 0.49 < hardest <= 0.5 + 1e-6
