"""Commands on their way to the drives of a simulated arm."""

from fabrik_ros.sim.playout import LEAST_GAP, Playout, Playouts
from helpers import assert_close
from hypothesis import example, given, strategies as st
import numpy as np
import pytest

DELAY, PERIOD = 0.02, 0.01
CLOCK = 1_760_000_000.0
"""The sender's clock at the first command: nothing to do with that of the simulation."""


def play(arrivals, commands, stamps, times):
    """Feed commands when they arrive, and read where to be at times; both in order."""
    playout = Playout(DELAY, np.zeros(1))
    waiting = list(zip(arrivals, commands, stamps, strict=True))
    q, velocity = [], []
    for t in times:
        while waiting and waiting[0][0] <= t:
            arrival, command, stamp = waiting.pop(0)
            playout.add(np.array([command]), stamp, arrival)
        now = playout.at(t)
        q.append(now[0][0])
        velocity.append(now[1][0])
    return np.array(q), np.array(velocity)


@given(st.lists(st.floats(0.0, DELAY - PERIOD), min_size=50, max_size=50))
@example([*[0.0] * 5, DELAY - PERIOD, *[0.0] * 44])
def test_even_stream_that_arrives_unevenly_is_played_out_evenly(latencies):
    sent = PERIOD * np.arange(50)
    latencies[0] = 0.0
    arrivals = np.maximum.accumulate(sent + latencies)
    times = np.arange(0.0, 0.5, 0.001)
    q, velocity = play(arrivals, sent, CLOCK + sent, times)
    under_way = (times > DELAY + 1e-9) & (times < 0.49)
    assert_close(q[under_way], times[under_way] - DELAY, 1e-6)
    assert_close(velocity[under_way], np.ones(under_way.sum()), 1e-3)


@given(st.lists(st.floats(-1.0, 1.0), min_size=1, max_size=20))
def test_arm_stays_at_the_last_command_when_they_cease(commands):
    sent = PERIOD * np.arange(len(commands))
    q, velocity = play(sent, commands, CLOCK + sent, [*np.arange(0.0, 0.3, 0.001), 10.0])
    assert (q[-1], velocity[-1]) == (commands[-1], 0.0)


@given(
    st.lists(
        st.tuples(st.floats(-2.0, 2.0), st.floats(0.0, 0.1), st.floats(-1e9, 1e9)),
        min_size=1,
        max_size=30,
    )
)
def test_whatever_the_stamps_nothing_jumps_and_nothing_overshoots(messages):
    commands, waits, stamps = map(np.array, zip(*messages, strict=True))
    arrivals = np.cumsum(waits)
    times = np.arange(0.0, arrivals[-1] + 2.0 * DELAY, 0.001)
    q, velocity = play(arrivals, commands, stamps, times)
    assert np.isfinite(velocity).all()
    assert q.max() <= max(0.0, commands.max()) + 1e-9
    assert q.min() >= min(0.0, commands.min()) - 1e-9


@given(gap=st.floats(1e-9, 1e-2), share=st.floats(0.0, 0.9), step=st.floats(-1.0, 1.0))
def test_commands_in_quick_succession_do_not_make_the_arm_race(gap, share, step):
    playout = Playout(DELAY, np.zeros(1))
    playout.add(np.zeros(1), 0.0, 0.0)
    playout.add(np.array([step]), gap, 0.0)
    q, velocity = playout.at(DELAY + share * gap)
    assert abs(velocity[0]) <= abs(step) / LEAST_GAP
    assert abs(q[0]) <= abs(step)
    if gap > LEAST_GAP:
        assert velocity[0] == pytest.approx(step / gap, rel=1e-6)
    assert playout.at(DELAY + gap + 1e-6)[0][0] == step


def test_lone_command_is_met_after_the_delay_and_no_sooner():
    q, _ = play([0.1], [1.0], [CLOCK], [0.1, 0.1 + 0.5 * DELAY, 0.1 + DELAY])
    assert_close(q, [0.0, 0.5, 1.0], 1e-9)


def test_stream_that_pauses_starts_afresh_without_haste():
    sent = np.array([0.0, PERIOD, 5.0, 5.0 + PERIOD])
    times = np.arange(0.0, 5.2, 0.001)
    q, velocity = play(sent, [0.0, 0.01, 0.03, 0.04], CLOCK + sent, times)
    assert np.abs(velocity).max() < 0.02 / DELAY + 1e-3
    assert q[-1] == pytest.approx(0.04)


def test_delay_of_one_late_command_is_made_up_for_without_haste():
    sent = PERIOD * np.arange(400)
    latency = np.zeros(400)
    latency[50] = 0.9 * DELAY + PERIOD
    arrivals = np.maximum.accumulate(sent + latency)
    times = np.arange(0.0, 3.9, 0.001)
    q, velocity = play(arrivals, sent, CLOCK + sent, times)
    assert times[1000] - q[1000] > 1.2 * DELAY
    assert_close(q[-1], times[-1] - DELAY, 0.05 * DELAY)
    assert velocity[times > 1.0].max() < 1.1


@given(begin=st.floats(0.1, 0.5), pause=st.floats(0.0, 0.35), is_early=st.booleans())
@example(begin=0.3, pause=0.25, is_early=True)
@example(begin=0.5, pause=0.0234375, is_early=False)
def test_arm_that_the_machine_holds_up_goes_on_behind_without_haste(begin, pause, is_early):
    """Simulated time catches up 0.1 s of a pause, before or after the commands in it are taken."""
    caught_up = min(pause, 0.1)
    sent = PERIOD * np.arange(500)
    held_up = (sent > begin) & (sent < begin + pause)
    lost = pause - caught_up
    arrivals = np.where(sent < begin + pause, sent, sent - lost)
    arrivals[held_up] = begin + (0.0 if is_early else caught_up)
    times = np.arange(0.0, 4.5, 0.001)
    q, velocity = play(arrivals, sent, CLOCK + sent, times)
    assert velocity.max() < (DELAY + 2.0 * PERIOD) / DELAY, 'as where a stream starts afresh'
    assert np.all(q <= sent[np.searchsorted(arrivals, times, side='right') - 1] + 1e-9)
    assert np.all(times + lost - q < pause + DELAY + 0.02)
    assert q[-1] > times[-1] + lost - 1.5 * DELAY, 'it comes back'


# Several joints.


def play_all(messages, times, count=3):
    """Feed messages, (arrival, values by place, stamp) each, and read where to be at times."""
    playouts = Playouts(DELAY, np.zeros(count))
    waiting, read = list(messages), []
    for t in times:
        while waiting and waiting[0][0] <= t:
            arrival, values, stamp = waiting.pop(0)
            playouts.add(values, stamp, arrival)
        read.append(np.concatenate(playouts.at(t)))
    return np.array(read)


ARM_STREAM = [(k * PERIOD, {0: 0.01 * k, 1: -0.02 * k}, CLOCK + k * PERIOD) for k in range(60)]
TIMES = np.arange(0.0, 1.0, 0.001)


@given(
    st.lists(
        st.tuples(st.floats(0.0, 0.7), st.floats(-1.0, 1.0), st.floats(-0.05, 0.05)), max_size=40
    )
)
@example([(0.305, 0.5, 0.0)])
def test_messages_for_a_gripper_do_not_disturb_those_for_its_arm(others):
    gripper = [(arrival, {2: value}, CLOCK + arrival + late) for arrival, value, late in others]
    mixed = sorted([*ARM_STREAM, *gripper], key=lambda message: message[0])
    alone, together = play_all(ARM_STREAM, TIMES), play_all(mixed, TIMES)
    assert alone[:, [0, 1, 3, 4]].tobytes() == together[:, [0, 1, 3, 4]].tobytes()
    if gripper:
        assert together[-1, 2] == pytest.approx(sorted(gripper, key=lambda m: m[0])[-1][1][2])


def test_one_joint_of_a_stream_that_is_named_alone_leaves_the_others_on_their_way():
    messages = [*ARM_STREAM[:30], (0.295, {1: 0.5}, CLOCK + 0.295)]
    read = play_all(messages, TIMES)
    alone = play_all(ARM_STREAM[:30], TIMES)
    assert_close(read[:, 0], alone[:, 0], 1e-12)
    assert read[-1, 1] == 0.5


def test_joints_of_two_streams_that_are_named_together_go_on_from_where_they_are():
    messages = [
        (0.0, {0: 0.1}, CLOCK),
        (0.0, {1: 0.2}, CLOCK),
        (0.1, {0: 0.3, 1: 0.3}, CLOCK + 0.1),
    ]
    read = play_all(messages, TIMES)
    assert_close(read[TIMES < 0.1][-1, :2], (0.1, 0.2), 1e-12)
    assert_close(read[-1, :2], (0.3, 0.3), 1e-12)
    assert np.abs(np.diff(read[:, :2], axis=0)).max() < 0.011, 'nothing leaps'
