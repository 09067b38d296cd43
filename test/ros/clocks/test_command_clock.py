"""Laws of the clock of commands, whatever the scheduler and the system clock do."""

import itertools

from drawing import random_numbers
from fabrik_ros.motion.controllers.published_trajectory import NANOSECONDS
from fabrik_ros.ros.clocks.command_clock import CommandClock
from hypothesis import example, given, strategies as st
import numpy as np
import pytest

PERIOD = NANOSECONDS // 100
BEGIN = 1_700_000_000 * NANOSECONDS
LONGEST_GAP = NANOSECONDS // 10
"""After a longer one the arm is taken to have come to rest, at a rate of 100 Hz [ns]."""

steps = st.one_of(
    st.integers(1, 3 * PERIOD),
    st.integers(PERIOD - PERIOD // 3, PERIOD + PERIOD // 3),
    st.integers(1, 100 * PERIOD),
)


def play(steps):
    """Stamps, times covered and interruptions of ticks so many nanoseconds apart."""
    clock, now, played = CommandClock(PERIOD / NANOSECONDS), BEGIN, []
    for step in [0, *steps]:
        now += step
        stamp, dt = clock.next(now)
        played.append((now, stamp, dt, clock.was_interrupted))
    return played


def pairs(played):
    return itertools.pairwise(played)


@given(st.lists(steps))
def test_stamps_increase_strictly_while_the_clock_goes_forward(steps):
    for (_, before, _, _), (_, stamp, _, _) in pairs(play(steps)):
        assert stamp > before


@given(st.lists(steps))
def test_time_covered_is_the_time_between_stamps_unless_interrupted(steps):
    for (_, before, _, _), (_, stamp, dt, was_interrupted) in pairs(play(steps)):
        assert dt == (PERIOD if was_interrupted else stamp - before) / NANOSECONDS


@given(st.lists(steps))
def test_time_covered_is_never_long(steps):
    assert all(0.0 < dt <= LONGEST_GAP / NANOSECONDS for _, _, dt, _ in play(steps))


@given(st.lists(steps))
def test_stamps_stay_within_half_a_period_of_the_time(steps):
    assert all(abs(stamp - now) <= PERIOD // 2 + len(steps) for now, stamp, _, _ in play(steps))


@given(st.lists(st.integers(-PERIOD // 4, PERIOD // 4)))
def test_jitter_does_not_show(late):
    """Ticks near a grid of their own get stamps on a grid."""
    clock = CommandClock(PERIOD / NANOSECONDS)
    first, _ = clock.next(BEGIN)
    for i, jitter in enumerate(late, start=1):
        stamp, dt = clock.next(BEGIN + i * PERIOD + jitter)
        assert stamp == first + i * PERIOD
        assert dt == PERIOD / NANOSECONDS
        assert not clock.was_interrupted


@given(st.lists(steps), st.integers(LONGEST_GAP + PERIOD // 2 + 1, 10**6 * PERIOD))
def test_gap_is_told_and_stamped_with_its_own_time(steps, gap):
    *_, (now, stamp, dt, was_interrupted) = play([*steps, gap])
    assert was_interrupted
    assert stamp == now
    assert dt == PERIOD / NANOSECONDS


@given(st.lists(st.integers(1, LONGEST_GAP - PERIOD // 2)))
def test_shorter_delays_are_no_interruption(steps):
    assert not any(was_interrupted for *_, was_interrupted in play(steps)[1:])


@given(st.lists(steps), st.integers(1, BEGIN))
def test_clock_that_goes_back_is_followed_one_period_a_step(steps, back):
    """The arm goes on to slow down; nothing stops dead."""
    clock, now = CommandClock(PERIOD / NANOSECONDS), BEGIN
    for step in [0, *steps]:
        now += step
        stamp, _ = clock.next(now)
        assert not clock.went_back
    passed = now - back - stamp
    covered = min(passed, PERIOD) if passed > 0 else PERIOD
    assert clock.next(now - back) == (now - back, covered / NANOSECONDS)
    assert clock.went_back
    assert not clock.was_interrupted
    _, dt = clock.follow_on()
    assert dt == PERIOD / NANOSECONDS
    assert not clock.went_back


def test_clock_that_goes_back_but_not_past_the_last_stamp_makes_a_short_step():
    clock = CommandClock(PERIOD / NANOSECONDS)
    clock.next(BEGIN)
    stamp, _ = clock.next(BEGIN + PERIOD + PERIOD // 3)
    assert stamp == BEGIN + PERIOD
    quarter = PERIOD // 4
    assert clock.next(stamp + quarter) == (stamp + quarter, quarter / NANOSECONDS)
    assert clock.went_back


@given(st.lists(steps))
@example([PERIOD + PERIOD // 3, LONGEST_GAP - PERIOD // 6])
def test_steady_clock_changes_nothing_while_the_other_is_not_set(steps):
    alone, both = (CommandClock(PERIOD / NANOSECONDS) for _ in range(2))
    now = BEGIN
    for step in [0, *steps]:
        now += step
        assert both.next(now, now - BEGIN) == alone.next(now)
        assert both.was_interrupted is alone.was_interrupted


@given(st.lists(steps, min_size=1), st.integers(0, 3 * PERIOD), st.sampled_from([1, 7, 100]))
def test_stamps_go_on_where_those_of_the_clock_before_ended(steps, later, slower):
    clock, now = CommandClock(PERIOD / NANOSECONDS), BEGIN
    for step in steps:
        now += step
        last, _ = clock.next(now)
    after = CommandClock(slower * PERIOD / NANOSECONDS, clock)
    assert after.has_paused(now + later) == clock.has_paused(now + later)
    stamp, _ = after.next(now + later)
    assert stamp > last
    assert not after.went_back


@given(st.lists(steps), st.integers(PERIOD, 10**6 * PERIOD))
def test_jump_forwards_is_no_gap_by_a_steady_clock(steps, far):
    """As when a machine without a clock of its own hears what time it is."""
    clock, now = CommandClock(PERIOD / NANOSECONDS), BEGIN
    for step in [0, *steps]:
        now += step
        stamp, _ = clock.next(now, now - BEGIN)
    jumped, dt = clock.next(now + far, now - BEGIN + PERIOD)
    assert not clock.was_interrupted
    assert jumped > stamp
    assert dt <= LONGEST_GAP / NANOSECONDS
    if far > LONGEST_GAP + PERIOD:
        assert (jumped, dt) == (now + far, PERIOD / NANOSECONDS)


@given(st.lists(steps), st.integers(-PERIOD, LONGEST_GAP // 2))
def test_gap_by_a_steady_clock_is_one_though_the_clock_was_set_back_meanwhile(steps, shown):
    clock, now = CommandClock(PERIOD / NANOSECONDS), BEGIN
    for step in [0, *steps]:
        now += step
        last, _ = clock.next(now, now - BEGIN)
    steady = now - BEGIN + LONGEST_GAP + PERIOD
    assert clock.has_paused(now + shown, steady)
    stamp, _ = clock.next(now + shown, steady)
    assert clock.was_interrupted
    assert clock.went_back is (shown < 0)
    assert stamp == (now + shown if shown < 0 else max(now + shown, last + 1))


@pytest.mark.parametrize(('rate', 'periods'), [(10.0, 3), (20.0, 3), (200.0, 20)])
def test_slow_rates_have_longer_gaps(rate, periods):
    for delay, gap in ((periods, False), (periods + 1, True)):
        clock = CommandClock(1.0 / rate)
        clock.next(BEGIN)
        clock.next(BEGIN + delay * round(NANOSECONDS / rate))
        assert clock.was_interrupted is gap


def test_first_command_is_an_interruption():
    assert play([]) == [(BEGIN, BEGIN, PERIOD / NANOSECONDS, True)]


@given(st.lists(steps), st.integers(1, 20))
def test_follow_on_keeps_to_the_grid_whatever_the_time_is(steps, count):
    clock, now = CommandClock(PERIOD / NANOSECONDS), BEGIN
    stamp, _ = clock.next(now)
    for step in steps:
        now += step
        stamp, _ = clock.next(now)
    for i in range(1, count + 1):
        assert clock.follow_on() == (stamp + i * PERIOD, PERIOD / NANOSECONDS)
        assert not clock.was_interrupted


@given(st.lists(steps), st.integers(0, 3 * PERIOD))
def test_command_is_due_a_period_after_the_last_stamp(steps, later):
    clock, now = CommandClock(PERIOD / NANOSECONDS), BEGIN
    assert clock.is_due(now), 'none was sent yet'
    stamp, _ = clock.next(now)
    for step in steps:
        now += step
        stamp, _ = clock.next(now)
    assert clock.is_due(stamp + later) is (later >= PERIOD)


@given(st.lists(steps, min_size=1), st.integers(0, 3 * PERIOD))
def test_tick_is_early_where_the_command_before_it_left_less_than_half_a_period_ago(steps, later):
    clock, now = CommandClock(PERIOD / NANOSECONDS), BEGIN
    assert not clock.is_early(now)
    stamp, _ = clock.next(now)
    for step in steps:
        now += step
        stamp, _ = clock.next(now)
    assert clock.is_early(now + later) is (now + later < stamp + PERIOD // 2)
    assert not clock.is_early(now - 1), 'a clock that went back is no early tick'


@given(st.lists(st.tuples(steps, st.booleans())))
def test_ticks_and_targets_together_make_no_step_shorter_than_half_a_period(events):
    """Targets send a command when one is due, ticks unless one was just sent."""
    clock, now, stamps = CommandClock(PERIOD / NANOSECONDS), BEGIN, []
    for step, is_tick in events:
        now += step
        if not is_tick:
            clock.note_target(now)
        if not clock.is_early(now) if is_tick else clock.is_due(now):
            stamps.append(clock.next(now, with_target=not is_tick)[0])
    for before, stamp in itertools.pairwise(stamps):
        assert stamp - before >= PERIOD // 2


@pytest.mark.parametrize('rate', [1.0, 50.0, 333.0, 1000.0])
def test_period_is_that_of_the_rate(rate):
    clock = CommandClock(1.0 / rate)
    first, _ = clock.next(BEGIN)
    second, dt = clock.follow_on()
    assert second - first == round(NANOSECONDS / rate)
    assert dt == pytest.approx(1.0 / rate, abs=1e-9)


def targets_every(gap, count=400, jitter=lambda i: 0):
    """Return times at which targets come, after a while in which ticks alone send commands."""
    return [BEGIN + 10 * PERIOD + i * gap + jitter(i) for i in range(count)]


def commands_for(targets, late=lambda now: now):
    """
    Send commands at ticks and at targets, as the node does, until the last target.

    Returns when each command was sent, its stamp, and whether it left with a target. `late`
    tells when the node comes to what happens at a time.
    """
    clock, commands = CommandClock(PERIOD / NANOSECONDS), []
    tick_period, tick = PERIOD, BEGIN + PERIOD // 3

    def send(now, with_target):
        commands.append((now, clock.next(now, with_target=with_target)[0], with_target))

    waiting = list(targets)
    while waiting:
        next_target = late(waiting[0])
        now = min(next_target, late(tick))
        if now == next_target:
            waiting.pop(0)
            clock.note_target(now)
            if clock.is_due(now):
                send(now, True)
                if clock.is_led(now):
                    tick_period = clock.tick_period(now)
                    tick = now + tick_period
            elif clock.is_led(now):
                tick_period = clock.earliest - now
                tick = now + tick_period
            continue
        tick += tick_period
        if not clock.is_early(now):
            send(now, False)
        if clock.tick_period(now) != tick_period:
            tick_period = clock.tick_period(now)
            tick = now + tick_period
    return commands


paces = st.integers(round(0.95 * PERIOD), round(1.05 * PERIOD))
MOST_JITTER = PERIOD // 25


def jitter_of(seed):
    """Draw by how much each of 400 targets is early or late [ns]; some by as much as may be."""
    rng = np.random.default_rng(seed)
    anything = rng.integers(-MOST_JITTER, MOST_JITTER, 400, endpoint=True)
    ends = rng.choice([-MOST_JITTER, 0, MOST_JITTER], 400)
    return np.where(rng.random(400) < rng.random(), ends, anything).tolist()


small_jitter = random_numbers().map(jitter_of)
"""To draw 400 numbers one by one takes longer than the test."""


@given(paces, st.integers(0, PERIOD), small_jitter)
def test_targets_at_the_pace_of_the_commands_lead_them(gap, phase, jitter):
    """Whenever the first one comes, soon each command leaves with its target."""
    targets = [phase + time for time in targets_every(gap, jitter=jitter.__getitem__)]
    led = [now for now, _, with_target in commands_for(targets) if with_target]
    assert set(led) >= set(targets[50:])


@given(paces, small_jitter)
def test_led_commands_are_stamped_evenly(gap, jitter):
    """Stamps take over the pace of the targets, not their jitter."""
    commands = commands_for(targets_every(gap, jitter=jitter.__getitem__))
    for (_, before, _), (_, stamp, _) in itertools.pairwise(commands[-300:]):
        assert abs(stamp - before - gap) <= PERIOD // 20
    assert all(abs(stamp - now) <= PERIOD // 2 for now, stamp, _ in commands)


@given(paces, small_jitter, st.integers(0, 3 * PERIOD))
def test_target_that_leads_waits_no_longer_than_half_a_period_after_a_late_command(
    gap, jitter, lateness
):
    """However late the command before it was: by a lot the targets in between are one."""
    targets = targets_every(gap, jitter=jitter.__getitem__)
    begin = targets[200] - MOST_JITTER
    end = begin + lateness
    late = lambda now: end if begin <= now < end else now  # noqa: E731
    commands = np.array([now for now, *_ in commands_for(targets, late)])
    for target in map(late, targets[100:-1]):
        last, following = commands[commands < target][-1], commands[commands >= target][0]
        assert following <= max(target, last + PERIOD // 2 + MOST_JITTER)


@given(st.integers(PERIOD // 10, 3 * PERIOD))
def test_commands_are_not_much_more_frequent_than_ticks_whatever_the_targets_are(gap):
    times = [now for now, *_ in commands_for(targets_every(gap))]
    assert len(times) <= 1.0 / 0.9 * (times[-1] - times[0]) / PERIOD + 3


@given(st.lists(st.floats(0.5, 60.0), min_size=1, max_size=30))
def test_even_stamps_are_whole_periods_apart_and_near_the_time(periods):
    clock, now, last = CommandClock(PERIOD / NANOSECONDS, even=True), BEGIN, None
    for late in periods:
        now += max(PERIOD // 2 + 1, round(late * PERIOD))
        stamp, dt = clock.next(now)
        if not clock.was_interrupted:
            assert (stamp - last) % PERIOD == 0
            assert stamp > last
            assert round(dt * NANOSECONDS) == stamp - last
            assert abs(stamp - now) <= PERIOD
        last = stamp


@given(st.integers(0, 60 * PERIOD))
def test_stamp_that_is_taken_back_is_that_of_the_next_command(later):
    clock = CommandClock(PERIOD / NANOSECONDS, even=True)
    first, _ = clock.next(BEGIN)
    clock.next(BEGIN + PERIOD)
    clock.take_back()
    assert clock.last == first
    stamp, _ = clock.next(BEGIN + PERIOD + later)
    assert stamp > first


@given(paces)
def test_ticks_go_on_when_the_targets_stop(gap):
    clock = CommandClock(PERIOD / NANOSECONDS)
    for now in targets_every(gap):
        clock.note_target(now)
    assert clock.is_led(now)
    assert clock.tick_period(now) > PERIOD
    assert not clock.is_led(now + 2 * PERIOD)
    assert clock.tick_period(now + 2 * PERIOD) == PERIOD


@given(st.integers(PERIOD // 10, 8 * PERIOD).filter(lambda gap: not 0.9 <= gap / PERIOD <= 1.1))
def test_targets_at_another_pace_do_not_lead(gap):
    clock = CommandClock(PERIOD / NANOSECONDS)
    for now in targets_every(gap):
        clock.note_target(now)
        assert not clock.is_led(now)
