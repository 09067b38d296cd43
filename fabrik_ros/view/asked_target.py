"""The pose that somebody asks for on the page, from the mouse to the arrival of the arm."""

import math

import numpy as np

from ..motion.following.arm_state import UNDER_WAY
from ..ros.beside.dragging import Handle, Phase, Standing
from ..transforms import Array, rotation_vector
from .source import Snapshot

SETTLING_TIME = 1.0
"""For so long after a pose was asked or sent the status may be about what was before [s]."""
THERE = ('REACHED', 'CONVERGED')
"""States of an arm that is at its target."""

Pose = tuple[float, ...]
"""The 16 entries of a pose in the base frame, which can be compared."""


class AskedTarget:
    """
    Says what is to be sent of what a mouse does to the handle, or somebody types.

    What was asked stays until the arm is there, or goes elsewhere: also where it is refused, or
    out of reach. A dragged pose that is blocked on the line is sent once more after the stream has
    ended, as a target like any other (`ros/beside/dragging.py`).

    Times are those of `time.monotonic` [s].

    Attributes
    ----------
    pose : array, shape (4, 4), or None
        What is asked, in the base frame [m]; None for nothing.

    """

    def __init__(self) -> None:
        self.pose: Array | None = None
        self._handle: Handle[Pose] = Handle()
        self._typed: Array | None = None
        """What is to be sent at once."""
        self._goal = ''
        self._asked_at = -math.inf
        """When it was last asked or sent."""

    @property
    def is_dragged(self) -> bool:
        """Whether somebody drags the handle."""
        return self._handle.phase is Phase.DRAGGED

    def grab(self, T: Array) -> None:
        """Take note that somebody grabs the handle at a pose, shape (4, 4)."""
        self.drop()
        self._handle.grab(_entries(T))

    def drag(self, T: Array, now: float) -> None:
        """Take a pose that the handle is dragged to; nothing after `drop`."""
        if self.is_dragged:
            self.pose = T
        self._handle.move(_entries(T), now)

    def let_go(self, T: Array, now: float) -> None:
        """Take the pose where somebody lets go of it."""
        was_dragged = self.is_dragged
        self._handle.let_go(_entries(T), now)
        if was_dragged and self._handle.phase is Phase.LEFT:
            self.pose, self._asked_at = T, now

    def type(self, T: Array) -> None:
        """Take a pose that was typed."""
        self.drop()
        self.pose = self._typed = T

    def drop(self) -> None:
        """Ask nothing any more."""
        self.pose = self._typed = None
        self._goal = ''
        self._handle.release()

    def take(self, now: float) -> Array | None:
        """Take the pose that is to be sent now, shape (4, 4); None where none is."""
        typed, self._typed = self._typed, None
        dragged = self._handle.take(now)
        if typed is None and dragged is not None:
            typed = np.reshape(dragged, (4, 4))
        return typed

    def sent(self, goal: str, now: float) -> None:
        """Take note of the target that it was sent as."""
        self._goal, self._asked_at = goal, now
        self._handle.sent(goal)

    def see(self, snapshot: Snapshot, now: float) -> None:
        """Take what the arm does: forget what was asked when it is there, or goes elsewhere."""
        if self.pose is None or self.is_dragged or self.is_settling(now):
            return
        standing = Standing(snapshot.state, snapshot.goal, snapshot.waits_for_execute)
        self._handle.see(standing, now, snapshot.stream_timeout)
        is_ours = snapshot.goal == self._goal
        is_refused = bool(snapshot.refusal) and snapshot.state not in UNDER_WAY
        if snapshot.state in THERE if is_ours else not is_refused:
            self.drop()

    def is_settling(self, now: float) -> bool:
        """Whether the status may still be about what was before."""
        return self._typed is not None or now - self._asked_at < SETTLING_TIME

    def falls_short(self, snapshot: Snapshot, now: float) -> bool:
        """Whether the arm rests, but not where it was asked to."""
        is_asked = self.pose is not None and not self.is_dragged and not self.is_settling(now)
        return is_asked and snapshot.state not in UNDER_WAY


def away_text(T_base_tool: Array, T_base_asked: Array) -> str:
    """Say how far a tool is from what was asked."""
    distance = float(np.linalg.norm(T_base_asked[:3, 3] - T_base_tool[:3, 3]))
    turn = float(np.linalg.norm(rotation_vector(T_base_asked[:3, :3] @ T_base_tool[:3, :3].T)))
    length = f'{1e3 * distance:.0f} mm' if distance < 1.0 else f'{distance:.2f} m'
    return f'{length} and {math.degrees(turn):.0f}\N{DEGREE SIGN} away'


def _entries(T: Array) -> Pose:
    return tuple(T.ravel().tolist())
