"""Joint values at rest: they stay while joints only tremble, or are on the way. No ROS here."""

from __future__ import annotations

import math
from typing import NamedTuple

STILL = 0.2
"""Joints that move by no more than this rest [degrees or mm]."""
REST_TIME = 0.5
"""Time without a motion after which joints rest [s]."""


class JointValue(NamedTuple):
    """Value of a joint."""

    name: str
    is_revolute: bool
    value: float
    """[rad or m]."""

    @property
    def unit(self) -> str:
        """Unit that people read its value in."""
        return '°' if self.is_revolute else ' mm'

    @property
    def unit_size(self) -> float:
        """Size of that unit in radians, or metres."""
        return math.radians(1.0) if self.is_revolute else 1e-3

    @property
    def shown(self) -> float:
        """Value as people read it [degrees or mm]."""
        return self.value / self.unit_size


class RestingJoints:
    """
    Keeps the values of the last rest.

    Attributes
    ----------
    joints : tuple of JointValue
        Where they rest, or rested last; the first ones that were seen count at once.

    """

    def __init__(self) -> None:
        self.joints: tuple[JointValue, ...] = ()
        self._about: tuple[JointValue, ...] = ()
        """Values that they had when they moved last."""
        self._moved_at = 0.0

    def see(self, joints: tuple[JointValue, ...], now: float) -> None:
        """Take the present values, each time of the same joints, at a time [s]."""
        if not self.joints:
            self.joints = self._about = joints
        elif _differ(joints, self._about):
            self._about, self._moved_at = joints, now
        elif now - self._moved_at > REST_TIME and _differ(joints, self.joints):
            self.joints = joints


def _differ(some: tuple[JointValue, ...], others: tuple[JointValue, ...]) -> bool:
    pairs = zip(some, others, strict=True)
    return any(abs(one.shown - other.shown) > STILL for one, other in pairs)
