"""Profiles: those that come with the package, one's own, and what is wrong with others."""

from pathlib import Path

from fabrik_ros.errors import ProfileError
from fabrik_ros.teleop.controls import Button, Values
from fabrik_ros.teleop.pilot import Pilot
from fabrik_ros.teleop.profile import load_profile, profile_names
import numpy as np
import pytest

OWN = """joy: joy
deadman: {axis: 2, below: -0.5}
stop: 1
sticks:
  response: linear
  deadzone: 0.0
  x: {axis: 1, speed: 0.1}
  roll: {buttons: [5, 6], speed: 0.5}
"""


@pytest.fixture
def write(tmp_path):
    def write(text):
        path = tmp_path / 'own.yaml'
        path.write_text(text)
        return path

    return write


def test_profiles_of_common_devices_come_with_the_package():
    assert set(profile_names()) == {'gamepad', 'hand', 'keyboard', 'leader', 'spacemouse'}


@pytest.mark.parametrize('name', profile_names())
def test_profile_of_the_package_can_be_used_and_says_its_device(name):
    profile = load_profile(name)
    assert profile.name == name
    assert Pilot(profile).guide is not None
    folder = Path(__file__).parents[2] / 'config/teleop'
    assert (folder / f'{name}.yaml').read_text().startswith('# ')


def test_profile_of_ones_own_in_ten_lines(write):
    assert len(OWN.splitlines()) <= 10
    profile = load_profile(write(OWN))
    assert (profile.name, profile.joy, profile.resume) == ('own', 'joy', None)
    values = Values([0.0, 0.5, -0.9], [0, 0, 0, 0, 0, 0, 1])
    assert profile.deadman.is_pressed(values)
    np.testing.assert_allclose(profile.sticks.velocity(values), [0.05, 0, 0, -0.5, 0, 0])


def test_button_that_the_device_does_not_have_is_not_pressed():
    assert not Button(7).is_pressed(Values([], [1]))
    assert not Button(7, above=-1.0).is_pressed(Values([1.0], []))


def test_name_that_is_not_there_is_answered_with_those_that_are():
    words = r"no profile 'gamepat'; did you mean 'gamepad'\?; there are: gamepad, .*ends in .yaml"
    with pytest.raises(ProfileError, match=words):
        load_profile('gamepat')
    with pytest.raises(ProfileError, match=r"there is no profile '/nowhere/own\.yaml'"):
        load_profile('/nowhere/own.yaml')


@pytest.mark.parametrize(
    ('old', 'new', 'words'),
    [
        ('joy: joy', 'joy: 3', 'joy: expected the name of a topic, got 3'),
        ('joy: joy', 'joy: my joy', 'joy: expected the name of a topic, as hand/joy.* got my joy'),
        ('joy: joy', 'joy: /joy/', 'joy: expected the name of a topic, .* got /joy/'),
        ('joy: joy', f'joy: {"j" * 201}', 'joy: expected the name of a topic, .* got jjj'),
        ('joy: joy\n', '', "needs 'joy', the topic of the buttons, or 'keyboard: true'"),
        ('stop: 1', 'stopp: 1', "the profile has the unknown key 'stopp'; did you mean 'stop'"),
        ('stop: 1\n', '', "needs 'stop', a button; nothing moves without"),
        ('stop: 1', 'stop: -1', 'stop: expected a number from 0 on, got -1'),
        ('stop: 1', 'stop: true', 'stop: expected a number from 0 on, got True'),
        ('below: -0.5', 'above: 0.5, below: 1', "deadman: an axis is pressed 'above' or 'below'"),
        ('below: -0.5', 'below: low', 'deadman, below: expected a finite number, got low'),
        ('axis: 1,', '', "sticks, x: needs 'axis' or 'buttons', one of them"),
        ('speed: 0.1', 'speed: fast', 'sticks, x, speed: expected a finite number, got fast'),
        ('[5, 6]', '5', 'sticks, roll, buttons: expected two, for more and less, got 5'),
        ('[5, 6]', '[3, 3]', r'sticks, roll, buttons: expected two different ones, got \[3, 3\]'),
        ('speed: 0.1', 'speed: 0.0', 'sticks, x, speed: expected a number other than 0, got 0'),
        ('stop: 1', 'stop: {axis: 2, below: -0.5}', 'stop: .*of deadman, got axis 2 below -0.5'),
        (
            'stop: 1',
            'stop: 1\nresume: 1',
            'resume: expected another button than that of stop, got 1',
        ),
        (
            'stop: 1',
            'stop: 1\ngripper: {open: 4, close: 4}',
            'gripper, close: expected another button than that of gripper, open, got 4',
        ),
        (
            'stop: 1',
            'stop: 1\ngripper: {squeeze: 1}',
            'gripper, squeeze: expected another button than that of stop, got 1',
        ),
        ('linear', 'square', 'sticks, response: expected one of linear, cubic, got square'),
        ('deadzone: 0.0', 'deadzone: 1', 'sticks, deadzone: expected 0 to 0.9, got 1'),
        ('deadzone: 0.0', 'frame: tip', 'sticks, frame: expected one of base, tool, got tip'),
        ('x: ', 'X: ', "sticks has the unknown key 'X'"),
        ('sticks:', 'leader: {}\nsticks:', 'needs one of .*; it has sticks and leader'),
        ('stop: 1', 'stop: 1\ntimeout: 60', 'timeout: expected 0.02 to 10, got 60'),
        ('stop: 1', 'stop: 1\ngripper: {shut: 2}', "gripper has the unknown key 'shut'"),
    ],
)
def test_what_is_wrong_is_named_with_file_key_value_and_what_is_allowed(write, old, new, words):
    assert old in OWN
    path = write(OWN.replace(old, new))
    with pytest.raises(ProfileError, match=words) as caught:
        load_profile(path)
    assert str(caught.value).startswith(f'profile {path}: ')


@pytest.mark.parametrize(
    ('device', 'twist', 'words'),
    [
        ('keyboard: true', '', 'sticks, z, axis: expected 0 to 5, as the keyboard has, got 9'),
        ('joy: joy', 'twist: t', 'sticks, z, axis: expected 0 to 5, as a twist has, got 9'),
    ],
)
def test_axis_that_no_such_device_has_is_refused(write, device, twist, words):
    sticks = ', '.join(filter(None, [twist, 'z: {axis: 9, speed: 0.1}']))
    with pytest.raises(ProfileError, match=words):
        load_profile(write(f'{device}\ndeadman: 0\nstop: 1\nsticks: {{{sticks}}}\n'))


@pytest.mark.parametrize('topic', ['~/joy', '/a/b_2', 'a/{node}/joy'])
def test_topics_may_be_written_as_ros_takes_them(write, topic):
    assert load_profile(write(OWN.replace('joy: joy', f'joy: "{topic}"'))).joy == topic


@pytest.mark.parametrize(
    ('guide', 'words'),
    [
        ('sticks: {}', 'sticks: needs one of x, y, z, roll, pitch, yaw'),
        ('hand: {}', 'hand, pose: expected the name of a topic, got None'),
        ('hand: {pose: p, scale: 0}', 'hand, scale: expected 0.01 to 10, got 0'),
        ('hand: {pose: p, align: [0, 1]}', 'hand, align: expected 3 numbers'),
        ('leader: {topic: l, joints: {}}', 'leader, joints: expected the joints of the leader'),
        ('leader: {topic: l, joints: {a: {joint: 3}}}', 'leader, a, joint: expected a name'),
        ('leader: {topic: l, joints: {a: {joint: b, factor: 0}}}', 'a, factor: expected a number'),
        ('leader: {topic: my l, joints: {a: b}}', 'leader, topic: expected the name of a topic'),
        ('leader: {topic: l, joints: {a: b}, mode: x}', 'mode: expected one of absolute, rel'),
        ('leader: {topic: l, joints: {a: j, b: j}}', "leader, joints: several move 'j'"),
        ('joint_jog: 3', 'joint_jog: expected the name of a topic, got 3'),
        ('gripper: {}', 'needs one of sticks, hand, leader, joint_jog; it has none'),
    ],
)
def test_guide_that_makes_no_sense_is_named(write, guide, words):
    with pytest.raises(ProfileError, match=words):
        load_profile(write(f'joy: joy\ndeadman: 0\nstop: 1\n{guide}\n'))
