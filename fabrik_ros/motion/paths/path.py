"""Interface of paths: what a motion needs to know of one, whatever kind it is."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...reasons import Reason
from ...solver.solution import Solution
from ...transforms import Array
from ..limits.limits import MotionLimits
from ..limits.stop_trajectory import WayToRest
from ..lines.jog_reference import JogReference
from ..lines.tip_reference import TipReference
from .preview import Ahead


class PartialStep(NamedTuple):
    """A step in which only some of the joints go on."""

    velocity: Array
    """Velocity that is wanted, shape (n,) [rad/s or m/s]."""
    braking: npt.NDArray[np.bool_]
    """Mask of the joints that come to rest instead, shape (n,)."""
    hold: Callable[[str], None]
    """Callback for once the step is taken, with what would have collided."""


class Progress(NamedTuple):
    """Progress of an arm on a program."""

    leg: int
    """Number of the leg, from 0 on."""
    place: float
    """Place on it [s]; see `Leg`."""
    segment: int
    """Number of the segment, from 0 on; -1 on the way to another configuration before it."""
    share_of_segment: float
    """Share of that segment that lies behind, by time at the asked speed [1]."""
    share: float
    """Share of the program that lies behind, by time at the asked speeds [1]."""
    left: float
    """Time to its end, about [s]."""


class Path(ABC):
    """
    A path that an arm follows, to somewhere, as it is jogged, or to rest.

    Parameters
    ----------
    reason : Reason, optional
        Why the arm will rest short of what it was asked for.
    then : callable, optional
        Makes the path that follows once this one has arrived; None where the arm rests then.

    Attributes
    ----------
    reason : Reason or None
        As above; it may change on the way.
    solution : Solution or None
        The newest answer of a solver; None where none is asked.
    reference : TipReference or None
        The moving poses that it follows, if it does.
    is_stop : bool
        Whether it leads to rest, and nowhere else.
    is_jog : bool
        Whether it is a jog.
    follows_tips : bool
        Whether it follows poses of tips: another goal can be headed for at once.
    may_slow_down : bool
        Whether the arm goes on more slowly where it could not stop in front of a collision: the
        whole path is known to be free.
    stays_in_world : bool
        Whether it goes on from its end when the base moves.
    is_led : bool
        Whether a hand leads it: it is a stream or a jog.
    slides : bool
        Whether it goes on with what is possible, as it is blocked.

    """

    is_stop = False
    is_jog = False
    follows_tips = False
    may_slow_down = False
    stays_in_world = False
    is_led = False
    slides = False
    solution: Solution | None = None
    reference: TipReference | None = None

    def __init__(
        self, reason: Reason | None = None, then: 'Callable[[], Path] | None' = None
    ) -> None:
        self.reason, self.then = reason, then

    @abstractmethod
    def velocity(self, dt: float) -> Array | None:
        """
        Joint velocity that is wanted in the next step of `dt` seconds, shape (n,).

        None where the path cannot be followed any farther: `blocked` says why.
        """

    @abstractmethod
    def has_arrived(self) -> bool:
        """Whether the joints rest at the end of the path."""

    def to_rest(self, q: Array, velocity: Array, dt: float) -> WayToRest | None:
        """
        Tell how the arm comes to rest on the path after a step; None where it does straight on.

        Parameters
        ----------
        q, velocity : array, shape (n,)
            Joint values and velocities at the end of the step.
        dt : float
            Length of the step, for which `velocity` was asked last [s].

        """
        return None

    def ahead(self) -> Ahead:
        """
        Tell what the rest of the path asks of the joints, from where the arm is now.

        Raises
        ------
        NotImplementedError
            If the end of the path is not known in advance, as of a jog.

        """
        raise NotImplementedError(f'{type(self).__name__} has no end that is known before')

    def progress(self) -> Progress | None:
        """Tell how far the arm is with a program; None where this path is of none."""
        return None

    def held_back(self, velocity: Array, dt: float) -> Iterator[PartialStep]:
        """Yield steps in which only some joints go on, where all together would collide."""
        return iter(())

    @property
    def is_at_goal(self) -> bool:
        """Whether the arm is at its goal and stays there."""
        return False

    @property
    def rest_reason(self) -> Reason | None:
        """Reason why its end is short of what the arm was asked for; None where it is not."""
        return self.reason

    @property
    def yields_to(self) -> Reason | None:
        """Say what it slides along, or gets out of the way of; None where it does neither."""
        return None

    @property
    def blocked(self) -> Reason | None:
        """Reason why the path cannot be followed any farther; None while it can."""
        return None

    def look_ahead(self, dt: float) -> bool:
        """
        Do what can be done for the next step, of `dt` seconds, before its time.

        Tells whether the path was found to end early just now.
        """
        return False

    def slide(self) -> bool:
        """Go on with what is possible from now on, where the path may; tell whether it does."""
        return False

    def look_again(self, dt: float) -> None:
        """Look ahead once more, as the path leads elsewhere now."""

    def end_step(self) -> None:
        """Take note that a step is over: what was looked at is in the past."""

    def lose_speed(self) -> None:
        """Take note that the joints stand, or brake on their own."""

    def come_back(self) -> None:
        """Take note that the joints are where they were before, at another speed."""
        self.lose_speed()

    def change_limits(self, limits: MotionLimits) -> None:
        """Keep to other limits."""

    def scale_speed(self, share: float) -> None:
        """Go at another share of all speeds, 0 to 1."""

    def steer(self, twist: Array, in_tip: bool, tip: int) -> None:
        """Jog a tip at another velocity, where the path is a jog."""

    def hand_over_jog(self, reference: JogReference) -> None:
        """Let another reference be jogged as this path is, where it is a jog."""
