"""A gripper under command: where its joint is sent next, and what has become of the last width."""

from enum import Enum
import math

from ..errors import RefusedError, shown
from ..reasons import Reason, ReasonKind
from .fingers import Fingers
from .gripper import Gripper
from .ramp import Ramp

TOLERANCE = 1e-3
"""A width that differs by no more is the one that was asked for [m]."""
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
    """It has moved, and stands still before it is closed as asked: something is between."""
    BLOCKED = 'BLOCKED'
    """It stands still before it is open as asked, or has not moved at all."""
    STOPPED = 'STOPPED'
    """It was stopped on its way."""
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
    fingers : Fingers
        What is measured of them.
    target : float or None
        Width that was asked for last; where they were stopped, that one [m].
    stopped_by : Reason or None
        Why they were stopped on the way to the last width.

    """

    def __init__(self, gripper: Gripper) -> None:
        self.gripper, self.fingers = gripper, Fingers(gripper)
        self._ramp: Ramp | None = None
        self.target: float | None = None
        self.stopped_by: Reason | None = None
        self._is_driven_elsewhere = False
        self._ended_at = math.inf
        """Time at which the last command was sent [s]; infinite while they are."""
        self._told: float | None = None
        """Value of the joint at the end, by whoever drives it [rad or m]."""

    @property
    def command(self) -> tuple[float, float] | None:
        """Last command: value and velocity of the joint; None before the first."""
        return None if self._ramp is None else (self._ramp.value, self._ramp.velocity)

    @property
    def here(self) -> float | None:
        """Value of the joint as it was known last; None where it never was [rad or m]."""
        commanded = None if self._ramp is None else self._ramp.value
        return _first(self.fingers.value, self.fingers.known, self._told, commanded)

    @property
    def width(self) -> float | None:
        """Measured width; that of the commands where nothing is measured; None: not known [m]."""
        commanded = None if self._ramp is None else self._ramp.value
        value = _first(self.fingers.value, self._told, commanded)
        return None if value is None else self.gripper.width_at(value)

    @property
    def goal(self) -> float | None:
        """Value of the joint that it is on the way to; None where it is on none [rad or m]."""
        return self._ramp.goal if self._ramp is not None and self.is_under_way else None

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
            Value of the joint where nothing is known of it; given where it need not be measured.

        Raises
        ------
        GripperError
            If the gripper cannot have the width.
        RefusedError
            If it is not known where the fingers are.

        """
        goal = self.gripper.value_for(width)
        start = self._start(goal, assumed)
        state = self.state(self.fingers.looked_at)
        self.fingers.set_out(goes_on=state in (GripState.MOVING, GripState.GRASPED))
        if self._ramp is None or start != self._ramp.value:
            self._ramp = Ramp(start)
        self._ramp.go_to(goal, speed, acceleration)
        self.target, self.stopped_by, self._told = width, None, None
        self._is_driven_elsewhere, self._ended_at = False, math.inf

    def _start(self, goal: float, assumed: float | None) -> float:
        """Value to set out from: no finger leaps, and none lets go of what it holds."""
        ramp, here = self._ramp, self.fingers.value
        if here is None and assumed is None:
            name = shown(self.gripper.joint.name)
            text = f"gripper joint '{name}' is not measured: publish its joint states"
            raise RefusedError(Reason(ReasonKind.STATE_MISSING, text))
        if ramp is not None and not ramp.is_at_rest:
            return ramp.value
        if here is None:
            here = _first(self.here, assumed)
            assert here is not None
        if ramp is None or not self._is_where_they_were_left(here, ramp):
            return here
        if self._is_near(here, ramp.value):
            return ramp.value
        presses = self.gripper.width_at(here) > self.gripper.width_at(ramp.value)
        return min(here, ramp.value, key=lambda value: abs(value - goal)) if presses else here

    def _is_where_they_were_left(self, here: float, ramp: Ramp) -> bool:
        """Whether nobody has moved the fingers since the last command."""
        if self.fingers.settled_at is not None:
            return self._is_near(here, self.fingers.settled_at)
        left_at = here if self.fingers.left_at is None else self.fingers.left_at
        on_the_way = min(max(here, min(left_at, ramp.value)), max(left_at, ramp.value))
        return self._is_near(here, on_the_way)

    def hold(self, reason: Reason) -> None:
        """Stand still from now on, for a reason, pressing as before on what is held."""
        ramp = self._ramp
        if ramp is None or not self.is_under_way or self.stopped_by is not None:
            return
        self.stopped_by = reason
        if self._is_driven_elsewhere and self.fingers.value is not None:
            ramp = self._ramp = Ramp(self.fingers.value)
        ramp.stop()
        self.target = self.gripper.width_at(ramp.goal)

    @property
    def is_there(self) -> bool:
        """Whether the fingers are measured where they were sent."""
        value = self.fingers.value
        return value is not None and self.goal is not None and self._is_near(value, self.goal)

    @property
    def is_under_way(self) -> bool:
        """Whether commands are still being sent."""
        return self._ramp is not None and self._ended_at == math.inf

    def skip(self) -> None:
        """Leave the way to the goal to whoever drives the joint; `end` tells that it is over."""
        if self._ramp is not None:
            self._ramp, self._is_driven_elsewhere = Ramp(self._ramp.goal), True

    def step(self, dt: float, now: float, share: float = 1.0) -> bool:
        """
        Make the next command.

        Parameters
        ----------
        dt, now : float
            Time since the last one, and the time [s].
        share : float
            Share of its greatest speed; fingers brake without regard to it [1].

        Returns
        -------
        bool
            Whether it is one that moves.

        """
        ramp = self._ramp
        if ramp is None or not self.is_under_way:
            return False
        ramp.step(dt, share if self.stopped_by is None else 1.0)
        if ramp.is_at_rest:
            self.end(now)
        return True

    def drop(self, now: float) -> None:
        """Send no more commands from a time on [s]: what is left of the way counts no more."""
        if self._ramp is not None and self.is_under_way:
            self._ramp = Ramp(self._ramp.value)
            self.target = self.gripper.width_at(self._ramp.goal)
            self.end(now)

    def end(self, now: float, told: float | None = None) -> None:
        """Take note that the last command was sent at a time [s]; `told`: where it has led."""
        self._ended_at, self._told = now, told
        self.fingers.leave(now)

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
        if not self.is_under_way:
            self._ended_at = min(self._ended_at, now)  # the clock may have been set back
        self.fingers.look(value, now, now if measured_at is None else measured_at)

    def state(self, now: float) -> GripState:
        """State at a time [s]."""
        if self.target is None:
            return GripState.IDLE
        if self.is_under_way:
            return GripState.MOVING
        if self.fingers.value is None and self._told is None:
            is_lost = now - self._ended_at > UNMEASURED_TIME
            return GripState.UNMEASURED if is_lost else GripState.MOVING
        at_rest = self._state_at_rest(self.target)
        has_settled = self.fingers.is_still or self.fingers.value is None
        return at_rest if has_settled or at_rest is GripState.REACHED else GripState.MOVING

    def _state_at_rest(self, target: float) -> GripState:
        """State of fingers that stand still where they are."""
        assert self.width is not None
        more = self.width - target
        presses = more > TOLERANCE and (self.fingers.has_moved or self.fingers.value is None)
        if self.stopped_by is not None and (self._is_driven_elsewhere or not presses):
            return GripState.STOPPED
        if abs(more) <= TOLERANCE:
            return GripState.REACHED
        return GripState.GRASPED if presses else GripState.BLOCKED

    def reason(self, now: float) -> Reason | None:
        """Say why they do not have the width that was asked for; None where that is plain."""
        if self.stopped_by is not None or self.state(now) is not GripState.BLOCKED:
            return self.stopped_by
        if self.fingers.has_moved or self.fingers.value is None:
            text = f'the fingers stand still at {self.width:g} m, not opening on'
            return Reason(ReasonKind.STAYS_SHORT, text)
        text = (
            f'the fingers have not moved from {self.width:g} m: they have no power, are stuck, or '
            'something was between them before'
        )
        return Reason(ReasonKind.DOES_NOT_FOLLOW, text)

    def _is_near(self, value: float, other: float) -> bool:
        return self.gripper.apart(value, other) <= TOLERANCE


def _first(*values: float | None) -> float | None:
    """Return the first of several values that is known; None where none is."""
    return next((value for value in values if value is not None), None)
