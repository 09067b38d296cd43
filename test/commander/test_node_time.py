"""Time that passes for a node, by the stamps of its statuses: laws."""

import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed')
pytest.importorskip('hypothesis', reason='needs: pip install hypothesis')

from fabrik_ros.commander.node_time import NodeTime, STANDING
from helpers import examples
from hypothesis import given, settings, strategies as st
import numpy as np

SECOND = 10**9
PERIOD = 0.1
"""Time between two statuses [s]."""
START = 1000 * SECOND


class Clocks:
    """A steady clock, and one that has another pace, with a status in each period."""

    def __init__(self, is_simulated=True):
        self.now, self.stamp, self._is_simulated = 5.0, START, is_simulated
        self.time = NodeTime(lambda: self.now)
        self.tell()

    def tell(self):
        self.time.see(self.stamp, self.now, self._is_simulated)

    def go(self, seconds, pace):
        for _ in range(round(seconds / PERIOD)):
            self.now += PERIOD
            self.stamp += round(pace * PERIOD * SECOND)
            self.tell()


@settings(max_examples=examples(30, 1000), deadline=None)
@given(st.lists(st.tuples(st.floats(0.2, 5.0), st.floats(0.01, 50.0)), min_size=1, max_size=5))
def test_time_of_a_simulation_is_that_of_its_clock_and_the_slower_one_of_both(stretches):
    clocks = Clocks()
    shown = least = 0.0
    for seconds, pace in stretches:
        begin, stamp = clocks.now, clocks.stamp
        clocks.go(seconds, pace)
        passed = 1e-9 * (clocks.stamp - stamp)
        shown, least = shown + passed, least + min(passed, clocks.now - begin)
    assert np.isclose(clocks.time.shown, shown, atol=1e-6)
    assert np.isclose(clocks.time.passed, shown, atol=1e-6)
    assert np.isclose(clocks.time.slower, least, atol=1e-6)


@settings(max_examples=examples(30, 1000), deadline=None)
@given(st.lists(st.floats(-1e4, 1e4), min_size=1, max_size=5))
def test_time_of_a_node_without_simulation_is_that_of_here_whatever_its_clock_is_set_to(steps):
    clocks = Clocks(is_simulated=False)
    begin = clocks.now
    for step in steps:
        clocks.stamp += round(step * SECOND)
        clocks.go(0.5, 1.0)
        clocks.now += 0.05  # between two statuses, too
        for passed in (clocks.time.shown, clocks.time.passed, clocks.time.slower):
            assert np.isclose(passed, clocks.now - begin)
    assert clocks.time.went_on_at == clocks.now


@pytest.mark.parametrize('is_heard', [True, False])
def test_where_the_clock_stands_or_nobody_speaks_nothing_waits_for_ever(is_heard):
    clocks = Clocks()
    clocks.go(1.0, 3.0)
    stood_at = clocks.now
    if is_heard:
        clocks.go(STANDING + 10.0, 0.0)
    else:
        clocks.now += STANDING + 10.0
    assert np.isclose(clocks.time.shown, 3.0)
    assert np.isclose(clocks.time.passed, 13.0)
    assert np.isclose(clocks.time.slower, 11.0)
    assert clocks.time.went_on_at == stood_at
    clocks.go(1.0, 0.5)
    assert np.isclose(clocks.time.shown, 3.5)
    assert clocks.time.passed >= 13.5


def test_clock_that_goes_back_or_is_not_there_yet_takes_nothing_away():
    clocks = Clocks()
    clocks.go(1.0, 1.0)
    before = clocks.time.passed
    for stamp in (START // 2, 0, START):
        clocks.stamp = stamp
        clocks.tell()
        assert clocks.time.passed >= before
        assert clocks.time.passed < before + STANDING
