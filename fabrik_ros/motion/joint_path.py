"""Paths that are straight in joint space: to joint values, and to rest."""

from collections.abc import Callable

from ..reasons import Reason
from ..transforms import Array
from .joint_limiter import JointLimiter
from .path import Path


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
