"""What is measured of fingers: where they are, whether they stand still, whether they moved."""

import math

from .gripper import Gripper

STILL, STILL_TIME = 2e-4, 0.2
"""Fingers that move by no more in that time stand still [m, s]."""


class Fingers:
    """
    Fingers as they are measured.

    Parameters
    ----------
    gripper : Gripper
        The gripper that has them.

    Attributes
    ----------
    value : float or None
        Value of the joint that was measured last; None where none is fresh [rad or m].
    known : float or None
        The same, however old, but none that is older than the last command [rad or m].
    has_moved : bool
        Whether they were seen to move since `set_out`.
    left_at : float or None
        Where they were when the last command was sent [rad or m].
    settled_at : float or None
        Where they have come to a stand behind it; None before [rad or m].

    """

    def __init__(self, gripper: Gripper) -> None:
        self._gripper = gripper
        self.value: float | None = None
        self.known: float | None = None
        self.has_moved = False
        self.left_at: float | None = None
        self.settled_at: float | None = None
        self._set_out_at: float | None = None
        self._is_left = False
        self._still_at, self._still_since = math.inf, math.inf
        self._measured_at, self.looked_at = -math.inf, -math.inf

    def look(self, value: float | None, now: float, measured_at: float) -> None:
        """Take what is measured at a time [s]: see `GripperDrive.look`."""
        if now < self.looked_at:  # the clock was set back
            self._still_since = now
        self.value, self.looked_at, self._measured_at = value, now, measured_at
        if value is None:
            return
        self.known = value
        if self._set_out_at is None:
            self._set_out_at = value
        self.has_moved |= self._gripper.apart(value, self._set_out_at) > STILL
        if not self._gripper.apart(value, self._still_at) <= STILL:
            self._still_at, self._still_since = value, measured_at
        if self.is_still and self._is_left and self.settled_at is None:
            self.settled_at = value

    def set_out(self, goes_on: bool) -> None:
        """Take note that they are sent somewhere; `goes_on`: they press, or move, already."""
        if not goes_on or self.value is None:
            self.has_moved, self._set_out_at = False, self.value
        self._is_left, self.settled_at = False, None

    def leave(self, now: float) -> None:
        """Take note that the last command was sent at a time [s]."""
        self._is_left, self._still_since = True, now
        self.left_at, self.known = self.value, None

    @property
    def is_lost(self) -> bool:
        """Whether they are not measured any more, and were since they were sent."""
        return self.value is None and self._set_out_at is not None

    @property
    def is_still(self) -> bool:
        """Whether measurements say so: fingers seldom measured may move between two of them."""
        return self._measured_at - self._still_since >= STILL_TIME
