"""Masses and drives of a robot description: for simulation, not for kinematics."""

from collections.abc import Mapping
from dataclasses import dataclass

from ..transforms import Array


@dataclass(frozen=True, eq=False)
class Inertia:
    """Mass of a link and how it is spread."""

    mass: float
    """[kg]."""
    centre: Array
    """Centre of mass, shape (3,), in the link frame [m]."""
    tensor: Array
    """About the centre of mass, shape (3, 3), along the axes of a frame of its own [kg m^2]."""
    R_link_own: Array
    """Rotation of that frame, shape (3, 3)."""

    @property
    def tensor_in_link(self) -> Array:
        """Inertia about the centre of mass, shape (3, 3), along the axes of the link frame."""
        tensor: Array = self.R_link_own @ self.tensor @ self.R_link_own.T
        return tensor


@dataclass(frozen=True)
class Drive:
    """Drive and brakes of a joint; None where the description says nothing."""

    effort: float | None = None
    """Greatest force or torque [N or N m]."""
    damping: float | None = None
    """Viscous friction [N s/m or N m s/rad]."""
    friction: float | None = None
    """Dry friction [N or N m]."""


@dataclass(frozen=True)
class Dynamics:
    """Masses and drives of a robot, as described, be it sensible or not."""

    inertias: Mapping[str, Inertia]
    """Inertias by the name of the link; links without `<inertial>` are missing."""
    drives: Mapping[str, Drive]
    """Drives by the name of the joint."""
