"""The gripper of a robot: the joint that opens it, and the width between its fingers."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
import math

import numpy as np

from ..errors import GripperError, listed, shown
from ..model.default_chain import gripper_joints
from ..model.joints import Joint
from ..model.robot import Robot

OPPOSITE = 1e-6
"""Fingers whose velocities differ by less do not move towards each other [1]."""


@dataclass(frozen=True, eq=False)
class Gripper:
    """
    A gripper that one joint drives; others may follow it.

    Attributes
    ----------
    joint : Joint
        Drives the fingers, between finite limits.
    palm : str
        The link that carries the fingers.
    links : tuple of str
        The palm and the links of the fingers: they may touch what is grasped.
    at_lower, at_upper : float
        Widths between the fingers at the limits of the joint [m].
    velocity, acceleration : float
        Of the joint, at most, so that all fingers keep theirs [rad/s or m/s], [rad/s^2 or m/s^2].

    """

    joint: Joint
    palm: str
    links: tuple[str, ...]
    at_lower: float
    at_upper: float
    velocity: float
    acceleration: float

    @property
    def narrowest(self) -> float:
        """Least width [m]."""
        return min(self.at_lower, self.at_upper)

    @property
    def widest(self) -> float:
        """Greatest width [m]."""
        return max(self.at_lower, self.at_upper)

    @property
    def width_per_value(self) -> float:
        """Change of the width with the value of the joint [m/rad or 1]."""
        return (self.at_upper - self.at_lower) / (self.joint.upper - self.joint.lower)

    def width_at(self, value: float) -> float:
        """Width at a value of the joint [m]."""
        return self.at_lower + (value - self.joint.lower) * self.width_per_value

    def apart(self, value: float, other: float) -> float:
        """Difference of the widths at two values of the joint [m]."""
        return abs((value - other) * self.width_per_value)

    def value_for(self, width: float) -> float:
        """
        Value of the joint for a width.

        Raises
        ------
        GripperError
            If the gripper cannot have it.

        """
        tolerance = 1e-9
        if not self.narrowest - tolerance <= width <= self.widest + tolerance:
            raise GripperError(
                f'a width of {width:g} m: the gripper has {self.narrowest:g} to {self.widest:g} m'
            )
        value = self.joint.lower + (width - self.at_lower) / self.width_per_value
        return min(max(value, self.joint.lower), self.joint.upper)


def find_gripper(robot: Robot, joint_name: str = '', widths: Sequence[float] = ()) -> Gripper:
    """
    Find the gripper of a robot.

    Parameters
    ----------
    robot : Robot
        The robot.
    joint_name : str
        The joint that drives the fingers. Left out, the only one that looks like it.
    widths : sequence of float
        Widths between the fingers at the lower and at the upper limit of the joint [m]; between
        them the width is linear. Left out, the fingers must be two that slide towards each other;
        they touch at the limit where they are closest.

    Raises
    ------
    GripperError
        If there is none, there are several, or its widths are not known; says what to do.

    """
    joint = _driving_joint(robot, joint_name)
    fingers = [joint, *_followers(robot, joint)]
    at_lower, at_upper = _checked(widths, joint) if widths else _widths(robot, joint, fingers)
    palm = joint.parent
    of_gripper = set(gripper_joints(robot)) | {finger.name for finger in fingers}
    links = tuple(_links(robot, palm, of_gripper))
    velocity = min(finger.velocity / _rate(finger) for finger in fingers if _rate(finger))
    acceleration = min(finger.hardest / _rate(finger) for finger in fingers if _rate(finger))
    return Gripper(joint, palm, links, at_lower, at_upper, velocity, acceleration)


def _rate(finger: Joint) -> float:
    """How fast a finger moves beside the joint that drives it [1]."""
    return abs(finger.mimic.multiplier) if finger.mimic else 1.0


def _driving_joint(robot: Robot, name: str) -> Joint:
    candidates = [robot.joint(found) for found in gripper_joints(robot)]
    drivers = [joint for joint in candidates if joint.type.is_drivable and joint.mimic is None]
    if name:
        joint = next((joint for joint in robot.joints if joint.name == name), None)
        if joint is None or not joint.type.is_drivable:
            looks_so = f'what looks like one: {listed([d.name for d in drivers]) or "none"}'
            raise GripperError(
                f"gripper_joint: no joint '{shown(name)}' can be driven; {looks_so}"
            )
        if joint.mimic is not None:
            raise GripperError(
                f"gripper_joint: '{shown(name)}' follows '{shown(joint.mimic.source)}': name that"
            )
    elif len(drivers) != 1:
        names = [driver.name for driver in drivers]
        found = f'several joints look like one: {listed(names)}' if names else 'none was found'
        raise GripperError(f'no gripper: {found}; name its joint by gripper_joint')
    else:
        (joint,) = drivers
    if not (math.isfinite(joint.lower) and joint.lower < joint.upper < math.inf):
        raise GripperError(f"gripper joint '{shown(joint.name)}' has no limits to move between")
    return joint


def _followers(robot: Robot, joint: Joint) -> Iterator[Joint]:
    for other in robot.joints:
        if other.mimic is not None and other.mimic.source == joint.name:
            yield other


def _checked(widths: Sequence[float], joint: Joint) -> tuple[float, float]:
    is_pair = len(widths) == 2 and all(math.isfinite(width) and width >= 0.0 for width in widths)
    if not is_pair or widths[0] == widths[1]:
        raise GripperError(
            'gripper_widths must be two different widths of at least 0 m, at the lower and at the '
            f"upper limit of '{shown(joint.name)}'; got {list(widths)}"
        )
    return widths[0], widths[1]


def _widths(robot: Robot, joint: Joint, fingers: Sequence[Joint]) -> tuple[float, float]:
    """Widths at the limits of a joint with one follower, both sliding along one line."""
    opening = _opening(robot, fingers) if len(fingers) == 2 else 0.0
    if opening == 0.0:
        raise GripperError(
            f"the width of the gripper with '{shown(joint.name)}' is not known: its fingers are "
            'not two that slide towards each other; give gripper_widths, the widths at the lower '
            'and at the upper limit of the joint [m]'
        )
    travel = abs(opening) * (joint.upper - joint.lower)
    return (0.0, travel) if opening > 0.0 else (travel, 0.0)


def _opening(robot: Robot, fingers: Sequence[Joint]) -> float:
    """Change of the width with the value of the joint [1]; 0 where it cannot be told."""
    one, other = fingers
    if not (one.type.is_prismatic and other.type.is_prismatic and one.parent == other.parent):
        return 0.0
    assert other.mimic is not None
    rates = [
        finger.origin[:3, :3] @ finger.axis * rate
        for finger, rate in ((one, 1.0), (other, other.mimic.multiplier))
    ]
    apart = rates[0] - rates[1]
    if rates[0] @ rates[1] >= -OPPOSITE:
        return 0.0
    middle = 0.5 * (one.lower + one.upper)
    values = {one.name: middle}
    places = [robot.pose(one.parent, finger.child, values)[:3, 3] for finger in fingers]
    between = (places[0] - places[1]) @ apart
    speed = float(np.linalg.norm(apart))
    return math.copysign(speed, between) if abs(between) > OPPOSITE * speed else 0.0


def _links(robot: Robot, palm: str, of_gripper: set[str]) -> Iterator[str]:
    """Yield the palm, and all that hangs on its joints of the gripper."""
    yield palm
    waiting = [j.child for j in robot.child_joints[palm] if j.name in of_gripper]
    while waiting:
        link = waiting.pop()
        yield link
        waiting.extend(joint.child for joint in robot.child_joints[link])
