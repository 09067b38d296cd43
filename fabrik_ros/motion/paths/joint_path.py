"""Paths that are straight in joint space: to joint values, and to rest."""

from collections.abc import Callable, Iterator
from itertools import chain, pairwise
import math

import numpy as np

from ...reasons import Reason
from ...transforms import Array
from ..limits.joint_limiter import JointLimiter
from .path import Path
from .preview import Ahead

PREVIEW_STEP = 0.05
"""Largest joint move between the configurations of a preview [rad or m]."""


class JointPath(Path):
    """
    Straight in joint space to joint values, over others if there are any between.

    All joints arrive together, and rest at each of the corners.

    Parameters
    ----------
    limiter : JointLimiter
        Knows what the joints can do.
    corners : sequence of array, shape (n,)
        Where they go, one after the other [rad or m].
    reason, then
        As for `Path`.

    """

    def __init__(
        self,
        limiter: JointLimiter,
        *corners: Array,
        reason: Reason | None = None,
        then: Callable[[], Path] | None = None,
    ) -> None:
        super().__init__(reason, then)
        self._limiter, self._corners = limiter, corners

    @property
    def q(self) -> Array:
        """Joint values at the end of the path, shape (n,) [rad or m]."""
        return self._corners[-1]

    def velocity(self, dt: float) -> Array:
        """Joint velocity that is wanted in the next step of `dt` seconds, shape (n,)."""
        joints = self._limiter.joints
        if len(self._corners) > 1 and joints.rests_at(self._corners[0]):
            self._corners = self._corners[1:]
        return joints.velocity_towards(self._corners[0], dt)

    def ahead(self) -> Ahead:
        """Tell what the rest of the path asks of the joints, from where the arm is now."""
        q = self._limiter.joints.q
        parts = [list(configurations(*ends)) for ends in pairwise((q, *self._corners))]
        rests = np.cumsum([len(part) for part in parts]).tolist()
        on_path = chain.from_iterable(parts)
        return Ahead('the joint path', q, on_path, rests[-1], rests=frozenset(rests))

    def has_arrived(self) -> bool:
        """Whether the joints rest at the end of the path."""
        is_last = len(self._corners) == 1
        return is_last and self._limiter.has_caught_up and self._limiter.joints.rests_at(self.q)


def configurations(q: Array, *corners: Array) -> Iterator[Array]:
    """Yield joint values along straight paths from `q` over corners, shape (n,) each."""
    for start, end in pairwise((q, *corners)):
        count = max(1, math.ceil(np.max(np.abs(end - start)) / PREVIEW_STEP))
        for number in range(1, count + 1):
            yield start + (number / count) * (end - start)


class StopPath(Path):
    """
    Path to rest as fast as the joints may, in the direction they move in.

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
