"""
A reference on its way to a goal: each tip in a straight line, with the shortest rotation.

It keeps to the greatest speeds and to the acceleration of the tip, and to what the joints can
follow.

"""

from collections.abc import Iterator
import math

import numpy as np
import numpy.typing as npt

from ...kernels.braking import stopping_speed
from ...kernels.line_speed import speed_along_filtered_path
from ...transforms import Array
from ..limits.limits import MotionLimits
from .displacements import length_of
from .target_filter import TargetFilter
from .tip_reference import TINY, TipReference

RETURNING = 0.5
"""Share of their way back that spare joints go in a second at full speed [1/s]."""
LONGEST_WAY_BACK = 0.3
"""Way back that counts at most [rad or m]."""
FADING_TIME = 0.2
"""Time in which spare joints give up their way back, or take it up again [s]."""
LANDED = 1e-6
"""The goal is reached where what remains takes less than this at full speed [s]."""


class LineReference(TipReference):
    """
    Goes straight to a goal, or on the path of goals that come again and again.

    Poses have the shape (k, 4, 4).

    Attributes
    ----------
    goal : array, shape (k, 4, 4)
        Where the tips are to be.

    """

    def __init__(self, T: Array, q: Array, limits: MotionLimits) -> None:
        super().__init__(T, q, limits)
        self.goal, self._q_begin = T, q
        self._filter = TargetFilter()
        self._returning = 1.0
        """Share of their way back for which the line leaves spare joints room [1]."""
        self.head_for(T)
        self._filter.clear()

    @classmethod
    def continuing(cls, other: TipReference) -> 'LineReference':
        """Go on from where another reference is, as fast as that."""
        if isinstance(other, cls):
            return other
        reference = cls(other.T, other.q, other.limits)
        reference.take_over(other)
        return reference

    def part(self, tips: npt.NDArray[np.intp], q: Array) -> 'LineReference':
        """Go on with some of the tips, by number, as fast as they are; `q`: joint values there."""
        part = LineReference(self.T[tips], q, self.limits)
        part.speed, part.has_left = self.speed[tips], self.has_left
        part._filter, part.goal = self._filter.part(tips), self.goal[tips]
        part._remaining = self._remaining[tips]
        return part

    def take_over(self, other: TipReference) -> None:
        """Be where another reference is, as fast as that."""
        super().take_over(other)
        self.goal = self.T
        self._remaining = self._space.between(self.T, self.goal)

    def head_for(self, goal: Array) -> None:
        """Go on to another goal, shape (k, 4, 4)."""
        if not self.is_filtered:
            self._q_begin = self.q
        self._filter.add(self._space.between(self.goal, goal), self.deceleration)
        self.goal = goal
        self.ends_at = None
        self._remaining = self._space.between(self.T, goal)

    @property
    def is_filtered(self) -> bool:
        """Whether it follows the path of goals that come again and again."""
        return not self._filter.is_empty

    def seed(self, distance: float) -> Array:
        """
        Joint values, shape (n,), near which spare joints are to be, some way [s] ahead.

        In a stream they tend to where they were at its begin. Shortest steps alone would let them
        drift farther in each round of a path that closes, until they cannot follow it any more.
        They give way where the line needs all the speed that joints and joint centres have.
        """
        if not self.is_filtered:
            return self.q
        way = np.minimum(np.maximum(self._q_begin - self.q, -LONGEST_WAY_BACK), LONGEST_WAY_BACK)
        return self.q + (RETURNING * self._returning * distance) * way

    def way_back(self, q: Array) -> Array:
        """Way from joint values (n,) to where spare joints were at the begin of a stream."""
        return self._q_begin - q if self.is_filtered else super().way_back(q)

    def change_limits(self, limits: MotionLimits) -> bool:
        """Go on as fast as before under other limits; tells whether the greatest speeds differ."""
        differ = super().change_limits(limits)
        if differ:
            self._filter.clear()
        self._remaining = self._space.between(self.T, self.goal)
        return differ

    def pose_after(self, speed: Array, dt: float) -> Array:
        """Poses after `dt` at a speed; the goal itself where that is as good as reached."""
        if length_of(self._remaining - speed * dt) < LANDED:
            return self.goal
        return self._space.moved(self.T, speed * dt)

    def pose_ahead(self, dt: float) -> tuple[Array, float]:
        """Poses that the reference passes even if it brakes, and how far ahead they are [s]."""
        ahead = self._look_ahead_distance(dt)
        self._filtered_for = 0.0
        if self.is_filtered:
            speed = min(self.pace + self.acceleration * dt, 1.0)
            return self._pose_on_filtered_path(ahead, ahead / max(speed, TINY))
        ahead = min(length_of(self._remaining), ahead)
        return self.pose_at(ahead), ahead

    def _pose_on_filtered_path(self, ahead: float, duration: float) -> tuple[Array, float]:
        """
        Poses where the filtered target leads; from far behind it, some way towards them.

        Beside the mean steps follow its bends as far as joints can: to slow down for them would
        leave the tip behind, so that it cuts the corners of the goal.
        """
        path = self._remaining - self._filter.left(duration)
        if length_of(self._remaining - self._filter.left()) > ahead:
            self._filtered_for = max(duration, ahead)
            return self._pose_along(path, ahead)
        distance = length_of(path)
        self._filtered_for = math.inf
        return self._pose_along(path, distance)

    def pose_at(self, distance: float) -> Array:
        """Poses some way [s] ahead; the goal where that is nearer."""
        length = length_of(self._remaining)
        if length <= distance:
            return self.goal
        return self._space.moved(self.T, self._remaining * (distance / length))

    def poses_ahead(self, count: int) -> Iterator[Array]:
        """Yield poses, shape (k, 4, 4), evenly along the line that is left now, to its end."""
        T, goal, remaining, space = self.T, self.goal, self._remaining, self._space
        for number in range(1, count):
            yield space.moved(T, remaining * (number / count))
        yield goal

    @property
    def remaining(self) -> float:
        """Duration of the rest of the line at full speed [s]."""
        return length_of(self._remaining)

    def next_speed(self, dt: float, margin: float) -> Array:
        """Speed for the next step towards the goal, or to rest where the line ends early."""
        if self.ends_at is not None:
            return self._braking_speed(dt)
        scaling = self.limits.speed_scaling
        greatest = scaling * min(self.greatest_share, margin)
        if self.is_filtered:
            return self._speed_on_filtered_path(dt, greatest)
        speed = self._speed_to_rest_after(self._remaining, dt, scaling)
        return self._no_faster(speed, dt, greatest)

    def led_by(self) -> Array:
        """Displacement by which the tips are led from where they are, shape (k, 6) [s]."""
        led: Array = self._remaining - self._filter.left()
        return led

    def speed_along(self, displacement: Array, dt: float) -> Array:
        """Speed for the next step where a displacement (k, 6) [s] is all that is possible."""
        return self._speed_to_rest_after(displacement, dt, self.limits.speed_scaling)

    def be_at(self, T: Array, q: Array) -> None:
        """Be at other poses (k, 4, 4) and joint values (n,), free to go on from there."""
        super().be_at(T, q)
        self._remaining = self._space.between(T, self.goal)

    def _speed_to_rest_after(self, displacement: Array, dt: float, most: float) -> Array:
        """
        Speed from which the reference can stop after a displacement, changing by what it may.

        From rest the path is straight; from a speed that points elsewhere it bends smoothly.
        """
        distance = length_of(displacement)
        share = 0.0
        if distance > 0.0:
            share = min(most, stopping_speed(distance, self.acceleration, dt)) / distance
        change = displacement * share - self.speed
        excess = length_of(change) / (self.full_acceleration * dt)
        return self.speed + change / max(1.0, excess)

    def _speed_on_filtered_path(self, dt: float, most: float) -> Array:
        leads, next_speed = np.empty((2, self.speed.size)), np.empty(self.speed.shape)
        leads[0], leads[1] = self._filter.left().reshape(-1), self._filter.left(dt).reshape(-1)
        speed_along_filtered_path(
            self._remaining.reshape(-1), leads, self._filter.heading, self.speed.reshape(-1),
            self.acceleration, self.full_acceleration, self.deceleration, dt, most,
            self._filter.brakes_first, next_speed.reshape(-1),
        )  # fmt: skip
        return next_speed

    def shortened(self, speed: Array, dt: float) -> Array:
        """Speed that neither exceeds the greatest nor passes the goal within the step."""
        size, most = length_of(speed), min(1.0, length_of(self._remaining) / dt)
        return speed * (most / size) if size > most else speed

    def advance(self, speed: Array, dt: float, T: Array, q: Array) -> None:
        """Take a step to the poses `T` after it; `q` are the joint values for them."""
        self._filter.pass_time(dt)
        self._remaining = self._space.between(T, self.goal)
        super().advance(speed, dt, T, q)
        self._leave_room(dt)

    def _leave_room(self, dt: float) -> None:
        """Let spare joints return only as far as the line may be faster than it is."""
        used = (1.0 - self.greatest_share) / max(1.0 - self.pace, TINY)
        change, most = max(0.0, 1.0 - used) - self._returning, dt / FADING_TIME
        self._returning += min(max(change, -most), most)

    def has_arrived(self) -> bool:
        """Whether the reference is at the goal."""
        return self.T is self.goal
