"""Sticks, twists, keys and jogs of joints."""

from devices import DEADMAN, motions, PERIOD, Rig, STICKS
from fabrik_ros.teleop.controls import Sticks
from fabrik_ros.teleop.joint_jogger import LEAD
from fabrik_ros.teleop.keyboard import Keyboard
from fabrik_ros.teleop.node_view import Jog, JointTarget, NodeView
from fabrik_ros.teleop.pilot import Pilot
from fabrik_ros.teleop.profile import load_profile
from helpers import examples
from hypothesis import given, settings, strategies as st
import numpy as np
import pytest

SHAPES = st.builds(
    Sticks,
    st.just({}),
    deadzone=st.floats(0.0, 0.9),
    response=st.sampled_from(['linear', 'cubic']),
)
DEFLECTION = st.floats(-1.0, 1.0)


@given(SHAPES, DEFLECTION, DEFLECTION)
@settings(max_examples=examples(100, 1000), deadline=None)
def test_share_of_the_speed_is_odd_grows_with_the_deflection_and_is_zero_near_rest(shape, a, b):
    assert shape.shaped(-a) == -shape.shaped(a)
    assert shape.shaped(min(a, b)) <= shape.shaped(max(a, b))
    assert shape.shaped(1.0) == 1.0
    if abs(a) <= shape.deadzone:
        assert shape.shaped(a) == 0.0


def test_device_that_says_more_than_full_deflection_is_not_faster():
    rig = Rig('sticks', STICKS)
    (jog,) = motions(rig.engage(axes=(7.0, -7.0)))
    np.testing.assert_allclose(jog.twist, [0.2, 0.0, 0.0, 0.0, 0.0, 0.5])


@pytest.mark.parametrize('frame', ['base', 'tool'])
def test_axes_of_the_tool_are_asked_for(frame):
    rig = Rig('sticks', {**STICKS, 'frame': frame})
    (jog,) = motions(rig.engage(axes=(1.0, 0.0)))
    assert jog.in_tool == (frame == 'tool')


def test_twists_stand_for_axes_while_they_come():
    rig = Rig('sticks', {**STICKS, 'twist': 'spacenav/twist'})
    rig.press()
    rig.press(DEADMAN)
    assert rig.said == ['not engaged: no twist on spacenav/twist']
    rig.guide.hear_twist((1.0, 0.0, 0.0, 0.0, 0.0, 0.0), rig.now)
    rig.guide.hear_twist((np.nan, 0.0, 0.0, 0.0, 0.0, 0.0), rig.now)
    (jog,) = motions(rig.engage())
    np.testing.assert_allclose(jog.twist, [0.2, 0.0, 0.0, 0.0, 0.0, 0.0])
    for _ in range(20):
        rig.press(DEADMAN)
    assert rig.said[-1] == 'released: no twist on spacenav/twist'


# -- keys


class Typist:
    """Somebody at the keyboard, whose keys are looked at as `Teleop` does."""

    def __init__(self):
        profile = load_profile('keyboard')
        self.keyboard, self.pilot = Keyboard(profile.timeout), Pilot(profile)
        self.pilot.see(NodeView(''), 0.0)
        self.now, self.orders = 10.0, []

    def pass_time(self, seconds, key='', every=0.03):
        """Let time pass; a key that is held repeats."""
        end, due = self.now + seconds, self.now
        begin = len(self.orders)
        while self.now < end - 1e-9:
            if key and self.now >= due - 1e-9:
                self.keyboard.type(key, self.now)
                due += every
            self.pilot.hear(self.keyboard.values(self.now), self.now)
            self.orders += self.pilot.orders(self.now)
            self.now += 0.01
        return [o.twist for o in self.orders[begin:] if isinstance(o, Jog)]


def test_key_moves_the_tool_while_it_repeats_and_not_longer():
    typist = Typist()
    assert not typist.pass_time(0.1)
    twists = np.array(typist.pass_time(1.0, 'w')[:-1])
    np.testing.assert_allclose(twists, np.tile([0.05, 0, 0, 0, 0, 0], (len(twists), 1)))
    assert len(twists) > 10
    typist.pass_time(0.22)
    assert not np.any(typist.pass_time(1.0))
    assert not typist.pilot.is_engaged


@pytest.mark.parametrize(
    ('key', 'direction'),
    [('s', -1), ('a', 2), ('d', -2), ('q', 3), ('e', -3), ('u', 4), ('k', -5), ('j', 6)],
)
def test_every_key_has_its_direction(key, direction):
    typist = Typist()
    typist.pass_time(0.1)
    twist = typist.pass_time(0.1, key)[0]
    assert np.flatnonzero(twist).tolist() == [abs(direction) - 1]
    assert np.sign(twist[abs(direction) - 1]) == np.sign(direction)


@pytest.mark.parametrize('typed', ['\x1b[A', '\x1bOR', '\x1b[d', 'WASD', '\n', 'x'])
def test_other_keys_move_nothing(typed):
    typist = Typist()
    typist.pass_time(0.1)
    assert not typist.pass_time(0.5, typed)


def test_space_stops_until_r():
    typist = Typist()
    typist.pass_time(0.1)
    typist.pass_time(0.2, 'w')
    typist.pass_time(0.05, ' ')
    assert typist.pilot.is_stopped
    assert not np.any(typist.pass_time(1.0, 'w'))
    typist.pass_time(0.4)
    typist.pass_time(0.1, 'r')
    assert np.any(typist.pass_time(0.5, 'w'))


@pytest.mark.parametrize(
    'typed', ['\x1b[A ', '\x1bOR\x1b[1;5C ', '\x1b ', '\x1b\x1b[B ', 'w\x1b[A ']
)
def test_space_stops_behind_an_arrow_key(typed):
    typist = Typist()
    typist.pass_time(0.1)
    typist.pass_time(0.03, typed)
    assert typist.pilot.is_stopped


# -- joints that are jogged


def jogged(rig, seconds, **velocities):
    for _ in range(round(seconds / PERIOD)):
        rig.guide.hear_jog(velocities, {}, rig.now)
        rig.pilot.heard()
        rig.press(DEADMAN)
    return [order.values for order in rig.orders if isinstance(order, JointTarget)]


def test_joints_go_at_the_velocity_from_where_they_are():
    rig = Rig('joint_jog', 'joint_jog')
    rig.guide.hear_jog({'j1': 0.5}, {'j1': 1.0}, rig.now)
    rig.engage()
    targets = jogged(rig, 0.4, j1=0.5)
    assert abs(targets[0]['j1'] - 0.3) < 0.5 * 0.03, 'what was said before does not count'
    assert targets[-1]['j1'] == pytest.approx(0.3 + 0.5 * 0.4, abs=0.02)
    assert all(list(values) == ['j1'] for values in targets)


def test_velocity_of_a_joint_that_is_not_said_again_ends():
    rig = Rig('joint_jog', 'joint_jog')
    rig.engage()
    jogged(rig, 0.2, j1=0.5)
    for _ in range(20):
        rig.press(DEADMAN)
    rig.clear()
    for _ in range(20):
        rig.press(DEADMAN)
    assert rig.pilot.is_engaged
    assert not motions(rig.orders)


def test_joints_that_do_not_follow_are_not_led_away():
    rig = Rig('joint_jog', 'joint_jog')
    rig.engage()
    assert jogged(rig, 3.0, j3=-1.0)[-1]['j3'] == pytest.approx(1.0 - LEAD)


def test_joint_that_is_jogged_beyond_its_limit_stays_there_and_comes_back_at_once():
    rig = Rig('joint_jog', 'joint_jog')
    rig.limits = {'j1': (-0.4, 0.4)}
    rig.engage()
    targets = jogged(rig, 1.0, j1=0.5, j2=0.1)
    assert targets[-1] == {'j1': 0.4, 'j2': pytest.approx(-0.1, abs=0.01)}
    assert jogged(rig, 0.1, j1=-0.5)[-1]['j1'] < 0.39


def test_displacements_add_up_in_a_burst_too():
    rig = Rig('joint_jog', 'joint_jog')
    rig.engage()
    for _ in range(10):
        rig.guide.hear_jog({}, {'j2': 0.01}, rig.now)
    rig.pilot.heard()
    (target,) = motions(rig.press(DEADMAN))
    assert target.values == {'j2': pytest.approx(-0.1)}
    rig.guide.hear_jog({'j2': np.nan}, {}, rig.now)
    assert not motions(rig.press(DEADMAN))


def test_joint_that_is_not_there_lets_the_arm_go():
    rig = Rig('joint_jog', 'joint_jog')
    rig.engage()
    jogged(rig, 0.1, elbow=0.1)
    assert rig.said[-1] == "released: joint 'elbow' on joint_jog is not one that is measured"
