"""Getting out of the way at rest: spare joints move, and the tips stay at their goal."""

import numpy as np

from ...reasons import Reason
from ...transforms import Array
from ..limits.joint_limiter import JointLimiter
from ..limits.joint_motion import largest
from ..lines.line_reference import LineReference
from ..lines.line_tracker import LineTracker
from .reference_path import ReferencePath

CALM, CALM_FOR = 0.03, 0.2
"""A self-motion slower than this for so long comes to rest [rad/s or m/s, s]."""
LONGEST = 10.0
"""Time after which it comes to rest anyway [s]."""


class DodgePath(ReferencePath[LineReference]):
    """
    Path of spare joints that get out of the way of what comes near.

    Parameters
    ----------
    reference, tracker, limiter
        As for `ReferencePath`; the reference is at the goal of the tips, or all but there.
    way_out : Reason
        What it is that comes near.

    """

    def __init__(
        self,
        reference: LineReference,
        tracker: LineTracker,
        limiter: JointLimiter,
        way_out: Reason,
    ) -> None:
        super().__init__(reference, tracker, limiter)
        self._way_out = way_out
        self._lasts = self._calm_for = 0.0
        self._ends = False
        """Whether the self-motion comes to rest."""

    @property
    def yields_to(self) -> Reason | None:
        """Say what it gets out of the way of."""
        return self._way_out

    def velocity(self, dt: float) -> Array | None:
        """Joint velocity that leads out of the way, and leaves the tips where they are to be."""
        reference, tracker = self.reference, self._tracker
        correction = tracker.correction(reference, dt)
        speed = reference.next_speed(dt, tracker.margin_beside(reference, correction))
        velocity = self._advance(speed, correction, dt)
        is_calm = largest(reference.self_motion) < CALM
        self._lasts, self._calm_for = self._lasts + dt, self._calm_for + dt if is_calm else 0.0
        self._ends |= self._calm_for >= CALM_FOR or self._lasts > LONGEST
        return velocity

    def _self_motion(self, dt: float) -> Array:
        dodging = self._tracker.dodging
        if dodging is None:
            return np.zeros_like(self.reference.q)
        return dodging.velocity(self.reference, not self._ends, dt)

    def slide(self) -> bool:
        """Go on to rest where a step was refused; tell whether that is to be tried."""
        has_gone_on, self._ends = not self._ends, True
        return has_gone_on

    def has_arrived(self) -> bool:
        """Whether nothing more is to be gained, and the joints rest."""
        return self._ends and super().has_arrived()
