"""
Laws of what controllers of trajectories play: any settings, any arm, any way there.

The controller is the stand-in of `controllers`, written from the sources of the real one. The
first message may cost the offset of the arm: the controller then leaves where it was for where
the arm is measured. From the second message on everything is judged at the rate of the controller.

"""

from controllers import Arm, fastest, largest_step_against
from driving import check_played, do, FASTEST, HARDEST, make_motion
from fabrik_ros import load_urdf
from fabrik_ros.kernels._jit import COMPILED
from fabrik_ros.motion.controllers.published_trajectory import default_look_ahead
from helpers import examples, find_robot, mostly_long, REAL_ARMS, said, SIX_AXIS, stopped
from hypothesis import example, given, settings, strategies as st
import numpy as np
import pytest
from rig import Delivery, make_controller, Rig, SECOND

OFFSET, LAG, NOISE = 0.02, 0.05, 1e-3
ARMS = ('ur5', 'ur10', 'panda', 'xarm7', 'jaco', 'so101')
LONGEST = 0.02
"""Delay of messages that the default look-ahead bears, and one lost [s]."""
EVENTS = (
    'target',
    'joint target',
    'planned path',
    'program',
    'jog',
    'circle',
    'stop',
    'pause',
    'scale',
)

arms_measured = st.builds(
    dict,
    offset=st.sampled_from([0.0, OFFSET, -OFFSET]),
    lag=st.sampled_from([0.0, LAG]),
    noise=st.sampled_from([0.0, NOISE]),
    velocity_noise=st.sampled_from([0.0, 0.05]),
)
controllers = st.builds(
    dict,
    update_rate=st.sampled_from([100.0, 125.0, 250.0, 500.0, 1000.0]),
    phase_ns=st.integers(0, 9_999_999),
    interpolate_from_desired_state=st.booleans(),
    version=st.sampled_from(['kilted', 'humble']),
)
events = st.lists(
    st.tuples(st.sampled_from(EVENTS), st.integers(0, 2**32 - 1), st.floats(0.05, 1.0)),
    min_size=2,
    max_size=6,
)
CHAINS = {}


def chain_of(name):
    """Give a real arm where example-robot-data is installed, else one of our own."""
    if name not in CHAINS:
        path, arm = find_robot(name), REAL_ARMS[name]
        CHAINS[name] = (
            load_urdf(SIX_AXIS).chain()
            if path is None
            else load_urdf(path).chain(arm.base_link, arm.tip_link)
        )
    return CHAINS[name]


@pytest.mark.parametrize('name', mostly_long(ARMS, 'ur5'))
@settings(max_examples=examples(8, 15) if COMPILED else 2)
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from([50.0, 100.0, 125.0, 500.0]),
    controllers,
    arms_measured,
    st.booleans(),
    events,
)
def test_controller_plays_the_motion_within_the_limits(
    name, seed, rate, options, measured, takes_long, what
):
    chain, rng = chain_of(name), np.random.default_rng(seed)
    motion = make_motion(chain, seed, period=1.0 / rate)
    motion.reset(motion.q)
    look_ahead = default_look_ahead(1.0 / rate) + (0.03 if takes_long else 0.0)
    delivery = Delivery(rng, LONGEST + (0.03 if takes_long else 0.0), lost=0.1)
    controller = make_controller(motion, Arm(**measured, seed=seed % 1000), **options)
    rig = Rig(motion, controller, 1.0 / rate, delivery, look_ahead)
    for event in what:
        do(rig, *event)
    played = rig.end()
    assert 'does not follow' not in said(rig.follower, rig.seconds)[1]
    nearest = HARDEST / rate**2 + NOISE / 10.0
    for wanted, meant in check_played(rig, played, rate):
        assert np.abs(wanted - meant).max() <= nearest
        against = largest_step_against(wanted, meant)
        assert against.max() <= nearest


LATENESS = st.lists(st.one_of(st.floats(0.1, 3.0), st.floats(3.0, 60.0)), min_size=1, max_size=4)


@pytest.mark.long
@example(1, [1.0], 100.0, 'line', 50.0)
@settings(max_examples=examples(20, 60) if COMPILED else 2)
@given(
    st.integers(0, 2**32 - 1),
    LATENESS,
    st.sampled_from([100.0, 500.0]),
    st.sampled_from(['line', 'joint']),
    st.sampled_from([0.0, 0.0, 50.0, 500.0]),
)
def test_controller_plays_within_the_limits_however_late_the_ticks_are(
    seed, late, rate, path, jerk
):
    """No tick is in time for seconds, or the process stands still: messages take up to 20 ms."""
    if jerk:
        pytest.importorskip('ruckig', reason='ruckig plans the steps')
    motion = make_motion(load_urdf(SIX_AXIS).chain(), seed, path, jerk, 1.0 / rate)
    delivery = Delivery(np.random.default_rng(seed), LONGEST, late=late, lateness=0.05)
    rig = Rig(motion, make_controller(motion, Arm(OFFSET, noise=NOISE)), 1.0 / rate, delivery)
    for i in range(3):
        do(rig, 'target' if path == 'line' else 'joint target', seed + i, 0.7)
    for _ in check_played(rig, rig.end(), rate):
        pass
    times, q = (np.array(column) for column in zip(*rig.commands, strict=True))
    gaps = np.diff(times)
    for run in np.split(np.arange(len(times)), np.flatnonzero(gaps > SECOND // 10) + 1):
        if len(run) > 2:
            speed, acceleration = fastest(times[run], q[run])
            assert speed.max() <= FASTEST * (1.0 + 1e-6)
            assert acceleration.max() <= HARDEST * (1.0 + 1e-4)


@settings(max_examples=examples(12, 30) if COMPILED else 2)
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from([50.0, 100.0, 500.0]),
    st.booleans(),
    st.sampled_from(['joint target', 'planned path']),
)
def test_hold_shows_within_look_ahead_period_and_stop(seed, rate, is_offset, path):
    motion = make_motion(load_urdf(SIX_AXIS).chain(), seed, 'joint', period=1.0 / rate)
    delivery = Delivery(np.random.default_rng(seed), LONGEST)
    controller = make_controller(motion, Arm(OFFSET * is_offset))
    rig = Rig(motion, controller, 1.0 / rate, delivery)
    do(rig, path, seed, 0.5)
    rig.follower.hold_when_told()
    held = rig.now
    rig.go(2.0)
    played = rig.end()
    allowed = rig.look_ahead + motion.limiter.longest_stop + 2.0 / rate
    after = played.times_ns > held + round(allowed * SECOND)
    assert np.count_nonzero(after) > 100
    assert np.ptp(played.command[after], axis=0).max() < 1e-12


@pytest.mark.parametrize('seed', range(3))
def test_where_the_reference_of_the_controller_is_known_the_first_message_is_no_step(seed):
    motion = make_motion(load_urdf(SIX_AXIS).chain(), seed)
    delivery = Delivery(np.random.default_rng(seed), LONGEST)
    rig = Rig(motion, make_controller(motion, Arm(OFFSET, noise=NOISE)), 0.01, delivery)
    rig.controller.run_until(rig.now)
    for i in range(2):
        rig.hear_the_reference()
        do(rig, 'target', seed + i, 0.7)
        rig.follower.hold(stopped('a test'))
        rig.go(1.5)
    played = rig.end()
    speed, acceleration = fastest(played.times_ns, played.command)
    assert speed.max() > 0.1
    assert acceleration.max() <= HARDEST * 1.05


def test_frozen_arm_is_sent_one_stop_that_ends_where_it_is():
    """A protective stop under a stream of targets; after it, the first message is no jump."""
    motion = make_motion(load_urdf(SIX_AXIS).chain(), 3, 'line')
    arm = Arm()
    delivery = Delivery(np.random.default_rng(3), LONGEST)
    rig = Rig(motion, make_controller(motion, arm), 0.01, delivery)
    T = motion.robot.forward_kinematics(motion.q)

    def stream(seconds, y):
        for i in range(round(seconds / 0.01)):
            target = T.copy()
            target[1, 3] += y + 1e-3 * i
            rig.ask(lambda target=target: rig.follower.accept(target, rig.seconds))
            rig.tick()

    stream(1.0, 0.0)
    arm.frozen = True
    stream(5.0, 0.1)
    where = arm.read(rig.now)
    assert np.abs(rig.commands[-1][1] - where).max() <= 1e-3
    gaps = np.diff([stamp for stamp, _ in rig.commands])
    assert gaps.max() <= SECOND // 100, 'one run of commands'
    arm.frozen = False
    stream(1.0, 0.3)
    assert np.abs(arm.read(rig.now) - where).max() <= 1e-3, 'the arm waits'
    assert rig.now - rig.commands[-1][0] > 4 * SECOND
    for _ in check_played(rig, rig.end(), 100.0):
        pass
