"""What moves the arm while the deadman is pressed: sticks here, with what all of them share."""

from abc import ABC, abstractmethod

import numpy as np

from .controls import Sticks, Values
from .node_view import Call, Jog, Motion, NodeView

STOP = Call('stop')


class Guide(ABC):
    """
    Turns what a device says into motions of the arm.

    Attributes
    ----------
    fault : str
        Why the arm must be let go; '' for nothing.
    notices : list of str
        What whoever has the device is to know; each is said once.
    sends_targets : bool
        Whether its motions are targets, each of which the node takes or refuses.

    """

    sends_targets = False

    def __init__(self, timeout: float) -> None:
        self.timeout = timeout
        """Silence after which the device counts as lost [s]."""
        self.fault = ''
        self.notices: list[str] = []

    def rest(self, view: NodeView) -> Motion | Call:
        """Say what brings the arm to rest, however often since it was let go."""
        return STOP

    def hear_values(self, values: Values) -> None:
        """Take what buttons and axes say."""

    def release(self) -> None:
        """Move the arm no more."""

    @abstractmethod
    def engage(self, view: NodeView, now: float) -> str:
        """Begin to move the arm at a time [s]; return why that cannot be, '' where it can."""

    @abstractmethod
    def motion(self, view: NodeView, now: float) -> Motion | None:
        """Say what the arm is to do at a time [s]; None: nothing new."""


class StickGuide(Guide):
    """
    Moves the tool at the velocity that sticks ask for.

    Parameters
    ----------
    sticks : Sticks
        Which they are.
    timeout : float
        Silence after which twists count as lost, where they have a topic of their own [s].

    """

    def __init__(self, sticks: Sticks, timeout: float) -> None:
        super().__init__(timeout)
        self._sticks = sticks
        self._values = Values()
        self._twist: Values | None = None
        self._heard_at = -np.inf

    def rest(self, view: NodeView) -> Motion:
        """Say that the tool is to stand."""
        return Jog(np.zeros(6), self._sticks.in_tool)

    def hear_values(self, values: Values) -> None:
        """Take what buttons and axes say."""
        self._values = values

    def hear_twist(self, numbers: tuple[float, ...], now: float) -> None:
        """Take a twist, six numbers that stand for axes; what is not finite is not heard."""
        twist = Values(numbers)
        if twist.is_finite:
            self._twist, self._heard_at = twist, now

    def engage(self, view: NodeView, now: float) -> str:
        """Begin, at a time [s]."""
        return self._missing(now)

    def motion(self, view: NodeView, now: float) -> Motion | None:
        """Return the velocity that is asked for."""
        self.fault = self._missing(now)
        return None if self.fault else Jog(self._sticks.velocity(self._used), self._sticks.in_tool)

    @property
    def _used(self) -> Values:
        """Axes that count, with the buttons."""
        if self._twist is None:
            return self._values
        return Values(self._twist.axes, self._values.buttons)

    def _missing(self, now: float) -> str:
        if self._sticks.twist and now - self._heard_at > self.timeout:
            return f'no twist on {self._sticks.twist}'
        count, needed = len(self._used.axes), self._sticks.greatest_axis
        if needed >= count:
            return f'the device has {count} axes, axis {needed} of the profile is not there'
        return ''
