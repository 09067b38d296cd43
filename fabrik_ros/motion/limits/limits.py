"""Limits of the motion of an arm."""

from dataclasses import dataclass

from ...transforms import Array


@dataclass(frozen=True, eq=False)
class MotionLimits:
    """Greatest speeds and accelerations of tips and joints."""

    tip_speed: float
    """[m/s]."""
    tip_rotation: float
    """[rad/s]."""
    tip_acceleration: float
    """[m/s^2]; the tip's rotation gains its full speed in the same time."""
    joint_velocity: Array
    """Shape (n,) [rad/s or m/s]."""
    joint_acceleration: Array
    """Shape (n,) [rad/s^2 or m/s^2]."""
    speed_scaling: float = 1.0
    """Part of the speeds to go at, 0 to 1, whatever holds them down; accelerations stay."""
