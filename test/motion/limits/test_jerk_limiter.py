"""Limited jerk: stops worked out on paper, averages, and what is said where ruckig is missing."""

from dataclasses import replace
import math
import sys

from fabrik_ros.errors import MotionError
from fabrik_ros.motion.limits.limits import MotionLimits
from helpers import assert_close
import numpy as np
import pytest

pytest.importorskip('ruckig', reason='ruckig plans the steps')

from fabrik_ros.motion.limits.jerk_filter import JerkFilter

DT, FASTEST, HARDEST, JERK = 0.01, 1.5, 5.0, 50.0
LIMITS = MotionLimits(0.25, 1.0, 1.0, np.array([FASTEST]), np.array([HARDEST]))


@pytest.fixture
def limiter():
    limiter = JerkFilter(JERK, DT, np.array([-10.0]), np.array([10.0]))
    limiter.change_limits(LIMITS)
    limiter.reset(np.zeros(1))
    return limiter


def follow(limiter, motion, steps):
    """Command what a motion, q by the time, leads to; the commands, shape (steps,)."""
    commands = []
    for i in range(1, steps + 1):
        limiter.take(limiter.plan(np.array([motion(i * DT)]), DT))
        commands.append(limiter.q[0])
    return np.array(commands)


def braked(limiter, dt):
    """Brake to rest; how long it takes, to a step, and the joint value there."""
    expected, steps = limiter.begin_to_brake(), 0
    while limiter.is_braking:
        limiter.brake(dt)
        steps += 1
    assert_close(limiter.q, expected)
    assert limiter.is_at_rest
    return steps * dt, limiter.q[0]


def cruise(time, speed=1.0, gain=2.0):
    """Gain speed evenly and go on at it."""
    gaining = min(time, speed / gain)
    return 0.5 * gain * gaining**2 + speed * (time - gaining)


@pytest.mark.parametrize('speed', [0.1, 1.0])
def test_stop_is_the_one_on_paper(limiter, speed):
    """
    Below a^2 / j it takes twice sqrt(v / j), else v / a + a / j.

    It is even on both sides of its middle, so the way is half of that time at full speed.
    """
    follow(limiter, lambda t: cruise(t, speed), 200)
    assert_close(limiter.velocity, [speed], 1e-9)
    long = speed >= HARDEST**2 / JERK
    lasts = speed / HARDEST + HARDEST / JERK if long else 2.0 * math.sqrt(speed / JERK)
    begin = limiter.q[0]
    time, end = braked(limiter, 0.001)
    assert lasts - 1e-9 <= time <= lasts + 0.0011
    assert end - begin == pytest.approx(0.5 * speed * lasts, abs=1e-9)


def test_even_motion_is_followed_with_a_lag_of_half_the_window(limiter):
    commands = follow(limiter, cruise, 200)
    lag = HARDEST / JERK
    assert commands[-1] == pytest.approx(cruise(2.0 - lag), abs=1e-9)


def test_motion_that_waves_is_followed_with_its_size_reduced_as_averages_are(limiter):
    """The average of a sine over a window T is smaller by sin(w T / 2) / (w T / 2)."""
    rate, window = 2.0, 2.0 * HARDEST / JERK
    commands = follow(limiter, lambda t: 0.3 * (1.0 - math.cos(rate * t)), 700)
    size = 0.5 * np.ptp(commands[200:])
    expected = 0.3 * math.sin(0.5 * rate * window) / (0.5 * rate * window)
    assert size == pytest.approx(expected, rel=1e-3)


def test_motion_that_rests_but_for_rounding_is_followed_to_rest(limiter):
    """As one with a joint near 0, where the last bits of its value go to and fro."""

    def out_and_back(time):
        rounding = 1e-18 * math.sin(100.0 * time)
        return 0.1 * math.sin(math.pi * time) ** 2 if time < 1.0 else rounding

    follow(limiter, out_and_back, 200)
    assert limiter.is_at_rest
    assert_close(limiter.q, [0.0])


def test_ramp_of_rest_is_one_point(limiter):
    ramp = limiter.stop_trajectory()
    assert ramp.times.tolist() == [0.0]
    assert ramp.q.tolist() == ramp.velocity.tolist() == [[0.0]]


def test_ramp_is_the_same_before_and_while_braking(limiter):
    follow(limiter, cruise, 100)
    before = limiter.stop_trajectory()
    limiter.begin_to_brake()
    for _ in range(5):
        limiter.brake(DT)
    while_braking = limiter.stop_trajectory()
    assert before.times[-1] - while_braking.times[-1] == pytest.approx(5 * DT, abs=1.1e-6)
    assert_close(before.q[-1], while_braking.q[-1])
    assert not np.any(before.velocity[-1])
    assert_close(while_braking.q[0], limiter.q)
    assert np.all(np.diff(before.times) >= 0.9e-6)


def test_arm_told_to_brake_leaves_the_motion_and_waits_where_it_rests(limiter):
    follow(limiter, cruise, 100)
    _, end = braked(limiter, DT)
    commands = follow(limiter, lambda t: end, 50)
    assert np.ptp(commands) == 0.0


def test_reset_forgets_the_motion(limiter):
    follow(limiter, cruise, 100)
    limiter.reset(np.array([3.0]))
    assert limiter.is_at_rest
    assert_close(limiter.begin_to_brake(), [3.0])
    assert not limiter.is_braking


def test_motion_is_asked_to_leave_room(limiter):
    asked = limiter.change_limits(LIMITS)
    assert 0.9 * FASTEST < asked.joint_velocity[0] < FASTEST
    assert 0.9 * HARDEST < asked.joint_acceleration[0] < HARDEST
    assert asked.tip_speed == LIMITS.tip_speed


def test_missing_ruckig_is_an_error_that_names_the_cure(monkeypatch):
    monkeypatch.setitem(sys.modules, 'ruckig', None)  # as if it were not installed
    with pytest.raises(MotionError, match='pip install ruckig'):
        JerkFilter(JERK, DT, np.array([-1.0]), np.array([1.0]))


def test_window_that_has_grown_at_rest_begins_with_the_rest(limiter):
    follow(limiter, lambda time: 0.0, 60)
    limiter.change_limits(replace(LIMITS, joint_acceleration=np.array([20.0])))
    commands = np.array([0.0, 0.0, *follow(limiter, cruise, 200)])
    assert np.abs(np.diff(commands, 2)).max() <= 20.0 * DT * DT
    assert np.all(np.diff(commands) >= -1e-12)
    assert_close(np.diff(commands)[-1] / DT, 1.0)


@pytest.mark.parametrize(('lower', 'upper'), [(1.0, 2.0), (-2.0, -1.0)])
def test_joint_whose_limits_have_0_outside_is_followed(lower, upper):
    limiter = JerkFilter(JERK, DT, np.array([lower]), np.array([upper]))
    limiter.change_limits(LIMITS)
    middle = 0.5 * (lower + upper)
    limiter.reset(np.array([middle]))
    commands = follow(limiter, lambda time: middle + cruise(time, 0.2), 100)
    assert commands[-1] == pytest.approx(middle + cruise(0.9, 0.2), abs=1e-6)
    _, rest = braked(limiter, DT)
    assert commands[-1] < rest < upper
