"""Degrees or radians, as somebody likes."""

from enum import Enum
import math


class AngleUnit(Enum):
    """What angles are written in."""

    DEGREES = 'degrees'
    RADIANS = 'radians'

    @property
    def sign(self) -> str:
        """Its sign."""
        return 'deg' if self is AngleUnit.DEGREES else 'rad'

    @property
    def size(self) -> float:
        """How many there are in a radian [1]."""
        return math.degrees(1.0) if self is AngleUnit.DEGREES else 1.0

    @property
    def digits(self) -> int:
        """Digits that are written behind the point."""
        return 1 if self is AngleUnit.DEGREES else 3

    @property
    def step(self) -> float:
        """Of a slider, or an arrow key."""
        return 10.0**-self.digits
