"""Map from joint values to values of the motors, and back."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from ..errors import JointValueError
from ..transforms import Array

UNITS = {'rad': 1.0, 'deg': 180.0 / math.pi}
"""Motor units of one radian."""


class JointMap:
    """
    Turns joint values into values of motors that count in degrees or the other way round.

    motor = sign * joint + offset, in the unit of the motors. An offset is what the motor reads
    where the joint stands at 0.

    Parameters
    ----------
    signs : array-like, shape (n,)
        1 for each motor that turns as its joint does, -1 for each that turns against it.
    offsets : array-like, shape (n,)
        What each motor reads where its joint stands at 0 [unit].
    unit : str
        'deg' or 'rad': what the motors count in. Joint values are in radians always; where joints
        are prismatic choose 'rad', which leaves their metres as they are.

    Raises
    ------
    ValueError
        If the numbers make no sense; names them.

    Examples
    --------
    >>> joints = JointMap(signs=[1, -1], offsets=[90.0, 0.0])
    >>> joints.to_motors([0.0, 0.5]).round(2)
    array([ 90.  , -28.65])
    >>> joints.to_joints([90.0, -90.0]).round(4)
    array([0.    , 1.5708])

    """

    def __init__(self, signs: npt.ArrayLike, offsets: npt.ArrayLike, unit: str = 'deg') -> None:
        self._signs, self._offsets = (np.array(values, dtype=float) for values in (signs, offsets))
        if self._signs.ndim != 1 or not np.all(np.abs(self._signs) == 1.0):
            raise ValueError(f'signs must be 1 or -1 for each joint, got {signs!r}')
        if self._offsets.shape != self._signs.shape or not np.isfinite(self._offsets).all():
            raise ValueError(
                f'offsets must be {len(self._signs)} finite numbers, one for each of the signs; '
                f'got {offsets!r}'
            )
        if unit not in UNITS:
            raise ValueError(f"unit must be one of {', '.join(UNITS)}; got '{unit}'")
        self._scale = self._signs * UNITS[unit]

    def __len__(self) -> int:
        return len(self._signs)

    def to_motors(self, q: npt.ArrayLike) -> Array:
        """Values of the motors, shape (n,) [unit], at joint values, shape (n,) [rad]."""
        motors: Array = self._checked(q, 'joint') * self._scale + self._offsets
        return motors

    def to_joints(self, motors: npt.ArrayLike) -> Array:
        """Joint values, shape (n,) [rad], at values of the motors, shape (n,) [unit]."""
        q: Array = (self._checked(motors, 'motor') - self._offsets) / self._scale
        return q

    def _checked(self, values: npt.ArrayLike, what: str) -> Array:
        checked = np.array(values, dtype=np.float64)
        if checked.shape != self._signs.shape or not np.isfinite(checked).all():
            raise JointValueError(
                f'{what} values must be {len(self)} finite numbers, got {values!r}'
            )
        return checked
