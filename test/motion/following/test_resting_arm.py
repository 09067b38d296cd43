"""An arm that comes to rest, and what is measured of it at odd times."""

from fabrik_ros.motion.following.resting_arm import NOISE_TIME, RestingArm
from hypothesis import given, strategies as st
import numpy as np

COMMAND = np.array([0.0, 0.0])
times = st.lists(st.floats(-2.0, 2.0), min_size=1, max_size=12)


def test_leap_after_a_silence_is_no_error_and_not_where_the_arm_has_settled():
    resting = RestingArm()
    resting.begin(0.0, 0.1, COMMAND, None)
    resting.add(0.0, COMMAND, has_jumped=False)
    resting.add(1.5 * NOISE_TIME, COMMAND + 1.0, has_jumped=False)
    assert not resting.has_settled


@given(times, st.data())
def test_whatever_comes_whenever_is_taken(gaps, data):
    resting, now = RestingArm(), 0.0
    resting.begin(now, 0.1, COMMAND, None)
    for gap in gaps:  # the clock may be set back, too
        now += gap
        q = np.array(data.draw(st.lists(st.floats(-3.0, 3.0), min_size=2, max_size=2)))
        resting.add(now, q, data.draw(st.booleans()))
        resting.moved(q)
        assert resting.is_calm in (True, False)
