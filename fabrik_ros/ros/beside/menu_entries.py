"""Entries in the menu of a handle, by what is known of a node: no ROS here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ...motion.follower_options import CHOICES as OPTIONS
from ...motion.following.arm_state import State
from ...solver.options import MODES
from .resting_joints import JointValue

CHOICES = {'path': OPTIONS['path'], 'mode': MODES, 'confirm': OPTIONS['confirm']}
"""Words to choose from, by the parameter."""
SPEEDS = (100.0, 50.0, 25.0, 10.0)
"""Shares of all speeds that are offered [%]."""
STEPS = (10.0, 1.0, -1.0, -10.0)
"""Steps by which joints can be moved [degrees or mm]."""
BLENDS = (0.0, 10.0, 20.0, 50.0)
"""Distances that are offered within which waypoints may be passed [mm]."""


@dataclass(frozen=True)
class Ask:
    """A service of the node, wished for by its name."""

    service: str


@dataclass(frozen=True)
class Choose:
    """A value of a parameter."""

    parameter: str
    value: str | float


@dataclass(frozen=True)
class GoTo:
    """A configuration, wished for by its name."""

    configuration: str


@dataclass(frozen=True)
class Step:
    """A joint a little farther."""

    joint: str
    by: float
    """[rad or m]."""


@dataclass(frozen=True)
class Edit:
    """What is to be done with the waypoints: 'add', 'undo', 'clear' or 'run'."""

    what: str


@dataclass(frozen=True)
class Blend:
    """Distance within which waypoints may be passed."""

    radius: float
    """[m]; 0: the arm stops at each."""


@dataclass(frozen=True)
class Grip:
    """A width of the gripper."""

    width: float
    """[m]."""


Wish = Ask | Choose | GoTo | Step | Edit | Blend | Grip


@dataclass(frozen=True)
class Entry:
    """
    An entry of a menu, or a menu within it.

    Its name says, with the names of the menus that it is in, which entry it is: no other one has
    the same, and its title may change.
    """

    name: str
    wish: Wish | None = None
    is_chosen: bool | None = None
    """None where there is nothing to choose."""
    note: str = ''
    """Text behind the name."""
    inside: tuple[Entry, ...] = ()

    @property
    def title(self) -> str:
        """Text that is shown; RViz draws boxes for the brackets."""
        mark = '' if self.is_chosen is None else '[x] ' if self.is_chosen else '[ ] '
        return f'{mark}{self.name}' + (f': {self.note}' if self.note else '')


@dataclass(frozen=True)
class KnownWaypoints:
    """The waypoints of a handle, as far as its menu depends on them."""

    count: int = 0
    can_undo: bool = False
    blend: float = 0.0
    """Distance within which they may be passed [m]."""


@dataclass(frozen=True)
class KnownGripper:
    """A gripper, as far as its menu depends on it."""

    width: float | None
    """Width between the fingers; None where it is not known [m]."""
    narrowest: float
    widest: float
    """Least and greatest width [m]."""


@dataclass(frozen=True)
class Known:
    """State of a node, as far as its menu depends on it."""

    state: str
    """Name of a `State`."""
    is_held: bool
    waits_for_execute: bool
    has_home: bool
    configurations: tuple[str, ...]
    """Names of the configurations, without home."""
    chosen: Mapping[str, str]
    """Present words of the parameters in `CHOICES`."""
    speed: float
    """Present share of all speeds [1]."""
    joints: tuple[JointValue, ...]
    """Joint values at which the arm rests, or rested last."""
    waypoints: KnownWaypoints | None = None
    """None where there can be none."""
    gripper: KnownGripper | None = None


def entries_of(known: Known) -> tuple[Entry, ...]:
    """Make the menu; what is of no use at present is left out."""
    return tuple(_entries(known))


def _entries(known: Known) -> Iterator[Entry]:
    falls_short = known.state == State.HOLDING.name and not known.waits_for_execute
    yield Entry('Stop', Ask('hold'))
    if known.is_held or falls_short:
        yield Entry('Resume', Ask('resume'))
    if not known.is_held and (known.waits_for_execute or falls_short):
        yield Entry('Execute', Ask('execute'))
    if known.has_home:
        yield Entry('Home', Ask('home'))
    if known.configurations:
        to_each = tuple(Entry(name, GoTo(name)) for name in known.configurations)
        yield Entry('Go to', inside=to_each)
    if known.gripper is not None:
        yield _gripper(known.gripper)
    yield Entry('Joint values', inside=tuple(map(_joint, known.joints)))
    if known.waypoints is not None:
        inside = tuple(_waypoints(known.waypoints))
        yield Entry('Waypoints', note=f'{known.waypoints.count or ""}', inside=inside)
    yield Entry('Speed', inside=tuple(_speeds(known.speed)))
    for parameter, words in CHOICES.items():
        present = known.chosen[parameter]
        inside = tuple(Entry(word, Choose(parameter, word), word == present) for word in words)
        yield Entry(parameter.capitalize(), inside=inside)


def _gripper(known: KnownGripper) -> Entry:
    note = '' if known.width is None else f'{round(1000.0 * known.width) + 0.0:.0f} mm'
    inside = Entry('Open', Grip(known.widest)), Entry('Close', Grip(known.narrowest))
    return Entry('Gripper', note=note, inside=inside)


def _speeds(present: float) -> Iterator[Entry]:
    """Offer some speeds, and that which somebody else may have set."""
    percent = round(100.0 * present, 1)
    for offered in sorted({*SPEEDS, percent}, reverse=True):
        wish = Choose('speed_scaling', 0.01 * offered)
        yield Entry(f'{offered:g} %', wish, is_chosen=offered == percent)


def _waypoints(known: KnownWaypoints) -> Iterator[Entry]:
    yield Entry('Add here', Edit('add'))
    if known.count:
        yield Entry('Run', Edit('run'))
    if known.can_undo:
        yield Entry('Undo', Edit('undo'))
    if known.count:
        yield Entry('Clear', Edit('clear'))
    blends = ((radius, Blend(0.001 * radius)) for radius in BLENDS)
    inside = (Entry(f'{radius:g} mm', wish, wish.radius == known.blend) for radius, wish in blends)
    yield Entry('Blend', inside=tuple(inside))


def _joint(joint: JointValue) -> Entry:
    steps = (
        Entry(f'{step:+g}{joint.unit}', Step(joint.name, step * joint.unit_size)) for step in STEPS
    )
    shown = round(joint.shown, 1) + 0.0  # no -0.0
    return Entry(joint.name, note=f'{shown:.1f}{joint.unit}', inside=tuple(steps))
