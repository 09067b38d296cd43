"""What docs/node.md says of topics, services and states is what the node has."""

from pathlib import Path
import re

import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed')

from bench import Bench
from fabrik_ros.motion.following.arm_state import State

PAGE = (Path(__file__).resolve().parents[2] / 'docs' / 'node.md').read_text()
OF_ANY_NODE = 'parameter|type_description|get_loggers|set_logger|state|transition|_action'
"""In names that a life cycle, parameters, logging and actions bring along."""
ROW = {
    'in': r'^\| in \| (.*?) \| (\w+/\w+) \|',
    'out': r'^\| out \| (.*?) \| (\w+/\w+) \|',
    'service': r'^\| (`~/\w+`) \| (std_srvs/\w+) \|',
}
"""Rows of the tables: names and type."""


def documented(kind: str) -> dict[str, str]:
    """Return types of private topics or services by their names, as the tables have them."""
    return {
        name: type_
        for cell, type_ in re.findall(ROW[kind], PAGE, re.MULTILINE)
        for name in re.findall(r'`~/(\w+)`', cell)
    }


def offered(names_and_types: list[tuple[str, list[str]]]) -> dict[str, str]:
    """Return types of private topics or services by their names, as the node has them."""
    types = {
        name.removeprefix('/fabrik/'): re.sub('/(msg|srv)/', '/', kinds[0])
        for name, kinds in names_and_types
        if 'fabrik/' in name
    }
    return {name: type_ for name, type_ in types.items() if not re.search(OF_ANY_NODE, name)}


def test_topics_and_services_are_those_of_the_tables(bench: Bench, six_axis: str):
    bench.start_node(robot_description=six_axis, output=['joint_state', 'trajectory', 'array'])
    bench.wait_for_state('WAITING_FOR_STATE')
    node = bench.node
    subscriptions = node.get_subscriber_names_and_types_by_node('fabrik', '/')
    publishers = node.get_publisher_names_and_types_by_node('fabrik', '/')
    services = node.get_service_names_and_types_by_node('fabrik', '/')
    assert offered(subscriptions) == documented('in')
    assert offered(publishers) == documented('out')
    assert offered(services) == documented('service')


@pytest.mark.parametrize('state', State)
def test_states_are_named(state: State):
    text = PAGE.split('**The state**')[1].split('\n')[0]
    assert f'`{state.name}`' in text


def test_facts_of_the_status_are_those_that_it_has(bench: Bench, six_axis: str):
    """Those of every status; what comes with solving, a scene or points is named elsewhere."""
    bench.start_node(robot_description=six_axis)
    bench.wait_for_state('WAITING_FOR_STATE')
    table = PAGE.split('| key | what it says |')[1].split('\n\n')[0]
    cells = [row.split('|')[1] for row in table.splitlines() if row.startswith('| `')]
    named = {key for cell in cells for key in re.findall(r'`(\w+)`', cell)}
    assert named
    assert named <= bench.status.keys(), named - bench.status.keys()
