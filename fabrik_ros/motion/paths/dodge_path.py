"""Getting out of the way at rest: spare joints move, and the tips stay where they are."""

import numpy as np

from ...transforms import Array
from ..limits.joint_limiter import JointLimiter
from ..limits.joint_motion import largest
from ..lines.line_reference import LineReference
from ..lines.line_tracker import LineTracker
from .reference_path import ReferencePath

CALM, CALM_FOR = 0.03, 0.2
"""A self-motion slower than this for so long comes to rest [rad/s or m/s, s]."""


class DodgePath(ReferencePath[LineReference]):
    """
    Path of spare joints that get out of the way of what comes near.

    Parameters
    ----------
    reference, tracker, limiter
        As for `ReferencePath`; the reference stays where it is.

    """

    def __init__(
        self, reference: LineReference, tracker: LineTracker, limiter: JointLimiter
    ) -> None:
        super().__init__(reference, tracker, limiter)
        self._calm_for = 0.0

    def velocity(self, dt: float) -> Array | None:
        """Joint velocity that leads out of the way, and leaves the tips where they are."""
        reference = self.reference
        correction = self._tracker.correction(reference, dt)
        velocity = self._advance(np.zeros_like(reference.speed), correction, dt)
        is_calm = largest(reference.self_motion) < CALM
        self._calm_for = self._calm_for + dt if is_calm else 0.0
        return velocity

    def _self_motion(self, dt: float) -> Array:
        dodging = self._tracker.dodging
        if dodging is None:
            return np.zeros_like(self.reference.q)
        return dodging.velocity(self.reference, self._calm_for < CALM_FOR, dt)

    def has_arrived(self) -> bool:
        """Whether nothing more is to be gained, and the joints rest."""
        return self._calm_for >= CALM_FOR and super().has_arrived()
