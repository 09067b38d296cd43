"""Whose time it is, as that changes."""

import time

import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed')

from fabrik_ros.ros.clocks import node_clock
from fabrik_ros.ros.clocks.node_clock import NodeClock
import rclpy
from rclpy.parameter import Parameter
from rclpy.time import Time


@pytest.fixture
def node():
    context = rclpy.Context()
    rclpy.init(context=context)
    node = rclpy.create_node('whose_time_is_it', context=context)
    yield node
    node.destroy_node()
    rclpy.shutdown(context=context)


def use_sim_time(node, value):
    (result,) = node.set_parameters([Parameter('use_sim_time', value=value)])
    assert result.successful


def test_clock_notices_at_once_that_another_tells_the_time(node):
    clock = NodeClock(node)
    assert not clock.is_simulated
    assert abs(clock.now_ns() - time.time_ns()) < 1_000_000_000
    assert clock.read_ns()[1] is not None
    use_sim_time(node, True)
    node.get_clock().set_ros_time_override(Time(seconds=7))
    assert clock.is_simulated
    assert clock.now_ns() == 7_000_000_000
    assert clock.read_ns() == (7_000_000_000, None)
    use_sim_time(node, False)
    assert not clock.is_simulated


def test_clock_of_a_node_that_starts_in_a_simulation_is_simulated(node):
    use_sim_time(node, True)
    clock = NodeClock(node)
    assert clock.is_simulated


def test_clocks_are_not_compared_where_the_process_was_stopped_between_two_readings(
    node, monkeypatch
):
    clock, times = NodeClock(node), iter([0, 90_000_000])
    monkeypatch.setattr(node_clock.time, 'monotonic_ns', lambda: next(times))
    assert clock.read_ns()[1] is None
