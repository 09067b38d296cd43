"""A gripper, and what it carries, commanded over ROS: node and arm in processes of their own."""

import threading
import time

import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed')
pytest.importorskip('coal', reason='coal measures the distances')

from commanded import PATIENCE, until
from fabrik_ros.commander import Arm, MoveRefused, MoveStopped
from gripper_arm import gripper_arm, STROKE
from processes import Rig
from visualization_msgs.msg import Marker, MarkerArray

BENT = {'shoulder': 0.4, 'elbow': -0.8, 'wrist': 0.4, 'left_finger_joint': 0.02}


@pytest.fixture(scope='module')
def rig(tmp_path_factory, shared_network):
    folder = tmp_path_factory.mktemp('gripper')
    urdf = folder / 'arm.urdf'
    urdf.write_text(gripper_arm())
    rig = Rig(urdf, folder, shared_network)
    rig.start_node('mode:=position', 'planning_time:=0.0', "graspable:=['cup*']")
    rig.start_arm(bent=BENT)
    yield rig
    rig.end()


@pytest.fixture
def arm(rig):
    with Arm('fabrik') as arm:
        arm.wait_until_ready(PATIENCE)
        yield arm


def show_cup(arm):
    """Tell the node of a cup in front of the arm."""
    marker = Marker(ns='cup', type=Marker.CUBE, action=Marker.ADD)
    marker.header.frame_id = 'base'
    marker.pose.position.y = 0.6
    marker.scale.x = marker.scale.y = marker.scale.z = 0.04
    publisher = arm._node.create_publisher(MarkerArray, 'fabrik/obstacles', 10)
    until(publisher.get_subscription_count, 'somebody heeds obstacles')
    publisher.publish(MarkerArray(markers=[marker]))
    until(lambda: arm.state.facts['obstacles'] == '1', 'the cup is known')


def test_gripper_opens_and_closes_and_says_how_wide_it_is(arm):
    for go, width in (
        (arm.gripper.open, 2 * STROKE),
        (arm.gripper.close, 0.0),
        (lambda: arm.gripper.move(0.03), 0.03),
    ):
        result = go()
        assert result
        assert not result.holds
        assert result.width == pytest.approx(width, abs=1e-3)
        assert arm.gripper.width == pytest.approx(width, abs=1e-3)


def test_future_of_the_gripper_while_the_arm_moves(arm):
    future = arm.gripper.move(0.05, wait=False)
    arm.move_to({'shoulder': 0.5})
    assert future.result(PATIENCE).width == pytest.approx(0.05, abs=1e-3)


def test_newer_width_replaces_the_one_before(arm):
    arm.gripper.close()
    first = arm.gripper.move(0.08, wait=False)
    until(lambda: arm.state.facts['gripper_target'] == '0.08', 'the first one is taken')
    assert arm.gripper.move(0.02)
    with pytest.raises(MoveStopped) as stopped:
        first.result(PATIENCE)
    assert stopped.value.code == 'superseded'


def test_fingers_that_are_held_are_not_there(arm):
    arm.gripper.close()
    timer = threading.Timer(0.4, arm.hold)
    timer.start()
    with pytest.raises(MoveStopped) as stopped:
        arm.gripper.open()
    assert stopped.value.code == 'held'
    timer.join()
    with pytest.raises(MoveRefused) as refused:
        arm.gripper.close()
    assert refused.value.code == 'held'
    arm.resume()
    assert arm.gripper.close()


@pytest.mark.parametrize(('width', 'said'), [(0.2, '0 to 0.08 m'), (float('nan'), 'a number')])
def test_width_that_makes_no_sense_is_refused(arm, width, said):
    with pytest.raises(MoveRefused, match=said):
        arm.gripper.move(width)


def test_time_out_must_be_a_time(arm):
    with pytest.raises(ValueError, match='more than 0 s'):
        arm.gripper.open(timeout=0.0)


def test_time_that_is_too_short_is_said(arm):
    arm.gripper.close()
    with pytest.raises(MoveStopped) as stopped:
        arm.gripper.open(timeout=0.2)
    assert stopped.value.code == 'timed_out'


def test_obstacle_is_attached_and_put_down(arm):
    show_cup(arm)
    arm.attach('cup/0')
    assert arm.state.facts['attached'] == 'cup/0'
    with pytest.raises(MoveRefused, match='carries it already'):
        arm.attach('cup/0')
    arm.detach('cup/0')
    assert arm.state.facts['attached'] == ''
    with pytest.raises(MoveRefused, match='not attached'):
        arm.detach('cup/0')
    with pytest.raises(MoveRefused, match="did you mean 'cup/0'"):
        arm.attach('cup')


def test_arm_without_a_gripper_says_so(start):
    start()
    with Arm('fabrik') as arm:
        arm.wait_until_ready(PATIENCE)
        begin = time.monotonic()
        for go in (arm.gripper.open, lambda: arm.gripper.width):
            with pytest.raises(MoveRefused, match='none was found'):
                go()
        assert time.monotonic() - begin < PATIENCE
