"""A gripper under command: where its joint is sent next, and what has become of the last width."""

from enum import Enum
import math

from ..errors import RefusedError, shown
from ..reasons import Reason, ReasonKind
from .gripper import Gripper
from .ramp import Ramp

TOLERANCE = 1e-3
"""A width that differs by no more is the one that was asked for [m]."""
STILL, STILL_TIME = 2e-4, 0.2
"""Fingers that move by no more in that time stand still [m, s]."""
UNMEASURED_TIME = 1.0
"""Commands that ended so long ago are not followed by measurements any more [s]."""


class GripState(Enum):
    """State of a gripper; the values stand in the status."""

    IDLE = 'IDLE'
    """Nothing was asked of it."""
    MOVING = 'MOVING'
    REACHED = 'REACHED'
    """It has the width that was asked for."""
    GRASPED = 'GRASPED'
    """It stands still before it has closed as far as asked: there is something between."""
    BLOCKED = 'BLOCKED'
    """It stands still before it has opened as far as asked."""
    UNMEASURED = 'UNMEASURED'
    """The commands have ended, and nobody measures the joint."""


class GripperDrive:
    """
    Sends a gripper to widths.

    Parameters
    ----------
    gripper : Gripper
        The gripper.

    Attributes
    ----------
    gripper : Gripper
        The gripper.
    target : float or None
        Width that was asked for last [m].
    measured : float or None
        Value of the joint that was measured last [rad or m].

    """

    def __init__(self, gripper: Gripper) -> None:
        self.gripper = gripper
        self._ramp: Ramp | None = None
        self.target: float | None = None
        self.measured: float | None = None
        self._still_at, self._still_since = math.inf, math.inf
        self._measured_at, self._looked_at = -math.inf, -math.inf
        self._is_driven_elsewhere = False
        self._ended_at = math.inf
        """Time at which the last command was sent [s]; infinite while they are."""
        self._left_at: float | None = None
        """Value of the joint that was measured when that was sent [rad or m]."""
        self._settled_at: float | None = None
        """Value of the joint at which the fingers came to a stand behind it [rad or m]."""

    @property
    def command(self) -> tuple[float, float] | None:
        """Last command: value and velocity of the joint; None before the first."""
        return None if self._ramp is None else (self._ramp.value, self._ramp.velocity)

    @property
    def width(self) -> float | None:
        """Measured width; that of the commands where nothing is measured; None: not known [m]."""
        value = self.measured
        if value is None and self._ramp is not None:
            value = self._ramp.value
        return None if value is None else self.gripper.width_at(value)

    def go_to(
        self, width: float, speed: float, acceleration: float, assumed: float | None = None
    ) -> None:
        """
        Set out for a width, from where the fingers are.

        Parameters
        ----------
        width : float
            The width [m].
        speed, acceleration : float
            Greatest ones of the joint [rad/s or m/s, rad/s² or m/s²].
        assumed : float, optional
            Value of the joint where it was never measured.

        Raises
        ------
        GripperError
            If the gripper cannot have the width.
        RefusedError
            If it is not known where the fingers are.

        """
        goal = self.gripper.value_for(width)
        start = self._start(goal, assumed)
        if self._ramp is None or start != self._ramp.value:
            self._ramp = Ramp(start)
        self._ramp.go_to(goal, speed, acceleration)
        self._is_driven_elsewhere = False
        self.target, self._ended_at, self._settled_at = width, math.inf, None

    def _start(self, goal: float, assumed: float | None) -> float:
        """Value to set out from: no finger leaps, and none lets go of what it holds."""
        ramp, measured = self._ramp, self.measured
        if ramp is not None and not ramp.is_at_rest:
            return ramp.value
        if measured is None:
            return self._unmeasured_start(assumed)
        if ramp is None:
            return measured
        if not self._is_where_they_were_left(measured, ramp):
            return measured
        if self._is_near(measured, ramp.value):
            return ramp.value
        return min(measured, ramp.value, key=lambda value: abs(value - goal))

    def _is_where_they_were_left(self, measured: float, ramp: Ramp) -> bool:
        """Whether nobody has moved the fingers since the last command."""
        if self._settled_at is not None:
            return self._is_near(measured, self._settled_at)
        left_at = measured if self._left_at is None else self._left_at
        on_the_way = min(max(measured, min(left_at, ramp.value)), max(left_at, ramp.value))
        return self._is_near(measured, on_the_way)

    def _unmeasured_start(self, assumed: float | None) -> float:
        """Value to set out from where nothing is measured; RefusedError where none may be."""
        if assumed is None:
            name = shown(self.gripper.joint.name)
            text = f"gripper joint '{name}' is not measured: publish its joint states"
            raise RefusedError(Reason(ReasonKind.STATE_MISSING, text))
        return assumed if self._ramp is None else self._ramp.value

    def hold(self) -> None:
        """Stand still from now on, pressing as before on what is held."""
        ramp = self._ramp
        if ramp is None or not self.is_under_way:
            return
        if self._is_driven_elsewhere and self.measured is not None:
            ramp = self._ramp = Ramp(self.measured)
        ramp.stop()
        self.target = self.gripper.width_at(ramp.goal)

    @property
    def is_under_way(self) -> bool:
        """Whether commands are still being sent."""
        return self._ramp is not None and self._ended_at == math.inf

    def skip(self) -> None:
        """Leave the way to the goal to whoever drives the joint; `end` tells that it is over."""
        if self._ramp is not None:
            self._ramp, self._is_driven_elsewhere = Ramp(self._ramp.goal), True

    def step(self, dt: float, now: float) -> bool:
        """
        Make the next command.

        Parameters
        ----------
        dt, now : float
            Time since the last one, and the time [s].

        Returns
        -------
        bool
            Whether it is one that moves.

        """
        ramp = self._ramp
        if ramp is None or not self.is_under_way:
            return False
        ramp.step(dt)
        if ramp.is_at_rest:
            self.end(now)
        return True

    def drop(self, now: float) -> None:
        """Send no more commands from a time on [s]: what is left of the way counts no more."""
        if self._ramp is not None and self.is_under_way:
            self._ramp = Ramp(self._ramp.value)
            self.target = self.gripper.width_at(self._ramp.goal)
            self.end(now)

    def end(self, now: float) -> None:
        """Take note that the last command was sent at a time [s]."""
        self._ended_at = self._still_since = now
        self._left_at = self.measured

    def look(self, value: float | None, now: float, measured_at: float | None = None) -> None:
        """
        Take the measured value of the joint.

        Parameters
        ----------
        value : float or None
            The newest one; None where there is none [rad or m].
        now : float
            The time [s].
        measured_at : float, optional
            When it was measured [s]; left out: now.

        """
        if now < self._looked_at:  # the clock was set back
            self._still_since = now
            self._ended_at = now if self._ended_at < math.inf else math.inf
        self.measured, self._looked_at = value, now
        self._measured_at = now if measured_at is None else measured_at
        if value is None:
            return
        width = self.gripper.width_at(value)
        if not abs(width - self._still_at) <= STILL:
            self._still_at, self._still_since = width, self._measured_at
        if self._is_still and not self.is_under_way and self._settled_at is None:
            self._settled_at = value

    @property
    def _is_still(self) -> bool:
        """Whether measurements say so: fingers seldom measured may move between two of them."""
        return self._measured_at - self._still_since >= STILL_TIME

    def state(self, now: float) -> GripState:
        """State at a time [s]."""
        if self.target is None:
            return GripState.IDLE
        if self.is_under_way:
            return GripState.MOVING
        if self.measured is None:
            is_lost = now - self._ended_at > UNMEASURED_TIME
            return GripState.UNMEASURED if is_lost else GripState.MOVING
        at_rest = self._state_at_rest()
        has_settled = self._is_still or at_rest is GripState.REACHED
        return at_rest if has_settled else GripState.MOVING

    def _state_at_rest(self) -> GripState:
        """State of fingers that stand still where they are measured."""
        if self.target is None or self.measured is None:
            return GripState.IDLE
        more = self.gripper.width_at(self.measured) - self.target
        if abs(more) <= TOLERANCE:
            return GripState.REACHED
        return GripState.GRASPED if more > 0.0 else GripState.BLOCKED

    def _is_near(self, value: float, other: float) -> bool:
        return abs((value - other) * self.gripper.width_per_value) <= TOLERANCE
