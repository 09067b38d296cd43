"""Buttons and axes of a device, and the velocity of the tool that they ask for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
import math

import numpy as np

from ..transforms import Array

DIRECTIONS = ('x', 'y', 'z', 'roll', 'pitch', 'yaw')
"""Of the tool: along, then about the axes."""
RESPONSES = ('linear', 'cubic')


@dataclass(frozen=True)
class Values:
    """What a device says at once."""

    axes: Sequence[float] = ()
    buttons: Sequence[int] = ()

    @property
    def is_finite(self) -> bool:
        """Whether each axis has a value."""
        return all(map(math.isfinite, self.axes))


@dataclass(frozen=True)
class Button:
    """A button, or an axis that counts as pressed beyond a value."""

    number: int
    """Of the button, or of the axis."""
    above: float | None = None
    below: float | None = None

    def __str__(self) -> str:
        if self.above is not None:
            return f'axis {self.number} above {self.above:g}'
        return (
            str(self.number) if self.below is None else f'axis {self.number} below {self.below:g}'
        )

    @property
    def _is_axis(self) -> bool:
        return self.above is not None or self.below is not None

    def is_part_of(self, values: Values) -> bool:
        """Whether the device has it."""
        return self.number < len(values.axes if self._is_axis else values.buttons)

    def is_pressed(self, values: Values) -> bool:
        """Whether somebody presses it; a button that the device does not have is not pressed."""
        if not self.is_part_of(values):
            return False
        if not self._is_axis:
            return values.buttons[self.number] != 0
        value = values.axes[self.number]
        if self.above is not None:
            return value > self.above
        return self.below is not None and value < self.below


@dataclass(frozen=True)
class Stick:
    """An axis, or two buttons, that move the tool in one direction."""

    speed: float
    """At full deflection [m/s or rad/s]; negative: the other way."""
    axis: int | None = None
    buttons: tuple[Button, Button] | None = None
    """For more, and for less."""

    def deflection(self, values: Values) -> float:
        """How far it is deflected, from -1 to 1."""
        if self.buttons is not None:
            more, less = (button.is_pressed(values) for button in self.buttons)
            return float(more) - float(less)
        assert self.axis is not None
        return min(max(float(values.axes[self.axis]), -1.0), 1.0)


@dataclass(frozen=True)
class Sticks:
    """What moves the tool at a velocity."""

    sticks: Mapping[str, Stick]
    """By the direction, of `DIRECTIONS`."""
    deadzone: float = 0.1
    """Deflection up to which a stick counts as at rest."""
    response: str = 'cubic'
    """Of `RESPONSES`; cubic: fine near rest."""
    in_tool: bool = False
    """Whether the axes are those of the tool instead of the base."""
    twist: str = ''
    """Topic of twists whose six numbers are the axes; '': the axes are those of the joystick."""

    greatest_axis: int = field(init=False, default=-1)
    """Number of the last axis that is needed; -1 for none."""

    def __post_init__(self) -> None:
        axes = [stick.axis for stick in self.sticks.values() if stick.axis is not None]
        object.__setattr__(self, 'greatest_axis', max(axes, default=-1))

    def velocity(self, values: Values) -> Array:
        """Velocity that is asked for, linear and angular, shape (6,) [m/s, rad/s]."""
        v = np.zeros(6)
        for direction, stick in self.sticks.items():
            share = self.shaped(stick.deflection(values))
            v[DIRECTIONS.index(direction)] = stick.speed * share
        return v

    def shaped(self, deflection: float) -> float:
        """
        Share of the speed at a deflection, both from -1 to 1.

        >>> Sticks({}, deadzone=0.2, response='linear').shaped(0.6)
        0.5
        """
        beyond = (abs(deflection) - self.deadzone) / (1.0 - self.deadzone)
        share = max(0.0, beyond) ** (3 if self.response == 'cubic' else 1)
        return math.copysign(round(share, 12), deflection) if share > 0.0 else 0.0
