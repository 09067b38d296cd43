"""The common part of references that have poses, whatever leads them."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ...kernels.line_speed import followable
from ...solver.solution import Solution
from ...solver.tree_solver import is_unconstrained
from ...transforms import Array
from ..limits.limits import MotionLimits
from .displacements import length_of, TipSpace

TINY = 1e-12
SLOW_SPEED = 0.2
"""Speed down to which joints near their limits slow a line, as a share of the full speed [1]."""
LOOK_AHEAD_SHARE = 0.75
"""Look-ahead of a reference, as a share of twice its braking distance."""
LOOK_AHEAD_STEPS = 2.0
"""... and how many steps farther."""
SHORTEST_LOOK_AHEAD = 1e-3
"""
Shortest look-ahead of a reference [s]. From nearer, a small jump of the solutions would look like
an endless bend, and the reference would slow down in front of it for ever.
"""


MOST_MISSING = 0.01
"""What is missing of a way to a goal counts up to this [m]: no tool tilts to come much nearer."""


class TipReference(ABC):
    """
    Poses of the tips that move, and that the arm follows.

    Parameters
    ----------
    T : array, shape (k, 4, 4)
        Where the tips are; NaN for those that are unconstrained.
    q : array, shape (n,)
        Joint values there [rad or m].
    limits : MotionLimits
        How fast the tips may go.

    Attributes
    ----------
    T, q : array
        Poses and joint values now.
    limits : MotionLimits
        How fast the tips may go.
    unconstrained : array of bool, shape (k,)
        Which tips may be anywhere.
    speed : array, shape (k, 6)
        Speed of the last step, as shares of the greatest speeds.
    pace : float
        Size of that speed.
    rate : array, shape (n,)
        Joint velocity at full speed, as of the last step [rad/s or m/s].
    self_motion : array, shape (n,)
        Joint velocity of a step that leaves the tips where they are [rad/s or m/s].
    full_acceleration, acceleration, deceleration : float
        Change of speed that the tips are allowed, that the joints can follow with a margin, and
        that the joints can follow when they must [1/s].
    greatest_share : float
        Share of the full speed that the joints can follow.
    has_left : bool
        Whether the reference has moved from where it began.
    ends_at : Solution or None
        The answer that showed that the joints cannot go on; None while they can.
    most_missing : float
        What is missing of a displacement counts up to this [m], where only a part is possible.

    """

    most_missing = MOST_MISSING

    def __init__(self, T: Array, q: Array, limits: MotionLimits) -> None:
        self.limits = limits
        self._space = TipSpace(limits.tip_speed, limits.tip_rotation)
        self.T, self.q = T, q
        self.unconstrained = is_unconstrained(T)
        self.rate = self.self_motion = np.zeros_like(q)
        self.full_acceleration = limits.tip_acceleration / limits.tip_speed
        self.acceleration = self.deceleration = self.full_acceleration
        self.greatest_share = 1.0
        self.has_left = False
        self.ends_at: Solution | None = None
        self._filtered_for = 0.0
        """
        Time for which a filtered target leads to the poses ahead [s]; 0 if none does, infinite
        where the tips are beside it.
        """
        self.stop()

    def take_over(self, other: 'TipReference') -> None:
        """Be where another reference is, as fast as that."""
        self.T, self.q, self.speed, self.rate = other.T, other.q, other.speed, other.rate
        self.acceleration, self.deceleration = other.acceleration, other.deceleration
        self.greatest_share, self.has_left = other.greatest_share, other.has_left

    @property
    def speed(self) -> Array:
        """Speed of the last step, shape (k, 6), as shares of the greatest speeds."""
        return self._speed

    @speed.setter
    def speed(self, speed: Array) -> None:
        self._speed = speed
        self.pace = length_of(speed)

    def be_at(self, T: Array, q: Array) -> None:
        """Be at other poses (k, 4, 4) and joint values (n,), free to go on from there."""
        self.T, self.q = T, q
        self.acceleration = self.deceleration = self.full_acceleration
        self.greatest_share, self.ends_at = 1.0, None

    def stop(self) -> None:
        """Lose all speed."""
        self.speed = np.zeros((len(self.T), 6))

    def take_speed(self, T_before: Array, dt: float) -> None:
        """Go on as fast as the tips came here from the poses `T_before`, `dt` ago."""
        self.speed = self._space.between(T_before, self.T) / dt

    def change_limits(self, limits: MotionLimits) -> bool:
        """Go on as fast as before under other limits; tells whether the greatest speeds differ."""
        faster = limits.tip_speed / self.limits.tip_speed
        turning = limits.tip_rotation / self.limits.tip_rotation
        pace = self.pace
        self.speed = self.speed / np.repeat((faster, turning), 3)
        if pace > 0.0:
            self.rate = self.rate * (pace / self.pace)
        self.limits = limits
        self._space = TipSpace(limits.tip_speed, limits.tip_rotation)
        self.full_acceleration = limits.tip_acceleration / limits.tip_speed
        self.acceleration = self.deceleration = self.full_acceleration
        return (faster, turning) != (1.0, 1.0)

    def scale_speed(self, share: float) -> None:
        """Go at another share of all speeds, 0 to 1."""
        self.limits = replace(self.limits, speed_scaling=share)

    @abstractmethod
    def pose_after(self, speed: Array, dt: float) -> Array:
        """Poses, shape (k, 4, 4), after `dt` seconds at a speed."""

    @abstractmethod
    def pose_ahead(self, dt: float) -> tuple[Array, float]:
        """Poses that the reference passes even if it brakes, and how far ahead they are [s]."""

    @abstractmethod
    def next_speed(self, dt: float, margin: float) -> Array:
        """
        Speed for the next step, shape (k, 6).

        Parameters
        ----------
        dt : float
            Length of the step [s].
        margin : float
            Share of the full speed that the joints leave for it, 0 to 1.

        """

    @abstractmethod
    def shortened(self, speed: Array, dt: float) -> Array:
        """Speed that neither exceeds the greatest nor passes the end within the step."""

    @abstractmethod
    def led_by(self) -> Array:
        """Displacement by which the tips are led from where they are, shape (k, 6) [s]."""

    @abstractmethod
    def speed_along(self, displacement: Array, dt: float) -> Array:
        """Speed for the next step where a displacement (k, 6) [s] is all that is possible."""

    @abstractmethod
    def has_arrived(self) -> bool:
        """Whether the reference rests at its end."""

    def _look_ahead_distance(self, dt: float) -> float:
        speed = min(self.pace + self.acceleration * dt, 1.0)
        ahead = (
            LOOK_AHEAD_SHARE * speed * speed / self.deceleration + LOOK_AHEAD_STEPS * speed * dt
        )
        return max(ahead, SHORTEST_LOOK_AHEAD)

    def _pose_along(self, displacement: Array, distance: float) -> tuple[Array, float]:
        """Poses some way [s] ahead in a direction."""
        size = length_of(displacement)
        if size == 0.0:
            return self.T, 0.0
        return self._space.moved(self.T, displacement * (distance / size)), distance

    def seed(self, distance: float) -> Array:
        """Joint values, shape (n,), near which spare joints are to be, some way [s] ahead."""
        return self.q

    def way_back(self, q: Array) -> Array:
        """Way from joint values (n,) to where spare joints were before; 0: nowhere."""
        return np.zeros_like(q)

    def look_at(self, q_ahead: Array, distance: float, braking_share: float) -> None:
        """
        Set how fast the joints can follow, from where they will be some way ahead.

        Parameters
        ----------
        q_ahead : array, shape (n,)
            Joint values for the poses ahead.
        distance : float
            How far that is [s].
        braking_share : float
            Share of the joint accelerations by which to come to rest, where bends leave that [1].

        """
        limits = self.limits
        acceleration, deceleration, share = followable(
            self.q, q_ahead, self.rate, distance, self._filtered_for, self.pace, braking_share,
            limits.joint_velocity, limits.joint_acceleration,
        )  # fmt: skip
        self.acceleration = min(self.full_acceleration, acceleration)
        self.deceleration = min(self.full_acceleration, deceleration)
        self.greatest_share = min(1.0, share)

    def slower(self, speed: Array, dt: float) -> Array:
        """Speed of a step that brakes, but for those that are slow anyway."""
        size = length_of(speed)
        most = max(self.pace - self.deceleration * dt, SLOW_SPEED)
        return speed * (most / size) if size > most else speed

    def _braking_speed(self, dt: float) -> Array:
        """Speed of a step that brakes as hard as the tips may."""
        if self.pace == 0.0:
            return self.speed
        return self.speed * max(0.0, 1.0 - self.full_acceleration * dt / self.pace)

    def _no_faster(self, speed: Array, dt: float, greatest: float) -> Array:
        """Speed that is at most the greatest, or what braking within the limits leaves of it."""
        size = length_of(speed)
        most = max(greatest, self.pace - self.full_acceleration * dt)
        return speed * (most / size) if size > most else speed

    def advance(self, speed: Array, dt: float, T: Array, q: Array) -> None:
        """Take a step to the poses `T` after it; `q` are the joint values for them."""
        self.T = T
        self.speed = speed
        if self.pace > 0.0:
            self.has_left = True
            self.rate = (q - self.q - dt * self.self_motion) / (self.pace * dt)
        self.q = q

    def keep_to_tips(self, q: Array, tip_poses: Callable[[Array], Array]) -> None:
        """
        Take note of where the tips are after a step.

        Parameters
        ----------
        q : array, shape (n,)
            Joint values.
        tip_poses : callable
            Tells the poses of the tips there, shape (k, 4, 4).

        """


def masked(T: Array, T_goal: Array) -> Array:
    """Poses `T` (k, 4, 4), NaN for the tips that have no goal."""
    unconstrained = is_unconstrained(T_goal)
    return np.where(unconstrained[:, None, None], T_goal, T) if unconstrained.any() else T
