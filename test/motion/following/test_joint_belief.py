"""What is believed of a measured joint: laws of moving joints, glitches and two sources."""

import math

from fabrik_ros.motion.following.joint_belief import believable_speed
from fabrik_ros.motion.following.measured_joints import MeasuredJoints
import hypothesis
from hypothesis import strategies as st
import numpy as np
import pytest

LIMIT = 2.0
"""Velocity of the joint in its URDF [rad/s]."""
DT = 0.01


class Joint:
    """One joint that is listened to."""

    def __init__(self, cycle=math.inf):
        self.measured, self.now = MeasuredJoints(), 100.0
        self.measured.expect(['a'], [believable_speed(LIMIT)], [cycle])

    def say(self, value, dt=DT, stamp=None):
        self.now += dt
        self.measured.update(['a'], [value], self.now, stamp)

    @property
    def value(self):
        return self.measured.newest(['a'])[0]

    @property
    def is_contradicted(self):
        return bool(self.measured.contradictions(['a'], self.now))


@hypothesis.given(
    seed=st.integers(0, 10_000),
    period=st.sampled_from([0.002, 0.01, 0.03, 0.1]),
    jitter=st.floats(0.0, 0.04),
    noise=st.floats(0.0, 0.01),
    cycle=st.sampled_from([math.inf, 2.0 * math.pi]),
)
def test_joint_that_moves_within_its_speed_is_believed_whatever_delays_its_messages(
    seed, period, jitter, noise, cycle
):
    rng, joint = np.random.default_rng(seed), Joint(cycle)
    measured_at = np.arange(200) * period
    velocity = LIMIT * np.sin(3.0 * measured_at + seed)
    values = np.cumsum(velocity * period) + rng.uniform(-noise, noise, 200)
    if cycle < math.inf:  # as some drivers report them
        values = np.remainder(values, cycle)
    received = np.maximum.accumulate(measured_at + rng.uniform(0.0, jitter, 200))
    for i, (dt, value) in enumerate(zip(np.diff(received, prepend=0.0), values, strict=True)):
        joint.say(float(value), dt)
        assert joint.value == value
        assert not joint.is_contradicted
        assert bool(joint.measured.in_doubt(['a'], 0.0)) == (i == 0)  # nobody has seen it there


@hypothesis.given(
    at=st.floats(-3.0, 3.0), off=st.floats(0.2, 6.0), sign=st.sampled_from([-1.0, 1.0])
)
def test_one_value_where_a_joint_cannot_have_come_is_put_aside(at, off, sign):
    joint = Joint()
    for _ in range(5):
        joint.say(at)
    joint.say(at + sign * off)
    assert joint.value == at
    assert joint.measured.in_doubt(['a'], 0.0) == ['a']
    joint.say(at)
    assert joint.value == at
    assert not joint.measured.in_doubt(['a'], 0.0)
    assert not joint.is_contradicted
    assert joint.measured.jumped_at(['a']) == -math.inf


def test_second_value_that_agrees_is_believed():
    """A simulation that was reset, an encoder that was set anew."""
    joint = Joint()
    joint.say(0.0)
    joint.say(1.0)
    joint.say(1.0)
    assert joint.value == 1.0
    assert joint.measured.jumped_at(['a']) == joint.now
    for _ in range(500):
        joint.say(1.0)
        assert not joint.is_contradicted


def test_silent_joint_may_be_anywhere_it_can_have_come_to():
    joint = Joint()
    joint.say(0.0)
    joint.say(2.0, dt=1.0)
    assert joint.value == 2.0
    assert joint.measured.in_doubt(['a'], 0.0) == ['a']
    assert not joint.measured.in_doubt(['a'], joint.now + DT)
    joint.say(2.0)
    assert not joint.measured.in_doubt(['a'], 0.0)


@hypothesis.given(silence=st.floats(0.0, 10.0), off=st.floats(-0.004, 0.004))
def test_silent_joint_that_is_where_it_was_is_in_no_doubt(silence, off):
    joint = Joint()
    joint.say(0.0)
    joint.say(0.0)
    joint.say(off, dt=silence)
    assert not joint.measured.in_doubt(['a'], 0.0)


@hypothesis.given(
    off=st.floats(0.4, 3.0),
    ratio=st.integers(1, 8),
    speed=st.floats(-1.0, 1.0),
    moves=st.booleans(),
)
def test_two_sources_contradict_each_other_until_one_falls_silent(off, ratio, speed, moves):
    """One of them may be slower than the other, and either may move."""
    joint = Joint()
    for i in range(100):
        joint.say(speed * i * DT)
    for i in range(100):
        joint.say(speed * (100 + moves * i) * DT)
        if i % ratio == 0:
            joint.say(speed * 100 * DT + math.copysign(off, -speed), 0.1 * DT)
    assert joint.is_contradicted
    first, second = joint.measured.contradictions(['a'], joint.now)['a']
    assert abs(first - second) > 0.9 * off
    for _ in range(200):
        joint.say(speed * (100 + moves * 99) * DT)
    assert not joint.is_contradicted
    assert joint.value == pytest.approx(speed * (100 + moves * 99) * DT)


PERIODS = st.sampled_from([0.002, 0.01, 0.04, 0.1])
OFFSETS = st.floats(math.log(0.01), 0.0).map(math.exp)
"""From 10 mrad to 1 rad, each size as often."""


def merged(first, second, period, other_period, duration=3.0):
    """Values of two functions of time, as they come from two publishers: times and values."""
    times = np.arange(0.3 * period, duration, period), np.arange(0.0, duration, other_period)
    said = [(t, of(t)) for of, ts in zip((first, second), times, strict=True) for t in ts]
    return sorted(said)


@hypothesis.given(
    off=OFFSETS,
    sign=st.sampled_from([-1.0, 1.0]),
    period=PERIODS,
    other_period=PERIODS,
    noise=st.floats(0.0, 5e-4),
    seed=st.integers(0, 1000),
)
def test_two_sources_are_told_apart_at_rest_however_near_they_are(
    off, sign, period, other_period, noise, seed
):
    joint, rng, begin = Joint(), np.random.default_rng(seed), 100.0
    for t, value in merged(lambda t: 0.5, lambda t: 0.5 + sign * off, period, other_period):
        joint.say(value + rng.uniform(-noise, noise), begin + t - joint.now)
    first, second = joint.measured.contradictions(['a'], joint.now)['a']
    assert abs(abs(first - second) - off) <= 2.0 * noise + 1e-9


@hypothesis.given(
    speed=st.floats(0.05, 1.5),
    more=st.floats(0.0, 0.5),
    period=PERIODS,
    other_period=PERIODS,
    moves=st.booleans(),
)
def test_two_sources_are_told_apart_in_motion_where_neither_is_only_behind(
    speed, more, period, other_period, moves
):
    """A source that is behind is no farther off than the joint moves meanwhile."""
    off = 0.01 + more + speed * (0.16 + 4.0 * max(period, other_period))
    joint, said = Joint(), False
    ghost = (lambda t: speed * t + off) if moves else (lambda t: -off)
    for t, value in merged(lambda t: speed * t, ghost, period, other_period):
        joint.say(value, 100.0 + t - joint.now)
        said |= joint.is_contradicted
    assert said


@hypothesis.given(
    pace=st.floats(0.5, 4.0),
    delay=st.floats(0.0, 0.1),
    stamped=st.booleans(),
    period=PERIODS,
    other_period=PERIODS,
)
def test_source_that_is_only_behind_the_other_contradicts_nobody(
    pace, delay, stamped, period, other_period
):
    """A relay, or a publisher that merges states; by their stamps the delay may be longer."""
    joint = Joint()
    delay *= 4.0 if stamped else 1.0

    def at(t):
        return LIMIT / pace * (1.0 - math.cos(pace * max(0.0, t)))

    relayed = merged(
        lambda t: (at(t), t), lambda t: (at(t - delay), t - delay), period, other_period
    )
    for t, (value, measured_at) in relayed:
        joint.say(value, 100.0 + t - joint.now, 100.0 + measured_at if stamped else None)
        assert not joint.is_contradicted


def test_stamps_tell_how_long_a_joint_had_where_messages_come_in_bursts():
    joint, stamp = Joint(), 50.0
    for i in range(100):
        stamp += 0.1
        joint.say(0.2 * i, dt=0.0 if i % 5 else 0.5, stamp=stamp)
        assert joint.value == 0.2 * i
