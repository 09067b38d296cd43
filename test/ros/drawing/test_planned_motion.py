"""A motion that is played before it is executed: along its path, no faster than the arm can."""

from fabrik_ros.motion.paths.preview import NO_MOTION
from fabrik_ros.ros.drawing.planned_motion import LONGEST, PAUSE, PlannedMotion
from hypothesis import given, strategies as st
import numpy as np
import pytest

FASTEST = 1.0
"""No joint is planned to go faster [rad/s]."""
STEP = 0.03
"""Between two pictures [s]."""


def motion(q, seconds_apart=0.1):
    """Move through joint values, shape (m, n)."""
    return seconds_apart * np.arange(len(q)), np.array(q)


@given(st.lists(st.tuples(*2 * [st.floats(-0.1, 0.1)]), min_size=2, max_size=30), st.floats(0, 99))
def test_arm_is_never_faster_than_planned_and_begins_again_after_its_end(steps, began_at):
    q = np.cumsum(steps, axis=0)
    proposal, player = motion(q), PlannedMotion()
    duration = 0.1 * (len(q) - 1)
    times = began_at + np.arange(0.0, duration, STEP)
    played = np.array([player.configuration(proposal, time) for time in times])
    np.testing.assert_array_equal(played[0], q[0])
    assert np.abs(np.diff(played, axis=0)).max(initial=0.0) <= FASTEST * STEP + 1e-9
    end = player.configuration(proposal, began_at + duration + 0.5 * PAUSE)
    np.testing.assert_allclose(end, q[-1])
    again = player.configuration(proposal, began_at + duration + PAUSE + 0.05)
    np.testing.assert_allclose(again, 0.5 * (q[0] + q[1]), atol=1e-9)


def test_long_motion_is_played_in_short_time():
    proposal, player = motion([[0.0], [1.0], [2.0]], seconds_apart=LONGEST), PlannedMotion()
    assert player.configuration(proposal, 0.0) == [0.0]
    assert player.configuration(proposal, 0.75 * LONGEST) == pytest.approx([1.5])
    assert player.configuration(proposal, LONGEST + 0.1) == [2.0]


def test_another_motion_begins_at_its_beginning_and_none_is_played_where_none_waits():
    player = PlannedMotion()
    assert player.configuration(NO_MOTION, 0.0) is None
    assert player.configuration(motion([[0.0], [1.0]]), 5.0) == [0.0]
    assert player.configuration(motion([[3.0], [4.0]]), 5.05) == [3.0]
    assert player.configuration(NO_MOTION, 6.0) is None
