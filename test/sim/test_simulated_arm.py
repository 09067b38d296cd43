"""The simulated arm that merely lags behind its commands."""

from fabrik_ros import example_arm, load_urdf
import numpy as np
import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed')
pytest.importorskip('xacro', reason='the bundled arms are xacro files')

from fabrik_ros.sim.simulated_arm import LaggingArm

LAG = 0.05


def test_gripper_moves_as_any_other_joint_and_leaves_the_others_on_their_way():
    """Two streams of messages, each naming joints of its own, as of a node with a gripper."""
    arm = LaggingArm(load_urdf(example_arm('six_axis_gripper')), {}, LAG)
    assert arm.joint_names[-1] == 'left_finger_joint', 'the other finger follows'
    names = arm.joint_names[:-1]
    wanted = np.linspace(0.1, 0.6, len(names))
    for k in range(100):
        arm.take(dict(zip(names, wanted, strict=True)), 0.01 * k)
        arm.advance(0.005)
        arm.take({'left_finger_joint': 0.03}, 0.01 * k)
        arm.advance(0.005)
    share = 1.0 - np.exp(-1.0 / LAG)
    np.testing.assert_allclose(arm.measured[0], share * np.array([*wanted, 0.03]), rtol=1e-9)
