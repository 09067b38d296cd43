"""The judge of commands finds each violation, and none where there is none."""

from dataclasses import replace

from command_judge import Bounds, CommandJudge
import numpy as np
import pytest

NAMES = ('a', 'b')
STEP = 10_000_000
"""A hundredth of a second [ns]."""
DT = 1e-9 * STEP
USUAL = Bounds(np.array([-1.0, -2.0]), np.array([1.0, 2.0]), np.full(2, 1.5), np.full(2, 5.0))


def bounds(velocity=1.5, acceleration=5.0):
    return Bounds(USUAL.lower, USUAL.upper, np.full(2, velocity), np.full(2, acceleration))


class Stream:
    """Commands to a judge: joint `a` at a velocity, joint `b` at rest."""

    def __init__(self, start=(0.0, 0.0), knows_states=True):
        self.judge = CommandJudge(NAMES, USUAL, DT, knows_states=knows_states)
        if knows_states:
            self.judge.arm_says(dict(zip(NAMES, start, strict=True)))
        self.stamp = 5 * STEP
        self.q = np.array(start)
        self.velocity = 0.0

    def send(self, q, step=STEP, names=NAMES):
        self.stamp += step
        self.q = np.array(q, dtype=float)
        self.judge.check(names, self.stamp, self.q.tolist())

    def go(self, velocity, acceleration=5.0):
        """Come to a velocity as fast as allowed."""
        while self.velocity != velocity:
            change = np.clip(velocity - self.velocity, -acceleration * DT, acceleration * DT)
            self.velocity += change
            if abs(velocity - self.velocity) < 1e-9:
                self.velocity = velocity
            self.keep_on()

    def keep_on(self, steps=1):
        for _ in range(steps):
            self.send(self.q + np.array([self.velocity * DT, 0.0]))

    @property
    def wrong(self):
        return ' '.join(self.judge.violations)


@pytest.fixture
def stream():
    return Stream()


def test_motion_within_all_limits_is_right(stream):
    stream.go(1.0)
    stream.keep_on(20)
    stream.go(-1.5)
    stream.go(0.0)
    stream.keep_on(5)
    assert stream.wrong == ''
    assert stream.judge.worst['acceleration'] == pytest.approx(1.0, abs=1e-3)
    assert stream.judge.worst['velocity'] == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize('value', [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_is_wrong(stream, value):
    stream.send([value, 0.0])
    assert 'not finite' in stream.wrong


def test_other_joints_are_wrong(stream):
    stream.send([0.0, 0.0], names=('b', 'a'))
    assert "['b', 'a']" in stream.wrong


@pytest.mark.parametrize('step', [0, -1, -STEP])
def test_stamp_that_does_not_increase_is_wrong_unless_the_clock_went_back(stream, step):
    stream.go(0.0)
    stream.send(stream.q)
    stream.send(stream.q, step)
    assert 'stamps go' in stream.wrong
    stream.judge.violations.clear()
    stream.judge.clock_may_go_back()
    stream.send(stream.q, step)
    assert stream.wrong == ''


def test_clock_that_goes_back_does_not_excuse_a_jump(stream):
    stream.go(0.5)
    stream.judge.clock_may_go_back()
    stream.send(stream.q + np.array([0.1, 0.0]), -100 * STEP)
    assert 'velocity 10' in stream.wrong


def test_position_outside_a_limit_is_wrong(stream):
    stream.go(1.0)
    stream.keep_on(120)
    assert 'a goes from' in stream.wrong
    assert 'outside [-1.0, 1.0]' in stream.wrong


def test_start_outside_a_limit_may_come_in_but_not_go_out():
    stream = Stream(start=(1.05, 0.0))
    stream.go(-0.2)
    assert stream.wrong == ''
    stream.go(0.0)
    stream.go(0.1)
    assert 'a goes from' in stream.wrong


def test_run_that_begins_where_the_arm_never_was_is_wrong(stream):
    stream.go(0.5)
    stream.go(0.0)
    stream.judge.arm_says({'a': 0.5, 'b': 0.1})
    stream.send([0.5, 0.1], 20 * STEP)
    assert stream.wrong == ''
    stream.send([0.5, 0.2], 20 * STEP)
    assert 'a run begins 0.1' in stream.wrong


def test_run_that_begins_on_a_way_that_was_announced_is_right_beside_it_wrong(stream):
    stream.go(0.5)
    stream.judge.is_announced([stream.q, stream.q + np.array([0.1, 0.0])])
    stream.send(stream.q + np.array([0.05, 0.0]), 20 * STEP)
    assert stream.wrong == ''
    stream.send(stream.q + np.array([0.05, 0.02]), 20 * STEP)
    assert 'a run begins 0.02' in stream.wrong


def test_velocity_beyond_the_limit_is_wrong(stream):
    stream.go(1.51)
    assert 'velocity 1.51' in stream.wrong


def test_acceleration_beyond_the_limit_is_wrong(stream):
    stream.go(1.0, 5.1)
    assert 'acceleration 5.1' in stream.wrong


def test_lower_velocity_must_be_braked_to(stream):
    stream.go(1.5)
    stream.judge.bounds_may_change(bounds(velocity=0.5))
    stream.keep_on(5)
    stream.judge.bounds_have_changed(bounds(velocity=0.5))
    stream.go(0.5)
    assert stream.wrong == ''
    stream.go(0.6)
    assert stream.wrong == ''
    stream.keep_on(50)
    assert 'velocity 0.6' in stream.wrong


def test_lower_acceleration_counts_from_the_next_rest(stream):
    stream.go(1.0)
    stream.judge.bounds_have_changed(bounds(acceleration=1.0))
    stream.go(0.0)
    stream.keep_on()
    assert stream.wrong == ''
    stream.go(0.5)
    assert 'acceleration 5.0' in stream.wrong


def test_higher_bounds_count_from_the_request_on(stream):
    stream.go(1.0)
    stream.judge.bounds_may_change(bounds(velocity=3.0, acceleration=20.0))
    stream.go(0.0, 20.0)
    stream.judge.bounds_have_changed(bounds(velocity=3.0, acceleration=20.0))
    stream.go(-2.5, 20.0)
    assert stream.wrong == ''


def swinging(q):
    """Tell where a tip is, 1 m from joint `a`, which turns it about z."""
    c, s = np.cos(q[0]), np.sin(q[0])
    return np.array([[c, s, 0.0]]), np.array([[[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]])


@pytest.mark.parametrize(
    ('limits', 'words'), [((0.5, 9.0), 'at 0.6'), ((9.0, 0.5), 'turns at 0.6')]
)
def test_tip_that_is_too_fast_or_turns_too_fast_is_wrong(limits, words):
    stream = Stream()
    bounds = replace(USUAL, tip_speed=limits[0], tip_rotation=limits[1])
    stream.judge = CommandJudge(NAMES, bounds, DT, swinging)
    stream.judge.arm_says({'a': 0.0, 'b': 0.0})
    stream.go(0.5)
    assert stream.wrong == ''
    stream.go(0.7)
    assert words in stream.wrong


def test_lower_limit_of_the_tip_counts_from_the_next_rest_on():
    stream = Stream()
    stream.judge = CommandJudge(NAMES, replace(USUAL, tip_speed=0.5), DT, swinging)
    stream.judge.arm_says({'a': 0.0, 'b': 0.0})
    stream.go(0.5)
    stream.judge.bounds_have_changed(replace(USUAL, tip_speed=0.2))
    stream.go(0.0)
    assert stream.wrong == ''
    stream.keep_on(3)
    stream.go(0.5)
    assert 'a tip or joint centre' in stream.wrong


@pytest.mark.parametrize('start', [(1.0, -2.0), (0.3, 0.4)])
def test_without_states_a_run_may_begin_anywhere_within_the_limits(start):
    stream = Stream(start, knows_states=False)
    stream.keep_on(3)
    assert stream.wrong == ''


def test_without_states_no_command_may_be_outside_a_limit():
    stream = Stream((1.05, 0.0), knows_states=False)
    stream.send(stream.q)
    stream.go(-0.2)
    assert stream.judge.violation_count == 1 + round(0.2 / 5.0 / DT)
    assert 'a goes from' in stream.wrong


def test_without_states_a_run_may_begin_as_far_away_as_the_pause_allows():
    stream = Stream(knows_states=False)
    stream.keep_on(3)
    stream.send([0.29, 0.0], 20 * STEP)
    assert stream.wrong == ''
    stream.send([0.60, 0.0], 20 * STEP)
    assert 'velocity 1.55' in stream.wrong


def test_all_violations_are_counted_and_the_first_are_kept(stream):
    for _ in range(30):
        stream.send([np.nan, 0.0])
    assert stream.judge.violation_count == 30
    assert len(stream.judge.violations) == 20


class Wire:
    """Reports of a path that waits and commands of rest, as they come; with the time of each."""

    def __init__(self):
        self.judge = CommandJudge(NAMES, USUAL, DT)
        self.judge.arm_says({'a': 0.0, 'b': 0.0})

    def hear(self, *what):
        for asked, sent in what:
            if asked == 'command':
                self.judge.check(NAMES, sent, [0.0, 0.0], sent)
            else:
                self.judge.path_waits(asked, sent)
        return self.judge.violations


@pytest.mark.parametrize('place', range(5))
def test_command_while_a_path_waits_is_found_whenever_it_comes(place):
    told = [(1, 1), (1, 3), (1, 4), (1, 5)]
    told.insert(place, ('command', 2))
    (found,) = Wire().hear(*told, (1, 6), (1, 7))
    assert 'came while a path waits' in found


def test_commands_after_the_last_report_of_a_path_that_waits_accuse_nobody():
    """A report may be heard long after the commands of what was asked for since."""
    assert not Wire().hear((1, 1), (1, 2), ('command', 4), ('command', 5), (1, 3), (None, 6))
    assert not Wire().hear((1, 1), (1, 2), ('command', 4), ('command', 5), (1, 3), (2, 6), (2, 7))


def test_last_command_before_a_path_waits_may_come_after_its_reports():
    assert not Wire().hear((1, 2), (1, 3), ('command', 1), (1, 4), (1, 5))


def test_commands_that_somebody_asked_for_end_the_wait():
    reports = [(1, 0), (2, 2), (3, 4), (None, 6), (3, 8), (4, 10)]
    assert not Wire().hear(*[one for r in reports for one in (r, ('command', r[1] + 1))])


def test_run_that_begins_where_the_arm_was_long_ago_is_wrong(stream):
    for _ in range(400):
        stream.judge.arm_says({'a': 0.5, 'b': 0.0})
    stream.send([0.0, 0.0])
    assert 'a run begins 0.5' in stream.wrong


@pytest.mark.parametrize(('away', 'is_wrong'), [(1e-3, False), (0.01, True), (-0.01, True)])
def test_run_begins_within_two_milliradians_of_the_arm(stream, away, is_wrong):
    stream.judge = CommandJudge(NAMES, USUAL, DT, nearby=2e-3)
    stream.judge.arm_says({'a': 0.0, 'b': 0.0})
    stream.send([away, 0.0])
    assert ('a run begins' in stream.wrong) == is_wrong


def test_stop_that_brakes_is_right_and_one_that_travels_is_wrong(stream):
    stream.go(1.0)
    stream.keep_on(20)
    stream.judge.arm_holds(may_go_back=False)
    stream.go(0.0)
    stream.keep_on(3)
    assert stream.wrong == ''
    stream.go(-1.0)
    stream.keep_on(100)
    assert 'the stop travels' in stream.wrong


def test_stop_of_an_arm_that_does_not_follow_may_go_back_over_its_own_commands(stream):
    stream.go(1.0)
    stream.keep_on(60)
    stream.judge.arm_holds(may_go_back=True)
    stream.go(-1.0)
    while stream.q[0] > 0.02:
        stream.keep_on()
    assert stream.wrong == ''
    stream.keep_on(120)
    assert 'the stop travels' in stream.wrong


def test_motion_after_a_stop_is_no_stop(stream):
    stream.judge.arm_holds(may_go_back=False)
    stream.send([0.0, 0.0])
    stream.judge.arm_goes_on()
    stream.go(1.0)
    stream.keep_on(60)
    assert stream.wrong == ''


@pytest.mark.parametrize(('away', 'is_wrong'), [(0.005, False), (0.02, True)])
def test_arm_that_is_said_to_be_at_its_target_is_there(away, is_wrong):
    def frames(q):
        return np.array([[q[0], q[1], 0.0]]), np.eye(3)[None]

    stream = Stream()
    stream.judge = CommandJudge(NAMES, USUAL, DT, frames)
    stream.judge.arm_says({'a': 0.0, 'b': 0.0})
    stream.send([0.0, 0.0])
    for _ in range(100):
        stream.judge.arm_says({'a': away, 'b': 0.0})
    stream.judge.arm_is_at_target(0.01, 0.05)
    assert ('at the target, but' in stream.wrong) == is_wrong


@pytest.mark.parametrize(('further', 'is_wrong'), [(0.005, False), (0.02, True)])
def test_motion_that_stalled_goes_on_as_fast_as_it_was(stream, further, is_wrong):
    stream.go(0.5)
    stream.send(stream.q + np.array([further, 0.0]), 15 * STEP)
    assert ('a run begins' in stream.wrong) == is_wrong


def test_motion_that_stalled_keeps_the_limits_of_the_tip_that_it_had():
    stream = Stream()
    stream.judge = CommandJudge(NAMES, replace(USUAL, tip_speed=0.5), DT, swinging)
    stream.judge.arm_says({'a': 0.0, 'b': 0.0})
    stream.go(0.4)
    stream.judge.bounds_have_changed(replace(USUAL, tip_speed=0.2))
    stream.send(stream.q + np.array([stream.velocity * DT, 0.0]), step=30 * STEP)
    stream.go(0.0)
    assert stream.wrong == ''
    stream.go(0.3)
    assert 'a tip or joint centre' in stream.wrong
