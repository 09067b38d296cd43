"""What is read off a log, against sines and steps that are worked out on paper."""

import math

from fabrik_ros.logs.measures import answer_times, events, limits_used, tracking
from fabrik_ros.logs.motion_log import MotionLog, Samples, SentTarget, Status
import numpy as np
import pytest

AMPLITUDE, TURNS, LAG = 0.4, 2.0, 0.08
"""Of a joint that swings [rad, rad/s], and how late it is [s]."""


def samples(heard, *columns, stamps=None):
    heard = np.asarray(heard, dtype=np.float64)
    q = np.column_stack(columns) if columns else np.empty((len(heard), 2))
    return Samples(heard, heard if stamps is None else stamps, q)


def a_log(commands, states=None, targets=(), statuses=(), limits=(1.0, 5.0)):
    n = commands.q.shape[1]
    velocity, acceleration = (np.full(n, limit) for limit in limits)
    return MotionLog(
        tuple(f'j{number}' for number in range(n)),
        velocity,
        acceleration,
        commands,
        samples([], *np.empty((n, 0))) if states is None else states,
        tuple(statuses),
        tuple(SentTarget(time, 'target_pose') for time in targets),
        {},
    )


def swinging(lag=LAG):
    """Make a log of a joint that swings through a whole turn, and of one that rests."""
    times = np.arange(0.0, 2.0 * math.pi + 0.005, 0.01)
    measured = np.arange(0.5, 0.5 + math.pi, math.pi / 2000)  # a whole turn: 2 rad/s for pi s
    return a_log(
        samples(times, AMPLITUDE * np.sin(TURNS * times), np.zeros(len(times))),
        samples(
            measured,
            AMPLITUDE * np.sin(TURNS * (measured - lag)),
            np.full(len(measured), 0.01),
        ),
    )


def test_a_late_sine_is_off_by_twice_the_sine_of_half_its_lag():
    """A (sin w t - sin w (t - l)) is 2 A sin(w l / 2) cos(...), whose mean square is a half."""
    found = tracking(swinging())
    most = 2.0 * AMPLITUDE * math.sin(0.5 * TURNS * LAG)
    assert found.worst == pytest.approx([most, 0.01], rel=1e-3)
    assert found.rms == pytest.approx([most / math.sqrt(2.0), 0.01], rel=1e-3)


@pytest.mark.parametrize('lag', [0.0, 0.03, 0.25])
def test_the_lag_of_an_arm_is_found(lag):
    assert tracking(swinging(lag)).lag == pytest.approx(lag, abs=0.0011)


def test_an_arm_that_never_moves_tells_no_lag():
    times = np.arange(0.0, 1.0, 0.01)
    rest = samples(times, np.zeros(100), np.zeros(100))
    assert math.isnan(tracking(a_log(rest, rest)).lag)


def test_nothing_is_compared_while_no_commands_come():
    heard = np.array([0.0, 0.05, 0.1, 3.0, 3.05, 3.1])
    commands = samples(heard, [0.0, 0.0, 0.0, 1.0, 1.0, 1.0])
    measured = samples([0.02, 1.5, 3.02], [0.0, 7.0, 1.5])
    found = tracking(a_log(commands, measured))
    assert found.times.tolist() == [0.02, 3.02]
    assert found.error.ravel() == pytest.approx([0.0, 0.5])


def test_joints_that_are_not_measured_are_unknown():
    log = swinging()
    log.states.q[:, 1] = np.nan
    found = tracking(log)
    assert np.isnan(found.rms).tolist() == [False, True]
    assert found.lag == pytest.approx(LAG, abs=0.0011)


def test_shares_of_the_limits_are_those_of_an_even_acceleration():
    """From rest at 2 rad/s^2 for 0.2 s: 0.4 rad/s, at limits of 1 and 5."""
    times = np.arange(0.0, 0.3, 0.001)
    even = np.minimum(times, 0.2)
    q = even**2 + 0.4 * (times - even)
    late = times + 0.004 * np.sin(1000.0 * times)  # as heard, which does not count
    used = limits_used(a_log(samples(late, q, 0.0 * q, stamps=times)))
    assert used.velocity == pytest.approx([0.4, 0.0])
    assert used.acceleration == pytest.approx([0.4, 0.0], abs=1e-6)


def test_of_a_limit_that_is_zero_no_share_is_known():
    times = np.arange(0.0, 0.3, 0.01)
    used = limits_used(a_log(samples(times, times, 0.0 * times), limits=(0.0, 5.0)))
    assert np.isnan(used.velocity).all()
    assert used.acceleration == pytest.approx([0.0, 0.0], abs=1e-6)


def test_a_leap_between_two_runs_is_no_speed():
    heard = [0.0, 0.05, 0.1, 9.0, 9.05, 9.1]
    used = limits_used(a_log(samples(heard, [0.0, 0.0, 0.0, 2.0, 2.0, 2.0])))
    assert used.velocity.tolist() == used.acceleration.tolist() == [0.0]


def test_targets_at_rest_are_answered_by_the_next_command_in_time():
    heard = [1.0, 1.05, 1.1, 5.2, 5.25]
    log = a_log(samples(heard, np.zeros(5)), targets=[0.98, 1.02, 2.0, 5.0])
    assert answer_times(log) == pytest.approx([0.02, 0.2])


def test_changes_of_the_state_and_stops_are_listed_once():
    told = [
        ('IDLE', '', ''),
        ('IDLE', '', ''),
        ('MOVING', '', 'x'),
        ('HOLDING', 'held', 'told to hold'),
        ('HOLDING', 'held', 'still told to hold'),
        ('HOLDING', 'state_missing', 'no fresh state'),
    ]
    statuses = [
        Status(0.1 * number, {'state': state, 'reason_code': code, 'reason': reason})
        for number, (state, code, reason) in enumerate(told)
    ]
    found = events(a_log(samples([], []), statuses=statuses))
    assert [(event.state, event.code) for event in found] == [
        ('IDLE', ''), ('MOVING', ''), ('HOLDING', 'held'), ('HOLDING', 'state_missing'),
    ]  # fmt: skip
    assert [event.is_stop for event in found] == [False, False, True, True]
    assert found[2].time == pytest.approx(0.3)


def test_an_empty_log_has_nothing_to_tell():
    log = a_log(samples([], [], []))
    assert tracking(log).times.size == 0
    assert np.isnan(tracking(log).rms).all()
    assert limits_used(log).velocity.tolist() == [0.0, 0.0]
    assert answer_times(log).size == 0
    assert events(log) == []
