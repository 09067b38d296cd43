"""The mean of a moving goal: judged by means computed one by one."""

from fabrik_ros.kernels.target_windows import CORNER
from fabrik_ros.motion.lines.arrivals import SHORTEST_INTERVAL
from fabrik_ros.motion.lines.target_filter import MEMORY, SMOOTHING, TargetFilter
from hypothesis import given, settings, strategies as st
import numpy as np
import pytest

DT, GAIN = 0.01, 4.0


def speed_of(trail):
    """Mean speed of the mean over the next step."""
    return (trail.left() - trail.left(DT)) / DT


def way(x=0.0, y=0.0, turn=0.0):
    return np.array([x, y, 0.0, 0.0, 0.0, turn])


def streamed(steps, every=1):
    """TargetFilter of a goal that came `steps` times, the last of them just now."""
    trail = TargetFilter()
    trail.add(way(), GAIN)
    for step in steps:
        for _ in range(every):
            trail.pass_time(DT)
        trail.add(step, GAIN)
    return trail


def mean_left(steps, window):
    """Way from the mean of where the goal was, at a thousand moments, to where it is."""
    ages, moments = DT * np.arange(len(steps)), (np.arange(1000) + 0.5) * window / 1000.0
    left = 1.0 - np.clip((ages - moments[:, None]) / SMOOTHING, 0.0, 1.0)
    return (left @ np.array(steps[::-1])).mean(axis=0)


def test_goal_that_does_not_move_is_its_own_mean():
    trail = streamed([way()] * 20)
    assert trail.is_empty
    assert not np.any(trail.left())


def test_first_goal_is_a_jump():
    trail = TargetFilter()
    trail.add(way(0.01), GAIN)
    assert trail.is_empty


@pytest.mark.parametrize('far', [way(1.01 * MEMORY), way(turn=1.01 * MEMORY)])
def test_goal_that_jumps_far_is_its_own_mean(far):
    assert streamed([way(0.005)] * 20 + [far]).is_empty


def test_goal_that_comes_late_is_its_own_mean():
    trail = streamed([way(0.005)] * 20)
    for _ in range(round(MEMORY / DT) + 1):
        trail.pass_time(DT)
    trail.add(way(0.005), GAIN)
    assert trail.is_empty


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=50)
def test_mean_is_that_of_where_the_goal_has_been(seed):
    moves = np.random.default_rng(seed).uniform(-0.01, 0.01, (80, 2))
    steps = [way(x, y) for x, y in moves]
    trail = streamed(steps)
    assert np.allclose(trail.left(), mean_left(steps, trail._windows[0]), atol=1e-4)


@pytest.mark.parametrize('share', [0.2, 0.5, 1.0])
def test_mean_of_a_steady_goal_is_half_of_what_a_corner_needs_behind_it(share):
    """And an interval, in which the goal goes where it is."""
    trail = streamed([way(share * DT)] * 80)
    window = CORNER * share / GAIN
    assert np.allclose(trail.left(), way(share * (0.5 * window + DT)), rtol=0.02)
    assert np.allclose(speed_of(trail), way(share), rtol=1e-6)


@pytest.mark.parametrize('share', [0.25, 1.0])
def test_mean_takes_a_corner_with_about_the_acceleration_it_may_have(share):
    trail = streamed([way(share * DT)] * 80)
    speeds = [speed_of(trail)]
    for _ in range(60):
        trail.pass_time(DT)
        trail.add(way(y=share * DT), GAIN)
        speeds.append(speed_of(trail))
    changes = np.linalg.norm(np.diff(speeds, axis=0), axis=1) / DT
    braking = share / GAIN
    assert 0.95 * GAIN < changes.max() < GAIN * CORNER * braking / (CORNER * braking - SMOOTHING)
    assert np.linalg.norm(speeds, axis=1).max() <= share * (1.0 + 1e-9)
    assert np.allclose(speeds[-1], way(y=share))


@pytest.mark.parametrize('interval', [0.0167, 0.0083, 0.0271])
def test_goals_that_ticks_make_late_by_turns_go_evenly(interval):
    """Each is taken at the tick after it came: so many milliseconds late, by turns."""
    trail, speeds, due = TargetFilter(), [], 0.0
    for tick in range(400):
        while due <= tick * DT:
            trail.add(way(0.5 * interval), GAIN)
            due += interval
        speeds.append(speed_of(trail)[0] if not trail.is_empty else 0.0)
        trail.pass_time(DT)
    settled = np.array(speeds[200:])
    assert abs(settled.mean() - 0.5) < 0.005
    assert np.abs(settled - 0.5).max() < 0.02


def test_trembling_goal_is_no_farther_behind_than_a_calm_one():
    rng = np.random.default_rng(1)
    places = np.arange(300)[:, None] * way(0.5 * DT) + 0.008 * rng.normal(size=(300, 6))
    trail, calm = streamed(list(np.diff(places, axis=0))), streamed([way(0.5 * DT)] * 299)
    assert trail._windows[0] < 2.0 * calm._windows[0]


@pytest.mark.parametrize('share', [0.2, 0.7])
@pytest.mark.parametrize('every', [3, 7, 10])
def test_mean_of_goals_that_come_slowly_goes_evenly(every, share):
    trail = streamed([way(share * DT * every)] * 60, every)
    speeds = []
    for i in range(1, 4 * every):
        speeds.append(speed_of(trail)[0])
        trail.pass_time(DT)
        if i % every == 0:
            trail.add(way(share * DT * every), GAIN)
    assert np.allclose(speeds, share, rtol=1e-6)


def test_mean_comes_to_the_goal_when_no_other_comes():
    trail = streamed([way(DT)] * 80)
    before = np.linalg.norm(trail.left())
    while not trail.is_empty:
        trail.pass_time(DT)
        now = np.linalg.norm(trail.left())
        assert now < before
        before = now
    assert not np.any(trail.left())


def test_flood_of_goals_is_no_longer_than_the_steps_it_came_in_and_one_that_waits():
    trail = streamed([way(1e-5)] * 10)
    for _ in range(1000):
        trail.add(way(1e-6), GAIN)
    assert len(trail._ages) <= 11


def test_window_narrows_slowly_when_the_goal_slows_down():
    trail = streamed([way(DT)] * 80)
    wide = trail._windows[0]
    for _ in range(100):
        trail.pass_time(DT)
        trail.add(way(0.1 * DT), GAIN)
    assert SHORTEST_INTERVAL < trail._windows[0] < wide
    assert wide - trail._windows[0] < 0.06


@pytest.mark.parametrize(('less', 'within'), [(0.8, 0.5), (0.5, 0.3), (0.5, DT)])
def test_mean_goes_on_nearly_as_fast_when_less_can_be_done_on_the_way(less, within):
    """What joints can do changes within some time [s] to a share of it."""
    trail = streamed([way(0.5 * DT)] * 80)
    falling = np.linspace(GAIN, less * GAIN, round(within / DT))
    for gain in [*falling, *[less * GAIN] * 50]:
        before = trail.left()
        trail.pass_time(DT)
        trail.add(way(0.5 * DT), gain)
        gone = way(0.5 * DT) - (trail.left() - before)
        assert gone[0] > 0.97 * 0.5 * DT


def test_several_tips_have_a_mean_each():
    steps = [np.array([way(0.5 * DT), way()])] * 80
    trail = TargetFilter()
    trail.add(np.zeros((2, 6)), GAIN)
    for step in steps:
        trail.pass_time(DT)
        trail.add(step, GAIN)
    assert trail.left()[0, 0] > 0.0
    assert not np.any(trail.left()[1])


def test_lag_of_a_tip_is_that_which_it_has_alone():
    """One that goes faster beside it has a window of its own."""
    alone, beside, slow = TargetFilter(), TargetFilter(), way(0.2 * DT)
    for _ in range(80):
        for trail, step in ((alone, [slow]), (beside, [slow, way(y=DT)])):
            trail.add(np.array(step), GAIN)
            trail.pass_time(DT)
    assert np.array_equal(beside.left()[0], alone.left()[0])
    assert np.array_equal(beside.part(np.array([0])).left(), alone.left())
    assert beside.left()[1, 1] > 2.0 * beside.left()[0, 0]
