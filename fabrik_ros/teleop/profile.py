"""
Profiles of devices in YAML: which button and which axis does what.

    joy: joy                        # topic of sensor_msgs/Joy
    deadman: 4                      # button; or {axis: 5, above: 0.5}, or `below`
    stop: 1                         # latches
    resume: 7                       # ends that
    sticks:
      x: {axis: 1, speed: 0.1}      # [m/s]; y, z alike
      yaw: {axis: 3, speed: 0.5}    # [rad/s]; roll, pitch alike
      roll: {buttons: [5, 6], speed: 0.5}

"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
import re
from typing import Any

from ..documents import Reader
from ..errors import did_you_mean, listed, ProfileError, shown
from ..model.examples import shared_folders
from .controls import Button, DIRECTIONS, RESPONSES, Stick, Sticks

READ = Reader(ProfileError)
FOLDER = 'config/teleop'
SUFFIXES = ('.yaml', '.yml')
FRAMES = ('base', 'tool')
GUIDES = ('sticks', 'hand', 'leader', 'joint_jog')
"""What moves the arm: one of these."""
BUTTONS = ('deadman', 'stop', 'resume')
TOP = ('joy', 'keyboard', *BUTTONS, 'gripper', 'timeout', *GUIDES)
STICKS = ('frame', 'deadzone', 'response', 'twist', *DIRECTIONS)
HAND = ('pose', 'scale', 'rotation_scale', 'frame', 'align')
LEADER = ('topic', 'joints', 'mode', 'near', 'approach')
MODES = ('absolute', 'relative')
LONGEST_TIMEOUT = 10.0
TOPIC = re.compile(r'(~/|/)?[A-Za-z_{][\w{}]*(/[A-Za-z_{][\w{}]*)*', re.ASCII)
LONGEST_TOPIC = 200
"""[characters]."""
SIX_AXES = 6
"""So many have a twist and the keyboard."""


@dataclass(frozen=True)
class Gripper:
    """Buttons that move the gripper, each None where there is none."""

    open: Button | None = None
    close: Button | None = None
    squeeze: Button | None = None
    """Closes when pressed, opens when let go."""

    @property
    def buttons(self) -> Mapping[str, Button]:
        """Those that there are, by their names here."""
        return {key: button for key, button in vars(self).items() if button is not None}


@dataclass(frozen=True)
class Hand:
    """A hand that is tracked, whose motion the tool repeats."""

    pose: str
    """Topic of its poses."""
    scale: float = 1.0
    """Way of the tool for one of the hand."""
    rotation_scale: float = 1.0
    in_tool: bool = False
    """Whether what is said in the axes of the hand is done in those of the tool, not the base."""
    align: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Roll, pitch, yaw of the tracker's axes in the base, or of the hand's in the tool [rad]."""


@dataclass(frozen=True)
class LeaderJoint:
    """Joint of the follower that a joint of the leader moves."""

    name: str
    factor: float = 1.0
    offset: float = 0.0
    """[rad or m]."""


@dataclass(frozen=True)
class Leader:
    """An arm whose joints those of the follower repeat."""

    topic: str
    """Of its joint states."""
    joints: Mapping[str, LeaderJoint]
    """By the name of the leader's joint."""
    is_relative: bool = False
    """Whether motions count from where both were when the clutch closed, instead of values."""
    near: float = 0.2
    """Difference between leader and follower up to which the clutch closes [rad or m]."""
    approach: float = 0.0
    """Share of all speeds at which a follower farther away is taken there; 0: refused."""


@dataclass(frozen=True)
class Profile:
    """What the parts of a device do."""

    name: str
    deadman: Button
    stop: Button
    joy: str = ''
    """Topic of its buttons; '': the keyboard of the terminal."""
    resume: Button | None = None
    gripper: Gripper = field(default_factory=Gripper)
    timeout: float = 0.3
    """Silence after which the link counts as lost [s]."""
    sticks: Sticks | None = None
    hand: Hand | None = None
    leader: Leader | None = None
    joint_jog: str = ''
    """Topic of control_msgs/JointJog."""


def load_profile(name: str | Path) -> Profile:
    """
    Load a profile: a file, or the name of one that comes with the package.

    >>> load_profile('gamepad').joy
    'joy'

    Raises
    ------
    ProfileError
        If there is none, or it makes no sense; names the file, the key and what is allowed.

    """
    path = _find(str(name))
    try:
        return profile_of(READ.document(path), path.stem)
    except ProfileError as error:
        raise ProfileError(f'profile {shown(str(path), 200)}: {error}') from error


def profile_names() -> tuple[str, ...]:
    """Names of the profiles that come with the package."""
    files = (file for folder in shared_folders(FOLDER) for file in folder.glob('*.yaml'))
    return tuple(sorted({file.stem for file in files}))


def _find(name: str) -> Path:
    if Path(name).suffix in SUFFIXES:
        if not Path(name).is_file():
            raise ProfileError(f"there is no profile '{shown(name, 200)}'")
        return Path(name)
    for folder in shared_folders(FOLDER):
        if (file := folder / f'{name}.yaml').is_file():
            return file
    names = profile_names()
    raise ProfileError(
        f"no profile '{shown(name)}'{did_you_mean(name, names)}; there are: {listed(names)}; "
        'one of your own ends in .yaml'
    )


def profile_of(document: object, name: str = '') -> Profile:
    """
    Make a profile of what YAML read.

    Raises
    ------
    ProfileError
        If it makes no sense; names the key, the value and what is allowed.

    """
    keys = READ.mapping(document, 'the profile')
    READ.check_keys(keys, TOP, 'the profile')
    given = [key for key in GUIDES if key in keys]
    if len(given) != 1:
        raise ProfileError(
            f'needs one of {", ".join(GUIDES)}; it has {" and ".join(given) or "none"}'
        )
    if keys.get('keyboard', False) is not True and 'joy' not in keys:
        raise ProfileError("needs 'joy', the topic of the buttons, or 'keyboard: true'")
    for needed in ('deadman', 'stop'):
        if needed not in keys:
            raise ProfileError(f"needs '{needed}', a button; nothing moves without")
    buttons = {key: _button(keys[key], key) for key in BUTTONS if key in keys}
    gripper = _gripper(keys.get('gripper', {}))
    _check_different(buttons | {f'gripper, {key}': b for key, b in gripper.buttons.items()})
    profile = Profile(
        name,
        deadman=buttons['deadman'],
        stop=buttons['stop'],
        resume=buttons.get('resume'),
        joy='' if keys.get('keyboard') else _topic(keys['joy'], 'joy'),
        gripper=gripper,
        timeout=_within(keys, 'timeout', 0.3, 0.02, LONGEST_TIMEOUT, 'timeout'),
        sticks=_sticks(keys['sticks']) if 'sticks' in keys else None,
        hand=_hand(keys['hand']) if 'hand' in keys else None,
        leader=_leader(keys['leader']) if 'leader' in keys else None,
        joint_jog=_topic(keys['joint_jog'], 'joint_jog') if 'joint_jog' in keys else '',
    )
    _check_axes(profile)
    return profile


def _check_different(buttons: Mapping[str, Button]) -> None:
    """Refuse a button that is to do two things."""
    for (one, button), (other, same) in combinations(buttons.items(), 2):
        if button == same:
            raise ProfileError(f'{other}: expected another button than that of {one}, got {same}')


def _check_axes(profile: Profile) -> None:
    """Refuse an axis that a twist, or the keyboard, is known not to have."""
    sticks = profile.sticks
    if sticks is None or (profile.joy and not sticks.twist):
        return
    source = 'a twist' if sticks.twist else 'the keyboard'
    for direction, stick in sticks.sticks.items():
        if stick.axis is not None and stick.axis >= SIX_AXES:
            raise ProfileError(
                f'sticks, {direction}, axis: expected 0 to {SIX_AXES - 1}, as {source} has, '
                f'got {stick.axis}'
            )


def _sticks(value: object) -> Sticks:
    keys = READ.mapping(value, 'sticks')
    READ.check_keys(keys, STICKS, 'sticks')
    sticks = {
        direction: _stick(keys[direction], f'sticks, {direction}')
        for direction in DIRECTIONS
        if direction in keys
    }
    if not sticks:
        raise ProfileError(f'sticks: needs one of {", ".join(DIRECTIONS)}')
    return Sticks(
        sticks,
        deadzone=_within(keys, 'deadzone', 0.1, 0.0, 0.9, 'sticks, deadzone'),
        response=_one_of(keys.get('response', 'cubic'), RESPONSES, 'sticks, response'),
        in_tool=_one_of(keys.get('frame', 'base'), FRAMES, 'sticks, frame') == 'tool',
        twist=_topic(keys['twist'], 'sticks, twist') if 'twist' in keys else '',
    )


def _stick(value: object, what: str) -> Stick:
    keys = READ.mapping(value, what)
    READ.check_keys(keys, ('axis', 'buttons', 'speed'), what)
    if ('axis' in keys) == ('buttons' in keys):
        raise ProfileError(f"{what}: needs 'axis' or 'buttons', one of them")
    speed = _not_zero(keys.get('speed'), f'{what}, speed')
    if 'axis' in keys:
        return Stick(speed, axis=_number(keys['axis'], f'{what}, axis'))
    pair = keys['buttons']
    if not isinstance(pair, list) or len(pair) != 2:
        raise ProfileError(f'{what}, buttons: expected two, for more and less, got {_text(pair)}')
    more, less = (_button(button, f'{what}, buttons') for button in pair)
    if more == less:
        raise ProfileError(f'{what}, buttons: expected two different ones, got {_text(pair)}')
    return Stick(speed, buttons=(more, less))


def _gripper(value: object) -> Gripper:
    keys = READ.mapping(value, 'gripper')
    READ.check_keys(keys, ('open', 'close', 'squeeze'), 'gripper')
    return Gripper(**{key: _button(button, f'gripper, {key}') for key, button in keys.items()})


def _hand(value: object) -> Hand:
    keys = READ.mapping(value, 'hand')
    READ.check_keys(keys, HAND, 'hand')
    align = READ.triple(keys.get('align', (0.0, 0.0, 0.0)), 'hand, align')
    return Hand(
        _topic(keys.get('pose'), 'hand, pose'),
        scale=_within(keys, 'scale', 1.0, 0.01, 10.0, 'hand, scale'),
        rotation_scale=_within(keys, 'rotation_scale', 1.0, 0.0, 10.0, 'hand, rotation_scale'),
        in_tool=_one_of(keys.get('frame', 'base'), FRAMES, 'hand, frame') == 'tool',
        align=align,
    )


def _leader(value: object) -> Leader:
    keys = READ.mapping(value, 'leader')
    READ.check_keys(keys, LEADER, 'leader')
    joints = READ.mapping(keys.get('joints'), 'leader, joints')
    if not joints:
        raise ProfileError('leader, joints: expected the joints of the leader, got none')
    led = {str(name): _leader_joint(joint, f'leader, {name}') for name, joint in joints.items()}
    names = [joint.name for joint in led.values()]
    twice = next((name for name in names if names.count(name) > 1), '')
    if twice:
        raise ProfileError(f"leader, joints: several move '{shown(twice)}' of the follower")
    return Leader(
        _topic(keys.get('topic'), 'leader, topic'),
        led,
        is_relative=_one_of(keys.get('mode', 'absolute'), MODES, 'leader, mode') == 'relative',
        near=_within(keys, 'near', 0.2, 0.0, 1.0, 'leader, near'),
        approach=_within(keys, 'approach', 0.0, 0.0, 1.0, 'leader, approach'),
    )


def _leader_joint(value: object, what: str) -> LeaderJoint:
    if isinstance(value, str):
        return LeaderJoint(value)
    keys = READ.mapping(value, what)
    READ.check_keys(keys, ('joint', 'factor', 'offset'), what)
    return LeaderJoint(
        READ.text(keys.get('joint'), f'{what}, joint'),
        _not_zero(keys.get('factor', 1.0), f'{what}, factor'),
        READ.number(keys.get('offset', 0.0), f'{what}, offset'),
    )


def _button(value: object, what: str) -> Button:
    if not isinstance(value, Mapping):
        return Button(_number(value, what))
    READ.check_keys(value, ('axis', 'above', 'below'), what)
    if ('above' in value) == ('below' in value):
        raise ProfileError(f"{what}: an axis is pressed 'above' or 'below' a value, one of them")
    number = _number(value.get('axis'), f'{what}, axis')
    (side,) = value.keys() & {'above', 'below'}
    return Button(number, **{side: READ.number(value[side], f'{what}, {side}')})


def _number(value: object, what: str) -> int:
    """Return the number of a button or an axis."""
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ProfileError(f'{what}: expected a number from 0 on, got {_text(value)}')
    return value


def _topic(value: object, what: str) -> str:
    if not isinstance(value, str) or not value:
        raise ProfileError(f'{what}: expected the name of a topic, got {_text(value)}')
    if len(value) > LONGEST_TOPIC or not TOPIC.fullmatch(value):
        raise ProfileError(
            f'{what}: expected the name of a topic, as hand/joy, of letters, digits and _, '
            f'at most {LONGEST_TOPIC} characters, got {_text(value)}'
        )
    return value


def _not_zero(value: object, what: str) -> float:
    number = READ.number(value, what)
    if number == 0.0:
        raise ProfileError(f'{what}: expected a number other than 0, got {_text(value)}')
    return number


def _one_of(value: object, allowed: Sequence[str], what: str) -> str:
    if value not in allowed:
        raise ProfileError(f'{what}: expected one of {", ".join(allowed)}, got {_text(value)}')
    return str(value)


def _within(
    keys: Mapping[str, Any], key: str, default: float, lower: float, upper: float, what: str
) -> float:
    value = READ.number(keys.get(key, default), what)
    if not lower <= value <= upper:
        raise ProfileError(f'{what}: expected {lower:g} to {upper:g}, got {value:g}')
    return value


def _text(value: object) -> str:
    return shown(str(value))
