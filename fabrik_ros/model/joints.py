"""
Joints: how each moves its child link against its parent, and how far.

The one place that knows joint types: others ask the properties of `JointType` and `Joint`.

"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
import math

import numpy as np

from ..transforms import Array, rotation_from_axis_angle, transform


class JointType(Enum):
    """Joint types of URDF."""

    REVOLUTE = 'revolute'
    CONTINUOUS = 'continuous'
    PRISMATIC = 'prismatic'
    FIXED = 'fixed'
    PLANAR = 'planar'
    FLOATING = 'floating'

    @property
    def moves(self) -> bool:
        """Whether the joint has a value."""
        return self is not JointType.FIXED

    @property
    def is_drivable(self) -> bool:
        """Whether the joint has exactly one value."""
        return self.moves and self not in (JointType.PLANAR, JointType.FLOATING)

    @property
    def is_revolute(self) -> bool:
        """Whether the joint turns about its axis, with or without limits."""
        return self in (JointType.REVOLUTE, JointType.CONTINUOUS)

    @property
    def is_prismatic(self) -> bool:
        """Whether the joint moves along its axis."""
        return self is JointType.PRISMATIC

    @property
    def has_axis(self) -> bool:
        """Whether `<axis>` means something: the direction of the motion, or a plane's normal."""
        return self.is_drivable or self is JointType.PLANAR

    @property
    def needs_limits(self) -> bool:
        """Whether URDF demands limits of the joint's value."""
        return self.is_drivable and self is not JointType.CONTINUOUS


@dataclass(frozen=True)
class Mimic:
    """
    Rule of a mimic joint: `q = multiplier * q_source + offset`.

    Parameters
    ----------
    source : str
        Name of the joint that is mimicked; never itself a mimic joint.
    multiplier : float
        Factor [1].
    offset : float
        What is added [rad or m].

    """

    source: str
    multiplier: float = 1.0
    offset: float = 0.0


@dataclass(frozen=True, eq=False)
class Joint:
    """
    One joint of the tree.

    Attributes
    ----------
    name : str
        Its name.
    type : JointType
        How it moves.
    parent : str
        Link the joint hangs on.
    child : str
        Link the joint carries.
    origin : array, shape (4, 4)
        T_parent_joint: the joint frame at value 0, in the parent link's.
    axis : array, shape (3,)
        Unit vector, in the joint frame.
    lower : float
        Least value [rad or m]; -inf when continuous.
    upper : float
        Greatest value [rad or m]; inf when continuous.
    velocity : float
        Greatest speed [rad/s or m/s]; inf when the model gives none.
    mimic : Mimic or None
        What it follows; None where it has a value of its own.
    acceleration, deceleration : float
        How fast its speed may grow and fall [rad/s^2 or m/s^2]; inf when the model gives none.
    jerk : float
        How fast its acceleration may change [rad/s^3 or m/s^3]; inf when the model gives none.

    """

    name: str
    type: JointType
    parent: str
    child: str
    origin: Array
    axis: Array
    lower: float = -math.inf
    upper: float = math.inf
    velocity: float = math.inf
    mimic: Mimic | None = None
    acceleration: float = math.inf
    deceleration: float = math.inf
    jerk: float = math.inf

    @property
    def hardest(self) -> float:
        """Greatest change of its velocity either way [rad/s^2 or m/s^2]."""
        return min(self.acceleration, self.deceleration)

    @property
    def largest_displacement(self) -> float:
        """Farthest that the joint can carry its child link along its axis [m]; 0 when revolute."""
        return max(abs(self.lower), abs(self.upper)) if self.type.is_prismatic else 0.0

    def motion(self, value: float) -> Array:
        """Pose (4, 4) of the child link in the joint frame at joint value `value`."""
        if self.type.is_revolute:
            return transform(rotation_from_axis_angle(self.axis, value), np.zeros(3))
        if self.type.is_prismatic:
            return transform(np.eye(3), self.axis * value)
        return np.eye(4)
