"""package.xml: dependencies that rosdep finds, and all that the package imports from ROS."""

import ast
from pathlib import Path
import re
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).resolve().parents[2]
DEPENDENCIES = [
    item for item in ElementTree.parse(ROOT / 'package.xml').getroot() if 'depend' in item.tag
]

# From https://github.com/ros/rosdistro at 8468e88 (22 August 2026).
KEYS = {
    'python3-hypothesis',
    'python3-matplotlib',
    'python3-numpy',
    'python3-pil',
    'python3-pytest',
    'python3-yaml',
}
"""In rosdep/python.yaml, for Debian and Ubuntu."""
PACKAGES = {
    'action_msgs',
    'ament_index_python',
    'builtin_interfaces',
    'control_msgs',
    'diagnostic_msgs',
    'geometry_msgs',
    'interactive_markers',
    'joint_state_publisher',
    'launch',
    'launch_ros',
    'launch_testing',
    'launch_testing_ros',
    'lifecycle_msgs',
    'nav_msgs',
    'rcl_interfaces',
    'rclpy',
    'robot_state_publisher',
    'rosgraph_msgs',
    'rviz2',
    'sensor_msgs',
    'std_msgs',
    'std_srvs',
    'tf2_ros',
    'trajectory_msgs',
    'visualization_msgs',
    'xacro',
}
"""Released in <distribution>/distribution.yaml of Humble, Jazzy, Kilted and Lyrical."""

ROS = re.compile(
    r'rclpy|xacro|interactive_markers|\w+_(msgs|srvs|interfaces)|tf2_\w+|launch(_\w+)?|ament_\w+'
)
SOURCES = [*(ROOT / 'fabrik_ros').rglob('*.py'), *(ROOT / 'launch').glob('*.py')]


def imported_from_ros() -> set[str]:
    """Name the packages of ROS that the package and its launch files import anywhere."""
    names = set()
    for source in SOURCES:
        for node in ast.walk(ast.parse(source.read_text())):
            if isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names.add(node.module)
    tops = {name.split('.')[0] for name in names}
    return {top for top in tops if ROS.fullmatch(top)}


@pytest.mark.parametrize('name', sorted({item.text for item in DEPENDENCIES}))
def test_rosdep_finds_the_dependency(name):
    assert name in KEYS | PACKAGES


def test_nothing_is_asked_for_twice_in_one_way():
    asked = [(item.tag, item.text) for item in DEPENDENCIES]
    assert len(set(asked)) == len(asked)


def test_all_that_is_imported_from_ros_is_asked_for():
    imported = imported_from_ros()
    assert {'rclpy', 'sensor_msgs', 'launch'} <= imported
    assert imported <= {item.text for item in DEPENDENCIES}


@pytest.mark.parametrize('name', ['control_msgs', 'tf2_ros'])
def test_what_the_node_hears_and_looks_up_is_installed_with_it(name):
    assert ('exec_depend', name) in {(item.tag, item.text) for item in DEPENDENCIES}
