"""Goals that are joint values: some joints are sent somewhere, the others stay or go on."""

from collections.abc import Mapping
from dataclasses import dataclass
import math

import numpy as np

from ...errors import did_you_mean, is_number, listed, RefusedError, shown
from ...model.mechanism import Mechanism
from ...reasons import Reason, ReasonKind
from ...transforms import Array
from ..choosing.goal import Goal

SAME_VALUE = 1e-6
"""Largest difference of equal joint values, by rounding [rad or m]."""
FARTHEST_TURN = 2000.0 * math.pi
"""Farthest accepted value of a continuous joint [rad]; a farther one is hardly an angle."""


@dataclass(frozen=True, eq=False)
class JointGoal:
    """Goal of the joints: the values that they are to have."""

    asked: Mapping[str, float]
    """The values that were sent, by the names of the joints [rad or m]."""
    q: Array
    """Values of all joints, shape (n,): the others keep theirs [rad or m]."""
    goal: Goal
    """Poses of the tips there; none of them is a target."""

    @classmethod
    def of(
        cls, robot: Mechanism, values: Mapping[str, float], before: 'JointGoal | None', q: Array
    ) -> 'JointGoal':
        """
        Make a goal of the values of some joints.

        Parameters
        ----------
        robot : Chain or Tree
            The joints.
        values : mapping
            Where some joints are sent [rad or m].
        before : JointGoal or None
            Where they are all under way to; joints that are not sent elsewhere go on.
        q : array, shape (n,)
            Where they are else [rad or m]. One that is outside its limits comes back inside.

        """
        asked = dict(values) if before is None else {**before.asked, **values}
        kept = np.clip(q, robot.lower, robot.upper) if before is None else before.q
        wanted = [values.get(name, at) for name, at in zip(robot.joint_names, kept, strict=True)]
        return cls(asked, np.array(wanted), Goal.of(robot.tip_poses(wanted)))


def is_part_of(values: Mapping[str, float], others: Mapping[str, float]) -> bool:
    """Whether each joint value is among others, but for rounding."""
    return all(
        name in others and abs(value - others[name]) <= SAME_VALUE
        for name, value in values.items()
    )


def check_joint_values(robot: Mechanism, values: Mapping[str, float]) -> None:
    """
    Refuse joint values that cannot be meant for a robot.

    Parameters
    ----------
    robot : Chain or Tree
        The joints.
    values : mapping
        Where some of them are to be [rad or m].

    Raises
    ------
    RefusedError
        If there is none, or one is of an unknown joint, not finite or outside the limits; names
        the joint, its value, and what is allowed.

    """
    if not values:
        raise RefusedError(Reason(ReasonKind.BAD_REQUEST, 'the joint target names no joint'))
    for name, value in values.items():
        _check_value(robot, name, value)


def _check_value(robot: Mechanism, name: str, value: float) -> None:
    names = robot.joint_names
    if name not in names:
        cure = did_you_mean(str(name), names)
        text = f"no joint '{shown(str(name))}' is moved; the joints are: {listed(names)}{cure}"
        raise RefusedError(Reason(ReasonKind.BAD_REQUEST, text))
    if not is_number(value):
        text = f"joint '{shown(name)}' cannot go to {shown(repr(value))}, which is no number"
        raise RefusedError(Reason(ReasonKind.BAD_REQUEST, text, (name,)))
    j = names.index(name)
    lower, upper = float(robot.lower[j]), float(robot.upper[j])
    if robot.is_revolute[j]:
        lower, upper = max(lower, -FARTHEST_TURN), min(upper, FARTHEST_TURN)
    if not lower <= value <= upper:
        text = (
            f"joint '{shown(name)}' cannot go to {value:.6g}: its limits are "
            f'[{lower:.6g}, {upper:.6g}]'
        )
        raise RefusedError(Reason(ReasonKind.BAD_REQUEST, text, (name,)))
