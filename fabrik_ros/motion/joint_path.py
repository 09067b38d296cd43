"""Paths that are straight in joint space: to joint values, and to rest."""

from collections.abc import Callable, Iterator
import math

import numpy as np

from ..collision.guard import CollisionGuard
from ..reasons import Reason
from ..transforms import Array
from .joint_limiter import JointLimiter
from .path import Path
from .preview import look_along, Preview

PREVIEW_STEP = 0.05
"""A preview looks at configurations at most so far apart [rad or m]."""


class JointPath(Path):
    """
    Straight in joint space to joint values: all joints arrive together.

    Parameters
    ----------
    limiter : JointLimiter
        Knows what the joints can do.
    q : array, shape (n,)
        Where they go [rad or m].
    reason, then
        As for `Path`.

    """

    def __init__(
        self,
        limiter: JointLimiter,
        q: Array,
        reason: Reason | None = None,
        then: Callable[[], Path] | None = None,
    ) -> None:
        super().__init__(reason, then)
        self._limiter, self.q = limiter, q

    def velocity(self, dt: float) -> Array:
        """Joint velocity that is wanted in the next step of `dt` seconds, shape (n,)."""
        return self._limiter.joints.velocity_towards(self.q, dt)

    def preview(self, guard: CollisionGuard | None) -> Iterator[Preview]:
        """Look along the rest of the path, piece by piece."""
        limiter = self._limiter
        start = limiter.joints.q
        count = max(1, math.ceil(np.max(np.abs(self.q - start)) / PREVIEW_STEP))
        on_path = (start + (i / count) * (self.q - start) for i in range(1, count + 1))
        return look_along(on_path, count, limiter.robot, limiter.joints, guard)

    def has_arrived(self) -> bool:
        """Whether the joints rest at the end of the path."""
        return self._limiter.has_caught_up and self._limiter.joints.rests_at(self.q)


class StopPath(Path):
    """
    To rest as fast as the joints may, in the direction they move in.

    Parameters
    ----------
    limiter : JointLimiter
        Knows what the joints can do.
    reason : Reason
        Why the arm stops.

    """

    is_stop = True

    def __init__(self, limiter: JointLimiter, reason: Reason | None) -> None:
        super().__init__(reason)
        self._limiter = limiter

    def velocity(self, dt: float) -> Array:
        """Joint velocity that is wanted in the next step of `dt` seconds, shape (n,)."""
        return self._limiter.joints.stopping_velocity(dt)

    def has_arrived(self) -> bool:
        """Whether the joints rest."""
        return self._limiter.has_caught_up and self._limiter.joints.is_still
