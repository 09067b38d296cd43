"""The motion of one joint to a value and to rest, within its velocity and acceleration."""

from ..kernels.braking import stopping_speed

ARRIVED = 1e-9
"""A joint that is nearer to its goal is there [rad or m]."""


class Ramp:
    """
    A joint that goes to values, one step after the other.

    Parameters
    ----------
    value : float
        Where it rests [rad or m].

    Attributes
    ----------
    value, velocity : float
        Where the last step has led [rad or m, and per s].
    goal : float
        Where it goes to [rad or m].

    """

    def __init__(self, value: float) -> None:
        self.value, self.velocity, self.goal = value, 0.0, value
        self._speed, self._acceleration = 0.0, 1.0

    @property
    def is_at_rest(self) -> bool:
        """Whether it rests at its goal."""
        return self.velocity == 0.0 and self.value == self.goal

    def go_to(self, goal: float, speed: float, acceleration: float) -> None:
        """Go somewhere, at most at a speed [rad/s or m/s] and acceleration [rad/s² or m/s²]."""
        self.goal, self._speed, self._acceleration = goal, speed, acceleration

    def stop(self) -> None:
        """Come to rest as soon as the acceleration allows."""
        way = self.velocity * abs(self.velocity) / (2.0 * self._acceleration)
        self.goal = self.value + way

    def step(self, dt: float, share: float = 1.0) -> None:
        """Go on for a time [s], at a share of the greatest speed [1]."""
        left, change = self.goal - self.value, self._acceleration * dt
        if abs(left) <= ARRIVED and abs(self.velocity) <= change:
            self.value, self.velocity = self.goal, 0.0
            return
        towards = 1.0 if left > 0.0 else -1.0
        most = stopping_speed(abs(left), self._acceleration, dt)
        wanted = towards * min(share * self._speed, most)
        self.velocity = min(max(wanted, self.velocity - change), self.velocity + change)
        self.value += self.velocity * dt
