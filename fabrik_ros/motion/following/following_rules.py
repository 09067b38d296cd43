"""Rules by which an arm starts and stops."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...errors import JointValueError
from ...model.mechanism import Mechanism
from ...transforms import Array


@dataclass(frozen=True)
class FollowingRules:
    """Rules of when to start and when to stop."""

    wait_for_state: bool = True
    """Move only from a measured state."""
    start_configuration: tuple[float, ...] = ()
    """Joint values that the arm is taken to have when nothing is measured; empty: mid limits."""
    state_timeout: float = 0.5
    """A measured value older than this is lost [s]."""
    target_timeout: float = 0.0
    """Longest time without a target, after which the arm stops [s]; 0: without end."""
    resync_tolerance: float = 0.1
    """Greatest gap between a command and what is measured [rad or m]."""
    arrival_tolerance_position: float = 0.01
    """Greatest distance of the measured tips from their last command at the goal [m]."""
    arrival_tolerance_orientation: float = 0.05
    """Greatest turn of the measured tips from their last command at the goal [rad]."""
    home_configuration: tuple[float, ...] = ()
    """Joint values of home [rad or m]; empty: there is no home."""
    limit_margin: float = 0.1
    """A start outside a limit by no more than this may move inwards [rad or m]."""
    jog_timeout: float = 0.25
    """A jog that is not repeated for this long ends [s]."""
    stream_timeout: float = 1.2
    """A different target within this time of the one before belongs to a stream [s]."""
    on_blocked: str = 'hold'
    """Rule after an obstacle blocked the path: 'hold' until `resume`, or 'replan', from rest."""
    dodge_at_rest: bool = False
    """Whether spare joints get out of the way at rest, too, once that was announced."""
    idle_tips: str = 'keep'
    """Role of a tip without a target while another moves: to 'keep' its pose, or be 'free'."""


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
    return configuration_of(robot, rules.home_configuration, 'home_configuration')


def configuration_of(robot: Mechanism, values: Sequence[float], name: str) -> Array:
    """
    Joint values, shape (n,), that something with a name stands for.

    Raises
    ------
    JointValueError
        If it is not a configuration of this arm, or is outside the limits; names the joint.

    """
    q = robot.checked(values, name)
    outside = np.maximum(robot.lower - q, q - robot.upper)
    j = int(np.argmax(outside))
    if outside[j] > 0.0:
        raise JointValueError(
            f"{name} has joint '{robot.joint_names[j]}' at {q[j]:.4f}, outside its limits "
            f'[{robot.lower[j]:.4f}, {robot.upper[j]:.4f}]'
        )
    return q
