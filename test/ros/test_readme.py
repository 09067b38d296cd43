"""What the README says of topics, services and states is what the node has."""

from pathlib import Path
import re

import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed')

from bench import Bench
from fabrik_ros.motion.arm_state import State

README = (Path(__file__).resolve().parents[2] / 'README.md').read_text()
OF_ANY_NODE = 'parameter|type_description|get_loggers|set_logger|state|transition'
"""In names that a life cycle, parameters and logging bring along."""


def private_names(rows: str, column: int) -> set[str]:
    """Return the names of topics or services in the first words of rows of a table."""
    cells = [row.split('|')[column] for row in re.findall(rows, README, re.MULTILINE)]
    return {name for cell in cells for name in re.findall(r'`~/(\w+)`', cell)}


def names_of_node(names_and_types: list[tuple[str, list[str]]]) -> set[str]:
    names = {name.removeprefix('/fabrik/') for name, _ in names_and_types if 'fabrik/' in name}
    return {name for name in names if not re.search(OF_ANY_NODE, name)}


def test_topics_and_services_are_those_of_the_tables(bench: Bench, six_axis: str):
    bench.start_node(robot_description=six_axis, output=['joint_state', 'trajectory', 'array'])
    bench.wait_for_state('WAITING_FOR_STATE')
    node = bench.node
    assert names_of_node(
        node.get_subscriber_names_and_types_by_node('fabrik', '/')
    ) == private_names(r'^\| in .*', 2)
    assert names_of_node(
        node.get_publisher_names_and_types_by_node('fabrik', '/')
    ) == private_names(r'^\| out .*', 2)
    assert names_of_node(node.get_service_names_and_types_by_node('fabrik', '/')) == private_names(
        r'^\| `~/\w+` \| std_srvs.*', 1
    )


@pytest.mark.parametrize('state', State)
def test_states_are_named(state: State):
    text = README.split('**It says what it does**')[1].split('\n')[0]
    assert f'`{state.name}`' in text
