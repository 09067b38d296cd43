"""When tips will be where: by trigonometry on paper, by hand, and by the arm that goes there."""

import math

from fabrik_ros import ArmFollower, State
from fabrik_ros.motion.paths.pace import paced, piece_speeds, reached
from fabrik_ros.programs import Line, Program
from hypothesis import given, strategies as st
import numpy as np
import pytest
from solving import judged

START = np.array([0.0, -1.3, 1.6, -1.9, -1.57, 0.0])
speeds = st.lists(st.floats(0.0, 2.0), min_size=2, max_size=12)


@given(speeds, st.data())
def test_speed_is_the_greatest_that_rises_and_falls_with_the_acceleration(ceilings, data):
    steps = st.lists(st.floats(0.0, 0.5), min_size=len(ceilings) - 1, max_size=len(ceilings) - 1)
    places = np.append(0.0, np.cumsum(data.draw(steps)))
    found = reached(places, np.array(ceilings), 1.5)
    by_hand = [
        min(math.sqrt(c * c + 3.0 * abs(s - place)) for c, s in zip(ceilings, places, strict=True))
        for place in places
    ]
    np.testing.assert_allclose(found, by_hand, atol=1e-7)


@given(st.floats(0.01, 2.0), st.floats(0.05, 1.0), st.floats(0.2, 3.0))
def test_line_from_rest_to_rest_takes_as_long_as_on_paper(length, speed, acceleration):
    count = 400
    lengths = np.full(count, length / count)
    rests = np.zeros(count + 1, dtype=bool)
    rests[[0, -1]] = True
    times = paced(lengths, lengths / speed, rests, acceleration)
    gaining = speed * speed / acceleration
    on_paper = (
        length / speed + speed / acceleration
        if length > gaining
        else 2.0 * math.sqrt(length / acceleration)
    )
    assert times[-1] == pytest.approx(on_paper, rel=0.002)


def test_a_step_from_rest_to_rest_and_a_turn_on_the_spot_take_their_time():
    times = paced(np.array([0.5, 0.0]), np.array([0.1, 2.0]), np.full(3, True), 2.0)
    np.testing.assert_allclose(times, [0.0, 1.0, 3.0])
    assert piece_speeds(np.zeros((2, 3)), np.zeros(2)).tolist() == [0.0]


def driven(program):
    """Let an arm go through a program; return the path ahead, its times, and how long it took."""
    chain, _ = judged('six_axis')
    follower = ArmFollower(chain)
    q, taken, path, times = follower.step(program, 0.01, measured=START), 0.0, None, None
    while follower.state is not State.REACHED:
        q = follower.step(None, 0.01, measured=q)
        if follower.state is State.MOVING:
            taken += 0.01
            if path is None:
                path, times = follower.planned_path[:, 0, :3, 3], follower.planned_times
    return path, times, taken


def test_times_ahead_are_those_of_the_arm_and_speeds_those_that_are_asked():
    _, judge = judged('six_axis')
    slow, fast, last = (np.array(judge.pose(START)) for _ in range(3))
    slow[0, 3] += 0.1
    fast[:2, 3] += 0.1, 0.2
    last[:2, 3] += -0.1, 0.2
    program = Program([Line(slow, speed=0.04), Line(fast), Line(last, speed=0.1)])
    path, times, taken = driven(program)
    assert times[0] == 0.0
    assert times[-1] == pytest.approx(taken, rel=0.1)
    speeds = piece_speeds(path, times)
    middles = 0.5 * (path[1:] + path[:-1])
    for begin, end, speed in (
        (judge.pose(START), slow, 0.04),
        (slow, fast, 0.25),
        (fast, last, 0.1),
    ):
        a, b = begin[:3, 3], end[:3, 3]
        share = (middles - a) @ (b - a) / ((b - a) @ (b - a))
        off = np.linalg.norm(middles - a - share[:, None] * (b - a), axis=1)
        amid = (off < 1e-3) & (np.abs(share - 0.5) < 0.15)
        assert amid.sum() > 1
        np.testing.assert_allclose(speeds[amid], speed, rtol=0.05)
    corner = np.argmin(np.linalg.norm(middles - slow[:3, 3], axis=1))
    assert speeds[corner] < 0.2, 'it stops at the corner'


def test_a_single_target_is_reached_about_when_its_path_says():
    _, judge = judged('six_axis')
    T = np.array(judge.pose(START))
    T[:3, 3] += -0.1, 0.25, 0.1
    _, times, taken = driven(T)
    assert times[-1] == pytest.approx(taken, rel=0.25)
