"""
The moving reference of a motion: a pose that travels to the goal in a straight line.

Several tips have a pose each: all travel together and arrive together. A tip whose pose is NaN
is free and goes no way. Speeds here are shares of the greatest speed, so a distance is the time
it takes at full speed.

"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..kernels.arm_table import FRAME
from ..kernels.braking import stopping_speed
from ..kernels.displacement import pose_along, size_of, way_between
from ..kernels.line_speed import followable, speed_along_trail
from ..solver.solution import Solution
from ..solver.tree_solver import is_unconstrained
from ..transforms import Array
from .target_filter import Trail

LANDED = 1e-6
TINY = 1e-12
SLOW = 0.2
"""Slower than this share of the full speed it need not be for joints that come to their limits."""
LOOKAHEAD = 0.75
LOOKAHEAD_STEPS = 2.0
# Nearer together, a small jump of the answers would look like an endless bend, and the reference
# would slow down in front of it for ever.
LEAST_LOOKAHEAD = 1e-3
SAME_WAY = 0.7
"""Cosine of the angle between two jogs above which they go the same way."""
FASTEST_JOG = 1e6
"""Faster ones [m/s or rad/s] are cut off, so that their size can be computed."""


@dataclass(frozen=True, eq=False)
class MotionLimits:
    """How fast things may go."""

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


class Jog:
    """
    Velocities that tips are told to have.

    Parameters
    ----------
    shape : tuple of int
        () for one tip, (k,) for several.

    """

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.twists = np.zeros((*shape, 6))
        """Linear and angular velocity of each tip [m/s, rad/s]."""
        self._in_tip = np.zeros(shape, dtype=bool)
        self._blocked = np.zeros((*shape, 6))

    def steer(self, twist: Array, in_tip: bool, tip: int) -> None:
        """Give a tip another velocity (6,), in the base frame or in that of the tip."""
        which = tip if self._in_tip.shape else ...
        if not np.any(self.twists) or self._in_tip[which] != in_tip:
            self._blocked[:] = 0.0
        self.twists[which] = np.clip(twist, -FASTEST_JOG, FASTEST_JOG)
        self._in_tip[which] = in_tip

    def let_go(self, which: Any) -> None:
        """Let those of the tips brake to rest, by an array of bool (...)."""
        self.twists[which] = 0.0
        self._in_tip[which] = False

    def block(self) -> None:
        """Remember that it is not possible to go on this way."""
        self._blocked = self.twists.copy()

    def goes_where_it_is_blocked(self) -> bool:
        """Whether it is still about the way that was blocked, however fast, or wants nothing."""
        along = float(np.sum(self.twists * self._blocked))
        sizes = float(np.linalg.norm(self.twists) * np.linalg.norm(self._blocked))
        return along > SAME_WAY * sizes or not np.any(self.twists)

    def velocities(self, T: Array) -> Array:
        """Velocities of the tips at poses (..., 4, 4), in the base frame."""
        R = np.where(self._in_tip[..., None, None], T[..., :3, :3], np.eye(3))
        parts = self.twists.reshape(*self._in_tip.shape, 2, 3)
        turned: Array = np.einsum('...ij,...kj->...ki', R, parts)
        return turned.reshape(self.twists.shape)


class LineReference:
    """
    The reference on its way to the goal, or as it is jogged.

    Poses have the shape (..., 4, 4): one pose, or one for each tip. Speeds have the shape
    (..., 6), translation and rotation, each as a share of the greatest speed: a distance is then
    the time it takes at full speed [s].
    """

    def __init__(self, T: Array, q: Array, limits: MotionLimits) -> None:
        self._limits = limits
        self._frames = np.empty((2, FRAME))
        self.full_gain = limits.tip_acceleration / limits.tip_speed
        """Change of speed [1/s] that the tip is allowed."""
        self.gain = self.full_gain
        """Change of speed [1/s] that the joints can follow, with a margin."""
        self.brake = self.full_gain
        """Change of speed [1/s] that the joints can follow when they must."""
        self.T = T
        self.free = is_unconstrained(T)
        """Which tips have no goal, shape (...)."""
        self.q = q
        self.rate = np.zeros_like(q)
        """Joint velocity at full speed, as of the last step."""
        self.cap = 1.0
        """Share of the full speed that the joints can follow."""
        self.has_left = False
        """Whether the reference has moved from where it began."""
        self.goal = T
        self._trail = Trail()
        self._led_for = 0.0
        """How long the trail leads to the poses ahead [s]; 0 if it does not."""
        self.stand_still()
        self.head_for(T)
        self._trail.clear()

    @property
    def speed(self) -> Array:
        """Speed of the last step, shape (..., 6)."""
        return self._speed

    @speed.setter
    def speed(self, speed: Array) -> None:
        self._speed = speed
        self.pace = length_of(speed)
        """Size of that speed, a share of the greatest."""

    def head_for(self, goal: Array) -> None:
        """Go on to another goal, shape (..., 4, 4)."""
        self.jog: Jog | None = None
        """What it is told to do instead of going to a goal."""
        self._trail.take(self._way(self.goal, goal), self.brake)
        self.goal = goal
        self.ends_early: Solution | None = None
        """The answer that showed the line to end before the goal."""
        self._way_left = self._way(self.T, goal)

    @property
    def is_led(self) -> bool:
        """Whether it follows the way of goals that come again and again."""
        return not self._trail.is_empty

    def follow(self, jog: Jog) -> None:
        """Go on as that tells, without a goal."""
        self.head_for(self.T)
        self._trail.clear()
        self.jog = jog

    def stand_still(self) -> None:
        """Lose all speed."""
        self.speed = np.zeros((*self.T.shape[:-2], 6))

    def take_speed(self, T_before: Array, dt: float) -> None:
        """Go on as fast as the tips came here from the poses `T_before`, `dt` ago."""
        self.speed = self._way(T_before, self.T) / dt

    def change_limits(self, limits: MotionLimits) -> None:
        """Go on as fast as before under other limits."""
        faster = limits.tip_speed / self._limits.tip_speed
        turning = limits.tip_rotation / self._limits.tip_rotation
        pace = self.pace
        self.speed = self.speed / np.repeat((faster, turning), 3)
        if pace > 0.0:
            self.rate = self.rate * (pace / self.pace)
        if (faster, turning) != (1.0, 1.0):
            self._trail.clear()
        self._limits = limits
        self._way_left = self._way(self.T, self.goal)
        self.gain = self.brake = self.full_gain = limits.tip_acceleration / limits.tip_speed

    def scale_speed(self, share: float) -> None:
        """Go at another share of all speeds, 0 to 1."""
        self._limits = replace(self._limits, speed_scaling=share)

    def _way(self, T: Array, T_to: Array) -> Array:
        if T.ndim > 2:
            ways = [
                np.zeros(6) if is_unconstrained(end) else self._way(start, end)
                for start, end in zip(T, T_to, strict=True)
            ]
            return np.array(ways)
        limits, way = self._limits, np.empty(6)
        way_between(T, T_to, limits.tip_speed, limits.tip_rotation, self._frames, way)
        return way

    def _moved(self, T: Array, way: Array) -> Array:
        if T.ndim > 2:
            poses = [
                start if is_unconstrained(start) else self._moved(start, along)
                for start, along in zip(T, way, strict=True)
            ]
            return np.array(poses)
        limits, T_to = self._limits, np.empty((4, 4))
        pose_along(T, way, limits.tip_speed, limits.tip_rotation, self._frames, T_to)
        return T_to

    def pose_after(self, speed: Array, dt: float) -> Array:
        """Poses after `dt` at `speed`; the goal itself where that is as good as reached."""
        if self.jog is None and length_of(self._way_left - speed * dt) < LANDED:
            return self.goal
        return self._moved(self.T, speed * dt)

    def pose_ahead(self, dt: float) -> tuple[Array, float]:
        """Return poses that the reference passes even if it brakes, and how far they are."""
        speed = min(self.pace + self.gain * dt, 1.0)
        ahead = LOOKAHEAD * speed * speed / self.brake + LOOKAHEAD_STEPS * speed * dt
        ahead = max(ahead, LEAST_LOOKAHEAD)
        self._led_for = 0.0
        if self.jog is not None:
            return self._pose_along(self._towards_jog(self.jog, dt), ahead)
        if not self._trail.is_empty:
            return self._pose_on_trail(ahead, ahead / max(speed, TINY))
        ahead = min(length_of(self._way_left), ahead)
        return self.pose_at(ahead), ahead

    def _pose_on_trail(self, ahead: float, duration: float) -> tuple[Array, float]:
        """Poses where the trail leads; for a reference far behind it, some way towards them."""
        way = self._way_left - self._trail.left(duration)
        if length_of(self._way_left - self._trail.left()) > ahead:
            return self._pose_along(way, ahead)
        distance = length_of(way)
        self._led_for = max(duration, distance)
        return self._pose_along(way, distance)

    def _pose_along(self, speed: Array, distance: float) -> tuple[Array, float]:
        size = length_of(speed)
        if size == 0.0:
            return self.T, 0.0
        return self._moved(self.T, speed * (distance / size)), distance

    def pose_at(self, distance: float) -> Array:
        """Poses some way [s] ahead; the goal where that is nearer."""
        length = length_of(self._way_left)
        if length <= distance:
            return self.goal
        return self._moved(self.T, self._way_left * (distance / length))

    def heed(self, q_ahead: Array, distance: float) -> None:
        """
        Set how fast the joints can follow, from where they will be some way ahead.

        Parameters
        ----------
        q_ahead : array, shape (n,)
            Joint values for the poses ahead.
        distance : float
            How far that is [s].

        """
        limits = self._limits
        gain, brake, cap = followable(
            self.q, q_ahead, self.rate, distance, self._led_for, self.pace,
            limits.joint_velocity, limits.joint_acceleration,
        )  # fmt: skip
        self.gain, self.brake = min(self.full_gain, gain), min(self.full_gain, brake)
        self.cap = min(1.0, cap)

    def next_speed(self, dt: float, room: float) -> Array:
        """
        Speed for the next step towards the goal, or to rest where the line ends early.

        Parameters
        ----------
        dt : float
            Length of the step [s].
        room : float
            Share of the full speed that is left for it, 0 to 1.

        """
        now, change = self.pace, self.full_gain * dt
        if self.ends_early is not None:
            return self.speed * max(0.0, 1.0 - change / now) if now > 0.0 else self.speed
        share = self._limits.speed_scaling
        greatest = share * min(self.cap, room)
        if self.jog is None and not self._trail.is_empty:
            return self._along_trail(dt, greatest)
        if self.jog is not None:
            speed = self._towards_jog(self.jog, dt)
        else:
            speed = approach(
                self._way_left, self.speed, self.gain, self.full_gain, dt, length_of, share
            )
        size = length_of(speed)
        most = max(greatest, now - change)
        return speed * (most / size) if size > most else speed

    def _along_trail(self, dt: float, most: float) -> Array:
        """Speed of the next step with the mean of the goal."""
        left, later = self._trail.left().reshape(-1), self._trail.left(dt).reshape(-1)
        way, speed, next_speed = self._way_left, self.speed, np.empty(self.speed.shape)
        speed_along_trail(
            way.reshape(-1), left, later, speed.reshape(-1), self.gain, self.full_gain, self.brake,
            dt, most, next_speed.reshape(-1),
        )  # fmt: skip
        return next_speed

    def _towards_jog(self, jog: Jog, dt: float) -> Array:
        """Speed of the next step that comes closest to what the jog wants."""
        limits = self._limits
        wanted = jog.velocities(self.T)
        wanted[..., :3] /= limits.tip_speed
        wanted[..., 3:] /= limits.tip_rotation
        wanted *= min(1.0, limits.speed_scaling / max(length_of(wanted), TINY))
        change = wanted - self.speed
        return self.speed + change / max(1.0, length_of(change) / (self.full_gain * dt))

    def shortened(self, speed: Array, dt: float) -> Array:
        """Speed that neither exceeds the greatest nor passes the goal within the step."""
        size, most = length_of(speed), 1.0
        if self.jog is None:
            most = min(1.0, length_of(self._way_left) / dt)
        return speed * (most / size) if size > most else speed

    def slower(self, speed: Array, dt: float) -> Array:
        """Speed of a step that brakes, but for those that are slow anyway."""
        size = length_of(speed)
        most = max(self.pace - self.brake * dt, SLOW)
        return speed * (most / size) if size > most else speed

    def advance(self, speed: Array, dt: float, T: Array, q: Array) -> None:
        """Take a step to the poses `T` after it; `q` are the joint values for them."""
        self.T = T
        self._trail.pass_time(dt)
        self._way_left = self._way(self.T, self.goal)
        self.speed = speed
        if self.pace > 0.0:
            self.has_left = True
            self.rate = (q - self.q) / (self.pace * dt)
        self.q = q

    def is_at_goal(self) -> bool:
        """Whether the reference has arrived, or rests as the jog wants."""
        if self.jog is not None:
            return not (np.any(self.jog.twists) or np.any(self.speed))
        return self.T is self.goal


def length_of(speed: Array) -> float:
    """Size of a speed: the largest of its translations and its rotations."""
    return size_of(speed.reshape(-1))


def largest(speed: Array) -> float:
    """Largest of the values of an array of shape (n,), whatever their sign."""
    return float(max(map(abs, speed.tolist())))


def approach(
    way: Array,
    speed: Array,
    braking: float,
    gain: float,
    dt: float,
    size: Callable[[Array], float],
    most: float,
) -> Array:
    """
    Next speed on the way to a point `way` ahead, at most `most`, changing by at most `gain` [1/s].

    Slow enough to stop there with `braking` [1/s]. From rest the way is straight; from a speed
    that points elsewhere it bends smoothly.
    """
    distance = size(way)
    share = 0.0
    if distance > 0.0:
        share = min(most, stopping_speed(distance, braking, dt)) / distance
    change = way * share - speed
    excess = size(change) / (gain * dt)
    return speed + change / max(1.0, excess)
