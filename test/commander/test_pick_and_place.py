"""The example that puts parts into a bin, with node and simulated physics as processes."""

from pathlib import Path
import sys

import numpy as np
import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed')
pytest.importorskip('mujoco', reason='the extra `sim`: pip install mujoco')
pytest.importorskip('coal', reason='the extra `collision`')
pytest.importorskip('xacro', reason='the bundled arms are xacro files')

from commanded import until
from fabrik_ros import example_arm, load_urdf
from fabrik_ros.collision import link_poses, load_scene
from fabrik_ros.commander import Arm
from fabrik_ros.ros.beside.parts import parameters_for_parts
from fabrik_ros.ros.clocks.qos import LATCHED
from fabrik_ros.ros.messages.conversions import pose_to_matrix
from processes import BENT, Rig
from visualization_msgs.msg import MarkerArray

ROOT = Path(__file__).parents[2]
CONFIG = ROOT / 'config'
SCENE, PARTS = CONFIG / 'pick_and_place.yaml', CONFIG / 'pick_and_place_parts.yaml'
FLOOR_OF_BIN = 0.01
"""Its height [m]."""
STANDS = 5e-3
"""How far from its place a part may stand [m]."""


@pytest.fixture
def example(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / 'examples'))
    import pick_and_place

    yield pick_and_place
    del sys.modules['pick_and_place']


@pytest.fixture
def world(tmp_path, network):
    """Node and arm in simulated time, which waits where the machine is busy; and their parts."""
    urdf = tmp_path / 'arm.urdf'
    urdf.write_text(load_urdf(example_arm('six_axis_gripper')).source)
    rig = Rig(urdf, tmp_path, network)
    for_parts = parameters_for_parts(PARTS)
    graspable = ', '.join(f"'{name}'" for name in for_parts['graspable'])
    rig.start_node('use_sim_time:=true', f'scene:={SCENE}', f'graspable:=[{graspable}]')
    rig.start_arm(
        'fabrik/joint_command',
        BENT,
        'physical_arm',
        'publish_clock:=true',
        f'scene:={SCENE}',
        f'parts:={PARTS}',
    )
    with Arm() as arm:
        yield arm, Parts(arm)
    rig.end()


class Parts:
    """Where the simulation says that its parts are."""

    def __init__(self, arm):
        self._newest = None
        arm._node.create_subscription(MarkerArray, 'fabrik/obstacles', self._take, LATCHED)

    def _take(self, message):
        self._newest = message

    @property
    def poses(self):
        """Poses in the base, shape (4, 4), by name; waits for the first ones."""
        until(lambda: self._newest is not None, 'parts')
        return {f'{m.ns}/{m.id}': pose_to_matrix(m.pose) for m in self._newest.markers}


def check_stands(T, xy, bottom, height):
    np.testing.assert_allclose(T[:3, 3], (*xy, bottom + height / 2), atol=STANDS)
    assert T[2, 2] > np.cos(0.05), 'upright'


def put_away(arm, example):
    return {name: example.take_away(arm, name) for name in example.PARTS}


def test_every_part_of_the_example_stands_in_its_place_in_the_bin(world, example):
    arm, parts = world
    arm.wait_until_ready(120.0)
    for name, T in parts.poses.items():
        here, height, _ = example.PARTS[name]
        check_stands(T, here, 0.0, height)
    assert put_away(arm, example) == dict.fromkeys(example.PARTS, 'is in the bin')
    assert arm.state.facts['attached'] == ''
    for name, T in parts.poses.items():
        _, height, there = example.PARTS[name]
        check_stands(T, there, FLOOR_OF_BIN, height)


def test_part_that_is_not_there_is_said_and_the_next_one_is_tried(world, example):
    arm, parts = world
    arm.wait_until_ready(120.0)
    there = example.PARTS['part/1'][2]
    example.PARTS = {'part/1': ((0.45, 0.0), 0.045, there), 'part/2': example.PARTS['part/2']}
    said = put_away(arm, example)
    assert said == {'part/1': 'the gripper closed on nothing', 'part/2': 'is in the bin'}
    check_stands(parts.poses['part/1'], (0.45, -0.12), 0.0, 0.045)


def test_example_knows_the_parts_of_the_file(example):
    parts = load_scene(PARTS, link_poses(load_urdf(example_arm('six_axis_gripper'))))
    for part in parts:
        (x, y), height, _ = example.PARTS[part.name]
        np.testing.assert_allclose(part.T_link_obstacle[:3, 3], (x, y, height / 2))
    assert example.PARTS.keys() == {part.name for part in parts}
