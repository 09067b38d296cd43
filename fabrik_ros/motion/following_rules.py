"""By which rules an arm starts and stops."""

from dataclasses import dataclass

import numpy as np

from ..errors import JointValueError
from ..model.mechanism import Mechanism
from ..transforms import Array


@dataclass(frozen=True)
class FollowingRules:
    """When to start and when to stop."""

    wait_for_state: bool = True
    """Move only from a measured state."""
    start_configuration: tuple[float, ...] = ()
    """Where the arm is taken to be when nothing is measured; empty: mid limits."""
    state_timeout: float = 0.5
    """A measured value older than this is lost [s]."""
    target_timeout: float = 0.0
    """The arm stops when no target came for this long [s]; 0: never."""
    resync_tolerance: float = 0.1
    """Greatest gap between a command and what is measured [rad or m]."""
    home_configuration: tuple[float, ...] = ()
    """Where the arm goes when it is told to go home; empty: nowhere."""
    limit_margin: float = 0.1
    """A start outside a limit by no more than this may move inwards [rad or m]."""
    jog_timeout: float = 0.25
    """A jog that is not repeated for this long ends [s]."""
    idle_tips: str = 'keep'
    """What a tip without a target does while another moves: 'keep' its pose, or be 'free'."""


def home_of(robot: Mechanism, rules: FollowingRules) -> Array | None:
    """
    Joint values of the home of an arm, shape (n,); None where it has none.

    Raises
    ------
    JointValueError
        If it is not a configuration of this arm, or is outside the limits; names the joint.

    """
    if not rules.home_configuration:
        return None
    home = robot.checked(rules.home_configuration, 'home_configuration')
    outside = np.maximum(robot.lower - home, home - robot.upper)
    j = int(np.argmax(outside))
    if outside[j] > 0.0:
        raise JointValueError(
            f"home_configuration has joint '{robot.joint_names[j]}' at {home[j]:.4f}, outside its "
            f'limits [{robot.lower[j]:.4f}, {robot.upper[j]:.4f}]'
        )
    return home
