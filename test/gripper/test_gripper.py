"""Which joint a gripper has, and how wide it is; widths on paper."""

from dataclasses import replace

from fabrik_ros import load_urdf
from fabrik_ros.errors import GripperError
from fabrik_ros.gripper.gripper import find_gripper
from gripper_arm import gripper_arm, MIMIC, OPENING, STROKE
from helpers import joint_xml, robot_xml
from hypothesis import given, strategies as st
import numpy as np
import pytest

TURNING = (
    '<axis xyz="0 0 1"/><limit lower="0" upper="0.8" velocity="1" effort="1"/>',
    f'<axis xyz="0 0 -1"/><limit lower="0" upper="0.8" velocity="1" effort="1"/>{MIMIC}',
)


def test_two_sliding_fingers_are_a_gripper():
    gripper = find_gripper(load_urdf(gripper_arm()))
    assert gripper.joint.name == 'left_finger_joint'
    assert (gripper.narrowest, gripper.widest) == (0.0, pytest.approx(2 * STROKE))
    assert gripper.palm == 'palm'
    assert set(gripper.links) == {'palm', 'left_finger', 'right_finger'}


@given(share=st.floats(0.0, 1.0), closes=st.booleans(), factor=st.sampled_from([0.5, 1.0, 2.0]))
def test_widths_are_distances_of_the_fingers(share, closes, factor):
    """The fingers' frames are as far apart as the width says, but for where they touch."""
    sign = -1 if closes else 1
    least, most = (-STROKE, 0.005) if closes else (-0.005, STROKE)
    limit = f'<limit lower="{least}" upper="{most}" velocity="0.2" effort="9"/>'
    mimic = f'<mimic joint="left_finger_joint" multiplier="{factor}"/>'
    robot = load_urdf(
        gripper_arm(f'<axis xyz="0 {sign} 0"/>{limit}', f'<axis xyz="0 {-sign} 0"/>{limit}{mimic}')
    )
    gripper = find_gripper(robot)
    lower, upper = gripper.joint.lower, gripper.joint.upper
    value = lower + share * (upper - lower)

    def apart(value: float) -> float:
        places = [
            robot.pose('palm', finger, {'left_finger_joint': value})[1, 3]
            for finger in ('left_finger', 'right_finger')
        ]
        return float(places[0] - places[1])

    closed = min(apart(lower), apart(upper))
    assert gripper.width_at(value) == pytest.approx(apart(value) - closed, abs=1e-12)
    assert gripper.value_for(gripper.width_at(value)) == pytest.approx(value, abs=1e-12)


@given(factor=st.sampled_from([-2.0, 0.0, 0.5, 3.0]), fast=st.floats(0.01, 1.0))
def test_all_fingers_keep_their_limits(factor, fast):
    limit = '<limit lower="0" upper="0.04" velocity="{}" acceleration="{}" effort="9"/>'
    mimic = f'<mimic joint="left_finger_joint" multiplier="{factor}"/>'
    one, other = limit.format(0.2, 3.0), limit.format(fast, 10.0 * fast)
    urdf = gripper_arm(f'<axis xyz="0 1 0"/>{one}', f'<axis xyz="0 1 0"/>{other}{mimic}')
    robot = load_urdf(urdf.replace('<robot ', '<robot version="1.2" ', 1))
    gripper = find_gripper(robot, widths=(0.0, 0.04))
    assert gripper.velocity <= 0.2
    assert gripper.acceleration <= 3.0
    assert abs(factor) * gripper.velocity <= fast * (1.0 + 1e-9)
    assert abs(factor) * gripper.acceleration <= 10.0 * fast * (1.0 + 1e-9)
    allowed = (fast / abs(factor) if factor else 0.2), 0.2
    assert gripper.velocity == pytest.approx(min(allowed))


def test_widths_that_are_given_count():
    robot = load_urdf(gripper_arm(*TURNING).replace('prismatic', 'revolute'))
    gripper = find_gripper(robot, widths=(0.085, 0.0))
    assert gripper.width_at(0.8) == pytest.approx(0.0)
    assert gripper.width_at(0.2) == pytest.approx(0.085 * 0.75)
    assert gripper.value_for(0.085) == pytest.approx(0.0)


@pytest.mark.parametrize('width', [-0.001, 0.081, float('nan'), float('inf')])
def test_width_that_it_cannot_have_is_refused(width):
    gripper = find_gripper(load_urdf(gripper_arm()))
    with pytest.raises(GripperError, match=r'0 to 0\.08 m'):
        gripper.value_for(width)


@pytest.mark.parametrize(
    ('urdf', 'name', 'widths', 'said'),
    [
        (gripper_arm(*TURNING).replace('prismatic', 'revolute'), '', (), 'give gripper_widths'),
        (gripper_arm(), 'left_finger', (), 'looks like one: left_finger_joint'),
        (gripper_arm(), 'right_finger_joint', (), "follows 'left_finger_joint'"),
        (gripper_arm(), '', (0.1,), r'got \[0\.1\]'),
        (gripper_arm(), '', (0.1, 0.1), 'two different widths'),
        (gripper_arm(), '', (0.1, -0.1), 'at least 0 m'),
        (gripper_arm(), '', (0.1, float('nan')), 'nan'),
        (gripper_arm().replace(MIMIC, ''), '', (), 'left_finger_joint, right_finger_joint'),
        (gripper_arm(f'<axis xyz="0 -1 0"/>{OPENING}'), '', (), 'slide towards each other'),
        (
            robot_xml('base tip', joint_xml('turn', 'base', 'tip')),
            '',
            (),
            'none was found; name its joint by gripper_joint',
        ),
        (
            robot_xml('base hand', joint_xml('gripper', 'base', 'hand', 'continuous')),
            'gripper',
            (0.0, 0.1),
            'no limits',
        ),
    ],
)
def test_what_is_no_gripper_is_refused_with_the_cure(urdf, name, widths, said):
    with pytest.raises(GripperError, match=said):
        find_gripper(load_urdf(urdf), name, widths)


def test_turned_fingers_have_the_widths_of_the_plain_ones():
    """The frames of the joints may be turned: the second finger as a mirror image."""
    robot = load_urdf(gripper_arm())
    right = robot.joint('right_finger_joint')
    origin = right.origin.copy()
    origin[:3, :3] = np.diag([-1.0, -1.0, 1.0])
    turned = replace(right, origin=origin, axis=np.array([0.0, 1.0, 0.0]))
    joints = tuple(turned if joint is right else joint for joint in robot.joints)
    gripper = find_gripper(replace(robot, joints=joints))
    assert gripper.widest == pytest.approx(2 * STROKE)
