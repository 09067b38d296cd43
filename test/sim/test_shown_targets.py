"""The targets for the window, from the markers that the node draws."""

import numpy as np
import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed')

from builtin_interfaces.msg import Time
from fabrik_ros import example_arm, load_urdf
from fabrik_ros.motion.following.arm_state import State
from fabrik_ros.ros.drawing.markers import markers_of, Picture
from fabrik_ros.ros.messages.marker_shapes import all_removed, LIFETIME, Pen, removed
from fabrik_ros.sim.shown_targets import ShownTargets
from visualization_msgs.msg import MarkerArray

pytest.importorskip('xacro', reason='the bundled arms are xacro files')
CHAIN = load_urdf(example_arm('six_axis')).chain()
Q = np.array([0.3, -1.2, 1.4, -1.8, -1.5, 0.2])
GOAL = CHAIN.forward_kinematics(Q)


@pytest.fixture
def targets():
    """Take the picture of an arm on its way to a goal, as the node draws it, at 10 s."""
    picture = Picture(CHAIN, State.MOVING, None, '', CHAIN.mid_configuration(), GOAL[None])
    shown = ShownTargets()
    shown.take(MarkerArray(markers=[*markers_of(picture, Pen('base_link', Time()))]), 10.0)
    return shown


def test_target_is_the_pose_that_the_tool_should_have(targets):
    ((frame, T),) = targets.at(10.0)
    assert frame == 'base_link'
    np.testing.assert_allclose(T, GOAL, atol=1e-9)


def test_target_that_is_not_renewed_is_gone(targets):
    assert len(targets.at(10.0 + LIFETIME)) == 1
    assert targets.at(10.1 + LIFETIME) == []


@pytest.mark.parametrize(
    'marker', [removed('fabrik/target', 0), all_removed('fabrik/target')], ids=['one', 'all']
)
def test_target_that_is_taken_away_is_gone(targets, marker):
    targets.take(MarkerArray(markers=[marker]), 10.0)
    assert targets.at(10.0) == []


def test_other_markers_change_nothing(targets):
    targets.take(MarkerArray(markers=[all_removed('fabrik/chain')]), 10.0)
    assert len(targets.at(10.0)) == 1
