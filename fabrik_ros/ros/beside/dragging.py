"""Wishes of somebody who drags a handle, and the place of the handle: no ROS here."""

from dataclasses import dataclass
from enum import auto, Enum
import math
from typing import Generic, TypeVar

from ...motion.following.arm_state import State, UNDER_WAY

P = TypeVar('P')
PERIOD = 0.03
"""Time between two poses that are sent while a handle is dragged, at least [s]."""
SETTLING_TIME = 0.5
"""Time after a pose was sent in which the status may be about what was before [s]."""
PATIENCE = 1.0
"""A pose that nobody would hear for so long is forgotten [s]."""
STREAM_MARGIN = 0.1
"""Excess over `stream_timeout` of a pause that ends a stream for sure [s]."""
ATTENTION = 5.0
"""A pose is sent again at most this long after the first time: people look elsewhere [s]."""


class Phase(Enum):
    """Phase of a handle."""

    AT_TOOL = auto()
    """Nobody asks anything: it belongs where the tool is."""
    DRAGGED = auto()
    LEFT = auto()
    """Somebody let go of it, and the arm goes there."""


@dataclass(frozen=True)
class Standing:
    """Standing of the goal of a tip, by the status."""

    state: str
    """Name of a `State`."""
    goal: str
    """Mark by which the sender knows a target again; '' where there is none."""
    waits_for_execute: bool = False
    """Whether a path is proposed, and waits for somebody to confirm it."""


class Handle(Generic[P]):
    """
    Turns what a mouse does to a handle into poses to send: few while it moves, then the last one.

    The arm follows targets that come soon after each other by the line alone. Where that is
    blocked, the last pose is sent once more after the pause that ends a stream: then it is a goal
    like any other, to which the arm may take any path. An arm that is blocked later stays there.

    Poses are of any type that can be compared. Times are of one clock that never jumps [s].

    Attributes
    ----------
    phase : Phase
        Where the handle belongs.

    """

    def __init__(self) -> None:
        self.phase = Phase.AT_TOOL
        self._grabbed: P | None = None
        """Pose in which it was grabbed."""
        self._pose: P | None = None
        """Pose that it was dragged to; None before it is moved."""
        self._due_since: float | None = None
        """Time at which the pose became due; None while it is not."""
        self._sent_at = -math.inf
        self._goal = ''
        """The target that was sent last."""
        self._may_repeat = False

    def grab(self, pose: P) -> None:
        """Take note that the mouse button went down at a pose."""
        self.release()
        self.phase, self._grabbed = Phase.DRAGGED, pose

    def move(self, pose: P, now: float) -> None:
        """
        Take a pose that the handle was moved to.

        A handle that nobody has grabbed is not moved by people. Whoever grabs a handle tells its
        pose again and again: it is not moved before that is another one.
        """
        is_moved = self._pose is not None or pose != self._grabbed
        if self.phase is Phase.DRAGGED and is_moved:
            self._pose, self._due_since = pose, now

    def let_go(self, pose: P, now: float) -> None:
        """Take note that the mouse button went up; what was only clicked at asks nothing."""
        self.move(pose, now)
        if self.phase is not Phase.DRAGGED:
            return
        if self._pose is None:
            self.release()
        else:
            self.phase, self._due_since, self._may_repeat = Phase.LEFT, now, True

    def release(self) -> None:
        """Forget all that was asked: the handle belongs where the tool is."""
        self.phase, self._pose, self._due_since = Phase.AT_TOOL, None, None

    def take(self, now: float, is_heard: bool = True) -> P | None:
        """
        Take the pose that is to be sent now; None where none is.

        One that nobody would hear is kept for a while, and then forgotten.
        """
        if self._due_since is None:
            return None
        is_early = self.phase is Phase.DRAGGED and now - self._sent_at < PERIOD
        if is_heard and not is_early:
            self._due_since, self._sent_at = None, now
            return self._pose
        if now - self._due_since > PATIENCE:
            self._due_since = None
            if self.phase is Phase.LEFT:
                self.release()
        return None

    def sent(self, goal: str) -> None:
        """Take note of the target that the last pose was sent as, in the words of the status."""
        self._goal = goal

    def see(self, standing: Standing, now: float, stream_timeout: float) -> None:
        """
        Take a new status: the handle goes back to the tool when the arm does not go to it.

        Parameters
        ----------
        standing : Standing
            What the status says.
        now : float
            The time [s].
        stream_timeout : float
            Targets that come within this time of each other are a stream [s].

        """
        pause = now - self._sent_at
        is_sent = self.phase is Phase.LEFT and self._due_since is None
        if not is_sent or pause < SETTLING_TIME:
            return
        if standing.goal == self._goal:
            if standing.state in UNDER_WAY:
                return
            falls_short = standing.state == State.HOLDING.name and not standing.waits_for_execute
            ends_stream = stream_timeout + STREAM_MARGIN
            if falls_short and self._may_repeat and pause < ends_stream + ATTENTION:
                if pause > ends_stream:
                    self._due_since, self._may_repeat = now, False
                return
        self.release()
