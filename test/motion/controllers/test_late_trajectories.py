"""
What controllers of trajectories play where messages are late or lost, or they stand still.

The controller is the stand-in of `controllers`. What it says of itself is heard some milliseconds
later; nothing else tells the node that its messages do not arrive.

"""

from controllers import Arm
from driving import check_played, do, FASTEST, HARDEST, make_motion
from fabrik_ros import load_urdf
from fabrik_ros.kernels._jit import COMPILED
from fabrik_ros.motion.controllers.look_ahead import LONGEST, LookAhead
from fabrik_ros.motion.controllers.published_trajectory import default_look_ahead
from fabrik_ros.motion.following.arm_state import State
from helpers import examples, said, SIX_AXIS
from hypothesis import assume, example, given, settings, strategies as st
import numpy as np
import pytest
from rig import Delivery, make_controller, Rig, SECOND, START

UNHEARD = 0.02
"""Longest time for which motion goes on unheard [s]."""
HEARS = 0.003
"""How long the state of the controller takes to be heard [s]."""
SHORT = 0.005
"""Longest delay of messages that are not late [s]."""

rates = st.sampled_from([50.0, 100.0, 125.0, 500.0])
controllers = st.builds(
    dict,
    update_rate=st.sampled_from([100.0, 250.0, 500.0, 1000.0]),
    phase_ns=st.integers(0, 9_999_999),
    interpolate_from_desired_state=st.booleans(),
    version=st.sampled_from(['kilted', 'humble']),
)
KINDS = {
    'line': 'target',
    'joint': 'joint target',
    'planned': 'planned path',
    'program': 'program',
}
paths, usual_paths = st.sampled_from(sorted(KINDS)), st.sampled_from(['joint', 'line'])
jerks = st.sampled_from([0.0, 0.0, 50.0, 500.0])
seeds = st.integers(0, 2**32 - 1)


def spans(longest):
    """Draw up to three times, one after another [s], the first while the arm moves."""
    one = st.tuples(st.floats(0.3, 1.0), st.floats(0.01, longest))
    return st.lists(one, min_size=1, max_size=3).map(one_after_another)


def one_after_another(rows):
    ends = np.cumsum([pause + length for pause, length in rows])
    return [(end - length, end) for end, (_, length) in zip(ends, rows, strict=True)]


def make_rig(
    seed, rate, path='joint', jerk=0.0, options=None, tells_begin=True, look_ahead=None, **delivery
):
    """Put an arm that is where it was told to be on a rig; heard unless a look-ahead is given."""
    if jerk:
        pytest.importorskip('ruckig', reason='ruckig plans the steps')
    ways = 'line' if path == 'line' else 'joint'
    motion = make_motion(load_urdf(SIX_AXIS).chain(), seed, ways, jerk, 1.0 / rate)
    way = Delivery(np.random.default_rng(seed), SHORT, **delivery)
    controller = make_controller(motion, Arm(), **(options or {}))
    is_heard = look_ahead is None
    return Rig(
        motion,
        controller,
        1.0 / rate,
        way,
        look_ahead,
        adapts=is_heard,
        hears=HEARS if is_heard else None,
        tells_begin=tells_begin,
        resync_tolerance=0.5,
    )


def move(rig, seed, path, seconds):
    """Let the arm go to one place after another."""
    for i in range(round(seconds / 0.7)):
        do(rig, KINDS[path], seed + i, 0.7)


def steps(played):
    """
    Find by how much commands step, besides what the limits allow.

    Returns times [s] since the start, and the greatest step of any joint there [rad or m].
    """
    times, q = played.times_ns, played.command
    dt = np.diff(times) / SECOND
    velocity = np.diff(q, axis=0) / dt[:, None]
    allowed = 1.05 * HARDEST * 0.5 * (dt[1:] + dt[:-1])
    change = np.abs(np.diff(velocity, axis=0)).max(axis=1)
    size = np.maximum(change - allowed, 0.0) * np.minimum(dt[1:], dt[:-1])
    found = size > 1e-7
    return (times[1:-1][found] - START) / SECOND, size[found]


@settings(max_examples=examples(2, 6) if COMPILED else 2, deadline=None)
@given(seeds, rates, controllers, paths, jerks, spans(0.5), st.booleans(), st.booleans())
@example(1, 100.0, {}, 'joint', 0.0, [(0.3, 0.36)], False, True)
@example(1, 100.0, {}, 'joint', 0.0, [(0.3, 0.5)], False, False)
@example(1404166566, 100.0, {}, 'line', 0.0, [(0.847, 1.17)], True, True)
@example(1, 500.0, {}, 'line', 0.0, [(0.4, 0.6)], True, False)
def test_late_messages_cost_a_step_of_what_went_on_unheard(
    seed, rate, options, path, jerk, when, are_lost, tells_begin
):
    """Messages are held back or lost; the limits hold but for a moment after they come again."""
    kind = 'dropped' if are_lost else 'held'
    rig = make_rig(seed, rate, path, jerk, options, tells_begin, **{kind: when})
    move(rig, seed, path, when[-1][1] + 1.4)
    assert 'ontroller' not in said(rig.follower, rig.seconds)[1]
    played = rig.end()
    at, size = steps(played)
    assert np.all(size <= FASTEST * UNHEARD)
    update = rig.controller.period_ns / SECOND
    soon = HEARS + UNHEARD + SHORT + 2.0 / rate + 2.0 * update
    after_late_ones = [(end - 2.0 * update <= at) & (at <= end + soon) for _, end in when]
    assert np.all(np.any(after_late_ones, axis=0))


@settings(max_examples=examples(5, 10) if COMPILED else 2, deadline=None)
@given(seeds, rates, controllers, usual_paths, st.floats(0.3, 1.0), st.floats(0.02, 0.5))
@example(413584592, 100.0, {'update_rate': 100.0}, 'line', 0.89, 0.157)
@example(1, 100.0, {}, 'joint', 0.5, 0.4)
@example(1, 500.0, {}, 'joint', 0.5, 0.4)
def test_way_that_becomes_slower_for_good_costs_steps_of_what_went_on_unheard(
    seed, rate, options, path, begin, by
):
    """What was under way arrives in turn, and nothing takes it back."""
    rig = make_rig(seed, rate, path, 0.0, options, delayed=[(begin, 99.0, by)])
    move(rig, seed, path, begin + by + 1.0)
    at, size = steps(rig.end())
    assert np.all(at >= begin)
    assert np.all(size <= FASTEST * UNHEARD)


@pytest.mark.parametrize(
    ('by', 'tells_begin'), [(0.03, True), (0.08, True), (0.15, True), (0.5, True), (0.15, False)]
)
def test_arm_arrives_over_a_way_that_becomes_slower(by, tells_begin):
    rig = make_rig(5, 100.0, tells_begin=tells_begin, delayed=[(0.6, 99.0, by)])
    move(rig, 5, 'joint', 0.7)
    rig.go(3.8)
    assert said(rig.follower, rig.seconds) == (State.REACHED, '')


@settings(max_examples=examples(4, 8) if COMPILED else 2, deadline=None)
@given(seeds, rates, controllers, paths, st.floats(0.3, 1.0), st.floats(0.2, 0.5))
def test_nothing_goes_on_that_is_not_heard_to_be_played(seed, rate, options, path, begin, length):
    rig = make_rig(seed, rate, path, 0.0, options, dropped=[(begin, begin + length)])
    rig.go(begin)
    move(rig, seed, path, begin + length)
    period, update = 1.0 / rate, rig.controller.period_ns / SECOND
    known = begin + SHORT + HEARS + 2.0 * update  # what was under way has arrived
    sent = [
        (end, has)
        for now, end, has in rig.ends
        if known <= (now - START) / SECOND < begin + length
    ]
    usual = SHORT + HEARS + update + 2.0 * period
    for end, has in sent:
        assert np.abs(end - has).max() <= FASTEST * max(UNHEARD, usual)


@settings(max_examples=examples(3, 6) if COMPILED else 2, deadline=None)
@given(seeds, rates, controllers, paths, jerks, spans(0.5), st.booleans())
@example(1, 100.0, {}, 'joint', 0.0, [(0.4, 0.42)], True)
@example(1, 100.0, {}, 'joint', 0.0, [(0.4, 0.5)], True)
def test_controller_that_stood_still_goes_on_from_there(
    seed, rate, options, path, jerk, when, tells_begin
):
    """It is stopped and started in motion; the arm behind it stands where it was told last."""
    rig = make_rig(seed, rate, path, jerk, options, tells_begin, stopped=when)
    move(rig, seed, path, when[-1][1] + 1.0)
    played = rig.end()
    at, _size = steps(played)
    stops_and_starts = [
        (begin - 0.03 <= at) & (at <= end + UNHEARD + HEARS + 0.03) for begin, end in when
    ]
    assert np.all(np.any(stops_and_starts, axis=0))
    times = (played.times_ns - START) / SECOND
    heard_late = HEARS + SHORT + 1.0 / rate + 2.0 * rig.controller.period_ns / SECOND
    for _, end in when:
        rows = (end - 0.001 <= times) & (times <= end + 0.05)
        moved = np.abs(np.diff(played.command[rows], axis=0)).max(initial=0.0)
        assert moved <= FASTEST * (UNHEARD + heard_late)


def test_arm_goes_on_to_its_target_after_the_controller_stood_still():
    rig = make_rig(0, 100.0, stopped=[(0.6, 0.65)])
    move(rig, 0, 'joint', 0.7)
    rig.go(9.0)
    assert said(rig.follower, rig.seconds) == (State.REACHED, '')
    played = rig.end()
    assert np.abs(played.command[-1] - rig.motion.q).max() < 1e-9
    assert [round(late, 2) for _, late in rig.latenesses] == [0.02]


def test_controller_that_stays_silent_ends_the_motion():
    rig = make_rig(0, 100.0, stopped=[(0.6, 9.0)])
    move(rig, 0, 'joint', 2.1)
    state, reason = said(rig.follower, rig.seconds)
    assert state is State.HOLDING
    assert 'the controller has said nothing for 0.5 s' in reason


def test_messages_that_never_arrive_end_the_motion():
    rig = make_rig(0, 100.0, dropped=[(0.6, 9.0)])
    move(rig, 0, 'joint', 2.8)
    state, reason = said(rig.follower, rig.seconds)
    assert state is State.HOLDING
    assert 'trajectories do not get to the controller within 1 s' in reason


@pytest.mark.parametrize('kind', ['held', 'dropped'])
@pytest.mark.parametrize('length', [0.08, 0.15, 0.3, 0.5])
def test_each_lateness_is_told_once(kind, length):
    rig = make_rig(0, 100.0, **{kind: [(0.6, 0.6 + length)]})
    move(rig, 0, 'joint', 2.8)
    (at, late), *more = rig.latenesses
    assert not more or (len(more) == 1 and more[0][0] < at + SECOND // 10)
    arrived = START + round((0.6 + length) * SECOND)
    assert 0 < at - arrived < SECOND // 5
    assert 0.0 < late <= length


@settings(max_examples=examples(5, 10) if COMPILED else 2, deadline=None)
@given(seeds, rates, controllers, paths, st.lists(st.floats(0.3, 1.0), min_size=1, max_size=3))
def test_look_ahead_that_is_set_for_the_delay_keeps_the_limits(seed, rate, options, path, pauses):
    """What the controller plays is not heard, and messages are held back for 0.2 s."""
    held = one_after_another([(pause, 0.2) for pause in pauses])
    rig = make_rig(seed, rate, path, 0.0, options, look_ahead=0.3, held=held)
    move(rig, seed, path, held[-1][1] + 1.0)
    for wanted, meant in check_played(rig, rig.end(), rate):
        assert np.abs(wanted - meant).max() <= 1.001 * HARDEST / rate**2
    assert rig.latenesses == []


@settings(max_examples=examples(4, 8) if COMPILED else 2, deadline=None)
@given(seeds, rates, controllers, paths)
def test_delay_that_was_seen_costs_nothing_the_next_time(seed, rate, options, path):
    rig = make_rig(seed, rate, path, 0.0, options, held=[(0.6, 0.7), (2.1, 2.2), (2.6, 2.7)])
    move(rig, seed, path, 3.5)
    at, _ = steps(rig.end())
    assume(rig.latenesses and rig.latenesses[0][0] < START + SECOND)  # it moved already
    assert rig.look_ahead_in_force > default_look_ahead(1.0 / rate)
    assert not np.any(at > 1.5)


@settings(max_examples=examples(4, 8) if COMPILED else 2, deadline=None)
@given(seeds, rates, controllers, paths, st.floats(0.02, 0.1))
def test_delay_that_grows_bit_by_bit_is_led(seed, rate, options, path, most):
    """It takes a second to grow; a millisecond of stop is no step."""
    steps_of_delay = 20
    growing = [
        (0.5 + 0.05 * i, 0.55 + 0.05 * i, most * (i + 1) / steps_of_delay)
        for i in range(steps_of_delay)
    ]
    rig = make_rig(seed, rate, path, 0.0, options, delayed=[*growing, (1.5, 99.0, most)])
    move(rig, seed, path, 3.5)
    at, size = steps(rig.end())
    assert np.all(size <= FASTEST * UNHEARD)
    assert np.all(size[at > 2.5] <= 1e-3)


def test_look_ahead_grows_within_bounds_and_comes_back():
    base, period = 60_000_000, 10_000_000
    look_ahead = LookAhead(base, period, adapts=True)
    now = START
    look_ahead.bear_delivery(100_000_000, now)
    totals = []
    while look_ahead.budget < 110_000_000:
        now += period
        look_ahead.take_up(now, rests=False)
        totals.append(look_ahead.total)
        assert len(totals) < 20
    assert np.diff([base, *totals]).tolist() == [period] * len(totals), 'a period each time'
    look_ahead.bear_delivery(10 * SECOND, now)
    look_ahead.take_up(now, rests=True)
    assert look_ahead.total <= LONGEST
    for _ in range(4000):
        now += period
        before = look_ahead.total
        look_ahead.take_up(now, rests=False)
        assert before - period <= look_ahead.total <= before
    assert look_ahead.total == base


def test_look_ahead_that_was_given_stays():
    look_ahead = LookAhead(100_000_000, 10_000_000, adapts=False)
    look_ahead.bear(200_000_000, START)
    look_ahead.take_up(START, rests=True)
    assert look_ahead.total == 100_000_000
