"""Joints outside the arm that are not measured: the node says what it assumes of them."""

import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed')
pytest.importorskip('coal', reason='coal looks after collisions')

from bench import values_at
from collision_models import body
from helpers import joint_xml, robot_xml
from sensor_msgs.msg import JointState

BOX = body('<box size="0.2 0.05 0.05"/>', '0.2 0 0')
HINGE = '<axis xyz="0 0 1"/><limit lower="-3" upper="3" velocity="2" effort="9"/>'
ARM_JOINTS = [
    joint_xml('shoulder', 'base', 'upper', body=HINGE),
    joint_xml('elbow', 'upper', 'lower', body=f'<origin xyz="0.5 0 0"/>{HINGE}'),
    joint_xml('tool', 'lower', 'tip', 'fixed', '<origin xyz="0.5 0 0"/>'),
]
FINGERS = [
    joint_xml('grip', 'tip', 'finger', body=HINGE),
    joint_xml('pinch', 'tip', 'thumb', body=f'<mimic joint="grip" multiplier="-1"/>{HINGE}'),
    joint_xml('lamp', 'base', 'shade', body=HINGE),
]
LINKS = [f'<link name="{name}">{BOX}</link>' for name in ('base', 'upper', 'lower')]
ARM = robot_xml('tip', *LINKS, *ARM_JOINTS)
WITH_FINGERS = robot_xml(
    'tip shade',
    *LINKS,
    f'<link name="finger">{BOX}</link>',
    f'<link name="thumb">{BOX}</link>',
    *ARM_JOINTS,
    *FINGERS,
)
"""Fingers of which one follows the other, and a lamp without a shape."""
NEVER = 'joints that collisions depend on are not measured, so assumed: grip: 0'
LOST = 'no joint states come any more of joints that collisions depend on; their last values '


@pytest.fixture
def gripper_bench(bench):
    """Start a node that knows of fingers, and an arm that measures its own joints alone."""
    bench.start_node(mode='position', tip_link='tip')
    bench.start_arm(values_at(('shoulder', 'elbow'), (0.4, 0.8)), robot_description=ARM)
    bench.describe(WITH_FINGERS)
    bench.wait_for_state('IDLE', 300.0)
    return bench


def test_fingers_that_are_not_measured_are_named_with_the_value_that_counts(gripper_bench, capfd):
    bench = gripper_bench
    assert bench.status['assumed_joints'] == 'grip: 0'
    bench.spin_until(lambda: NEVER in bench.status['warnings'], 'a warning')
    fingers = bench.tester.create_publisher(JointState, 'joint_states', 10)
    states = bench.tester.create_timer(
        0.05, lambda: fingers.publish(JointState(name=['grip', 'lamp'], position=[0.3, 0.1]))
    )
    bench.spin_until(lambda: bench.status['assumed_joints'] == '', 'the fingers are measured')
    assert bench.status['warnings'] == ''
    states.cancel()
    bench.spin_until(lambda: LOST in bench.status['warnings'], 'the loss is said')
    assert bench.status['assumed_joints'] == 'grip: 0.3'
    bench.wait_for_statuses(5)
    said = capfd.readouterr().err
    assert (said.count(NEVER), said.count('measured now: grip'), said.count(LOST)) == (1, 1, 1)


def test_joint_that_nothing_depends_on_is_not_named(bench):
    bench.start_node(mode='position', tip_link='tip', self_collision='never')
    bench.start_arm(values_at(('shoulder', 'elbow'), (0.4, 0.8)), robot_description=ARM)
    bench.describe(WITH_FINGERS)
    bench.wait_for_state('IDLE', 300.0)
    assert bench.status['assumed_joints'] == ''
