"""A reference that moves at the velocity of a jog."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from ...transforms import Array
from ..limits.limits import MotionLimits
from .displacements import length_of
from .tip_reference import masked, TINY, TipReference

SAME_DIRECTION = 0.7
"""Cosine of the angle between two jogs above which they go the same way."""
FASTEST_JOG = 1e6
"""Velocity to which jogs are cut off, so that their size can be computed [m/s or rad/s]."""
LEAST_PART = 0.05
"""A jog of which less than this share is possible stands [1]: it would creep aside for ever."""
LED_FOR = 0.2
"""Time for which a jog is taken to go on, where only a part of it is possible [s]."""


class Jog:
    """
    Velocities at which tips are jogged.

    Parameters
    ----------
    tips : int
        How many tips there are.

    """

    def __init__(self, tips: int) -> None:
        self.twists = np.zeros((tips, 6))
        """Linear and angular velocity of each tip [m/s, rad/s]."""
        self._in_tip = np.zeros(tips, dtype=bool)
        self._blocked = np.zeros((tips, 6))

    def steer(self, twist: Array, in_tip: bool, tip: int) -> None:
        """Give a tip another velocity (6,), in the base frame or in its own."""
        if not np.any(self.twists) or self._in_tip[tip] != in_tip:
            self._blocked[:] = 0.0
        self.twists[tip] = np.clip(twist, -FASTEST_JOG, FASTEST_JOG)
        self._in_tip[tip] = in_tip

    def let_go(self, which: npt.NDArray[np.bool_]) -> None:
        """Let the tips that are marked in `which`, shape (k,), brake to rest."""
        self.twists[which] = 0.0
        self._in_tip[which] = False

    def block(self) -> None:
        """Remember the direction of the jog as blocked."""
        self._blocked = self.twists.copy()

    def is_blocked(self) -> bool:
        """Whether the jog still goes in the blocked direction, at any speed, or is zero."""
        along = float(np.sum(self.twists * self._blocked))
        sizes = float(np.linalg.norm(self.twists) * np.linalg.norm(self._blocked))
        return along > SAME_DIRECTION * sizes or not np.any(self.twists)

    def velocities(self, T: Array) -> Array:
        """Velocities of the tips at poses (k, 4, 4), in the base frame, shape (k, 6)."""
        R = np.where(self._in_tip[:, None, None], T[:, :3, :3], np.eye(3))
        parts = self.twists.reshape(-1, 2, 3)
        turned: Array = np.einsum('...ij,...kj->...ki', R, parts)
        return turned.reshape(self.twists.shape)


class JogReference(TipReference):
    """Moves as a jog tells."""

    most_missing = 0.0
    """A jog has no place that the tool could come nearer to: it keeps its orientation."""

    def __init__(self, T: Array, q: Array, limits: MotionLimits, jog: Jog) -> None:
        super().__init__(T, q, limits)
        self.jog = jog

    @classmethod
    def continuing(cls, other: TipReference) -> 'JogReference':
        """Go on from where another reference is, as fast as that."""
        if isinstance(other, cls):
            return other
        reference = cls(other.T, other.q, other.limits, Jog(len(other.T)))
        reference.take_over(other)
        return reference

    def pose_after(self, speed: Array, dt: float) -> Array:
        """Poses, shape (k, 4, 4), after `dt` seconds at a speed."""
        return self._space.moved(self.T, speed * dt)

    def pose_ahead(self, dt: float) -> tuple[Array, float]:
        """Poses that the reference passes even if it brakes, and how far ahead they are [s]."""
        ahead = self._look_ahead_distance(dt)
        self._filtered_for = 0.0
        return self._pose_along(self._wanted_speed(dt), ahead)

    def next_speed(self, dt: float, margin: float) -> Array:
        """Speed for the next step that comes closest to what the jog wants."""
        if self.ends_at is not None:
            return self._braking_speed(dt)
        greatest = self.limits.speed_scaling * min(self.greatest_share, margin)
        return self._no_faster(self._wanted_speed(dt), dt, greatest)

    def led_by(self) -> Array:
        """Displacement by which the tips are led from where they are, shape (k, 6) [s]."""
        return LED_FOR * self._asked_speed()

    def speed_along(self, displacement: Array, dt: float) -> Array:
        """Speed for the next step where a displacement (k, 6) [s] is all that is possible."""
        is_worth_it = length_of(displacement) > LEAST_PART * length_of(self.led_by())
        return self._changed_towards(is_worth_it * displacement / LED_FOR, dt)

    def _wanted_speed(self, dt: float) -> Array:
        return self._changed_towards(self._asked_speed(), dt)

    def _asked_speed(self) -> Array:
        """Speed that the jog asks for, as far as the tips may have it."""
        limits = self.limits
        asked = self.jog.velocities(self.T)
        asked[:, :3] /= limits.tip_speed
        asked[:, 3:] /= limits.tip_rotation
        asked *= min(1.0, limits.speed_scaling / max(length_of(asked), TINY))
        return asked

    def _changed_towards(self, wanted: Array, dt: float) -> Array:
        """Speed for the next step that comes as near to one wanted as the acceleration lets it."""
        change = wanted - self.speed
        return self.speed + change / max(1.0, length_of(change) / (self.full_acceleration * dt))

    def shortened(self, speed: Array, dt: float) -> Array:
        """Speed that does not exceed the greatest."""
        size = length_of(speed)
        return speed * (1.0 / size) if size > 1.0 else speed

    def has_arrived(self) -> bool:
        """Whether the reference rests, as the jog wants."""
        return not (np.any(self.jog.twists) or np.any(self.speed))

    def keep_to_tips(self, q: Array, tip_poses: Callable[[Array], Array]) -> None:
        """Move the reference to the tips while it turns: their orientation may yield."""
        if np.any(self.speed[:, 3:]):
            self.T = masked(tip_poses(q), self.T)
