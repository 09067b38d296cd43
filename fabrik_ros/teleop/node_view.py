"""What a node is told by a device, and what is seen of the node."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
import math
from typing import TypeAlias

from ..transforms import Array

Limits: TypeAlias = Mapping[str, tuple[float, float]]
"""Least and greatest values of joints, by name [rad or m]."""


@dataclass(frozen=True)
class NodeView:
    """What is seen of the node that moves the arm."""

    why_not: str = 'nothing is known of the node yet'
    """Why it takes no targets; '' where it takes them."""
    is_held: bool = False
    """Whether it is held until somebody resumes."""
    is_stopped: bool = False
    """Whether somebody ended the motion."""
    instance: str = ''
    """Which process it is."""
    tool_pose: Callable[[], Array | None] = lambda: None
    """Tells where the tool is, shape (4, 4); None: not known."""
    rest_pose: Callable[[], Array | None] = lambda: None
    """
    Tells where the tool comes to rest at once, shape (4, 4), if it is one of several; None: it is
    the only one, or that is not known.
    """
    joints: Callable[[], Mapping[str, float]] = dict
    """Tells the measured joint values [rad or m]."""
    limits: Callable[[], Limits] = dict
    """Tells the limits of the joints; those that are not known are left out."""
    accepted: int = 0
    """Number of targets that it took since it began."""
    refused: int = 0
    refusal: str = ''
    """Why it refused the last of these."""


@dataclass(frozen=True, eq=False)
class Jog:
    """Move the tool at a velocity."""

    twist: Array
    """Linear and angular, shape (6,) [m/s, rad/s]."""
    in_tool: bool = False


@dataclass(frozen=True, eq=False)
class ToolTarget:
    """Move the tool to a pose."""

    T_base_tool: Array


@dataclass(frozen=True)
class JointTarget:
    """Move joints to values."""

    values: Mapping[str, float]


@dataclass(frozen=True)
class JointApproach:
    """Move joints to values, slowly."""

    values: Mapping[str, float]
    share: float
    """Of all speeds."""


@dataclass(frozen=True)
class Grip:
    """Open the gripper, or close it."""

    opens: bool


@dataclass(frozen=True)
class Call:
    """Call a service of the node: hold, resume or stop."""

    service: str


@dataclass(frozen=True)
class Say:
    """Say something to whoever has the device."""

    text: str


def within(limits: Limits, values: Mapping[str, float]) -> dict[str, float]:
    """
    Joint values, of which those beyond a limit are at it [rad or m].

    >>> within({'a': (-1.0, 1.0)}, {'a': 3.0, 'b': 3.0})
    {'a': 1.0, 'b': 3.0}
    """
    ranges = {name: limits.get(name, (-math.inf, math.inf)) for name in values}
    return {name: min(max(q, ranges[name][0]), ranges[name][1]) for name, q in values.items()}


Motion: TypeAlias = Jog | ToolTarget | JointTarget | JointApproach
Order: TypeAlias = Motion | Grip | Call | Say
